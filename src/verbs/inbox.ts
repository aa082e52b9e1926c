/** `inbox`: proposals that wait for a person, each as a diff against the memory that it changes, and what becomes of one. */

import { MemdirError } from "../errors.ts";
import { type Applied, acceptProposal, previewProposal } from "../learn/apply.ts";
import type { Inbox } from "../learn/inbox.ts";
import type { Proposal } from "../learn/proposal.ts";
import type { Memdir } from "../memdir.ts";
import { memoriesFor, openLearning } from "../open-learn.ts";
import { parseMemory } from "../store/store.ts";
import { formatDocument } from "../text/frontmatter.ts";
import { bold, type Choice, type Context, dim, type Line, type Reader, type Said, text, verb, warn } from "../verb.ts";
import type { Env } from "../world.ts";
import { editByHand } from "./save.ts";

export const inbox = verb({
  args: ["action?", "id?"],
  usage: "[accept ID | reject ID | edit ID]",
  input: {
    action: text("accept, reject or edit; without one, lists all proposals", "ACTION"),
    id: text("the proposal's id, or the beginning of it", "ID"),
  },
  examples: ["inbox"],
  writes: ({ action }) => action !== undefined,
  async run(memdir, { action, id }, { env }): Promise<{ waiting: Previewed[] } | { edited: Previewed } | Decided> {
    const { inbox } = openLearning(memdir);
    if (action === undefined) return { waiting: await Promise.all(inbox.list().map((one) => preview(memdir, one))) };
    const usage = "usage: memdir inbox [accept ID | reject ID | edit ID]; without arguments it lists what waits";
    if (!["accept", "reject", "edit"].includes(action) || id === undefined) throw new MemdirError("usage", usage);
    const proposal = inbox.find(id);
    const missing = `no proposal ${JSON.stringify(id.slice(0, 40))} waits: \`memdir inbox\` lists them`;
    if (!proposal) throw new MemdirError("not-found", missing);
    if (action === "edit") return { edited: await preview(memdir, await editProposal(inbox, proposal, env)) };
    return (action === "accept" ? accept : reject)(memdir, proposal);
  },
  json(result) {
    if ("waiting" in result) return result.waiting.map(({ proposal }) => rowOf(proposal));
    if ("edited" in result) return rowOf(result.edited.proposal);
    return result;
  },
  say(result, { call }) {
    if ("waiting" in result)
      return [...result.waiting.flatMap(sayProposal), ...sayWaiting(result.waiting.length, call)];
    if (!("edited" in result)) return sayDecided(result, call);
    return [
      ...sayProposal(result.edited),
      dim(`${call(`inbox accept ${result.edited.proposal.id}`)} saves it like this`),
    ];
  },
});

function rowOf(proposal: Proposal) {
  const { id, from, reason, trust, at, session, message, ...memory } = proposal;
  return { id, memory, from, reason, trust, at, session, message };
}

type Previewed = Awaited<ReturnType<typeof preview>>;

/** With the memory that it changes, before and after. */
export async function preview(memdir: Memdir, proposal: Proposal) {
  return { proposal, ...(await previewProposal(memoriesFor(memdir, proposal), proposal)) };
}

/** Its id and what it does, where it came from, and the diff. */
function sayProposal({ proposal, file, before, after }: Previewed): Line[] {
  const { id, action, name, reason, trust, from, session, at, scope } = proposal;
  const what = action === "forget" ? "forget" : before === null ? "new" : "change";
  const isGone = before === null && proposal.file !== null;
  const origin = [TRUST[trust], `by ${from}`, at.slice(0, 10), ...(session === null ? [] : [`session ${session}`])];
  return [
    [
      bold(id),
      ` ${what} ${file ?? name}`,
      scope ? warn(` in the ${scope}'s memories`) : "",
      isGone ? warn(" (it is gone)") : "",
    ],
    ["  ", dim(`${origin.join(", ")}: ${reason}`)],
    { diff: { before, after, indent: 2 } },
    "",
  ];
}

const TRUST: Record<Proposal["trust"], string> = {
  user: "the user said it",
  inferred: "concluded by an agent",
  tool: "printed by a tool",
  document: "from a document",
};

export function sayWaiting(number: number, call: Reader["call"]): Said {
  if (number === 0) return ["the inbox is empty"];
  return [dim(`${number} waiting: ${call("inbox accept ID")}, edit ID or reject ID`)];
}

type Decided = Pick<Proposal, "id" | "name"> & Pick<Applied, "file" | "undo"> & { done: string };

/** What was seen is what is accepted, whatever became of the proposal meanwhile. `base` is the memory that it was compared with. */
export async function accept(memdir: Memdir, proposal: Proposal, base: string | null = null): Promise<Decided> {
  const { id, name } = proposal;
  const store = memoriesFor(memdir, proposal);
  return { id, ...(await acceptProposal(store, openLearning(memdir).inbox, proposal, base)), name };
}

export async function reject(memdir: Memdir, { id, name }: Proposal): Promise<Decided> {
  await openLearning(memdir).inbox.reject(id);
  return { id, done: "rejected", file: null, undo: null, name };
}

function sayDecided({ id, done, file, undo, name }: Decided, call: Reader["call"]): Said {
  if (done === "rejected")
    return [
      `rejected ${id} (${name}): it will not be proposed again, nothing else changed; ${call("save")} would still save it`,
    ];
  if (done === "unchanged") return [`${file} says it already: nothing was changed`];
  return [`${done} ${file}${undo === null ? "" : `; ${call(`undo ${undo}`)} reverts it`}`];
}

/** In the person's editor, like a memory: on a copy, checked on close. Ends when the editor does, with the proposal as it is then. */
async function editProposal(inbox: Inbox, proposal: Proposal, env: Env): Promise<Proposal> {
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
      if (edited !== base) amended = await inbox.amend(id, { name, description, type, when, body: memory.body.trim() });
      return { file, path: file, action: edited === base ? "unchanged" : "updated", notices: [], undo: null };
    },
  };
  await editByHand(asMemory, id, { redact: false, env });
  return amended;
}

// --- One by one: each is shown as a diff and kept, edited, rejected or put off.

const STEPS: readonly Choice[] = [
  { key: "k", label: "keep" },
  { key: "e", label: "edit" },
  { key: "s", label: "skip: it does not come back" },
  { key: "l", label: "later" },
  { key: "a", label: "all: keep this and the rest" },
  { key: "q", label: "quit" },
];

interface Reviewing extends Pick<Context, "show" | "env"> {
  choose: NonNullable<Context["choose"]>;
  call: Reader["call"];
  /** Gives the terminal to the person's editor; null where there is none. */
  release: ((work: () => Promise<unknown>) => Promise<unknown>) | null;
}

/** What was decided, in order; what is put off still waits. */
export async function review(memdir: Memdir, { show, choose, release, call, env }: Reviewing): Promise<Decided[]> {
  const { inbox } = openLearning(memdir);
  const ids = inbox.list().map(({ id }) => id);
  const decided: Decided[] = [];
  let all = false;
  for (let at = 0; at < ids.length; ) {
    const proposal = inbox.list().find(({ id }) => id === ids[at]);
    // It was decided elsewhere meanwhile.
    if (!proposal) {
      at++;
      continue;
    }
    if (!all) show(sayProposal(await preview(memdir, proposal)));
    const offered = STEPS.filter(({ key }) => key !== "e" || (release !== null && proposal.action !== "forget"));
    const key: string | null = all ? "a" : await choose(`Keep this? (${at + 1} of ${ids.length})`, offered);
    if (key === null || key === "q") break;
    try {
      // It is shown again as it is then.
      if (key === "e") await release?.(() => editProposal(inbox, proposal, env));
      if (key === "e") continue;
      if (key !== "l") {
        const one = await (key === "s" ? reject : accept)(memdir, proposal);
        show(sayDecided(one, call));
        decided.push(one);
      }
      all = key === "a";
      at++;
    } catch (error) {
      // It still waits: another answer may do.
      if (!(error instanceof MemdirError)) throw error;
      show([{ warning: error.message }]);
      all = false;
    }
  }
  return decided;
}
