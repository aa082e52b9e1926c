/** `forget` and `rename`: a memory goes, or gets another name. */

import { flag, notes, text, verb } from "../verb.ts";
import { NAME, REASON, saySaved } from "./common.ts";

export const forget = verb({
  args: ["name"],
  input: {
    name: NAME,
    reason: REASON,
    purge: flag("also remove its earlier versions from the journal, for good; works after forgetting, too"),
  },
  examples: ['forget "use pnpm"'],
  writes: true,
  run: (memdir, { name = "", ...options }) => memdir.forget(name, options),
  say: ({ file, undo, notices }, { call, input }) => [
    input.purge
      ? `removed ${file} for good, with its earlier versions: it cannot be undone`
      : `removed ${file}${undo === null ? "" : `; ${call(`undo ${undo}`)} brings it back`}`,
    ...notes(notices),
  ],
});

export const rename = verb({
  args: ["name", "to"],
  input: { name: NAME, to: text("its new name", "NEW") },
  examples: ['rename "use pnpm" "package manager is pnpm"'],
  writes: true,
  run: (memdir, { name = "", to = "" }) => memdir.rename(name, to),
  say: saySaved,
});
