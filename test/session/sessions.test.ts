import fs from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Message } from "../../src/model/ask.ts";
import { findSession, listSessions } from "../../src/session/sessions.ts";
import { answered, call, makeDesk, makeFolder, reminder, result, said, uuid, writeLines } from "./transcripts.ts";

/** Messages that take no more than their words to write down. */
function talk(texts: readonly string[], at = "2026-11-01T10:00:00.000Z", more: object = {}) {
  return texts.map((content, i) => ({
    parentUuid: i === 0 ? null : `p${i - 1}`,
    isSidechain: false,
    cwd: "/work/app",
    type: i % 2 === 0 ? "user" : "assistant",
    message:
      i % 2 === 0
        ? { role: "user", content }
        : { id: `m${i}`, role: "assistant", content: [{ type: "text", text: content }] },
    uuid: `p${i}`,
    timestamp: new Date(Date.parse(at) + i * 1000).toISOString(),
    ...more,
  }));
}

function put(dir: string, number: number, lines: readonly unknown[]): string {
  return writeLines(path.join(dir, `${uuid(number)}.jsonl`), lines);
}

const only = (dir: string) => ({ dirs: [dir], older: null });

describe("the list of sessions", () => {
  test("B1.13 tells what a session was about, newest first", async () => {
    const dir = makeFolder();
    const first = put(dir, 1, talk(["Why is\nthe pool\tfull?", "Because."], "2026-11-01T10:00:00.000Z"));
    put(dir, 2, talk(["Later"], "2026-11-02T10:00:00.000Z"));
    const rows = await listSessions(only(dir));
    expect(rows.map(({ title }) => title)).toEqual(["Later", "Why is the pool full?"]);
    expect(rows[1]).toEqual({
      id: uuid(1),
      path: first,
      at: "2026-11-01T10:00:01.000Z",
      started: "2026-11-01T10:00:00.000Z",
      title: "Why is the pool full?",
      messages: 2,
      cwd: "/work/app",
      bytes: fs.statSync(first).size,
    });
  });

  test("B11.14 our own count alike: prompts and answers, no results, no reminders, no calls alone", async () => {
    const desk = makeDesk();
    const transcript = desk.open();
    transcript.append({ role: "user", content: [reminder("today is Monday"), ...said("hello").content] } as Message);
    transcript.append(answered(call("t1", { type: "text" })));
    transcript.append({ role: "user", content: [result("t1", '{"role":"assistant","type":"text"}'), reminder("r")] });
    transcript.append(answered("done", call("t2")));
    transcript.append({ role: "user", content: [result("t2")] });
    transcript.append(answered("all done"));
    transcript.append(said("thanks"));
    transcript.note({ type: "mode", mode: "x" });
    const [row] = await listSessions(only(desk.dir));
    expect(row).toMatchObject({ id: transcript.id, messages: 4, title: "hello", cwd: "/work" });
  });

  test("one answer on several lines counts once, lines of sub-agents and errors of the client not at all", async () => {
    const dir = makeFolder();
    const lines = talk(["a", "b"]);
    put(dir, 1, [
      lines[0],
      lines[1],
      { parentUuid: null, isSidechain: true, type: "user", message: { role: "user", content: "task" } },
      { ...lines[0], isMeta: true },
      lines[1],
      {
        ...lines[1],
        isApiErrorMessage: true,
        message: { id: "e", role: "assistant", content: [{ type: "text", text: "API Error" }] },
      },
    ]);
    expect((await listSessions(only(dir)))[0]?.messages).toBe(2);
  });

  test("lines spaced otherwise are read as well", async () => {
    const dir = makeFolder();
    const spaced = (value: unknown) => JSON.stringify(value, null, 1).replaceAll("\n", " ");
    const [prompt, answer] = talk(["a", "b"]);
    const tool = {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "x" }] },
    };
    const file = put(dir, 1, []);
    fs.writeFileSync(file, [prompt, answer, tool].map(spaced).join("\n"));
    expect((await listSessions(only(dir)))[0]?.messages).toBe(2);
  });

  test("titles: given, made by a model, summary, first prompt that is no command", async () => {
    const dir = makeFolder();
    const summary = { type: "summary", summary: "A summary" };
    const made = { type: "ai-title", aiTitle: "A made title" };
    const given = { type: "custom-title", customTitle: "A given title" };
    put(dir, 1, [summary, ...talk(["x"]), given, made]);
    put(dir, 2, [made, ...talk(["x"]), summary]);
    put(dir, 3, [...talk(["x"]), summary]);
    put(dir, 4, talk(["<command-name>/clear</command-name>", "ok", "What now?"]));
    put(dir, 5, talk(["<command-name>/clear</command-name>"]));
    put(dir, 6, talk([`${"long words ".repeat(500)}`]));
    put(dir, 7, talk(["\x1b[31mred\x1b[0m \x1b]0;title\x07\u202eabc\u0007"]));
    const titles = new Map((await listSessions(only(dir))).map(({ id, title }) => [id, title]));
    expect([1, 2, 3, 4, 5, 7].map((n) => titles.get(uuid(n)))).toEqual([
      "A given title",
      "A made title",
      "A summary",
      "What now?",
      "/clear",
      "red abc",
    ]);
    expect(titles.get(uuid(6))).toMatch(/^long words .* (?:long|words)…$/);
    expect([...titles.get(uuid(6))!].length).toBeLessThanOrEqual(100);
  });

  test("files that are no sessions, and sessions in which nothing was said, are left out", async () => {
    const dir = makeFolder();
    const lines = talk(["a"]);
    for (const name of ["agent-1234.jsonl", "notes.jsonl", `${uuid(8)}.json`, `${uuid(8)}.jsonl.bak`]) {
      writeLines(path.join(dir, name), lines);
    }
    put(dir, 1, []);
    put(dir, 2, [{ type: "mode", mode: "x" }]);
    fs.mkdirSync(path.join(dir, `${uuid(3)}.jsonl`));
    fs.mkdirSync(path.join(dir, uuid(4), "subagents"), { recursive: true });
    if (process.platform !== "win32") fs.symlinkSync(put(makeFolder(), 5, lines), path.join(dir, `${uuid(5)}.jsonl`));
    put(dir, 6, lines);
    expect((await listSessions(only(dir))).map(({ id }) => id)).toEqual([uuid(6)]);
    expect(await listSessions(only(path.join(dir, "none")))).toEqual([]);
  });

  test("a session without times has the file's", async () => {
    const dir = makeFolder();
    const file = put(dir, 1, talk(["a"], undefined, { timestamp: "not a time" }));
    fs.utimesSync(file, new Date("2026-01-02T03:04:05Z"), new Date("2026-01-02T03:04:05Z"));
    expect((await listSessions(only(dir)))[0]).toMatchObject({
      at: "2026-01-02T03:04:05.000Z",
      started: "2026-01-02T03:04:05.000Z",
    });
  });

  test("half a last line and rubbish do not hide a session", async () => {
    const dir = makeFolder();
    const file = put(dir, 1, talk(["a", "b"]));
    fs.appendFileSync(file, 'rubbish\n{"type":"user","message":{"role":"user","content":"c');
    expect((await listSessions(only(dir)))[0]?.messages).toBe(2);
  });

  test("C26 seed 001's sessions are listed beside them; live-session files of the client are not", async () => {
    const top = makeFolder();
    const older = path.join(top, "sessions");
    writeLines(path.join(older, "my-session", "transcript.jsonl"), [{ role: "user", content: "hello" }]);
    writeLines(path.join(older, "bad\x1bname", "transcript.jsonl"), [{ role: "user", content: "hello" }]);
    fs.writeFileSync(path.join(older, "123.json"), "{}");
    const rows = await listSessions({ dirs: [path.join(top, "none")], older });
    expect(rows.map(({ id, messages }) => [id, messages])).toEqual([["my-session", 1]]);
  });

  test("progress goes from nothing to all", async () => {
    const dir = makeFolder();
    put(dir, 1, talk(["a"]));
    put(dir, 2, talk(["b"]));
    const seen: number[][] = [];
    await listSessions(only(dir), { onProgress: (done, total) => seen.push([done, total]) });
    expect(seen).toEqual([
      [0, 2],
      [1, 2],
      [2, 2],
    ]);
  });
});

describe("finding a session", () => {
  function shelf() {
    const dir = makeFolder();
    const ids = [
      "aaaa1111-0000-4000-8000-000000000001",
      "aaaa2222-0000-4000-8000-000000000002",
      "bbbb1111-0000-4000-8000-000000000003",
    ];
    for (const [i, id] of ids.entries()) {
      writeLines(path.join(dir, `${id}.jsonl`), talk([`talk ${i}`], `2026-11-0${3 - i}T10:00:00.000Z`));
    }
    writeLines(path.join(dir, "cccc1111-0000-4000-8000-000000000004.jsonl"), []);
    return { dir, ids };
  }

  test("B1.13 by id, by its beginning, or the latest", async () => {
    const { dir, ids } = shelf();
    expect(await findSession(only(dir), ids[2]!)).toMatchObject({ id: ids[2] });
    expect(await findSession(only(dir), "BBBB")).toMatchObject({ id: ids[2] });
    expect(await findSession(only(dir), "aaaa1")).toMatchObject({ id: ids[0] });
    expect(await findSession(only(dir), "aaaa")).toMatchObject({ ambiguous: [{ id: ids[0] }, { id: ids[1] }] });
    expect(await findSession(only(dir), "latest")).toMatchObject({ id: ids[0] });
  });

  test("nothing is found where nothing is", async () => {
    const { dir } = shelf();
    for (const wanted of ["dddd", "", "cccc", "../x"]) expect(await findSession(only(dir), wanted)).toBeNull();
    expect(await findSession(only(makeFolder()), "latest")).toBeNull();
  });

  test("the same session in two folders is the one that went on", async () => {
    const { dir, ids } = shelf();
    const other = makeFolder();
    writeLines(path.join(other, `${ids[0]}.jsonl`), talk(["talk 0", "went on"], "2026-11-05T10:00:00.000Z"));
    const found = await findSession({ dirs: [dir, other], older: null }, ids[0]!);
    expect(found).toMatchObject({ path: path.join(other, `${ids[0]}.jsonl`) });
  });
});
