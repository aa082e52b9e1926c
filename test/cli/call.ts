/** A command's call without a process: what it would print is kept in lists. */

import type { Call } from "../../src/cli/command.ts";
import { openPaint } from "../../src/verb.ts";
import type { World } from "../world.ts";

export interface HeardCall {
  call: Call;
  printed: string[];
  warned: string[];
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what tests look at
  answers: any[];
  progress: string[];
}

export interface CallOptions {
  args?: string[];
  /** Options with a value by name; a switch is true. */
  options?: Record<string, string | boolean | number | undefined>;
  json?: boolean;
  input?: string;
  /** Of the terminal. */
  columns?: number;
  /** What a person on a terminal answers; without it nobody can be asked. */
  ask?: (question: string) => Promise<boolean | null>;
  /** The key that they press. */
  choose?: (question: string) => Promise<string | null>;
}

export function hearCall(world: World, given: CallOptions): HeardCall {
  const { args = [], options = {}, json = false, input = "", columns, ask, choose } = given;
  const heard: Omit<HeardCall, "call"> = { printed: [], warned: [], answers: [], progress: [] };
  const call: Call = {
    args,
    flag: (name) => options[name] === true,
    value: (name) => (["string", "number"].includes(typeof options[name]) ? String(options[name]) : undefined),
    values: () => [],
    json,
    cwd: world.project,
    env: world.env,
    now: () => world.now,
    log: () => {},
    open: () => world.open(),
    terminal: {
      print: (text) => void heard.printed.push(text),
      warn: (text) => void heard.warned.push(text),
      json: (value) => void heard.answers.push(value),
      readInput: async () => input,
      interactive: ask !== undefined || choose !== undefined,
      columns,
      color: openPaint(false),
      ask: ask ?? (() => Promise.reject(new Error("nobody is asked here"))),
      choose: choose ?? (() => Promise.reject(new Error("nobody is asked here"))),
      progress: (what) => (done, total) => void heard.progress.push(`${what} ${done}/${total}`),
      endProgress: () => void (/\d$/.test(heard.progress.at(-1) ?? "") && heard.progress.push("end")),
    },
  };
  return { call, ...heard };
}
