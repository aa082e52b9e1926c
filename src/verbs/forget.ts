/** `forget` and `rename`: a memory goes, or gets another name; `history` and `undo`: the journal of changes, and a change undone as a whole. */

import { dim, flag, notes, text, verb } from "../verb.ts";
import { NAME, REASON } from "./common.ts";
import { saySaved } from "./save.ts";

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

export const history = verb({
  args: ["name?"],
  input: { name: NAME },
  about:
    "Lists every change that memdir made to memories, with its number for `memdir undo`. " +
    "See `memdir log` for what happened in a project, and `memdir ledger` for what background work cost.",
  examples: ["history", 'history "use pnpm"'],
  async run(memdir, { name }) {
    const entries = await memdir.history(name);
    return entries.map(({ id, at, action, files, by, reason, undoes, purged }) => ({
      ...{ id, at, action, files: files.map(({ file }) => file), by, reason },
      ...(undoes ? { undoes } : {}),
      ...(purged ? { purged } : {}),
    }));
  },
  say(entries) {
    if (entries.length === 0) return ["No changes yet."];
    return entries.map(({ id, at, action, files, by, reason, purged }) => {
      const more = files.length > 3 ? ` and ${files.length - 3} more` : files.length === 0 ? "MEMORY.md" : "";
      const when = at.slice(0, 16).replace("T", " ");
      const what = `${id.padStart(5)}  ${when}  ${action.padEnd(6)}  ${files.slice(0, 3).join(", ")}${more}  `;
      const note = `${by}${reason === "" ? "" : `: ${reason}`}`;
      return [what, dim(purged ? `${note} (for good: cannot be undone)` : note)];
    });
  },
});

export const undo = verb({
  args: ["id?"],
  input: { id: text("the change's number, as shown by `memdir history` (default: the last change)", "ID") },
  examples: ["undo", "undo 17"],
  writes: true,
  run: (memdir, { id }) => memdir.undo(id),
  say: ({ action, undone, files, notices }) => [`undid ${action} ${undone}: ${files.join(", ")}`, ...notes(notices)],
});
