/** A text as an uncased BERT model reads it: words in lower case without accents, marks one by one, runs of a dense script whole. */

import { lazily } from "../text/lazy.ts";

/** Words longer than this are unknown, as in the model's own tokenizer. */
export const MAX_WORD_LETTERS = 100;

/** Only for what is not ASCII. */
const unicode = lazily(() => ({
  dropped: /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/u,
  space: /\p{White_Space}/u,
  accent: /\p{Mn}/u,
  punctuation: /\p{P}/u,
}));

/** Scripts that do not separate words, and Korean, whose words carry their endings: they are looked up as strings, longest first. */
const DENSE = /^[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]/;

export function isDense(word: string): boolean {
  return word.charCodeAt(0) >= 0x3040 && DENSE.test(word);
}

/**
 * Lower-case words without accents; punctuation marks one by one; runs of a dense script as they are, in pieces of at most
 * MAX_WORD_LETTERS; null for a word that is too long. Reads no further when `take` returns false.
 */
export function eachWord(text: string, take: (word: string | null) => boolean): void {
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
