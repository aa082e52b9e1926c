/** The word pieces of an uncased BERT model: a text in, its tokens out. Words of other languages become mixtures of pieces. */
import { lazily, MemdirError } from "../errors.ts";
import type { Glossary } from "./glossary.ts";
import { VOCABULARY_BYTES } from "./kernel-bytes.ts";
import { openWasm } from "./wasm.ts";

/** Words longer than this are unknown, as in the model's own tokenizer. */
const MAX_WORD_LETTERS = 100;

/** A letter takes up to 4 bytes of UTF-8. */
const WORD_BYTES = 4 * MAX_WORD_LETTERS;
const TABLE_BYTES = 65536 * 8;
const PIECES_BYTES = WORD_BYTES * 4;
const KEY = '"vocab":';

/** The number of a piece, or several of them mixed. */
export type Token = number | readonly { piece: number; share: number }[];

/** Of a dense script; no string of the glossary is longer. */
const MAX_DENSE_LETTERS = 5;
/** An inflected word is looked up without its ending, too. */
const MIN_STEM_LETTERS = 5;
const MAX_ENDING_LETTERS = 2;
/** Greek, Cyrillic and what follows: no English text has words that begin with these letters. */
const BEYOND_LATIN = 0x370;

/** The language shows within the first words; in fewer than these, names and identifiers may be all there is. */
const [MAX_JUDGED_WORDS, MIN_JUDGED_WORDS] = [100, 5];
/** A shorter word of another language looks like an English one by chance. */
const MIN_LOAN_LETTERS = 5;
/** More than this share of the words must be known: names and identifiers are among those of English texts, and the glossary has gaps. */
const KNOWN = { english: 1 / 3, foreign: 1 / 4 } as const;

/**
 * @param json the bytes of a Hugging Face `tokenizer.json`; only its vocabulary is read.
 * @throws MemdirError when there is none
 */
export function openWordPieces(json: Buffer, glossary: Glossary | null = null) {
  const split = openVocabulary(json);
  const [cls, sep, unknown] = ["[CLS]", "[SEP]", "[UNK]"].map((name) => {
    const pieces = split(name);
    if (pieces.length !== 1) throw broken(`${name} is missing`);
    return pieces[0] as number;
  }) as [number, number, number];

  const base = (word: string): number[] => {
    const pieces = split(word);
    return pieces.length === 0 ? [unknown] : [...pieces];
  };
  const gloss = (word: string): Token[] | null => {
    const found = glossary?.find(word);
    if (!found) return null;
    const mixed = found.flatMap(({ word, share }) => {
      const pieces = base(word);
      return pieces.map((piece) => ({ piece, share: share / pieces.length }));
    });
    return mixed.length === 0 ? [] : [mixed];
  };
  const dense = (run: string): Token[] => {
    const tokens: Token[] = [];
    for (let at = 0, end = 0; at < run.length; at = end) {
      let found: Token[] | null = null;
      for (end = Math.min(run.length, at + MAX_DENSE_LETTERS); end > at && !found; end--)
        found = gloss(run.slice(at, end));
      end = Math.max(end + (found ? 1 : 0), at + 1);
      tokens.push(...(found ?? base((run[at] as string).normalize("NFD"))));
    }
    return tokens;
  };
  const glossStem = (word: string): Token[] | null => {
    for (let cut = 1; cut <= MAX_ENDING_LETTERS && word.length - cut >= MIN_STEM_LETTERS; cut++) {
      const stem = gloss(word.slice(0, -cut));
      if (stem) return stem;
    }
    return null;
  };
  const isPiece = (word: string): boolean => {
    const pieces = base(word);
    return pieces.length === 1 && pieces[0] !== unknown;
  };
  const foreign = (word: string): Token[] =>
    gloss(word) ?? (isPiece(word) ? base(word) : (glossStem(word) ?? base(word)));
  const readsAsEnglish = (text: string, words: readonly (string | null)[]): boolean =>
    glossary?.isEnglish(
      text,
      words.filter((word) => word !== null),
    ) ?? true;
  return {
    /**
     * Whether enough of its words are known for its vector to say something: of other languages than English and those of the
     * glossary, the model knows only letters and what looks like English by chance.
     */
    isReadable(text: string): boolean {
      const all: (string | null)[] = [];
      eachWord(text, (word) => all.push(word) < MAX_JUDGED_WORDS);
      const words = all.filter((word) => word !== null && LETTERS.test(word)) as string[];
      const isEnglish = readsAsEnglish(text, all);
      const isKnown = (word: string): boolean => {
        if (isDense(word) || CYRILLIC.test(word)) return true;
        if (word.charCodeAt(0) < BEYOND_LATIN && (isEnglish || word.length >= MIN_LOAN_LETTERS) && isPiece(word))
          return true;
        return (gloss(word) ?? glossStem(word)) !== null;
      };
      const known = words.filter(isKnown).length;
      if (words.length < MIN_JUDGED_WORDS)
        return known > 0 || (isEnglish && words.some((word) => word.charCodeAt(0) < BEYOND_LATIN));
      return known > words.length * KNOWN[isEnglish ? "english" : "foreign"];
    },
    /** From [CLS] to [SEP], at most `maxTokens`, which is 2 or more. Must not throw, whatever the text. */
    encode(text: string, maxTokens: number): Token[] {
      const words: (string | null)[] = [];
      eachWord(text, (word) => words.push(word) < maxTokens - 1);
      const isEnglish = readsAsEnglish(text, words);
      const tokens: Token[] = [cls];
      for (const word of words) {
        if (word === null) tokens.push(unknown);
        else if (isDense(word)) tokens.push(...dense(word));
        else if (glossary && (!isEnglish || word.charCodeAt(0) > BEYOND_LATIN)) tokens.push(...foreign(word));
        else tokens.push(...base(word));
        if (tokens.length >= maxTokens - 1) break;
      }
      tokens.length = Math.min(tokens.length, maxTokens - 1);
      tokens.push(sep);
      return tokens;
    },
  };
}

/** A function that splits a word; its result is overwritten by the next call, and empty if a part is unknown. */
function openVocabulary(json: Buffer): (word: string) => Int32Array {
  const start = json.indexOf(KEY);
  if (start < 0) throw broken("it has no vocabulary");
  const [out, word, table] = [0, PIECES_BYTES, PIECES_BYTES + WORD_BYTES];
  const from = table + TABLE_BYTES;
  const vocabulary = openWasm<"indexWords" | "splitWord">(VOCABULARY_BYTES, from + json.length);
  const { memory } = vocabulary;
  memory.set(json.subarray(start + KEY.length), from);
  if (vocabulary.indexWords(from, from + json.length - start - KEY.length, table) < 0)
    throw broken("its vocabulary cannot be read");
  const encoder = new TextEncoder();
  const place = memory.subarray(word, word + WORD_BYTES);
  return (text) => {
    const { written } = encoder.encodeInto(text, place);
    return new Int32Array(memory.buffer, out, vocabulary.splitWord(word, written, table, out));
  };
}

function broken(what: string): MemdirError {
  return new MemdirError("broken", `tokenizer.json of the sentence model cannot be used: ${what}; reinstall the model`);
}

/** Only for what is not ASCII. */
const unicode = lazily(() => ({
  dropped: /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/u,
  space: /\p{White_Space}/u,
  accent: /\p{Mn}/u,
  punctuation: /\p{P}/u,
}));

const CYRILLIC = /^\p{Script=Cyrillic}/u;

/** A word in the judged sense: no number, mark or single letter. */
const LETTERS = /^(?:\p{L}{2,}|[\u3040-\u9fff\uac00-\ud7af].*)$/u;

/** Scripts that do not separate words, and Korean, whose words carry their endings: they are looked up as strings, longest first. */
const DENSE = /^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]/;

function isDense(word: string): boolean {
  return word.charCodeAt(0) >= 0x3040 && DENSE.test(word);
}

/**
 * Lower-case words without accents; punctuation marks one by one; runs of a dense script as they are, in pieces of at most
 * MAX_WORD_LETTERS; null for a word that is too long. Reads no further when `take` returns false.
 */
function eachWord(text: string, take: (word: string | null) => boolean): void {
  let word = "";
  let letters = 0;
  let more = true;
  let inDense = false;
  const add = (letter: string) => {
    if (letters++ < MAX_WORD_LETTERS) word += letter;
  };
  const end = () => {
    if (letters > 0 && more) more = take(letters > MAX_WORD_LETTERS ? null : word);
    word = "";
    letters = 0;
    inDense = false;
  };
  const alone = (mark: string) => {
    end();
    add(mark);
    end();
  };

  for (let i = 0; i < text.length && more; i++) {
    const code = text.codePointAt(i) as number;
    if (inDense && (code < 0x3040 || letters === MAX_WORD_LETTERS)) end();
    if (code < 0x80) {
      if (isLetterOrDigit(code)) add(text.charAt(i).toLowerCase());
      else if (code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d) end();
      else if (code > 0x20 && code < 0x7f) alone(text.charAt(i));
      continue;
    }
    if (code > 0xffff) i++;
    const character = String.fromCodePoint(code);
    const isDenseNow = isDense(character);
    if (isDenseNow !== inDense) end();
    if (isDenseNow) {
      inDense = true;
      add(character);
      continue;
    }
    if (unicode().dropped.test(character)) continue;
    if (unicode().space.test(character)) {
      end();
      continue;
    }
    for (const part of character.normalize("NFD").toLowerCase()) {
      if (unicode().accent.test(part)) continue;
      if (isPunctuation(part)) alone(part);
      else add(part);
    }
  }
  end();
}

function isLetterOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || (code >= 0x30 && code <= 0x39);
}

/** ASCII signs such as `$` count as punctuation; the same kind of sign beyond ASCII does not. */
function isPunctuation(character: string): boolean {
  const code = character.charCodeAt(0);
  return code < 0x80 ? !isLetterOrDigit(code) : unicode().punctuation.test(character);
}
