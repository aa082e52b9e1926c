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
        return {
          id: `${file}:${i + 1}`,
          language,
          source: "written",
          answer: second === undefined ? "" : first,
          parts,
        };
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
  deadline: "decision",
  person: "person",
  pointer: "pointer",
  reference: "pointer",
  "reference-update": "pointer",
  "reference-secret": null,
  role: "person",
  preference: "preference",
  negation: "skip",
};
/** What rules refuse or keep, whatever the classifier says: it would learn the wrong thing from them. */
const BY_RULES =
  /^(?:explicit|list|in-claude-md|injection|no-remember|retracted|secret|remember-other|reference-secret)/;

/** Messages of labelled conversations in either form (FORMAT.md), sentence by sentence; what is not clear is left out. */
export function readSet(file, split) {
  const source = path.basename(file, ".json").replace("extraction-", "");
  const { cases, conversations } = JSON.parse(readFileSync(file, "utf8"));
  const found = [];
  for (const { id, kind, language = "en", messages, expect, keep } of cases ?? conversations) {
    const wanted = (expect ?? keep).map((label) => ({
      ...{ type: label.type, kind: label.kind ?? kind, message: label.message ?? null },
      words: (label.mustMention ?? label.words).map((one) => [one].flat()),
    }));
    if ([kind, ...wanted.map((label) => label.kind)].some((one) => BY_RULES.test(one ?? ""))) continue;
    let answer = "";
    for (const [i, { role, text }] of messages.entries()) {
      if (role === "assistant") answer = text;
      if (role !== "user") continue;
      const sentences = split(text);
      const says = (part, words) => words.some((one) => part.toLowerCase().includes(one.toLowerCase()));
      const fitting = wanted.filter(({ message, words }) =>
        message === null ? words.every((one) => says(text, one)) : message === i,
      );
      const count = (sentence) =>
        Math.max(0, ...fitting.map(({ words }) => words.filter((one) => says(sentence.text, one)).length));
      const most = Math.max(0, ...sentences.map(count));
      const labels = sentences.map((sentence) => {
        if (fitting.length === 0) return "skip";
        if (most === 0 || count(sentence) < most) return CONTEXT;
        const label = KINDS[fitting[0].kind];
        return label === "preference" && fitting[0].type === "user" ? "person" : (label ?? CONTEXT);
      });
      const group = `${source}:${id}`;
      found.push({ id: `${group}:${i}`, group, language, source, answer, sentences, labels });
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
