/** docs/api.md is made of the types: `npx vitest run test/docs/api.test.ts --update` writes it anew. Everything public is explained there, and on hover. */

import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";
import { VERBS } from "../../src/verbs/table.ts";
import { type Declared, readEntry } from "./declarations.ts";

const SRC = resolve(import.meta.dirname, "../../src");

const ENTRIES = [
  ["memdir", "index.ts", "The memory of a project."],
  ["memdir/ai", "ai.ts", "For the AI SDK (`ai` 6)."],
  ["memdir/anthropic", "anthropic.ts", "For the Anthropic SDK (`@anthropic-ai/sdk` 1)."],
  ["memdir/memory-tool", "memory-tool/memory-tool.ts", "The API's memory tool alone, for the SDK's `betaMemoryTool`."],
] as const;

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

Made of the types in \`src/\`: the same sentences are shown on hover. \`memdir/agent\` and \`memdir/compat\` are described in [console.md](console.md) and the README.

Every function rejects with a \`MemdirError\` for input that it cannot use, also when a model supplied it: \`code\` says what kind of problem it is, the message says what to do. \`recall\` never rejects.
`;

it("docs/api.md has every export", async () => {
  const entries = ENTRIES.map(([name, file, about]) => {
    const declared = readEntry(join(SRC, file)).sort((a, b) => placeOf(a) - placeOf(b));
    return `## \`${name}\`\n\n${about}\n\n${declared.map(show).join("\n\n")}`;
  });
  const page = [HEAD, ...entries, await showVerbs()].join("\n\n").replace(/\n{3,}/g, "\n\n");
  await expect(`${page}\n`).toMatchFileSnapshot("../../docs/api.md");
});

it("every export, and every member of what programs pass and get, is explained", () => {
  const all = ENTRIES.flatMap(([, file]) => readEntry(join(SRC, file)));
  const bare = all.filter(({ doc, kind }) => doc === "" && kind !== "const").map(({ name }) => name);
  expect(bare.filter((name) => !SELF_EXPLAINING.has(name))).toEqual([]);
  const wanted =
    /Options$|Request$|Result$|^(?:Library|Memdir|Memories|MemoryTool|ListFilter|AiMemory|AnthropicMemory)$/;
  const members = all.filter(({ name }) => wanted.test(name)).flatMap(membersWithoutDoc);
  expect(members.filter((member) => !SELF_EXPLAINING.has(member.split(".")[1] as string))).toEqual([]);
});

/** Names that say all there is to say. */
const SELF_EXPLAINING = new Set([
  "type",
  "name",
  "text",
  "file",
  "path",
  "role",
  "content",
  "action",
  "memories",
  "tookMs",
  "signal",
]);

function placeOf({ name }: Declared): number {
  const at = FIRST.indexOf(name);
  return at < 0 ? FIRST.length : at;
}

function show({ name, doc, text }: Declared): string {
  return [`### ${name}`, doc, `\`\`\`ts fragment\n${text}\n\`\`\``].filter((part) => part !== "").join("\n\n");
}

function membersWithoutDoc({ name, kind, text }: Declared): string[] {
  if (kind !== "interface") return [];
  const lines = text.split("\n");
  return lines.flatMap((line, i) => {
    const member = /^ {2}(?:readonly )?(\w+)\??[(:<]/.exec(line)?.[1];
    return member !== undefined && !lines[i - 1]?.trimEnd().endsWith("*/") ? [`${name}.${member}`] : [];
  });
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
  return `## \`memdir.verbs\`\n\nEvery command with its input; the result is typed.\n\n${(await Promise.all(shown)).join("\n\n")}`;
}

function typeOf({ type, enum: words, items }: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(words)) return words.join(", ");
  return type === "array" ? `list of ${String((items as { type: string }).type)}s` : String(type);
}

it("is linked from the README", () => {
  expect(readFileSync(join(dirname(SRC), "README.md"), "utf8")).toContain("docs/api.md");
});
