/** Which names teams, repositories and people may have. */

/** One part of a URL, and nothing in it means anything there; a token begins with its team's name. */
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const MAX_PERSON = 100;
/** Control characters, line and paragraph breaks, and marks that turn the direction of writing: nobody's name has them. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\ufeff]/u;

/** Why a team or repository cannot be called so, or null. */
export function findPlainNameProblem(name: string): string | null {
  if (PLAIN.test(name)) return null;
  return "it must be 1 to 64 letters, digits, dots, hyphens or underscores, a letter or digit first";
}

export function findPersonProblem(name: string): string | null {
  if (name === "" || name.length > MAX_PERSON) return `it must have 1 to ${MAX_PERSON} characters`;
  if (name !== name.trim()) return "it must not begin or end with a space";
  if (!name.isWellFormed() || UNPRINTABLE.test(name)) return "it holds characters that cannot be shown";
  if (name !== name.normalize("NFC")) return "it is not in the usual form of Unicode (NFC)";
  return null;
}
