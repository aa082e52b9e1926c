/** What a sub-agent starts with: its own conversation, tools, file state and transcript, and its own memory if it has one. */

import { openAttachments } from "../context/attachments.ts";
import type { Memdir } from "../memdir.ts";
import type { Message, SystemBlock, TextBlock } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import { SUB_AGENT_RULES } from "../prompts/sub-agents.ts";
import { openTranscript, type Transcript } from "../session/transcript.ts";
import { openTools } from "../tools/tools.ts";
import type { Workbench } from "../tools/workbench.ts";
import type { AgentDefinition } from "./definitions.ts";
import { openMemoryStore } from "./memory-store.ts";
import { buildOpening } from "./opening.ts";
import { type AgentState, sessionFolder } from "./state.ts";
import { openWorkbench } from "./workbench.ts";

interface SubAgent {
  id: string;
  system: SystemBlock[];
  messages: Message[];
  tools: Tool[];
  transcript: Transcript;
  /** What touched files add goes to its own conversation, and does not count as shown to the parent. */
  attach: () => Promise<readonly TextBlock[]>;
}

export async function openSubAgent(state: AgentState, agent: AgentDefinition, prompt: string): Promise<SubAgent> {
  const { world } = state;
  const id = world.newId().replaceAll("-", "").slice(0, 16);
  const hasMemory = agent.memory !== null && state.memoryOn;
  const memory = hasMemory ? await world.openScope(`agent:${agent.name}@${agent.memory}`) : null;
  const own: AgentState = {
    ...state,
    files: state.files.clone(),
    instructions: await world.memdir.instructions({ addDirs: [...world.addedDirs] }),
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

/** Its own memory beside the project's. */
function addMemory(bench: Workbench, memory: Memdir, state: AgentState): void {
  const { now } = state.world;
  const own = openMemoryStore(memory, {
    session: () => state.transcript.id,
    now,
    isOn: () => state.memoryOn,
    tell: (event) => state.tell(event),
  });
  const shared = bench.store;
  bench.store = {
    owns: (path) => own.owns(path) || shared?.owns(path) === true,
    write: (path, text, base) => (own.owns(path) || !shared ? own : shared).write(path, text, base),
    remark: (path) => own.remark(path) ?? shared?.remark(path) ?? null,
  };
  bench.readable = [...bench.readable, ...memory.directories.map(({ path }) => path)];
}

/** Named by the sub-agent; its lines have ids like all others. */
function openSubTranscript(state: AgentState, id: string): Transcript {
  const { world } = state;
  let isNamed = false;
  const newId = () => {
    if (isNamed) return world.newId();
    isNamed = true;
    return `agent-${id}`;
  };
  const place = {
    dir: sessionFolder(state, "subagents"),
    cwd: world.memdir.location.project.cwd,
    version: world.version,
    model: () => world.model.name,
    gitBranch: () => state.branch,
  };
  return openTranscript(place, { ...world, newId });
}
