/** Notes of a session by forks on the loopback model server: what they may edit, what is undone, what is left on disk. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type NotesOptions, notesPath, takeNotes } from "../../src/agent/notes.ts";
import type { Conversation } from "../../src/model/agent-loop.ts";
import type { Ask } from "../../src/model/ask.ts";
import { NOTES_TEMPLATE } from "../../src/prompts/learning.ts";
import { says, useTalk } from "../model/talk.ts";
import { makeTemporary } from "../temporary.ts";

const SESSION = "3f2a0000-0000-4000-8000-000000000001";
const HINT = /# Current State\n(_.*_)\n/.exec(NOTES_TEMPLATE)![1]!;

const talk = useTalk();
let top: string;
let options: NotesOptions;
let file: string;
let logged: string[];

beforeEach(() => {
  top = makeTemporary("notes");
  logged = [];
  options = {
    model: () => modelOf(talk.anthropic),
    sessionsDir: path.join(top, "projects", "shop"),
    session: SESSION,
    configDir: path.join(top, "session-memory", "config"),
  };
  fs.mkdirSync(options.sessionsDir, { recursive: true });
  file = notesPath(options);
});

const conversation: Conversation = {
  system: [{ text: "Be brief." }],
  tools: ["Bash", "Edit", "Write"].map((name) => ({ name, description: name, schema: { type: "object" } })),
  messages: [says("Prices in cents."), { role: "assistant", content: [{ type: "text", text: "Done." }] }],
  sent: 1,
};

const edit = (old: string, fresh: string, file_path = file) => ({
  name: "Edit",
  input: { file_path, old_string: old, new_string: fresh },
});
const state = (text: string) => edit(HINT, `${HINT}\n${text}`);
const log = (message: string) => void logged.push(message);
const modelOf = (ask: Ask) => ({ ask, provider: "anthropic", name: "m", maxTokens: 1_000 });
const take = () => takeNotes({ log }, options, { conversation });
const put = (text: string | Uint8Array) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};
const text = () => fs.readFileSync(file, "utf8");
/** What the model was told about its calls, in the last request. */
const results = (): { content: string; is_error?: boolean }[] =>
  talk.server.requests.at(-1)!.body.messages.at(-1).content;
const files = () =>
  (fs.readdirSync(top, { recursive: true, withFileTypes: true }) as fs.Dirent[])
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(top, path.join(entry.parentPath, entry.name)));

describe("taking notes", () => {
  it("B8.8 C27 fills the template in the session's own file, which nobody else can read", async () => {
    talk.server.queue(
      { tools: [state("Prices are being moved to cents."), edit("# Worklog\n", "# Worklog\n")] },
      { text: "ok" },
    );
    const result = await take();
    expect(result).toMatchObject({ ok: true, edits: 1 });
    expect(result.usage.output).toBeGreaterThan(0);
    expect(file).toBe(path.join(top, "projects", "shop", SESSION, "session-memory", "summary.md"));
    expect(text()).toBe(NOTES_TEMPLATE.replace(HINT, `${HINT}\nPrices are being moved to cents.`));
    expect(files()).toEqual([path.relative(top, file)]);
    if (process.platform !== "win32") {
      expect(fs.statSync(file).mode & 0o777).toBe(0o600);
      expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    }
  });

  it("is a fork: the conversation's own prefix and tools, then what is to be done, with the notes in it", async () => {
    put("# Mine\n_x_\nuntil now\n");
    talk.server.queue({ tools: [edit("until now", "and on")] }, { text: "ok" });
    expect(await take()).toMatchObject({ ok: true });
    const { messages, tools } = talk.server.requests[0]!.body;
    expect(messages).toHaveLength(3);
    expect(messages[2].content[0].text).toContain("<notes>\n# Mine\n_x_\nuntil now\n</notes>");
    expect(messages[2].content[0].text).toContain(file);
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(["Bash", "Edit", "Write"]);
    expect(text()).toBe("# Mine\n_x_\nand on\n");
  });

  it("B8.8 uses the user's own template and prompt", async () => {
    fs.mkdirSync(options.configDir, { recursive: true });
    fs.writeFileSync(path.join(options.configDir, "template.md"), "# Ship's log\n_all of it_\n");
    fs.writeFileSync(path.join(options.configDir, "prompt.md"), "Log to {{notesPath}}:\n{{currentNotes}}");
    talk.server.queue({ tools: [edit("_all of it_", "_all of it_\nset sail")] }, { text: "ok" });
    expect(await take()).toMatchObject({ ok: true });
    expect(talk.server.requests[0]!.body.messages[2].content[0].text).toBe(
      `Log to ${file}:\n<notes>\n# Ship's log\n_all of it_\n</notes>`,
    );
    expect(text()).toBe("# Ship's log\n_all of it_\nset sail\n");
  });

  it("B8.8 reminds of sections and notes that are too large", async () => {
    put(`# A\n_a_\n${"word ".repeat(2_000)}\n# B\n_b_\n${"word ".repeat(8_000)}\n`);
    talk.server.queue({ tools: [edit("_a_", "_a_\nx")] }, { text: "ok" });
    await take();
    const asked = talk.server.requests[0]!.body.messages[2].content[0].text;
    expect(asked).toMatch(/must come down to 12000[\s\S]*- "B": about \d+ tokens\n- "A": about \d+ tokens$/);
  });

  it("keeps CRLF and a byte order mark", async () => {
    put("\ufeff# A\r\n_a_\r\nold\r\n");
    talk.server.queue({ tools: [edit("_a_\nold", "_a_\nnew\nnewer")] }, { text: "ok" });
    expect(await take()).toMatchObject({ ok: true });
    expect(text()).toBe("\ufeff# A\r\n_a_\r\nnew\r\nnewer\r\n");
  });

  it("B8.9 C27 belongs to one session: another has its own, and begins empty", async () => {
    const other = { ...options, session: "3f2a0000-0000-4000-8000-000000000002" };
    talk.server.queue({ tools: [state("first")] }, { text: "ok" });
    talk.server.queue({
      tools: [{ ...state("second"), input: { ...state("second").input, file_path: notesPath(other) } }],
    });
    talk.server.queue({ text: "ok" });
    expect(await take()).toMatchObject({ ok: true });
    expect(await takeNotes({ log }, other, { conversation })).toMatchObject({ ok: true });
    expect(text()).toContain("first");
    expect(fs.readFileSync(notesPath(other), "utf8")).toBe(NOTES_TEMPLATE.replace(HINT, `${HINT}\nsecond`));
  });

  it("starts from the template when the file is blank", async () => {
    put(" \n");
    talk.server.queue({ tools: [state("x")] }, { text: "ok" });
    expect(await take()).toMatchObject({ ok: true });
    expect(text()).toContain(`${HINT}\nx\n`);
  });

  it("masks secrets, also one that came in two edits", async () => {
    const key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"];
    talk.server.queue(
      { tools: [state(`token ${key[0]}`)] },
      { tools: [edit("token ghp_", `token ${key.join("")}`)] },
      { text: "ok" },
    );
    expect(await take()).toMatchObject({ ok: true, edits: 2 });
    expect(text()).toMatch(/token \[redacted: [a-z-]+\]/);
    expect(text()).not.toContain(key[1]);
  });
});

describe("the fence (B8.8)", () => {
  it("one file can be edited and no other, by no other tool", async () => {
    const victim = path.join(top, "victim.txt");
    fs.writeFileSync(victim, "as it was");
    const others = [victim, "summary.md", `${path.dirname(file)}/../session-memory/../../x.md`, `${file}/../other.md`];
    talk.server.queue(
      {
        tools: [
          ...others.map((other) => edit("as it was", "changed", other)),
          { name: "Write", input: { file_path: file, content: "x" } },
          { name: "Bash", input: { command: `echo x > ${victim}` } },
          state("kept"),
        ],
      },
      { text: "ok" },
    );
    expect(await take()).toMatchObject({ ok: true, edits: 1 });
    expect(results().map(({ is_error }) => is_error === true)).toEqual([true, true, true, true, true, true, false]);
    expect(fs.readFileSync(victim, "utf8")).toBe("as it was");
    expect(files().sort()).toEqual([path.relative(top, file), "victim.txt"].sort());
  });

  it("an edit that damages headings or hints is refused, and the others count", async () => {
    talk.server.queue(
      { tools: [edit("# Worklog", "# Log"), edit(HINT, "_mine_"), edit(HINT, `${HINT}\n# New\n`), state("kept")] },
      { text: "ok" },
    );
    expect(await take()).toMatchObject({ ok: true, edits: 1 });
    expect(results().map(({ content }) => content)).toEqual([
      expect.stringMatching(/"# Worklog" is missing or changed/),
      expect.stringMatching(/italics below "# Current State"/),
      expect.stringMatching(/has moved|is new/),
      "edited",
    ]);
    expect(text()).toBe(NOTES_TEMPLATE.replace(HINT, `${HINT}\nkept`));
  });

  it("nothing but damage leaves the file as it was", async () => {
    put("# A\n_a_\nold\n");
    talk.server.queue({ tools: [edit("# A", "# B")] }, { text: "All notes are up to date." });
    expect(await take()).toMatchObject({ ok: false, edits: 0, problem: expect.stringMatching(/edited nothing/) });
    expect(text()).toBe("# A\n_a_\nold\n");
  });

  it("at most five turns; what was edited in them stays", async () => {
    put("# A\n_a_\n0\n");
    for (let i = 0; i < 6; i++) talk.server.queue({ tools: [edit(`\n${i}\n`, `\n${i + 1}\n`)] });
    expect(await take()).toMatchObject({ ok: true, edits: 5 });
    expect(talk.server.requests).toHaveLength(5);
    expect(text()).toBe("# A\n_a_\n5\n");
  });
});

describe("failure leaves the file as it was", () => {
  const OLD = "# A\n_a_\nold\n";

  it.each([
    ["an error after an edit", { status: 400, message: "too long" }, /./],
    ["an answer that is cut", { text: "and", stop: "max_tokens" }, /cut/],
    ["a refusal", { text: "no", stop: "refusal" }, /refused/],
    ["a broken stream", { text: "x", fault: "drop" as const }, /./],
  ])("%s", async (_, reply, problem) => {
    put(OLD);
    talk.server.queue({ tools: [edit("old", "new")] }, reply);
    const result = await take();
    expect(result).toMatchObject({ ok: false, edits: 0, problem: expect.stringMatching(problem) });
    expect(result.usage.input + result.usage.output).toBeGreaterThan(0);
    expect(text()).toBe(OLD);
    expect(logged.join()).toContain("session notes:");
  });

  it("a first run that fails makes nothing", async () => {
    talk.server.queue({ status: 401, message: "no" });
    expect(await take()).toMatchObject({ ok: false });
    expect(files()).toEqual([]);
  });

  it("a model that says it is done without an edit", async () => {
    talk.server.queue({ text: "Done!" });
    expect(await take()).toMatchObject({ ok: false, problem: expect.stringMatching(/edited nothing/) });
    expect(files()).toEqual([]);
  });

  it("a signal", async () => {
    put(OLD);
    const stop = new AbortController();
    const ask: Ask = (request) => {
      if (request.messages.length > 3) stop.abort();
      return talk.anthropic(request);
    };
    talk.server.queue({ tools: [edit("old", "new")] }, { text: "ok" });
    const result = await takeNotes(
      { log },
      { ...options, model: () => modelOf(ask) },
      { conversation, signal: stop.signal },
    );
    expect(result).toMatchObject({ ok: false });
    expect(text()).toBe(OLD);
  });

  it.each([
    ["changed", () => fs.writeFileSync(file, "theirs"), "theirs"],
    ["removed", () => fs.rmSync(file), null],
  ])("somebody else %s it meanwhile", async (_, meanwhile, left) => {
    put(OLD);
    const ask: Ask = (request) => {
      if (request.messages.length > 3) meanwhile();
      return talk.anthropic(request);
    };
    talk.server.queue({ tools: [edit("old", "new")] }, { text: "ok" });
    const result = await takeNotes({ log }, { ...options, model: () => modelOf(ask) }, { conversation });
    expect(result).toMatchObject({ ok: false, problem: expect.stringMatching(/changed in the meantime/) });
    expect(fs.existsSync(file) ? text() : null).toBe(left);
  });
});

describe("hostile places: nothing is asked, nothing is written", () => {
  const elsewhere = () => {
    const folder = path.join(top, "elsewhere");
    fs.mkdirSync(folder, { recursive: true });
    return folder;
  };
  const make = (folder: string) => fs.mkdirSync(folder, { recursive: true });
  it.each<[string, () => void]>([
    [
      "the file is a link",
      () => {
        make(path.dirname(file));
        fs.symlinkSync(path.join(elsewhere(), "x"), file);
      },
    ],
    [
      "its folder is a link",
      () => {
        make(path.join(options.sessionsDir, SESSION));
        fs.symlinkSync(elsewhere(), path.dirname(file));
      },
    ],
    ["the session's folder is a link", () => fs.symlinkSync(elsewhere(), path.join(options.sessionsDir, SESSION))],
    ["the file is a folder", () => make(file)],
    [
      "its folder is a file",
      () => {
        make(path.join(options.sessionsDir, SESSION));
        fs.writeFileSync(path.dirname(file), "");
      },
    ],
    ["it is huge", () => put("x".repeat(65 * 1024))],
    ["it is binary", () => put(new Uint8Array([0xff, 0xfe, 0, 1]))],
    ["the id leads elsewhere", () => Object.assign(options, { session: "../../elsewhere" })],
    ["the id has parts", () => Object.assign(options, { session: "a/b" })],
  ])("%s", async (_, arrange) => {
    arrange();
    const before = files();
    expect(await take()).toMatchObject({ ok: false, problem: expect.any(String), usage: { input: 0, output: 0 } });
    expect(talk.server.requests).toHaveLength(0);
    expect(files()).toEqual(before);
    expect(logged).toHaveLength(1);
  });

  it.skipIf(process.platform === "win32")("a fifo does not hold it up", async () => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    execFileSync("mkfifo", [file]);
    expect(await take()).toMatchObject({ ok: false, problem: expect.stringMatching(/not a regular file/) });
  });

  it("a link that is put in the folder's place while the model answers", async () => {
    put("# A\n_a_\nold\n");
    const ask: Ask = (request) => {
      if (request.messages.length > 3) {
        fs.renameSync(path.dirname(file), path.join(top, "moved"));
        fs.symlinkSync(path.join(top, "moved"), path.dirname(file));
      }
      return talk.anthropic(request);
    };
    talk.server.queue({ tools: [edit("old", "new")] }, { text: "ok" });
    expect(await takeNotes({ log }, { ...options, model: () => modelOf(ask) }, { conversation })).toMatchObject({
      ok: false,
    });
    expect(fs.readFileSync(path.join(top, "moved", "summary.md"), "utf8")).toBe("# A\n_a_\nold\n");
  });
});
