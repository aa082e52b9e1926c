/** A text as an uncased BERT model reads it: words in lower case without accents, marks and ideographs one by one. */

import { lazily } from "../text/lazy.ts";

/** Words longer than this are unknown, as in the model's own tokenizer. */
export const MAX_WORD_LETTERS = 100;

/** Only for what is not ASCII. */
const unicode = lazily(() => ({
  dropped: /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/u,
  space: /\p{White_Space}/u,
  accent: /\p{Mn}/u,
  punctuation: /\p{P}/u,
  ideograph: /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{2fa1f}]/u,
}));

/**
 * Lower-case words without accents; punctuation marks and ideographs one by one; null for a word that is too long.
 * Reads no further when `take` returns false.
 */
export function eachWord(text: string, take: (word: string | null) => boolean): void {
  let word = "";
  let letters = 0;
  let more = true;
  const add = (letter: string) => {
    if (letters++ < MAX_WORD_LETTERS) word += letter;
  };
  const end = () => {
    if (letters > 0 && more) more = take(letters > MAX_WORD_LETTERS ? null : word);
    word = "";
    letters = 0;
  };
  const alone = (mark: string) => {
    end();
    add(mark);
    end();
  };

  for (let i = 0; i < text.length && more; i++) {
    const code = text.codePointAt(i) as number;
    if (code < 0x80) {
      if (isLetterOrDigit(code)) add(text.charAt(i).toLowerCase());
      else if (code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d) end();
      else if (code > 0x20 && code < 0x7f) alone(text.charAt(i));
      continue;
    }
    if (code > 0xffff) i++;
    const character = String.fromCodePoint(code);
    if (unicode().dropped.test(character)) continue;
    if (unicode().space.test(character)) {
      end();
      continue;
    }
    const isIdeograph = unicode().ideograph.test(character);
    for (const part of character.normalize("NFD").toLowerCase()) {
      if (unicode().accent.test(part)) continue;
      if (isIdeograph || isPunctuation(part)) alone(part);
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
