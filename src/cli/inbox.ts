/** `memdir inbox`: proposals that wait for a person, each as a diff against the memory that it changes; the console's `/inbox` decides with the same functions. */

import { MemdirError } from "../errors.ts";
import { type Applied, acceptProposal, previewProposal } from "../learn/apply.ts";
import type { Inbox } from "../learn/inbox.ts";
import type { Proposal } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { openLearning } from "../open-learn.ts";
import { parseMemory } from "../store/store.ts";
import { editByHand } from "../table/save.ts";
import { formatDocument } from "../text/frontmatter.ts";
import { sanitiseLine } from "../text/sanitise.ts";
import type { Env } from "../world.ts";
import { answer, type Call, type Run } from "./command.ts";
import { diffPreview, foldLines } from "./console/diff-preview.ts";
import type { Paint } from "./terminal.ts";

export const inbox: Run = async (call) => {
  const [verb, id] = call.args;
  const act = verb === undefined ? null : VERBS.get(verb);
  if (act === undefined || (act !== null && id === undefined))
    throw new MemdirError(
      "usage",
      "the call is `memdir inbox [accept ID | reject ID | edit ID]`; without more it lists",
    );
  const memdir = await call.open();
  const waiting = openLearning(memdir).inbox;
  if (act === null) return listWaiting(call, memdir, waiting.list());
  return act(call, memdir, waiting, findWaiting(waiting, id as string, "memdir inbox"));
};

type Act = (call: Call, memdir: Memdir, waiting: Inbox, proposal: Proposal) => Promise<number>;

const VERBS: ReadonlyMap<string, Act> = new Map<string, Act>([
  [
    "accept",
    async (call, memdir, waiting, proposal) => {
      const applied = await acceptProposal(memdir, waiting, proposal);
      return answer(call, { id: proposal.id, ...applied }, () => describeAccepted(applied, "memdir undo"));
    },
  ],
  [
    "reject",
    async (call, _memdir, waiting, proposal) => {
      const { id } = await waiting.reject(proposal.id);
      const value = { id, done: "rejected", file: null, undo: null };
      return answer(call, value, () => describeRejected(proposal, "memdir save"));
    },
  ],
  [
    "edit",
    async (call, memdir, waiting, proposal) => {
      const amended = await editProposal(waiting, proposal, call.env);
      const shown = call.json ? "" : await viewWhole(call, memdir, amended);
      return answer(call, toJson(amended), () => [shown, `memdir inbox accept ${amended.id} keeps it like this`]);
    },
  ],
]);

async function listWaiting(call: Call, memdir: Memdir, proposals: readonly Proposal[]): Promise<number> {
  const shown: string[] = [];
  for (const proposal of call.json ? [] : proposals) shown.push(await viewWhole(call, memdir, proposal));
  const calls = "memdir inbox accept ID, edit ID or reject ID";
  return answer(call, proposals.map(toJson), () =>
    proposals.length === 0
      ? "the inbox is empty"
      : [...shown, call.terminal.color.dim(`${proposals.length} waiting: ${calls}`)],
  );
}

function toJson(proposal: Proposal) {
  const { id, action, file, type, name, description, body, when, from, reason, trust, at, session, message } = proposal;
  const memory = { action, file, type, name, description, body, when };
  return { id, memory, from, reason, trust, at, session, message };
}

/** The terminal breaks long lines itself. */
async function viewWhole({ terminal }: Call, memdir: Memdir, proposal: Proposal): Promise<string> {
  return `${await viewProposal(memdir, proposal, terminal.color, Number.POSITIVE_INFINITY)}\n`;
}

/** Who decides sees all of a memory of ordinary length, and every line to its end. */
const MAX_LINES = 80;
const UNCUT = 1_000_000;

/** Its id and what it does, where it came from, and the diff against the memory that it changes. */
export async function viewProposal(memdir: Memdir, proposal: Proposal, paint: Paint, columns: number): Promise<string> {
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
export function findWaiting(waiting: Inbox, id: string, list: string): Proposal {
  const found = waiting.find(id);
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

/** In the person's editor, like a memory: on a copy, checked on close. Ends when the editor does, with the proposal as it is then. */
export async function editProposal(waiting: Inbox, proposal: Proposal, env: Env): Promise<Proposal> {
  const { id, action, name, description, type, when, body } = proposal;
  if (action === "forget") throw new MemdirError("usage", `proposal ${id} is to forget a memory: accept or reject it`);
  const file = `${id}.md`;
  let amended = proposal;
  const asMemory: Pick<Memdir, "text" | "edit"> = {
    text: async () => ({ file, path: file, text: formatDocument({ name, description, type, when }, body) }),
    edit: async (_name, base, edited) => {
      const memory = parseMemory(file, edited);
      const [problem] = memory.problems;
      if (problem) throw new MemdirError("broken", `the proposal was not changed: ${problem}`);
      const { name, description, type, when } = memory;
      if (edited !== base)
        amended = await waiting.amend(id, { name, description, type, when, body: memory.body.trim() });
      return { file, path: file, action: edited === base ? "unchanged" : "updated", notices: [], undo: null };
    },
  };
  await editByHand(asMemory, id, { redact: false, env });
  return amended;
}
