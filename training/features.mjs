// Writes what ranking finds for prompts on written stores, a line for each prompt, for fit.py: node training/features.mjs SITUATIONS STORES OUT [--sets FILE...]
import fs from "node:fs";
import path from "node:path";
import { loadSource } from "./bundle.mjs";

const [situations, stores, out, ...sets] = process.argv.slice(2).filter((arg) => arg !== "--sets");
const { embed, openWritten } = await loadSource(path.join(import.meta.dirname, "rank.ts"));
const NOW_MS = Date.parse("2026-11-01");
const random = seeded(7);
const output = fs.createWriteStream(out);
let lines = 0;

/** What the sentence model was not tuned on (`is_held_out` of situations.py). Others would look nearer than they are. */
const topics = readTopics(situations).filter((topic) => topic.isUnseen);
const none = readNone(situations);
// The prompt's own need is learnt from all prompts.
for (const topic of readTopics(situations)) {
  const needing = [...topic.prompts, ...topic.overlapping];
  for (const prompt of needing) write({ kind: "head", split: topic.split, needs: 1, vector: vectorOf(prompt) });
  for (const prompt of topic.misleading)
    write({ kind: "head", split: topic.split, needs: 0, vector: vectorOf(prompt) });
}
for (const { prompt, split } of none) write({ kind: "head", split, needs: 0, vector: vectorOf(prompt) });
for (const { prompt, needs } of readOwn(situations))
  write({ kind: "head", split: "seen", needs, vector: vectorOf(prompt), isOwn: true });
console.log(`${topics.length} unseen topics, ${none.length} prompts that need nothing, ${lines} lines for the head`);

/** Many small stores: most are, and there a single word that is shared stands out. */
for (let number = 0; number < 168; number++) {
  const isSmall = number >= 48;
  const size = isSmall ? 1 + (number % 6) : [3, 8, 15, 25, 40, 70, 110, 150][number % 8];
  const withCues = [0, 1, 0.5, 0][Math.floor(number / 8) % 4];
  const some = shuffled(topics).slice(0, Math.ceil(size * 0.8));
  const pairs = new Set(some.map(({ pair }) => pair).filter(Boolean));
  const chosen = [...some, ...topics.filter((topic) => pairs.has(topic.pair) && !some.includes(topic))];
  const memories = chosen.flatMap((topic) =>
    shuffled(topic.memories)
      .slice(0, random() < 0.12 ? 2 : 1)
      .map((memory, i) => ({
        ...memory,
        file: `${topic.id.replace(/\W+/g, "_")}_${i}.md`,
        topic: topic.id,
        type: ["project", "feedback", "reference", "user"][Math.floor(random() ** 1.5 * 4)],
        modified: new Date(NOW_MS - random() * 300 * 86_400_000).toISOString().slice(0, 10),
        cues: random() < withCues ? memory.cues : [],
      })),
  );
  const ask = openWritten(memories, NOW_MS);
  const ids = new Set(chosen.map(({ id }) => id));
  const others = shuffled(topics.filter(({ id }) => !ids.has(id))).slice(0, isSmall ? 4 : Math.ceil(size / 4));
  const asked = [
    ...chosen.flatMap((topic) => [
      ...pick(topic.prompts, 1).map((prompt) => ({ prompt, topic: topic.id })),
      ...pick(topic.overlapping, random() < 0.5 ? 1 : 0).map((prompt) => ({ prompt, topic: topic.id })),
      ...pick(topic.misleading, isSmall ? 2 : random() < 0.35 ? 1 : 0).map((prompt) => ({ prompt, topic: null })),
    ]),
    ...others.flatMap((topic) => pick(topic.prompts, 1).map((prompt) => ({ prompt, topic: null }))),
    ...pick(
      none.filter(({ split }) => split === "unseen"),
      isSmall ? 5 : Math.ceil(size * 0.6),
    ).map(({ prompt }) => ({ prompt, topic: null })),
  ];
  for (const { prompt, topic } of asked) {
    const relevant = memories.filter((memory) => memory.topic === topic).map(({ file }) => file);
    rows(ask, prompt, relevant, { kind: "made", set: `made${number}`, cues: withCues, count: memories.length });
  }
  console.log(`store ${number}: ${memories.length} memories, ${asked.length} prompts`);
}

for (const file of [...list(stores, ".json"), ...sets]) {
  const { memories, queries } = JSON.parse(fs.readFileSync(file, "utf8"));
  const cuesFile = file.replace(/\.json$/, "-cues.json");
  const apart = fs.existsSync(cuesFile) ? JSON.parse(fs.readFileSync(cuesFile, "utf8")) : {};
  const name = path.basename(file, ".json");
  const hasCues = memories.some((memory) => memory.cues?.length > 0) || Object.keys(apart).length > 0;
  for (const cues of hasCues ? [0, 1] : [0]) {
    const all = memories.map((memory) => ({
      ...memory,
      file: memory.filename,
      cues: cues ? (memory.cues ?? apart[memory.filename] ?? []) : [],
    }));
    const ask = openWritten(all, NOW_MS);
    for (const { q, relevant, kind } of queries)
      rows(ask, q, relevant, {
        kind: sets.includes(file) ? "dev" : "store",
        set: name,
        cues,
        count: all.length,
        asked: kind ?? "all",
      });
  }
  console.log(name);
}
output.end();

function rows(ask, prompt, relevant, about) {
  for (const byWords of [false, true]) {
    const { hasMeaning, candidates } = ask(prompt, { byWords });
    if (byWords === hasMeaning) continue;
    write({
      ...{ ...about, hasMeaning, prompt, relevant: relevant.length, ...(hasMeaning && { vector: vectorOf(prompt) }) },
      candidates: candidates.map(({ file, score, features }) => ({
        helps: relevant.includes(file) ? 1 : 0,
        score: round(score),
        features: features.map(round),
      })),
    });
  }
}

function write(value) {
  output.write(`${JSON.stringify(value)}\n`);
  lines++;
}

function vectorOf(text) {
  return [...embed(text)].map((value) => Math.round(value * 1e4) / 1e4);
}

function round(value) {
  return Math.round(value * 1e5) / 1e5;
}

function readTopics(folder) {
  const topics = [];
  for (const file of list(folder, ".txt").filter((name) => !/(none|parallel|own)\d*\.txt$/.test(name))) {
    const stem = path.basename(file, ".txt");
    for (const line of fs.readFileSync(file, "utf8").split("\n")) {
      const [, kind, text] = /^(\S) (.*)$/.exec(line.trim()) ?? [];
      const topic = topics.at(-1);
      if (kind === "#") {
        const id = `${stem}/${text.replace(" *", "")}`;
        const isHeldOut = Buffer.from(id).reduce((sum, byte) => sum + byte, 0) % 12 === 0;
        const isUnseen = isHeldOut || /^(w3|w6|w7)/.test(stem);
        topics.push({
          id,
          // Written against each other: both or none are in a store.
          pair: text.endsWith(" ~1") ? id : text.endsWith(" ~2") ? topics.at(-1)?.id : null,
          isUnseen,
          split: isUnseen ? "unseen" : "seen",
          memories: [],
          prompts: [],
          overlapping: [],
          misleading: [],
        });
      } else if (kind === "M") {
        const [name, description = ""] = text.split("|").map((part) => part.trim());
        topic.memories.push({ name, description, body: "", cues: [] });
      } else if (kind === "B") topic.memories.at(-1).body = text;
      else if (kind === "C")
        topic.memories.at(-1).cues = text
          .split(";")
          .map((cue) => cue.trim())
          .filter(Boolean);
      else if (kind === "P") topic.prompts.push(text);
      else if (kind === "O") topic.overlapping.push(text);
      else if (kind === "X") topic.misleading.push(text);
    }
  }
  return topics.filter(({ memories, prompts }) => memories.length > 0 && prompts.length > 0);
}

function readNone(folder) {
  const files = list(folder, ".txt").filter((name) => /none\d*\.txt$/.test(name));
  return files.flatMap((file) =>
    fs
      .readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
      .map((prompt, i) => ({ prompt, split: i % 4 === 0 ? "unseen" : "seen" })),
  );
}

/** Prompts about the developer's own services: `N` those that call for a memory, `0` those that none would help. */
function readOwn(folder) {
  return list(folder, ".txt")
    .filter((name) => /own\d*\.txt$/.test(name))
    .flatMap((file) => fs.readFileSync(file, "utf8").split("\n"))
    .filter(Boolean)
    .map((line) => ({ needs: line.startsWith("N ") ? 1 : 0, prompt: line.slice(2) }));
}

function list(folder, ending) {
  return fs.existsSync(folder)
    ? fs
        .readdirSync(folder)
        .filter((name) => name.endsWith(ending))
        .sort()
        .map((name) => path.join(folder, name))
    : [];
}

function pick(all, count) {
  return shuffled(all).slice(0, count);
}

function shuffled(all) {
  const copy = [...all];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
