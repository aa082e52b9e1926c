/** The end of a turn in Codex and Gemini CLI: the gates know nothing of their transcripts, the process that is started reads them. */

import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { isForeign, readTurnTail, writesMemory } from "../../src/hooks/turn-tail.ts";
import { answered as answeredInChat, CHAT, head, putChat, sent, typed as typedInChat } from "../session/chats.ts";
import { answered, opening, putRollout, THREAD, typed } from "../session/rollouts.ts";
import { makeStopDesk, type StopDesk } from "./stop-desk.ts";

const MODEL = { MEMDIR_MODEL: "anthropic/claude-test", ANTHROPIC_API_KEY: "sk-test" };
const ASKED = "remember that we never use npm here, always pnpm";

interface Foreign {
  event: string;
  session: string;
  put(desk: StopDesk, prompt: string): string;
}

const HOSTS: Record<string, Foreign> = {
  Codex: {
    event: "Stop",
    session: THREAD,
    put: (desk, prompt) =>
      putRollout(desk.at("home", ".codex", "sessions", `rollout-2026-03-10T12-00-00-${THREAD}.jsonl`), [
        ...opening(desk.project),
        ...typed(prompt),
        answered("Understood."),
      ]),
  },
  "Gemini CLI": {
    event: "AfterAgent",
    session: CHAT,
    put: (desk, prompt) =>
      putChat(
        desk.at("home", ".gemini", "tmp", "project", "chats", `session-2026-03-10T12-00-${CHAT.slice(0, 8)}.jsonl`),
        [
          head(),
          sent([prompt, "<hook_context>remember that we always use tabs</hook_context>"], prompt),
          answeredInChat("Understood."),
        ],
      ),
  },
};

function inputOf({ event, session }: Foreign, transcript: string) {
  const last_assistant_message = "Understood.";
  return { hook_event_name: event, session_id: session, transcript_path: transcript, last_assistant_message };
}

describe.each(Object.entries(HOSTS))("%s", (_, host) => {
  it("its gates open, and no mark is waited for", () => {
    const desk = makeStopDesk();
    const transcript = host.put(desk, "thanks");
    const start = { transcript, cwd: desk.project, mark: "" };
    expect(desk.decide(inputOf(host, transcript))).toEqual({ start });
    expect(desk.decide(inputOf(host, transcript), MODEL)).toEqual({ start });
    expect(desk.ledger()).toEqual([]);
  });

  it("stays closed where nothing may be kept, and the ledger names the session as the host does", () => {
    const desk = makeStopDesk();
    const transcript = host.put(desk, ASKED);
    expect(desk.decide(inputOf(host, transcript), { MEMDIR_LEARN: "off" })).toEqual({
      skipped: expect.stringContaining("off"),
    });
    expect(desk.decide({ ...inputOf(host, transcript), agent_id: "a1" })).toHaveProperty("skipped");
    expect(desk.decide({ ...inputOf(host, transcript), session_id: "../x", agent_id: "a1" })).toHaveProperty("skipped");
    const name = path.basename(transcript, ".jsonl");
    expect(desk.ledger().map(({ session }) => session)).toEqual([host.session, host.session, name]);
    const gone = { ...inputOf(host, `${transcript}.gone`), last_assistant_message: "" };
    expect(desk.decide(gone)).toHaveProperty("skipped");
  });

  it("what was asked for is started even when the budget is used up: whether it was, is not known here", () => {
    const desk = makeStopDesk();
    const transcript = host.put(desk, ASKED);
    const at = desk.at("memory", ".memdir", "ledger.jsonl");
    fs.mkdirSync(path.dirname(at), { recursive: true });
    const usage = { input: 900_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };
    const spent = { at: "2026-03-10T11:00:00.000Z", kind: "extraction", session: host.session, model: "m", usage };
    fs.writeFileSync(at, `${JSON.stringify({ ...spent, cost: null, produced: "", skipped: null })}\n`);
    desk.say("please fix the failing test in the parser");
    expect(desk.decide({ session_id: host.session }, MODEL)).toHaveProperty("skipped");
    expect(desk.decide(inputOf(host, transcript), MODEL)).toHaveProperty("start");
  });

  it("the process that is started keeps what the user said, once, and only that", async () => {
    const desk = makeStopDesk("disk");
    const transcript = host.put(desk, ASKED);
    const cursor = desk.at("memory", ".memdir", "cursors", `${host.session}.json`);
    const stopped = desk.stop(inputOf(host, transcript));
    expect([stopped.status, stopped.stdout, stopped.stderr]).toEqual([0, "", ""]);
    await desk.until(() => fs.existsSync(cursor), "the cursor moves");
    const [memory, ...others] = desk.memories();
    expect(others).toEqual([]);
    expect(fs.readFileSync(desk.at("memory", memory!), "utf8")).toContain("pnpm");

    desk.stop(inputOf(host, transcript));
    const isSkipped = () => desk.skips().some((reason) => reason?.includes("nothing is new"));
    await desk.until(isSkipped, "the second look ends");
    expect(desk.memories()).toEqual([memory]);
  });
});

it("a transcript is known as foreign by its name, on every system", () => {
  const names = [
    "/home/u/.codex/sessions/2026/03/10/rollout-2026-03-10T12-00-00-x.jsonl",
    "C:\\Users\\u\\.codex\\sessions\\rollout-1.jsonl",
    "/home/u/.gemini/tmp/shop/chats/session-2026-03-10T12-00-2a6b7edd.jsonl",
    "C:\\Users\\u\\.gemini\\tmp\\shop\\chats\\session-1.json",
  ];
  expect(names.filter((name) => !isForeign(name))).toEqual([]);
  const own = [
    "/p/5a0c0000-0000-4000-8000-000000000001.jsonl",
    "/rollout-x/a.jsonl",
    "/p/session-1.jsonl",
    "/s/transcript.jsonl",
  ];
  expect(own.filter(isForeign)).toEqual([]);
});

it("of a foreign transcript nothing is known, of one that is not there it is known that it is not", () => {
  const desk = makeStopDesk();
  const file = putChat(desk.at("chats", "session-1.jsonl"), [head(), typedInChat("remember this")]);
  expect(readTurnTail(file, null, 1)).toEqual({ lines: [], prompts: [], isWhole: false });
  expect(readTurnTail(`${file}l`.replace(".jsonll", ".json"), null, 1)).toBeNull();
});

it("an agent's own writing is seen under every host's names for its tools", () => {
  const place = { dir: "/memory", cwd: "/project" };
  const writes = (name: string, input = {}) => writesMemory({ name, input }, place);
  expect(
    ["mcp__memdir__save", "mcp_memdir_save", "mcp__plugin_memdir_memdir__forget"].map((name) => writes(name)),
  ).toEqual([true, true, true]);
  expect(["mcp__memdir__recall", "mcp_memdir_list", "mcp_wiki_save"].map((name) => writes(name))).toEqual([
    false,
    false,
    false,
  ]);
  expect(writes("write_file", { file_path: "/memory/a.md" })).toBe(true);
  expect(writes("replace", { file_path: "a.md" })).toBe(false);
  expect(writes("run_shell_command", { command: "memdir save x" })).toBe(true);
  expect(writes("exec_command", { cmd: "memdir save x" })).toBe(true);
  expect(writes("shell", { command: ["bash", "-lc", "memdir save x"] })).toBe(true);
  expect(writes("shell", { command: 7 })).toBe(false);
});
