/** Which transcripts are a project's, of all agents: by their folder or by what they say, by their time, oldest first. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findTranscripts, readTranscript, type TranscriptPlaces } from "../../src/session/transcripts.ts";
import { head, putChat, typed as typedHere } from "./chats.ts";
import { opening, putRollout, typed } from "./rollouts.ts";
import { makeFolder, uuid, writeLines } from "./transcripts.ts";

const NOW = Date.UTC(2026, 2, 10, 12);
const DAY = 86_400_000;

interface Desk {
  top: string;
  places: TranscriptPlaces;
  claude(folder: string, number: number, ageDays: number, cwd?: string | null): string;
  codex(day: string, number: number, ageDays: number, cwd: string, more?: Record<string, unknown>): string;
  gemini(project: string, number: number, ageDays: number, more?: Record<string, unknown>): string;
  find(sinceDays: number, places?: Partial<TranscriptPlaces>): Promise<string[]>;
}

function makeDesk(): Desk {
  const top = makeFolder();
  const own = path.join(top, "projects", "-shop");
  const places: TranscriptPlaces = {
    claude: { dirs: [own, path.join(top, "projects", "-shop-api")], older: path.join(top, "sessions") },
    own,
    codex: path.join(top, "codex", "sessions"),
    gemini: path.join(top, "gemini", "tmp"),
    isHere: (cwd) => cwd === "/shop" || cwd.startsWith("/shop/"),
  };
  const age = (file: string, days: number) => fs.utimesSync(file, new Date(NOW), new Date(NOW - days * DAY));
  return {
    top,
    places,
    claude(folder, number, ageDays, cwd = null) {
      const file = path.join(top, folder, folder === "sessions" ? "old" : "", nameOf(folder, number));
      const message = { role: "user", content: "hi" };
      writeLines(file, [
        { type: "summary", summary: "x" },
        { type: "user", uuid: "u", message, ...(cwd && { cwd }) },
      ]);
      age(file, ageDays);
      return file;
    },
    codex(day, number, ageDays, cwd, more = {}) {
      const file = path.join(top, "codex", "sessions", day, `rollout-${number}.jsonl`);
      putRollout(file, [...opening(cwd, { id: uuid(number), ...more }), ...typed("hi")]);
      age(file, ageDays);
      return file;
    },
    gemini(project, number, ageDays, more = {}) {
      const file = path.join(top, "gemini", "tmp", project, "chats", `session-${number}.jsonl`);
      putChat(file, [head({ sessionId: uuid(number), ...more }), typedHere("hi")]);
      fs.writeFileSync(path.join(top, "gemini", "tmp", project, ".project_root"), `/${project}`);
      age(file, ageDays);
      return file;
    },
    find: async (sinceDays, more = {}) =>
      (await findTranscripts({ ...places, ...more }, NOW - sinceDays * DAY)).map(
        ({ agent, id }) => `${agent} ${id.slice(-2)}`,
      ),
  };
}

function nameOf(folder: string, number: number): string {
  return folder === "sessions" ? "transcript.jsonl" : `${uuid(number)}.jsonl`;
}

describe("found", () => {
  it("are those of all agents that changed since, oldest first", async () => {
    const desk = makeDesk();
    desk.claude("projects/-shop", 1, 3);
    desk.codex("2026/03/07", 2, 2, "/shop/api");
    desk.claude("projects/-shop", 3, 1);
    desk.claude("projects/-shop", 4, 30);
    // It began long ago and went on.
    desk.codex("2025/01/01", 5, 0, "/shop");
    desk.codex("2026/01/01", 6, 40, "/shop");
    desk.gemini("shop", 7, 2.5);
    desk.gemini("shop", 8, 9);
    expect(await desk.find(7)).toEqual(["claude 01", "gemini 07", "codex 02", "claude 03", "codex 05"]);
    expect(await desk.find(1.5)).toEqual(["claude 03", "codex 05"]);
    expect(await desk.find(7, { claude: null, gemini: null })).toEqual(["codex 02", "codex 05"]);
    expect(await desk.find(7, { codex: null, gemini: null })).toEqual(["claude 01", "claude 03"]);
    expect(await desk.find(7, { claude: null, codex: null })).toEqual(["gemini 07"]);
  });

  it("are only this project's; other folders' sessions must say that they are", async () => {
    const desk = makeDesk();
    desk.claude("projects/-shop", 1, 5);
    desk.claude("projects/-shop-api", 2, 4, "/shop/api");
    desk.claude("projects/-shop-api", 3, 3, "/shop-api");
    desk.claude("projects/-shop-api", 4, 3);
    desk.claude("sessions", 5, 3);
    desk.codex("2026/03/09", 6, 2, "/elsewhere");
    desk.codex("2026/03/09", 7, 1, "/shop");
    desk.gemini("elsewhere", 8, 1);
    fs.rmSync(path.join(path.dirname(desk.gemini("older", 9, 1)), "..", ".project_root"));
    expect(await desk.find(7)).toEqual(["claude 01", "claude 02", "codex 07"]);
    desk.claude("sessions", 5, 0, "/shop");
    expect(await desk.find(7)).toEqual(["claude 01", "claude 02", "codex 07", "claude ld"]);
  });

  it("are no sub-agents' and no other files", async () => {
    const desk = makeDesk();
    desk.codex("2026/03/09", 1, 1, "/shop", { source: { subagent: { thread_spawn: { depth: 1 } } } });
    const rollout = desk.codex("2026/03/09", 2, 1, "/shop");
    const day = path.dirname(rollout);
    fs.copyFileSync(rollout, path.join(day, "notes.jsonl"));
    fs.copyFileSync(rollout, path.join(day, "rollout-3.jsonl.zst"));
    fs.writeFileSync(path.join(day, "rollout-4.jsonl"), "garbage\n");
    fs.mkdirSync(path.join(day, "rollout-5.jsonl"));
    const chat = desk.gemini("shop", 8, 1);
    desk.gemini("shop", 9, 1, { kind: "subagent" });
    fs.copyFileSync(chat, path.join(path.dirname(chat), "notes.jsonl"));
    fs.writeFileSync(path.join(path.dirname(chat), "session-10.jsonl"), "garbage\n");
    const session = desk.claude("projects/-shop", 6, 1);
    fs.copyFileSync(session, path.join(path.dirname(session), "agent-1.jsonl"));
    if (process.platform !== "win32") {
      fs.symlinkSync(rollout, path.join(day, "rollout-7.jsonl"));
      fs.symlinkSync(chat, path.join(path.dirname(chat), "session-11.jsonl"));
      fs.symlinkSync(day, path.join(path.dirname(day), "10"));
    }
    expect((await desk.find(7)).sort()).toEqual(["claude 06", "codex 02", "gemini 08"]);
  });

  it("come once, as the file that went on, and none where nothing is", async () => {
    const desk = makeDesk();
    desk.claude("projects/-shop", 1, 1);
    desk.claude("projects/-shop-api", 1, 4, "/shop");
    desk.claude("projects/-shop", 2, 3);
    expect(await desk.find(7)).toEqual(["claude 02", "claude 01"]);
    const nowhere = path.join(desk.top, "none");
    const claude = { dirs: [nowhere], older: nowhere };
    expect(await desk.find(7, { claude, own: nowhere, codex: nowhere, gemini: nowhere })).toEqual([]);
  });
});

it("a transcript tells by its first lines who wrote it", async () => {
  const desk = makeDesk();
  const claude = await readTranscript(desk.claude("projects/-shop", 1, 1, "/shop"));
  expect(claude).toMatchObject({ agent: "claude", id: uuid(1), cwd: "/shop", prompts: [{ text: "hi" }] });
  const codex = await readTranscript(desk.codex("2026/03/09", 2, 1, "/shop"));
  expect(codex).toMatchObject({ agent: "codex", id: uuid(2), cwd: "/shop", prompts: [{ text: "hi" }] });
  const gemini = await readTranscript(desk.gemini("shop", 3, 1));
  expect(gemini).toMatchObject({ agent: "gemini", id: uuid(3), cwd: "/shop", prompts: [{ text: "hi" }] });
  expect(await readTranscript(desk.gemini("shop", 4, 1, { kind: "subagent" }))).toMatchObject({ isSubAgent: true });
});
