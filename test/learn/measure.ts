/**
 * Measures what is kept of labelled conversations without a model: how much of it is right, and how much of what should be
 * kept was. The format of a set: training/extraction/FORMAT.md.
 */

import { readFileSync } from "node:fs";
import type { Proposal } from "../../src/learn/proposal.ts";
import { extractByRules, type SpokenMessage } from "../../src/learn/rules.ts";
import type { Embed, Sure } from "../../src/learn/said-classifier.ts";

export interface Wanted {
  message: number | null;
  types: string[];
  /** Each is one of several alternatives. */
  words: string[][];
  kind: string;
  language: string;
}

export interface Labelled {
  id: string;
  language: string;
  messages: SpokenMessage[];
  keep: Wanted[];
  never: string[];
}

export interface Figures {
  precision: number;
  recall: number;
  wrong: string[];
  /** How many of the wrong ones are wrong in which way. */
  errors: Record<ErrorClass, number>;
  missed: string[];
  /** Stored although it must never be. */
  forbidden: string[];
  /** What is kept, with what waits in the inbox. */
  kept: { id: string; proposal: Proposal }[];
  groups: Map<string, { right: number; wrong: number; found: number; wanted: number }>;
}

export type ErrorClass = "not worth keeping" | "wrong type" | "wrong text or date";

const url = (name: string) => new URL(name, import.meta.url);
const NAMES =
  "own second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth blind languages turns fresh";
/** The classifier has learnt from all of these: `train.mjs --cv` measures each with what was learnt from the others. */
export const LEARNT = [
  url("../fixtures/extraction-dev.json"),
  ...NAMES.split(" ").map((name) => url(`./data/extraction-${name}.json`)),
];
/** One message a line of the work at hand, with nothing to keep; every second one is learnt from, beginning with the first. */
export const EVERYDAY = url("./data/everyday-talk.txt");

/** A label in either form: ours, and that of the older sets. */
interface RawLabel {
  message?: number;
  type: string;
  types?: string[];
  altTypes?: string[];
  words?: (string | string[])[];
  mustMention?: string[];
  dates?: string[];
  absoluteDates?: string[];
  kind?: string;
  language?: string;
}

interface RawConversation {
  id: string;
  language?: string;
  kind?: string;
  today?: string;
  messages: { role: SpokenMessage["role"]; text: string; at?: string }[];
  keep?: RawLabel[];
  expect?: RawLabel[];
  never?: string[];
  forbid?: string[];
}

export function readLabelled(file: URL | string): Labelled[] {
  const { conversations, cases } = JSON.parse(readFileSync(file, "utf8"));
  return (conversations ?? cases).map((one: RawConversation): Labelled => {
    const language = one.language ?? "en";
    const day = one.today === undefined ? "" : new Date(`${one.today}T12:00:00`).toISOString();
    return {
      id: one.id,
      language,
      messages: one.messages.map(({ role, text, at }, i) => ({ id: `m${i}`, role, text, at: at ?? day })),
      keep: (one.keep ?? one.expect ?? []).map((label) => readLabel(label, one.kind ?? "", language)),
      never: one.never ?? one.forbid ?? [],
    };
  });
}

function readLabel(label: RawLabel, kind: string, language: string): Wanted {
  const words = [...(label.words ?? label.mustMention ?? []), ...(label.dates ?? label.absoluteDates ?? [])];
  return {
    message: label.message ?? null,
    types: [label.type, ...(label.types ?? label.altTypes ?? [])],
    words: words.map((one) => [one].flat()),
    kind: label.kind ?? kind,
    language: label.language ?? language,
  };
}

export async function measure(
  all: readonly Labelled[],
  embed: Embed | null,
  withInbox = false,
  sure?: Sure,
): Promise<Figures> {
  const groups: Figures["groups"] = new Map();
  const errors = { "not worth keeping": 0, "wrong type": 0, "wrong text or date": 0 };
  const figures: Figures = { precision: 0, recall: 0, wrong: [], errors, missed: [], forbidden: [], kept: [], groups };
  const count = (names: readonly string[], field: "right" | "wrong" | "found" | "wanted") => {
    for (const name of ["all", ...names]) {
      const group = groups.get(name) ?? { right: 0, wrong: 0, found: 0, wanted: 0 };
      group[field]++;
      groups.set(name, group);
    }
  };
  for (const { id, language, messages, keep, never } of all) {
    const proposals = await extractByRules(messages, [], null, embed, sure);
    for (const proposal of proposals) {
      figures.kept.push({ id, proposal });
      const stored = `${proposal.name}\n${proposal.description}\n${proposal.body}`;
      for (const words of never)
        if (isStored(stored, words)) figures.forbidden.push(`${id}${proposal.isUnsure ? " (inbox)" : ""}: ${words}`);
    }
    const kept = proposals.filter(({ isUnsure }) => withInbox || !isUnsure);
    const taken = new Set<Wanted>();
    for (const proposal of kept) {
      const fitting = keep.filter((wanted) => fits(proposal, wanted));
      const fresh = fitting.filter((wanted) => !taken.has(wanted));
      for (const wanted of fresh) taken.add(wanted);
      if (fitting.length === 0) {
        count([language], "wrong");
        const how = classify(proposal, keep);
        errors[how]++;
        figures.wrong.push(`${id} (${language}) ${how}, ${proposal.type}: ${proposal.body.replaceAll("\n", " ")}`);
      } else if (fresh.length > 0) count([fresh[0]!.language, fresh[0]!.kind], "right");
    }
    for (const wanted of keep) {
      count([wanted.language, wanted.kind], "wanted");
      if (taken.has(wanted)) count([wanted.language, wanted.kind], "found");
      else
        figures.missed.push(
          `${id} (${wanted.language}, ${wanted.kind}): ${wanted.words.map((words) => words[0]).join(", ")}`,
        );
    }
  }
  const { right = 0, wrong = 0, found = 0, wanted = 0 } = groups.get("all") ?? {};
  figures.precision = right / Math.max(1, right + wrong);
  figures.recall = found / Math.max(1, wanted);
  return figures;
}

/** "next Monday" is fine where its date follows. */
function isStored(text: string, words: string): boolean {
  return text
    .split(words)
    .slice(1)
    .some((rest) => !/^[^.,;\n]{0,24}\(\d{4}/.test(rest));
}

function fits(proposal: Proposal, wanted: Wanted): boolean {
  const { isThere, isSaid } = compare(proposal, wanted);
  return isThere && wanted.types.includes(proposal.type) && wanted.words.every(isSaid);
}

/** What is wrong with one that fits no label: nothing like it was wanted, or it is not as it was wanted. */
function classify(proposal: Proposal, keep: readonly Wanted[]): ErrorClass {
  const near = keep.filter((wanted) => {
    const { isThere, isSaid } = compare(proposal, wanted);
    return isThere && wanted.words.some(isSaid);
  });
  if (near.length === 0) return "not worth keeping";
  return near.some(({ types }) => types.includes(proposal.type)) ? "wrong text or date" : "wrong type";
}

/** In the message that says it, or the one before or after it. */
function compare({ body, message }: Proposal, wanted: Wanted) {
  const text = body.toLowerCase();
  return {
    isThere: wanted.message === null || Math.abs(Number(message?.slice(1)) - wanted.message) <= 2,
    isSaid: (words: readonly string[]) => words.some((one) => text.includes(one.toLowerCase())),
  };
}

/** Which of the lines are kept that should not be, each said after the same question and answer. */
export async function measureTalk(
  lines: readonly string[],
  embed: Embed | null,
): Promise<{ kept: string[]; unsure: string[] }> {
  const at = "2026-06-10T12:00:00.000Z";
  const [kept, unsure]: string[][] = [[], []];
  for (const text of lines) {
    const said: SpokenMessage[] = [
      { id: "m0", role: "user", text: "can you help me with the order page", at },
      { id: "m1", role: "assistant", text: "I changed the list to a table and added a test.", at },
      { id: "m2", role: "user", text, at },
    ];
    const found = await extractByRules(said, [], null, embed);
    if (found.some(({ isUnsure }) => !isUnsure)) kept!.push(text);
    else if (found.length > 0) unsure!.push(text);
  }
  return { kept: kept!, unsure: unsure! };
}

export function readLines(file: URL | string): string[] {
  return readFileSync(file, "utf8").split("\n").filter(Boolean);
}

export function formatFigures({ precision, recall, wrong, errors, missed, forbidden, groups }: Figures): string {
  const rows = [...groups].map(
    ([name, { right, wrong, found, wanted }]) =>
      `${name.padEnd(16)} precision ${(right / Math.max(1, right + wrong)).toFixed(2)} (${right} of ${right + wrong})  recall ${(found / Math.max(1, wanted)).toFixed(2)} (${found} of ${wanted})`,
  );
  const list = (title: string, lines: readonly string[]) => [
    `${title}: ${lines.length}`,
    ...lines.map((line) => `  ${line}`),
  ];
  return [
    `precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
    ...rows,
    Object.entries(errors)
      .map(([how, count]) => `${how} ${count}`)
      .join(" · "),
    ...list("wrongly kept", wrong),
    ...list("missed", missed),
    ...list("stored although it must never be", forbidden),
  ].join("\n");
}
