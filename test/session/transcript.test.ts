import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "../../src/model/ask.ts";
import { CUT_OFF } from "../../src/session/conversation.ts";
import { readSession } from "../../src/session/session-reader.ts";
import {
  answered,
  call,
  conversations,
  linesIn,
  makeDesk,
  makeFolder,
  reminder,
  result,
  said,
  whyNotSendable,
} from "./transcripts.ts";

describe("the file", () => {
  test("B11.14 is made with the first message, never before", () => {
    const desk = makeDesk();
    const transcript = desk.open();
    transcript.note({ type: "mode", mode: "default" });
    transcript.rewindTo(null);
    expect(fs.existsSync(desk.dir)).toBe(false);
    transcript.append(said("hello"));
    expect(transcript.path).toBe(path.join(desk.dir, `${transcript.id}.jsonl`));
    expect(linesIn(transcript.path).map(({ type }) => type)).toEqual(["mode", "rewind", "user"]);
    expect(transcript.problem()).toBeNull();
  });

  test.skipIf(process.platform === "win32")("C26 is the user's alone", () => {
    const desk = makeDesk();
    const transcript = desk.open();
    transcript.append(said("hello"));
    expect(fs.statSync(transcript.path).mode & 0o777).toBe(0o600);
    expect(fs.statSync(desk.dir).mode & 0o777).toBe(0o700);
  });

  test("C26 lines have Claude Code's fields and hang on one another", () => {
    const desk = makeDesk();
    const transcript = desk.open();
    const first = transcript.append({ role: "user", content: [reminder("r"), ...said("hello").content] } as Message);
    const second = transcript.append(answered("hi"), { stop: "end" });
    const [user, attachment, assistant] = linesIn(transcript.path);
    expect(user).toEqual({
      parentUuid: null,
      isSidechain: false,
      type: "user",
      userType: "external",
      cwd: "/work",
      sessionId: transcript.id,
      version: "0.1.0",
      gitBranch: "main",
      uuid: first,
      timestamp: expect.stringMatching(/^2026-03-10T\d\d:\d\d:\d\d\.000Z$/),
      message: { role: "user", content: "hello" },
    });
    expect(attachment).toMatchObject({
      type: "attachment",
      parentUuid: first,
      attachment: { type: "date", content: "r" },
    });
    expect(assistant).toMatchObject({ type: "assistant", parentUuid: attachment?.uuid, uuid: second });
    expect(assistant?.message).toMatchObject({ role: "assistant", model: "model-x", stop_reason: "end_turn" });
    expect(transcript.leaf).toBe(second);
  });

  test("a note has no uuid, but says whose it is and when it was made", () => {
    const transcript = makeDesk().open();
    transcript.append(said("hello"));
    transcript.note({ type: "file-history-snapshot", messageId: "m" });
    const note = linesIn(transcript.path)[1];
    expect(Object.keys(note!)[0]).toBe("type");
    expect(note).toMatchObject({ sessionId: transcript.id, messageId: "m", timestamp: expect.any(String) });
    expect(note).not.toHaveProperty("uuid");
  });

  test("outside a repository there is no branch", () => {
    const transcript = makeDesk().open(undefined, { gitBranch: () => null });
    transcript.append(said("hello"));
    expect(linesIn(transcript.path)[0]).not.toHaveProperty("gitBranch");
  });

  test("a value that JSON does not know is logged and does not end the conversation", async () => {
    const desk = makeDesk();
    const transcript = desk.open();
    transcript.append(said("hello"));
    transcript.append(answered(call("t", { big: 1n as unknown as number })));
    transcript.append(said("still there"));
    expect(desk.logged.join()).toMatch(/could not be written/);
    expect((await readSession(transcript.path)).messages).toEqual([said("hello"), said("still there")]);
  });
});

describe("what was appended is read back", () => {
  test("B1.13 any conversation, byte for byte", async () => {
    const desk = makeDesk();
    await fc.assert(
      fc.asyncProperty(conversations, async (conversation) => {
        const transcript = desk.open();
        for (const message of conversation) transcript.append(message);
        const session = await readSession(transcript.path);
        expect(session.messages).toEqual(conversation);
        expect(JSON.stringify(session.messages.map(sent))).toBe(JSON.stringify(conversation.map(sent)));
        expect(session.leaf).toBe(transcript.leaf);
        expect(session.problems).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("B11.14 cut at any byte it is a beginning of the conversation that can be sent, and can be gone on from", async () => {
    const desk = makeDesk();
    const cut = path.join(desk.dir, "00000000-0000-4000-8000-ffffffffffff.jsonl");
    await fc.assert(
      fc.asyncProperty(conversations, fc.double({ min: 0, max: 1, noNaN: true }), async (conversation, share) => {
        const transcript = desk.open();
        for (const message of conversation) transcript.append(message);
        const bytes = fs.readFileSync(transcript.path);
        fs.writeFileSync(cut, bytes.subarray(0, Math.round(share * bytes.length)));
        const session = await readSession(cut);
        expect(whyNotSendable(session.messages)).toBeNull();
        expectBeginning(session.messages, conversation);

        const next = desk.open(session);
        next.append(said("go on"));
        const again = await readSession(cut);
        expect(again.messages).toEqual([...session.messages, said("go on")]);
        expect(next.problem()).toBeNull();
      }),
      { numRuns: 120 },
    );
  });

  test("B1.13 a resumed session keeps its id and its file", async () => {
    const desk = makeDesk();
    const first = desk.open();
    first.append(said("one"));
    first.append(answered("two"));
    const second = desk.open(await readSession(first.path));
    expect([second.id, second.path, second.leaf]).toEqual([first.id, first.path, first.leaf]);
    second.append(said("three"));
    expect((await readSession(first.path)).messages).toEqual([said("one"), answered("two"), said("three")]);
  });

  test("after a rewind the branch that was left is gone, at once and for what follows", async () => {
    const transcript = makeDesk().open();
    transcript.append(said("one"));
    const leaf = transcript.append(answered("two"));
    transcript.append(said("three"));
    transcript.append(answered("four"));
    transcript.rewindTo(leaf);
    const at = await readSession(transcript.path);
    expect([at.messages, at.leaf]).toEqual([[said("one"), answered("two")], leaf]);
    transcript.append(said("five"));
    const session = await readSession(transcript.path);
    expect(session.messages).toEqual([said("one"), answered("two"), said("five")]);
    transcript.rewindTo(session.prompts[1]!.parent);
    expect((await readSession(transcript.path)).messages).toEqual([said("one"), answered("two")]);
    transcript.rewindTo(null);
    expect((await readSession(transcript.path)).messages).toEqual([]);
    transcript.append(said("anew"));
    expect((await readSession(transcript.path)).messages).toEqual([said("anew")]);
  });

  test("after a compaction only what came behind it is sent; one that was cut off before its summary did not happen", async () => {
    const transcript = makeDesk().open();
    transcript.append(said("one"));
    const old = transcript.append(answered("two"));
    transcript.boundary({ trigger: "auto", preTokens: 1234 });
    const boundary = linesIn(transcript.path).at(-1);
    expect(boundary).toMatchObject({
      type: "system",
      subtype: "compact_boundary",
      parentUuid: null,
      logicalParentUuid: old,
      compactMetadata: { trigger: "auto", preTokens: 1234 },
    });
    const between = await readSession(transcript.path);
    expect([between.messages, between.leaf]).toEqual([[said("one"), answered("two")], old]);

    transcript.append(said("the story so far"), { isSummary: true });
    expect(linesIn(transcript.path).at(-1)).toMatchObject({ isCompactSummary: true, parentUuid: boundary?.uuid });
    transcript.append(answered("understood"));
    transcript.append(said("three"));
    const session = await readSession(transcript.path);
    expect(session.messages).toEqual([said("the story so far"), answered("understood"), said("three")]);
    expect(session.prompts.map(({ text, index }) => [text, index])).toEqual([["three", 2]]);
  });
});

describe("when the disk refuses", () => {
  test("B11.14 lines wait while the folder is gone, and are written in order when it is back", async () => {
    const desk = makeDesk();
    const transcript = desk.open();
    transcript.append(said("one"));
    const kept = fs.readFileSync(transcript.path);
    fs.rmSync(desk.dir, { recursive: true });
    transcript.append(answered("two"));
    transcript.append(said("three"));
    expect(transcript.problem()).toMatch(/ENOENT.*it was removed meanwhile/);
    expect(desk.logged).toHaveLength(1);
    fs.mkdirSync(desk.dir);
    fs.writeFileSync(transcript.path, kept);
    transcript.append(answered("four"));
    expect(transcript.problem()).toBeNull();
    expect((await readSession(transcript.path)).messages).toEqual([
      said("one"),
      answered("two"),
      said("three"),
      answered("four"),
    ]);
  });

  test("a file that somebody removed is begun anew", async () => {
    const transcript = makeDesk().open();
    transcript.append(said("one"));
    fs.rmSync(transcript.path);
    transcript.append(said("two"));
    expect(transcript.problem()).toBeNull();
    expect((await readSession(transcript.path)).messages).toEqual([said("two")]);
  });

  test("lines that were never written are told of at the end", () => {
    const desk = makeDesk();
    fs.mkdirSync(path.dirname(desk.dir), { recursive: true });
    fs.writeFileSync(desk.dir, "a file where a folder belongs");
    const transcript = desk.open();
    transcript.append(said("one"));
    expect(transcript.problem()).toMatch(/something else is in its place; move it away/);
    transcript.close();
    expect(desk.logged.at(-1)).toMatch(/never written/);
  });

  test.skipIf(process.platform === "win32")("a link or a folder in its place is not written through", () => {
    const desk = makeDesk();
    fs.mkdirSync(desk.dir, { recursive: true });
    const elsewhere = path.join(makeFolder(), "elsewhere");
    const linked = desk.open();
    fs.symlinkSync(elsewhere, linked.path);
    linked.append(said("one"));
    expect(linked.problem()).toMatch(/symbolic link/);
    expect(fs.existsSync(elsewhere)).toBe(false);
    const blocked = desk.open();
    fs.mkdirSync(blocked.path);
    blocked.append(said("one"));
    expect(blocked.problem()).toMatch(/EISDIR.*move it away/);
  });

  test("B11.14 half a line of a killed writer is not glued to the next", async () => {
    const desk = makeDesk();
    const transcript = desk.open();
    transcript.append(said("one"));
    transcript.append(answered(call("t1")));
    fs.appendFileSync(transcript.path, '{"parentUuid":"x","type":"user","mess');
    const session = await readSession(transcript.path);
    expect(session.problems).toEqual(["the last line is only half written; it is left out"]);
    const next = desk.open(session);
    next.append(said("two"));
    const messages = [
      said("one"),
      answered(call("t1")),
      { role: "user", content: [{ ...result("t1", CUT_OFF), isError: true }] },
      said("two"),
    ];
    const again = await readSession(transcript.path);
    expect(again.messages).toEqual(messages);
    expect(again.problems).toEqual(["1 line cannot be read; left out"]);
  });

  test.skipIf(process.platform === "win32")("B11.14 what was appended survives kill -9", async () => {
    const folder = makeFolder();
    const script = await bundle(
      folder,
      "for (let i = 0; i < 5; i++) say(i); process.kill(process.pid, 'SIGKILL'); say(5);",
    );
    const ran = spawnSync(process.execPath, [script, folder], { encoding: "utf8" });
    expect(ran.signal).toBe("SIGKILL");
    const file = fs.readdirSync(folder).find((name) => name.endsWith(".jsonl"))!;
    const { prompts, problems } = await readSession(path.join(folder, file));
    expect([prompts.length, problems]).toEqual([5, []]);
  });

  // A limit on the size of files is the full disk that every user can have: it also takes part of a line.
  test.skipIf(process.platform === "win32")("B11.14 a disk that is full in the middle of a line", async () => {
    const folder = makeFolder();
    const script = await bundle(folder, FILL);
    // Eight blocks, of 512 bytes or of 1024: both hold some of the messages and not all.
    const ran = spawnSync("sh", ["-c", 'ulimit -f 8 && exec "$0" "$1" "$2"', process.execPath, script, folder], {
      encoding: "utf8",
    });
    expect(ran.stderr).toBe("");
    const { file, problem, last, numbers } = JSON.parse(ran.stdout);
    expect(problem).toMatch(/EFBIG.*ulimit -f/);
    expect(last).toMatch(/lines of the transcript .* were never written/);
    // Full once, then again with what had waited: whole lines in their order, however far they came.
    const count = numbers.length;
    expect(count).toBeGreaterThan(1);
    expect(count).toBeLessThan(20);
    expect(numbers).toEqual([...Array(count).keys()]);
    const { prompts, problems } = await readSession(file);
    expect(problems.join()).toBe("1 line missing in the chain; the order of the file is taken there");
    expect(prompts.map(({ text }) => Number.parseInt(text, 10))).toEqual([
      0,
      ...prompts.slice(1).map((_, i) => count + i),
    ]);
    expect(prompts.length).toBeGreaterThan(1);
    expect(fs.readFileSync(file, "utf8").endsWith("\n")).toBe(true);
  });
});

/** A program that has a transcript in the folder it is given. */
async function bundle(folder: string, work: string): Promise<string> {
  const source = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../src/session/transcript.ts");
  const contents = `
import fs from "node:fs";
import { openTranscript } from ${JSON.stringify(source)};
let id = 0;
const logged = [];
const place = { dir: process.argv[2], cwd: "/work", version: "1", model: () => "m", gitBranch: () => null };
const world = { now: () => new Date(), newId: () => "id-" + ++id, log: (m) => logged.push(m) };
const transcript = openTranscript(place, world);
const say = (i) => transcript.append({ role: "user", content: [{ type: "text", text: i + "x".repeat(700) }] });
${work}`;
  const outfile = path.join(folder, "program.mjs");
  const stdin = { contents, resolveDir: folder };
  await build({ stdin, outfile, bundle: true, platform: "node", format: "esm", logLevel: "error" });
  return outfile;
}

/** Fills the file to its limit, then makes room in it, and appends again. */
const FILL = `
const file = transcript.path;
for (let i = 0; i < 19; i++) say(i);
const problem = transcript.problem();
const text = fs.readFileSync(file, "utf8");
const numbers = text.trimEnd().split("\\n").map((line) => parseInt(JSON.parse(line).message.content, 10));
fs.truncateSync(file, text.indexOf("\\n") + 1);
say(19);
transcript.close();
process.stdout.write(JSON.stringify({ file, problem, last: logged.at(-1), numbers }));
`;

/** As a provider is sent it: which kind a reminder is stays here. */
function sent({ role, content }: Message): unknown {
  return { role, content: content.map(({ attachment: _, ...block }: { attachment?: string; type: string }) => block) };
}

/** The last message may lack reminders that came on later lines, and calls that were cut off have an error for a result. */
function expectBeginning(messages: readonly Message[], conversation: readonly Message[]): void {
  const cutOff = messages.at(-1)?.content.some((block) => block.type === "tool_result" && block.content === CUT_OFF);
  const own = cutOff ? messages.slice(0, -1) : messages;
  expect(own.length).toBeLessThanOrEqual(conversation.length);
  expect(own.slice(0, -1)).toEqual(conversation.slice(0, Math.max(0, own.length - 1)));
  const last = own.at(-1);
  if (!last) return;
  const whole = conversation[own.length - 1]!;
  expect(last.role).toBe(whole.role);
  expect(saidIn(last)).toEqual(saidIn(whole));
  let from = 0;
  for (const block of last.content) {
    const at = whole.content.findIndex((other, i) => i >= from && JSON.stringify(other) === JSON.stringify(block));
    expect(at).toBeGreaterThanOrEqual(from);
    from = at + 1;
  }
}

function saidIn({ content }: Message): unknown[] {
  return content.filter((block) => !(block.type === "text" && block.attachment !== undefined));
}
