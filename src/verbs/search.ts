/** `search`: every memory that contains the words, best first. */

import { bold, dim, text, verb } from "../verb.ts";

export const search = verb({
  args: ["words…"],
  input: { words: text("what to look for", "WORDS") },
  examples: ["search deploy staging"],
  run: (memdir, { words = "" }) => memdir.search(words),
  say: (hits) =>
    hits.length === 0
      ? ["Nothing found."]
      : hits.flatMap(({ type, name, file, line }) => [[`[${type}] `, bold(name), " ", dim(file)], `    ${line}`]),
});
