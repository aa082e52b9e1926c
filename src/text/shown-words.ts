/** The words of a text as a reader sees them, past look-alike letters, split words and encodings that hide them from a search. */

/** A longer result is a dump; planted text is at its beginning, where it is read. */
export const MAX_TEXT_CHARS = 100_000;

/** In a script without spaces, this many characters in a row count as a word. */
const UNSPACED = 6;

export function wordsOf(text: string): string[] {
  const shown = joinSplit(foldLooks(text.slice(0, MAX_TEXT_CHARS))).toLowerCase();
  const words = shown.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.some((word) => CJK.test(word)) ? words.flatMap(cutUnspaced) : words;
}

/** What is written in base64, hexadecimal, percent signs or entities and says something; a model reads that as well. */
export function decodeHidden(text: string): string {
  const shown = text.slice(0, MAX_TEXT_CHARS);
  const found: string[] = [];
  // Encoders wrap their lines.
  const unwrapped = shown.replace(/(?<=[A-Za-z0-9+/]{40})\r?\n(?=[A-Za-z0-9+/=]{4})/g, "");
  for (const [run] of unwrapped.matchAll(/[A-Za-z0-9+/_-]{24,8000}/g)) found.push(readBytes(run, "base64"));
  for (const [run] of shown.matchAll(/(?:[0-9a-f]{2}[ :]?){20,4000}/gi))
    found.push(readBytes(run.replace(/[ :]/g, ""), "hex"));
  for (const [run] of shown.matchAll(/(?:[\w.,!~*'()-]|%[0-9a-f]{2}){20,8000}/gi)) {
    if (run.includes("%20")) found.push(run.replaceAll("%20", " "));
  }
  if (/&#x?[0-9a-f]+;/i.test(shown)) found.push(shown.replace(/&#(x?)([0-9a-f]{1,6});/gi, readEntity));
  const told = found.filter((one) => one !== "");
  return told.slice(0, MAX_HIDDEN).join("\n");
}

/** More of them are data. */
const MAX_HIDDEN = 50;

function readBytes(run: string, encoding: "base64" | "hex"): string {
  const text = Buffer.from(run, encoding).toString("utf8");
  const isText = / /.test(text) && /^[\p{L}\p{N}\p{P}\p{S}\p{Z}\s]*$/u.test(text) && !text.includes("\ufffd");
  return isText ? text : "";
}

function readEntity(entity: string, hex: string, digits: string): string {
  const code = Number.parseInt(digits, hex === "" ? 10 : 16);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ASCII = /^[\x00-\x7f]*$/;

/** Past accents, widths, invisible signs and letters of other scripts that look like ours. */
function foldLooks(text: string): string {
  if (ASCII.test(text)) return text;
  return text
    .toWellFormed()
    .normalize("NFKD")
    .replace(/[\p{M}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/[\u0370-\u03ff\u0400-\u04ff\u0500-\u058f]/g, (letter) => LOOKS.get(letter.toLowerCase()) ?? letter);
}

/** Each: a letter, then those of the Cyrillic, Greek and Armenian scripts that look like it. */
const LOOKS: ReadonlyMap<string, string> = new Map(
  "aаα cсϲ dԁ eеε hһհ iіι jј kкκ mм nոη oоοօ pрρ rг sѕ tтτ uսυ vνѵ wԝω xхχ yуγ"
    .split(" ")
    .flatMap(([look = "", ...letters]) => letters.map((letter): [string, string] => [letter, look])),
);

/** "al-\nways" and "a l w a y s" are read as one word. */
function joinSplit(text: string): string {
  return text
    .replace(/(?<=\p{L})-[ \t]*\r?\n[ \t>|#*/]*(?=\p{Ll})/gu, "")
    .replace(/(?<![\p{L}\p{N}])(?:\p{L}[ ._-]){3,40}\p{L}(?![\p{L}\p{N}])/gu, (run) => run.replace(/[ ._-]/g, ""));
}

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function cutUnspaced(word: string): string[] {
  if (!CJK.test(word) || word.length <= UNSPACED) return [word];
  return Array.from({ length: word.length - UNSPACED + 1 }, (_, i) => word.slice(i, i + UNSPACED));
}
