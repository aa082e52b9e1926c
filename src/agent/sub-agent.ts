/** Sub-agents: their definitions, the Task tool that hands work to one, and what the model is told of them and of skills. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { openAttachments } from "../context/attachments.ts";
import { readRegular, resolveInside } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { buildSchema, filled, readInput, required, text } from "../input.ts";
import type { Memdir } from "../memdir.ts";
import { runAgentLoop } from "../model/agent-loop.ts";
import type { Message } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import { repositoryOf } from "../project/scopes.ts";
import { EXPLORE_PROMPT, PLAN_PROMPT, SUB_AGENT_RULES, TASK_DESCRIPTION } from "../prompts/agent.ts";
import { buildAgentList, buildSkillList } from "../prompts/conversation.ts";
import { TOOL_WORDS } from "../prompts/tool-descriptions.ts";
import { readHead } from "../session/line-stream.ts";
import { type Field, type FieldValue, findField, parseDocument } from "../text/frontmatter.ts";
import { termsOf } from "../text/terms.ts";
import { openTools } from "../tools/tools.ts";
import type { ToolName, Workbench } from "../tools/workbench.ts";
import { keepResult, openMemoryStore, openWorkbench } from "./memory.ts";
import { buildOpening } from "./opening.ts";
import { type AgentState, recordEvent, sessionFolder, startTranscript } from "./state.ts";

/** A sub-agent that needs more steps is lost. */
const MAX_STEPS = 50;

const TASK_FIELDS = {
  description: text("the task in three to five words"),
  prompt: required(filled(text("the whole task"))),
  subagent_type: required(text("the sub-agent's name")),
};

export function openTaskTool(state: AgentState): Tool {
  return {
    name: "Task",
    description: TASK_DESCRIPTION,
    schema: buildSchema(TASK_FIELDS),
    run: async (input, { signal }) => {
      const { prompt, subagent_type: name } = readInput(TASK_FIELDS, input);
      const { project } = state.setup.memdir.location;
      const { agents } = findDefinitions(repositoryOf(project), state.setup.memdir.config);
      const agent =
        agents.find((one) => one.name === name) ?? agents.find((one) => one.name.toLowerCase() === name.toLowerCase());
      if (!agent) {
        const names = agents.map((one) => one.name).join(", ");
        throw new Error(`there is no sub-agent ${JSON.stringify(name)}; use one of: ${names}`);
      }
      return runSubAgent(state, agent, prompt, signal);
    },
  };
}

async function runSubAgent(state: AgentState, agent: AgentDefinition, prompt: string, signal: AbortSignal) {
  const { model } = state.setup;
  const { id, transcript, ...sub } = await openSubAgent(state, agent, prompt);
  const result = await runAgentLoop(model.ask, {
    ...sub,
    maxTurns: MAX_STEPS,
    maxTokens: model.maxTokens,
    signal,
    onEvent: (event) => {
      recordEvent(state, transcript, event);
      state.tell({ type: "sub-agent", name: agent.name, id, event });
    },
    results: { write: (call, content) => keepResult(state, call, content) },
  });
  transcript.close();
  state.tell({ type: "sub-agent", name: agent.name, id, event: { type: "end", turns: result.turns } });
  if (result.ended === "done") return result.text;
  const why = result.error?.message ?? `its turn ended with "${result.ended}"`;
  return { content: `${agent.name} did not finish: ${why}\n\n${result.text}`.trim(), isError: true };
}

async function openSubAgent(state: AgentState, agent: AgentDefinition, prompt: string) {
  const { setup } = state;
  const id = setup.newId().replaceAll("-", "").slice(0, 16);
  const hasMemory = agent.memory !== null && state.memoryOn;
  const memory = hasMemory ? await setup.openScope(`agent:${agent.name}@${agent.memory}`) : null;
  const own: AgentState = {
    ...state,
    files: state.files.clone(),
    instructions: await setup.memdir.instructions({ addDirs: [...setup.addedDirs] }),
    attachments: openAttachments(),
    touching: Promise.resolve(),
  };
  const bench = openWorkbench(own, own.files);
  if (memory) addMemory(bench, memory, state);
  const opening = await buildOpening(own, { omit: agent.omitInstructions });
  const messages: Message[] = [{ role: "user", content: [...opening, { type: "text", text: prompt }] }];
  // The file is named after the sub-agent; its lines have ids like all others.
  const transcript = startTranscript(setup, sessionFolder(state, "subagents"), () => state.branch, {
    id: `agent-${id}`,
  });
  for (const message of messages) transcript.append(message);
  return {
    id,
    system: [
      { text: [agent.prompt, SUB_AGENT_RULES].filter((text) => text !== "").join("\n\n"), cache: true },
      ...(memory ? [{ text: await memory.prompt(), cache: true }] : []),
    ],
    messages,
    tools: openTools(bench, agent.tools ?? undefined),
    transcript,
    /** What touched files add goes to the sub-agent's conversation, and does not count as shown to the parent. */
    attach: async () => {
      await own.touching;
      return agent.omitInstructions ? [] : own.attachments.take();
    },
  };
}

/** Adds its own memory to the project's. */
function addMemory(bench: Workbench, memory: Memdir, state: AgentState): void {
  const own = openMemoryStore(memory, state);
  const shared = bench.store;
  bench.store = {
    owns: (path) => own.owns(path) || shared?.owns(path) === true,
    write: (path, text, base) => (own.owns(path) || !shared ? own : shared).write(path, text, base),
    remark: (path) => own.remark(path) ?? shared?.remark(path) ?? null,
  };
  bench.readable = [...bench.readable, ...memory.directories.map(({ path }) => path)];
}

type AgentDefinition = NonNullable<ReturnType<typeof readDefinition>>;

const TOOL_NAMES = Object.keys(TOOL_WORDS) as ToolName[];

const READ_ONLY = { tools: ["Read", "Glob", "Grep"], memory: null, omitInstructions: true } as const;

const BUILT_IN: readonly AgentDefinition[] = [
  {
    ...READ_ONLY,
    name: "Explore",
    description: "searches the code and reports where things are; read-only",
    prompt: EXPLORE_PROMPT,
  },
  {
    ...READ_ONLY,
    name: "Plan",
    description: "reads the code that a change affects and proposes how to make it, step by step; read-only",
    prompt: PLAN_PROMPT,
  },
];

/** The project's definitions win over the user's, and both over built-in ones of the same name. Unusable files are named in `problems`. */
function findDefinitions(repository: string, config: Config): { agents: AgentDefinition[]; problems: string[] } {
  const problems: string[] = [];
  const folders = [join(config.claudeDir, "agents"), join(repository, ".claude", "agents")];
  const byName = new Map(BUILT_IN.map((agent) => [agent.name, agent]));
  for (const folder of folders) {
    const names = attempt(() => readdirSync(folder).sort(), []);
    for (const file of names.filter((name) => name.endsWith(".md") && !name.startsWith("."))) {
      const agent = readDefinition(join(folder, file), problems);
      if (agent) byName.set(agent.name, agent);
    }
  }
  return { agents: [...byName.values()], problems };
}

/** A definition is a page of text. */
const MAX_BYTES = 256 * 1024;

function readDefinition(path: string, problems: string[]) {
  const bytes = attempt(() => readRegular(path, { maxBytes: MAX_BYTES }), null);
  if (!bytes) {
    problems.push(`${path} is ignored: it cannot be read, or is not a regular file of at most 256 KB`);
    return null;
  }
  const { fields, body, problems: broken } = parseDocument(bytes.toString("utf8"));
  const name = textIn(fields, "name");
  if (broken.length > 0 || !/^[\w:.-]{1,80}$/.test(name)) {
    problems.push(`${path} is ignored: ${broken[0] ?? "it needs a `name:` made of letters, digits, - and _"}`);
    return null;
  }
  const memory = textIn(fields, "memory");
  return {
    name,
    /** When to use it. */
    description: textIn(fields, "description"),
    prompt: body.trim(),
    /** Null: all of them. */
    tools: toolsOf(findField(fields, ["tools"])?.value, memory !== ""),
    memory: memory === "user" || memory === "project" || memory === "local" ? memory : null,
    /** Read-only work needs neither rules nor memories. */
    omitInstructions: false,
  };
}

/** A list or comma-separated; unknown names are ignored. An agent with its own memory can always read and write it. */
function toolsOf(value: FieldValue | undefined, hasMemory: boolean): readonly ToolName[] | null {
  if (value === undefined) return null;
  const given = Array.isArray(value) ? value.map(String) : typeof value === "string" ? value.split(",") : [];
  const named = given.map((name) => name.trim());
  if (named.includes("*") || named.every((name) => name === "")) return null;
  const memoryTools = hasMemory ? ["Read", "Write", "Edit"] : [];
  return TOOL_NAMES.filter((name) => named.includes(name) || memoryTools.includes(name));
}

// --- Tells the model what exists besides its tools: sub-agents, and skills that may help with a prompt.

/** As reminders, so that the tool descriptions, and with them the provider's cache, stay the same. */
export function announce(state: AgentState, words: string): void {
  const { config, location } = state.setup.memdir;
  const repository = repositoryOf(location.project);
  const { agents, problems } = findDefinitions(repository, config);
  for (const problem of problems) state.setup.log(problem);
  state.attachments.push({ kind: "agents", key: "agents", text: buildAgentList(agents) });
  const folders = [join(config.claudeDir, "skills"), join(repository, ".claude", "skills")];
  for (const skill of rankSkills(findSkills(folders), words)) {
    state.attachments.push({ kind: "skills", key: skill.path, text: buildSkillList([skill]) });
  }
}

export type Skill = NonNullable<ReturnType<typeof readSkill>>;

const SKILL_FILE = "SKILL.md";

/** The frontmatter is in the first lines; the skill after it can be long. */
const HEAD_BYTES = 16 * 1024;

/** More than anyone keeps in one folder. */
const MAX_SKILLS_PER_FOLDER = 500;

/** A name is a word or two. */
const MAX_NAME_CHARS = 100;

/** More than a handful is noise. */
const MAX_RANKED = 5;

/**
 * Skills in an earlier folder hide others of the same name; within a folder they are sorted by name. What is missing, broken,
 * not a regular file, or a link out of its folder, is skipped. Must not throw.
 */
export function findSkills(folders: readonly string[]): Skill[] {
  const found = new Map<string, Skill>();
  for (const folder of folders) {
    const entries = attempt(() => readdirSync(folder).filter((name) => !name.startsWith(".")), []);
    for (const entry of entries.sort().slice(0, MAX_SKILLS_PER_FOLDER)) {
      const skill = readSkill(folder, entry);
      if (skill && !found.has(skill.name)) found.set(skill.name, skill);
    }
  }
  return [...found.values()];
}

/** Ranked by how many of the prompt's terms are in the name and description; those without any are left out. */
export function rankSkills(skills: readonly Skill[], prompt: string): Skill[] {
  const wanted = new Set(termsOf(prompt));
  const scored = skills.map((skill) => {
    const terms = new Set(termsOf(`${skill.name}\n${skill.description}`));
    return { skill, hits: [...wanted].filter((term) => terms.has(term)).length };
  });
  return scored
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, MAX_RANKED)
    .map(({ skill }) => skill);
}

/** `path` is that of its SKILL.md. */
function readSkill(folder: string, entry: string) {
  const path = attempt(() => resolveInside(folder, `${entry}/${SKILL_FILE}`), null);
  const { fields } = parseDocument(path === null ? "" : (readHead(path, HEAD_BYTES) ?? ""));
  const description = textIn(fields, "description");
  const name = textIn(fields, "name") || entry;
  return path === null || description === "" || name.length > MAX_NAME_CHARS ? null : { name, description, path };
}

function textIn(fields: readonly Field[], key: string): string {
  const value = findField(fields, [key])?.value;
  return typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "";
}
