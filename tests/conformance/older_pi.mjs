// Older releases of Pi: plays sessions with one, and asks it what it makes of them.
//   node older_pi.mjs record PACKAGE_FOLDER DATA_FOLDER   plays sessions, writes them and the truth
//   node older_pi.mjs ask PACKAGE_FOLDER DATA_FOLDER      prints what the release says of the data
//   node older_pi.mjs folders PACKAGE_FOLDER              prints where the release puts a session
// PACKAGE_FOLDER is the folder of `pi-coding-agent`, of whatever scope and release it is. To record a
// release again, install what its `origin.json` names under `install`:
//   npm i --prefix FOLDER --ignore-scripts PACKAGE@VERSION...
// and play: all that differs from one recording to the next are ids.
// The model is a server on this machine that speaks OpenAI's chat completions, as every release
// can be told of one. Nothing else is asked: a release runs offline, with a home folder of its own.
import { spawn } from "node:child_process";
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync,
  utimesSync, writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [mode, packageFolder, dataFolder] = process.argv.slice(2);
const PACKAGE = resolve(packageFolder);
const { name: packageName, version } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
const [major, minor] = version.split(".").map(Number);
const since = (one, other) => major > one || (major === one && minor >= other);
const load = (path) => import(pathToFileURL(join(PACKAGE, path)).href);

// Where the home folder is said to be, and what stands for the folder of the packages.
const HOME = "/home/dev";
const PACKAGES_AT = "/usr/lib";
const CWD = `${HOME}/work/greet`;
// The name of the variable in the first releases.
const AGENT_DIR = version === "0.7.6" ? "CODING_AGENT_DIR" : "PI_CODING_AGENT_DIR";
const SCRATCH = realpathSync(mkdtempSync(join(tmpdir(), "older-pi-")));
const AGENT = join(SCRATCH, ".pi", "agent");
const OFFLINE = { PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" };

const json = (path) => JSON.parse(readFileSync(path, "utf8"));
const write = (path, value) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof value === "string" ? value : `${JSON.stringify(value, null, 1)}\n`);
};
/** A text without the folders of this machine: as somebody at /home/dev would have it. */
const neutral = (text) =>
  text.replaceAll(SCRATCH, HOME).replaceAll(SCRATCH.replace(/^\//, "").replaceAll("/", "-"), "home-dev")
    .replaceAll(resolve(PACKAGE, "..", "..", ".."), PACKAGES_AT);

// ---- the model -----------------------------------------------------------------------------------

const replies = [];
const requests = [];
let calls = 0;

const call = (name, given) => ({ name, given });

/** A server that gives the next reply that is due, or a plain one. */
async function startModel() {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => { body += chunk; });
    request.on("end", () => {
      requests.push(JSON.parse(body).messages);
      const { text = "", thinking, made = [] } = replies.shift() ?? { text: "Goal: a greeting. Done: what was asked." };
      response.writeHead(200, { "content-type": "text/event-stream" });
      const send = (delta, finish = null, more = {}) => response.write(`data: ${JSON.stringify({
        id: "reply", object: "chat.completion.chunk", created: 1, model: "first",
        choices: [{ index: 0, delta, finish_reason: finish }], ...more,
      })}\n\n`);
      send({ role: "assistant", content: "" });
      if (thinking) send({ reasoning_content: thinking });
      if (text) send({ content: text });
      made.forEach(({ name, given }, index) => send({ tool_calls: [{
        index, id: `call_${calls++}`, type: "function", function: { name, arguments: JSON.stringify(given) },
      }] }));
      send({}, made.length ? "tool_calls" : "stop", {
        usage: { prompt_tokens: 40 + body.length % 100, completion_tokens: 9, total_tokens: 49 + body.length % 100 },
      });
      response.end("data: [DONE]\n\n");
    });
  });
  await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
  return server;
}

const MODELS = (port) => ({ providers: { loop: {
  baseUrl: `http://127.0.0.1:${port}/v1`, api: "openai-completions", apiKey: "none",
  models: ["first", "second"].map((id) => ({
    id, name: id, reasoning: true, input: ["text"], contextWindow: 100000, maxTokens: 8000,
    cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 },
  })),
} } });

// ---- the time ------------------------------------------------------------------------------------

const RealDate = Date;
let present = RealDate.parse("2026-10-19T08:00:00.000Z");

/** A clock of our own, so that sessions last for days; not for a release that runs by itself. */
function setClock() {
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length ? given : [present]));
    }
    static now() {
      present += 1;
      return present;
    }
  };
}

// ---- playing with the SDK of a release -----------------------------------------------------------

// The last request of each session file that was written to.
const PLAYED = {};

class Work {
  constructor(pi, cwd) {
    this.pi = pi;
    this.cwd = cwd;
  }

  /** Start the release: a new session, or one that is there. */
  async open(manager = this.pi.SessionManager.create(this.cwd)) {
    const { session } = await this.pi.createAgentSession({ cwd: this.cwd, agentDir: AGENT, sessionManager: manager });
    this.session = session;
    this.manager = manager;
    // The first releases with an SDK write nothing while nobody listens.
    session.subscribe(() => {});
    this.can = (name) => typeof session[name] === "function";
  }

  get file() {
    return this.manager.getSessionFile();
  }

  /** One prompt, and the model's replies to it: texts, or calls. */
  async ask(text, ...given) {
    present += 300_000;
    this.script(...given);
    await this.session.prompt(text);
    if (replies.length) throw new Error(`${version}: ${replies.length} replies left over after ${text}`);
    const last = this.session.messages.at(-1);
    if (last.stopReason !== "stop") throw new Error(`${version}, ${text}: ${last.errorMessage ?? last.stopReason}`);
  }

  script(...given) {
    replies.push(...given.map((one) => (typeof one === "string" ? { text: one } : { thinking: "Let me look.", made: [one] })));
  }

  async otherModel() {
    const models = this.session.modelRegistry ?? this.session.modelRuntime;
    await this.session.setModel(models.find?.("loop", "second") ?? models.getModel("loop", "second"));
    this.session.setThinkingLevel("high");
  }

  /** The entries of the file that are messages of a role, the header left out. */
  said(role) {
    return this.manager.getEntries().filter((entry) => entry.type === "message" && entry.message.role === role);
  }

  async close() {
    await this.session.dispose();
    PLAYED[this.file] = requests.at(-1);
  }
}

const edit = (path, oldText, newText) =>
  call("edit", since(0, 70) ? { path, edits: [{ oldText, newText }] } : { path, oldText, newText });

/** Everything that the release can do to a session. */
async function everything(work) {
  await work.open();
  await work.ask("Read src/greet.ts.", call("read", { path: "src/greet.ts" }), "It exports greet, which says hello.");
  if (work.can("setSessionName")) work.session.setSessionName("The greeting");
  await work.ask("Make it shout.", edit("src/greet.ts", "Hello", "HELLO"), call("bash", { command: "cat src/greet.ts" }),
    "It shouts now.");
  const shouts = work.said("assistant").at(-1).id;
  work.manager.appendLabelChange?.(work.said("user").at(-1).id, "shouting");
  await work.session.executeBash("ls src");
  await work.otherModel();
  const note = { customType: "note", content: "The greeting is due on Friday.", display: true };
  await (work.can("sendCustomMessage") ? work.session.sendCustomMessage(note) : work.session.sendHookMessage?.(note));
  await work.ask("Write a farewell.", call("write", { path: "src/bye.ts", content: "export const bye = 1;\n" }), "Written.");
  if (work.can("navigateTree")) {
    present += 300_000;
    work.script("Tried a farewell in src/bye.ts.");
    await work.session.navigateTree(shouts, { summarize: true });
  }
  await work.ask("Look at it again.", call("read", { path: "src/greet.ts" }), "It still shouts.");
  await work.ask("And what about the tests?", "There are none yet.");
  present += 300_000;
  await work.session.compact();
  await work.ask("What did we do?", "We made the greeting shout.");
  await work.close();
}

/** A session of some prompts, whose name was given and taken back. */
async function plain(work) {
  await work.open();
  await work.ask("List the files.", call("bash", { command: "ls src" }), "There are two.");
  if (work.can("setSessionName")) {
    work.session.setSessionName("Files");
    work.session.setSessionName("");
  }
  await work.ask("Read README.md.", call("read", { path: "README.md" }), "It tells of a greeting.");
  await work.close();
}

/**
 * What `/branch`, later `/fork`, makes of a session: a file of its own. 0.32.3 makes the file, and
 * then writes on in the one that it came from.
 */
async function forked(work, file) {
  await work.open(work.pi.SessionManager.open(file));
  const users = work.said("user");
  if (work.can("branch")) {
    // By the place among all entries in the first releases, later by id.
    await work.session.branch(users[1].id ?? work.manager.getEntries().indexOf(users[1]));
  } else if (work.can("fork")) {
    await work.session.fork(users[1].id);
  } else {
    const made = work.manager.createBranchedSession(users[1].parentId);
    await work.open(work.pi.SessionManager.open(made));
  }
  await work.ask("Make it whisper.", edit("src/greet.ts", "HELLO", "hello"), "It whispers now.");
  await work.close();
}

/** What `/new` makes in 0.32.3: it writes on in the old file, a header first. Others make a file. */
async function anew(work) {
  await work.open();
  await work.ask("Read README.md.", call("read", { path: "README.md" }), "It tells of a greeting.");
  await work.session.newSession();
  await work.ask("List the files.", call("bash", { command: "ls src" }), "There are two.");
  await work.close();
}

async function playWithSdk(cwd) {
  const pi = await load("dist/index.js");
  const settings = pi.SettingsManager.create(cwd, AGENT);
  settings.setDefaultModelAndProvider("loop", "first");
  settings.setDefaultThinkingLevel("low");
  settings.setTheme("light");
  await settings.flush?.();
  const work = new Work(pi, cwd);
  await everything(work);
  present = RealDate.parse("2026-10-20T08:00:00.000Z");
  await plain(work);
  present = RealDate.parse("2026-10-21T08:00:00.000Z");
  await forked(work, work.file);
  present = RealDate.parse("2026-10-22T08:00:00.000Z");
  if (version === "0.32.3") await anew(work);
}

// ---- playing with the command of a release -------------------------------------------------------

/** Run the command of the release in a folder; it may fail, and then leaves no session. */
async function command(cwd, given, home, agent, more = {}) {
  const { bin } = json(join(PACKAGE, "package.json"));
  const env = { PATH: process.env.PATH, ...OFFLINE, HOME: home, [AGENT_DIR]: agent, ...more };
  const preload = [];
  if (version === "0.7.6") {
    // Its clock starts where ours is; it runs for a moment only.
    const clock = `const RealDate = Date; const away = ${present} - RealDate.now();
      globalThis.Date = class extends RealDate {
        constructor(...given) { super(...(given.length ? given : [RealDate.now() + away])); }
        static now() { return RealDate.now() + away; }
      };`;
    // No models of one's own yet: one that the release knows is moved to our server.
    const models = pathToFileURL(join(PACKAGE, "..", "pi-ai", "dist", "models.js")).href;
    const { baseUrl } = json(join(agent, "models.json")).providers.loop;
    preload.push("--import", `data:text/javascript,${encodeURIComponent(
      `import { getModels } from ${JSON.stringify(models)};
      ${clock}
      for (const model of getModels("groq")) model.baseUrl = ${JSON.stringify(baseUrl)};`)}`);
    given = ["--provider", "groq", "--api-key", "none", ...given.filter((one) => one !== "-p")];
    if (!given.includes("--model")) given.unshift("--model", "llama-3.1-8b-instant");
  }
  const child = spawn(process.execPath, [...preload, join(PACKAGE, bin.pi), ...given],
    { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const patience = setTimeout(() => child.kill("SIGKILL"), 40_000);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => { said += chunk; });
  const status = await new Promise((done) => { child.on("close", done); });
  clearTimeout(patience);
  return { status, said };
}

/** Sessions of a release without an SDK: prompts on the command line. */
async function playWithCommand(cwd) {
  const sessions = join(AGENT, "sessions", `--${cwd.replace(/^\//, "").replaceAll("/", "-")}--`);
  const files = () => (existsSync(sessions) ? readdirSync(sessions).map((file) => join(sessions, file)) : []);
  const run = async (...given) => {
    present += 3_600_000;
    const { status, said } = await command(cwd, given, SCRATCH, AGENT);
    if (status !== 0 || replies.length) throw new Error(`${version}, status ${status}, ${replies.length} left: ${said}`);
  };
  const script = Work.prototype.script;
  script(call("read", { path: "src/greet.ts" }), "It exports greet, which says hello.",
    edit("src/greet.ts", "Hello", "HELLO"), call("bash", { command: "cat src/greet.ts" }), "It shouts now.");
  await run("Read src/greet.ts.", "Make it shout.");
  script("We made the greeting shout.");
  await run("--continue", "What did we do?");
  const [first] = files();
  PLAYED[first] = requests.at(-1);
  present = RealDate.parse("2026-10-20T08:00:00.000Z");
  script(call("bash", { command: "ls src" }), "There is one.", "It is a greeting.");
  await run("--model", "qwen-qwq-32b", "List the files.", "What is it?");
  PLAYED[files().find((file) => file !== first)] = requests.at(-1);
}

// ---- where a session goes ------------------------------------------------------------------------

// What is set, where `pi` is run, and with which words; folders are relative to the home folder.
const PLACES = {
  default: {},
  "an odd working directory": { cwd: "work/a b:c--d/ü.x" },
  "agent settings": { agentSettings: { sessionDir: "~/kept" } },
  "agent settings, relative": { agentSettings: { sessionDir: "kept" } },
  "project settings": { projectSettings: { sessionDir: "kept" } },
  environment: { environment: { PI_CODING_AGENT_SESSION_DIR: "~/kept" } },
  option: { option: "kept" },
  "option over environment and settings": {
    option: "kept", environment: { PI_CODING_AGENT_SESSION_DIR: "~/environment" },
    agentSettings: { sessionDir: "~/settings" },
  },
  "environment over settings": {
    environment: { PI_CODING_AGENT_SESSION_DIR: "~/environment" }, agentSettings: { sessionDir: "~/settings" },
  },
};

/** The folder, relative to the home folder, in which the release leaves a session; null for none. */
async function folders(port) {
  const found = {};
  for (const [name, place] of Object.entries(PLACES)) {
    const home = join(SCRATCH, `place-${Object.keys(found).length}`);
    const agent = join(home, ".pi", "agent");
    const cwd = join(home, place.cwd ?? "work/greet");
    mkdirSync(cwd, { recursive: true });
    write(join(agent, "models.json"), MODELS(port));
    write(join(agent, "settings.json"), { defaultProvider: "loop", defaultModel: "first", ...place.agentSettings });
    if (place.projectSettings) write(join(cwd, ".pi", "settings.json"), place.projectSettings);
    const words = place.option ? ["--session-dir", place.option] : [];
    const { said } = await command(cwd, [...words, "-p", "Hello.", "Bye."], home, agent, place.environment);
    const files = readdirSync(home, { recursive: true }).filter((file) => file.endsWith(".jsonl"));
    // The working directory is part of the name, and the home folder of it.
    const flat = (path) => path.replace(/^\//, "").replaceAll("/", "-");
    found[name] = { ...place, folder: files.length === 1 ? dirname(files[0]).replace(flat(home), flat(HOME)) : null };
    if (files.length !== 1) console.error(`${version}, ${name}: ${files.length} sessions\n${said}`);
  }
  return found;
}

// ---- asking --------------------------------------------------------------------------------------

/** As `ask_pi.mjs` has it: what `pi-diagnose context` gives as the text of a message. */
function text(message) {
  if (message.role === "compactionSummary" || message.role === "branchSummary") return message.summary;
  if (message.role === "bashExecution") return message.command;
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "toolCall" ? `[${block.name} ${block.id}]` : `[${block.type}]`;
  }).join("\n");
}

function account(SessionManager, file) {
  if (SessionManager.open === undefined) return firstAccount(new SessionManager(false, file));
  const session = SessionManager.open(file);
  // One line each, as nothing is damaged here; the header is the first.
  const all = session.fileEntries ?? session.inMemoryEntries;
  const place = (entry) => ({ line: all.indexOf(entry) + 1, entry: entry.id ?? null });
  const entries = session.getEntries().filter((entry) => entry.type !== "session");
  const { messages, thinkingLevel, model } = session.buildSessionContext();
  const tips = [];
  const walk = (node) => (node.children.length ? node.children.forEach(walk) : tips.push(node.entry.id));
  session.getTree?.().forEach(walk);
  return {
    header: all[0],
    leaf: session.getLeafId?.() ?? null,
    leaf_line: all.length,
    entries: entries.length,
    name: session.getSessionName?.() ?? null,
    model: model && { provider: model.provider, modelId: model.modelId },
    thinkingLevel,
    branch: (session.getBranch?.() ?? entries).map(place),
    context: messages.map((message) => ({ role: message.role, text: text(message) })),
    tips,
  };
}

/** The first releases load messages, a model and a thinking level, and nothing else. */
function firstAccount(session) {
  const lines = readFileSync(session.getSessionFile(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const [provider, ...modelId] = session.loadModel().split("/");
  return {
    header: lines[0],
    leaf: null,
    leaf_line: lines.length,
    entries: lines.length - 1,
    name: null,
    model: { provider, modelId: modelId.join("/") },
    thinkingLevel: session.loadThinkingLevel(),
    branch: lines.slice(1).map((_, index) => ({ line: index + 2, entry: null })),
    context: session.loadMessages().map((message) => ({ role: message.role, text: text(message) })),
    tips: [],
  };
}

const cwdOf = (file) => JSON.parse(readFileSync(file, "utf8").split("\n")[0]).cwd;

/** A folder of one's own with a session of this project and a newer one of another project. */
function another(folder, newest) {
  const other = join(SCRATCH, "own");
  const first = readdirSync(folder).sort()[0];
  cpSync(folder, other, { recursive: true, preserveTimestamps: true });
  for (const name of readdirSync(other)) {
    if (name === newest) {
      const file = join(other, name);
      const { mtime } = statSync(file);
      writeFileSync(file, readFileSync(file, "utf8").replace(`"cwd":"${CWD}"`, `"cwd":"${HOME}/work/other"`));
      utimesSync(file, mtime, mtime);
    } else if (name !== first) {
      rmSync(join(other, name));
    }
  }
  return other;
}

/** What the release says of the data: of a copy, as opening may rewrite a file. */
async function ask(data) {
  cpSync(join(data, "agent"), AGENT, { recursive: true });
  const { cwd, mtimes } = json(join(data, "origin.json"));
  process.env.HOME = SCRATCH;
  process.env[AGENT_DIR] = AGENT;
  // The first releases take no folder but the one that they run in.
  process.cwd = () => cwd;
  const { SessionManager } = await load(since(0, 20) ? "dist/core/session-manager.js" : "dist/session-manager.js");
  const folder = join(AGENT, "sessions", "--home-dev-work-greet--");
  for (const [file, mtime] of Object.entries(mtimes)) utimesSync(join(folder, file), mtime / 1000, mtime / 1000);
  const other = another(folder, Object.keys(mtimes).at(-1));
  const listed = SessionManager.list ? await SessionManager.list(cwd) : new SessionManager(false).loadAllSessions();
  const continued = SessionManager.continueRecent ? SessionManager.continueRecent(cwd) : new SessionManager(true);
  const settings = since(0, 20) ? (await load("dist/core/settings-manager.js")).SettingsManager.create(cwd, AGENT) : null;
  return {
    listed: listed.map((one) => ({
      file: basename(one.path), id: one.id, name: one.name ?? null, firstMessage: one.firstMessage, messageCount: one.messageCount,
      modified: one.modified.getTime(),
    })),
    continued: basename(continued.getSessionFile()),
    continuedInOwnFolder: SessionManager.continueRecent
      ? cwdOf(SessionManager.continueRecent(cwd, other).getSessionFile()) : null,
    settings: settings && {
      provider: settings.getDefaultProvider(), model: settings.getDefaultModel(),
      thinkingLevel: settings.getDefaultThinkingLevel(), theme: settings.getTheme(),
      sessionDir: settings.getSessionDir?.() ?? null,
    },
    sessions: Object.fromEntries(Object.keys(mtimes).map((file) => [file, account(SessionManager, join(folder, file))])),
  };
}

/** The roles that the release put into a request, and the calls that results answer. */
const sent = (messages) => messages.map(({ role, tool_call_id: id }) => (id ? { role: "toolResult", toolCallId: id } : { role }));

/** Play the sessions and write them; return the last request of each. */
async function record(port, data) {
  const cwd = join(SCRATCH, "work", "greet");
  write(join(cwd, "src", "greet.ts"), 'export const greet = (name: string) => `Hello, ${name}`;\n');
  write(join(cwd, "README.md"), "# Greet\n\nA greeting.\n");
  write(join(AGENT, "models.json"), MODELS(port));
  // What no release has a command for; the release adds its own to it.
  if (since(0, 20)) write(join(AGENT, "settings.json"), { compaction: { enabled: true, keepRecentTokens: 45, reserveTokens: 1000 } });
  Object.assign(process.env, OFFLINE, { HOME: SCRATCH, [AGENT_DIR]: AGENT });
  process.chdir(cwd);
  if (since(0, 20)) setClock();
  await (since(0, 20) ? playWithSdk(cwd) : playWithCommand(cwd));
  globalThis.Date = RealDate;
  rmSync(data, { recursive: true, force: true });
  const mtimes = {};
  const requested = {};
  const sessions = join(AGENT, "sessions", `--${cwd.replace(/^\//, "").replaceAll("/", "-")}--`);
  for (const file of readdirSync(sessions).sort().map((name) => join(sessions, name))) {
    write(join(data, "agent", neutral(relative(AGENT, file))), neutral(readFileSync(file, "utf8")));
    // As old as its last entry: the clock of the file system is not ours.
    const last = JSON.parse(readFileSync(file, "utf8").trimEnd().split("\n").at(-1));
    mtimes[basename(file)] = RealDate.parse(last.timestamp);
    if (PLAYED[file]) requested[basename(file)] = sent(PLAYED[file]);
  }
  const settings = join(AGENT, "settings.json");
  if (existsSync(settings)) write(join(data, "agent", "settings.json"), neutral(readFileSync(settings, "utf8")));
  // Its siblings too: a release asks for any later ones, with which it may not run (1.0.3 does not).
  const siblings = readdirSync(dirname(PACKAGE)).map((name) => json(join(PACKAGE, "..", name, "package.json")));
  write(join(data, "origin.json"), {
    package: packageName, version, cwd: CWD, mtimes,
    install: siblings.filter((one) => one.version === version).map((one) => `${one.name}@${version}`).sort(),
    how: `tests/conformance/older_pi.mjs record, with ${since(0, 20) ? "the SDK" : "the command"} of the release, its own tools,`
      + " and a model on the same machine that speaks OpenAI's chat completions;"
      + " folders of the machine were replaced. `truth.json` is what the release says of it.",
  });
  return requested;
}

const server = await startModel();
const { port } = server.address();
try {
  if (mode === "record") {
    const data = resolve(dataFolder);
    const requested = await record(port, data);
    const placed = await folders(port);
    rmSync(AGENT, { recursive: true });
    write(join(data, "truth.json"), { ...await ask(data), requested, folders: placed });
  } else if (mode === "folders") {
    process.stdout.write(`${JSON.stringify(await folders(port))}\n`);
  } else {
    process.stdout.write(`${JSON.stringify(await ask(resolve(dataFolder)))}\n`);
  }
} finally {
  server.close();
  server.closeAllConnections();
  rmSync(SCRATCH, { recursive: true, force: true });
}
process.exit(0);
