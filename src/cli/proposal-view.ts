/** A proposal that waits as a person sees and decides it: the same words for `memdir inbox` and the console's `/inbox`. */

import { MemdirError } from "../errors.ts";
import { type Applied, previewProposal } from "../learn/apply.ts";
import type { Inbox } from "../learn/inbox.ts";
import type { Proposal } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { parseMemory } from "../store/store.ts";
import { formatDocument } from "../text/frontmatter.ts";
import { diffPreview } from "./console/diff-preview.ts";
import type { Paint } from "./console/paint.ts";
import { sanitiseLine } from "./console/sanitise.ts";
import { foldLines } from "./diff-view.ts";
import { editByHand } from "./edit.ts";

export interface Look {
  paint: Paint;
  /** Infinity where the terminal breaks long lines itself. */
  columns: number;
}

/** Who decides sees all of a memory of ordinary length, and every line to its end. */
const MAX_LINES = 80;
const UNCUT = 1_000_000;

/** Its id and what it does, where it came from, and the diff against the memory that it changes. */
export async function viewProposal(memdir: Memdir, proposal: Proposal, { paint, columns }: Look): Promise<string> {
  const { id, action, name, reason, trust, from, session, at } = proposal;
  const { file, before, after } = await previewProposal(memdir, proposal);
  const what = action === "forget" ? "forget" : before === null ? "new" : "change";
  const gone = before === null && proposal.file !== null ? ` ${paint.yellow("(it is gone)")}` : "";
  const origin = [TRUST[trust], `by ${from}`, at.slice(0, 10), ...(session === null ? [] : [`session ${session}`])];
  const diff = diffPreview(before, after, { columns: UNCUT, maxLines: MAX_LINES, paint });
  return [
    ...foldLines([`${paint.bold(sanitiseLine(id))} ${what} ${sanitiseLine(file ?? name)}${gone}`], columns),
    ...[
      ...foldLines([paint.dim(`${sanitiseLine(origin.join(", "))}: ${sanitiseLine(reason)}`)], columns - 2),
      ...foldLines(diff, columns - 2),
    ].map((line) => `  ${line}`),
  ].join("\n");
}

const TRUST: Record<Proposal["trust"], string> = {
  user: "the user said it",
  inferred: "concluded by an agent",
  tool: "printed by a tool",
  document: "from a document",
};

/** `list`: the call that lists what waits. */
export function findWaiting(inbox: Inbox, id: string, list: string): Proposal {
  const found = inbox.find(id);
  if (found) return found;
  throw new MemdirError("not-found", `no proposal ${JSON.stringify(id.slice(0, 40))} waits: \`${list}\` lists them`);
}

/** `undo`: the call that takes a change back. */
export function describeAccepted({ done, file, undo: entry }: Applied, undo: string): string {
  const shown = sanitiseLine(file ?? "");
  if (done === "unchanged") return `${shown} says it already: nothing was changed`;
  return `${done} ${shown}${entry === null ? "" : `; ${undo} ${entry} takes it back`}`;
}

/** `save`: the call that keeps it nevertheless. */
export function describeRejected({ id, name }: Proposal, save: string): string {
  const after = `it will not be proposed again, nothing else changed; ${save} would still keep it`;
  return `rejected ${sanitiseLine(id)} (${sanitiseLine(name)}): ${after}`;
}

/** In the person's editor, like a memory. Ends when the editor does, with the proposal as it is then. */
export async function editProposal(memdir: Memdir, inbox: Inbox, proposal: Proposal): Promise<Proposal> {
  if (proposal.action === "forget")
    throw new MemdirError("usage", `proposal ${proposal.id} is to forget a memory: accept or reject it`);
  let edited = proposal;
  await editByHand(
    asMemory(memdir, inbox, proposal, (amended) => {
      edited = amended;
    }),
    proposal.id,
    { redact: false },
  );
  return edited;
}

/** The proposal in the clothes of a memory, so that it is edited like one: on a copy, checked on close. */
function asMemory(memdir: Memdir, inbox: Inbox, proposal: Proposal, tell: (amended: Proposal) => void): Memdir {
  const { id, name, description, type, when, body } = proposal;
  const file = `${id}.md`;
  const text = formatDocument({ name, description, type, when }, body);
  return {
    ...memdir,
    text: async () => ({ file, path: file, text }),
    edit: async (_name, base, edited) => {
      const memory = parseMemory(file, edited);
      const problem = memory.problems[0];
      if (problem) throw new MemdirError("broken", `the proposal was not changed: ${problem}`);
      const { name, description, type, when, body } = memory;
      if (edited !== base) tell(await inbox.amend(id, { name, description, type, when, body: body.trim() }));
      return { file, path: file, action: edited === base ? "unchanged" : "updated", notices: [], undo: null };
    },
  };
}
