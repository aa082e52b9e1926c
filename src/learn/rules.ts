/**
 * The offline extractor: finds what the user said that is worth keeping, without a model. Where the sentence model is not
 * installed, these are explicit requests only.
 */

import { messageOf } from "../errors.ts";
import { type Block, type TextBlock, type ToolResult, textOf } from "../model/ask.ts";
import { type HeardMessage, ownWords } from "../session/heard.ts";
import { type Header, sameName } from "../store/store.ts";
import { sha256 } from "../text/hash.ts";
import { overlap, stanceOf } from "../text/likeness.ts";
import { writeDates } from "../text/relative-dates.ts";
import { splitSpeech } from "../text/speech.ts";
import { termsOf } from "../text/terms.ts";
import { isFinal } from "./apply.ts";
import { type Extracted, type Extractor, foundNothing, type Keep, type Learning, type Prompt } from "./learn.ts";
import { findOrigins } from "./origin.ts";
import type { Proposal } from "./proposal.ts";
import { MEANT, type Said, takesBackEarlier, understandSaid } from "./said.ts";
import type { Embed, Sure } from "./said-classifier.ts";
import { callsItAJoke, forbidsKeeping, hasPart, RETRACTED } from "./said-requests.ts";

export interface SpokenMessage extends Prompt {
  role: "user" | "assistant" | "tool";
}

/** An existing memory; with its body the comparison is better. */
export type Existing = Pick<Header, "file" | "name" | "type" | "description"> & { body?: string };

/** Only what the user wrote counts; what the agent said before is used only where the user refers back to it. */
export async function extractByRules(
  messages: readonly SpokenMessage[],
  existing: readonly Existing[],
  session: string | null = null,
  embed: Embed | null = null,
  sure?: Sure,
): Promise<Proposal[]> {
  let proposals: Proposal[] = [];
  let answer = "";
  let asked = "";
  const written: string[] = [];
  const ids: string[] = [];
  const earlier: string[] = [];
  const withdraw = (id: string | null | undefined) => {
    proposals = proposals.filter(({ message }) => message !== id);
  };
  for (const message of messages) {
    const at = new Date(message.at);
    if (message.role === "assistant") {
      answer = message.text;
      earlier.push(...date(message.text, at));
    }
    if (message.role !== "tool" && callsItAJoke(message.text)) withdraw(ids.at(-1));
    if (message.role === "tool" && INSTRUCTIONS.test(message.text)) written.push(message.text);
    // Without its date a message's "tomorrow" means nothing.
    if (message.role !== "user" || Number.isNaN(at.getTime())) continue;
    if (takesBack(message.text)) withdraw(ids.at(-1));
    if (embed && takesBackEarlier(message.text, answer, embed))
      withdraw(proposals.findLast((proposal) => ids.slice(-REACH).includes(proposal.message ?? ""))?.message);
    ids.push(message.id);
    const heard = { answer, asked, earlier, embed, sure };
    for (const said of await understandSaid(message.text, at, heard)) {
      // What an instruction file already says is not saved again.
      if (written.some((text) => sharedPart(said.body, text) >= MOSTLY)) continue;
      if (said.body.includes(MEANT) && (await isRetold(said.body, messages))) continue;
      const next = said.act === "forget" ? takeBack : keep;
      proposals = next(proposals, existing, said, propose(said, message, session));
    }
    asked = message.text;
    earlier.push(...date(message.text, at));
  }
  return proposals;
}

/** What was said, with its days: a later message may count from them. */
function date(text: string, at: Date): string[] {
  return Number.isNaN(at.getTime()) ? [] : splitSpeech(text).map((sentence) => writeDates(sentence.text, at));
}

/** In place of a model. `findEmbed`: the sentence model, if it is installed. */
export function openRulesExtractor({ store }: Learning, findEmbed: () => Promise<Embed | null>): Extractor {
  return {
    isFree: true,
    extract: async ({ session, messages, fresh }, keep) => {
      const spoken = speak(messages, fresh);
      // Opening the sentence model takes longer than all the rest.
      const embed = spoken.some(({ role }) => role === "user") ? await findEmbed() : null;
      const kept = await keepAll(await extractByRules(spoken, await store.list(), session, embed), keep);
      return { ...kept, last: messages.at(-1) ?? null };
    },
  };
}

/** Explicit requests only, which needs no model and no budget. */
export function openAskedExtractor({ store }: Learning): Extractor {
  return {
    isFree: true,
    extract: async ({ session, asked = [] }, keep) => {
      const said = asked.map((prompt): SpokenMessage => ({ ...prompt, role: "user" }));
      return keepAll(await extractByRules(said, await store.list(), session), keep);
    },
  };
}

/** One after the other: a later one may change what an earlier one wrote. */
async function keepAll(proposals: readonly Proposal[], keep: Keep): Promise<Extracted> {
  const all = foundNothing();
  for (const proposal of proposals) {
    try {
      const { done, file, reason } = await keep(proposal);
      if (done === "refused") all.refused.push(`${proposal.name}: ${reason ?? ""}`);
      else all.saved.push({ file: file ?? proposal.name, action: done, proposal });
    } catch (error) {
      const reason = `${proposal.name}: ${messageOf(error)}`;
      if (isFinal(error)) all.refused.push(reason);
      else all.failed ??= reason;
    }
  }
  return all;
}

/** What the user typed, the agent said and tools printed, from the answer before it on: "yes, always like that" refers back to it. */
function speak(all: readonly HeardMessage[], fresh: readonly HeardMessage[]): SpokenMessage[] {
  const before = all.slice(0, all.length - fresh.length).findLast(({ message }) => message.role === "assistant");
  return [...(before ? [before] : []), ...fresh].flatMap(({ id, at, message: { role, content } }) => {
    const blocks = content as readonly (Block | TextBlock | ToolResult)[];
    const own = blocks.filter((block) => block.type === "text" && !("attachment" in block && block.attachment));
    const printed = blocks.flatMap((block) => (block.type === "tool_result" ? [block.content] : []));
    const said = [{ role, text: ownWords(textOf(own)) }, ...printed.map((text) => ({ role: "tool" as const, text }))];
    return said.flatMap((one) => (one.text.trim() === "" ? [] : [{ id, at: at ?? "", ...one }]));
  });
}

/** A question or two may come in between: "wait, does the app parse it?" */
const REACH = 3;

/** Right after something, "forget it" and "never mind" retract it; anywhere else they are just talk. */
function takesBack(message: string): boolean {
  const text = message.slice(0, MAX_LOOK);
  if (forbidsKeeping(text) || hasPart(text.slice(0, MAX_SHORT), "takenBack")) return true;
  return TAKEN_BACK.some((pattern) => pattern.test(text));
}

/** A message that is longer was not written to retract something. */
const MAX_LOOK = 5_000;

/** Beyond it, such words take back what was said in between. */
const MAX_SHORT = 40;

const TAKEN_BACK = [
  /(?:^|[.!?;] )(?:(?:hm+|oh|ah|no|wait|sorry|ok|actually|well|no wait|please|so)[,.]? ){0,3}(?:(?:forget|scrap|scratch|drop|strike|cancel|disregard) (?:it|that|this)|leave (?:it|that|this) out|never ?mind|on second thoughts?|leave it (?:as it (?:is|was)|like before))\b/i,
  /^(?:(?:hm+|oh|ah|ok|well|uh|er|argh)[,.]? ){0,2}(?:no,? wait|wait,? no|actually,? no|no,? sorry|sorry,? (?:no|wrong|i (?:meant|mixed|was))|no[,.]? (?:it|that|he|she|they) (?:was|is|were|are|wasn't|isn't)|my (?:mistake|bad)|i was wrong|i mixed)\b/i,
  // What was turned on for a moment and off again was never meant to last.
  /\b(?:remove|undo|revert|take|switch|turn|put) (?:it|that|this|them)(?: out| back| off| on)? again\b|^(?:ok[,.]? )?(?:on|off|back) again\b/i,
];

/** An instruction file that was read in the conversation. */
const INSTRUCTIONS = /\b(?:CLAUDE|AGENTS|GEMINI)(?:\.local)?\.md\b/i;

/** Of a statement's words; the others are "please" and "remember". */
const MOSTLY = 0.7;

/** What the agent quoted from a tool's result is not a way of working that the user approved. */
async function isRetold(body: string, messages: readonly SpokenMessage[]): Promise<boolean> {
  const said = messages.map(({ role, text }) => ({ trust: TRUST_OF[role], text }));
  return (await findOrigins(body, "", said)).length > 0;
}

const TRUST_OF = { user: "user", assistant: "inferred", tool: "tool" } as const;

const keep: Next = (proposals, existing, said, proposal) => {
  const known: Pick<Existing, "name" | "description" | "body">[] = [...existing, ...proposals];
  return known.some((other) => isSame(said, other)) ? proposals : [...proposals, proposal];
};

/** "Forget that" is about the last thing said here; a named subject only counts if it leads to a single memory. */
const takeBack: Next = (proposals, existing, said, proposal) => {
  if (said.name === RETRACTED) return proposals.slice(0, -1);
  const left = proposals.filter((proposal) => !isAbout(said.name, proposal));
  const [one, ...more] = existing.filter((memory) => isAbout(said.name, memory));
  if (!one || more.length > 0 || !said.explicit) return left;
  const { file, type, name, description } = one;
  return [...left, { ...proposal, action: "forget", file, type, name, description, body: "" }];
};

type Next = (proposals: Proposal[], existing: readonly Existing[], said: Said, proposal: Proposal) => Proposal[];

function propose(said: Said, message: SpokenMessage, session: string | null): Proposal {
  const { act, type, name, description, body, isUnsure } = said;
  return {
    id: sha256(`${message.id}\n${act}\n${body}`).slice(0, 12),
    at: message.at,
    action: "save",
    file: null,
    ...{ type, name, description, body, when: [] },
    // With the agent's words in it, it is more than what the user said.
    trust: body.includes(MEANT) ? "inferred" : "user",
    session,
    message: message.id,
    reason: REASONS[act],
    from: "rules",
    ...(isUnsure && { isUnsure }),
  };
}

const REASONS: Record<Said["act"], string> = {
  remember: "the user asked to remember it",
  forget: "the user asked to forget it",
  correction: "the user corrected the agent",
  confirmation: "the user confirmed a way of working",
  person: "the user said who they are",
  preference: "the user stated a preference",
  decision: "the user mentioned a decision",
  pointer: "the user said where something is",
};

/** Of the words of both; names and numbers must agree anyway. */
const NEARLY_SAME = 0.75;

/** Under the same name, or in nearly the same words; "use tabs" and "never use tabs", or another date, are news. */
function isSame(said: Said, other: Pick<Existing, "name" | "description" | "body">): boolean {
  if (sameName(said.name, other.name)) return true;
  const text = other.body ?? `${other.name} ${other.description}`;
  const terms = termSet(said.body);
  return terms.size > 0 && stanceOf(said.body) === stanceOf(text) && overlap(terms, termSet(text)) >= NEARLY_SAME;
}

/** Every word of the subject is in the memory's name or description. */
function isAbout(subject: string, memory: Pick<Existing, "name" | "description">): boolean {
  return sharedPart(subject, `${memory.name} ${memory.description}`) === 1;
}

/** How much of what a text says the other one says, too: 0 to 1. */
function sharedPart(text: string, other: string): number {
  const [mine, theirs] = [termSet(text), termSet(other)];
  return mine.size === 0 ? 0 : [...mine].filter((term) => theirs.has(term)).length / mine.size;
}

const termSet = (text: string) => new Set(termsOf(text));
