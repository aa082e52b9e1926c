/** Plain English: docs and messages avoid words and phrases that a native-speaking developer would not write. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseAst } from "vitest/node";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The phrase, and what to write instead. */
const BANNED: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\bmend(?:s|ed|ing)?\b/i, "fix"],
  // A script is called so.
  [/(?<!bench:|`:)\bdoors?\b/i, "adapter, client, interface"],
  [/\b(?:no|some)body\b/i, "name the person or program, or rephrase"],
  [/\btells(?! (?:you|the user)\b)/i, "describes, says, shows"],
  [/\blies? (?:in|at|beside|where|outside|there)\b/i, "is in, is at"],
  [/(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more|such|other)/i, "is not a"],
  [/\b(?:take|takes|taken|taking) (?:it |them |all of it |that )?back\b/i, "revert, undo"],
  [/\btaken out of\b/i, "removed from"],
  [/\bis at it\b/i, "is running"],
  [/\b(?:is|are|was|were) there already\b/i, "already exists"],
  [/\bin so many words\b/i, "explicitly"],
  [/\bof its own accord\b/i, "on its own"],
  [/\bfor ever\b/i, "forever"],
  [/\banew\b/i, "again"],
  [/\bpass(?:es|ed)? over\b/i, "skip"],
  [/\blooked (?:at|up|through)\b/i, "checked, read, searched"],
  [/\bordinary file\b/i, "regular file"],
];

/** Files whose strings are patterns and words that people write, not messages. */
const PATTERNS = /^src\/(?:learn\/said-|exchange\/claude-mem|text\/(?:terms|secret-)|truth\/claims)/;

test("docs are in plain English", () => {
  const files = list(":(glob)*.md", "docs/*.md");
  expect(files).toContain("README.md");
  const lines = files.flatMap((file) =>
    read(file)
      .split("\n")
      .map((text, at) => ({ text, where: `${file}:${at + 1}` })),
  );
  // The name of a field in docs/api.md is not prose.
  expect(lines.filter(({ text }) => !/^\s+\w+\??: \w+;$/.test(text)).flatMap(findBanned)).toEqual([]);
});

test("messages are in plain English", () => {
  const files = list("src/*.ts", "src/*.tsx").filter((file) => !PATTERNS.test(file));
  expect(files).toContain("src/web/page/main.tsx");
  expect(files.flatMap((where) => textsOf(where).map((text) => ({ text, where }))).flatMap(findBanned)).toEqual([]);
});

function list(...patterns: string[]): string[] {
  return execFileSync("git", ["ls-files", ...patterns], { cwd: ROOT, encoding: "utf8" })
    .trim()
    .split("\n");
}

function read(file: string): string {
  return fs.readFileSync(path.join(ROOT, file), "utf8");
}

function findBanned({ text, where }: { text: string; where: string }): string[] {
  return BANNED.flatMap(([phrase, instead]) => {
    const found = phrase.exec(text);
    if (!found) return [];
    return [`${where}: “${text.slice(Math.max(0, found.index - 30), found.index + 50)}”; write: ${instead}`];
  });
}

/** String literals, templates and JSX texts of more than one word; comments are not in the tree. */
function textsOf(file: string): string[] {
  const texts: string[] = [];
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== "object") return;
    const { type, value } = node as { type?: string; value?: unknown };
    if ((type === "Literal" || type === "JSXText") && typeof value === "string") texts.push(value);
    else if (type === "TemplateElement") texts.push((value as { raw: string }).raw);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(read(file), { lang: file.endsWith("x") ? "tsx" : "ts" }, file));
  return texts.filter((text) => text.includes(" "));
}
