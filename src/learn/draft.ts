/** What an extracting model wrote: each draft is checked for its form, its sources and what it must not contain, and handed on as a proposal. */

import { isObject, messageOf } from "../errors.ts";
import {
  findNewDates,
  findObjections,
  leastTrust,
  type Memory,
  mayBecome,
  oneLine,
  parseMemory,
  type Trust,
  trustOf,
  valuesOf,
} from "../store/store.ts";
import type { World } from "../world.ts";
import { isFinal } from "./apply.ts";
import type { Keep, Kept } from "./learn.ts";
import { findOrigins, measureSupport, type Spoken } from "./origin.ts";
import { describeObjection, type Proposal } from "./proposal.ts";
import type { Piece } from "./window.ts";

/** `base` is the text that it was made from; null for a new file. */
export interface Draft {
  /** Below the memory directory, with `/`. */
  file: string;
  text: string;
  base: string | null;
}

/** The possible sources of a draft. */
export interface Sources {
  session: string | null;
  /** The sources that the model can name. */
  pieces: readonly Piece[];
  /** The whole conversation, in full, and what memories of tools and documents say. */
  said: readonly Spoken[];
  /** Once true, nothing more is saved. */
  isStopped?: () => boolean;
}

export type Keeper = ReturnType<typeof openKeeper>;

/** What became of a file that the model wrote. */
interface Outcome {
  id: string;
  /** The sources that it named, once it is there: now, or saved by an earlier run that was killed before its cursor moved. */
  labels?: string[];
  kept?: Kept;
  refused?: string | undefined;
  problem?: string | undefined;
}

/** Checks each draft, passes it on as a proposal, and records the outcome. */
export function openKeeper(world: Pick<World, "now" | "newId">, sources: Sources, keep: Keep) {
  const pending = new Set<Promise<unknown>>();
  const outcomes = new Map<string, Outcome>();
  const all = () => [...outcomes.values()];

  const outcomeOf = (file: string): Outcome => {
    const outcome = outcomes.get(file) ?? { id: world.newId() };
    outcomes.set(file, outcome);
    return outcome;
  };
  /** Throws, with a reason for the model. */
  const refuse = (file: string, reason: string): never => {
    outcomeOf(file).refused = `${file}: ${reason}`;
    throw new Error(`${file} was not written: ${reason}`);
  };

  const keepDraft = async (draft: Draft): Promise<{ notices: string[] }> => {
    const { file } = draft;
    const outcome = outcomeOf(file);
    const checked = await checkDraft(draft, sources, world.now(), outcome.labels);
    // Checking takes a while; nothing is started if the run was stopped in the meantime.
    if (sources.isStopped?.()) throw new Error("stopped; nothing was written");
    if (!checked.ok) return refuse(file, checked.reason);
    const proposal: Proposal = { id: outcome.id, ...checked.proposal };
    const applied = await keep(proposal, draft.base).catch((error) => {
      if (isFinal(error)) return refuse(file, messageOf(error));
      outcome.problem = `${file} could not be saved: ${messageOf(error)}`;
      throw error;
    });
    const { done, reason } = applied;
    if (done === "refused") return refuse(file, reason ?? "it is not wanted");
    const keptAs = applied.file ?? file;
    const { kept } = outcome;
    // A memory that was made and fixed in one run was made.
    if (kept) kept.proposal = { ...proposal, action: kept.proposal.action, file: kept.proposal.file };
    else if (done !== "unchanged") outcome.kept = { file: keptAs, action: done, proposal };
    Object.assign(outcome, { labels: checked.labels, refused: undefined, problem: undefined });
    const elsewhere = keptAs === file ? [] : [`it is saved as ${keptAs}`];
    return { notices: [...elsewhere, ...(reason === undefined ? [] : [reason]), ...checked.notices] };
  };

  return {
    /** Throws with a reason for the model. */
    keep(draft: Draft): Promise<{ notices: string[] }> {
      const keeping = keepDraft(draft);
      const done: Promise<unknown> = keeping.catch(() => {}).finally(() => pending.delete(done));
      pending.add(done);
      return keeping;
    },
    refuse,
    /** Resolves when no save is running any more. */
    settle: () => Promise.all(pending),
    saved: () => all().flatMap(({ kept }) => kept ?? []),
    isAnyThere: () => all().some(({ labels }) => labels !== undefined),
    /** What our own rules refused and the model did not fix: the same would be refused again. */
    refused: () => all().flatMap(({ refused }) => refused ?? []),
    /** Why something that should have been saved was not, but may be the next time. */
    problem: () => all().find(({ problem }) => problem !== undefined)?.problem ?? null,
  };
}

type Checked =
  | { ok: true; proposal: Omit<Proposal, "id">; notices: string[]; labels: string[] }
  | { ok: false; reason: string };

/** `earlier`: the labels that a version of this file named before in the same run; in the file they have become its source. */
export async function checkDraft(
  { file, text, base: before }: Draft,
  { session, pieces, said }: Sources,
  now: Date,
  earlier: readonly string[] = [],
): Promise<Checked> {
  const memory = parseMemory(file, text);
  const base = before === null ? null : parseMemory(file, before);
  const cited = findCited(memory, pieces, earlier);
  const form =
    findShapeProblem(memory) ??
    // Including what the memory said before: a proposal may wait in the inbox, where every text is new.
    findObjections({ file, text, before: null }, { trust: "user" }).map(describeObjection)[0] ??
    (await findDateProblem(memory, base, saidOn(cited.pieces) ?? now));
  if (form) return { ok: false, reason: form };
  const trust = await decideTrust(memory, base, cited, said);
  const problem =
    findTrustProblem(memory, base, cited, trust) ??
    findSupportProblem(memory, base, cited) ??
    (await findCueProblem(memory, base, said));
  if (problem) return { ok: false, reason: problem };
  const message = cited.pieces.findLast(({ trust }) => trust === "user") ?? cited.pieces.at(-1) ?? null;
  const proposal: Omit<Proposal, "id"> = {
    at: now.toISOString(),
    action: base ? "update" : "save",
    file: base ? file : null,
    type: memory.type,
    name: oneLine(memory.name),
    description: oneLine(memory.description),
    body: memory.body.trim(),
    when: memory.when,
    trust,
    session,
    message: message?.id ?? null,
    reason: cited.pieces.length > 0 ? `from ${describe(cited.pieces)}` : "no source was named",
    from: "extraction",
  };
  return { ok: true, proposal, notices: adviceFor(memory), labels: cited.labels };
}

function findShapeProblem(memory: Memory): string | null {
  if (memory.broken) return `its frontmatter cannot be read: ${memory.problems[0]}`;
  if (!memory.typeExplicit) return memory.problems[0] ?? "it has no type";
  if (!("name" in memory.metadata)) return "it has no name: give it one in its frontmatter";
  if (oneLine(memory.description) === "") return "it has no description: one specific line, by which it is found";
  return memory.body.trim() === "" ? "it has no body: write what is to be known" : null;
}

interface Cited {
  labels: string[];
  pieces: Piece[];
  /** Something other than a message of this conversation was named, or nothing. */
  isUnknown: boolean;
}

function findCited(memory: Memory, pieces: readonly Piece[], earlier: readonly string[]): Cited {
  const [field] = valuesOf(memory.metadata, "source");
  const labels = [...new Set([...earlier, ...(JSON.stringify(field ?? "").match(/\bm\d+\b/g) ?? [])])];
  const found = labels.map((label) => pieces.find((piece) => piece.label === label));
  return {
    labels,
    pieces: found.filter((piece) => piece !== undefined),
    isUnknown: labels.length === 0 || found.includes(undefined),
  };
}

/** "Tomorrow" counts from the day on which it was said. */
function saidOn(pieces: readonly Piece[]): Date | null {
  const dated = pieces.filter(({ at }) => at !== null && !Number.isNaN(Date.parse(at)));
  const best = dated.findLast(({ trust }) => trust === "user") ?? dated.at(-1);
  return best ? new Date(best.at as string) : null;
}

/** Cues are exempt, because they describe later situations. Dates that were there before are not the model's doing. */
async function findDateProblem(memory: Memory, base: Memory | null, said: Date): Promise<string | null> {
  const textOf = ({ name, description, body }: Memory) => [name, description, body].join("\n\n");
  const dates = await findNewDates(textOf(memory), base ? textOf(base) : "", said);
  if (dates.length === 0) return null;
  const found = dates.map(({ words, date }) => `"${words}" is ${date}`).join(", ");
  return `it contains a date that means nothing later: ${found}; write the date itself`;
}

/** The lowest trust of the sources it names, of its earlier version, and of the texts its words were taken from. */
async function decideTrust(memory: Memory, base: Memory | null, cited: Cited, said: readonly Spoken[]): Promise<Trust> {
  const trusts: Trust[] = cited.pieces.map(({ trust }) => trust);
  if (cited.isUnknown) trusts.push("tool");
  if (base) trusts.push(trustOf(base.source));
  const before = base ? wordsIn(base) : "";
  // The rule is also compared alone: a reason that the model made up must not hide where the rule comes from.
  for (const words of [wordsIn(memory), ruleOf(memory)]) trusts.push(...(await findOrigins(words, before, said)));
  return leastTrust(trusts);
}

/** Everything that a reader sees, including unknown fields. Cues are checked separately. */
function wordsIn({ name, description, body, metadata }: Memory): string {
  const nested = isObject(metadata.metadata) ? Object.entries(metadata.metadata) : [];
  const fields = [...Object.entries(metadata), ...nested].filter(([key]) => !KNOWN_FIELDS.has(key));
  return [name, description, body, ...fields.map((field) => JSON.stringify(field))].join("\n");
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set(["name", "description", "type", "when", "source", "metadata"]);

function ruleOf(memory: Memory): string {
  return memory.body.trim().split(/\n\s*\n/, 1)[0] ?? "";
}

/** Only the user can say how to work and who they are: their own words must be among the sources, too. */
function findTrustProblem(memory: Memory, base: Memory | null, cited: Cited, trust: Trust): string | null {
  const types = [memory.type, ...(base?.typeExplicit ? [base.type] : [])];
  const personal = types.find((type) => type === "feedback" || type === "user");
  if (!personal) return null;
  const fix = "name the user's message in `source:`, such as `source: m1`, or do not save it";
  if (cited.pieces.length === 0) return `a ${personal} memory must say where it comes from: ${fix}`;
  if (cited.isUnknown) return `\`source:\` names a message that is not among those shown: ${fix}`;
  if (!types.every((type) => mayBecome(type, trust))) {
    return `it comes from ${trust === "tool" ? "what a tool printed" : "a document"}, which is data and can never be a ${personal} memory; do not save it`;
  }
  return cited.pieces.some(({ trust }) => trust === "user")
    ? null
    : `the user did not say it, and only they can make a ${personal} memory: ${fix}`;
}

/** At least this much of a rule repeats the words of the person who gave it, however a model words it. */
const MIN_SUPPORT_SHARE = 0.2;
const MIN_SUPPORT_WORDS = 2;

/**
 * A text that was translated or retold leaves no words to know it by: so the rule must show by its own words that the user said
 * it, or that they agreed to what the assistant said. What they said in another language can be kept in that language.
 */
function findSupportProblem(memory: Memory, base: Memory | null, cited: Cited): string | null {
  if (memory.type !== "feedback" && memory.type !== "user") return null;
  const before = base ? [{ trust: "user" as const, text: wordsIn(base) }] : [];
  const said = cited.pieces.filter(({ trust }) => trust === "user");
  const told = cited.pieces.filter(
    (piece) => piece.trust === "user" || said.some((later) => numberOf(later) > numberOf(piece) && agrees(later.text)),
  );
  const { share, words } = measureSupport(ruleOf(memory), [...told, ...before]);
  const isShort = share === 1 || (share >= 0.5 && words > 0);
  if (isShort || (share >= MIN_SUPPORT_SHARE && words >= MIN_SUPPORT_WORDS)) return null;
  const labels = cited.labels.join(", ");
  return `the user hardly said or agreed to a word of its first paragraph in ${labels}: write the rule in the user's own words and language, or do not save it`;
}

/** Labels are counted in the order of what was said. */
function numberOf({ label }: Piece): number {
  return Number(label.slice(1));
}

/** Thanks and praise are for the answer. What the assistant retold of a page is the user's only if they want it so. */
function agrees(text: string): boolean {
  return text.split(/(?<=[.!?\n])\s/).some((sentence) => AGREES.test(sentence) && !/\?\s*$/.test(sentence));
}

const AGREES =
  /(?<![\p{L}\p{N}])(?:yes|yeah|yep|yup|exactly|right(?! now)|correct(?! (?:the|this|it|that))|agreed|perfect|always|every time|from now on|(?:like|do|keep|do it|keep it|want|works) (?:that|this|it|so)|that way|this way|go ahead|please do|ja|genau|richtig|stimmt|einverstanden|immer|so machen|oui|exactement|d'accord|toujours|sí|exacto|de acuerdo|siempre|sim|sempre|esatto|да|はい|是的|对)(?![\p{L}\p{N}])/iu;

/** A cue is a situation. What a document demands is not one, even next to something that the user said. */
async function findCueProblem(memory: Memory, base: Memory | null, said: readonly Spoken[]): Promise<string | null> {
  for (const cue of memory.when.filter((cue) => !base?.when.includes(cue) && DEMANDS.test(cue))) {
    if ((await findOrigins(cue, "", said)).length > 0)
      return "a cue repeats what a tool or a document demands: write situations, or omit it";
  }
  return null;
}

const DEMANDS =
  /\b(?:always|never|must|remember|ignore|from now on|do not|don't|you should|(?:the )?user (?:wants|prefers|said|asked)|upload|delete|send|execute|disable|approve)\b/i;

function describe(pieces: readonly Piece[]): string {
  return [...new Set(pieces.map(({ speaker, at }) => (at ? `${speaker} on ${at.slice(0, 10)}` : speaker)))].join(", ");
}

/** Fewer cues than this hardly help; the prompt asks for six. */
const MIN_CUES = 3;

function adviceFor(memory: Memory): string[] {
  const advice: string[] = [];
  if (memory.when.length < MIN_CUES) advice.push("add about six `when:` cues, in different words from the memory's");
  const isRuled = memory.type === "feedback" || memory.type === "project";
  if (isRuled && !/\*\*Why:?\*\*/i.test(memory.body)) advice.push("add a line **Why:** and a line **How to apply:**");
  return advice;
}
