/** `history` and `undo`: the journal of changes, and a change undone as a whole. */

import { dim, notes, text, verb } from "../verb.ts";
import { NAME } from "./common.ts";

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
