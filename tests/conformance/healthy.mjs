// Plays sessions in which nothing goes wrong, with the real Pi, its real tools and a scripted model:
// `node healthy.mjs PACKAGE_FOLDER FOLDER COUNT SEED [condensed]`.
// Each has a git repository of its own under FOLDER/projects; a few share an agent folder.
// One JSON object a line: the folders, the session file, the time to ask at, the question, the moves.
// With `condensed`, each was compacted or left a branch some days before the day that is asked about.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [packages, folder, count, seed, condensed] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(packages, path)).href);
const { createAgentSession, DefaultResourceLoader, ModelRuntime, SessionManager, SettingsManager } =
  await load("pi-coding-agent/dist/index.js");
const { fauxAssistantMessage, fauxProvider, fauxText, fauxThinking, fauxToolCall } =
  await load("pi-ai/dist/providers/faux.js");

// A clock of our own, so that sessions may last for days.
const RealDate = Date;
let present = RealDate.parse("2026-10-20T08:00:00.000Z");
globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length ? given : [present]));
  }
  static now() {
    present += 1;
    return present;
  }
};

/** Set the clock, also for the git that the tools run. */
function setClock(iso) {
  present = RealDate.parse(iso);
  tick(0);
}

function tick(seconds) {
  // On whole seconds, as git counts: so a commit is never older than the call that made it.
  present = (Math.ceil(present / 1000) + seconds) * 1000;
  const stamp = `@${Math.floor(present / 1000)} +0000`;
  process.env.GIT_AUTHOR_DATE = stamp;
  process.env.GIT_COMMITTER_DATE = stamp;
}

/** Seeded chance (mulberry32). */
function chanceOf(state) {
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  return {
    below: (limit) => Math.floor(next() * limit),
    pick: (list) => list[Math.floor(next() * list.length)],
    likely: (share) => next() < share,
  };
}

// Pi looks at the other projects of an agent folder too; not at hundreds, for the time it takes.
const SHARING = 3;
const models = ["faux-1", "faux-2"].map((id) => ({ id, reasoning: true, contextWindow: 1_000_000 }));
const faux = fauxProvider({ models });
const modelRuntime = await ModelRuntime.create({
  authPath: join(folder, "auth.json"), modelsPath: null, refreshOnCreate: false,
});
modelRuntime.registerNativeProvider(faux.provider);

// The smallest PNG there is: one pixel.
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const SOURCES = ["src/pay.py", "src/refund.py", "src/fees.py", "docs/limits.md"];

/** A repository with some files, unlike those of the other projects but for the rules. */
function repository(path, hasRules) {
  for (const name of SOURCES) {
    mkdirSync(join(path, name, ".."), { recursive: true });
    const lines = Array.from({ length: 40 }, (_, line) => `${name} of ${path}, line ${line + 1}: value`);
    writeFileSync(join(path, name), `${lines.join("\n")}\n`);
  }
  if (hasRules) writeFileSync(join(path, "AGENTS.md"), "# Rules\n\nWrite tests first.\n");
  const git = (...given) => execFileSync("git", given, { cwd: path, stdio: "ignore" });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-q", "-m", `Begin ${path}`);
}

/** A project and the one who works in it: opens sessions, asks, and plays the model's part. */
class Work {
  constructor(chance, cwd, agentDir) {
    this.chance = chance;
    this.cwd = cwd;
    this.agentDir = agentDir;
    this.number = 0;
  }

  /** Start Pi: a new session, or the one that `--continue` opens. */
  async open(manager = SessionManager.create(this.cwd, this.sessions)) {
    const settingsManager = SettingsManager.inMemory({
      compaction: { enabled: false, keepRecentTokens: 50 }, retry: { enabled: false },
    });
    const resourceLoader = new DefaultResourceLoader({
      cwd: this.cwd, agentDir: this.agentDir, settingsManager, noExtensions: true, noSkills: true,
    });
    await resourceLoader.reload();
    const made = await createAgentSession({
      cwd: this.cwd, agentDir: this.agentDir, modelRuntime, settingsManager, resourceLoader, sessionManager: manager,
      model: faux.getModel("faux-1"), thinkingLevel: "low",
    });
    this.session = made.session;
    this.manager = manager;
  }

  /** The folder of the project's sessions, as Pi names it. */
  get sessions() {
    const name = this.cwd.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
    return join(this.agentDir, "sessions", `--${name}--`);
  }

  get file() {
    return this.manager.getSessionFile();
  }

  /** End Pi, and leave the file as old as its last entry. */
  close() {
    this.session.dispose();
    utimesSync(this.file, present / 1000, present / 1000);
  }

  async again() {
    this.close();
    await this.open(SessionManager.continueRecent(this.cwd, this.sessions));
  }

  /** One prompt, and the model's replies to it: texts, or calls that are made together. */
  async ask(text, replies, options) {
    tick(20 + this.chance.below(200));
    faux.setResponses(replies.map((reply) => {
      if (typeof reply === "function") return reply;
      if (typeof reply !== "string") {
        const said = this.chance.likely(0.4) ? [fauxThinking("Let me look.")] : [];
        return fauxAssistantMessage([...said, ...reply], { stopReason: "toolUse" });
      }
      return fauxAssistantMessage(this.chance.likely(0.5) ? [fauxThinking("So."), fauxText(reply)] : reply);
    }));
    await this.session.prompt(text, options);
    if (faux.getPendingResponseCount()) throw new Error(`${this.file}: replies left over`);
    const failed = this.session.messages.find((message) => message.stopReason === "error");
    if (failed) throw new Error(`${this.file}: ${failed.errorMessage}`);
  }

  call(name, given) {
    return fauxToolCall(name, given, { id: `call_${this.number++}` });
  }

  bash(command) {
    return this.call("bash", { command });
  }

  /** A path as a model may write it. */
  spell(name) {
    return this.chance.pick([name, name, `./${name}`, `@${name}`, join(this.cwd, name)]);
  }

  tracked() {
    // All that is there was committed; git itself takes longer to say so.
    return ["docs", "src"].flatMap((name) => {
      const path = join(this.cwd, name);
      return existsSync(path) ? readdirSync(path).sort().map((file) => `${name}/${file}`) : [];
    });
  }

  file_() {
    return this.chance.pick(this.tracked());
  }

  commit(subject) {
    return this.bash(`git add -A && git commit -q -m '${subject}'`);
  }

  someLine(name) {
    const lines = readFileSync(join(this.cwd, name), "utf8").split("\n").filter(Boolean);
    const unique = lines.filter((line) => lines.filter((other) => other.includes(line)).length === 1);
    return this.chance.pick(unique);
  }
}

const MOVES = {
  async question(work) {
    const about = work.chance.pick(["fees", "refunds", "the deadline", "naming", "退款"]);
    await work.ask(`What do you think about ${about}?`, [`Keep ${about} simple; decide on limit ${work.number}.`]);
  },
  async read(work) {
    const name = work.file_();
    await work.ask(`Read ${name}.`, [[work.call("read", { path: work.spell(name) })], `${name} has 40 lines.`]);
  },
  async readPart(work) {
    const name = work.file_();
    const part = { path: name, offset: 1 + work.chance.below(10), limit: 5 };
    await work.ask(`Look at the beginning of ${name}.`, [[work.call("read", part)], "Seen those lines."]);
  },
  async bashRead(work) {
    const name = work.file_();
    const command = work.chance.pick([
      `cat ${name}`, `head -5 ${name}`, `grep -n value ${name}`, "ls -la src", "git log --oneline",
      `sed -n 1,3p ${name}`, "git status --short", `wc -l < ${name}`, `cat ${name} | sort | tail -2`,
    ]);
    await work.ask("Have a look.", [[work.bash(command)], "I have looked."]);
  },
  async edit(work) {
    const name = work.file_();
    const oldText = work.someLine(name);
    const edits = [{ oldText, newText: `${oldText} edited ${work.number}` }];
    await work.ask(`Change ${name}.`, [
      [work.call("read", { path: work.spell(name) })],
      [work.call("edit", { path: work.spell(name), edits })],
      [work.commit(`Change ${name}`)],
      "Changed and committed.",
    ]);
  },
  async editTwice(work) {
    const name = work.file_();
    const oldText = work.someLine(name);
    const change = (from, to) => [work.call("edit", { path: name, edits: [{ oldText: from, newText: to }] })];
    await work.ask(`Change ${name}, then again.`, [
      change(oldText, `first ${work.number} ${oldText}`),
      change(oldText, `second ${work.number} ${oldText}`),
      [work.bash(`git commit -q -am 'Two changes of ${name}'`)],
      "Both are in.",
    ]);
  },
  async write(work) {
    const name = `src/new${work.number}.py`;
    const content = `value = ${work.number}\nother = 0\nname = 'n${work.number}'\n`;
    await work.ask(`Write ${name}.`, [
      [work.call("write", { path: work.spell(name), content })],
      [work.bash(`python3 -c 'print(1)'; git add ${name} && git commit -q -m 'Add ${name}'`)],
      "Written and committed.",
    ]);
  },
  async overwrite(work) {
    const name = work.file_();
    const content = Array.from({ length: 12 }, (_, line) => `${name} anew ${work.number} ${line}`).join("\n");
    await work.ask(`Rewrite ${name}.`, [
      [work.call("read", { path: name })],
      [work.call("write", { path: name, content: `${content}\n` })],
      [work.commit(`Rewrite ${name}`)],
      "Rewritten.",
    ]);
  },
  async changeByBash(work) {
    const name = work.file_();
    await work.ask(`Replace value in ${name}.`, [
      [work.call("read", { path: name })],
      [work.bash(`sed -i '1s/$/ s${work.number}/' ${name} && git commit -q -am 'Replace in ${name}'`)],
      "Replaced and committed.",
    ]);
  },
  async renameByBash(work) {
    const name = work.file_();
    await work.ask(`Move ${name}.`, [
      [work.call("read", { path: name })],
      [work.bash(`git mv ${name} src/moved${work.number}.py && git commit -q -m 'Move ${name}'`)],
      "Moved and committed.",
    ]);
  },
  async deleteByBash(work) {
    if (work.tracked().length < 4) return MOVES.question(work);
    const name = work.file_();
    await work.ask(`Delete ${name}.`, [
      [work.call("read", { path: name })],
      [work.bash(`git rm -q ${name} && git commit -q -m 'Delete ${name}'`)],
      "Deleted and committed.",
    ]);
  },
  async parallel(work) {
    const names = work.tracked().slice(0, 3);
    if (existsSync(join(work.cwd, "AGENTS.md"))) names.push("AGENTS.md");
    await work.ask("Read several.", [
      [...names.map((path) => work.call("read", { path })), work.bash("git branch --show-current")],
      "All read.",
    ]);
  },
  async chain(work) {
    const steps = Array.from({ length: 6 }, () => [work.bash(`echo step ${work.number}`)]);
    await work.ask("Go on step by step.", [...steps, "Six steps done."]);
  },
  async honestFailure(work) {
    await work.ask("Is there a TODO?", [
      [work.bash("grep -rn TODO src")], "grep found nothing and exited with 1: there is no TODO.",
    ]);
  },
  async branchAndMerge(work) {
    const name = `src/merged${work.number}.py`;
    await work.ask("On a branch, please.", [
      [work.bash("git checkout -q -b topic")],
      [work.call("write", { path: name, content: `merged = ${work.number}\n` })],
      [work.commit(`Add ${name}`)],
      [work.bash("git checkout -q main && git merge -q --no-ff -m 'Merge topic' topic && git branch -d topic")],
      "Merged.",
    ]);
  },
  async steered(work) {
    await work.ask("Count to three.", [
      async () => {
        await work.session.steer("Also say four.");
        return fauxAssistantMessage([work.bash("echo 1 2 3")], { stopReason: "toolUse" });
      },
      "1 2 3, and four.",
    ]);
  },
  async followedUp(work) {
    await work.ask("Say a word.", [
      async () => {
        await work.session.followUp("And another.");
        return fauxAssistantMessage("Word.");
      },
      "Another.",
    ]);
  },
  async image(work) {
    await work.ask("What is on this picture?", ["One pixel."],
      { images: [{ type: "image", data: PIXEL, mimeType: "image/png" }] });
  },
  async typedCommand(work) {
    tick(30);
    await work.session.executeBash(work.chance.pick(["ls", "git log -1 --format=%s", "echo hi; false"]));
    await work.ask("You see?", ["I see the output."]);
  },
  async pasted(work) {
    const log = Array.from({ length: 60 }, (_, line) => `12:00:${line} INFO handled request ${line}`).join("\n");
    await work.ask(`Here is a log:\n${log}\nWhat is in it?`, ["Sixty handled requests, no failure."]);
  },
  async long(work) {
    for (let turn = 0; turn < 12; turn++) await MOVES.question(work);
  },
  async model(work) {
    const other = work.session.model.id === "faux-1" ? "faux-2" : "faux-1";
    await work.session.setModel(faux.getModel(other));
    await MOVES.question(work);
  },
  async thinking(work) {
    work.session.setThinkingLevel(work.chance.pick(["off", "medium", "high"]));
    await MOVES.question(work);
  },
  async name(work) {
    work.session.setSessionName(work.chance.pick(["Fees", "Refund work", "退款"]));
  },
  async label(work) {
    work.manager.appendLabelChange(work.manager.getLeafId(), "here");
  },
  async customEntry(work) {
    work.manager.appendCustomEntry("todo-state", { open: work.number });
  },
  async customMessage(work) {
    await work.session.sendCustomMessage({ customType: "note", content: "Build is green.", display: true });
    await MOVES.question(work);
  },
  async usage(work) {
    const cost = { input: 0.001, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.001 };
    const usage = { input: 10, output: 1, cacheRead: 500, cacheWrite: 0, totalTokens: 511, cost };
    work.manager.appendUsage("cache_warm", "faux", "faux-1", usage);
  },
};

async function play(work, names) {
  for (const name of names) await MOVES[name](work);
}

/** What happens on one day: at least one thing that is said. */
function dayOf(chance, most) {
  const names = Array.from({ length: 1 + chance.below(most) }, () => chance.pick(Object.keys(MOVES)));
  return [chance.pick(["question", "read", "bashRead", "edit"]), ...names];
}

const SUMMARY = `## Goal
Understand fees and refunds in src/pay.py.

## Constraints & Preferences
- Keep it simple.

## Progress
### Done
- [x] Read the sources and decided the limits.

### In Progress
- [ ] Nothing.

### Blocked
- Nothing: not checked: docs.

## Key Decisions
- **Limit**: kept.

## Next Steps
1. Go on with src/refund.py, which is still open.

## Critical Context
- Sources: src/pay.py lines 1-40.`;

const CONDENSING = {
  async compacted(work) {
    for (let turn = 0; turn < 4; turn++) await MOVES.question(work);
    faux.setResponses([fauxAssistantMessage(SUMMARY), fauxAssistantMessage(SUMMARY)]);
    await work.session.compact();
  },
  async left(work) {
    const to = work.manager.getLeafId();
    await MOVES.question(work);
    await work.session.navigateTree(to, { summarize: false });
    await MOVES.question(work);
  },
  async leftWithSummary(work) {
    const to = work.manager.getLeafId();
    await MOVES.question(work);
    faux.setResponses([fauxAssistantMessage(SUMMARY)]);
    await work.session.navigateTree(to, { summarize: true });
    await MOVES.question(work);
  },
};

async function session(number) {
  const chance = chanceOf(Number(seed) * 100_003 + number);
  const cwd = join(folder, "projects", `p${number}`);
  const agentDir = join(folder, `agent${Math.floor(number / SHARING)}`);
  setClock("2026-10-10T09:00:00.000Z");
  repository(cwd, chance.likely(0.3));
  const work = new Work(chance, cwd, agentDir);
  const moves = {};
  const day = async (date, names) => {
    setClock(`${date}T${chance.pick(["08:10", "11:25", "15:40"])}:00.000Z`);
    moves[date] = names;
    await (work.session ? work.again() : work.open());
    await play(work, names);
  };
  if (chance.likely(0.2)) {
    // Another session of the project, before.
    await day("2026-10-16", dayOf(chance, 2));
    work.close();
    work.session = undefined;
  }
  if (condensed || chance.likely(0.3)) {
    const date = chance.pick(["2026-10-17", "2026-10-18"]);
    await day(date, dayOf(chance, 3));
    if (condensed) {
      const kind = chance.pick(Object.keys(CONDENSING));
      moves[date].push(kind);
      await CONDENSING[kind](work);
    }
  }
  await day("2026-10-20", dayOf(chance, 6));
  if (chance.likely(0.3)) {
    tick(3600);
    await work.again();
    const names = dayOf(chance, 2);
    moves["2026-10-20"].push("again", ...names);
    await play(work, names);
  }
  const today = chance.likely(0.2);
  if (!today && chance.likely(0.3)) await day("2026-10-21", dayOf(chance, 2));
  const file = work.file;
  work.close();
  const kinds = ["forgot", "forgot", "forgot", "outdated", "repeated", "lost the details"];
  const symptom = chance.likely(0.1)
    ? (today ? "忘了今天" : "忘了昨天")
    : `${chance.pick(kinds)} ${today ? "today" : "yesterday"}`;
  const now = today ? "2026-10-20T23:50:00Z" : "2026-10-21T23:00:00Z";
  process.stdout.write(`${JSON.stringify({ cwd, agentDir, file, now, symptom, moves })}\n`);
}

process.env.GIT_AUTHOR_NAME = process.env.GIT_COMMITTER_NAME = "A";
process.env.GIT_AUTHOR_EMAIL = process.env.GIT_COMMITTER_EMAIL = "a@example.org";
for (let number = 0; number < Number(count); number++) await session(number);
// Timers of Pi are of no use any more.
process.exit(0);
