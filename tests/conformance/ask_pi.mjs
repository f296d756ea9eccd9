// Asks the real Pi what it makes of session files: `node ask_pi.mjs PACKAGE_FOLDER FILE...`.
// One JSON object a line, of the shape that `pi-diagnose context --format jsonl` prints.
// Each file is copied first: opening a session may add a line end or rewrite it.
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(folder, path)).href);
const { SessionManager } = await load("pi-coding-agent/dist/core/session-manager.js");
const { convertToLlm } = await load("pi-coding-agent/dist/core/messages.js");
const { AgentSession } = await load("pi-coding-agent/dist/core/agent-session.js");
const { transformMessages } = await load("pi-ai/dist/api/transform-messages.js");

// A model that takes images: what a model without them is sent differs inside messages only. No
// session was held with it, so that thinking, which only its own model is sent, is left out: Pi
// throws on thinking that is no text where the model is the same, and on nothing else of it.
const model = { id: "none", provider: "none", api: "none", input: ["text", "image"] };

/** The physical line of each value that Pi keeps, read as Pi reads the file. */
function keptLines(path) {
  const lines = [];
  readFileSync(path).toString("utf8").split("\n").forEach((line, index) => {
    if (!line.trim()) return;
    try {
      if (JSON.parse(line)) lines.push(index + 1);
    } catch {
      // Pi passes the line over without a word.
    }
  });
  return lines;
}

function text(message) {
  if (message?.role === "compactionSummary" || message?.role === "branchSummary") {
    return typeof message.summary === "string" ? message.summary : "";
  }
  if (message?.role === "bashExecution") {
    return typeof message.command === "string" ? message.command : "";
  }
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => {
    if (block?.type === "text") return typeof block.text === "string" ? block.text : "";
    return block?.type === "toolCall" ? `[${block.name} ${block.id}]` : `[${block?.type}]`;
  }).join("\n");
}

/** What a part of the account is, or null where Pi throws on working it out. */
function orNull(part) {
  try {
    return part();
  } catch {
    return null;
  }
}

function account(file, copy) {
  // Pi refuses no empty file: it begins a new session in it, of which the evidence holds nothing.
  if (statSync(copy).size === 0) throw new Error("the file is empty");
  const kept = keptLines(copy);
  const versions = readFileSync(copy).toString("utf8").split("\n")[(kept[0] ?? 1) - 1];
  const version = orNull(() => JSON.parse(versions).version) ?? 1;
  const madeUp = Number(version) < 2; // Pi gives such entries random ids
  const session = SessionManager.open(copy);
  if (kept.length !== session.fileEntries.length) {
    // A mistake of this script, not an answer of Pi.
    console.error(`${file}: ${kept.length} lines for ${session.fileEntries.length} entries`);
    process.exit(2);
  }
  const line = new Map(session.fileEntries.map((entry, index) => [entry, kept[index]]));
  const place = (entry) => ({
    line: line.get(entry),
    entry: madeUp || typeof entry.id !== "string" ? null : entry.id,
  });
  const branch = session.getBranch();
  const projection = session.buildSessionProjection();
  const sent = transformMessages(convertToLlm(projection.messages), model);
  const entries = session.getEntries();
  const leaf = entries.at(-1);
  const stats = orNull(() => {
    const { userMessages, assistantMessages, toolCalls, toolResults, totalMessages, tokens, cost } =
      AgentSession.prototype.getSessionStats.call({
        sessionManager: session,
        getContextUsage: () => undefined,
      });
    return { userMessages, assistantMessages, toolCalls, toolResults, totalMessages, tokens, cost };
  });
  return {
    file,
    error: null,
    header: session.getHeader(),
    leaf: leaf === undefined ? null : place(leaf).entry,
    leaf_line: leaf === undefined ? null : line.get(leaf),
    entries: session.getEntryCount(),
    name: orNull(() => session.getSessionName()),
    model: projection.model,
    thinkingLevel: projection.thinkingLevel,
    branch: branch.map(place),
    context: projection.entries.map(({ sourceEntry, messages }) => ({
      ...place(sourceEntry),
      type: typeof sourceEntry.type === "string" ? sourceEntry.type : null,
      messages: messages.map((message) => ({ role: message.role, text: text(message) })),
    })),
    wire: sent.map(({ role, toolCallId, isError }) =>
      role === "toolResult" ? { role, toolCallId, isError } : { role }),
    stats,
  };
}

for (const file of files) {
  const scratch = mkdtempSync(join(tmpdir(), "ask-pi-"));
  const copy = join(scratch, basename(file));
  cpSync(file, copy);
  let answer;
  try {
    answer = account(file, copy);
  } catch (error) {
    answer = { file, error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  rmSync(scratch, { recursive: true });
}
