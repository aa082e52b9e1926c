/** The words that say what a value is: names of credentials in the languages developers write, and names of everything else. */

import { lazily } from "./lazy.ts";

/** What a name says of its value. `sure`: a short or plain value will do; otherwise it must look random. */
export interface Name {
  rule: "password" | "secret" | "token" | "api-key";
  sure: boolean;
}

/** A name in the text, from the start of its identifier; without `name` it says that a value is not a credential. */
export interface Label {
  start: number;
  end: number;
  name: Name | null;
  /** The identifier and the words spoken before it. */
  spoken: string;
}

// Not bare `pass`, which is a verb as well; compounds of it are, see readName.
const PASSWORD =
  /passw(?:or[dt]|d)|passphrase|passcode|passord|kennwort|wachtwoord|lösenord|adgangskode|kodeord|salasana|has[lł][oa]|hesl[oa]|jelszó|contraseña|senha|palavra-passe|mots? de passe|parola|şifre|парол|κωδικ|סיסמ|كلمة (?:ال)?(?:مرور|سر)|पासवर्ड|パスワード|暗証番号|密[码碼]|口令|비밀번호|암호|mật khẩu|รหัสผ่าน|kata sandi/;
const TOKEN =
  /token|jeton|токен|トークン|令牌|토큰|secret|geheimnis|segret|secreto|segredo|секрет|シークレット|凭[证據]|비밀/;
const KEY =
  /schlüssel|(?<![a-zß-ÿ])(?:clave|llave|chave|chiave|nyckel|avain|klucz|klíč|kulcs|anahtar|cl(?:é|ef))s?(?![a-zß-ÿ])|sleutel|nøgle|ключ|κλειδί|キー|鍵|[密秘金][钥鑰]|(?<![가-힣])키(?:는|가|를)?(?![가-힣])|khóa/;
// Names of logins and private things: only a value that looks random counts.
const ACCESS =
  /(?<![\wß-ÿ])(?:log(?:ins?|on|(?:ged|s)? in)|sign ?in|creds|credentials?|credenciales|identifiants|sudo|wi-?fi|wlan|wpa\d?|licen[cs]e|(?:test|demo|admin|service|staging|shared) (?:account|user)|basic[ _-]?auth|zugang(?:sdaten)?|anmeldung|accès|acceso|acesso|accesso|bearer|totp|mfa|2fa|otp|authenticator|(?:recovery|backup) codes?|htpasswd)(?![\wß-ÿ])|доступ|логин|ログイン|登[录陆錄]|로그인/;
const SECRECY =
  /(?:do not|don't|never|not to) (?:post|share|commit|paste|leak|send)|shown (?:only )?once|confidential|rotated?(?![a-z])|revoked?(?![a-z])|leaked/;
const OTHER =
  /sha-?\d+|md5|blake\d|digest|checksum|hash|commit|revert|bisect|introduced|changed in|integrity|etag|fingerprint|thumbprint|revision|blob|trace|span|request|uuid|guid|(?<![a-zß-ÿ])[ku]?ids?(?![a-zß-ÿ])|public|publishable|certificate|cipher|encrypted|secure(?![a-z])|signature|nonce|cursor|(?<![a-z])version|transaction|address|contract|recipient|tenant|subscription|verifier|challenge|serial|snapshot|checkout|image|ends? in|starts? with/;
const WORD = /pass|pwd|psk|\bpw\b|_pw\b|key|cred|auth|cookie|sess|\bsid\b|\bpin\b|_pat\b|\bpat\b|_sk\b/;

// All of these are matched in lower case.
const either = (...patterns: RegExp[]) => patterns.map(({ source }) => source).join("|");
const openAny = lazily(() => {
  const name = either(PASSWORD, TOKEN, KEY, WORD);
  return new RegExp(`(?<said>${either(ACCESS, SECRECY)})|(?<name>${name})|(?<other>${OTHER.source})`, "g");
});

// Behind the noun: of which environment, which one, in which form. Any other word there is what the value is: `token_count`.
const QUALIFIER =
  /^(?:value|val|base|prod|production|staging|stage|live|dev|development|test|local|ci|old|new|current|primary|secondary|main|default|raw|plain|plaintext|text|string|env|b64|base64|v?\d{1,3}|[ab])$/;
/** In a name these mean that the value is not a secret, or no longer one. */
const HARMLESS =
  /^(?:public|pub|publishable|anon|site|encrypted|enc|hashed|hash|sealed|cipher|ciphertext|example|sample|dummy|fake|mock|placeholder|masked|redacted|expected|invalid|page|continuation|continue|sync|cursor|csrf|xsrf|cancel|cancellation|idempotency|design|special|eos|bos|pad|lexer|syntax|max|min|signingkey)$/;
const OTHER_KEYS =
  /^(?:foreign|partition|sort|range|cache|group|object|row|unique|natural|composite|translation|message|query|lookup|map|dict|hot|shortcut|arrow|config|state|feature|index|schema|json|yaml|column|field|tab|event|metric|label|bucket|kms|dedupe?|shard|lock|order|join|surrogate|type|name|theme|answer|legend|verify|verification|verifying|host)$/;
const SECRET_KEYS =
  /^(?:api|app|application|access|auth|authentication|account|storage|subscription|consumer|admin|deploy|private|priv|signing|sign|encryption|decryption|hmac|master|service|role|secret|client|shared|preshared|webhook|session|jwt|license|licence|server|root|project|integration|ingest|write|aes|cookie|security|crypto|sdk|rest|base)$/;
const WHOLE_PASSWORD = new RegExp(
  `(?:${PASSWORD.source})(?:et|en|[iyaunt])?(?![a-z])|^(?:pw|psw|pin|psk|passe|khẩu|sandi)$|pwd$|(?<!^(?:com|by|sur|tres|encom|over|under))pass$`,
  "u",
);

/** Every name of a credential, and every word that says a value is something else, in order. */
export function readLabels(text: string): Label[] {
  const labels: Label[] = [];
  let done = 0;
  // The only capital letter whose lower case has two characters.
  for (const match of text.replaceAll("İ", "I").toLowerCase().matchAll(openAny())) {
    if (match.index < done) continue;
    const { said, other } = match.groups ?? {};
    const from = match.index + match[0].length;
    if (said !== undefined || other !== undefined) {
      const name: Name | null = said === undefined ? null : { rule: "password", sure: / code|wpa/.test(said) };
      labels.push({ start: match.index, end: from, name, spoken: "" });
      continue;
    }
    const prefix = nameBefore(text, match.index);
    const start = match.index - prefix.length;
    const before = text.slice(Math.max(0, start - 64), start);
    const rest = /^[\w-]{0,40}/.exec(text.slice(from, from + 40))?.[0].replace(/-+$/, "") ?? "";
    // Part of an ARN or URN, `arn:…:secret:name`; or of what was put in place of a secret.
    if (/(?<!\$env)(?<=\w):$|\[redacted: $/i.test(before)) continue;
    done = from + rest.length;
    const words = prefix === "" && before.endsWith(" ") ? (/(?:[A-Za-z]{2,20} ){1,2}$/.exec(before)?.[0] ?? "") : "";
    const spoken = words + text.slice(start, done);
    const name = readName(splitWords(spoken));
    if (name) labels.push({ start, end: done, name: name === "other" ? null : name, spoken });
  }
  return labels;
}

/** The last word of an identifier that is not a qualifier says what the value is. */
function readName(words: readonly string[]): Name | "other" | null {
  let at = words.length - 1;
  while (at > 0 && QUALIFIER.test(words[at] ?? "")) at--;
  const head = words[at] ?? "";
  const before = words[at - 1] ?? "";
  if (words.some((word) => HARMLESS.test(word)) || before === "next" || /^(?:ids?|hash|digest|fingerprint)$/.test(head))
    return "other";
  if (WHOLE_PASSWORD.test(head)) return { rule: "password", sure: true };
  if (/secret$/.test(head)) return { rule: "secret", sure: true };
  if (/token$|^(?:pat|sk)$/.test(head)) return { rule: "token", sure: true };
  if (/^(?:api|access|secret|auth|private|app|account|signing|encryption|master|shared|license)key$/.test(head))
    return { rule: "api-key", sure: true };
  if (head === "key") {
    if (OTHER_KEYS.test(before)) return "other";
    return { rule: before.endsWith("secret") ? "secret" : "api-key", sure: SECRET_KEYS.test(before) };
  }
  if (/^(?:secrets|tokens|passwords|keys|cred|creds|credentials?)$/.test(head)) return { rule: "secret", sure: false };
  if (/^(?:auth|authorization|cookie|sid)$|sess(?:ion)?(?:id)?$/.test(head)) return { rule: "token", sure: false };
  // What is left is another language's, without the ending of a plural or a case.
  if (KEY.test(head)) return { rule: "api-key", sure: false };
  return TOKEN.test(head) && !/^(?:secret(?!o$)|token)/.test(head) ? { rule: "token", sure: true } : null;
}

/** The part of an identifier, possibly with dots and dashes, that ends at an offset. */
function nameBefore(text: string, end: number): string {
  let start = end;
  while (start > 0 && end - start < 64 && /[\w$.-]/.test(text[start - 1] ?? "")) start--;
  return text.slice(start, end).replace(/^[.-]+/, "");
}

export function splitWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}
