/** The layers of ARCHITECTURE.md as a table, held against what `biome.json` really lets through. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/** Who may import whom. A new room or file of src/ needs a line here and an override in biome.json. */
const MAY_IMPORT: Record<string, string[]> = {
  cli: [
    "hooks",
    "mcp",
    "memory-tool",
    "exchange",
    "wiring",
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  hooks: [
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  mcp: [
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  "memory-tool": [
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  exchange: [
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  wiring: [
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  compat: [
    "compat-recall",
    "index",
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  "compat-recall": [
    "index",
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  index: [
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  "agent-kit": [
    "open-agent",
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  "open-agent": [
    "open",
    "open-learn",
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  "open-learn": [
    "agent",
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  open: [
    "directories",
    "memdir",
    "context",
    "session",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  agent: [
    "directories",
    "memdir",
    "context",
    "tools",
    "session",
    "learn",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  memdir: [
    "directories",
    "context",
    "session",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  directories: ["memory", "project", "config", "learn-config", "settings", "disk", "text", "errors"],
  context: [
    "session",
    "recall",
    "memory",
    "instructions",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "meaning",
    "model",
    "prompts",
    "errors",
  ],
  tools: ["session", "disk", "text", "model", "prompts", "errors"],
  session: ["disk", "text", "model", "errors"],
  learn: [
    "tools",
    "session",
    "recall",
    "memory",
    "instructions",
    "model",
    "prompts",
    "project",
    "config",
    "learn-config",
    "settings",
    "disk",
    "text",
    "errors",
  ],
  recall: ["memory", "project", "config", "learn-config", "settings", "disk", "text", "meaning", "prompts", "errors"],
  memory: ["project", "config", "learn-config", "settings", "disk", "text", "errors"],
  instructions: ["project", "config", "learn-config", "settings", "disk", "text", "errors"],
  project: ["config", "learn-config", "settings", "disk", "text", "errors"],
  config: ["learn-config", "settings", "disk", "text", "errors"],
  "learn-config": ["settings", "disk", "text", "errors"],
  settings: ["disk", "text", "errors"],
  disk: ["errors"],
  text: ["errors"],
  meaning: ["text", "errors"],
  model: ["text", "errors"],
  prompts: [],
  errors: [],
};
const names = Object.keys(MAY_IMPORT);
const FILES = new Set([
  "directories",
  "index",
  "agent-kit",
  "compat",
  "compat-recall",
  "open",
  "open-agent",
  "open-learn",
  "memdir",
  "config",
  "learn-config",
  "settings",
  "errors",
]);

/** The other rules of the house: a file that breaks one, and (where there is one) the place that is exempt. */
const RULES = [
  {
    rule: "suspicious/noImportCycles",
    breaks: "src/text/ring-a.ts",
    text: 'export type { B } from "./ring-b.ts";\nexport type A = 1;\n',
  },
  {
    rule: "style/noProcessEnv",
    breaks: "src/memory/env.ts",
    exempt: "test/env.ts",
    text: "export const home = process.env.HOME;\n",
  },
  {
    rule: "suspicious/noConsole",
    breaks: "src/memory/loud.ts",
    exempt: "src/cli/loud.ts",
    text: 'console.error("x");\n',
  },
  {
    rule: "style/noDefaultExport",
    breaks: "src/memory/default.ts",
    exempt: "vitest.config.ts",
    text: "export default 1;\n",
  },
  { rule: "suspicious/noExplicitAny", breaks: "src/memory/loose.ts", text: "export const f = (x: any) => x;\n" },
  { rule: "style/useNodejsImportProtocol", breaks: "src/memory/bare.ts", text: 'export { join } from "path";\n' },
  { rule: "correctness/noUnusedImports", breaks: "src/memory/idle.ts", text: 'import { join } from "node:path";\n' },
  { rule: "correctness/noUnusedVariables", breaks: "src/memory/spare.ts", text: "const spare = 1;\n" },
];

const root = path.resolve(import.meta.dirname, "../..");
let folder: string;
/** "rule file" and "rule file:line" of every complaint. */
const complaints = new Set<string>();

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "memdir-layers-"));
  copyFileSync(path.join(root, "biome.json"), path.join(folder, "biome.json"));
  for (const from of names) for (const probe of probesOf(from)) write(probe.file, probe.text);
  for (const { breaks, exempt, text } of RULES) for (const file of [breaks, exempt]) if (file) write(file, text);
  write("src/text/ring-b.ts", 'import type { A } from "./ring-a.ts";\n\nexport type B = A;\n');
  lint();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("layers", () => {
  it("knows every room and file of src/", () => {
    const entries = readdirSync(path.join(root, "src")).map((entry) => entry.replace(/\.ts$/, ""));
    expect(entries.filter((entry) => !names.includes(entry))).toEqual([]);
  });

  it.each(names)("%s imports what it may and nothing else", (from) => {
    for (const { file } of probesOf(from)) {
      const allowed = targetsOf(from).filter((_, i) => !complaints.has(`style/noRestrictedImports ${file}:${i + 1}`));
      expect(allowed.sort(), file).toEqual([...(MAY_IMPORT[from] ?? [])].sort());
    }
  });
});

describe("rules of the house", () => {
  it.each(RULES)("$rule", ({ rule, breaks, exempt }) => {
    expect(complaints).toContain(`${rule} ${breaks}`);
    if (exempt) expect(complaints).not.toContain(`${rule} ${exempt}`);
  });
});

function targetsOf(from: string): string[] {
  return names.filter((name) => name !== from);
}

/** Files that import every target, one per line: statically, from a folder below, lazily. A file of src/ has one place only. */
function probesOf(from: string): { file: string; text: string }[] {
  const text = (up: string, line: (spec: string, to: string) => string) =>
    targetsOf(from)
      .map((to) => line(`${up}${to}${FILES.has(to) ? "" : "/static"}.ts`, nameOf(to)))
      .join("\n");
  const nameOf = (file: string) => file.replaceAll("-", "_");
  const statically = (spec: string, to: string) => `export { ${nameOf(from)} as ${to} } from "${spec}";`;
  const lazily = (spec: string, to: string) => `export const ${to} = () => import("${spec}");`;
  const types = (spec: string, to: string) => `export type { ${nameOf(from)} as ${to} } from "${spec}";`;
  if (FILES.has(from)) return [{ file: `src/${from}.ts`, text: text("./", statically) }];
  return [
    { file: `src/${from}/static.ts`, text: text("../", statically) },
    { file: `src/${from}/lazy.ts`, text: text("../", lazily) },
    { file: `src/${from}/types.ts`, text: text("../", types) },
    { file: `src/${from}/below/static.ts`, text: text("../../", statically) },
  ];
}

function write(file: string, text: string): void {
  const full = path.join(folder, file);
  mkdirSync(path.dirname(full), { recursive: true });
  writeFileSync(full, text);
}

function lint(): void {
  const biome = createRequire(import.meta.url).resolve("@biomejs/biome/bin/biome");
  const run = spawnSync(process.execPath, [biome, "lint", "--reporter=json", "--max-diagnostics=none", "."], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  expect(run.status, run.stderr).toBe(1);
  for (const { severity, category, location } of JSON.parse(run.stdout).diagnostics) {
    if (severity !== "error") continue;
    const rule = category.replace("lint/", "");
    complaints.add(`${rule} ${location.path}`).add(`${rule} ${location.path}:${location.start.line}`);
  }
}
