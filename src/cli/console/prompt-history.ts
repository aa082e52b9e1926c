/** The prompts of earlier sessions of a project, for the arrow keys: one JSON line each in a file of the user's own. */

import { dirname } from "node:path";
import { appendLines, makeFolders, readTail } from "../../disk/fence.ts";
import { attempt } from "../../errors.ts";
import { findSecrets } from "../../text/secrets.ts";
import type { World } from "../../world.ts";

const MAX_PROMPTS = 1000;
/** The end of the file is enough for that many: it is never read whole. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** Longer ones are pasted files rather than words to say again. */
const MAX_PROMPT_CHARS = 100_000;

/** Reading never fails: without a readable file there is no history yet. */
export function openPromptHistory(file: string, { now }: Pick<World, "now">) {
  let prompts = readPrompts(file);
  return {
    /** Oldest first, the newest MAX_PROMPTS; those of this session with them. */
    prompts: (): readonly string[] => prompts,
    /**
     * Offered from now on, and written to the file. Text that begins with a space is neither; text that holds a secret is never
     * written. Must not throw: what went wrong is returned, else null, and the prompt is still offered in this session.
     */
    add(text: string): string | null {
      if (text.trim() === "" || text.startsWith(" ") || text === prompts.at(-1)) return null;
      prompts = [...prompts, text].slice(-MAX_PROMPTS);
      try {
        if (text.length > MAX_PROMPT_CHARS || findSecrets(text).length > 0) return null;
        makeFolders(dirname(file), 0o700);
        appendLines(file, `${JSON.stringify({ at: now().toISOString(), text })}\n`);
        return null;
      } catch (error) {
        const code = (error as NodeJS.ErrnoException)?.code ?? "unknown";
        return `the prompt was not kept for later sessions in ${file} (${code})`;
      }
    },
  };
}

/** The next older (-1) or newer (+1) prompt that begins with what was typed; null when there is none. */
export function findPrompt(prompts: readonly string[], from: number, by: 1 | -1, prefix: string): number | null {
  for (let at = from + by; at >= 0 && at < prompts.length; at += by)
    if (prompts[at]?.startsWith(prefix) && prompts[at] !== prompts[from]) return at;
  return null;
}

/** The newest prompt before `from` that holds the words; null when there is none. */
export function searchPrompts(prompts: readonly string[], from: number, words: string): number | null {
  const at = prompts.slice(0, from).findLastIndex((prompt) => prompt.toLowerCase().includes(words.toLowerCase()));
  return at < 0 ? null : at;
}

function readPrompts(file: string): string[] {
  const lines = attempt(() => readTail(file, MAX_READ_BYTES).split("\n"), []);
  const all = lines.map(parseLine).filter((text) => text !== null);
  // Said twice in a row is offered once.
  return all.filter((text, at) => text !== all[at - 1]).slice(-MAX_PROMPTS);
}

/** Null for half a line of a writer that died, and for anything else that is none of ours. */
function parseLine(line: string): string | null {
  const text = attempt<unknown, null>(() => JSON.parse(line)?.text, null);
  return typeof text === "string" && text.trim() !== "" ? text : null;
}
