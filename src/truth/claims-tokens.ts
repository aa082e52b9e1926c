/** Words of a sentence that name something in code: files and folders, functions and classes, constants and environment variables, options. */

import { isAbsolute, relative, sep } from "node:path";
import type { Claim } from "./claim.ts";
import type { Passage } from "./passages.ts";

export interface Token {
  text: string;
  /** Offset in the passage. */
  at: number;
  /** In backticks, or on a command line. */
  code: boolean;
  /** The whole span: `npm run build` for each of its words. */
  span: string;
  /** Which word of its span it is. */
  nth: number;
}

/** A name has less; a longer run of letters is data. */
const MAX_TOKEN = 300;
const SPAN = /(`+)([^`]{1,400}?)\1/g;

export function findTokens({ text, command }: Pick<Passage, "text" | "command">): Token[] {
  if (command) return wordsOf(text, 0, true, text.trim());
  const tokens: Token[] = [];
  let from = 0;
  for (const { index, 0: whole, 1: ticks = "", 2: code = "" } of text.matchAll(SPAN)) {
    tokens.push(...wordsOf(text.slice(from, index), from, false, ""));
    tokens.push(...wordsOf(code, index + ticks.length, true, code.trim()));
    from = index + whole.length;
  }
  tokens.push(...wordsOf(text.slice(from), from, false, ""));
  return tokens;
}

/** Nothing to take off. */
const WORD = /^\w+$/;
const LEADING = /^[([{"'*<,;:!?=|“‘«]+/;
const TRAILING = /(?:[\]}"'*>,;:!?|”’»…]|\.(?=$)|['’]s$)+$/;

function wordsOf(text: string, offset: number, code: boolean, span: string): Token[] {
  const tokens: Token[] = [];
  let nth = 0;
  for (const { 0: raw, index } of text.matchAll(/[^\s`→⇒]+/g)) {
    if (raw.length > MAX_TOKEN) continue;
    if (WORD.test(raw)) {
      tokens.push({ text: raw, at: offset + index, code, span, nth: nth++ });
      continue;
    }
    const lead = LEADING.exec(raw)?.[0].length ?? 0;
    const word = balance(strip(raw.slice(lead)));
    if (word !== "") tokens.push({ text: word, at: offset + index + lead, code, span, nth });
    nth++;
  }
  return tokens;
}

function strip(word: string): string {
  let out = word.replace(/['’]s(?=[),.;:]*$)/, "");
  for (let last = ""; last !== out; ) {
    last = out;
    out = balance(out.replace(TRAILING, ""));
  }
  return out;
}

/** A closing bracket stays only with its opening one: `run()` but `src/a.ts)`. */
function balance(word: string): string {
  if (!word.endsWith(")")) return word;
  const open = word.split("(").length;
  return word.split(")").length > open ? word.slice(0, -1) : word;
}

/** `shift`: the offset of its text in the token. */
export type TokenClaim = Pick<Claim, "kind" | "text" | "loose" | "lineNumber" | "file"> & { shift: number };

const LINE = /(?::(\d+)(?:[:-]\d+)*|#L(\d+)(?:-L?\d+)?)$/;
const HOST =
  /^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co|internal|local|invalid|cloud|eu|de|uk|us|edu|gov|sh)(?::\d+)?$/i;
const NAME = /^[\w@.+\-()[\]~ ]+$/;

export function findPath(token: Token, root: string): TokenClaim | null {
  let text = token.text.replaceAll("\\", "/");
  if (text.includes("://") || text.startsWith("~") || text.startsWith("--") || /[=,]/.test(text)) return null;
  const line = LINE.exec(text);
  if (line) text = text.slice(0, line.index);
  if (isPlaceholder(text) || text.includes("//") || text.includes(":") || text.length > 250) return null;
  let shift = 0;
  if (isAbsolute(token.text) || text.startsWith("/")) {
    const inside = relative(root, text).split(sep).join("/");
    if (inside === "" || inside.startsWith("..") || isAbsolute(inside)) return null;
    shift = text.length - inside.length;
    text = inside;
  }
  const lead = /^(?:\.{1,2}\/|@\/|~\/)+/.exec(text)?.[0] ?? "";
  const isRelative = lead.includes("..") || lead.startsWith("@");
  text = text.slice(lead.length);
  shift += lead.length;
  const found = shapeOf(text, token.code);
  if (!found) return null;
  const lineNumber = Number(line?.[1] ?? line?.[2] ?? 0);
  const loose = found === "loose" || isRelative;
  return { kind: "path", text, shift, loose, ...(lineNumber > 0 ? { lineNumber } : {}) };
}

/** With an ending, or with two slashes in code, it can hardly mean anything else. */
function shapeOf(text: string, code: boolean): "sure" | "loose" | null {
  const parts = text.replace(/\/$/, "").split("/");
  if (parts.some((part) => part === "" || !NAME.test(part) || part.length > 120)) return null;
  if (!text.includes("/")) return isFileName(text) ? "sure" : null;
  if (HOST.test(parts[0] ?? "") || !/[A-Za-z]/.test(text)) return null;
  const last = parts.at(-1) ?? "";
  if (isFileName(last) || /\.[A-Za-z][A-Za-z0-9]{0,9}$/.test(last)) return "sure";
  return code && parts.length > 2 ? "sure" : "loose";
}

const ENV =
  /^(?:\$\{?|process\.env\.|import\.meta\.env\.|os\.environ\.|env\.|ENV\.)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\}?(?:=.*)?$/;
const FLAG = /^--([a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)(?:=.*)?$/i;
const PART = /^[A-Za-z_$][\w$]*$/;
const SEPARATOR = /\.|::|#|->/;
export const ENV_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

export function isCodeShaped(name: string): boolean {
  return CODED.test(name);
}

/** Written as only code is. */
const CODED = /[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]/;
/** Words of languages and their libraries: they are everywhere, and say nothing about this project. */
const EVERYWHERE =
  /^(?:true|false|null|none|undefined|string|number|boolean|object|array|map|set|date|error|promise|async|await|const|let|var|function|class|interface|type|struct|enum|import|export|return|self|this|super|public|private|static|void|int|float|str|dict|list|bool|any|unknown|never|default|new|for|while|if|else|try|catch|throw|json|xml|yaml|html|css|sql|http|https|get|post|put|patch|delete|head|options|utf8|ascii|main|master|origin|stdin|stdout|stderr|the|and|not)$/i;

export function findName(token: Token): TokenClaim | null {
  const { text } = token;
  const variable = ENV.exec(text)?.[1];
  // By itself it may be either, and the code tells which.
  if (variable && text.length <= 150)
    return { kind: "env", text: variable, shift: text.indexOf(variable), loose: false };
  if (text.length < 3 || text.length > 150 || text.includes("/") || isPlaceholder(text.replace(/\(.*$/, "")))
    return null;
  const flag = FLAG.exec(text);
  if (flag) return isOthers(token) ? null : { kind: "flag", text: `--${flag[1]}`, shift: 0, loose: !token.code };
  return findSymbol(token);
}

/** After ` -- ` a command line speaks to another program. */
function isOthers({ span, text, code }: Token): boolean {
  if (!code) return false;
  if (OTHERS.test(programOf(span))) return true;
  const dashes = span.indexOf(" -- ");
  return dashes >= 0 && span.indexOf(text) > dashes;
}

function findSymbol(token: Token): TokenClaim | null {
  const call = token.text.indexOf("(");
  const isCall = call > 0 && token.text[call - 1] !== " ";
  const text = (call >= 0 ? token.text.slice(0, call) : token.text).replace(/^[@&]/, "").replace(/[?!]$/, "");
  if (
    token.code &&
    token.span.includes(" ") &&
    !isCall &&
    (FORMULA.test(token.span) || (token.nth === 0 && OTHERS.test(text)))
  )
    return null;
  if (FILE_ENDING.test(text) && text.includes(".")) return null;
  const parts = text.split(SEPARATOR);
  const last = parts.at(-1) ?? "";
  if (parts.length > 6 || parts.some((part) => !PART.test(part)) || last.length < 3 || EVERYWHERE.test(last))
    return null;
  if (/^\d|^[A-Z]\d+$/.test(last)) return null;
  const isCoded = isCall || CODED.test(last) || (parts.length > 1 && parts.some((part) => CODED.test(part)));
  const isSingle = token.code && !token.span.includes(" ");
  if (!isCoded && !isSingle) return null;
  return { kind: "symbol", text, shift: token.text.indexOf(text), loose: !isCoded || !token.code };
}

/** An operator between blanks, or several arguments: what is named there describes a value, and need not be a name in the code. */
const FORMULA = /\s(?:[-+*/%<>]|[=!<>]=+|=>?|&&|\|\||\?)\s|^[\w$.:]+\([^)]*,/;

const PLACEHOLDER =
  /^(?:foo|bar|baz|qux|quux|foobar|path|to|x{2,}|y{2,}|n{2,}|your[-_]?\w*|my[-_]\w+|some[-_]?\w*|whatever|something|placeholder|lorem|ipsum|todo|tbd)$/i;

/** `path/to/file.ts`, `src/foo.ts`, `NNN_name.sql`, `YYYY-MM-DD.md`. */
export function isPlaceholder(text: string): boolean {
  if (/[<>{}*?|…]|\.\.\.|\$\(|\[\w+\]/.test(text)) return true;
  return text.split(/[/\\.:#]/).some((part) => {
    const stem = part.replace(/^[-@_]+/, "");
    return (
      PLACEHOLDER.test(stem) ||
      /(?:^|[-_])(?:N{2,}|X{2,}|YYYY|HHMM|DD)(?:$|[-_])/.test(stem) ||
      /^(?:foo|bar|baz|fooBar)[A-Z_]/.test(stem)
    );
  });
}

/** A word with a dot is a file if it ends so. */
const FILE_ENDING =
  /\.(?:[cm]?[jt]sx?|json[c5]?|mdx?|rst|ya?ml|toml|py|pyi|ipynb|go|mod|rs|rb|erb|java|kts?|scala|clj|ex|exs|erl|hs|ml|swift|php|cs|fs|vb|c|h|cc|cpp|cxx|hpp|m|mm|lua|pl|r|jl|dart|sh|bash|zsh|fish|ps1|bat|sql|css|s[ac]ss|less|html?|xml|txt|csv|tsv|env|ini|cfg|conf|lock|proto|graphql|gql|vue|svelte|astro|gradle|tf|tfvars|hcl|nix|cmake|mk|svg|png|jpe?g|pdf|tmpl|hbs|ejs|plist|properties|editorconfig|prisma|sol|zig|wasm)$/i;
const FILE_NAME =
  /^(?:Dockerfile(?:\.\w+)?|Makefile|GNUmakefile|Justfile|justfile|Jenkinsfile|Procfile|Vagrantfile|Gemfile|Rakefile|Brewfile|CODEOWNERS|LICENSE|CMakeLists\.txt|\.[a-z][\w-]*(?:rc|ignore|config|attributes)(?:\.\w+)?|\.env(?:\.[\w-]+)+)$/;
const PRODUCT =
  /^(?:node|next|vue|nuxt|react|express|three|d3|chart|moment|day|socket|discord|alpine|ember|backbone|p5|bun|deno|angular|require|asp|vb|ml)\.(?:js|net|ts|io)$/i;

function isFileName(word: string): boolean {
  return (
    (FILE_ENDING.test(word) &&
      !PRODUCT.test(word) &&
      /^[\w.@+-]+$/.test(word) &&
      /[A-Za-z_]/.test(word.split(".")[0] || "x")) ||
    FILE_NAME.test(word)
  );
}

/** Other programs: their options are not claims about this project. */
const OTHERS =
  /^(?:git|gh|glab|npm|npx|yarn|pnpm|bun|bunx|deno|docker|docker-compose|podman|kubectl|helm|k9s|cargo|rustup|go|gofmt|pip3?|pipx|poetry|uv|python3?|node|tsx|ts-node|tsc|ruby|gem|bundle|rails|rake|java|javac|mvn|gradle|gradlew|sbt|dotnet|swift|xcodebuild|brew|apt|apt-get|dnf|yum|apk|pacman|choco|winget|curl|wget|ssh|scp|rsync|tar|zip|unzip|grep|rg|sed|awk|find|xargs|ls|cat|less|tail|head|jq|yq|psql|mysql|sqlite3|redis-cli|mongosh?|aws|gcloud|az|terraform|tofu|ansible|ansible-playbook|systemctl|journalctl|sudo|make|cmake|ninja|gcc|clang|pytest|jest|vitest|mocha|eslint|prettier|biome|ruff|black|mypy|playwright|cypress|webpack|vite|rollup|esbuild|openssl|gpg|chmod|chown|cp|mv|rm|mkdir|claude|codex|gemini|code|vim|tmux|ffmpeg|protoc|buf|alembic|flyway|celery|gunicorn|uvicorn|uvicorn|nginx|pm2|turbo|nx|lerna|changeset|semgrep|trivy|snyk)$/;

/** The program of a command line, without what is set before it. */
function programOf(span: string): string {
  const words = span.replace(/^[$%>]\s+/, "").split(/\s+/);
  const first =
    words.find((word) => word !== "" && !/^[A-Z_]+=/.test(word) && !/^(?:sudo|time|env|exec|nohup)$/.test(word)) ?? "";
  return first.replace(/^.*[/\\]/, "");
}
