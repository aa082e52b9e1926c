// Reads what the classifier learns from: our own sentences (data/*.txt) and labelled conversations (test/learn/data).
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const here = import.meta.dirname;
export const CLASSES = ["skip", "correction", "confirmation", "preference", "decision", "pointer", "person"];
const CODES = {
  "-": "skip",
  fc: "correction",
  fk: "confirmation",
  fp: "preference",
  pd: "decision",
  rw: "pointer",
  up: "person",
};
/** "~": kept with its neighbour, so neither. */
const CONTEXT = "~";

/** @returns {{ id: string, language: string, source: string, answer: string, parts: { label: string, text: string }[] }[]} */
export function readOwn() {
  const folder = path.join(here, "data");
  return readdirSync(folder)
    .filter((file) => file.endsWith(".txt"))
    .sort()
    .flatMap((file) => {
      const language = file.slice(0, 2);
      const lines = readFileSync(path.join(folder, file), "utf8")
        .split("\n")
        .filter((line) => line.trim() !== "");
      return lines.map((line, i) => {
        const [first, second] = line.split(" >> ");
        const said = file.includes("-skip") ? `- ${second ?? first}` : (second ?? first);
        const parts = said.split(/ \/(?=(?:-|~|[a-z]{2}) )/).map((part) => {
          const [, code, text] = /^(-|~|[a-z]{2}) (.+)$/s.exec(part.trim()) ?? [];
          if (!text || (code !== CONTEXT && !CODES[code])) throw new Error(`${file}:${i + 1}: ${line}`);
          return { label: code === CONTEXT ? CONTEXT : CODES[code], text };
        });
        return { id: `${file}:${i + 1}`, language, source: "own", answer: second === undefined ? "" : first, parts };
      });
    });
}

const KINDS = {
  correction: "correction",
  "one-off-correction": "skip",
  "correction-and-date": null,
  "correction-multi": "correction",
  confirmation: "confirmation",
  decision: "decision",
  "decision-date": "decision",
  incident: "decision",
  reference: "pointer",
  "reference-update": "pointer",
  "reference-secret": null,
  role: "person",
  preference: "preference",
  negation: "skip",
};
/** What rules refuse or keep, whatever the classifier says: it would learn the wrong thing from them. */
const BY_RULES = /^(?:explicit|in-claude-md|injection|no-remember|retracted|secret|remember-other|reference-secret)/;

/** Messages of labelled conversations, sentence by sentence; what is not clear is left out. */
export function readSet(file, split) {
  const source = path.basename(file, ".json").replace("extraction-", "");
  const found = [];
  for (const { id, kind, messages, expect } of JSON.parse(readFileSync(file, "utf8")).cases) {
    if (BY_RULES.test(kind)) continue;
    let answer = "";
    for (const [i, { role, text }] of messages.entries()) {
      if (role === "assistant") answer = text;
      if (role !== "user") continue;
      const sentences = split(text);
      const fitting = expect.filter(({ mustMention }) => mustMention.every((words) => text.includes(words)));
      const count = (sentence) =>
        Math.max(
          0,
          ...fitting.map(({ mustMention }) => mustMention.filter((words) => sentence.text.includes(words)).length),
        );
      const most = Math.max(0, ...sentences.map(count));
      const labels = sentences.map((sentence) => {
        if (fitting.length === 0) return "skip";
        if (most === 0 || count(sentence) < most) return CONTEXT;
        const label = KINDS[kind];
        return label === "preference" && fitting[0].type === "user" ? "person" : (label ?? CONTEXT);
      });
      found.push({
        id: `${source}:${id}:${i}`,
        group: `${source}:${id}`,
        language: "en",
        source,
        answer,
        sentences,
        labels,
      });
    }
  }
  return found;
}

/** Lines with nothing to keep; every second one is left for measuring. */
export function readTalk(file, split) {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines
    .filter((_, i) => i % 2 === 0)
    .map((text, i) => {
      const sentences = split(text);
      return {
        id: `talk:${i}`,
        group: `talk:${i}`,
        language: "en",
        source: "talk",
        answer: i % 2 ? "" : "I changed the list to a table and added a test.",
        sentences,
        labels: sentences.map(() => "skip"),
      };
    });
}
