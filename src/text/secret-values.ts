/**
 * Judges a value on its own: how much it looks like a credential, and whether it is a placeholder or a reference
 * instead.
 */

import { splitWords } from "./secret-names.ts";

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
