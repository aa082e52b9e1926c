/** Credentials in what a person says, with or without a form that gives them away: "log in with …", "the door code is …". */

import { findSecrets } from "./secrets.ts";
import { SECRET } from "./speech.ts";

/** Credentials as blanks: a sentence with one says nothing that may be kept. */
export function maskSecrets(message: string): string {
  let masked = message;
  for (const { start, end } of findSecrets(message))
    masked = masked.slice(0, start) + SECRET.repeat(end - start) + masked.slice(end);
  return masked.replace(LIKE_A_PASSWORD, (word) => SECRET.repeat(word.length));
}

/** Letters, digits and a sign between them that no ordinary word has, whatever comes before it: "log in with Nordlys!2026". */
const LIKE_A_PASSWORD =
  /(?<![^\s"'`(=:])(?=[^\s/]{0,40}\p{L})(?=[^\s/]{0,40}\d)(?=[^\s/!#$%^&*?~]{1,40}[!#$%^&*?~][\p{L}\p{N}])[^\s/"'`()<>]{8,60}/gu;

/** Whether it says a credential, masked or in everyday words. */
export function holdsSecret(text: string): boolean {
  return text.includes(SECRET) || CREDENTIAL.some((pattern) => pattern.test(text));
}

const SECRET_NAME =
  "(?:pass ?words?|passwd|pwd|passphrase|passcode|api ?keys?|(?:access |auth |api |bearer )?tokens?|secrets?|credentials?|pin|Passwort|Kennwort|mot de passe|contraseña|clave)";

/** A credential in everyday words: its name, then a value that is no ordinary word. */
const CREDENTIAL = [
  new RegExp(
    String.raw`\b${SECRET_NAME}\b[^.,;\n]{0,40}?(?:\bis|\bare|\bist|\best|\bes|[:=])\s*["'\x60]?(?=\S{4,})(?=\S*[\d!@#$%^&*_])\S+`,
    "i",
  ),
  // "user svc-import, password Troll#44" and "pass Troll_44": a value right after the name.
  new RegExp(
    String.raw`(?:(?<=^|[,;:/(] ?)(?:pass|pw)|\b${SECRET_NAME})[ :=]+["'\x60“„]?(?=\S{6,})(?=\S*\p{L})(?=\S*[\d!@#$%^&*_])\S+`,
    "iu",
  ),
  /\b(?:pass ?word|passphrase|passcode|Passwort|Kennwort|contraseña)\b[^.,;\n]{0,20}["'`“„«][^"'`”“»]{4,}/i,
  /\b(?:pin|cvc|cvv|tan)\b[^.,;\n]{0,30}\b\d{3,8}\b/i,
  /\b(?:door|entry|access|alarm|gate|safe|lock|wi-?fi|vpn|login)[ -](?:code|key|pass\w*|pin|combination)\b.{0,60}?\d{3,}/i,
  /(?:密码|密碼|口令|パスワード|비밀번호)(?:是|为|は|는|은|가|이|[:：=])?\s*[\w!@#$%^&*-]{4,}/,
];
