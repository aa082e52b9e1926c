/** What a credential looks like: a value judged on its own, whether it is a placeholder or a reference instead, and the formats that are known. */

import { lazily } from "../errors.ts";

/** As much of a value as is needed to judge it. */
export const JUDGED = 96;

/**
 * How much a value looks like a credential. `digest`: hexadecimal or a UUID, which ids and hashes are too; `weak`:
 * words and digits, as a person's password may be; `strong`: what is hardly anything but a password; `random`: not made
 * up by a person.
 */
export type Strength = "none" | "digest" | "weak" | "strong" | "random";

export function strengthOf(whole: string): Strength {
  const value = whole.slice(0, JUDGED);
  if (value.length < 6 || /[^\x21-\x7e\p{L}]/u.test(value) || isStandIn(value) || isFiller(value) || PUBLIC.test(value))
    return "none";
  // The last one is how PGP names keys.
  if (isDigest(value)) return /^(?:0x)?[0-9A-F]{8}(?:[0-9A-F]{8}(?:[0-9A-F]{24})?)?$/.test(value) ? "none" : "digest";
  const isCode = /[()[\]{}<>\\|;]|^[@#$&~%=?,][\w./:-]*$|[=!]==?\w|&&|::|->|^[\w.]+:/.test(value);
  const bits = isCode || isSequence(value) || /^\d+$/.test(value) ? 0 : randomBits(value);
  if (bits >= 70) return isReference(value, true) ? "none" : "random";
  const isPhrase = /^(?:[A-Z][a-z]{2,}[.-]){2,}[A-Z][a-z]{2,}\d{2,}$/.test(value);
  if (isReference(value) && !isPhrase) return "none";
  if (bits >= 60) return "strong";
  if (!isMixed(value)) return PASSPHRASE.test(value) ? "weak" : "none";
  if (isCode || isWordy(value, true)) return "none";
  if (value.length < 8 || value.length > 40 || !/\d/.test(value)) return "weak";
  return bits >= 40 || /[!@#$^&?]|%.|\*$/.test(value) ? "strong" : "weak";
}

const PASSPHRASE = /^(?:(?!the|and|for|not|see|ask|use|key)[a-z]{4,10}-){3,}[a-z]{4,10}$/;
/** Keys that are made to be published say so. */
const PUBLIC = /^(?:pk|pub|phc)[_-]|publishable|^ssh-|^AAAA[BCE]3Nz/i;

// The pairs of letters of which nine tenths of the words of prose and code consist; of random letters a quarter.
const PAIRS =
  /(?=a[bcdgilmnprstuvy]|b[aeiloru]|c[aehiklortu]|d[aeiosu]|e[acdefglmnprstvx]|f[aefio]|g[aehiru]|h[aeio]|i[abcdefglmnoprstvz]|ke|l[aeilostuy]|m[aeiopu]|n[acdegiostv]|o[bcdlmnoprstuvw]|p[aeiloprstu]|qu|r[acdegimnorstuy]|s[acehiopstu]|t[aehiorstuy]|u[abceilmnprst]|v[aeio]|w[aei]|ze)/g;

/**
 * How much there is to guess: only the parts between signs that are neither words nor numbers, nor short and next to
 * one, count.
 */
function randomBits(value: string): number {
  // Identifiers do not alternate letters and digits.
  const most = /(?:[a-z]\d+){3}[a-z]/i.test(value) ? 0.8 : /\d/.test(value) ? 0.6 : 0.35;
  const parts = value.replace(/%[0-9A-F]{2}/g, "").split(/[^A-Za-z0-9]+/);
  const isKnown = (part: string) =>
    part.length > 3 && (/^\d+$/.test(part) || wordShare(part) >= most || isTechnicalWord(part));
  const classes = [/[a-z]/, /[A-Z]/, /\d/, /[!@#$%^&*~?+]/].filter((one) => one.test(value));
  const least = classes.length > 2 && !parts.some(isKnown) ? 0 : 3;
  const core = parts.filter((part) => part.length > least && !isKnown(part)).join("");
  if (/^(?:[a-z]*|[A-Z]*|\d*)$/.test(core)) return 0;
  const alphabet = [26, 26, 10, 8].slice(0, classes.length).reduce((sum, size) => sum + size, 0);
  return core.length * Math.log2(/^[0-9a-f]*$/i.test(core) ? 16 : alphabet);
}

/** How much of the letters is in pairs as words have them, within runs that capitals tell apart. */
function wordShare(value: string): number {
  const letters = value.match(/[A-Za-z]/g)?.length ?? 0;
  const runs = value.match(/[A-Z]?[a-z]{2,}|[A-Z]{3,}(?![a-z])/g) ?? [];
  const share = (run: string) => (run.length * (run.toLowerCase().match(PAIRS)?.length ?? 0)) / (run.length - 1);
  return runs.reduce((sum, run) => sum + share(run), 0) / Math.max(letters, 1);
}

/** Hexadecimal, or a UUID: of any length that a hash or an abbreviated one has. */
function isDigest(value: string): boolean {
  return UUID.test(value) || /^(?:0x)?(?=.*\d)(?:(?=.*[a-f])[0-9a-f]{7,}|(?=.*[A-F])[0-9A-F]{8,})$/.test(value);
}

/** Letters with digits, or with the marks people put inside a password. */
export function isMixed(value: string): boolean {
  return (
    /[A-Za-z]/.test(value) && (/\d/.test(value) || /^[^A-Za-z]*[A-Za-z][^!@#$%^*~]*[!@#$%^*~].*[A-Za-z]/.test(value))
  );
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** `1234567890abcdef`, `abcdef123456`: most characters follow the one before. */
export function isSequence(value: string): boolean {
  let steps = 0;
  for (let i = 1; i < Math.min(value.length, 64); i++) {
    const step = value.charCodeAt(i) - value.charCodeAt(i - 1);
    if (step === 1 || step === 0) steps++;
  }
  return steps >= (Math.min(value.length, 64) - 1) * 0.6;
}

/**
 * Stand-ins that documentation uses: `ghp_xxxxxxxx`, `sk-...`, AWS's own `...EXAMPLE`. Asked of formats that are otherwise
 * certain, hence narrow: twelve equal-looking characters do not happen in a real key.
 */
export function isFiller(value: string): boolean {
  return (
    /x{6,}|\*{4,}|\.{3,}|example(?:key)?$|your[_-]|12345678|abcdefgh|abcdef123|deadbeef/i.test(value) ||
    value.includes("EXAMPLE") ||
    new Set(value.slice(-12)).size <= 2
  );
}

const PLACEHOLDER_WORDS =
  /(?:^|[^a-z0-9])(?:examples?|samples?|placeholder|change[-_ ]?(?:me|this|it)\d*|redacted|removed|masked|dummy|fake|todo|tbd|fixme|abc-?123|123-?abc|replace[-_]?(?:me|with|this)?|insert|your)\d{0,4}(?:[^a-z0-9]|$)/i;
const PLACEHOLDER_VALUES =
  /^(?:(?:my|the|some|any|a|an|test|new|old|super|top|very)[-_]?){0,2}(?:user|pass|password|passwd|passphrase|pwd|pw|secret|token|key|api|auth|access|credentials?|postgres|mysql|redis|root|admin|guest|test|testing|string|text|number|boolean|bool|object|varchar|hidden|required|optional|none|null|nil|undefined|true|false|empty|unset|default|foobar|foo|bar|value|here|[-_]){1,4}[-_]?(?:v?\d{1,2})?$|^(?:foo|bar|baz|qux|demo|test|abc|[-_])+\d*$/i;
// Ciphertexts and digests by the beginning that their format gives them: sops, jasypt, Spring, Vault's transit, KMS,
// sealed secrets, Fernet, age, Ansible; bcrypt, argon2, crypt, LDAP.
const SEALED =
  /^(?:\{?(?:enc|encrypted|cipher|aes\d*|crypt|bcrypt|pbkdf2|s?sha\d*|sealed|kms|secure|sops)[}:([]|vault:v\d|AQ[EI]C[AH]|CiQA|Ag[A-D][A-Za-z0-9+/]{37}|gAAAAA|age1|\$ANSIBLE|!(?:vault|ref|sub|getatt|env|encrypted)|\$(?:2[abxy]|argon2\w*|[15-9y]|apr1|pbkdf2[\w-]*|scrypt)\$|pbkdf2_|scrypt:)/i;
export const SEALED_WITHIN = new RegExp(`(?:^|[=:])${SEALED.source.slice(1)}`, "i");

/** Templates, ellipses, words that stand for a value, and what is encrypted. `password123` is weak but real, and is reported. */
export function isStandIn(value: string): boolean {
  return (
    /^[<[{(]|\$\{|\{\{|#\{|\$\(|<%|^\\?\$[a-z_]+(?:$|->|[:[.])|^\\?\$[a-z_]*_[a-z0-9_]*$|^your|^%\w+%$|^%\(|^\{?[a-z_]+\}$|^__\w+__$|^@@|\.\.\.|…|\*{2}|•|x{4,}|^&(?:#|lt)|^\/\^|\\[wdsb]|\[\^?[a-z]-/i.test(
      value,
    ) ||
    new Set(value.slice(0, JUDGED).replaceAll("-", "")).size <= 2 ||
    PLACEHOLDER_WORDS.test(value) ||
    (value.length <= 40 && PLACEHOLDER_VALUES.test(value)) ||
    value.includes("EXAMPLE") ||
    SEALED.test(value)
  );
}

/** Values that point elsewhere or measure something: code, variables, URLs, paths, versions, dates, digests, tickets. */
export function isReference(value: string, random = false): boolean {
  return (
    (/^[A-Za-z_$@](?:[\w$]*\??(?:\.[A-Za-z_$]|\[|::|->)|[\w$]+\()/.test(value) && !(random && !/[([]/.test(value))) ||
    /^[A-Z]{2}[A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) ||
    /^(?:[a-z][\w+.-]*:\/\/|arn:|urn:|(?:ssm|env|file|op|aws|gcp|kv|vault|secret):)/i.test(value) ||
    isPath(value) ||
    isIdentifier(value) ||
    FILE.test(value) ||
    // A package at a version, an issue, a part of a repository, a number.
    /^@?[a-z][a-z0-9./_-]*@[\^~]?v?\d+(?:\.\d+)*(?:[-+][\w.]+)?$|^(?:[a-z.-]+#\d+|[\w.-]+\/[\w.-]+#[\w-]+)$|^0[box][\da-fA-F]+$|^[+~-]*[$€£]\d/.test(
      value,
    ) ||
    /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value) ||
    /^v?\d+\.\d[\w.+-]*$|^\d{4}-\d\d(?:-\d\d)?(?:T[\d:.]+Z?)?$|^\d+[a-z]{1,6}$/i.test(value) ||
    /^(?:sha\d{1,3}|md5)[:-]|^0x[0-9a-f]{40}$/i.test(value) ||
    /^[A-Z]{2,10}-?\d{1,6}$/.test(value)
  );
}

const FILE =
  /^[\w@.*/\\+-]+\.(?:mdx?|txt|pdf|docx?|xlsx?|pptx?|html?|s?css|[cm]?[jt]sx?|jsonl?|ya?ml|toml|py|go|rs|java|kts?|cs|rb|php|sh|sql|png|jpe?g|svg|gif|webp|zip|t?gz|log|pcap(?:ng)?|env|lock|xml|csv|ini|conf|vue|swift)(?::\d+)*$/i;

/** `newPassword2`, `auth-token-v1`, `X-Api-Key-V2`: words of which one is a name of a credential, and at most two digits. */
function isIdentifier(value: string): boolean {
  if (value.length > 48) return false;
  const words = splitWords(value);
  return (
    words.length > 1 &&
    words.every((word) => /^[a-z]{1,14}\d{0,2}$|^\d{1,2}$/.test(word)) &&
    words.some((word) => /^(?:password|passwd|secret|token|key|auth|credentials?|session|private)\d{0,2}$/.test(word))
  );
}

function isPath(value: string): boolean {
  if (value.endsWith("=")) return false;
  const parts = value.split("/");
  // Base64 has slashes too, but its parts mix digits and both cases.
  const isBase64 = (part: string) => /\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part);
  if (/^(?:\.{0,2}|~|[A-Za-z]:)[/\\][\w.]/.test(value))
    return !(/^[\w+/]{32,}$/.test(value) && parts.some((part) => isBase64(part) && wordShare(part) < 0.6));
  return parts.length > 1 && parts.every((part) => /^[@\w.#:-]*$/.test(part) && !isBase64(part));
}

const TECHNICAL =
  /^(?:argon2(?:id?|d)?|bcrypt|scrypt|pbkdf2|sha\d+|md5|hmac|oauth2?|base(?:16|32|58|64)(?:url)?|utf8?|aes\d*|rsa\d*|ed25519|x25519|secp\d+[kr]1|[hrep]s\d{3}|x509|pkcs\d*|k8s|s3|ec2|1password|http2|uuid(?:v\d)?|auth0|varchar\d*|u?int\d+(?:array)?|float\d+(?:array)?|v\d+(?:(?:alpha|beta)\d?)?)$/i;

/** Names of algorithms and products that contain digits, alone or joined: `argon2id`, `HMAC-SHA256`. */
export function isTechnical(value: string): boolean {
  return value.split(/[-_./:+]/).every((part) => isTechnicalWord(part) || /^[A-Za-z]*$/.test(part));
}

function isTechnicalWord(word: string): boolean {
  return TECHNICAL.test(word) || /^[A-Z]{2,8}v?\d{1,5}$/.test(word);
}

/** Joined words as prose and resource names have them: `at-least-8-chars`, `us-east-1a`, `db1-prod-creds`. */
export function isWordy(value: string, password: boolean): boolean {
  const parts = value.split(/[-_./:+]/);
  if (parts.length === 1) return isTechnicalWord(value) || (wordShare(value) > 0.8 && /^[A-Za-z]+[A-Z]/.test(value));
  const resource = password ? /^\d{1,2}[a-z]{1,2}$/ : /^(?:\d{1,2}[a-z]{1,2}|[a-z]{1,5}\d{1,2})$/;
  const number = password ? /^\d{1,2}$/ : /^\d{1,3}$/;
  return parts.every(
    (part) =>
      /^[A-Za-z]*$/.test(part) ||
      number.test(part) ||
      isTechnicalWord(part) ||
      (resource.test(part) && (!password || parts.length > 2)),
  );
}

// --- The words that say what a value is: names of credentials in the languages developers write, and names of everything else.

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
const openName = lazily(() => new RegExp(either(PASSWORD, TOKEN, KEY, WORD)));
const openAny = lazily(() => {
  const name = openName().source;
  return new RegExp(`(?<said>${either(ACCESS, SECRECY)})|(?<name>${name})|(?<other>${OTHER.source})`, "g");
});

/** The only capital letter whose lower case has two characters is replaced, so that places stay the same. */
function lowered(text: string): string {
  return text.replaceAll("İ", "I").toLowerCase();
}

/** Whether a label of a credential may be in it, which most texts have not. */
export function holdsName(text: string): boolean {
  return openName().test(lowered(text));
}

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
  for (const match of lowered(text).matchAll(openAny())) {
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

function splitWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

// --- Credentials that are known by their shape alone: prefix, alphabet and length; and the words of a text that may be one.

// Rule, a literal without which the pattern cannot match (searching it is many times faster than the pattern), pattern. The literal
// is looked for in words of 16 characters and more, unless it may be in a shorter one: then "apart".
// A pattern either ends in an open run or is bounded, so that none can take more than linear time.
export const FORMATS: readonly (readonly [rule: string, hint: string, pattern: RegExp, where?: "apart"])[] = [
  ["1password-token", "ops_eyJ", /ops_eyJ[\w+/=-]{80,}/],
  ["age-secret-key", "AGE-SECRET-KEY-", /AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}/],
  ["airtable-token", "pat", /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/],
  ["anthropic-key", "sk-ant-", /sk-ant-[\w-]{20,}/],
  ["asana-token", "/", /\d\/\d{10,20}(?:\/\d{10,20})?:[0-9a-f]{32}(?!\w)/],
  ["atlassian-token", "ATATT3", /ATATT3[\w=-]{60,}/],
  ["atlassian-token", "ATBB", /ATBB[A-Za-z0-9]{28,}/],
  ["aws-access-key-id", "A", /(?:AKIA|ASIA|AROA|AIDA|AGPA|AIPA|ANPA|ANVA|A3T[A-Z0-9])[A-Z0-9]{16}(?!\w)/],
  ["aws-secret-key", "IA", /(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+\n]{1,20}[A-Za-z0-9/+]{40}(?![\w/+=])/],
  ["aws-bedrock-key", "ABSK", /ABSK[A-Za-z0-9+/]{80,}={0,2}/],
  ["azure-client-secret", "Q~", /(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/],
  ["azure-key", "Key=", /(?<=(?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,}={0,2}/],
  ["azure-sas", "sig=", /(?<=[?&]sig=)[A-Za-z0-9%+/]{40,}={0,2}/],
  ["brevo-key", "xkeysib-", /xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}/],
  ["buildkite-token", "bkua_", /bkua_[0-9a-f]{40}/],
  ["cloudflare-token", "v1.0-", /v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}/],
  ["cloudflare-token", "cf", /cf(?:ut|at|k)_[A-Za-z0-9]{40,}/],
  ["crates-token", "cio", /cio[A-Za-z0-9]{32}(?!\w)/],
  ["databricks-token", "dapi", /dapi[0-9a-f]{32}(?:-\d)?(?!\w)/],
  ["digitalocean-token", "_v1_", /do[opr]_v1_[0-9a-f]{64}/],
  ["discord-token", ".", /[MNO](?=[\w-]{0,24}\d)[\w-]{23,25}\.[\w-]{6}\.(?=[\w-]{0,38}\d)[\w-]{27,40}(?![\w-])/],
  ["discord-webhook", "/api/webhooks/", /discord(?:app)?\.com\/api\/webhooks\/\d{16,20}\/[\w-]{30,}/],
  // Docker's config.json as base64.
  ["docker-auth", "eyJhdXRocyI6", /eyJhdXRocyI6[A-Za-z0-9+/]{20,}={0,2}/],
  ["docker-token", "dckr_", /dckr_[po]at_[\w-]{27,}/],
  ["doppler-token", "dp.", /dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}/],
  ["dynatrace-token", "dt0", /dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}/],
  ["facebook-token", "EAA", /(?<![/+])EAA[A-Za-z0-9]{80,}/],
  ["figma-token", "figd_", /figd_[\w-]{40,}/],
  ["firebase-key", ":APA91b", /AAAA[\w-]{7}:APA91b[\w-]{100,}/],
  ["flyio-token", "fm2_", /fm2_[\w+/=-]{40,}/],
  ["github-token", "gh", /gh[pousr]_[\w.-]{30,}/],
  ["github-token", "v1.", /v1\.[0-9a-f]{40}(?!\w)/],
  ["github-token", "github_pat_", /github_pat_\w{22,}/],
  ["gitlab-token", "gl", /gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|imt|oas|agent)-[\w.-]{20,}/],
  ["google-api-key", "AIza", /AIza[\w-]{35}(?![\w-])/],
  ["google-api-key", "AQ.Ab", /AQ\.Ab[\w-]{40,}/],
  ["google-oauth-secret", "GOCSPX-", /GOCSPX-[\w-]{28}/],
  ["google-oauth-token", "ya29.", /ya29\.[\w-]{30,}/],
  ["google-oauth-token", "1//0", /1\/\/0[\w-]{40,}/],
  ["grafana-token", "gl", /glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/=]{32,}/],
  ["groq-key", "gsk_", /gsk_[A-Za-z0-9]{40,}/],
  ["heroku-key", "HRKU-", /HRKU-[\w-]{36,}/],
  ["hubspot-token", "pat-", /pat-(?:na|eu|ap)\d-[0-9a-f-]{36}/],
  ["huggingface-token", "hf_", /hf_[A-Za-z0-9]{30,}/],
  ["jfrog-token", "AKCp", /AKCp[A-Za-z0-9]{60,}/],
  // The look-behind keeps one long run without dots from being scanned again at each of its `-eyJ`.
  // A private key as JSON: its `d`.
  ["jwk", '"kty"', /(?<="d"\s{0,3}:\s{0,3}")[\w-]{40,}/, "apart"],
  ["jwt", "eyJ", /(?<![_-])eyJ[\w-]{10,}\.[\w-]*\.[\w-]{10,}(?:\.[\w-]+)*/],
  ["langsmith-key", "lsv2_", /lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}/],
  ["launchdarkly-key", "-", /(?:sdk|api)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/],
  ["linear-token", "lin_", /lin_(?:api|oauth)_[A-Za-z0-9]{32,}/],
  ["mailchimp-key", "-us", /[0-9a-f]{32}-us\d{1,2}(?!\w)/],
  ["mailgun-key", "key-", /key-[0-9a-f]{32}(?!\w)/],
  ["mailgun-key", "-", /[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/],
  ["mapbox-token", "sk.eyJ", /sk\.eyJ[\w-]{20,400}\.[\w-]{20,}/],
  // A team's own, see team/server/data-tokens.ts.
  ["memdir-token", "memdir_", /memdir_[A-Za-z0-9][A-Za-z0-9._-]{0,63}_[\w-]{43}(?![\w-])/],
  ["neon-key", "napi_", /napi_[a-z0-9]{50,}/],
  ["netlify-token", "nfp_", /nfp_[A-Za-z0-9]{36,}/],
  ["newrelic-key", "NRAK-", /NRAK-[A-Z0-9]{27}/],
  ["notion-token", "secret_", /secret_[A-Za-z0-9]{43}(?!\w)/],
  ["notion-token", "ntn_", /ntn_[A-Za-z0-9]{40,}/],
  ["npm-token", ":_", /(?<=:_(?:authToken|auth|password)[ \t]{0,2}=[ \t]{0,2}"?)[^\s"'$<{[][^\s"']{7,}/, "apart"],
  ["npm-token", "npm_", /npm_[A-Za-z0-9]{36,}/],
  ["nuget-key", "oy2", /oy2[a-z0-9]{43}(?!\w)/],
  ["nvidia-key", "nvapi-", /nvapi-[\w-]{50,}/],
  ["openai-key", "sk-", /sk-(?:proj|svcacct|admin|None)-[\w-]{20,}/],
  ["openai-key", "sk-", /sk-[A-Za-z0-9]{32,}(?![\w-])/],
  ["openrouter-key", "sk-or-", /sk-or-v1-[0-9a-f]{40,}/],
  ["perplexity-key", "pplx-", /pplx-[A-Za-z0-9]{40,}/],
  ["pinecone-key", "pcsk_", /pcsk_\w{40,}/],
  ["plaid-token", "access-", /access-(?:production|development|sandbox)-[0-9a-f-]{36}/],
  ["planetscale-token", "pscale_", /pscale_(?:tkn|pw|oauth)_[\w.-]{32,}/],
  ["posthog-key", "phx_", /phx_[A-Za-z0-9]{40,}/],
  ["postman-key", "PMAK-", /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/],
  [
    "private-key",
    "Private-Lines:",
    /Private-Lines: \d{1,3}\r?\n[A-Za-z0-9+/=]{16,80}(?:\r?\n[A-Za-z0-9+/=]{4,80}){0,200}/,
    "apart",
  ],
  [
    "private-key",
    "LS0tLS1CRUdJTiB",
    /LS0tLS1CRUdJTiB(?:[A-Za-z0-9+/]{0,16})(?:QUklWQVRF|UFJJVkFUR|BSSVZBVEU)[A-Za-z0-9+/=]{40,}/,
  ],
  // Behind the user, as .htpasswd and shadow files have them.
  [
    "password-hash",
    ":",
    /(?<=(?<![\w.:])[\w.@-]{1,64}:)(?:\$(?:apr1|2[abxy]|[156y]|argon2\w{1,2})\$[\w./$,=+-]{20,}|\{S?SHA\}[A-Za-z0-9+/]{27,}=)/,
  ],
  ["pulumi-token", "pul-", /pul-[0-9a-f]{40}/],
  ["pypi-token", "pypi-", /pypi-AgE[\w-]{40,}/],
  ["render-key", "rnd_", /rnd_[A-Za-z0-9]{24,}/],
  ["replicate-token", "r8_", /r8_[A-Za-z0-9]{37,}/],
  ["resend-key", "re_", /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/],
  ["rubygems-key", "rubygems_", /rubygems_[0-9a-f]{48}/],
  ["sendgrid-key", "SG.", /SG\.[\w-]{20,24}\.[\w-]{39,50}/],
  ["sentry-token", "sntry", /sntry[su]_[\w+/=-]{40,}/],
  ["shopify-token", "shp", /shp(?:at|ca|pa|ss|tka|ua)_[0-9a-fA-F]{32,}/],
  ["slack-token", "xox", /xox[a-z][.-][\w.%-]{16,}/],
  ["slack-token", "xapp-", /xapp-\d-[\w-]{16,}/],
  [
    "slack-webhook",
    "hooks.slack.com/",
    /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Z]\w{5,}\/[\w/-]{16,}/,
  ],
  ["square-token", "sq0", /sq0[a-z]{3}-[\w-]{22,}/],
  ["stripe-key", "k_", /[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}/],
  // As many vendors have it since, publishable keys apart; a name of the code has words here, not digits among letters.
  ["vendor-key", "_live_", /(?<![A-Za-z0-9])(?!pk_)[a-z]{2,8}_live_(?=[A-Za-z]{0,24}\d)[A-Za-z0-9]{14,}/],
  [
    "vendor-key",
    "_test_",
    /(?<![A-Za-z0-9])(?!pk_)[a-z]{2,8}_test_(?=[A-Za-z]{0,24}\d[A-Za-z0-9]{0,24}[A-Z])[A-Za-z0-9]{14,}/,
  ],
  ["stripe-webhook-secret", "whsec_", /whsec_[A-Za-z0-9+/=]{24,}/],
  ["supabase-key", "sbp_", /sbp_[0-9a-f]{40,}/],
  ["supabase-key", "sb_secret_", /sb_secret_[\w-]{20,}/],
  ["tailscale-key", "tskey-", /tskey-[a-z]+-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]+)?/],
  ["tavily-key", "tvly-", /tvly-[A-Za-z0-9-]{24,}/],
  ["teams-webhook", "webhook.office.com/", /webhook\.office\.com\/webhookb2\/[\w@-]{36,}\/[\w/-]{32,}/],
  ["telegram-token", ":AA", /\d{8,10}:AA[\w-]{32,34}(?![\w-])/],
  ["telegram-token", "bot", /bot\d{8,10}:[\w-]{35}(?![\w-])/],
  ["terraform-token", ".atlasv1.", /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}/],
  ["twilio-key", "SK", /SK[0-9a-f]{32}(?!\w)/],
  // After the account it belongs to, which is not a secret.
  ["twilio-token", "AC", /(?<=AC[0-9a-f]{32}[^A-Za-z0-9\n]{1,10})[0-9a-f]{32}(?!\w)/],
  ["twilio-token", "SK", /(?<=SK[0-9a-f]{32}[^A-Za-z0-9\n]{1,10})[0-9A-Za-z]{32}(?!\w)/],
  ["twitter-token", "AAAAAAAAAAAAAAAAAAAA", /A{20}[\w%]{50,}/],
  ["vault-token", "hv", /hv[sbr]\.[\w-]{24,}/],
  ["vercel-token", "vc", /vc[piark]_[A-Za-z0-9]{20,}/],
  ["vercel-token", "vercel_blob_rw_", /vercel_blob_rw_\w{30,}/],
  ["xai-key", "xai-", /xai-[A-Za-z0-9]{60,}/],
];

// --- The words of a text that may be a credential, found in one pass over its characters.

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
