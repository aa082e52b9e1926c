/** The exports of an entry as they are declared in the sources, which the formatter keeps in one form. */

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

export interface Declared {
  name: string;
  kind: "interface" | "type" | "function" | "class" | "const";
  /** The comment above it, as text. */
  doc: string;
  /** The declaration without bodies. */
  text: string;
}

export function readEntry(file: string): Declared[] {
  const text = readFileSync(file, "utf8");
  const own = [...text.matchAll(/^export (?:declare )?(?:async )?(?:interface|type|function|class|const) (\w+)/gm)];
  const found = own.map(([, name]) => declarationOf(file, name as string, name as string));
  for (const [, names, from] of text.matchAll(/^export (?:type )?\{([^}]+)\} from "([^"]+)";/gm)) {
    const target = resolve(dirname(file), from as string);
    for (const each of (names as string).split(",").map((name) => name.trim().replace(/^type /, "")))
      if (each !== "") found.push(follow(target, ...(each.split(" as ") as [string, string?])));
  }
  return found;
}

/** Through files that only pass it on. */
function follow(file: string, name: string, shown = name): Declared {
  const text = readFileSync(file, "utf8");
  if (declares(file, name)) return declarationOf(file, name, shown);
  for (const [, names, from] of text.matchAll(/^export (?:type )?\{([^}]+)\} from "([^"]+)";/gm)) {
    const listed = (names as string).split(",").map((each) => each.trim().replace(/^type /, ""));
    const passed = listed.find((each) => (each.split(" as ")[1] ?? each) === name);
    if (passed) return follow(resolve(dirname(file), from as string), passed.split(" as ")[0] as string, shown);
  }
  for (const [, from] of text.matchAll(/^export \* from "([^"]+)";/gm)) {
    const whole = resolve(dirname(file), from as string);
    if (declares(whole, name)) return declarationOf(whole, name, shown);
  }
  // A type that is imported and exported again.
  const from = new RegExp(`^import (?:type )?\\{[^}]*\\b${name}\\b[^}]*\\} from "([^"]+)";`, "m").exec(text)?.[1];
  if (from) return follow(resolve(dirname(file), from), name, shown);
  throw new Error(`${name} is declared neither in ${file} nor in what it passes on`);
}

function declares(file: string, name: string): boolean {
  const declaration = new RegExp(`^export (?:async )?(?:interface|type|function|class|const) ${name}\\b`, "m");
  return declaration.test(readFileSync(file, "utf8"));
}

function declarationOf(file: string, name: string, shown: string): Declared {
  const lines = readFileSync(file, "utf8").split("\n");
  const at = lines.findIndex((line) =>
    new RegExp(`^export (?:async )?(?:interface|type|function|class|const) ${name}\\b`).test(line),
  );
  const kind = /(?:async )?(interface|type|function|class|const) /.exec(lines[at] as string)?.[1] as Declared["kind"];
  return { name: shown, kind, doc: docAbove(lines, at), text: textOf(lines, at, kind) };
}

function docAbove(lines: readonly string[], at: number): string {
  if (!lines[at - 1]?.trimEnd().endsWith("*/")) return "";
  let from = at - 1;
  while (!lines[from]?.trimStart().startsWith("/**")) from--;
  const inner = lines
    .slice(from, at)
    .join("\n")
    .replace(/^\s*\/\*\*\s?|\s*\*\/\s*$/g, "")
    .replace(/^\s*\* ?/gm, "");
  const [words = "", example] = inner.split(/@example\n?/);
  const said = words
    .trim()
    .replace(/\n(?!\n)/g, " ")
    .replace(/ {2,}/g, "\n\n");
  return example === undefined ? said : `${said}\n\n\`\`\`ts fragment\n${example.trim()}\n\`\`\``;
}

/** To the end of the declaration; of functions and constants what says their type. */
function textOf(lines: readonly string[], at: number, kind: Declared["kind"]): string {
  const rest = lines.slice(at);
  const first = (rest[0] as string).replace(/^export (?:async )?/, "");
  if (kind === "const") return first.replace(/ = .*$/, ";").replace(/ =$/, ";");
  if (kind === "function") {
    const end = rest.findIndex((line) => /\{$/.test(line) && !/[:=] \{$/.test(line));
    return [first, ...rest.slice(1, end + 1)].join("\n").replace(/ \{$/, ";");
  }
  const isOneLine = /;$/.test(first) || /\{\}$/.test(first);
  let depth = 0;
  const isEnd = (line: string) => {
    for (const brace of line.match(/[{}]/g) ?? []) depth += brace === "{" ? 1 : -1;
    return depth === 0 && /^\}|;(?: \/\/.*)?$/.test(line);
  };
  const end = isOneLine ? 0 : rest.findIndex(isEnd);
  const body = [first, ...rest.slice(1, end + 1)].join("\n");
  if (kind !== "class") return body;
  // Without bodies, and without what the class is recognised by.
  return body.replace(/^( {2}\S.*\)(?:: [\w ]+)?) \{\n[\s\S]*?^ {2}\}/gm, "$1;").replace(/^ {2}[a-z ]+\[.*;\n+/gm, "");
}
