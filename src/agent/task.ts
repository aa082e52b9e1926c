/** Sub-agents: a conversation of its own with its own tools, of which only the final answer comes back. */

import { type LoopEvent, runAgentLoop } from "../model/agent-loop.ts";
import type { Tool } from "../model/tool.ts";
import { repositoryOf } from "../project/scopes.ts";
import { TASK_DESCRIPTION } from "../prompts/sub-agents.ts";
import { type AgentDefinition, findDefinitions } from "./definitions.ts";
import { type AgentState, addSpent } from "./state.ts";
import { openSubAgent } from "./sub-agent.ts";
import { keepResult } from "./workbench.ts";

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
  const result = await runAgentLoop(world.model.ask, {
    system: sub.system,
    messages: sub.messages,
    tools: sub.tools,
    maxTurns: MAX_STEPS,
    maxTokens: world.model.maxTokens,
    signal,
    onEvent,
    results: { write: (call, content) => keepResult(state, call, content) },
    attach: sub.attach,
  });
  transcript.close();
  state.tell({ type: "sub-agent", name: agent.name, id, event: { type: "end", turns: result.turns } });
  if (result.ended === "done") return result.text;
  const why = result.error?.message ?? `it ended with "${result.ended}"`;
  return { content: `${agent.name} did not finish: ${why}\n\n${result.text}`.trim(), isError: true };
}

function same(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
