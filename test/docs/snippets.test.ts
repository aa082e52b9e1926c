/** The snippets of the README and the docs, and the examples, as a strict program compiles them against the published types; and what of them needs no network is run. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { makeTemporary } from "../temporary.ts";
import { makeWorld } from "../world.ts";

const ROOT = path.resolve(import.meta.dirname, "../..");
const TSC = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const PAGES = ["README.md", ...fs.readdirSync(path.join(ROOT, "docs")).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith(".md"),
);

interface Snippet {
  name: string;
  text: string;
}

/** Blocks of TypeScript; `ts fragment` marks what is not a program, such as a signature. */
const SNIPPETS: Snippet[] = PAGES.flatMap((page) =>
  [...fs.readFileSync(path.join(ROOT, page), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text], i) => ({
    name: `${page.replace(/\W+/g, "-")}-${i}`,
    text: text as string,
  })),
);

let folder: string;
beforeAll(() => {
  folder = makeTemporary("snippets");
  fs.symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
  tsc(ROOT, "-p", "tsconfig.build.json", "--outDir", path.join(folder, "types"));
});

function tsc(cwd: string, ...args: string[]): void {
  const { status, stdout } = spawnSync(process.execPath, [TSC, ...args], { cwd, encoding: "utf8" });
  expect([status, stdout]).toEqual([0, ""]);
}

/** As a careful program is compiled. */
const STRICT = {
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: true },
  ...{ module: "nodenext", moduleResolution: "nodenext", target: "es2022", lib: ["es2024"], types: ["node"] },
  ...{ noEmit: true, allowImportingTsExtensions: true, allowJs: true },
};

function compile(files: Readonly<Record<string, string>>, options: object = {}): void {
  const at = fs.mkdtempSync(path.join(folder, "program-"));
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(at, name), text);
  fs.writeFileSync(path.join(at, "package.json"), '{ "type": "module" }');
  const { exports } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  const entries = Object.entries(exports as Record<string, { types?: string }>).flatMap(([name, { types }]) =>
    types ? [[name.replace(/^\./, "memdir"), [types.replace("./dist/types", "../types")]]] : [],
  );
  const compilerOptions = { ...STRICT, ...options, paths: Object.fromEntries(entries) };
  fs.writeFileSync(path.join(at, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*"] }));
  tsc(at, "-p", ".");
}

describe("snippets", () => {
  it("of the README and the docs compile", () => {
    expect(SNIPPETS.length).toBeGreaterThan(5);
    compile(Object.fromEntries(SNIPPETS.map(({ name, text }) => [`${name}.ts`, `${text}\nexport {};\n`])));
  });

  it("of the README that need no network run", () => {
    const first = SNIPPETS.find(({ name }) => name.startsWith("README")) as Snippet;
    const world = makeWorld();
    const program = path.join(folder, "readme.mjs");
    const index = JSON.stringify(path.join(ROOT, "dist/index.js"));
    fs.writeFileSync(program, first.text.replaceAll('"memdir"', index));
    const { status, stdout, stderr } = spawnSync(process.execPath, [program], {
      cwd: world.project,
      env: world.env as NodeJS.ProcessEnv,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("user role Data scientist");
  });
});

it("the examples have at most 30 lines each", () => {
  for (const name of fs.readdirSync(path.join(ROOT, "examples"))) {
    const lines = fs
      .readFileSync(path.join(ROOT, "examples", name), "utf8")
      .trimEnd()
      .split("\n");
    expect([name, lines.length <= 30]).toEqual([name, true]);
  }
});

it("the examples compile", () => {
  // The types of openai's runner take no list of tools that `map` made; test/heavy/examples.test.ts runs that one.
  const names = fs.readdirSync(path.join(ROOT, "examples")).filter((name) => name !== "openai-agent.mjs");
  const files = names.map((name) => [name, fs.readFileSync(path.join(ROOT, "examples", name), "utf8")]);
  // Plain JavaScript: an array that begins empty has no type.
  compile(Object.fromEntries(files), { checkJs: true, noImplicitAny: false, strict: false, strictNullChecks: true });
});

it("takes options that another library left undefined", () => {
  compile({
    "undefined.ts": `
import { openMemdir, openRecallSession, type ListFilter, type MemoryPromptOptions, type OpenOptions, type RecallOptions, type SaveRequest, type VerifyOptions } from "memdir";
import { openVerbs } from "memdir/verbs";
import { openAiMemory } from "memdir/ai";
import { openAnthropicMemory } from "memdir/anthropic";
type Loose<T> = { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] };
declare const open: Loose<Partial<OpenOptions>>, save: Loose<SaveRequest>, filter: Loose<ListFilter>, recall: Loose<RecallOptions>, prompt: Loose<MemoryPromptOptions>, verify: Loose<VerifyOptions>;
const memdir = await openMemdir(open);
await memdir.save(save);
await memdir.list(filter);
await memdir.recall("", recall);
await memdir.prompt(prompt);
await memdir.verify(undefined, verify);
await memdir.instructions({ addDirs: undefined, allAgents: undefined });
await memdir.warm({ signal: undefined, onProgress: undefined });
openRecallSession({ maxBytes: undefined });
await (await openVerbs(open)).list({ type: undefined }, { signal: undefined, onProgress: undefined });
await openAiMemory(memdir, { only: undefined, recall: undefined });
await openAnthropicMemory(memdir, { only: undefined, recall: undefined, memoryTool: undefined });
`,
  });
});
