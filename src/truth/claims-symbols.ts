/** Functions, classes, settings and environment variables that a sentence names, and options of commands. */

import { FILE_ENDING, isPlaceholder, OTHERS, programOf } from "./claims-words.ts";
import type { Token } from "./tokens.ts";

export interface NameClaim {
  kind: "symbol" | "env" | "flag";
  text: string;
  shift: number;
  loose: boolean;
}

const ENV =
  /^(?:\$\{?|process\.env\.|import\.meta\.env\.|os\.environ\.|env\.|ENV\.)?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\}?(?:=.*)?$/;
const FLAG = /^--([a-z][a-z0-9]*(?:[-_][a-z0-9]+)*)(?:=.*)?$/i;
const PART = /^[A-Za-z_$][\w$]*$/;
const SEPARATOR = /\.|::|#|->/;
/** Written as only code is. */
const CODED = /[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]/;
/** Words of languages and their libraries: they are everywhere, and nobody's. */
const EVERYWHERE =
  /^(?:true|false|null|none|undefined|string|number|boolean|object|array|map|set|date|error|promise|async|await|const|let|var|function|class|interface|type|struct|enum|import|export|return|self|this|super|public|private|static|void|int|float|str|dict|list|bool|any|unknown|never|default|new|for|while|if|else|try|catch|throw|json|xml|yaml|html|css|sql|http|https|get|post|put|patch|delete|head|options|utf8|ascii|main|master|origin|stdin|stdout|stderr|the|and|not)$/i;

export function findName(token: Token): NameClaim | null {
  const { text } = token;
  const variable = ENV.exec(text)?.[1];
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

function findSymbol(token: Token): NameClaim | null {
  const call = token.text.indexOf("(");
  const isCall = call > 0 && token.text[call - 1] !== " ";
  const text = (call >= 0 ? token.text.slice(0, call) : token.text).replace(/^[@&]/, "").replace(/[?!]$/, "");
  if (token.code && token.span.includes(" ") && token.nth === 0 && !isCall && OTHERS.test(text)) return null;
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
