// Reads what the classifier learns from: our own sentences (data/*.txt) and labelled conversations (test/learn/data).
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const here = import.meta.dirname;
export const CLASSES = [
  "skip",
  "correction",
  "confirmation",
  "preference",
  "decision",
  "pointer",
  "person",
  "withdrawal",
];
const CODES = {
  "-": "skip",
  fc: "correction",
  fk: "confirmation",
  fp: "preference",
  pd: "decision",
  rw: "pointer",
  up: "person",
  wd: "withdrawal",
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

/** Said of one case only. */
const ONE_OFF = new Set(["one-off-correction", "negation"]);
/** Who is responsible for something is about the project, whatever it is called. */
const CLASSES_OF = {
  user: ["person"],
  project: ["decision"],
  reference: ["pointer"],
  feedback: ["correction", "confirmation", "preference"],
};
const classOf = (kind, type) =>
  type !== "feedback" ? CLASSES_OF[type][0] : CLASSES_OF.feedback.includes(kind) ? kind : "preference";
/** What rules refuse or keep, whatever the classifier says: it would learn the wrong thing from them. */
const BY_RULES =
  /^(?:explicit|list|in-claude-md|injection|no-remember|retracted|secret|remember-other|reference-secret)/;

/** Messages of labelled conversations in either form (FORMAT.md), sentence by sentence; what is not clear is left out. */
export function readSet(file, split) {
  const source = path.basename(file, ".json").replace("extraction-", "");
  const { cases, conversations } = JSON.parse(readFileSync(file, "utf8"));
  const found = [];
  for (const { id, kind, language = "en", messages, expect, keep, takesBack = [] } of cases ?? conversations) {
    const wanted = (expect ?? keep).map((label) => ({
      ...{ kind: label.kind ?? kind, message: label.message ?? null },
      types: [label.type, ...(label.types ?? label.altTypes ?? [])],
      words: (label.mustMention ?? label.words).map((one) => [one].flat()),
    }));
    if (BY_RULES.test(kind ?? "")) continue;
    let answer = "";
    for (const [i, { role, text }] of messages.entries()) {
      if (role === "assistant") answer = text;
      if (role !== "user") continue;
      const sentences = split(text);
      const says = (part, words) => words.some((one) => part.toLowerCase().includes(one.toLowerCase()));
      const fitting = wanted.filter(({ message, words }) =>
        message === null ? words.every((one) => says(text, one)) : message === i,
      );
      const count = (sentence, { words }) => words.filter((one) => says(sentence.text, one)).length;
      const judged = sentences.map((sentence) => {
        if (takesBack.includes(i)) return { label: sentences.length === 1 ? "withdrawal" : CONTEXT };
        if (fitting.length === 0) return { label: "skip" };
        // Of the labels that it says more of than any other sentence, the one that it says most of.
        const [said] = fitting
          .map((label) => ({ label, part: count(sentence, label) / label.words.length }))
          .filter(({ label }) => {
            const most = Math.max(...sentences.map((other) => count(other, label)));
            return most > 0 && count(sentence, label) === most;
          })
          .sort((a, b) => b.part - a.part);
        if (!said) return { label: CONTEXT };
        const { kind, types } = said.label;
        if (ONE_OFF.has(kind)) return { label: "skip" };
        return { label: classOf(kind, types[0]), accepted: types.flatMap((type) => CLASSES_OF[type]) };
      });
      const labels = judged.map(({ label }) => label);
      const accepted = judged.map(({ accepted }) => accepted ?? []);
      const group = `${source}:${id}`;
      found.push({ id: `${group}:${i}`, group, language, source, answer, sentences, labels, accepted });
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
