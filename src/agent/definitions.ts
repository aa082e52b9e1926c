/** Which sub-agents there are: two of our own that only read, and those of `.claude/agents/*.md`. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { readRegular } from "../disk/fence.ts";
import type { AgentScope } from "../project/scopes.ts";
import { EXPLORE_PROMPT, PLAN_PROMPT } from "../prompts/sub-agents.ts";
import { type FieldValue, parseDocument } from "../text/frontmatter.ts";
import type { ToolName } from "../tools/workbench.ts";

export interface AgentDefinition {
  name: string;
  /** When to use it. */
  description: string;
  prompt: string;
  /** Null: all of them. */
  tools: readonly ToolName[] | null;
  memory: AgentScope | null;
  /** Read-only work needs neither rules nor memories. */
  omitInstructions: boolean;
  /** Where it was read; null for our own. */
  path: string | null;
}

const READING: readonly ToolName[] = ["Read", "Glob", "Grep"];
const TOOL_NAMES: readonly ToolName[] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash"];

const BUILT_IN: readonly AgentDefinition[] = [
  {
    name: "Explore",
    description: "looks for things in the code and reports where they are; reads only",
    prompt: EXPLORE_PROMPT,
    tools: READING,
    memory: null,
    omitInstructions: true,
    path: null,
  },
  {
    name: "Plan",
    description: "reads what a change touches and proposes how to make it, step by step; reads only",
    prompt: PLAN_PROMPT,
    tools: READING,
    memory: null,
    omitInstructions: true,
    path: null,
  },
];

/** The project's own win over the user's, and both over ours of the same name. Files that cannot be used are named in `problems`. */
export function findDefinitions(repository: string, config: Config): { agents: AgentDefinition[]; problems: string[] } {
  const problems: string[] = [];
  const folders = [join(config.claudeDir, "agents"), join(repository, ".claude", "agents")];
  const byName = new Map(BUILT_IN.map((agent) => [agent.name, agent]));
  for (const folder of folders) {
    for (const file of listMarkdown(folder)) {
      const agent = readDefinition(join(folder, file), problems);
      if (agent) byName.set(agent.name, agent);
    }
  }
  return { agents: [...byName.values()], problems };
}

/** A definition is a page of text. */
const MAX_BYTES = 256 * 1024;

function listMarkdown(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".md") && !name.startsWith("."))
      .sort();
  } catch {
    return [];
  }
}

function readDefinition(path: string, problems: string[]): AgentDefinition | null {
  const bytes = attempt(() => readRegular(path, { maxBytes: MAX_BYTES }));
  if (!bytes) {
    problems.push(`${path}: cannot be read, or is no ordinary file of at most 256 KB; it is left out`);
    return null;
  }
  const { fields, body, problems: broken } = parseDocument(bytes.toString("utf8"));
  const value = (key: string) => fields.find((field) => field.key === key)?.value;
  const name = textOf(value("name"));
  if (broken.length > 0 || !/^[\w:.-]{1,80}$/.test(name)) {
    problems.push(`${path}: ${broken[0] ?? "needs a `name:` of letters, digits, - and _"}; it is left out`);
    return null;
  }
  const memory = textOf(value("memory"));
  return {
    name,
    description: textOf(value("description")),
    prompt: body.trim(),
    tools: toolsOf(value("tools"), memory !== ""),
    memory: memory === "user" || memory === "project" || memory === "local" ? memory : null,
    omitInstructions: false,
    path,
  };
}

/** A list or a comma list; names that we do not have are passed over. With a memory of its own it can read and write it. */
function toolsOf(value: FieldValue | undefined, hasMemory: boolean): ToolName[] | null {
  if (value === undefined) return null;
  const named = (Array.isArray(value) ? value.map(String) : textOf(value).split(",")).map((name) => name.trim());
  if (named.includes("*") || named.every((name) => name === "")) return null;
  const memoryTools = hasMemory ? ["Read", "Write", "Edit"] : [];
  return TOOL_NAMES.filter((name) => named.includes(name) || memoryTools.includes(name));
}

function textOf(value: FieldValue | undefined): string {
  return typeof value === "string" ? value.trim() : "";
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
