/** The agent's system prompt: its sections with what this project's settings and memory say. */

import { join } from "node:path";
import { findAttribution } from "../context/attribution.ts";
import { agentSections, openSystemPrompt, type SystemPrompt } from "../context/system-prompt.ts";
import { slugOf } from "../project/slug.ts";
import type { AgentState } from "./state.ts";

export function openAgentPrompt(state: Pick<AgentState, "world" | "memoryOn">): SystemPrompt {
  const { memdir } = state.world;
  const { config, location } = memdir;
  const transcriptsDir = join(config.claudeDir, "projects", slugOf(location.project.cwd));
  return openSystemPrompt(
    agentSections({
      attribution: findAttribution(config.settings),
      noteResults: true,
      // The index is in the opening: it changes, and this must not.
      memory: () => (state.memoryOn ? memdir.prompt({ withIndex: false, transcriptsDir }) : null),
    }),
  );
}
