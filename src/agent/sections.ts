/** The agent's system prompt: its sections with what this project's settings and memory say. */

import { findAttribution } from "../context/attribution.ts";
import { agentSections, openSystemPrompt, type SystemPrompt } from "../context/system-prompt.ts";
import { sessionsFolder } from "../project/sessions-folder.ts";
import type { AgentState } from "./state.ts";

export function openAgentPrompt(state: Pick<AgentState, "world" | "memoryOn">): SystemPrompt {
  const { memdir } = state.world;
  const { config, location } = memdir;
  const transcriptsDir = sessionsFolder(config, location.project);
  return openSystemPrompt(
    agentSections({
      attribution: findAttribution(config.settings),
      noteResults: true,
      // The index is in the opening: it changes, and this must not.
      memory: async () => {
        try {
          return state.memoryOn ? await memdir.prompt({ withIndex: false, transcriptsDir }) : null;
        } catch (error) {
          // The opening tells the user; without a directory there is nothing to say about it.
          state.world.log(`the memory section is left out: ${error instanceof Error ? error.message : String(error)}`);
          return null;
        }
      },
    }),
  );
}
