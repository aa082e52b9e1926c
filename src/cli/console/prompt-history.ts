/** The prompts of earlier sessions of a project, for the arrow keys: one JSON line each in a file of the user's own. */

import { closeSync, mkdirSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { PRIVATE_MODE } from "../../disk/atomic.ts";
import { openToAppend, readTail } from "../../disk/fence.ts";
import { findSecrets } from "../../text/secrets.ts";

export interface PromptHistory {
  /** Oldest first, the newest MAX_PROMPTS; those of this session with them. */
  prompts(): readonly string[];
  /**
   * Offered from now on, and written to the file. Text that begins with a space is neither; text that holds a secret is never
   * written. Must not throw: what went wrong is told, and the prompt is still offered in this session.
   */
  add(text: string): { kept: boolean; problem: string | null };
}

export interface HistoryWorld {
  file: string;
  now(): Date;
}

const MAX_PROMPTS = 1000;
/** The end of the file is enough for that many: it is never read whole. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Longer ones are pasted files rather than words to say again. */
const MAX_PROMPT_CHARS = 100_000;

/** Reading never fails: without a readable file there is no history yet. */
export function openPromptHistory({ file, now }: HistoryWorld): PromptHistory {
  let prompts = readPrompts(file);
  return {
    prompts: () => prompts,
    add(text) {
      if (text.trim() === "" || text.startsWith(" ") || text === prompts.at(-1)) return { kept: false, problem: null };
      prompts = [...prompts, text].slice(-MAX_PROMPTS);
      if (text.length > MAX_PROMPT_CHARS) return { kept: false, problem: null };
      try {
        if (findSecrets(text).length > 0) return { kept: false, problem: null };
        append(file, `${JSON.stringify({ at: now().toISOString(), text })}\n`);
        return { kept: true, problem: null };
      } catch (error) {
        const code = (error as NodeJS.ErrnoException)?.code ?? "unknown";
        return { kept: false, problem: `the prompt was not kept for later sessions in ${file} (${code})` };
      }
    },
  };
}

/** The next older (-1) or newer (+1) prompt that begins with what was typed; null when there is none. */
export function findPrompt(prompts: readonly string[], from: number, by: 1 | -1, prefix: string): number | null {
  const current = prompts[from];
  for (let at = from + by; at >= 0 && at < prompts.length; at += by) {
    const prompt = prompts[at] ?? "";
    if (prompt.startsWith(prefix) && prompt !== current) return at;
  }
  return null;
}

/** The newest prompt before `from` that holds the words; null when there is none. */
export function searchPrompts(prompts: readonly string[], from: number, words: string): number | null {
  const wanted = words.toLowerCase();
  for (let at = Math.min(from, prompts.length) - 1; at >= 0; at--) {
    if ((prompts[at] ?? "").toLowerCase().includes(wanted)) return at;
  }
  return null;
}

function readPrompts(file: string): string[] {
  const prompts: string[] = [];
  for (const line of readEnd(file).split("\n")) {
    const text = parseLine(line);
    // Said twice in a row is offered once.
    if (text !== null && text !== prompts.at(-1)) prompts.push(text);
  }
  return prompts.slice(-MAX_PROMPTS);
}

/** Without a history that can be read, there is none. */
function readEnd(file: string): string {
  try {
    return readTail(file, MAX_READ_BYTES);
  } catch {
    return "";
  }
}

/** Null for half a line of a writer that died, and for anything else that is none of ours. */
function parseLine(line: string): string | null {
  if (!line.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(line);
    const text = (value as { text?: unknown } | null)?.text;
    return typeof text === "string" && text.trim() !== "" ? text : null;
  } catch {
    return null;
  }
}

/** One write at the end, so that lines of several processes do not mix; half a line before it is ended first. */
function append(file: string, line: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const { fd, torn } = openToAppend(file, PRIVATE_MODE);
  try {
    const bytes = Buffer.from(torn ? `\n${line}` : line);
    if (writeSync(fd, bytes) < bytes.length) throw Object.assign(new Error("written in part"), { code: "ENOSPC" });
  } finally {
    closeSync(fd);
  }
}
