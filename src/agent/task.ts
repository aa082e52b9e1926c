/** Sub-agents: a conversation of its own with its own tools, of which only the final answer comes back. */

import { type LoopEvent, runAgentLoop } from "../model/agent-loop.ts";
import type { Message, SystemBlock } from "../model/ask.ts";
import { addUsage } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import { repositoryOf } from "../project/scopes.ts";
import { SUB_AGENT_RULES, TASK_DESCRIPTION } from "../prompts/sub-agents.ts";
import { openTranscript } from "../session/transcript.ts";
import { openTools } from "../tools/tools.ts";
import { type AgentDefinition, findDefinitions } from "./definitions.ts";
import { openMemoryStore } from "./memory-store.ts";
import { buildOpening } from "./opening.ts";
import { type AgentState, sessionFolder } from "./state.ts";
import { keepResult, openWorkbench } from "./workbench.ts";

/** A sub-agent that needs more has lost its way. */
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
      if (typeof prompt !== "string" || prompt.trim() === "") throw new Error("`prompt` must say what to do");
      const { project } = state.world.memdir.location;
      const { agents } = findDefinitions(repositoryOf(project), state.world.memdir.config);
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
  const { world } = state;
  const id = world.newId().replaceAll("-", "").slice(0, 16);
  const memory = agent.memory === null ? null : await world.openScope(`agent:${agent.name}@${agent.memory}`);
  const bench = openWorkbench(state, state.files.clone());
  const store = memory ? openMemoryStore(memory, world.now, (event) => state.tell(event)) : null;
  const own = bench.store;
  if (store && own) {
    bench.store = {
      owns: (path) => store.owns(path) || own.owns(path),
      write: (path, text, base) => (store.owns(path) ? store : own).write(path, text, base),
      remark: (path) => store.remark(path) ?? own.remark(path),
    };
    bench.readable = [...bench.readable, ...(memory?.directories.map(({ path }) => path) ?? [])];
  }
  const opening = await buildOpening(state, { omit: agent.omitInstructions });
  const messages: Message[] = [{ role: "user", content: [...opening, { type: "text", text: prompt }] }];
  const system: SystemBlock[] = [
    { text: [agent.prompt, SUB_AGENT_RULES].filter((text) => text !== "").join("\n\n"), cache: true },
    ...(memory ? [{ text: await memory.prompt(), cache: true }] : []),
  ];
  const transcript = openTranscript(
    {
      dir: sessionFolder(state, "subagents"),
      cwd: bench.cwd,
      version: world.version,
      model: () => world.model.name,
      gitBranch: () => state.branch,
    },
    { ...world, newId: firstly(`agent-${id}`, world.newId) },
  );
  for (const message of messages) transcript.append(message);
  const onEvent = (event: LoopEvent) => {
    if (event.type === "message") {
      transcript.append(event.message, {
        ...(event.usage && { usage: event.usage }),
        ...(event.stop && { stop: event.stop }),
      });
    }
    if (event.type === "usage") {
      state.usage = { ...addUsage(state.usage, event.usage), requests: state.usage.requests + 1 };
    }
    state.tell({ type: "sub-agent", name: agent.name, id, event });
  };
  const result = await runAgentLoop(world.model.ask, {
    system,
    messages,
    tools: openTools(bench, agent.tools ?? undefined),
    maxTurns: MAX_STEPS,
    maxTokens: world.model.maxTokens,
    signal,
    onEvent,
    results: { write: (call, content) => keepResult(state, call, content) },
  });
  transcript.close();
  state.tell({ type: "sub-agent", name: agent.name, id, event: { type: "end", turns: result.turns } });
  if (result.ended === "done") return result.text;
  const why = result.error?.message ?? `it ended with "${result.ended}"`;
  return { content: `${agent.name} did not finish: ${why}\n\n${result.text}`.trim(), isError: true };
}

/** The transcript of a sub-agent is named by it; lines have ids like all others. */
function firstly(first: string, rest: () => string): () => string {
  let used = false;
  return () => {
    if (used) return rest();
    used = true;
    return first;
  };
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
