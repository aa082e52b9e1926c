/** Ranks prompts on stores that exist in memory only, with the product's own code: what training and measuring need to see of it. */

import { findEmbed } from "../src/meaning/meaning.ts";
import { featuresOf } from "../src/recall/confidence.ts";
import { rank } from "../src/recall/rank.ts";
import { addEntry, openResident } from "../src/recall/resident.ts";
import { queryTerms } from "../src/recall/score.ts";
import { digestMemory, embedTexts } from "../src/store/digest.ts";
import { foreignShare } from "../src/text/terms.ts";

export interface Written {
  file: string;
  type: string;
  name: string;
  description: string;
  body: string;
  modified?: string;
  cues: readonly string[];
  /** The file as it is, in place of all this. */
  text?: string;
}

export interface Candidate {
  file: string;
  score: number;
  confidence: number;
  features: number[];
}

const kept = new Map<string, Float32Array>();

/** Each text once. */
export function embed(text: string): Float32Array {
  const known = kept.get(text) ?? findModel()(text);
  kept.set(text, known);
  return known;
}

function findModel() {
  const find = findEmbed();
  if (!find) throw new Error("the sentence model is not installed");
  return find;
}

export function openWritten(memories: readonly Written[], nowMs: number) {
  const directory = {
    ...{ path: "/nowhere", scope: "project", inRepository: false, readOnly: true, recursive: false, by: "training" },
    ...{ limits: { maxLines: 200, maxChars: 25_000 }, ageDays: { recent: 2, stale: 8, old: 31 } },
    ...{ now: () => new Date(nowMs), log: () => {} },
  };
  const resident = openResident([directory]);
  memories.forEach((memory, i) => {
    const bytes = Buffer.from(memory.text ?? textOf(memory));
    const timeMs = Date.parse(memory.modified ?? "2026-10-01") + i * 90_000;
    const entry = digestMemory(
      memory.file,
      bytes,
      { mtimeMs: timeMs, ctimeMs: timeMs, size: bytes.length, ino: i + 1 },
      nowMs,
    );
    addEntry(resident, 0, { ...entry, ranking: { ...entry.ranking, vectors: embedTexts(memory.file, bytes, embed) } });
  });
  return (prompt: string, { limit = 25, byWords = false } = {}): { hasMeaning: boolean; candidates: Candidate[] } => {
    const vector = byWords ? null : findModel()(prompt, true);
    const query = { terms: queryTerms(prompt), meaning: vector && { vector }, foreign: foreignShare(prompt) };
    const { order, method } = rank(resident, query, { nowMs, limit });
    const candidates = order.map(({ entry: { file }, score, confidence, evidence }) => {
      const { signs } = evidence();
      return { file, score, confidence, features: signs ? featuresOf(signs) : [] };
    });
    return { hasMeaning: method === "hybrid", candidates };
  };
}

function textOf({ type, name, description, body, modified, cues }: Written): string {
  const when = cues.length > 0 ? ["when:", ...cues.map((cue) => `  - ${JSON.stringify(cue)}`)] : [];
  const head = [
    `name: ${JSON.stringify(name)}`,
    `description: ${JSON.stringify(description)}`,
    `type: ${type}`,
    ...when,
  ];
  return `---\n${[...head, ...(modified ? [`modified: ${modified}`] : [])].join("\n")}\n---\n\n${body}\n`;
}
