// Makes samples of what was read: messages as people write them, and what the classifier sees of each sentence.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { CLASSES, readOwn, readSet, readTalk } from "./data.mjs";

const root = path.join(import.meta.dirname, "../..");
/** Answers that go before any message: whether there was one must say nothing about what follows. */
const ANSWERS = {
  en: [
    "Done.",
    "I changed the list to a table and added a test.",
    "The tests pass.",
    "Noted.",
    "I looked at the three files and found nothing unusual.",
    "Which one do you mean?",
    "Fixed, the build is green again.",
  ],
  de: ["Erledigt.", "Ich habe die Funktion umbenannt.", "Die Tests laufen durch.", "Welche Datei meinst du?"],
  es: ["Hecho.", "Cambié la función y agregué un test.", "Los tests pasan.", "¿Cuál de los dos?"],
  fr: ["C'est fait.", "J'ai renommé la fonction.", "Les tests passent.", "Lequel des deux ?"],
  zh: ["完成了。", "我改了这个函数并加了测试。", "测试通过了。", "你指哪一个？"],
  ja: ["完了しました。", "関数の名前を変えました。", "テストは通りました。", "どちらですか？"],
  ko: ["완료했습니다.", "함수 이름을 바꿨습니다.", "테스트가 통과했습니다.", "어느 것인가요?"],
};

export function makeRandom(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Vectors are kept in a file of the system's temporary folder: another tuning of the model has another one. */
export function openCache(embed) {
  const key = createHash("sha256")
    .update(readFileSync(path.join(root, "assets/minilm-tuning.bin")))
    .update(readFileSync(path.join(root, "assets/glossary.txt")))
    .digest("hex");
  const file = path.join(tmpdir(), `memdir-vectors-${key.slice(0, 12)}.json`);
  const known = new Map(existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : []);
  let added = 0;
  const fresh = new Map();
  return {
    embed(text) {
      if (fresh.has(text)) return fresh.get(text);
      let vector = known.get(text);
      if (!vector) {
        vector = Buffer.from(embed(text).buffer.slice(0)).toString("base64");
        known.set(text, vector);
        added++;
      }
      const read = new Float32Array(new Uint8Array(Buffer.from(vector, "base64")).buffer);
      fresh.set(text, read);
      return read;
    },
    save() {
      if (added === 0) return;
      // Aside, then renamed: another training may be reading it.
      writeFileSync(`${file}.${process.pid}`, JSON.stringify([...known]));
      renameSync(`${file}.${process.pid}`, file);
    },
  };
}

const end = (text, language) => (/[.!?。！？:：]$/.test(text) ? text : text + (/zh|ja/.test(language) ? "。" : "."));

/** One message out of parts, with each sentence's label. */
function compose(parts, language, split, random) {
  const isNeat = random() < 0.4;
  const styled = parts.map(({ text, label }, i) => {
    const written = isNeat ? text[0].toUpperCase() + text.slice(1) : text;
    return { label, text: i < parts.length - 1 || isNeat ? end(written, language) : written };
  });
  const joined = styled.map(({ text }) => text).join(" ");
  let from = 0;
  const bounds = styled.map(({ text, label }) => {
    from += text.length + 1;
    return { label, end: from };
  });
  const sentences = split(joined);
  let at = 0;
  const labels = sentences.map(({ text }) => {
    at = Math.max(at, joined.indexOf(text, at));
    return bounds.find(({ end }) => at < end)?.label ?? "~";
  });
  return { sentences, labels };
}

/** Every sentence as it is, and once more in a message with others of its language. */
export function* talks(own, split) {
  const skipped = own.filter(({ parts }) => parts.every(({ label }) => label === "skip"));
  for (const { id, language, answer, parts } of own) {
    // Its own for each, so that vectors that were made once are found again when sentences are added.
    const random = makeRandom(createHash("sha256").update(JSON.stringify(parts)).digest().readUInt32LE());
    const pick = (list) => list[Math.floor(random() * list.length)];
    const said = answer || (random() < 0.5 ? pick(ANSWERS[language]) : "");
    yield { id, group: id, language, source: "written", answer: said, ...compose(parts, language, split, random) };
    const isKept = parts.some(({ label }) => label !== "skip");
    if (!isKept && random() < 0.6) continue;
    // Only its own fold may see it twice: what it is combined with is not learnt from.
    const others = () =>
      pick(skipped.filter((other) => other.language === language)).parts.map(({ text }) => ({ text, label: "~" }));
    const mixed = random() < 0.5 ? [...others(), ...parts] : [...parts, ...others()];
    yield {
      id: `${id}+`,
      group: id,
      language,
      source: "written",
      answer: said,
      ...compose(mixed, language, split, random),
    };
  }
}

/** Real messages count: single sentences that were written for this have other base rates. Few sentences take something back. */
const WEIGHTS = { written: 2.5, talk: 2.5, old: 6, conversations: 10 };
const WITHDRAWAL = 6;

/** @returns {{ group: string, language: string, source: string, text: string, label: number, accepted: number[], weight: number, dense: Float32Array, buckets: number[] }[]} */
export function makeSamples(kit, sets, cache) {
  const all = [
    ...[...talks(readOwn(), kit.splitSpeech)].map((talk) => ({ ...talk, weight: WEIGHTS.written })),
    ...sets.flatMap((file) => {
      const weight = /conversations|eleventh|twelfth/.test(file) ? WEIGHTS.conversations : WEIGHTS.old;
      return readSet(file, kit.splitSpeech).map((message) => ({ ...message, weight }));
    }),
    ...readTalk(path.join(root, "test/learn/data/everyday-talk.txt"), kit.splitSpeech).map((talk) => ({
      ...talk,
      weight: WEIGHTS.talk,
    })),
  ];
  const samples = all.flatMap(({ group, language, source, answer, sentences, labels, accepted, weight }) =>
    sentences.flatMap(({ text }, at) => {
      const label = CLASSES.indexOf(labels[at]);
      if (label === -1) return [];
      const classes = (accepted?.[at] ?? []).map((name) => CLASSES.indexOf(name));
      return [
        {
          ...{ group, language, source, text, label },
          accepted: classes.length > 0 ? classes : [label],
          weight: weight * (labels[at] === "withdrawal" ? WITHDRAWAL : 1),
          dense: kit.featuresOf({ sentences, at, answer }, cache.embed),
          buckets: kit.bucketsOf(sentences[at].plain),
        },
      ];
    }),
  );
  cache.save();
  const mean = samples.reduce((sum, { weight }) => sum + weight, 0) / samples.length;
  return samples.map((sample) => ({ ...sample, weight: sample.weight / mean }));
}
