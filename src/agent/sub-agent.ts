/** Sub-agents: their definitions, and the Task tool that hands work to one and returns its final answer. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { openAttachments } from "../context/attachments.ts";
import { readRegular } from "../disk/fence.ts";
import type { Memdir } from "../memdir.ts";
import { type LoopEvent, runAgentLoop } from "../model/agent-loop.ts";
import type { Message, SystemBlock, TextBlock } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import { type AgentScope, repositoryOf } from "../project/scopes.ts";
import { EXPLORE_PROMPT, PLAN_PROMPT, SUB_AGENT_RULES, TASK_DESCRIPTION } from "../prompts/agent.ts";
import type { Transcript } from "../session/transcript.ts";
import { type FieldValue, parseDocument } from "../text/frontmatter.ts";
import { openTools } from "../tools/tools.ts";
import type { ToolName, Workbench } from "../tools/workbench.ts";
import { openMemoryStore } from "./memory.ts";
import { buildOpening } from "./opening.ts";
import { type AgentState, addSpent, sessionFolder, startTranscript } from "./state.ts";
import { keepResult, openWorkbench } from "./workbench.ts";

/** A sub-agent that needs more steps is lost. */
const MAX_STEPS = 50;

export function openTaskTool(state: AgentState): Tool {
  return {
    name: "Task",
    description: TASK_DESCRIPTION,
    schema: {
      type: "object",
      properties: {
        description: { type: "string", description: "the task in three to five words" },
        prompt: { type: "string", description: "the whole task" },
        subagent_type: { type: "string", description: "the sub-agent's name" },
      },
      required: ["prompt", "subagent_type"],
    },
    run: async (input, { signal }) => {
      const { prompt, subagent_type: name } = input;
      if (typeof prompt !== "string" || prompt.trim() === "") throw new Error("`prompt` is empty; describe the task");
      const { project } = state.setup.memdir.location;
      const { agents } = findDefinitions(repositoryOf(project), state.setup.memdir.config);
      const agent = agents.find((one) => one.name === name) ?? agents.find((one) => same(one.name, String(name)));
      if (!agent) {
        throw new Error(
          `there is no sub-agent ${JSON.stringify(name)}; use one of: ${agents.map((a) => a.name).join(", ")}`,
        );
      }
      return runSubAgent(state, agent, prompt, signal);
    },
  };
}

async function runSubAgent(state: AgentState, agent: AgentDefinition, prompt: string, signal: AbortSignal) {
  const { setup } = state;
  const sub = await openSubAgent(state, agent, prompt);
  const { id, transcript } = sub;
  const onEvent = (event: LoopEvent) => {
    if (event.type === "message") {
      const { message, usage, stop } = event;
      transcript.append(message, { ...(usage && { usage }), ...(stop && { stop }) });
    }
    if (event.type === "retry") addSpent(state, event.spent);
    if (event.type === "usage") addSpent(state, event.usage);
    state.tell({ type: "sub-agent", name: agent.name, id, event });
  };
  const result = await runAgentLoop(setup.model.ask, {
    system: sub.system,
    messages: sub.messages,
    tools: sub.tools,
    maxTurns: MAX_STEPS,
    maxTokens: setup.model.maxTokens,
    signal,
    onEvent,
    results: { write: (call, content) => keepResult(state, call, content) },
    attach: sub.attach,
  });
  transcript.close();
  state.tell({ type: "sub-agent", name: agent.name, id, event: { type: "end", turns: result.turns } });
  if (result.ended === "done") return result.text;
  const why = result.error?.message ?? `its turn ended with "${result.ended}"`;
  return { content: `${agent.name} did not finish: ${why}\n\n${result.text}`.trim(), isError: true };
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

interface SubAgent {
  id: string;
  system: SystemBlock[];
  messages: Message[];
  tools: Tool[];
  transcript: Transcript;
  /** What touched files add goes to the sub-agent's conversation, and does not count as shown to the parent. */
  attach: () => Promise<readonly TextBlock[]>;
}

async function openSubAgent(state: AgentState, agent: AgentDefinition, prompt: string): Promise<SubAgent> {
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
  const transcript = openSubTranscript(state, id);
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

/** The file is named after the sub-agent; its lines have ids like all others. */
function openSubTranscript(state: AgentState, id: string): Transcript {
  const { setup } = state;
  let isNamed = false;
  const newId = () => {
    if (isNamed) return setup.newId();
    isNamed = true;
    return `agent-${id}`;
  };
  return startTranscript({ ...setup, newId }, sessionFolder(state, "subagents"), () => state.branch);
}

interface AgentDefinition {
  name: string;
  /** When to use it. */
  description: string;
  prompt: string;
  /** Null: all of them. */
  tools: readonly ToolName[] | null;
  memory: AgentScope | null;
  /** Read-only work needs neither rules nor memories. */
  omitInstructions: boolean;
  /** The file it was read from; null for built-in ones. */
  path: string | null;
}

const READING: readonly ToolName[] = ["Read", "Glob", "Grep"];
const TOOL_NAMES: readonly ToolName[] = ["Read", "Write", "Edit", "Glob", "Grep", "Bash"];

const BUILT_IN: readonly AgentDefinition[] = [
  {
    name: "Explore",
    description: "searches the code and reports where things are; read-only",
    prompt: EXPLORE_PROMPT,
    tools: READING,
    memory: null,
    omitInstructions: true,
    path: null,
  },
  {
    name: "Plan",
    description: "reads the code that a change affects and proposes how to make it, step by step; read-only",
    prompt: PLAN_PROMPT,
    tools: READING,
    memory: null,
    omitInstructions: true,
    path: null,
  },
];

/** The project's definitions win over the user's, and both over built-in ones of the same name. Unusable files are named in `problems`. */
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
    problems.push(`${path} is ignored: it cannot be read, or is not a regular file of at most 256 KB`);
    return null;
  }
  const { fields, body, problems: broken } = parseDocument(bytes.toString("utf8"));
  const value = (key: string) => fields.find((field) => field.key === key)?.value;
  const name = textOf(value("name"));
  if (broken.length > 0 || !/^[\w:.-]{1,80}$/.test(name)) {
    problems.push(`${path} is ignored: ${broken[0] ?? "it needs a `name:` made of letters, digits, - and _"}`);
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

/** A list or comma-separated; unknown names are ignored. An agent with its own memory can always read and write it. */
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
