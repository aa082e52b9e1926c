/** Finds memories that give one subject different values: at most one of them still holds. */

import type { TermsOf } from "../text/likeness.ts";
import { findSentences, isDenial, leadOf } from "./sentences.ts";

export interface Dated {
  file: string;
  name: string;
  description: string;
  body: string;
  /** YYYY-MM-DD, of when it was said last. */
  day: string;
  supersedes: readonly string[];
}

interface Contradiction {
  /** The one that was said earlier. */
  older: Dated;
  newer: Dated;
  subject: string;
  /** What each of them says about it. */
  said: { older: string; newer: string };
}

interface Statement {
  memory: Dated;
  subject: string;
  value: string;
}

/** Enough for a memory; anything longer is a document. */
const MAX_STATEMENTS = 40;
/** A subject that this many memories mention is just a word. */
const MAX_SPEAKERS = 50;

export function findContradictions(memories: readonly Dated[], termsOf: TermsOf): Contradiction[] {
  const groups = new Map<string, Statement[]>();
  for (const memory of memories) {
    const statements = [...findValues(memory), ...findRules(memory)].slice(0, MAX_STATEMENTS);
    const known = new Set<string>();
    for (const { subject, value, kind } of statements) {
      const key = keyOf(kind, subject, termsOf);
      // A subject with two values in one memory is a list, not a fact.
      if (key === null || known.has(key)) continue;
      known.add(key);
      const group = groups.get(key);
      if (group) group.push({ memory, subject, value });
      else groups.set(key, [{ memory, subject, value }]);
    }
  }
  const found = new Map<string, Contradiction>();
  for (const group of groups.values()) {
    if (group.length < 2 || group.length > MAX_SPEAKERS) continue;
    for (const each of compare(group)) {
      const pair = JSON.stringify([each.older.file, each.newer.file]);
      if (!found.has(pair)) found.set(pair, each);
    }
  }
  return [...found.values()];
}

/** Compares everything with the newest, which settles what two old ones disagree about. */
function compare(group: readonly Statement[]): Contradiction[] {
  const sorted = [...group].sort((a, b) => (a.memory.day < b.memory.day ? 1 : a.memory.day > b.memory.day ? -1 : 0));
  const [newest, ...others] = sorted as [Statement, ...Statement[]];
  return others.flatMap((other) => {
    if (other.value === newest.value || isSuperseded(other.memory, newest.memory)) return [];
    const said = { older: other.value, newer: newest.value };
    return [{ older: other.memory, newer: newest.memory, subject: newest.subject, said }];
  });
}

function isSuperseded(a: Dated, b: Dated): boolean {
  const names = ({ file, name }: Dated) => [file, name, file.replace(/\.md$/, "")];
  return [
    ...a.supersedes.map((name) => names(b).includes(name)),
    ...b.supersedes.map((name) => names(a).includes(name)),
  ].some(Boolean);
}

interface Found {
  kind: string;
  subject: string;
  value: string;
}

/** Verbs after which a thing has one value at a time, and not one of several. */
const VERB =
  "(?:is|are)(?: (?:now|currently|set to|due(?: on)?|on|at|version|pinned to|capped at|limited to))?|runs? on|listens? on|defaults? to|happens? on|ends? on|starts? on|expires? on|takes? place on|moved to|equals|=|:";

/** Values that exclude each other: days, numbers with units, versions, URLs, names in backticks. */
const VALUE =
  "\\d{4}-\\d\\d-\\d\\d|v?\\d+(?:[.,]\\d+)*\\s?(?:%|ms|s|m|h|kb|mb|gb|tb|seconds?|minutes?|hours?|days?|weeks?|months?|characters?|columns?|lines?|spaces?|retries|workers?|replicas?)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|https?://\\S+|`[^`]{1,80}`";

const STATEMENT = new RegExp(
  `^(?:the |our |its |a |an )?([\\p{L}\\p{N}][\\p{L}\\p{N}\\s'’\`./_-]{2,80}?)\\s*(?:\\s|(?<=\\S)(?=[:=]))(?:${VERB})\\s+(${VALUE})(?=\\s*(?:$|[,;(]|\\.\\s|\\s(?:since|because|as of|for now|until|from|by default)\\b))`,
  "iu",
);
/** Two versions of one product are not used at once, but two products are. */
const VERSION = new RegExp(
  `^(?:the |our |its |a |an )?([\\p{L}\\p{N}][\\p{L}\\p{N}\\s'’\`./_-]{2,80}?)\\s+(?:${VERB.replace("|=|:", "")}|lies? in|lives? in|uses?|needs?|requires?|targets?|runs?|is built with|are built with|is stored in|are stored in)\\s+(\\p{L}[\\w+#.-]{1,20})\\s+v?(\\d+(?:\\.\\d+)*)(?=\\s*(?:$|[,;(]|\\s(?:since|because|as of|for now)\\b))`,
  "iu",
);
/** "It is 5" says nothing on its own; "the first" differs everywhere. */
const NO_SUBJECT =
  /^(?:it|this|that|there|these|those|he|she|they|we|i|you|which|what|who|one|some|example|note|e\.g|i\.e|step|todo|see|why|how to apply|when|where|date|created|last|next|today|yesterday|deadline|version|port|status|limit|result|default|value)\b.{0,3}$|\b(?:if|when|unless|whether|before|after|while)\b|\b(?:was|were|had|used to)\b/i;

function findValues(memory: Dated): Found[] {
  return findSentences(memory.body).flatMap((sentence) => {
    if (sentence.length > 300) return [];
    const [, named = "", product = "", version = ""] = VERSION.exec(sentence) ?? [];
    if (named !== "" && !NO_SUBJECT.test(named.trim()))
      return [{ kind: "value", subject: `${named.trim()} ${product}`, value: version }];
    const [, subject = "", value = ""] = STATEMENT.exec(sentence) ?? [];
    if (subject === "" || NO_SUBJECT.test(subject.trim())) return [];
    return [{ kind: "value", subject: subject.trim(), value: normal(value) }];
  });
}

function normal(value: string): string {
  return value
    .toLowerCase()
    .replace(/[`\s]/g, "")
    .replace(/days$/, "day")
    .replace(/^v(?=\d)/, "");
}

const COMMAND =
  /^(?:please )?(?:always |never |do not |don['’]t |stop |avoid )?(?:use|using|commit|committing|push|write|writing|add|adding|run|running|mock|mocking|amend|squash|rebase|merge|deploy|put|keep|open|create|format|test|ask|comment|explain|include|mention|log|install|edit|delete|touch|change)\b/i;

/** Only the rule itself: "do X" in one and "never X" in the other, word for word otherwise. */
function findRules(memory: Dated): Found[] {
  const [rule] = findSentences(leadOf(memory.body));
  if (rule === undefined || rule.length > 160 || !COMMAND.test(rule) || /\b(?:unless|except|instead)\b/i.test(rule))
    return [];
  return [{ kind: "rule", subject: rule, value: isDenial(rule) ? "do not" : "do" }];
}

const POLARITY =
  /\b(?:please|always|never|do not|don['’]t|stop|avoid|not|no)\b|(?<=\b(?:commit|us|writ|add|runn|mock|squash|rebas|merg|deploy))ing\b/gi;

/** Null if it is too short to identify a subject. */
function keyOf(kind: string, subject: string, termsOf: TermsOf): string | null {
  const terms = [...new Set(termsOf(kind === "rule" ? subject.replace(POLARITY, " ") : subject))].sort();
  const least = kind === "rule" ? 2 : 1;
  const isTooLittle = terms.length < least || (terms.length === 1 && (terms[0] as string).length < 5);
  return isTooLittle ? null : `${kind} ${terms.join(" ")}`;
}
