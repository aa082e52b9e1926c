/** What is counted in one memory or one index: pure functions on text, used by scripts/field-report.mjs. */

/** Sorted once; `at` is a share between 0 and 1. The nearest rank, so every figure is one that occurs. */
export function quantiles(numbers, shares = [0.5, 0.9, 0.99, 1]) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return shares.map((at) => sorted[Math.max(0, Math.ceil(at * sorted.length) - 1)] ?? null);
}

/** Without frontmatter. */
export function bodyOf(text) {
  return text.replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/, "");
}

/** What people wrote: no code, no links' targets, no paths. */
export function proseOf(text) {
  return withoutCode(bodyOf(text))
    .replace(/https?:\/\/\S+/g, " ")
    .replace(/\]\([^)]*\)/g, "] ")
    .replace(/\S*[/\\_]\S*/g, " ");
}

function withoutCode(text) {
  return text.replace(/^[ \t]*(```|~~~)[\s\S]*?^[ \t]*\1[^\n]*$/gm, " ").replace(/`[^`\n]*`/g, " ");
}

const SCRIPTS = [
  ["Korean", /\p{Script=Hangul}/gu],
  ["Japanese", /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ["Chinese", /\p{Script=Han}/gu],
  ["Cyrillic", /\p{Script=Cyrillic}/gu],
  ["Arabic", /\p{Script=Arabic}/gu],
  ["Hebrew", /\p{Script=Hebrew}/gu],
  ["Thai", /\p{Script=Thai}/gu],
  ["Greek", /\p{Script=Greek}/gu],
  ["Devanagari", /\p{Script=Devanagari}/gu],
];
/** Technical prose in another script is full of English names, so a fifth of the letters is enough. */
const SCRIPT_SHARE = 0.2;

/** Frequent words that the other languages of the list do not share. */
const STOP_WORDS = {
  English: "the and is are was of with for this that not from when must which be has it by should before",
  Spanish: "el los las una del por con para está cuando también sin pero más esta este usar se al",
  Portuguese: "não uma dos das em com são também quando pelo pela já ao é foi mais isso sem você os",
  French: "les des une est dans pour avec pas sur être mais aussi quand sont cette par ou et du au",
  German: "der die das und ist nicht ein eine mit für auf von wird werden auch nur bei wenn zu den",
  Italian: "il gli della che per con non una sono quando anche più alla nel dei delle questo è usare di",
  Czech: "je není pro při také jako nebo pokud ale které když podle jen už musí být se aby po",
  Polish: "nie jest się oraz dla przez przy jak tylko gdy jest są być lub które tego po ze od do",
  Turkish: "ve bir için ile bu değil olarak daha sonra çok gibi olan her ama var yok veya kadar ise de",
  Dutch: "het een niet voor met zijn wordt ook maar bij naar deze als aan door moet geen worden uit nog",
  Indonesian: "yang dan untuk dengan tidak dari ini pada adalah akan harus bisa jangan saat atau di ke sudah itu juga",
  Hungarian: "és nem hogy egy van csak kell már vagy ha mert mint ezt azt volt lesz ez meg is nincs",
  Vietnamese: "không và của cho là được các khi để này đã với có phải trong một những từ thì nên",
  Swedish: "och är inte för att med som den det ett på av till från ska måste även eller om när",
};
const WORDS = Object.entries(STOP_WORDS).map(([language, words]) => [language, new Set(words.split(" "))]);
/** Fewer of them say nothing, nor does a small share: a language that is not in the list has chance hits. */
const MIN_STOP_WORDS = 3;
const MIN_STOP_SHARE = 0.04;

/** By script first, then by the language with the most stop words; "undetermined" for short or mixed texts. */
export function languageOf(text) {
  const prose = proseOf(text);
  const letters = prose.match(/\p{L}/gu)?.length ?? 0;
  const counts = SCRIPTS.map(([language, pattern]) => [language, prose.match(pattern)?.length ?? 0]);
  const kana = counts.find(([language]) => language === "Japanese")[1];
  const [script, count] = counts.reduce((best, each) => (each[1] > best[1] ? each : best));
  if (letters > 0 && count / letters >= SCRIPT_SHARE) {
    // Japanese is written with Han characters too, Chinese without kana.
    if (script === "Chinese" && kana > count / 10) return "Japanese";
    return script;
  }
  const words = prose.toLowerCase().match(/\p{L}+/gu) ?? [];
  const hits = WORDS.map(([language, stops]) => [language, words.filter((word) => stops.has(word)).length]);
  const [first, second] = hits.sort((a, b) => b[1] - a[1]);
  const isClear = first[1] >= MIN_STOP_WORDS && first[1] >= words.length * MIN_STOP_SHARE && first[1] > second[1];
  return isClear ? first[0] : "undetermined";
}

const LEAD = String.raw`^[ \t]*(?:[-*+>][ \t]+)?(?:#{1,6}[ \t]*|\*\*|__)`;
const WHY = new RegExp(
  `${LEAD}(?:why|reason|rationale|por qu[eéê]|porqu[eê]|motivo|pourquoi|raison|warum|grund|perch[eé]|proč|důvod|dlaczego|neden|почему|зачем|причина|чому|왜|이유|为什么|为何|原因|理由|なぜ|背景)`,
  "imu",
);
const HOW = new RegExp(
  `${LEAD}(?:how to (?:apply|use)|when to apply|cómo aplicar|como aplicar|comment appliquer|wie (?:man )?(?:es )?an(?:zu)?wenden|anwendung|come applicare|jak (?:to )?(?:aplikovat|použ)|jak stosować|nasıl uygula|как примен|як застос|적용|如何应用|如何使用|怎么用|应用方式|应用|使用方法|適用|適用方法|使い方)`,
  "imu",
);

export function hasWhy(text) {
  return WHY.test(bodyOf(text));
}

export function hasHow(text) {
  return HOW.test(bodyOf(text));
}

/** `[[wiki]]` targets and relative Markdown targets, without those in code. */
export function linksOf(text) {
  const body = withoutCode(bodyOf(text));
  const wiki = [...body.matchAll(/\[\[([^\]\n|#]+)(?:[|#][^\]\n]*)?\]\]/g)].map(([, target]) => target.trim());
  const all = [...body.matchAll(/\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?[^)\n]*\)/g)].map(([, target]) => target);
  const markdown = all.filter((target) => !/^(?:[a-z][a-z0-9+.-]*:|#|\/\/)/i.test(target));
  return { wiki, markdown: markdown.map((target) => target.replace(/[#?].*$/, "")).filter(Boolean) };
}

/** Links are matched as people write them: case, `-`, `_`, blanks and the extension do not count. */
export function linkKey(name) {
  return name
    .replace(/^.*\//, "")
    .replace(/\.md$/i, "")
    .toLowerCase()
    .replace(/[\s_-]+/g, "-");
}

const DAY = String.raw`(?:20\d\d[-_./]?(?:0[1-9]|1[0-2])[-_./]?(?:0[1-9]|[12]\d|3[01]))`;
const DATED_NAME = new RegExp(String.raw`(?:^|[^\d])${DAY}(?:[^\d]|$)`);
/** `session` or `log` alone is often the subject: how to handle sessions, where a log is. */
const LOG_NAME =
  /(?:^|[-_./ ])(?:handoffs?|handover|changelog|worklog|devlog|journal|diary|recap|standup|progress|(?:sessions?|daily|weekly|sprint|work|dev|decision|progress)[-_ ]?(?:logs?|notes?|summar(?:y|ies)|reports?|recap|status|history|records?|\d+))(?:[-_./ \d]|$)/i;
const DATED_ENTRY = new RegExp(String.raw`^[ \t]*(?:#{1,6}|[-*+])[ \t]+(?:\*\*)?[[(]?(?:[^\d\n]{0,12} )?${DAY}`, "gm");
/** One or two dates date a fact; three entries are a record of what was done. */
const MIN_ENTRIES = 3;

/** Why a memory is a work log: a day in its name, a word such as `session`, dated entries; null if it is none. */
export function logKindOf(file, text) {
  if (DATED_NAME.test(file)) return "day in the name";
  if (LOG_NAME.test(file.replace(/\.md$/i, ""))) return "word in the name";
  return (bodyOf(text).match(DATED_ENTRY)?.length ?? 0) >= MIN_ENTRIES ? "dated entries" : null;
}

/** The limits of Claude Code: what is beyond them is not loaded. */
export const INDEX_CAP = { lines: 200, chars: 25_000 };
const LONG_LINE = 200;

/** `files`: the memories below the store; `exists`: whether a path seen from the index is there. */
export function countIndex(text, files, exists) {
  const lines = text.replace(/\n+$/, "").split("\n");
  const { wiki, markdown } = linksOf(text);
  const keys = new Set(files.map(linkKey));
  const plain = text.toLowerCase();
  const dangling = [
    ...markdown.filter((target) => /\.md$/i.test(target) && !exists(decode(target))),
    ...wiki.filter((target) => !keys.has(linkKey(target))),
  ];
  const named = new Set([...wiki, ...markdown].map(linkKey));
  const missing = files.filter((file) => !named.has(linkKey(file)) && !isNamed(plain, stemOf(file)));
  return {
    lines: lines.length,
    chars: text.length,
    longLines: lines.filter((line) => line.length > LONG_LINE).length,
    isOver: lines.length > INDEX_CAP.lines || text.length > INDEX_CAP.chars,
    missing: missing.length,
    dangling: dangling.length,
  };
}

export function decode(target) {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/** A stem of one plain word, such as `testing`, may be just that word: it counts only as a file's name. */
function isNamed(text, stem) {
  const isAlone = (name) =>
    text.split(name).some((before, i, all) => i < all.length - 1 && !/[\p{L}\p{N}_-]$/u.test(before));
  return isAlone(`${stem}.md`) || (/[-_\d]/.test(stem) && isAlone(stem));
}

function stemOf(file) {
  return file.replace(/^.*\//, "").replace(/\.md$/i, "").toLowerCase();
}

/** The words of a text; of scripts without blanks, pairs of characters. */
export function termsOf(text) {
  const words =
    bodyOf(text)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return new Set(
    words.flatMap((word) =>
      /\p{Script=Han}|\p{Script=Hangul}|\p{Script=Hiragana}/u.test(word) ? pairs(word) : [word],
    ),
  );
}

function pairs(word) {
  const letters = [...word];
  return letters.length < 2 ? [word] : letters.slice(1).map((letter, i) => letters[i] + letter);
}

/** Shared words by all words; above it two memories say mostly the same. */
const NEAR = 0.5;
/** Shorter texts are alike by chance. */
const MIN_TERMS = 15;

/** Pairs of the same body, and pairs that share at least half of their words. */
export function countDoubles(texts) {
  const memories = texts.map((text) => ({ body: bodyOf(text).trim(), terms: termsOf(text) }));
  let [exact, near] = [0, 0];
  for (const [i, a] of memories.entries())
    for (const b of memories.slice(i + 1)) {
      if (a.body === b.body && a.body !== "") exact++;
      else if (Math.min(a.terms.size, b.terms.size) >= MIN_TERMS && shareOf(a.terms, b.terms) >= NEAR) near++;
    }
  return { exact, near };
}

function shareOf(a, b) {
  const shared = [...a].filter((term) => b.has(term)).length;
  return shared / (a.size + b.size - shared);
}

/**
 * When each file was added and how often it was changed later, from `git log --reverse --name-status -M --format=%x01%ct`.
 * A renamed file keeps its history.
 */
export function historyOf(log) {
  const files = new Map();
  let time = 0;
  for (const line of log.split("\n")) {
    if (line.startsWith("\x01")) time = Number(line.slice(1));
    const [status = "", from = "", to = ""] = line.split("\t");
    if (/^[AC]/.test(status)) files.set(status[0] === "A" ? from : to, { added: time, edited: time, edits: 0 });
    else if (status === "M" || status === "T") change(files.get(from), time);
    else if (status === "D") files.delete(from);
    else if (status[0] === "R") {
      const known = files.get(from) ?? { added: time, edited: time, edits: 0 };
      files.delete(from);
      files.set(to, known);
      if (status !== "R100") change(known, time);
    }
  }
  return files;
}

function change(file, time) {
  if (!file) return;
  file.edits++;
  file.edited = time;
}
