/** What a word is in its line: defined, used, inside a string, or only mentioned in a comment. */

export type Usage = "definition" | "code" | "text" | "comment";

/** In code, not only in a text or a comment. */
export function isSolid({ usage }: { usage: Usage }): boolean {
  return usage === "definition" || usage === "code";
}

const HASH_COMMENTS =
  /\.(?:py|pyi|rb|sh|bash|zsh|fish|ya?ml|toml|pl|r|ex|exs|nix|tf|hcl|mk|conf|cfg|ini|properties|env|ps1|graphql|gitignore|dockerignore)$|(?:^|\/)(?:Dockerfile|Makefile|Justfile|justfile|Gemfile|Rakefile|Procfile|\.env)[^/]*$/i;
const DASH_COMMENTS = /\.(?:sql|lua|hs|elm)$/i;
const TAG_COMMENTS = /\.(?:html?|xml|vue|svelte|svg)$/i;
/** Everything in them is between quotes. */
const DATA =
  /\.(?:json[c5]?|ya?ml|toml|xml|ini|cfg|conf|properties|env)$|(?:^|\/)\.env[^/]*$|(?:^|\/)(?:requirements[^/]*\.txt|go\.mod|Gemfile|Pipfile)$/i;

const DEFINES_BEFORE =
  /(?:^|[\s(;{]|export\s|pub\s)(?:function\*?|class|interface|type|struct|enum|trait|union|protocol|extension|def|fn|func|fun|sub|const|let|var|val|object|module|record|namespace|package|service|message|rpc|macro_rules!|table|view|procedure|defmodule|defp?)\s+(?:\([^)]{0,80}\)\s*)?[`"'[]?$/i;
const DEFINES_AFTER =
  /^["'\]`]?\s*(?:<[^>]{0,60}>)?\s*(?:\??:(?![:=])|=(?![=>~])|:=|\([^()]{0,200}\)?\s*(?::\s*[\w<>[\]., |&]{1,80})?\s*(?:\{|=>|->|throws\b|:\s*$))/;

/** By its line alone: texts and comments over several lines are not followed, except where each of their lines is marked. */
export function judgeUsage(file: string, line: string, column: number, length: number): Usage {
  const before = line.slice(0, column);
  const after = line.slice(column + length);
  if (isComment(file, before, line)) return "comment";
  const isMember = /\.\s*$/.test(before) && !/\b(?:this|self|exports|cls)\.$/.test(before);
  const isArgument = before.lastIndexOf("(") > before.lastIndexOf(")") && !DATA.test(file);
  if (DEFINES_BEFORE.test(before) || (!isMember && !isArgument && DEFINES_AFTER.test(after)))
    return isInQuotes(before) && !DATA.test(file) ? (/^["']\s*:/.test(after) ? "definition" : "text") : "definition";
  return !DATA.test(file) && isInQuotes(before) ? "text" : "code";
}

function isComment(file: string, before: string, line: string): boolean {
  const start = line.trimStart();
  if (/^(?:\/\/|\/\*|\*(?!\*?[\w(]+\s*=)|"""|'''|<!--)/.test(start)) return true;
  if (HASH_COMMENTS.test(file))
    return /(?:^|\s)#(?!\{|\[)/.test(before) && !isInQuotes(before.slice(0, before.indexOf("#")));
  if (DASH_COMMENTS.test(file)) return before.includes("--");
  if (TAG_COMMENTS.test(file) && before.includes("<!--")) return true;
  return /(?:^|[^:"'`\w])\/\//.test(before) || (before.includes("/*") && !before.includes("*/"));
}

/** An odd number of quotes before it. An apostrophe in a word is none. */
function isInQuotes(before: string): boolean {
  let open = "";
  for (let i = 0; i < before.length; i++) {
    const c = before[i] as string;
    if (c === "\\") i++;
    else if (open !== "") {
      if (c === open) open = "";
      else if (open === "`" && c === "{" && before[i - 1] === "$") open = "";
    } else if (c === '"' || c === "`" || (c === "'" && !/\w/.test(before[i - 1] ?? ""))) open = c;
  }
  return open !== "";
}

/** What is set there is set for a program, and not a constant of it. */
export function isSettings(file: string): boolean {
  return DATA.test(file) || /\.(?:sh|bash|zsh|fish|ps1|tf)$|(?:^|\/)Dockerfile[^/]*$/i.test(file);
}

const TESTS = /(?:^|[/._-])(?:tests?|specs?|__tests__|fixtures?|examples?|mocks?|stories)(?:[/._-]|$)/i;

export function isTest(file: string): boolean {
  return TESTS.test(file);
}

const PROSE =
  /\.(?:md[xc]?|rst|txt|adoc|org|tex|log|csv|tsv)$|(?:^|\/)(?:CHANGELOG|CHANGES|HISTORY|LICENSE|NOTICE|AUTHORS|CONTRIBUTORS|README)[^/]*$/i;
const LISTS = /(?:^|\/)requirements[^/]*\.txt$|CMakeLists\.txt$/i;
const VENDORED =
  /(?:^|\/)(?:node_modules|vendor|third[_-]?party|bower_components|site-packages|\.venv|Pods|\.yarn|\.pnp|dist-types|__snapshots__)\/|(?:\.min\.(?:js|css)|\.map|\.snap|\.lock|-lock\.(?:json|yaml)|(?:^|\/)go\.sum|\.pb\.go|\.(?:png|jpe?g|gif|ico|webp|pdf|zip|gz|tgz|jar|class|so|dylib|dll|exe|wasm|bin|woff2?|ttf|otf|eot|mp[34]|mov|avi|db|sqlite3?|parquet|pyc))$/i;

/** Prose only mentions names; vendored and generated files have names of their own. */
export function isSource(file: string): boolean {
  return !isProse(file) && !VENDORED.test(file);
}

export function isProse(file: string): boolean {
  return PROSE.test(file) && !LISTS.test(file);
}
