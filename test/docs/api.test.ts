/** docs/api.md is generated from the types: `npx vitest run test/docs/api.test.ts --update` writes it again. Everything public is explained there, and on hover. */

import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { parseAst } from "vitest/node";
import packageJson from "../../package.json" with { type: "json" };
import { MEMORY_VERBS } from "../../src/verbs/rows.ts";
import { VERBS } from "../../src/verbs/table.ts";
import { type Declared, readEntry } from "./declarations.ts";

const SRC = resolve(import.meta.dirname, "../../src");

const ENTRIES = [
  ["memdir", "index.ts", "The memory of a project."],
  ["memdir/ai", "ai.ts", "For the AI SDK (`ai` 6)."],
  ["memdir/anthropic", "anthropic.ts", "For the Anthropic SDK (`@anthropic-ai/sdk` 1)."],
  ["memdir/verbs", "library/verbs.ts", "Every command of the command line, as a function."],
  ["memdir/memory-tool", "memory-tool/memory-tool.ts", "The API's memory tool alone, for the SDK's `betaMemoryTool`."],
] as const;

/** The sources of every entry that package.json publishes. */
const PUBLISHED = Object.values(packageJson.exports).flatMap((entry) =>
  typeof entry === "string" ? [] : [join(SRC, entry.types.replace("./dist/types/", "").replace(/\.d\.ts$/, ".ts"))],
);

/** Names come first that a program begins with. */
const FIRST = [
  "openMemdir",
  "OpenOptions",
  "PlaceOptions",
  "Library",
  "Memdir",
  "Memories",
  "SaveRequest",
  "SaveResult",
];

const HEAD = `# API

This page is generated from the types in \`src/\`; your editor shows the same sentences on hover. For \`memdir/agent\` see [console.md](console.md), and for \`memdir/compat\` see [library.md](library.md).

Every function rejects with a \`MemdirError\` if it cannot use its input, even if a model supplied that input: \`code\` gives the kind of problem, and the message says what to do. \`recall\` never rejects.
`;

it("docs/api.md has every export", async () => {
  const entries = ENTRIES.map(([name, file, about]) => {
    const declared = readEntry(join(SRC, file)).sort((a, b) => placeOf(a) - placeOf(b));
    return `## \`${name}\`\n\n${about}\n\n${declared.map(show).join("\n\n")}`;
  });
  const page = [HEAD, ...entries, await showVerbs()].join("\n\n").replace(/\n{3,}/g, "\n\n");
  await expect(`${page}\n`).toMatchFileSnapshot("../../docs/api.md");
});

it("every export of the package, and every field of it, is explained on hover", () => {
  const all = PUBLISHED.flatMap((file) =>
    readEntry(file).map((declared) => ({ ...declared, file: relative(SRC, file) })),
  );
  const bare = all.filter(({ doc }) => doc === "").map(({ file, name }) => `${file} ${name}`);
  const fields = all.flatMap(({ file, ...declared }) => fieldsWithoutDoc(declared).map((field) => `${file} ${field}`));
  expect([...bare, ...fields]).toEqual([]);
});

function placeOf({ name }: Declared): number {
  const at = FIRST.indexOf(name);
  return at < 0 ? FIRST.length : at;
}

function show({ name, doc, text }: Declared): string {
  return [`### ${name}`, doc, `\`\`\`ts fragment\n${text}\n\`\`\``].filter((part) => part !== "").join("\n\n");
}

/**
 * Two kinds of fields need no sentence: those of a literal on one line, which the sentence above it explains as a whole, and
 * those with one possible value, such as `type: "text"`, which says all there is to say.
 */
function fieldsWithoutDoc({ name, kind, text }: Declared): string[] {
  if (kind === "function" || kind === "const") return [];
  const found: string[] = [];
  const visit = (node: unknown, around: string): void => {
    if (node === null || typeof node !== "object") return;
    const { type = "", start, end, key, typeAnnotation } = node as Partial<Node>;
    const isField = /^(?:TSPropertySignature|TSMethodSignature|PropertyDefinition)$/.test(type);
    const isBare = isField && !text.slice(0, start).trimEnd().endsWith("*/");
    if (isBare && around.includes("\n") && typeAnnotation?.typeAnnotation.type !== "TSLiteralType")
      found.push(`${name}.${key?.name}`);
    const isBlock = /^(?:TSInterfaceBody|TSTypeLiteral|ClassBody)$/.test(type);
    for (const child of Object.values(node)) visit(child, isBlock ? text.slice(start, end) : around);
  };
  visit(parseAst(text, { lang: "ts" }), "");
  return found;
}

interface Node {
  type: string;
  start: number;
  end: number;
  key: { name: string };
  typeAnnotation: { typeAnnotation: { type: string } } | null;
}

/** What the command line can do, for programs: from the table of verbs. */
async function showVerbs(): Promise<string> {
  const rows = VERBS.filter(({ on }) => on.includes("library"));
  const shown = rows.map(async ({ name, summary, load }) => {
    const { input } = await load();
    const taken = Object.entries(input).filter(([, { only }]) => !only || only.includes("library"));
    const inputs = taken.map(
      ([field, { help, json }]) => `- \`${field}\` (${typeOf(json)})${help === "" ? "" : `: ${help}`}`,
    );
    return [`### verbs.${name}`, summary, ...(inputs.length === 0 ? [] : [inputs.join("\n")])].join("\n\n");
  });
  const short = MEMORY_VERBS.filter(({ on }) => on.includes("library")).map(({ name }) => `\`${name}\``);
  const where = `\`openVerbs()\` from \`memdir/verbs\` has all of them; \`memdir.verbs\` has those that work on memories: ${short.join(", ")}.`;
  return `## The verbs\n\nEvery command with its input. The results are typed. ${where}\n\n${(await Promise.all(shown)).join("\n\n")}`;
}

function typeOf({ type, enum: words, items }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(words)) return words.join(", ");
  return type === "array" ? `list of ${String((items as { type: string }).type)}s` : String(type);
}

it("is linked from the README", () => {
  expect(readFileSync(join(dirname(SRC), "README.md"), "utf8")).toContain("docs/api.md");
});
