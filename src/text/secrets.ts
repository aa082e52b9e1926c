/** Finds credentials in a text and takes them out: by format, by the name a value is bound to, by what is said around it. */

import { FORMATS } from "./secret-formats.ts";

/** Offsets into the text; `line` is 1-based. Never holds the value. */
export interface SecretFinding {
  rule: string;
  line: number;
  start: number;
  end: number;
}

type Span = Omit<SecretFinding, "line">;

/** Every credential found in text, sorted by position, overlapping findings merged. Linear in the length of the text. */
export function findSecrets(text: string): SecretFinding[] {
  const found = [
    ...findFormats(text),
    ...findPrivateKeys(text),
    ...findUrlPasswords(text),
    ...findAuthorizations(text),
    ...findNamedValues(text),
    ...findRandomRuns(text),
  ].filter((span) => !isSample(text, span));
  let line = 1;
  let from = 0;
  return mergeSpans(found).map(({ rule, start, end }) => {
    for (let at = text.indexOf("\n", from); at !== -1 && at < start; at = text.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    return { rule, line, start, end };
  });
}

/** The text with every finding replaced by `[redacted: <rule>]`. */
export function redactSecrets(text: string, findings: readonly SecretFinding[] = findSecrets(text)): string {
  let redacted = "";
  let from = 0;
  for (const finding of mergeSpans(findings)) {
    redacted += `${text.slice(from, finding.start)}[redacted: ${finding.rule}]`;
    from = finding.end;
  }
  return redacted + text.slice(from);
}

/** Names of rules that say only what the value was called; a format that overlaps says more. */
const GENERIC_RULES: ReadonlySet<string> = new Set(["password", "secret", "token", "api-key", "bearer-token"]);

/** Sorted, overlapping spans as one. */
function mergeSpans(spans: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const next of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (!last || next.start >= last.end) {
      merged.push({ ...next });
      continue;
    }
    last.end = Math.max(last.end, next.end);
    if (GENERIC_RULES.has(last.rule) && !GENERIC_RULES.has(next.rule)) last.rule = next.rule;
  }
  return merged;
}

function* findFormats(text: string): Generator<Span> {
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

/** PEM blocks of any kind, with or without their END line. */
function* findPrivateKeys(text: string): Generator<Span> {
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
function* findUrlPasswords(text: string): Generator<Span> {
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
      else if (password.length >= 4 && password !== user && !isStandIn(password)) {
        yield span(DATABASES.test(scheme) ? "database-password" : "url-password", from + user.length + 1, password);
      }
      continue;
    }
    // A token as the only user. Sentry's DSNs look the same and are public.
    const token = /^([\w-]{20,256})@(?![\w.]*sentry)\w/.exec(authority)?.[1];
    if (token && isMixed(token) && !isFiller(token)) yield span("url-password", from, token);
  }
}

const HEADER =
  /\b(authorization["'`*\]]{0,4}[ \t]{0,4}[:=][ \t"'`*]{0,4})?\b(bearer|basic|token|bot|splunk|ssws|api-?key|geniekey)[ \t]{1,4}([\w.~+/=-]{8,})/gi;

/** Forms in which the last group is a password, whatever it is called; `true` where letters alone will do. */
const LOGINS: readonly (readonly [pattern: RegExp, literal: boolean])[] = [
  [/\bcurl\b[^\n]{0,300}?[ \t](?:-u|--user)[ =]["']?([^\s:"']{1,64}):([^\s"']{4,})/g, true],
  // Programs that take a password after a flag; MySQL's take it without a space, as what follows one is a database.
  [/\bsshpass[ \t]{1,4}-p[ \t]?["']?()([^\s"'-][^\s"']{5,255})/g, true],
  [
    /\b(?:docker|podman|nerdctl|buildah|registry|oc|cf|az)[ \t]{1,4}login\b[^\n]{0,200}?[ \t]-p[ \t=]["']?()([^\s"'-][^\s"']{5,255})/g,
    true,
  ],
  [/\b(?:mongosh|mongodump)\b[^\n]{0,200}?[ \t]-p[ \t]["']?()([^\s"'-][^\s"']{5,255})/g, true],
  [/\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,200}?[ \t]-p["']?()([^\s"'-][^\s"']{5,255})/g, true],
  [/\bredis-cli\b[^\n]{0,200}?[ \t]-a[ \t]["']?()([^\s"'-][^\s"']{5,255})/g, true],
  [/\bldap(?:search|modify|add|delete|whoami)\b[^\n]{0,200}?[ \t]-w[ \t]["']?()([^\s"'-][^\s"']{5,255})/g, true],
  [/\blogin[ \t]{1,4}(\S{1,64})\s{1,8}password[ \t]{1,4}["']?([^\s"']{4,})/g, true],
  [
    /\b(?:log_?in|authenticate|auth|connect|sign_?in|\w*basic_?auth)\([ \t]{0,4}["']([^"'\n]{1,64})["'],[ \t]{0,4}["']([^"'\s]{6,128})(?=["'])/gi,
    true,
  ],
  [/\bsqlcmd\b[^\n]{0,200}?[ \t]-P[ \t]?["']?()([^\s"'-][^\s"']{5,255})/g, true],
  [/\bidentified by[ \t]{1,4}["']()([^\s"']{6,128})(?=["'])/gi, true],
  // Go's data source name, and a line of .pgpass.
  [/(?<![\w.:/-])([\w.-]{1,64}):([^\s:@"'`]{4,128})@(?:tcp|unix)\(/g, true],
  [/^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,64}:([\w.-]{1,64}):(\S{4,128})$/gm, false],
  [/(?<![\w./-])(admin|administrator|root|postgres)(?::| \/ )([^\s"'`|]{6,64})/g, false],
  // `log in as admin / …`, `credentials: deploy:…`
  [
    /(?<![\w-])(?:log(?:in|on|ged)?(?: ?in)?|sign ?in|credentials?|creds|basic[ _-]?auth|zugangsdaten|wi-?fi|wlan|user(?:name)?)\b(?!\.)[^\n/:|"'`]{0,40}?[:=\s][ \t"'`]{0,3}([\w.@-]{2,40})["'`]?(?:[ \t]?[/:|][ \t]?|[ \t]and[ \t])["'`]?([^\s"'`|]{6,64})/gi,
    false,
  ],
];

/** The words from which a wallet is made, and passphrases of several words where they are quoted. */
const PHRASE =
  /\b(?:(?:mnemonic|(?:seed|recovery)[ _-](?:phrase|words))["'`]?(?: is)?[ \t]{0,4}[:=]?[ \t]{0,4}["'`]?(?=(?:[a-z]{3,8}[ ]){11})|passphrase["'`]?(?: is)?[ \t]{0,4}[:=]?[ \t]{0,4}["'`](?=(?:[a-z]{2,12}[ ]){3,7}[a-z]{2,12}["'`]))((?:[a-z]{2,12} ){2,23}[a-z]{2,12})/gi;

function* findAuthorizations(text: string): Generator<Span> {
  for (const match of text.matchAll(HEADER)) {
    const [whole, named, scheme = "", value = ""] = match;
    if (isStandIn(value) || isReference(value) || isFiller(value)) continue;
    const start = match.index + whole.length - value.length;
    if (/basic/i.test(scheme)) {
      if (isBasic(value)) yield span("basic-auth", start, value);
    } else if (isMixed(value) && !isSequence(value) && (named || (/bearer/i.test(scheme) && value.length >= 16))) {
      yield span("bearer-token", start, value);
    }
  }
  for (const [pattern, literal] of LOGINS) {
    for (const match of text.matchAll(pattern)) {
      const [whole, user = "", run = ""] = match;
      const password = cutBare(run);
      if (password === user || (literal ? !isCredible(password, "password", true) : !isStrong(password))) continue;
      yield span("password", match.index + whole.length - run.length, password);
    }
  }
  for (const match of text.matchAll(PHRASE))
    yield span("password", match.index + match[0].length - (match[1]?.length ?? 0), match[1] ?? "");
  // Docker's config.json.
  for (const match of text.matchAll(/"auth"[ \t]{0,4}:[ \t]{0,4}"([A-Za-z0-9+/]{8,}={0,2})"/g)) {
    const [whole, value = ""] = match;
    if (isBasic(value)) yield span("basic-auth", match.index + whole.length - value.length - 1, value);
  }
}

/** Base64 of user:password, and nothing else that follows the word "basic", decodes to printable text with a colon. */
function isBasic(value: string): boolean {
  const password = /^[ -~]+?:([ -~]+)$/.exec(Buffer.from(value, "base64").toString("latin1"))?.[1];
  return password !== undefined && !isStandIn(password);
}

/** What a name says of its value. `sure`: a short or plain value will do; otherwise it must look random. */
interface Name {
  rule: "password" | "secret" | "token" | "api-key";
  sure: boolean;
}

/** Where a name may stand; the whole identifier around it is read then. */
const STEM =
  /pass|pwd|\bpw\b|_pw\b|kennwort|wachtwoord|contraseña|senha|mot de passe|пароль|パスワード|密码|secret|token|key|schlüssel|clave|chave|cred|auth|cookie|session|\bPIN\b|_pat\b|_sk\b/gi;

// Behind the noun: of which environment, which one, in which form. Any other word there is what the value is: `token_count`.
const QUALIFIER =
  /^(?:value|val|base|prod|production|staging|stage|live|dev|development|test|local|ci|old|new|current|primary|secondary|main|default|raw|plain|plaintext|text|string|env|b64|base64|v?\d{1,3}|[ab])$/;
/** In a name these say that the value is no secret, or no longer one. */
const HARMLESS =
  /^(?:public|pub|publishable|anon|site|encrypted|enc|hashed|hash|sealed|cipher|ciphertext|example|sample|dummy|fake|mock|placeholder|masked|redacted|expected|invalid|next|page|continuation|continue|sync|cursor|csrf|xsrf|cancel|cancellation|idempotency|design|special|eos|bos|pad|lexer|syntax|max|min)$/;
const OTHER_KEYS =
  /^(?:primary|foreign|partition|sort|range|cache|routing|group|object|row|unique|natural|composite|translation|message|query|lookup|map|dict|hot|shortcut|arrow|config|state|feature|index|schema|json|yaml|column|field|tab|event|metric|label|bucket|kms|dedupe?|shard|lock|order|join|surrogate|type|name|theme|answer|legend|verify|verification|verifying|host)$/;
const SECRET_KEYS =
  /^(?:api|app|application|access|auth|authentication|account|storage|subscription|consumer|admin|deploy|private|priv|signing|sign|encryption|decryption|hmac|master|service|role|secret|client|shared|preshared|webhook|session|jwt|license|licence|server|root|project|integration|ingest|write|aes|cookie|security|crypto|sdk|rest|base)$/;

/** Of the words of an identifier, the last one that is no qualifier says what the value is. */
function readName(words: readonly string[]): Name | null {
  if (words.some((word) => HARMLESS.test(word))) return null;
  let at = words.length - 1;
  while (at > 0 && QUALIFIER.test(words[at] ?? "")) at--;
  const head = words[at] ?? "";
  const before = words[at - 1] ?? "";
  if (
    /(?:password|passwort|passwd|passphrase|passcode|passord|pwd|kennwort|wachtwoord|contraseña|senha|passe|пароль|パスワード|密码)$|^(?:pw|psw|pin|(?:db|user|root|admin|smtp|mail|pg|mysql|ftp|sudo|ssh|proxy|redis)?pass)$/.test(
      head,
    )
  )
    return { rule: "password", sure: true };
  if (/secret$/.test(head)) return { rule: "secret", sure: true };
  if (/token$|^(?:pat|sk)$/.test(head)) return { rule: "token", sure: true };
  if (/^(?:api|access|secret|auth|private|app|account|signing|encryption|master|shared|license)key$/.test(head))
    return { rule: "api-key", sure: true };
  if (/^(?:key|schlüssel|clave|chave)$/.test(head) && !OTHER_KEYS.test(before))
    return { rule: before.endsWith("secret") ? "secret" : "api-key", sure: SECRET_KEYS.test(before) };
  if (/^(?:secrets|tokens|passwords|keys|cred|creds|credentials?)$/.test(head)) return { rule: "secret", sure: false };
  return /^(?:auth|authorization|cookie|session|sessionid)$/.test(head) ? { rule: "token", sure: false } : null;
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

const CLOSE = String.raw`(?<close>(?:\\?["'\x60]\]?|\*{1,2}|_{1,2})*)`;
const ASSIGN = String.raw`[ \t]{0,8}(?<sign>:[ \t]*[&\w<>[\]| ]{1,24}=|:=|:-|[?+]=|<-|={1,3}>?|[:：→]|->|(?<=[ \t])\|(?=[ \t])|>)[ \t]{0,8}\*{0,2}[ \t]{0,8}`;
// `{"name": "TOKEN", "value": "…"}`, and the same in YAML.
const PAIR = String.raw`["']?,?[ \t]*\n?[ \t]*["']?value["']?[ \t]*[:=][ \t]*`;
// `getenv("TOKEN", "…")`, `env.TOKEN || "…"`, `setToken("…")`, `set("token", "…")`: a literal beside the name.
const BESIDE = String.raw`(?<beside>["']?[)\]]{0,2}[ \t]*(?:,|\|\||\?\?|or[ \t]|\()[ \t]*(?:--?body[ \t])?(?=["']))`;
const IS = String.raw`(?<is>[ \t]{1,4}(?:(?:(?:is|was|has been|been)[ \t])?(?:(?:now[ \t])?(?:changed|set|reset|rotated|updated)[ \t])?to|(?:is|was|are|ist|lautet|est|es|er|equals)(?:[ \t](?:now|currently|still))?):?[ \t]{1,4})`;
const FOR = String.raw`(?<of>[ \t]{1,4}(?:(?:for|of|to|on|in|we|that|between|from|with)[ \t]|\()[^\n:=|]{1,40}?(?::|=|→|[ \t](?:is|was))[ \t]{1,4})`;
// The value alone on the lines below, perhaps as a code block.
const BELOW = String.raw`(?<below>[*_]{0,2}:[*_]{0,2}[ \t]*[|>]?-?[ \t]*\r?\n\s{0,8}(?:\x60{3}\w*\r?\n)?[ \t>-]*(?=\S+[ \t]*(?:\r?\n|$)))`;
const LOOSE = String.raw`(?<loose>[ \t]{1,4}(?:[—–-][ \t]{1,4})?\(?)`;
const VALUE = String.raw`(?:[bru@]?\\?(?<quote>["'\x60])|[“„«‘])?(?<run>\S{1,256})`;
const AFTER = new RegExp(`^(?:${CLOSE}(?:${BELOW}|${ASSIGN}|${PAIR}|${BESIDE}|${IS}|${FOR})|${LOOSE})${VALUE}`, "i");
// `… is the password`, `… as the token for X`: words between a value and a name that follows it.
const REVERSE =
  /(?:["'`(]|(?:^|[\s:,]))([^\s"'`()]{8,128})["'`)]{0,2}[ \t](?:is|as|was)[ \t](?:(?:the|our|my|its|a|an)[ \t])?(?:[\w-]{1,20}[ \t]){0,2}$/;
// Enough for the widest form of all the above around a value of which 256 characters are looked at.
const REACH = 400;
// As much of a value as tells what it is.
const JUDGED = 96;

/** `password: x`, `API_KEY=x`, `"secret": "x"`, `--token x`, `password for staging is x`, `<password>x</password>`, `| token | x |`. */
function* findNamedValues(text: string): Generator<Span> {
  let done = 0;
  for (const match of text.matchAll(STEM)) {
    if (match.index < done) continue;
    const prefix = nameBefore(text, match.index);
    const before = text.slice(Math.max(0, match.index - 64), match.index - prefix.length);
    const from = match.index + match[0].length;
    const rest = /^[\w-]{0,40}/.exec(text.slice(from, from + 40))?.[0].replace(/-+$/, "") ?? "";
    const end = from + rest.length;
    // Part of an ARN or URN, `arn:…:secret:name`; or of what was put in place of a secret.
    if (/(?<!\$env)(?<=\w):$|\[redacted: $/i.test(before)) continue;
    done = end;
    const spoken = prefix === "" && before.endsWith(" ") ? (/(?:[A-Za-z]{2,20} ){1,2}$/.exec(before)?.[0] ?? "") : "";
    const name = readName(splitWords(spoken + prefix + match[0] + rest));
    if (!name) continue;

    const ahead = name.sure && prefix === "" ? text.slice(Math.max(0, match.index - 240), match.index) : "";
    const reverse = /[ \t](?:is|as|was)[ \t]/.test(ahead.slice(-70)) ? REVERSE.exec(ahead) : null;
    const said = reverse?.[1] ?? "";
    if (said && isStrong(said)) {
      const at = match.index - (reverse?.[0].length ?? 0) + (reverse?.[0].indexOf(said) ?? 0);
      yield span(name.rule, at, said);
    }

    const after = AFTER.exec(text.slice(end, end + REACH));
    if (!after?.groups) continue;
    const { close = "", sign, quote, run = "", beside, of, loose, below } = after.groups;
    if (sign === ">" && !/<[^<>]*$/.test(before + prefix)) continue;
    const isFlag = /(?:^|\s)--?[\w-]*$/.test(before + prefix);
    const whole = quote ? cutQuoted(run, quote) : cutBare(run);
    const value = whole.slice(0, JUDGED);
    const start = end + after[0].length - run.length;
    const written = (prefix + match[0] + rest).replace(/^\w*:/, "");
    const shell = sign === "=" && close === "" && text[start - 1] === "=" && written === written.toUpperCase();
    const literal = quote ? quote !== "`" && sign !== "|" : shell;
    const rule = /secret.?access.?key/i.test(spoken + written) && AWS_SECRET.test(value) ? "aws-secret-key" : name.rule;
    const isLoose = (loose !== undefined && !isFlag) || below !== undefined || sign?.startsWith("==");
    if (beside !== undefined && !quote) continue;
    if (of !== undefined && /\b(?:public|publishable|examples?|sample|encrypted|hash)/i.test(of)) continue;
    const isBound = name.sure
      ? isLoose
        ? isStrong(value) || (loose !== undefined && literal && isCredible(value, rule, false))
        : isCredible(value, rule, literal && beside === undefined)
      : (isRandom(value, 20) || (literal && prefix !== "" && isHex(value))) && !isStandIn(value) && !isReference(value);
    if (!isBound) continue;
    done = start + whole.length;
    // A value that fills the reach goes on to its end.
    if (whole.length === 256) done += /^[^\s"'`<>|]*/.exec(text.slice(done))?.[0].length ?? 0;
    yield { rule, start, end: done };
  }
}

const AWS_SECRET = /^[A-Za-z0-9/+=]{40}$/;

/** Empty when a space comes before the closing quote: no credential of a format we know has one. */
function cutQuoted(run: string, quote: string): string {
  const end = run.indexOf(quote);
  if (end === -1) return run.length === 256 ? run : "";
  return run.slice(0, end).replace(/\\$/, "");
}

/** An unquoted value ends at markup, at the next `name=` of its list, and before the punctuation of the sentence. */
function cutBare(bare: string): string {
  const plain = /^[^"'`<>|“”»’]*/.exec(bare)?.[0] ?? "";
  const alone = /^[^;,&]*(?:[;,&](?![\w-]+[=:])[^;,&]*)*/.exec(plain)?.[0] ?? "";
  return alone.replace(/[.,;:)\]}*_\\]+$/, "");
}

/** Words before a long random run that say what it is: the nearest one counts. */
const LABELS =
  /(?<other>(?:encrypted|public|publishable|anon|site|example|sample|fake|dummy|mock|next|page|continuation|sync|cache|sort|partition|csrf)[ _-]?(?:token|key|secret|password)|sha-?\d+|md5|digest|checksum|hash|commit|revert|changed in|integrity|etag|fingerprint|revision|blob|trace|span|request|uuid|guid|(?<![a-z])ids?(?![a-z])|public|certificate|cipher|encrypt|secure|signature|nonce|cursor|version|image|build|path|file|url|transaction|address|contract|recipient)|(?<secret>pass(?:word|wd|phrase)|secret|token|(?:api|access|private|signing|encryption|deploy|license|master|auth|app|admin)[ _-]?key|credential|bearer)s?(?![a-z]|\.\w)/gi;
// The value's own beginning says it, `acme_sk_live_…`, or is short and set off from a long body, as vendors' tokens have it.
const SELF_NAMED =
  /^(?:[A-Za-z0-9]{1,12}[_-]){0,3}(?:sk|[A-Za-z]{0,6}pat|secret|token|apikey|api|priv)[_-](?:[a-z0-9]{1,8}[_-]){0,2}/i;

/** Long random runs on a line, or in a column, that says they are credentials; and those whose own beginning says it. */
function* findRandomRuns(text: string): Generator<Span> {
  for (const match of text.matchAll(/[\w~+/.-]{20,4096}/g)) {
    let start = match.index;
    let end = start + match[0].length;
    while (start < end && /[.-]/.test(text[start] ?? "")) start++;
    while (start < end && /[.-]/.test(text[end - 1] ?? "")) end--;
    const value = text.slice(start, end);
    const head = value.slice(0, 256);
    const own = isSelfNamed(head);
    const isCased = /[a-z]/.test(head) && /[A-Z]/.test(head) && isRandom(head);
    if (!own && !isCased && !isHex(head)) continue;
    if (isStandIn(head) || isReference(head) || isFiller(head)) continue;
    const line = linesBefore(text, start).at(-1) ?? "";
    const lineStart = start - line.length;
    const chunk = line.split(/[\s"'`]/).at(-1) ?? "";
    if (/[/@#%]/.test(chunk) || SEALED_WITHIN.test(chunk + head)) continue;
    const before = `${columnTitle(text, lineStart, line)} ${line.slice(-80)}`;
    const comment = COMMENT.exec(text.slice(start + value.length, start + value.length + 60))?.[0] ?? "";
    const rule = own ? "token" : (readLabels(before, !isCased) ?? (isCased ? readLabels(comment, false) : null));
    if (!rule) continue;
    // The run is bounded, as the engine's stack is; and base64 ends in signs that elsewhere stand before a value.
    while (/[\w~+/=]/.test(text[end] ?? "")) end++;
    yield { rule, start, end };
  }
}

/** The line up to an offset, and those above it, as far as they are of use. */
function linesBefore(text: string, at: number): string[] {
  return text.slice(Math.max(0, at - 200), at).split("\n");
}

/** What is said behind a value in code, `f("…") # the secret key`. */
const COMMENT = /^["'`)\];, \t]{0,6}(?:#|\/\/)[^\n]*/;

function isSelfNamed(value: string): boolean {
  const said = SELF_NAMED.exec(value)?.[0];
  if (said) return isRandom(value.slice(said.length), 20) || isHex(value.slice(said.length));
  const body = /^[a-z]{2,6}_(\w{30,})$/.exec(value)?.[1] ?? "";
  return /^[0-9a-f]{40}$/.test(body) || (/[A-Z]/.test(body) && isRandom(body));
}

/** A digest looks like a credential of hexadecimal digits, so that any word that speaks of digests counts there. */
function readLabels(before: string, hex: boolean): string | null {
  const labels = [...before.replace(/\[redacted: [\w-]+\]|\S*[\\/]\S*/g, "").matchAll(LABELS)];
  const last = labels.at(-1)?.groups?.secret?.toLowerCase();
  if (
    !last ||
    (hex && (labels.some(({ groups }) => groups?.other) || /\b(?:in|at|by|from|since|see|of)\s+["'`]?$/.test(before)))
  )
    return null;
  return last.startsWith("pass") ? "password" : last.endsWith("key") ? "api-key" : last === "secret" ? last : "token";
}

/** For a cell of a Markdown table: what the first row says in the same column. */
function columnTitle(text: string, lineStart: number, line: string): string {
  if (!/^[ \t>*-]*\|/.test(line)) return "";
  const above = text
    .slice(Math.max(0, lineStart - 1000), lineStart)
    .split("\n")
    .slice(0, -1);
  let first = above.length;
  while (first > 0 && /^[ \t>*-]*\|/.test(above[first - 1] ?? "")) first--;
  return above[first]?.split("|")[line.split("|").length - 1] ?? "";
}

function isCredible(value: string, rule: string, literal: boolean): boolean {
  const password = rule === "password";
  if (/\s/.test(value) || value.length < (password ? 6 : 8) || isStandIn(value)) return false;
  if (rule === "aws-secret-key") return !isFiller(value);
  if (isReference(value) && !(password && literal && /\d/.test(value) && !/[/(]|\.env/.test(value))) return false;
  if (password && /^\d+$/.test(value)) return true;
  if (!password && isSequence(value)) return false;
  // Letters alone are a password only where code or a shell says so; a capitalised word is a label of a form.
  if (password && literal && /^[A-Za-z_-]{8,}$/.test(value))
    return !/^[A-Z]?[a-z]*(?:password|passwort)$|^[A-Z][a-z]+$/.test(value);
  return isMixed(value) && !(literal ? isTechnical(value) : isWordy(value, password));
}

/** Without a sign between name and value: letters, digits and either signs or both cases, or a long random run. */
function isStrong(value: string): boolean {
  if (!isMixed(value) || isStandIn(value) || isReference(value) || isWordy(value, true) || isFiller(value))
    return false;
  if (isRandom(value) || isHex(value)) return true;
  return (
    value.length >= 8 &&
    value.length <= 40 &&
    /\d/.test(value) &&
    !/[()[\]{}<>\\|;:]/.test(value) &&
    (/[!@#$%^&*~?]/.test(value) ||
      (/[a-z]/.test(value) && /[A-Z]/.test(value)) ||
      /[a-z][_-]?\d{3,}[a-z]|[a-z]\d[a-z]\d/.test(value))
  );
}

/** Letters with digits, or with the marks people put inside a password. */
function isMixed(value: string): boolean {
  return (
    /[A-Za-z]/.test(value) && (/\d/.test(value) || /^[^A-Za-z]*[A-Za-z][^!@#$%^*~]*[!@#$%^*~].*[A-Za-z]/.test(value))
  );
}

/** A long run of both cases and digits, or of letters and many digits, that is not made of words, as identifiers are. */
function isRandom(value: string, least = 16): boolean {
  if (value.length < least || !/^[\w~+/=.-]+$/.test(value) || UUID.test(value) || isSequence(value)) return false;
  const digits = value.match(/\d/g)?.length ?? 0;
  const letters = value.match(/[A-Za-z]/g)?.length ?? 0;
  if (digits === 0 || letters === 0 || wordShare(value) > 0.6) return false;
  if (/[a-z]/.test(value) && /[A-Z]/.test(value)) return true;
  return (
    value.length >= 20 &&
    digits >= value.length / 8 &&
    /^\w+$/.test(value) &&
    !/^[0-9a-f]+$/i.test(value) &&
    wordShare(value) < 0.4
  );
}

function isHex(value: string): boolean {
  return /^(?=.*\d)(?=.*[a-f])[0-9a-f]{32,}$/.test(value);
}

/** How much of the letters is in runs that could be words. A random run of both cases and digits has about a fifth. */
function wordShare(value: string): number {
  const letters = value.match(/[A-Za-z]/g)?.length ?? 0;
  const runs = value.match(/[A-Za-z][a-z]{3,}|[A-Z]{4,}/g) ?? [];
  const words = runs.filter((run) => /[aeiouy]/i.test(run) && !/[bcdfghjklmnpqrstvwxz]{4}/i.test(run));
  return words.reduce((sum, word) => sum + word.length, 0) / Math.max(letters, 1);
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** `1234567890abcdef`, `abcdef123456`: most characters follow the one before. */
function isSequence(value: string): boolean {
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
function isFiller(value: string): boolean {
  return (
    /x{6,}|\*{4,}|\.{3,}|example(?:key)?$|your[_-]|12345678|abcdefgh|abcdef123|deadbeef/i.test(value) ||
    value.includes("EXAMPLE") ||
    new Set(value.slice(-12)).size <= 2
  );
}

const PLACEHOLDER_WORDS =
  /(?:^|[^a-z])(?:examples?|samples?|placeholder|change[-_ ]?(?:me|this|it)\d*|redacted|removed|masked|dummy|fake|todo|tbd|fixme|abc-?123|123-?abc|replace[-_]?(?:me|with|this)?|insert|your)(?:[^a-z]|$)/i;
const PLACEHOLDER_VALUES =
  /^(?:(?:my|the|some|any|a|an|test|new|old|super|top|very)[-_]?){0,2}(?:user|pass|password|passwd|passphrase|pwd|pw|secret|token|key|api|auth|access|credentials?|postgres|mysql|redis|root|admin|guest|test|testing|string|text|number|boolean|bool|object|varchar|hidden|required|optional|none|null|nil|undefined|true|false|empty|unset|default|foobar|foo|bar|value|here|[-_]){1,4}[-_]?(?:v?\d{1,2})?$|^(?:foo|bar|baz|qux|demo|test|abc|[-_])+\d*$/i;
// Ciphertexts and digests by the beginning that their format gives them: sops, jasypt, Spring, Vault's transit, KMS,
// sealed secrets, Fernet, age, Ansible; bcrypt, argon2, crypt, LDAP.
const SEALED =
  /^(?:\{?(?:enc|encrypted|cipher|aes\d*|crypt|bcrypt|pbkdf2|s?sha\d*|sealed|kms|secure|sops)[}:([]|vault:v\d|AQ[EI]C[AH]|CiQA|Ag[A-D][A-Za-z0-9+/]{37}|gAAAAA|age1|\$ANSIBLE|!(?:vault|ref|sub|getatt|env|encrypted)|\$(?:2[abxy]|argon2\w*|[15-9y]|apr1|pbkdf2[\w-]*|scrypt)\$|pbkdf2_|scrypt:)/i;
const SEALED_WITHIN = new RegExp(`(?:^|[=:])${SEALED.source.slice(1)}`, "i");

/** Templates, ellipses, words that stand for a value, and what is encrypted. `password123` is weak but real, and is reported. */
function isStandIn(value: string): boolean {
  return (
    /^[<[{(]|\$\{|\{\{|#\{|\$\(|<%|^\$[a-z_]+(?:$|->|[:[.])|^\$[a-z_]*_[a-z0-9_]*$|^%\w+%$|^%\(|^\{?[a-z_]+\}$|^__\w+__$|^@@|\.\.\.|…|\*{3}|•|x{4,}|^&(?:#|lt)|^\/\^|\\[wdsb]|\[\^?[a-z]-/i.test(
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
function isReference(value: string): boolean {
  return (
    (/^[A-Za-z_$@](?:[\w$]*\??(?:\.[A-Za-z_$]|\[|::|->)|[\w$]+\()/.test(value) &&
      !(isRandom(value) && !/[([]/.test(value))) ||
    /^[A-Z]{2}[A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) ||
    /^(?:[a-z][\w+.-]*:\/\/|arn:|urn:|(?:ssm|env|file|op|aws|gcp|kv|vault|secret):)/i.test(value) ||
    isPath(value) ||
    isIdentifier(value) ||
    /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value) ||
    /^v?\d+\.\d[\w.+-]*$|^\d{4}-\d\d(?:-\d\d)?(?:T[\d:.]+Z?)?$|^\d+[a-z]{1,6}$/i.test(value) ||
    /^(?:sha\d{1,3}|md5)[:-]|^0x[0-9a-f]{40}$/i.test(value) ||
    /^[A-Z]{2,10}-?\d{1,6}$/.test(value)
  );
}

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
  if (/^(?:\.{0,2}|~|[A-Za-z]:)[/\\][\w.]/.test(value)) return true;
  const parts = value.split("/");
  // Base64 has slashes too, but its parts mix digits and both cases.
  return (
    parts.length > 1 &&
    parts.every((part) => /^[@\w.-]*$/.test(part) && !(/\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part)))
  );
}

const TECHNICAL =
  /^(?:argon2(?:id?|d)?|bcrypt|scrypt|pbkdf2|sha\d+|md5|hmac|oauth2?|base(?:16|32|58|64)(?:url)?|utf8?|aes\d*|rsa\d*|ed25519|x25519|secp\d+[kr]1|[hrep]s\d{3}|x509|pkcs\d*|k8s|s3|ec2|1password|http2|uuid(?:v\d)?|auth0|varchar\d*|u?int\d+(?:array)?|float\d+(?:array)?|v\d+(?:(?:alpha|beta)\d?)?)$/i;

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
  if (parts.length === 1) return isTechnicalWord(value) || isCamel(value);
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

/** `Ed25519PrivateKeyParameters`, `OAuth2ClientV1Beta1`: three words or more, told apart by their capitals. */
function isCamel(value: string): boolean {
  return /^[A-Za-z0-9]+$/.test(value) && (value.match(/[A-Z][a-z]{2,}/g)?.length ?? 0) >= 3 && wordShare(value) > 0.6;
}

// Values that the documentation of their product publishes: parts of them, enough to know them by.
const PUBLISHED =
  /17653672481-19874698323|aGmWKa4JsXZ-HjGw|AAHdqTcvCH1vGWJx|2YotnFZFEjr1zCsi|tGzv3JOkF0XG5Qx2|mF_9\.B5f-4|4eC39HqLyjWDarjt|BQokikJOvBiI2HlW|JBSWY3DPEHPK3PXP|Eby8vdM02xNOcqFl|C2y6yDjf5\/R\+ob0N|yAnz5TF\+lXXJte14|QWxhZGRpbjpvcGVu|vFI1TnRWxMZNFuoj|correct-?horse/;
const CALLED_SAMPLE =
  /\b(?:placeholder|dummy|fake|made[- ]up|fictional|not (?:(?:an? )?(?:real|actual)|an? valid)|(?:sample|example|documented|published)[ -](?:\w+ )?(?:token|key|secret|password|credential|value|jwt)|(?:token|key|secret|jwt|value) from the docs|jwt\.io)/i;

/** What documentation publishes, and what its own line, or the line that introduces it, calls a sample. */
function isSample(text: string, { rule, start, end }: Span): boolean {
  const value = text.slice(start, Math.min(end, start + 2000));
  if (PUBLISHED.test(value)) return true;
  if (
    rule === "jwt" &&
    /John Doe|1516239022|1300819380/.test(Buffer.from(value.split(".")[1] ?? "", "base64url").toString("latin1"))
  )
    return true;
  const lines = linesBefore(text, start);
  const line = lines.pop() ?? "";
  const above = lines.findLast((one) => one.trim() !== "")?.trimEnd() ?? "";
  const before = above.endsWith(":") ? `${above} ${line}` : line;
  const after = /^[^\n]*/.exec(text.slice(end, end + 100))?.[0] ?? "";
  return CALLED_SAMPLE.test(before) || CALLED_SAMPLE.test(after);
}

function span(rule: string, start: number, value: string): Span {
  return { rule, start, end: start + value.length };
}
