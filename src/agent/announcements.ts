/** Tells the model what exists besides its tools: sub-agents, and skills that may help with a prompt. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { resolveInside } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { repositoryOf } from "../project/scopes.ts";
import { buildAgentList, buildSkillList } from "../prompts/conversation.ts";
import { readHead } from "../session/line-stream.ts";
import { type Field, findField, parseDocument } from "../text/frontmatter.ts";
import { termsOf } from "../text/terms.ts";
import type { AgentState } from "./state.ts";
import { findDefinitions } from "./sub-agent.ts";

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

export interface Skill {
  name: string;
  description: string;
  /** The path of its SKILL.md. */
  path: string;
}

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

function readSkill(folder: string, entry: string): Skill | null {
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
