/** Our own rules for credentials: formats and named values that secretlint misses or reports with a wrong range. */

import { FORMATS } from "./secret-formats.ts";

/** Where a credential stands, as offsets into the text. Never the value. */
export interface SecretSpan {
  rule: string;
  start: number;
  end: number;
}

/** Every span the rules below find, in no order and possibly overlapping. Linear in the length of the text. */
export function findByOwnRules(text: string): SecretSpan[] {
  return [
    ...findFormats(text),
    ...findPrivateKeys(text),
    ...findUrlPasswords(text),
    ...findAuthorizations(text),
    ...findNamedValues(text),
  ];
}

/**
 * Stand-ins that documentation uses: `ghp_xxxxxxxx`, `sk-...`, AWS's own `...EXAMPLE`. Asked of formats that are otherwise
 * certain, hence narrow: twelve equal-looking characters do not happen in a real key.
 */
export function isFiller(value: string): boolean {
  return /x{6,}|\*{4,}|\.{3,}|example(?:key)?$|your[_-]/i.test(value) || new Set(value.slice(-12)).size <= 2;
}

/** Names of rules that say only what the value was called; a format that overlaps says more. */
export const GENERIC_RULES: ReadonlySet<string> = new Set(["password", "secret", "token", "api-key", "bearer-token"]);

function* findFormats(text: string): Generator<SecretSpan> {
  for (const [rule, hint, pattern] of FORMATS) {
    if (!text.includes(hint)) continue;
    for (const match of text.matchAll(new RegExp(`(?<![A-Za-z0-9])(?:${pattern.source})`, "g"))) {
      const value = match[0].replace(/\.+$/, "");
      if (!isFiller(value)) yield span(rule, match.index, value);
    }
  }
}

// A generous upper bound: the PEM of a 16,384-bit RSA key has 12,700 characters.
const MAX_PEM = 20_000;

// Header lines (`Proc-Type: 4,ENCRYPTED`) and lines of base64; a line's end may be written as \n, quoted or indented. Without
// line ends only long runs count, so that the words behind a key that was cut off are not taken with it.
const PEM_LINES =
  /^(?:[ \t>|"',+#]*(?:\\[nrt]|\r?\n)[\s\\>|"',+#nrt]{0,20}?(?:[A-Z][\w-]{2,20}: [^\n\\]{0,100}|[A-Za-z0-9+/=]{32,}|[A-Za-z0-9+/=]{4,}(?=[ \t]*(?:[\r\n\\"',|]|$)))|[ \t]*[A-Za-z0-9+/=]{32,})*/;

/**
 * PEM blocks of any kind. secretlint takes only those whose body begins with `MI` and has 100 characters, which leaves out
 * Ed25519, EC, PGP and encrypted keys, and it needs the END line.
 */
function* findPrivateKeys(text: string): Generator<SecretSpan> {
  let done = 0;
  for (const match of text.matchAll(/-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)) {
    if (match.index < done) continue;
    const from = match.index + match[0].length;
    const rest = text.slice(from, from + MAX_PEM);
    const body = PEM_LINES.exec(rest)?.[0] ?? "";
    if (!/[A-Za-z0-9+/]{32}/.test(body)) continue;
    const tail =
      /^[A-Za-z0-9+/=\s\\>|"',#]{0,100}-----END[A-Z0-9 ]{0,40}-----/.exec(rest.slice(body.length))?.[0] ?? "";
    done = from + body.length + tail.length;
    yield { rule: "private-key", start: match.index, end: done };
  }
}

const DATABASES =
  /^(?:postgres|mysql|mariadb|mongo|redis|valkey|mssql|sqlserver|oracle|clickhouse|cockroach|neo4j|cassandra)/i;

/** `scheme://user:password@host` of any scheme: the password alone, so that the host stays readable. */
function* findUrlPasswords(text: string): Generator<SecretSpan> {
  for (const match of text.matchAll(/:\/\//g)) {
    const scheme = /[a-z][a-z0-9+.-]*$/i.exec(text.slice(Math.max(0, match.index - 20), match.index))?.[0];
    if (!scheme) continue;
    const from = match.index + 3;
    const authority = text.slice(from, from + 400);
    const pair = /^([^\s:/@?#"'`<>()[\]]{0,128}):([^\s/?"'`<>()[\]]{1,256})@(?=[\w[])/.exec(authority);
    if (pair) {
      const [, user = "", password = ""] = pair;
      // GitHub's old form carries the token as the user.
      if (password === "x-oauth-basic") yield span("github-token", from, user);
      else if (password.length >= 4 && password !== user && !isPlaceholder(password)) {
        yield span(DATABASES.test(scheme) ? "database-password" : "url-password", from + user.length + 1, password);
      }
      continue;
    }
    // A token as the only user. Sentry's DSNs look the same and are public.
    const token = /^([\w-]{20,256})@(?![\w.]*sentry)\w/.exec(authority)?.[1];
    if (token && isMixed(token) && !isFiller(token)) yield span("url-password", from, token);
  }
}

function* findAuthorizations(text: string): Generator<SecretSpan> {
  const header =
    /\b(authorization["'`*\]]{0,4}[ \t]{0,4}[:=][ \t"'`*]{0,4})?\b(bearer|basic|token)[ \t]{1,4}([\w.~+/=-]{8,})/gi;
  for (const match of text.matchAll(header)) {
    const [whole, named, scheme = "", value = ""] = match;
    if (isPlaceholder(value) || isReference(value) || isFiller(value)) continue;
    const start = match.index + whole.length - value.length;
    if (/basic/i.test(scheme)) {
      if (isBasic(value)) yield span("basic-auth", start, value);
    } else if (isMixed(value) && (named || (/bearer/i.test(scheme) && value.length >= 16))) {
      yield span("bearer-token", start, value);
    }
  }
  for (const match of text.matchAll(
    /\bcurl\b[^\n]{0,300}?[ \t](?:-u|--user)[ =]["']?([^\s:"']{1,64}):([^\s"']{4,})/g,
  )) {
    const [whole, user, password = ""] = match;
    if (password === user || isPlaceholder(password)) continue;
    yield span("password", match.index + whole.lastIndexOf(password), password);
  }
  for (const match of text.matchAll(COMMANDS)) {
    const [whole, quote = "", run = ""] = match;
    const password = quote ? cutQuoted(run, quote) : cutBare(run);
    if (!isCredible(password, "password", true)) continue;
    yield span("password", match.index + whole.length - run.length, password);
  }
  // Docker's config.json.
  for (const match of text.matchAll(/"auth"[ \t]{0,4}:[ \t]{0,4}"([A-Za-z0-9+/]{8,}={0,2})"/g)) {
    const [whole, value = ""] = match;
    if (isBasic(value)) yield span("basic-auth", match.index + whole.length - value.length - 1, value);
  }
  for (const match of text.matchAll(/\blogin[ \t]{1,4}\S{1,64}\s{1,8}password[ \t]{1,4}["']?([^\s"']{4,})/g)) {
    const [whole, password = ""] = match;
    if (!isPlaceholder(password)) yield span("password", match.index + whole.length - password.length, password);
  }
}

/** Programs that take a password after `-p`; MySQL's take it without a space, as what follows one is a database. */
const COMMANDS =
  /\b(?:sshpass[ \t]{1,4}-p[ \t]?|(?:docker|podman|nerdctl|buildah|registry|oc|cf|az)[ \t]{1,4}login\b[^\n]{0,200}?[ \t]-p[ \t=]|(?:mongosh|mongodump)\b[^\n]{0,200}?[ \t]-p[ \t]|(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,200}?[ \t]-p)(["']?)([^\s-]\S{5,255})/g;

/** Base64 of user:password, and nothing else that follows the word "basic", decodes to printable text with a colon. */
function isBasic(value: string): boolean {
  return /^[ -~]+:[ -~]+$/.test(Buffer.from(value, "base64").toString("latin1"));
}

// The word must end the name: `token_count`, `password_hash`, `secretName` and plurals are no credentials.
const NAMES =
  /pass(?:wor[dt]|wd|phrase|code|ord)?|pwd|kennwort|wachtwoord|contraseña|senha|mot de passe|пароль|パスワード|密码|secret(?:[ _-]?(?:access[ _-]?)?key)?|token|(?:api|app(?:lication)?|access|auth|account|storage|subscription|consumer|admin|deploy|private|signing|encryption|hmac|master|service[ _-]?role)[ _-]?key/gi;

const SUFFIX = String.raw`(?:[_-]?(?:value|base|prod(?:uction)?|staging|live|dev|test|local|ci|\d{1,3})(?![A-Za-z0-9]))?`;
const CLOSE = String.raw`(?<close>(?:\\?["'\x60]\]?|\*{1,2}|_{1,2})*)`;
const ASSIGN = String.raw`[ \t]{0,8}(?<sign>:[ \t]*[&\w<>[\]| ]{1,24}=|:=|={1,3}>?|[:：]|(?<=[ \t])\|(?=[ \t])|>)[ \t]{0,8}\*{0,2}[ \t]{0,8}`;
const IS = String.raw`[ \t]{1,4}(?:is|was|ist|lautet|est|es|er)(?:[ \t]now)?:?[ \t]{1,4}`;
const FOR = String.raw`[ \t]{1,4}(?:for|of|to|on|in)[ \t][^\n:=|]{1,40}?(?::|=|[ \t](?:is|was))[ \t]{1,4}`;
const VALUE = String.raw`(?:[bru]?\\?(?<quote>["'\x60]))?(?<run>\S{1,256})`;
const AFTER = new RegExp(
  `^${SUFFIX}(?:${CLOSE}(?:${ASSIGN}|${IS}|${FOR})|(?<comma>["'],[ \\t]*(?=["']))|(?<flag>[ \\t]+))${VALUE}`,
  "i",
);
// Enough for the widest form of all the above around a value of which 256 characters are looked at.
const REACH = 400;

/** `password: x`, `API_KEY=x`, `"secret": "x"`, `--token x`, `password for staging is x`, `<password>x</password>`, `| token | x |`. */
function* findNamedValues(text: string): Generator<SecretSpan> {
  let done = 0;
  for (const match of text.matchAll(NAMES)) {
    if (match.index < done) continue;
    const from = match.index + match[0].length;
    const after = AFTER.exec(text.slice(from, from + REACH));
    if (!after?.groups) continue;
    const before = text.slice(Math.max(0, match.index - 64), match.index);
    const { close = "", sign, quote, run = "", comma, flag } = after.groups;
    if (/:$/.test(before)) continue; // a part of an ARN or URN: `arn:…:secret:name`
    if (match[0].toLowerCase() === "pass" && (/[a-z]$/.test(before) || !sign)) continue; // bypass, compass
    if (comma && !/\b(?:define|set\w*|put)[ \t]*\([ \t]*["'][\w.-]*$/i.test(before)) continue;
    if (flag && !/(?:^|\s)--?[\w-]*$/.test(before)) continue;
    if (sign === ">" && !/<[\w:.-]*$/.test(before)) continue;

    const value = quote ? cutQuoted(run, quote) : cutBare(run);
    const start = from + after[0].length - run.length;
    const shell = sign === "=" && close === "" && text[start - 1] === "=" && match[0] === match[0].toUpperCase();
    const rule = nameRule(match[0], value);
    if (!isCredible(value, rule, quote ? quote !== "`" : shell)) continue;
    done = start + value.length;
    // A value that fills the reach goes on to its end.
    if (value.length === 256) done += /^[^\s"'`<>|]*/.exec(text.slice(done))?.[0].length ?? 0;
    yield { rule, start, end: done };
  }
}

function nameRule(name: string, value: string): string {
  if (/secret[ _-]?access[ _-]?key/i.test(name) && /^[A-Za-z0-9/+=]{40}$/.test(value)) return "aws-secret-key";
  if (/^secret/i.test(name)) return "secret";
  if (/key$/i.test(name)) return "api-key";
  return /^token$/i.test(name) ? "token" : "password";
}

/** Empty when a space comes before the closing quote: no credential of a format we know has one. */
function cutQuoted(run: string, quote: string): string {
  const end = run.indexOf(quote);
  if (end === -1) return run.length === 256 ? run : "";
  return run.slice(0, end).replace(/\\$/, "");
}

/** An unquoted value ends at markup, at the next `name=` of its list, and before the punctuation of the sentence. */
function cutBare(bare: string): string {
  const plain = /^[^"'`<>|]*/.exec(bare)?.[0] ?? "";
  const alone = /^[^;,&]*(?:[;,&](?![\w-]+[=:])[^;,&]*)*/.exec(plain)?.[0] ?? "";
  return alone.replace(/[.,;:)\]}*_\\]+$/, "");
}

function isCredible(value: string, rule: string, literal: boolean): boolean {
  const password = rule === "password";
  if (/\s/.test(value) || value.length < (password ? 6 : 8) || isPlaceholder(value)) return false;
  if (rule === "aws-secret-key") return !isFiller(value);
  if (isReference(value) && !(password && literal && /\d/.test(value) && !/[/(]|\.env/.test(value))) return false;
  if (password && /^\d+$/.test(value)) return true;
  // Letters alone are a password only where code or a shell says so; a capitalised word is a label of a form.
  if (password && literal && /^[A-Za-z_-]{8,}$/.test(value))
    return !/^[A-Z]?[a-z]*(?:password|passwort)$|^[A-Z][a-z]+$/.test(value);
  return isMixed(value) && !(literal ? isTechnical(value) : isWordy(value, password));
}

/** Letters with digits, or with the marks people put inside a password. */
function isMixed(value: string): boolean {
  return (
    /[A-Za-z]/.test(value) && (/\d/.test(value) || /^[^A-Za-z]*[A-Za-z][^!@#$%^*~]*[!@#$%^*~].*[A-Za-z]/.test(value))
  );
}

const PLACEHOLDER_WORDS =
  /(?:^|[^a-z])(?:examples?|samples?|placeholder|change[-_ ]?(?:me|this|it)|redacted|removed|masked|dummy|fake|todo|tbd|fixme|replace[-_]?(?:me|with|this)?|insert|your)(?:[^a-z]|$)/i;
const PLACEHOLDER_VALUES =
  /^(?:(?:my|the|some|any|a|an|test|new|old)[-_]?)?(?:user|pass|password|passwd|passphrase|pwd|secret|token|key|api[-_]?key|apikey|credentials?|postgres|mysql|redis|root|admin|guest|test|testing|string|text|number|boolean|bool|object|varchar|hidden|required|optional|none|null|nil|undefined|true|false|empty|unset|default|foobar|foo|bar|value)$/i;

/** Templates, ellipses and words that stand for a value. `password123` is weak but real, and is reported. */
function isPlaceholder(value: string): boolean {
  return (
    /^[<[{(]|\$\{|\{\{|\$\(|<%|^\$[a-z_]+(?:$|->|[:[.])|^\$[a-z_]*_[a-z0-9_]*$|^%\w+%$|^\{?[a-z_]+\}$|\.\.\.|…|\*{3}|•|x{4,}/i.test(
      value,
    ) ||
    new Set(value).size <= 2 ||
    PLACEHOLDER_WORDS.test(value) ||
    PLACEHOLDER_VALUES.test(value)
  );
}

/** Values that point elsewhere or measure something: code, variables, URLs, paths, versions, dates, digests, tickets. */
function isReference(value: string): boolean {
  return (
    /^[A-Za-z_$][\w$]*\??(?:\.[A-Za-z_$]|\(|\[|::|->)/.test(value) ||
    /^[A-Z]{2}[A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) ||
    /^(?:[a-z][\w+.-]*:\/\/|arn:|urn:)/i.test(value) ||
    isPath(value) ||
    /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value) ||
    /^v?\d+\.\d[\w.+-]*$|^\d{4}-\d\d(?:-\d\d)?(?:T[\d:.]+Z?)?$|^\d+[a-z]{1,6}$/i.test(value) ||
    /^(?:sha\d{1,3}|md5)[:-]|^0x[0-9a-f]{40}$/i.test(value) ||
    /^[A-Z]{2,10}-?\d{1,6}$/.test(value)
  );
}

function isPath(value: string): boolean {
  if (value.endsWith("=")) return false;
  if (/^(?:\.{0,2}|~|[A-Za-z]:)[/\\]\w/.test(value)) return true;
  const parts = value.split("/");
  // Base64 has slashes too, but its parts mix digits and both cases.
  return (
    parts.length > 1 &&
    parts.every((part) => /^[@\w.-]*$/.test(part) && !(/\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part)))
  );
}

const TECHNICAL =
  /^(?:argon2(?:id?|d)?|bcrypt|scrypt|pbkdf2|sha\d+|md5|hmac|oauth2?|base(?:16|32|58|64)(?:url)?|utf8?|aes\d*|rsa\d*|ed25519|x25519|secp\d+[kr]1|[hrep]s\d{3}|x509|pkcs\d*|k8s|s3|ec2|1password|http2|uuid(?:v\d)?|auth0|varchar\d*|int\d+|v\d+)$/i;

/** Names of algorithms and products that contain digits, alone or joined: `argon2id`, `HMAC-SHA256`. */
function isTechnical(value: string): boolean {
  return value.split(/[-_./:+]/).every((part) => isTechnicalWord(part) || /^[A-Za-z]*$/.test(part));
}

function isTechnicalWord(word: string): boolean {
  return TECHNICAL.test(word) || /^[A-Z]{2,6}\d{1,5}$/.test(word);
}

/** Joined words as prose and resource names have them: `at-least-8-chars`, `us-east-1a`, `db1-prod-creds`. */
function isWordy(value: string, password: boolean): boolean {
  const parts = value.split(/[-_./:+]/);
  if (parts.length === 1) return isTechnicalWord(value);
  const resource = password ? /^\d{1,2}[a-z]{1,2}$/ : /^(?:\d{1,2}[a-z]{1,2}|[a-z]{1,5}\d{1,2})$/;
  return parts.every((part) => /^(?:[A-Za-z]*|\d{1,3})$/.test(part) || isTechnicalWord(part) || resource.test(part));
}

function span(rule: string, start: number, value: string): SecretSpan {
  return { rule, start, end: start + value.length };
}
