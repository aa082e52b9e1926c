/** A memory file digested for recall: its terms by field, what it links to, and the texts whose meaning counts. */

import { type Memory, parseMemory } from "../store/store.ts";
import { hashOf } from "../text/fnv.ts";
import { type Entry, quantise, type Stamp, type Vector, WEIGHT_UNIT } from "./entry.ts";
import { termsOf } from "../text/terms.ts";

/** A word in the name tells more than one somewhere in the body, and a cue was written for just this. */
const WEIGHTS = { name: 3, description: 2, when: 2, file: 1, body: 1, date: 1 };

const INFERRED_BY = "inferred";

/** About as much as the model reads at once (256 tokens). */
const PART_CHARACTERS = 1000;
/** A long memory is embedded in parts; past this the rest is found by its words. */
const MAX_PARTS = 8;
const MAX_CUES = 16;
const MAX_LINKS = 32;

/** Makes a vector of length one from a text. */
export type Embed = (text: string) => Float32Array;

/** Without vectors: they are slow to make and come later. `commitMs` dates a file whose own times mean nothing. */
export function digestMemory(file: string, bytes: Buffer, stamp: Stamp, commitMs = 0): Entry {
  const memory = parseMemory(file, bytes);
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
  const { mtimeMs, ctimeMs, size, ino } = stamp;
  return {
    file,
    mtimeMs,
    ctimeMs,
    size,
    ino,
    hash: hashOf(bytes.toString("latin1")),
    type: memory.type,
    saidMs: Math.max(timeOf(memory.modified), timeOf(memory.verified)) || commitMs,
    links: linksOf(memory),
    name: memory.name,
    isInferred: memory.source?.by === INFERRED_BY,
    terms,
    weights: Uint16Array.from(terms, (term) => Math.min(65_535, (weights.get(term) ?? 0) * WEIGHT_UNIT)),
    length: [...weights.values()].reduce((sum, weight) => sum + weight, 0),
    vectors: [],
  };
}

/** The texts that the entry's vectors stand for, parts of the whole text first, then the cues. */
function meaningfulTexts(file: string, bytes: Buffer): { text: string; isCue: boolean }[] {
  const memory = parseMemory(file, bytes);
  const head = [memory.name, memory.description].filter((text) => text !== "").join(". ");
  const parts = partsOf(`${head}\n${memory.body}`.trim());
  return [
    ...parts.map((text) => ({ text, isCue: false })),
    ...memory.when.slice(0, MAX_CUES).map((text) => ({ text, isCue: true })),
  ];
}

/** Makes the vectors that are missing; those of unchanged texts are taken over. */
export function embedEntry(entry: Entry, bytes: Buffer, embed: Embed, known: readonly Vector[] = []): Entry {
  const vectors = meaningfulTexts(entry.file, bytes).map(({ text, isCue }): Vector => {
    const hash = hashOf(text);
    const same = known.find((vector) => vector.hash === hash && vector.isCue === isCue);
    return same ?? { hash, isCue, ...quantise(embed(text)) };
  });
  return { ...entry, vectors };
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

const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];

function timeOf(iso: string | null): number {
  return iso === null ? 0 : Date.parse(iso);
}
