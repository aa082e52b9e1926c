/** `memdir inbox`: proposals that wait for a person, each as a diff against the memory that it changes. */

import { MemdirError } from "../errors.ts";
import { type Applied, acceptProposal, previewProposal } from "../learn/apply.ts";
import { type Inbox, openInbox } from "../learn/inbox.ts";
import type { Proposal } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import type { Directory } from "../memory/directory.ts";
import { parseMemory } from "../memory/memory.ts";
import { formatDocument } from "../text/frontmatter-edit.ts";
import type { Call, Run } from "./command.ts";
import { diffPreview } from "./console/diff-preview.ts";
import { openPaint } from "./console/paint.ts";
import { sanitiseLine } from "./console/sanitise.ts";
import { editByHand } from "./edit.ts";

/** Who decides sees all of a memory of ordinary length; the terminal breaks long lines itself. */
const MAX_LINES = 80;
const UNCUT = 1_000_000;

export const run: Run = async (call) => {
  const [verb, id] = call.args;
  const act = verb === undefined ? null : VERBS.get(verb);
  if (act === undefined || (act !== null && id === undefined))
    throw new MemdirError(
      "usage",
      "the call is `memdir inbox [accept ID | reject ID | edit ID]`; without more it lists",
    );
  const memdir = await call.open();
  const directory = memdir.directories[0] as Directory;
  const inbox = openInbox(directory, directory);
  if (act === null) await list(call, memdir, inbox.list());
  else await act(call, memdir, inbox, findProposal(inbox, id as string));
  return 0;
};

type Act = (call: Call, memdir: Memdir, inbox: Inbox, proposal: Proposal) => Promise<void>;

const accept: Act = async ({ json, terminal }, memdir, inbox, proposal) => {
  const applied = await acceptProposal(memdir, inbox, proposal);
  if (json) terminal.json({ id: proposal.id, ...applied });
  else terminal.print(tell(applied));
};

const reject: Act = async ({ json, terminal }, _memdir, inbox, { id, name }) => {
  await inbox.reject(id);
  const after = "it will not be proposed again, nothing else changed; memdir save would still keep it";
  if (json) terminal.json({ id, done: "rejected", file: null, undo: null });
  else terminal.print(`rejected ${id} (${sanitiseLine(name)}): ${after}`);
};

const edit: Act = async (call, memdir, inbox, proposal) => {
  if (proposal.action === "forget")
    throw new MemdirError("usage", `proposal ${proposal.id} is to forget a memory: accept or reject it`);
  await editByHand(asMemory(memdir, inbox, proposal), proposal.id, { redact: false });
  const amended = findProposal(inbox, proposal.id);
  if (call.json) call.terminal.json(toJson(amended));
  else {
    await print(call, memdir, amended);
    call.terminal.print(`memdir inbox accept ${amended.id} keeps it like this`);
  }
};

const VERBS: ReadonlyMap<string, Act> = new Map([
  ["accept", accept],
  ["reject", reject],
  ["edit", edit],
]);

function findProposal(inbox: Inbox, id: string): Proposal {
  const found = inbox.find(id);
  if (found) return found;
  throw new MemdirError(
    "not-found",
    `no proposal ${JSON.stringify(id.slice(0, 40))} waits: \`memdir inbox\` lists them`,
  );
}

async function list(call: Call, memdir: Memdir, proposals: readonly Proposal[]): Promise<void> {
  const { json, terminal } = call;
  if (json) {
    terminal.json(proposals.map(toJson));
    return;
  }
  for (const proposal of proposals) await print(call, memdir, proposal);
  terminal.print(
    proposals.length === 0
      ? "the inbox is empty"
      : terminal.color.dim(`${proposals.length} waiting: memdir inbox accept ID, edit ID or reject ID`),
  );
}

function toJson(proposal: Proposal) {
  const { id, action, file, type, name, description, body, when, from, reason, trust, at, session, message } = proposal;
  const memory = { action, file, type, name, description, body, when };
  return { id, memory, from, reason, trust, at, session, message };
}

async function print({ terminal }: Call, memdir: Memdir, proposal: Proposal): Promise<void> {
  const { id, action, name, reason, trust, from, session, at } = proposal;
  const { file, before, after } = await previewProposal(memdir, proposal);
  const { bold, dim } = terminal.color;
  const what = action === "forget" ? "forget" : before === null ? "new" : "change";
  const gone = before === null && proposal.file !== null ? ` ${terminal.color.yellow("(it is gone)")}` : "";
  const origin = [TRUST[trust], `by ${from}`, at.slice(0, 10), ...(session === null ? [] : [`session ${session}`])];
  terminal.print(`${bold(id)} ${what} ${sanitiseLine(file ?? name)}${gone}`);
  terminal.print(dim(`  ${sanitiseLine(origin.join(", "))}: ${sanitiseLine(reason)}`));
  const diff = diffPreview(before, after, { columns: UNCUT, maxLines: MAX_LINES, paint: openPaint(terminal.colored) });
  terminal.print(`${diff.map((line) => `  ${line}`).join("\n")}\n`);
}

const TRUST: Record<Proposal["trust"], string> = {
  user: "the user said it",
  inferred: "concluded by an agent",
  tool: "printed by a tool",
  document: "from a document",
};

function tell({ done, file, undo }: Applied): string {
  if (done === "unchanged") return `${file} says it already: nothing was changed`;
  return `${done} ${file}${undo === null ? "" : `; memdir undo ${undo} takes it back`}`;
}

/** The proposal in the clothes of a memory, so that it is edited like one: on a copy, checked on close. */
function asMemory(memdir: Memdir, inbox: Inbox, { id, name, description, type, when, body }: Proposal): Memdir {
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
      if (edited !== base) await inbox.amend(id, { name, description, type, when, body: body.trim() });
      return { file, path: file, action: edited === base ? "unchanged" : "updated", notices: [], undo: null };
    },
  };
}
