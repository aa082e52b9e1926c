/**
 * What a conversation starts with: the system prompt, then instructions, index and environment as reminders before the
 * first prompt.
 */

import { buildUserContext, gitRunner, readGitState } from "../context/environment.ts";
import { agentSections, findAttribution, openSystemPrompt, type SystemPrompt } from "../context/system-prompt.ts";
import { messageOf } from "../errors.ts";
import { renderInstructions } from "../instructions/file.ts";
import type { Message, TextBlock } from "../model/ask.ts";
import { findProject } from "../project/locate.ts";
import { sessionsFolder } from "../project/scopes.ts";
import { buildEnvironment, buildGitState } from "../prompts/agent.ts";
import { localDay } from "../text/local-day.ts";
import type { AgentState } from "./state.ts";

/** `omit` is for read-only agents, which need neither rules nor memories. */
export async function buildOpening(state: AgentState, options: { omit?: boolean } = {}): Promise<TextBlock[]> {
  const { memdir, model, platform, addedDirs, env, now } = state.setup;
  const { config, location } = memdir;
  const { cwd } = location.project;
  const omit = options.omit === true || config.claudeMdsDisabled;
  // Discovery first: what is built depends on what it finds.
  const [instructions, git] = await Promise.all([
    omit ? [] : state.instructions.load(),
    readGitState(cwd, gitRunner(cwd, env), !config.gitInstructions),
  ]);
  state.branch = git?.branch ?? state.branch;
  const index = omit || !state.memoryOn ? "" : await readIndex(state);
  const isKnown = model.name !== "";
  const environment = buildEnvironment({
    cwd,
    // Also where its state is not to be shown.
    isGitRepository: git !== null || findProject(cwd).insideGit,
    addedDirs,
    platform: platform.name,
    osVersion: platform.version,
    model: isKnown ? `${model.provider}/${model.name}` : null,
    cutoff: isKnown ? model.cutoff : null,
  });
  return buildUserContext({
    instructions: renderInstructions(instructions),
    index,
    environment,
    git: git && buildGitState(git),
    // Notes need a date that still means something next week.
    today: localDay(now()),
  });
}

/** If the directory cannot be created, the agent works without memories, and the user is told. */
async function readIndex(state: AgentState): Promise<string> {
  try {
    return await state.setup.memdir.prompt({ section: "index" });
  } catch (error) {
    const message = `the model is not shown the index, because the memory directory cannot be used: ${messageOf(error)}`;
    state.tell({ type: "problem", message });
    return "";
  }
}

const OPENING_KINDS: ReadonlySet<string> = new Set(["instructions", "memory-index", "environment"]);

/** The conversation without its opening: a resumed session reads it again. */
export function dropOpening(messages: readonly Message[]): Message[] {
  return messages.map((message, i) => (i === 0 && message.role === "user" ? withoutOpening(message) : message));
}

/** The conversation with its opening before the first prompt. */
export function putOpening(opening: readonly TextBlock[], messages: readonly Message[]): Message[] {
  const [first, ...rest] = messages;
  if (first?.role !== "user") return [...messages];
  return [{ role: "user", content: [...opening, ...withoutOpening(first).content] }, ...rest];
}

function withoutOpening({ content }: Extract<Message, { role: "user" }>) {
  const kept = content.filter((block) => block.type !== "text" || !OPENING_KINDS.has(block.attachment ?? ""));
  return { role: "user" as const, content: kept };
}

export function openAgentPrompt(state: Pick<AgentState, "setup" | "memoryOn">): SystemPrompt {
  const { memdir } = state.setup;
  const { config, location } = memdir;
  const transcriptsDir = sessionsFolder(config, location.project);
  // The index is in the opening: it changes, and this must not.
  const memory = async () => {
    try {
      return state.memoryOn ? await memdir.prompt({ withIndex: false, transcriptsDir }) : null;
    } catch (error) {
      // The opening reports it; without a directory this section has nothing to say.
      state.setup.log(`the memory section is omitted: ${messageOf(error)}`);
      return null;
    }
  };
  return openSystemPrompt(agentSections(findAttribution(config.settings), memory));
}
