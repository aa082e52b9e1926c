/** The agent through the built binary: on a pipe, with -p, and on a real terminal, against a model server on loopback. */

import fs from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { note } from "../learn/extraction-desk.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { openPty, type Pty } from "../pty.ts";
import { BINARY, expectError, openSandbox, type Sandbox } from "./run.ts";

let server: ModelServer;
let box: Sandbox;
beforeEach(async () => {
  server = await startModelServer();
  box = openSandbox();
});
afterEach(() => server.close());

const env = () => ({
  MEMDIR_MODEL: "anthropic/claude-test",
  ANTHROPIC_API_KEY: "sk-test-0123456789",
  ANTHROPIC_BASE_URL: server.url,
  // What is learnt beside a turn has tests of its own, and would take the answers of the next one.
  MEMDIR_LEARN: "off",
});
const terminal = (
  args: string[] = [],
  more: { cols?: number; rows?: number; env?: Record<string, string> } = {},
): Pty =>
  openPty(process.execPath, [BINARY, ...args], {
    cwd: box.cwd,
    env: { ...box.env, TERM: "xterm-256color", ...env(), ...more.env },
    cols: more.cols ?? 100,
    rows: more.rows ?? 30,
  });
/** Everything that the last request showed the model. */
const shown = () => JSON.stringify(server.requests.at(-1)?.body.messages);
const ready = /say something, or \/help/;

describe("chat -p", () => {
  it("prints the answer; --json tells session, usage and memories; --continue goes on", async () => {
    await box.save("package manager", ["--type", "feedback"], "Use pnpm for installing packages, never npm.");
    server.queue({ text: "Use **pnpm**.", usage: { input: 11, output: 7 } }, { text: "As I said." });
    const first = await box.run(["chat", "-p", "which package manager installs packages?", "--json"], { env: env() });
    const answer = JSON.parse(first.out);
    expect(answer).toMatchObject({ text: "Use **pnpm**.", usage: { input: 11, output: 7 } });
    expect(answer.memories.map(({ name }: { name: string }) => name)).toEqual(["package manager"]);
    const second = await box.run(["chat", "-p", "are you sure about that?", "--continue"], { env: env() });
    expect(second).toEqual({ code: 0, out: "As I said.\n", err: "" });
    expect(shown()).toContain("which package manager installs packages?");
    const sessions = await box.json(["sessions"]);
    expect(sessions).toMatchObject([
      { id: answer.sessionId, title: "which package manager installs packages?", messages: 4 },
    ]);
    const found = await box.json(["sessions", "search", "sure", "about"]);
    expect(found[0]).toMatchObject({ id: answer.sessionId, line: expect.stringContaining("are you sure about that?") });
  });

  it("C28 prints the answer first, then learns from the turn; MEMDIR_LEARN=off learns nothing", async () => {
    const learning = { ...env(), MEMDIR_LEARN: "auto" };
    const prompt = "Please never squash my commits, the reviewers read them one by one.";
    const file = { tools: [{ name: "Write", input: { file_path: "keep_commits.md", content: note() } }] };
    server.queue({ text: "Understood." }, file, { text: "Kept one." }, { text: "Understood." });
    const said = await box.run(["chat", "-p", prompt], { env: learning });
    expect(said.out).toBe("Understood.\n");
    expect(said.err).toMatch(/^memdir: note: learnt: saved \S+\.md\n$/);
    expect(await box.json(["list"])).toMatchObject([{ name: "Keep commits separate" }]);
    expect((await box.json(["ledger"])).entries).toMatchObject([{ kind: "extraction", produced: "1 saved" }]);
    expect((await box.run(["undo"])).code).toBe(0);
    expect(await box.json(["list"])).toEqual([]);
    await box.run(["chat", "-p", prompt], { env: env() });
    expect(server.requests).toHaveLength(4);
  });

  it("denies changes unless they are allowed", async () => {
    const file = path.join(box.cwd, "new.txt");
    const write = { tools: [{ name: "Write", input: { file_path: file, content: "hello\n" } }] };
    server.queue(write, { text: "I may not." }, write, { text: "Done." });
    const denied = await box.run(["chat", "-p", "write new.txt for me"], { env: env() });
    expect(denied).toMatchObject({ code: 0, out: "I may not.\n" });
    expect(denied.err).toContain("--allow");
    expect(fs.existsSync(file)).toBe(false);
    await box.run(["chat", "-p", "write new.txt for me", "--allow", "edit"], { env: env() });
    expect(fs.readFileSync(file, "utf8")).toBe("hello\n");
    const points = await box.json(["rewind"]);
    expect(points).toMatchObject([{ label: "write new.txt for me", files: 1 }]);
    const back = await box.run(["rewind", "--to", "1"]);
    expect(back.out).toContain("removed");
    expect(fs.existsSync(file)).toBe(false);
  });

  it("without a model it shows what one would be shown", async () => {
    box.put("project/CLAUDE.md", "Be brief.");
    await box.save("package manager", ["--type", "feedback"], "Use pnpm for installing packages, never npm.");
    const ran = await box.run(["chat", "-p", "which package manager installs packages?"]);
    expect(ran.code).toBe(2);
    expect(ran.err).toMatch(
      /^memdir: no model is configured; set MEMDIR_MODEL to anthropic\/<model>.*openai.*ollama.*\n$/,
    );
    expect(ran.out).toContain("CLAUDE.md");
    expect(ran.out).toContain("package manager");
    const json = await box.run(["chat", "-p", "hi", "--json"]);
    expect(json).toMatchObject({ code: 2, out: "" });
    expect(JSON.parse(json.err)).toMatchObject({
      error: { code: "usage", message: expect.stringMatching(/^no model/) },
    });
  });

  it("errors say what to do", async () => {
    const wrong = await box.run(["chat", "-p", "hello there"], { env: { MEMDIR_MODEL: "gpt" } });
    expectError(wrong, 2, /name the provider/);
    const client = await box.run(["chat", "-p", "hello there"], { env: { MEMDIR_MODEL: "claude-code" } });
    expect(client.err).toMatch(
      /claude-code can be the model of background learning, but not of an agent; set MEMDIR_MODEL/,
    );
    server.queue({ status: 401 });
    expectError(await box.run(["chat", "-p", "hello there"], { env: env() }), 2, /ANTHROPIC_API_KEY/);
    expectError(await box.run(["chat", "-p", "hi you", "--resume", "nope"], { env: env() }), 2, /memdir sessions/);
    expectError(await box.run(["chat", "-p", " "], { env: env() }), 2, /empty/);
    const resumable = await box.json(["sessions"]);
    expect(resumable[0].title).toBe("hello there");
  });

  it("an OpenAI-compatible server works the same", async () => {
    server.queue({ tools: [{ name: "Bash", input: { command: "echo four" } }] }, { text: "It says four." });
    const ran = await box.run(["chat", "-p", "run echo for me", "--allow", "bash"], {
      env: {
        MEMDIR_MODEL: "openai/some-model",
        OPENAI_API_KEY: "sk-x",
        OPENAI_BASE_URL: server.openaiUrl,
        MEMDIR_LEARN: "off",
      },
    });
    expect(ran).toEqual({ code: 0, out: "It says four.\n", err: "" });
    expect(shown()).toContain("four");
  });
});

describe("on a pipe", () => {
  it("answers line by line", async () => {
    server.queue({ text: "One." }, { text: "Two." });
    const ran = await box.run([], { env: env(), input: "first words here\nsecond words here\n/cost\n/clear\n" });
    expect(ran.code).toBe(0);
    expect(ran.out).toMatch(/One\.\n[\s\S]*Two\.\n[\s\S]*requests +2/);
    expect(ran.out).toContain("model      anthropic/claude-test");
    expect(ran.out).toMatch(/\na new session begins; \/resume [0-9a-f]{8} brings the old one back\n$/);
  });
});

describe("on a terminal", () => {
  it("a preference stated in one session is shown to the model in the next", async () => {
    const dir = box.dir();
    const content =
      "---\nname: tabs\ndescription: Indent with tabs\ntype: user\n---\n\nThe user indents code with tabs.\n";
    server.queue(
      {
        text: "I'll **remember** that.",
        tools: [{ name: "Write", input: { file_path: path.join(dir, "user_tabs.md"), content } }],
      },
      { text: "Saved." },
    );
    const first = terminal();
    await first.waitFor(ready);
    first.write("I always indent code with tabs, please remember\r");
    await first.waitFor(/remembers user_tabs\.md/);
    await first.waitFor(/Saved\./);
    first.press("ctrl-d");
    expect(await first.exit).toBe(0);

    server.queue({ text: "With tabs." });
    const second = terminal();
    await second.waitFor(ready);
    second.write("how do I indent code here?\r");
    await second.waitFor(/With tabs\./);
    expect(second.text()).toContain("recalled 1 memory: tabs");
    expect(shown()).toContain("The user indents code with tabs.");
    second.write("/exit\r");
    expect(await second.exit).toBe(0);
  });

  it("an edit is refused, then accepted after a read and a question; a rewind takes it back", async () => {
    const file = box.put("project/a.txt", "one\n");
    const edit = { tools: [{ name: "Edit", input: { file_path: file, old_string: "one", new_string: "two" } }] };
    server.queue(edit, { tools: [{ name: "Read", input: { file_path: file } }] }, edit, { text: "Changed." });
    const pty = terminal();
    await pty.waitFor(ready);
    pty.write("change one to two in a.txt\r");
    await pty.waitFor(/Allow edit\?/);
    expect(fs.readFileSync(file, "utf8")).toBe("one\n");
    pty.write("y");
    await pty.waitFor(/Changed\./);
    expect(fs.readFileSync(file, "utf8")).toBe("two\n");
    expect(pty.text()).toMatch(/read it|was not read|not been read/i);
    pty.write("/rewind\r");
    await pty.waitFor(/Back to before which prompt/);
    pty.write("1");
    await pty.waitFor(/What goes back/);
    pty.write("b");
    await pty.waitFor(/restored/);
    expect(fs.readFileSync(file, "utf8")).toBe("one\n");
    await pty.waitFor(/change one to two in a\.txt\s*$/m);
    pty.press("ctrl-c", "ctrl-d");
    expect(await pty.exit).toBe(0);
  });

  it("Ctrl-C stops the turn and not the program; a resume goes on", async () => {
    server.queue(
      { text: ["Thinking about\n\n", "it"], fault: "hang" },
      { text: "Back again." },
      { text: "Still here." },
    );
    const pty = terminal();
    await pty.waitFor(ready);
    pty.write("tell me a long story\r");
    await pty.waitFor(/Thinking about/);
    pty.press("ctrl-c");
    await pty.waitFor(/stopped/);
    pty.write("are you there now?\r");
    await pty.waitFor(/Back again\./);
    pty.write("/exit\r");
    expect(await pty.exit).toBe(0);
    const id = /--resume (\S+) continues/.exec(pty.text().replace(/\s+/g, " "))?.[1] ?? "";
    const resumed = terminal(["--resume", id]);
    await resumed.waitFor(/resumed/);
    await resumed.waitFor(ready);
    resumed.write("and now what then?\r");
    await resumed.waitFor(/Still here\./);
    expect(shown()).toContain("tell me a long story");
    expect(shown()).toContain("are you there now?");
    resumed.kill();
    await resumed.exit;
  });

  it("/compact keeps the rules; /context draws what fills the window; 40 columns are enough", async () => {
    box.put("project/CLAUDE.md", "Never use port 80.");
    server.queue({ text: "Hello." }, { text: "<summary>We said hello.</summary>" }, { text: "Going on." });
    const pty = terminal([], { cols: 40, rows: 24 });
    await pty.waitFor(/say something/);
    pty.write("hello you there\r");
    await pty.waitFor(/Hello\./);
    pty.write("/compact\r");
    await pty.waitFor(/compacted/);
    pty.write("go on with it then\r");
    await pty.waitFor(/Going on\./);
    expect(shown()).toContain("Never use port 80.");
    expect(shown()).toContain("We said hello.");
    expect(shown()).not.toContain("hello you there");
    pty.write("/context\r");
    await pty.waitFor(/instructions/);
    for (const line of pty.screen()) expect([...line].length).toBeLessThanOrEqual(40);
    pty.kill();
    await pty.exit;
  });

  it("5,000 pasted lines arrive whole; killed and resumed, nothing said is lost", async () => {
    server.queue({ text: "Long." }, { text: "Hanging", fault: "hang" }, { text: "Here I am." });
    const pty = terminal();
    await pty.waitFor(ready);
    const pasted = Array.from({ length: 5000 }, (_, i) => `line ${i} of what was pasted`).join("\n");
    pty.paste(pasted);
    await pty.waitFor(/pasted text/);
    pty.press("enter");
    await pty.waitFor(/Long\./);
    expect(server.requests.at(-1)?.body.messages[0].content.map(({ text }: { text: string }) => text)).toContain(
      pasted,
    );
    pty.write("and one more thing\r");
    await pty.waitFor(/answering|Hanging/);
    pty.kill("SIGKILL");
    await pty.exit;
    const ran = await box.run(["chat", "--continue", "-p", "where were we?"], { env: env() });
    expect(ran.out).toBe("Here I am.\n");
    expect(shown()).toContain("line 4999 of what was pasted");
    expect(shown()).toContain("and one more thing");
  });

  it("Ctrl-Z stops it like any program and fg brings it back; a signal to end gives the terminal back", async () => {
    const shell = openPty("bash", ["--norc", "-i"], {
      cwd: box.cwd,
      env: { ...box.env, TERM: "xterm-256color", PS1: "$ " },
    });
    await shell.waitFor(/\$/);
    shell.write(`"${process.execPath}" "${BINARY}"\r`);
    await shell.waitFor(ready);
    shell.write("hello");
    shell.write("\x1a");
    await shell.waitFor(/Stopped/);
    shell.write("fg\r");
    await shell.waitFor(/> hello/);
    shell.write(" again");
    await shell.waitFor(/> hello again/);
    shell.press("ctrl-c", "ctrl-d");
    await shell.waitFor((screen) => screen.findLast((line) => line !== "")?.startsWith("$") === true);
    shell.write("exit\r");
    await shell.exit;
    const pty = terminal();
    await pty.waitFor(ready);
    pty.kill("SIGTERM");
    expect(await pty.exit).toBe(143);
    expect(pty.raw().lastIndexOf("\x1b[?2004l")).toBeGreaterThan(pty.raw().lastIndexOf("\x1b[?2004h"));
  });

  it("the offline console shows what a model would see, keeps what it is told, and completes commands", async () => {
    const pty = terminal([], { env: { MEMDIR_MODEL: "" } });
    await pty.waitFor(ready);
    expect(pty.text()).toContain("offline console");
    pty.write("#never deploy on Fridays\r");
    await pty.waitFor(/created feedback_never_deploy_on_fridays\.md/);
    pty.write("when may I deploy on Fridays?\r");
    await pty.waitFor(/A model would be shown/);
    await pty.waitFor(/never deploy on Fridays/);
    pty.write("/mem");
    await pty.waitFor(/List what is remembered/);
    pty.press("tab");
    pty.write("where\r");
    await pty.waitFor(/project +\S*memory/);
    pty.press("ctrl-d");
    expect(await pty.exit).toBe(0);
  });
});
