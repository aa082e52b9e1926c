/** `search`: every memory that contains the words, best first. */

import { bold, dim, text, verb } from "../verb.ts";
import { typeTag } from "./common.ts";
import { signRows, teamOf } from "./list.ts";

export const search = verb({
  args: ["words…"],
  input: { words: text("what to look for", "WORDS") },
  examples: ["search deploy staging"],
  run: async (memdir, { words = "" }, { env }) => signRows(memdir, await memdir.search(words), env),
  say: (hits) =>
    hits.length === 0
      ? ["Nothing found."]
      : hits.flatMap(({ name, file, line, ...row }) => [
          [typeTag(row), bold(name), " ", dim([file, teamOf(row)].filter(Boolean).join(", "))],
          `    ${line}`,
        ]),
});
