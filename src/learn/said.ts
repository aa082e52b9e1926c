/** What a person says that is worth keeping, understood by rules, without a model. It would rather miss than invent. */

import type { MemoryType } from "../store/store.ts";
import { findSecrets } from "../text/secrets.ts";
import { findConfirmed, meaningOf, pointsBack, subjectOf } from "./said-confirmed.ts";
import { hasRelativeDate, writeDates } from "./said-dates.ts";
import { hasUnsureWeekday } from "./said-days.ts";
import { type Draft, ELLIPSIS, findExplicit, findImplied, PRONOUN, RETRACTED } from "./said-draft.ts";
import { forbidsKeeping, saysNothing } from "./said-gates.ts";
import { describeStatement, nameStatement } from "./said-name.ts";
import type { Act } from "./said-row.ts";
import { SECRET, type Sentence, splitSpeech } from "./said-speech.ts";
import { formatBody } from "./said-statement.ts";
import { typeOfStatement } from "./said-type.ts";
import { belongsTogether, goesOn, withLead } from "./said-whole.ts";

export interface Said {
  act: Act;
  /** Whether they asked for it in so many words ("remember …", "#…"): then it is saved at once, else as the caller chooses. */
  explicit: boolean;
  type: MemoryType;
  /**
   * At most 8 words and 80 characters. Of a `forget` it is the subject; "that" stands for whatever was said last
   * ("forget that, I mixed it up").
   */
  name: string;
  description: string;
  body: string;
  /** 0 to 1. */
  confidence: number;
}

/** A person's own message is shorter; what is longer was pasted. */
const MAX_MESSAGE = 20_000;

/** Nobody says more that is worth keeping in one message. */
const MAX_SAID = 20;

/**
 * `text` must be what the person wrote, not a tool's result or a document. `answer` is what the agent had said right before,
 * if anything: "do it like that for every import" is kept only with it. `asked` is the person's own message before that: it says
 * what "it's in the wiki" is about. Throws only when secrets cannot be looked for.
 */
export async function understandSaid(text: string, now: Date, answer = "", asked = ""): Promise<Said[]> {
  const message = text.slice(0, MAX_MESSAGE).toWellFormed();
  if (forbidsKeeping(message)) return [];
  const clean = maskSecrets(message);
  const sentences = findQuickSave(clean) ?? splitSpeech(clean);
  const meaning = answer === "" ? null : meaningOf(maskSecrets(answer));
  const subject = asked === "" ? null : subjectOf(maskSecrets(asked));
  const drafts = await draftAll(sentences, now, { answered: meaning !== null, asked: subject !== null });
  const before = { meaning, subject };
  const finished = await Promise.all(drafts.slice(0, MAX_SAID).map((draft) => finish(draft, now, before)));
  const said = finished.filter((one) => one !== null);
  return said.filter(({ body }, i) => said.findIndex((other) => other.body === body) === i);
}

function maskSecrets(message: string): string {
  let masked = message;
  for (const { start, end } of findSecrets(message))
    masked = masked.slice(0, start) + SECRET.repeat(end - start) + masked.slice(end);
  return masked.replace(LIKE_A_PASSWORD, (word) => SECRET.repeat(word.length));
}

/** Letters, digits and a sign between them that no ordinary word has, whatever stands before it: "log in with Nordlys!2026". */
const LIKE_A_PASSWORD =
  /(?<![^\s"'`(=:])(?=[^\s/]{0,40}\p{L})(?=[^\s/]{0,40}\d)(?=[^\s/!#$%^&*?~]{1,40}[!#$%^&*?~][\p{L}\p{N}])[^\s/"'`()<>]{8,60}/gu;

/** "#the sandbox resets at midnight" as the whole message. Not a second heading, an issue's number or C. */
function findQuickSave(message: string): Sentence[] | null {
  const line = message.trim();
  if (!/^#\s*(?![#!\d\s]|(?:include|define|ifn?def|if|endif|pragma|else|region)\b)\S/.test(line) || line.includes("\n"))
    return null;
  const text = `remember: ${line.slice(1).trim()}`;
  return [{ text, plain: text }];
}

/** What was said before, where it can be kept. */
interface Before {
  meaning: string | null;
  subject: string | null;
}

async function draftAll(
  sentences: readonly Sentence[],
  now: Date,
  { answered, asked }: { answered: boolean; asked: boolean },
): Promise<Draft[]> {
  const drafts: Draft[] = [];
  for (let at = 0; at < sentences.length; at++) {
    const sentence = sentences[at]!;
    const covered = (drafts.at(-1)?.last ?? -1) >= at;
    if (covered || saysNothing(sentence)) continue;
    const open = drafts.at(-1)?.last === at - 1 ? drafts.at(-1)! : null;
    const found =
      findExplicit(sentences, at) ??
      (await findImplied(sentences, at, now, asked)) ??
      (answered ? findConfirmed(sentence, at) : null);
    if (!found) {
      if (open && goesOn(open, sentence)) extend(open, sentence, at);
    } else if (found.act === "forget" && found.statement === RETRACTED) {
      drafts.splice(0, drafts.length, found);
    } else if (open && belongsTogether(open, found, sentence)) {
      extend(open, sentence, at);
    } else {
      const whole = withLead(found, sentences, at, drafts.at(-1)?.last ?? -1);
      if (whole) drafts.push(whole);
    }
  }
  return drafts;
}

function extend(draft: Draft, { text }: Sentence, at: number): void {
  draft.context.push(text);
  draft.last = at;
}

/** null when a day is left in it that could not be worked out: it would be wrong tomorrow. */
async function finish(draft: Draft, now: Date, { meaning, subject }: Before): Promise<Said | null> {
  if ([draft.statement, ...draft.context].some(hasUnsureWeekday)) return null;
  const statement = await writeDates(draft.statement, now);
  const context = await Promise.all(draft.context.map((sentence) => writeDates(sentence, now)));
  const type = draft.type ?? typeOfStatement(statement);
  const name = nameStatement(statement);
  const { act, explicit } = draft;
  const told = act === "forget" ? context.join(" ") : formatBody(type, statement, context);
  const meant = meaning !== null && act !== "forget" && pointsBack(statement);
  const about =
    subject !== null &&
    act !== "forget" &&
    !draft.explicit &&
    (PRONOUN.test(statement) || (act === "pointer" && ELLIPSIS.test(statement)));
  const body = [
    told,
    ...(meant ? [`**What was meant:** ${await writeDates(meaning, now)}`] : []),
    ...(about ? [`**Asked about:** ${await writeDates(subject, now)}`] : []),
  ].join("\n\n");
  if (act !== "forget" && (await hasRelativeDate(body, now))) return null;
  return {
    act,
    explicit,
    type,
    name,
    description: describeStatement(statement),
    body,
    confidence: round(draft.confidence),
  };
}

function round(confidence: number): number {
  return Math.round(confidence * 100) / 100;
}
