/** What the model is told exists beside its tools: sub-agents, and skills that may help with a prompt. */

import { join } from "node:path";
import { findSkills, rankSkills } from "../context/skills.ts";
import { repositoryOf } from "../project/scopes.ts";
import { buildAgentList, buildSkillList } from "../prompts/attachments.ts";
import { findDefinitions } from "./definitions.ts";
import type { AgentState } from "./state.ts";

/** In reminders, so that the tools' own words, and with them the provider's cache, stay the same. */
export function announce(state: AgentState, words: string): void {
  const { config, location } = state.world.memdir;
  const repository = repositoryOf(location.project);
  const { agents, problems } = findDefinitions(repository, config);
  for (const problem of problems) state.world.log(problem);
  state.attachments.push({ kind: "agents", key: "agents", text: buildAgentList(agents) });
  const folders = [join(config.claudeDir, "skills"), join(repository, ".claude", "skills")];
  for (const skill of rankSkills(findSkills(folders), words)) {
    state.attachments.push({ kind: "skills", key: skill.path, text: buildSkillList([skill]) });
  }
}
