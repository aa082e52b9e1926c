/** A memory digested once, for lists, rules and recall: its header, its terms by field, what it links to, and the texts whose meaning counts. */

import type { Stats } from "node:fs";
import { hashOf } from "../text/hash.ts";
import { termsOf } from "../text/terms.ts";
import { findEnforced } from "./admit.ts";
import { findDay, type Header, type Memory, parseMemory } from "./memory.ts";
import {
  hashBytes,
  quantise,
  type Ranking,
  type RowEntry,
  type Stamp,
  TICK_MS,
  type Vector,
  WEIGHT_UNIT,
} from "./row-entry.ts";

/** A word in the name tells more than one somewhere in the body, and a cue was written for just this. */
const WEIGHTS = { name: 3, description: 2, when: 2, file: 1, body: 1, date: 1 };

const INFERRED_BY = "inferred";

/** About as much as the model reads at once (256 tokens). */
const PART_CHARACTERS = 1000;
/** A long memory is embedded in parts; past this the rest is found by its words. */
const MAX_PARTS = 8;
/** In a longer text the point is one of many things that its vector stands for: without cues, name and description get their own. */
const LONG_CHARACTERS = 500;
const MAX_CUES = 16;
const MAX_LINKS = 32;

/** Makes a vector of length one from a text. */
export type Embed = (text: string) => Float32Array;

/** Without vectors: they are slow to make and come later. */
export function digestMemory(file: string, bytes: Buffer, stamp: Stamp | Stats, nowMs: number): RowEntry {
  const memory = parseMemory(file, bytes);
  const { body: _, metadata: __, ...header } = memory;
  const { mtimeMs, ctimeMs, size, ino } = stamp;
  const details = { header, rule: findEnforced(file, bytes), day: findDay(memory) };
  return {
    file,
    name: memory.name,
    type: memory.type,
    mtimeMs,
    ctimeMs,
    size,
    ino,
    hash: hashBytes(bytes),
    isSettled: nowMs - ctimeMs > TICK_MS,
    saidMs: Math.max(timeOf(memory.modified), timeOf(memory.verified)),
    createdMs: timeOf(memory.created),
    commitMs: 0,
    links: linksOf(memory),
    isInferred: memory.source?.by === INFERRED_BY,
    isPlain: isPlain(header),
    isForHooks: details.rule !== null || details.day !== null,
    details,
    ranking: rankingOf(file, memory),
  };
}

/** It begins without frontmatter. */
export function isPlain({ problems }: Pick<Header, "problems">): boolean {
  return problems.some((problem) => problem.startsWith("no frontmatter"));
}

function rankingOf(file: string, memory: Memory): Ranking {
  const weights = new Map<number, number>();
  const add = (text: string, weight: number) => {
    for (const term of termsOf(text)) {
      const hash = hashOf(term);
      weights.set(hash, (weights.get(hash) ?? 0) + weight);
    }
  };
  add(memory.name, WEIGHTS.name);
  add(memory.description, WEIGHTS.description);
  add(file.replace(/\.md$/, ""), WEIGHTS.file);
  add(memory.body, WEIGHTS.body);
  add(dateInWords(memory.created ?? memory.modified), WEIGHTS.date);
  for (const cue of memory.when.slice(0, MAX_CUES)) add(cue, WEIGHTS.when);
  const terms = Uint32Array.from(weights.keys()).sort();
  return {
    terms,
    weights: Uint16Array.from(terms, (term) => Math.min(65_535, (weights.get(term) ?? 0) * WEIGHT_UNIT)),
    length: [...weights.values()].reduce((sum, weight) => sum + weight, 0),
    vectors: [],
  };
}

/** The texts that the entry's vectors stand for, parts of the whole text and its point first, then the cues. */
export function meaningfulTexts(file: string, bytes: Buffer): { text: string; isCue: boolean }[] {
  const memory = parseMemory(file, bytes);
  const head = [memory.name, memory.description].filter((text) => text !== "").join(". ");
  const whole = `${head}\n${memory.body}`.trim();
  const needsPoint = memory.when.length === 0 && memory.description !== "" && whole.length > LONG_CHARACTERS;
  return [
    ...[...partsOf(whole), ...(needsPoint ? partsOf(head).slice(0, 1) : [])].map((text) => ({ text, isCue: false })),
    ...memory.when.slice(0, MAX_CUES).map((text) => ({ text, isCue: true })),
  ];
}

/** Vectors of all its texts; those of unchanged texts are taken over. */
export function embedTexts(file: string, bytes: Buffer, embed: Embed, known: readonly Vector[] = []): Vector[] {
  return meaningfulTexts(file, bytes).map(({ text, isCue }): Vector => {
    const hash = hashOf(text);
    const same = known.find((vector) => vector.hash === hash && vector.isCue === isCue);
    return same ?? { hash, isCue, ...quantise(embed(text)) };
  });
}

function partsOf(text: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (const line of text.split("\n")) {
    for (let rest = line; rest !== ""; ) {
      const room = PART_CHARACTERS - part.length;
      if (rest.length < room || part === "") {
        part += `${rest.slice(0, PART_CHARACTERS)}\n`;
        rest = rest.slice(PART_CHARACTERS);
      }
      if (rest !== "" || part.length >= PART_CHARACTERS) {
        if (part.trim() !== "") parts.push(part.trim());
        part = "";
        if (parts.length === MAX_PARTS) return parts;
      }
    }
  }
  if (part.trim() !== "") parts.push(part.trim());
  return parts;
}

/** `links`, `[[names]]` and links to files in the text; what it supersedes is marked. */
function linksOf(memory: Memory): string[] {
  const inText = [
    ...[...memory.body.matchAll(/\[\[([^\]\n]{1,200})\]\]/g)].map(([, name]) => name as string),
    ...[...memory.body.matchAll(/\]\(([^)\s]{1,200}\.md)\)/g)].map(([, file]) => file as string),
  ];
  const links = [...memory.links, ...inText].map(cleanLink);
  const superseded = memory.supersedes.map((name) => `>${cleanLink(name)}`);
  return [...new Set([...superseded, ...links])].filter((link) => link !== "" && link !== ">").slice(0, MAX_LINKS);
}

function cleanLink(link: string): string {
  return link
    .replace(/\s+/g, " ")
    .trim()
    .replace(/^\[\[(.*)\]\]$/, "$1")
    .replace(/^[>]+/, "");
}

/** As people write it: "what did we decide in March?" */
function dateInWords(iso: string | null): string {
  if (iso === null) return "";
  const date = new Date(iso);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

const MONTHS = "January February March April May June July August September October November December".split(" ");

function timeOf(iso: string | null): number {
  return iso === null ? 0 : Date.parse(iso);
}
