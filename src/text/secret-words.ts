/** The words of a text that may be a credential, found in one pass over its characters. */

export interface Words {
  /** Those that are long enough for a format, one after the other. */
  long: string;
  /** Those that may be a value by themselves: with a digit, a capital behind a small letter, or dashes. */
  mixed: { start: number; end: number }[];
}

/** No format matches fewer characters without a blank, of which its hint is one, unless it says so. */
const LONG = 16;

/** One look at each character, since most texts are prose: what is left is searched with patterns, which take many times as long. */
export function readWords(text: string): Words {
  const long: string[] = [];
  const mixed: Words["mixed"] = [];
  let start = 0;
  let isMixed = false;
  let dashes = 0;
  let last = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : BLANK;
    if (code > BLANK) {
      if (code <= 57) {
        if (code >= 48) isMixed = true;
        else if (code === 45) dashes++;
      } else if (code <= 90 && code >= 65 && last >= 97 && last <= 122) isMixed = true;
    } else {
      if (at - start >= LONG) long.push(text.slice(start, at));
      if (at - start >= 6 && (isMixed || dashes > 2)) mixed.push({ start, end: at });
      start = at + 1;
      isMixed = false;
      dashes = 0;
    }
    last = code;
  }
  return { long: long.join("\n"), mixed };
}

const BLANK = 32;
