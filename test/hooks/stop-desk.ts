/** A host's session for tests of the Stop hook: a home, a memory directory, a transcript as Claude Code writes it, real processes. */

import { type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Env } from "../../src/config.ts";
import { readEvent } from "../../src/hooks/event.ts";
import { decide, type StopAnswer } from "../../src/hooks/stop.ts";
import { makeTemporary } from "../temporary.ts";
import { PATIENCE_MS, until } from "../until.ts";

export const DIST = process.env.HEAVY_DIST ?? fileURLToPath(new URL("../../dist", import.meta.url));
export const HOOK = path.join(DIST, "hook.cjs");
export const SESSION = "5a0c0000-0000-4000-8000-000000000001";
export const NOW = new Date("2026-03-10T12:00:00.000Z");

export type Wire = Record<string, unknown>;

export interface StopDesk {
  top: string;
  memory: string;
  project: string;
  transcript: string;
  env: Record<string, string>;
  at(...names: string[]): string;
  /** A prompt of the user; its uuid. */
  say(text: string): string;
  answer(text: string): void;
  /** A call and its result. */
  call(name: string, input: Wire, result?: { content?: string; is_error?: boolean }): void;
  line(line: Wire): string;
  /** What Claude Code passes. */
  input(more?: Wire): Wire;
  /** The gates alone, in this process. */
  decide(more?: Wire, env?: Env): StopAnswer;
  /** The hook as the host starts it. */
  stop(more?: Wire, env?: Record<string, string>): SpawnSyncReturns<string>;
  /** The process that the hook starts, waited for. */
  extract(env?: Record<string, string>, mark?: string): Promise<{ code: number | null; signal: string | null }>;
  cursor(): string | null;
  setCursor(message: string): void;
  ledger(): { skipped: string | null; produced: string; kind: string; session: string | null }[];
  skips(): (string | null)[];
  memories(): string[];
  /** Processes that still run for this transcript. */
  children(): number[];
  /** Waits until it holds. */
  until(holds: () => boolean, what: string): Promise<void>;
}

export function makeStopDesk(base: "disk" | "memory" = "memory"): StopDesk {
  const top = makeTemporary("stop", base);
  const at = (...names: string[]) => path.join(top, ...names);
  for (const folder of ["home", "project", "memory"]) fs.mkdirSync(at(folder));
  const transcript = at(`${SESSION}.jsonl`);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: at("home"),
    USERPROFILE: at("home"),
    MEMDIR_MANAGED_DIR: at("managed"),
    MEMDIR_MEMORY_DIR: at("memory"),
    MEMDIR_MEANING: "0",
    TZ: "UTC",
  };
  let count = 0;
  let parentUuid: string | null = null;
  const state = (...names: string[]) => at("memory", ".memdir", ...names);
  const desk: StopDesk = {
    top,
    memory: at("memory"),
    project: at("project"),
    transcript,
    env,
    at,
    line(line) {
      const uuid = `5a0c1111-0000-4000-8000-${String(++count).padStart(12, "0")}`;
      const timestamp = new Date(NOW.getTime() + count * 1000).toISOString();
      const whole = { uuid, parentUuid, isSidechain: false, sessionId: SESSION, timestamp, ...line };
      fs.appendFileSync(transcript, `${JSON.stringify(whole)}\n`);
      parentUuid = uuid;
      return uuid;
    },
    say: (text) => desk.line({ type: "user", message: { role: "user", content: text } }),
    answer(text) {
      const message = { id: `msg_${count}`, model: "m", role: "assistant", content: [{ type: "text", text }] };
      desk.line({ type: "assistant", message });
    },
    call(name, input, result = {}) {
      const id = `toolu_${count}`;
      const content = [{ type: "tool_use", id, name, input }];
      desk.line({ type: "assistant", message: { id: `msg_${count}`, model: "m", role: "assistant", content } });
      const block = { type: "tool_result", tool_use_id: id, content: "done", ...result };
      desk.line({ type: "user", message: { role: "user", content: [block] } });
    },
    input: (more = {}) => ({
      hook_event_name: "Stop",
      session_id: SESSION,
      transcript_path: transcript,
      cwd: at("project"),
      stop_hook_active: false,
      ...more,
    }),
    decide: (more = {}, given = {}) =>
      decide(readEvent(desk.input(more)), { env: { ...env, ...given }, now: () => NOW, log: () => {} }),
    stop: (more = {}, given = {}) =>
      spawnSync(process.execPath, [HOOK], {
        input: JSON.stringify(desk.input(more)),
        env: { ...env, ...given },
        cwd: at("project"),
        encoding: "utf8",
        timeout: PATIENCE_MS,
      }),
    async extract(given = {}, mark = "") {
      const args = [path.join(DIST, "cli.js"), "extract-hook", "--transcript", transcript, "--mark", mark];
      const child = spawn(process.execPath, args, { env: { ...env, ...given }, cwd: at("project"), stdio: "ignore" });
      const [code, signal] = await once(child, "exit");
      return { code, signal };
    },
    cursor() {
      const file = state("cursors", `${SESSION}.json`);
      return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")).message : null;
    },
    setCursor(message) {
      fs.mkdirSync(state("cursors"), { recursive: true });
      fs.writeFileSync(state("cursors", `${SESSION}.json`), JSON.stringify({ message, at: NOW.toISOString() }));
    },
    ledger() {
      const text = fs.existsSync(state("ledger.jsonl")) ? fs.readFileSync(state("ledger.jsonl"), "utf8") : "";
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
    skips: () => desk.ledger().map(({ skipped }) => skipped),
    memories: () =>
      fs
        .readdirSync(at("memory"))
        .filter((name) => name.endsWith(".md") && !name.startsWith("MEMORY."))
        .sort(),
    children: () =>
      fs
        .readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name) && commandOf(name).includes(`--transcript\0${transcript}\0`))
        .map(Number),
    until: async (holds, what) => void (await until(holds, () => `${what}; ${JSON.stringify(desk.ledger())}`)),
  };
  return desk;
}

function commandOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // gone meanwhile
  }
}
