/** Finds and redacts credentials in a text: by format, by the name of a value, and by the words around it. */

import { checkGivenType, lazily } from "../errors.ts";
import {
  FORMATS,
  holdsName,
  isFiller,
  isMixed,
  isReference,
  isSequence,
  isStandIn,
  isTechnical,
  isWordy,
  JUDGED,
  type Label,
  readLabels,
  readWords,
  SEALED_WITHIN,
  type Strength,
  strengthOf,
  type Words,
} from "./secret-values.ts";

/** Where a secret is in a text, and of what kind. Never holds the value. */
export interface SecretFinding {
  /** The kind of secret, such as `private-key`. */
  rule: string;
  /** Line in the text, from 1. */
  line: number;
  /** Offset of its first character. */
  start: number;
  /** Offset after its last character. */
  end: number;
}

type Span = Omit<SecretFinding, "line">;

/** Every credential found in text, sorted by position, overlapping findings merged. Linear in the length of the text. */
export function findSecrets(text: string): SecretFinding[] {
  checkGivenType(typeof text === "string", "findSecrets", "`text` must be a string");
  const words = readWords(text);
  const labels = lazily(() => readLabels(text));
  const found = [
    ...findFormats(text, words.long),
    ...findPrivateKeys(text),
    ...findUrlPasswords(text),
    ...findAuthorizations(text),
    ...(holdsName(text) ? findNamedValues(text, labels()) : []),
    ...findNearValues(text, words.mixed, labels),
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
export function redactSecrets(text: string, findings?: readonly SecretFinding[]): string {
  checkGivenType(typeof text === "string", "redactSecrets", "`text` must be a text");
  const isGiven = findings === undefined || Array.isArray(findings);
  checkGivenType(isGiven, "redactSecrets", "`findings` must be a list, such as `findSecrets` gives");
  let redacted = "";
  let from = 0;
  for (const finding of mergeSpans(findings ?? findSecrets(text))) {
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

function* findFormats(text: string, long: string): Generator<Span> {
  for (const [rule, hint, pattern, isApart] of FORMATS) {
    if (!(isApart ? text : long).includes(hint)) continue;
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
  if (!text.includes("-----BEGIN")) return;
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

/** What a text has to hold for that, which takes a third of the time. */
const SCHEME = /(?:bearer|basic|token|bot|splunk|ssws|key)[ \t]/i;

/** An option of a command line that may have a password behind it. */
const OPTION = /[ \t]-(?:[upPawN]|-user|-auth)/;

/**
 * Forms in which the last group is a password, whatever it is called; `true` where letters alone will do. First, what a text has to
 * hold for any of this to be there, which takes a fraction of the time.
 */
const LOGINS: readonly (readonly [hint: RegExp, pattern: RegExp, literal: boolean])[] = [
  [
    OPTION,
    /\b(?:curl|https?|xh)\b[^\n]{0,300}?[ \t](?:-u|--user|-a|--auth)[ =]["']?([^\s:"']{1,128}):([^\s"']{4,})/g,
    true,
  ],
  // Programs that take a password after a flag; MySQL's take it without a space, as what follows one is a database.
  [
    OPTION,
    /\b(?:sshpass|(?:docker|podman|nerdctl|buildah|registry|oc|cf|az)[ \t]{1,4}login|mongo[a-z]{0,6}|sqlcmd|redis-cli|ldap[a-z]{3,8})\b[^\n]{0,200}?[ \t]-[pPaw][ \t=]?["']?()([^\s"'-][^\s"']{5,255})/g,
    true,
  ],
  [OPTION, /\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,200}?[ \t]-p["']?()([^\s"'-][^\s"']{5,255})/g, true],
  [OPTION, /[ \t]-[pPwaN][ \t=]["']?()([^\s"'-][^\s"']{7,255})/g, false],
  [/\spassword[ \t]/, /\blogin[ \t]{1,4}(\S{1,64})\s{1,8}password[ \t]{1,4}["']?([^\s"']{4,})/g, true],
  [
    /\([ \t]{0,4}["']/,
    /\b(?:log_?in|authenticate|auth|connect|sign_?in|\w*basic_?auth)=?\([ \t]{0,4}["']([^"'\n]{1,64})["'],[ \t]{0,4}["']([^"'\s]{6,128})(?=["'])/gi,
    true,
  ],
  [/PIN/, /\bPIN\b[^\n:=]{0,40}(?:[:=]| is)[ \t"'`]{0,3}()(\d{6,12})\b/g, true],
  [/by[ \t]{1,4}["']/i, /\bidentified by[ \t]{1,4}["']()([^\s"']{6,128})(?=["'])/gi, true],
  // Go's data source name, and a line of .pgpass.
  [/@(?:tcp|unix)\(/, /(?<![\w.:/-])([\w.-]{1,64}):([^\s:@"'`]{4,128})@(?:tcp|unix)\(/g, true],
  [/:(?:\d{2,5}|\*):/, /^[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,64}:([\w.-]{1,64}):(\S{4,128})$/gm, false],
  [
    /(?:in|or|root|postgres)(?::| \/ )/,
    /(?<![\w./-])(admin|administrator|root|postgres)(?::(?!\/)| \/ )([^\s"'`|]{6,64})/g,
    false,
  ],
];

/** The words from which a wallet is made, and passphrases of several words: what a sentence has between them is missing. */
const PHRASE =
  /(?:[Mm]nemonic|(?:[Ss]eed|[Rr]ecovery)[ _-](?:phrase|words)|[Pp]assphrase|PASSPHRASE)[^\n]{0,80}?(?:[:=]|\b(?:is|are|enter|type|use))?[ \t"'`“*]{1,4}((?:[a-z]{3,10} ){3,23}[a-z]{3,10})(?=["'`”.,*(]| \(|\s*(?:\n|$))/g;
const SENTENCE =
  /\b(?:the|and|for|from|with|not|are|was|has|have|you|your|our|that|this|will|must|can|only|ask|see|us(?:e|es|ed|ing)|stor\w+|saved?|kept|vault|team|manager|when|then|than|set|get|same|new|old|via|per|into|inside|before|after|every|each|should|needs?|requir\w+|least|characters|words?|keys?|files?|never|always|about|which|where|without|empty|prompt\w*|phrase|\w+(?:ed|ing|tion))\b/;

function* findAuthorizations(text: string): Generator<Span> {
  for (const match of SCHEME.test(text) ? text.matchAll(HEADER) : []) {
    const [whole, named, scheme = "", value = ""] = match;
    if (isStandIn(value) || isReference(value) || isFiller(value)) continue;
    const start = match.index + whole.length - value.length;
    if (/basic/i.test(scheme)) {
      if (isBasic(value)) yield span("basic-auth", start, value);
    } else if (isMixed(value) && !isSequence(value) && (named || (/bearer/i.test(scheme) && value.length >= 16))) {
      yield span("bearer-token", start, value);
    }
  }
  const hasOption = OPTION.test(text);
  for (const [hint, pattern, literal] of LOGINS) {
    if (!(hint === OPTION ? hasOption : hint.test(text))) continue;
    for (const match of text.matchAll(pattern)) {
      const [whole, user = "", run = ""] = match;
      const password = cutBare(run);
      if (password === user || !(literal ? isCredible(password, "password", true) : isStrong(strengthOf(password))))
        continue;
      yield span("password", match.index + whole.length - run.length, password);
    }
  }
  for (const match of text.matchAll(PHRASE)) {
    const [whole, phrase = ""] = match;
    if (!SENTENCE.test(phrase)) yield span("password", match.index + whole.length - phrase.length, phrase);
  }
  // Docker's config.json.
  if (!text.includes('"auth"')) return;
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

const CLOSE = String.raw`(?<close>(?:\\?["'\x60]\]?|\*{1,2}|_{1,2})*)`;
const ASSIGN = String.raw`[ \t]{0,8}(?<sign>:[ \t]*[&\w<>[\]| ]{1,24}=|:=|:-|[?+]=|<-|={1,3}>?|[:：→]|->|(?<=[ \t])\|(?=[ \t])|>)[ \t]{0,8}\*{0,2}[ \t]{0,8}`;
// `{"name": "TOKEN", "value": "…"}`, the same in YAML, and the default of a variable in HCL.
const PAIR = String.raw`["']?,?(?:[ \t]*\{[^{}"]{0,60})?[ \t]*\n?[ \t]*["']?(?:value|default)["']?[ \t]*[:=][ \t]*`;
// `getenv("TOKEN", "…")`, `env.TOKEN || "…"`, `setToken("…")`, `set("token", "…")`: a literal beside the name.
const BESIDE = String.raw`(?<beside>["']?[)\]]{0,2}[ \t]*(?:,|\|\||\?\?|or[ \t]|\()[ \t]*(?:--?body[ \t])?(?=["']))`;
const IS = String.raw`[ \t]{1,4}(?:(?:(?:is|was|has been|been)[ \t])?(?:(?:now[ \t])?(?:changed|set|reset|rotated|updated)[ \t])?to|(?:is|was|are|ist|lautet|est|es|er|equals)(?:[ \t](?:now|currently|still))?):?[ \t]{1,4}`;
const FLAG = String.raw`(?<flag>[ \t]{1,4})`;
const VALUE = String.raw`(?:[bru@]?\\?(?<quote>["'\x60])|[“„«‘])?(?<run>\S{1,256})`;
const AFTER = new RegExp(`^(?:${CLOSE}(?:${ASSIGN}|${PAIR}|${BESIDE}|${IS})|${FLAG})${VALUE}`, "i");
// Enough for the widest of the forms above around a value, of which 256 characters are read.
const REACH = 400;

/** `password: x`, `API_KEY=x`, `"secret": "x"`, `--token x`, `password is x`, `<password>x</password>`, `| token | x |`. */
function* findNamedValues(text: string, labels: readonly Label[]): Generator<Span> {
  let done = 0;
  for (const { start: from, end, name, spoken } of labels) {
    if (from < done || !name || spoken === "") continue;
    const after = AFTER.exec(text.slice(end, end + REACH));
    if (!after?.groups) continue;
    const { close = "", sign, quote, run = "", beside, flag } = after.groups;
    const before = text.slice(Math.max(0, from - 64), from);
    const written = text.slice(from, end);
    if (sign === ">" && (run.startsWith("@") || !/<[^<>]*$/.test(before + written))) continue;
    if (/^pin$/i.test(written) && !/^\d/.test(run)) continue;
    if (flag !== undefined && !/(?:^|\s)--?$/.test(before)) continue;
    const whole = quote ? cutQuoted(run, quote) : cutBare(run);
    const value = whole.slice(0, JUDGED);
    const start = end + after[0].length - run.length;
    const isShell = sign === "=" && close === "" && text[start - 1] === "=" && written === written.toUpperCase();
    const isLiteral = quote ? quote !== "`" && sign !== "|" : isShell;
    const rule = /secret.?access.?key/i.test(spoken) && AWS_SECRET.test(value) ? "aws-secret-key" : name.rule;
    if (beside !== undefined && !quote) continue;
    const strength = strengthOf(value);
    const isBound = !name.sure
      ? (strength === "random" && value.length >= 20) ||
        (strength === "digest" && isLiteral && written.length > 3 && value.length >= 32)
      : sign?.startsWith("==")
        ? isStrong(strength)
        : isCredible(value, rule, isLiteral && beside === undefined);
    if (!isBound) continue;
    done = start + whole.length;
    // A value that fills the window continues to its end.
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
  return alone.replace(/(?:[.,;:)\]}\\]|\*\*|__)+$/, "");
}

/** Right behind its name a value may be weak, and a password may be letters or digits alone. */
function isCredible(value: string, rule: string, literal: boolean): boolean {
  const password = rule === "password";
  if (value.length < (password ? 6 : 8) || isStandIn(value) || (!password && /[^\x21-\x7e]/.test(value))) return false;
  if (rule === "aws-secret-key") return !isFiller(value);
  const strength = strengthOf(value);
  if (strength === "random" || strength === "strong") return true;
  if (isReference(value) && !(password && literal && /\d/.test(value) && !/[/(]|\.env/.test(value))) return false;
  if (password && /^\d+$/.test(value)) return true;
  if (!password && isSequence(value)) return false;
  // Letters alone are a password only where code or a shell says so; a capitalised word is a label of a form.
  if (password && literal && /^[A-Za-z_-]{8,}$/.test(value))
    return !/^[A-Z]?[a-z]*(?:password|passwort)$|^[A-Z][a-z]+$/.test(value);
  return isMixed(value) && !(literal ? isTechnical(value) : isWordy(value, password));
}

// Anything without spaces or quotes; signs and letters that Chinese, Japanese and Korean put around a value end it.
const CANDIDATE = /[^\s"'`<>|“”„‘’«»\u2190-\u21ff\u2e80-\u9fff\uac00-\ud7ff\uff00-\uffef]{6,4096}/g;
/** How far from its name a value may be, and how many names are asked. */
const NEAR = 240;
const ASKED = 12;
// Behind a sign or a verb that says what something is: the value itself.
const DIRECT =
  /(?:[:=：]|(?<!\p{L})(?:is|are|was|be|to|enter|type|use|wants?|needs|ist|lautet|est|es|é|è|är|er|on|jest|je|este|là|это)(?= )|[はが是为為은는])[\s*_"'`“„«「『([]*$|\S ?\/ ["'`]?$/u;
const ADJACENT = /^[\s"'`*_“„«「『([:=|-]{1,5}$/;
// `login: user / …`, `login user:…`
const PAIRED = /(?:^|\s)[\w.@-]{2,40}["'`]?(?: \/ |:)["'`]?$/;
// Alone on the lines below, perhaps as a block of code.
const BELOW = /^["'`*_]{0,4}[:：]["'`*_]{0,4}\s*(?:`{3}\w*\s*)?(?:[>-] )?["'`]?$/;
// `Wert: …`, `the right one (…)`: it takes up what was named before.
const AGAIN =
  /(?<!\p{L})(?:value|wert|valeur|valore?|waarde|wartość|значение|[値值]|it|this|the \w+ one)(?:'s| (?:is|ist|est|es|è|é))?[ :：(*"'`]+$/iu;
// The value has its own name, which is not that of a credential.
const ELSEWHERE = /[a-z]I[dD]s?["'`]?[\s:=]+["'`*]*$|[A-Za-z_][\w-]*=["'`]?$|"\w+"\s*:\s*"$/;
// Before a digest: who or what it was taken from, or what is fetched by it.
const BY = /(?<!\p{L})(?:in|at|by|from|since|see|of|get|show|read|describe|delete|access)\s+["'`]?$/u;
const BREAK = /[.!?;]["'`)*]*\s|[。\n]/;
// What may be between a value and a name behind it: `… is the token`, `…) // the secret`, `… (API key)`, `echo … | login`.
const BEHIND = /^["'`)\]}*;,. ]{0,6}(?:is|as|was|ist|est|es|are|\(|#|\/\/|--|—|–| - |(?<=["'] )\|)[^.!?\n]{0,60}$/;

/** Values that look like a credential near a name of one: the more a value looks like it, the looser the two may be bound. */
function* findNearValues(text: string, words: Words["mixed"], readLabels: () => readonly Label[]): Generator<Span> {
  let next = 0;
  for (const { start: from, end } of words)
    for (const match of text.slice(from, end).matchAll(CANDIDATE)) {
      if (!/\d|[a-z][A-Z]|-.*-.*-/.test(match[0].slice(0, JUDGED))) continue;
      const lead = leadOf(match[0]);
      const value = cutBare(match[0].slice(lead));
      const strength = strengthOf(value);
      if (
        strength === "none" ||
        /^(?:\.{2}|…)/.test(match[0].slice(lead + value.length)) ||
        SEALED_WITHIN.test(match[0].slice(0, lead + 20))
      )
        continue;
      const start = from + match.index + lead;
      const labels = readLabels();
      while (next < labels.length && (labels[next]?.start ?? 0) < start) next++;
      // Ids have such a beginning too.
      const judged = { strength, length: /^[a-z]{2,6}_/.test(value) ? 0 : value.length };
      const bound = isSelfNamed(value) ? "token" : ruleBefore(text, labels, next, start, judged);
      const rule = bound ?? ruleBehind(text, labels, next, start + value.length, judged);
      if (rule) yield span(rule, start, value);
    }
}

/** Signs before a value, and the name it is assigned to. */
function leadOf(token: string): number {
  return (
    /^[()[\]{}*_~,;:.-]*(?:\$?(?:[a-z_.-]{1,64}|[A-Z0-9_]{1,64}|[A-Za-z_][\w.-]{5,63})[=:](?=[^/=]))?[([{*]*/.exec(
      token,
    )?.[0].length ?? 0
  );
}

// The value's own beginning says it, `acme_sk_live_…`, or is short and set off from a long body, as vendors' tokens have it.
const SELF_NAMED =
  /^(?:[A-Za-z0-9]{1,12}[_-]){0,3}(?:sk|[A-Za-z]{0,6}pat|secret|token|apikey|api|priv)[_-](?:[a-z0-9]{1,8}[_-]){0,2}/i;

function isSelfNamed(value: string): boolean {
  const body = value.slice(SELF_NAMED.exec(value)?.[0].length ?? value.length);
  if (body.length >= 20) return ["random", "digest"].includes(strengthOf(body));
  const rest = /^[a-z]{2,6}_(\w{30,})$/.exec(value)?.[1] ?? "";
  return /^[0-9a-f]{40}$/.test(rest) || (/[A-Z]/.test(rest) && strengthOf(rest) === "random");
}

/**
 * The rule of a name before the value: in its sentence, on its line or on the lines above that belong to it. Null when
 * nothing is said, empty when it is said to be something else.
 */
function ruleBefore(text: string, labels: readonly Label[], next: number, start: number, value: Value): string | null {
  const title = columnTitle(text, start);
  const column = title === "" ? undefined : readLabels(title).at(-1);
  if (column) return column.name && isBound(value, 3, column) ? column.name.rule : "";
  const before = text.slice(Math.max(0, start - 64), start);
  const { strength } = value;
  // `AKIA… / value`: an id and what belongs to it.
  if (strength === "random" && ID.test(before)) return "secret";
  if (strength === "digest" && BY.test(before)) return "";
  let rule: string | null = null;
  for (let i = next - 1; i >= Math.max(0, next - ASKED); i--) {
    const label = labels[i] as Label;
    const gap = text.slice(label.end, start);
    if (gap.length > NEAR || (/\n\s*\n/.test(gap) && !BELOW.test(gap)) || gap.split("\n").length > 4) break;
    if (isNoName(text, label)) continue;
    if (!label.name && gap.includes("\n") && !BELOW.test(gap)) break;
    if (!label.name && strength !== "digest" && gap.includes(",")) continue;
    // The nearest counts; what may be a digest is one where anything on its line speaks of digests.
    if (!label.name && (rule === null || strength === "digest")) return "";
    if (rule === null && isBound(value, bindingOf(gap), label)) rule = label.name?.rule ?? null;
    if (rule !== null && strength !== "digest") break;
  }
  return rule ?? (ELSEWHERE.test(before) ? "" : null);
}

const ID = /(?<![A-Za-z0-9])(?=[A-Z0-9]*\d)[A-Z0-9]{16,24}["']?(?:[,:]? | [/|] )["']?$/;

/** The rule of a name behind the value, on its line. */
function ruleBehind(text: string, labels: readonly Label[], next: number, end: number, value: Value): string | null {
  for (let i = next; i < Math.min(labels.length, next + ASKED); i++) {
    const label = labels[i] as Label;
    if (label.start < end) continue;
    if (label.start - end > 100) return null;
    const gap = text.slice(end, label.start);
    const isTold = BEHIND.test(gap);
    if (!label.name || (BREAK.test(gap) && !isTold)) return null;
    if (!isNoName(text, label) && isBound(value, isTold ? 2 : 1, label)) return label.name.rule;
  }
  return null;
}

/** 4: a pair of user and value; 3: nothing but a sign or a verb makes the one the other; 2: in one sentence, or a sentence later with such a sign; 1: near. */
function bindingOf(gap: string): number {
  const tail = gap.slice(-40);
  if (AGAIN.test(tail) || BELOW.test(gap)) return 3;
  if (ELSEWHERE.test(tail)) return 1;
  const isDirect = DIRECT.test(tail);
  if (BREAK.test(gap)) return isDirect ? 2 : 1;
  if (PAIRED.test(tail)) return 4;
  return isDirect || ADJACENT.test(gap) ? 3 : 2;
}

interface Value {
  strength: Strength;
  length: number;
}

function isBound({ strength, length }: Value, binding: number, { name, spoken }: Label): boolean {
  if (!name) return false;
  // `pass` is also a verb and a round.
  const sure = name.sure && !/(?:^|[ -])pass$/i.test(spoken);
  if (strength === "random")
    return sure ? binding >= (length < 20 ? 2 : 1) : binding >= 2 && (name.rule !== "token" || length >= 20);
  if (strength === "strong") return binding >= (sure ? 2 : 3);
  if (strength === "digest")
    return binding >= (sure && length >= 32 ? 2 : 3) && (sure || !/sess|primary/i.test(spoken));
  if (binding === 4) return length >= 10 && (sure || spoken === "");
  return sure && name.rule === "password" && binding === 3;
}

function isStrong(strength: Strength): boolean {
  return strength === "strong" || strength === "random";
}

/** A part of a path, or what is written like the name of a number. */
function isNoName(text: string, { start, end }: Label): boolean {
  return (
    /[/\\]/.test(text[start - 1] ?? "") ||
    /^(?:[/\\]|\.\w)/.test(text.slice(end, end + 2)) ||
    /^pin$/i.test(text.slice(start, end))
  );
}

/** The line up to an offset, and as many lines above it as are useful. */
function linesBefore(text: string, at: number): string[] {
  return text.slice(Math.max(0, at - 200), at).split("\n");
}

/** For a cell of a Markdown table: what the first row says in the same column. */
function columnTitle(text: string, start: number): string {
  const line = linesBefore(text, start).at(-1) ?? "";
  if (!/^[ \t>*-]*\|/.test(line)) return "";
  const lineStart = start - line.length;
  const above = text
    .slice(Math.max(0, lineStart - 1000), lineStart)
    .split("\n")
    .slice(0, -1);
  let first = above.length;
  while (first > 0 && /^[ \t>*-]*\|/.test(above[first - 1] ?? "")) first--;
  return above[first]?.split("|")[line.split("|").length - 1] ?? "";
}

// Values that the documentation of their product publishes: parts of them, enough to know them by.
const PUBLISHED =
  /17653672481-19874698323|aGmWKa4JsXZ-HjGw|AAHdqTcvCH1vGWJx|2YotnFZFEjr1zCsi|tGzv3JOkF0XG5Qx2|mF_9\.B5f-4|4eC39HqLyjWDarjt|BQokikJOvBiI2HlW|JBSWY3DPEHPK3PXP|Eby8vdM02xNOcqFl|C2y6yDjf5\/R\+ob0N|yAnz5TF\+lXXJte14|QWxhZGRpbjpvcGVu|vFI1TnRWxMZNFuoj|correct-?horse/;
const CALLED_SAMPLE =
  /\b(?:placeholder|dummy|fake|made[- ]up|fictional|not (?:(?:an? )?(?:real|actual)|an? valid)|(?:sample|example|documented|published)[ -](?:\w+ )?(?:token|key|secret|password|credential|value|jwt)|(?:token|key|secret|jwt|value) from the docs|docs (?:on|show|use)\b|as (?:the|an|their) (?:example|sample)|test vectors?|sample from|RFC \d{4}|jwt\.io)/i;

/** What documentation publishes, and what its own line, or the line that introduces it, calls a sample. */
function isSample(text: string, { start, end }: Span): boolean {
  const value = text.slice(start, Math.min(end, start + 2000));
  if (PUBLISHED.test(value)) return true;
  if (value.startsWith("eyJ")) {
    const [header, payload] = value.split(".", 2).map((part) => Buffer.from(part, "base64url").toString("latin1"));
    // A JWE is encrypted.
    if (header?.includes('"enc"') || /John Doe|1516239022|1300819380/.test(payload ?? "")) return true;
  }
  // The configuration of a web app is public.
  if (value.startsWith("AIza") && /authDomain|firebaseConfig/.test(text.slice(Math.max(0, start - 200), end + 200)))
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
