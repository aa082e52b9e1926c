/** An agent's memory: which of the three places its definition asks for, and where they are (C25). */

import fs from "node:fs";
import path from "node:path";
import type { Config } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { refusedName } from "./directory-path.ts";

export type AgentScope = "user" | "project" | "local";

/** The folder name of an agent; plugins' agents are called `plugin:agent`. */
export function agentName(text: string): string {
  const name = text.replaceAll(":", "-");
  const reason = refusedName(name);
  if (reason === null) return name;
  throw new MemdirError("usage", `the agent name ${JSON.stringify(text)} cannot be used: ${reason}; write agent:NAME`);
}

export function agentDirectories(name: string, config: Config, repository: string): Record<AgentScope, string> {
  return {
    project: path.join(repository, ".claude", "agent-memory", name),
    local: path.join(repository, ".claude", "agent-memory-local", name),
    user: path.join(config.claudeDir, "agent-memory", name),
  };
}

/** What the agent's definition says, else where it already has memories, else the project's. */
export function findAgentScope(name: string, config: Config, repository: string): AgentScope {
  for (const folder of [path.join(repository, ".claude"), config.claudeDir]) {
    const declared = readMemoryLine(path.join(folder, "agents", `${name}.md`));
    if (declared) return declared;
  }
  const directories = agentDirectories(name, config, repository);
  const existing = (["project", "local", "user"] as const).find((scope) => fs.existsSync(directories[scope]));
  return existing ?? "project";
}

/** A definition's frontmatter stands in its first lines; the prompt after it can be long. */
const HEAD_CHARS = 16 * 1024;

function readMemoryLine(file: string): AgentScope | null {
  let head: string;
  try {
    head = fs.readFileSync(file, "utf8").slice(0, HEAD_CHARS);
  } catch {
    return null;
  }
  const frontmatter = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(head)?.[1] ?? "";
  const value = /^memory:[ \t]*["']?(user|project|local)["']?[ \t]*(?:#.*)?\r?$/m.exec(frontmatter)?.[1];
  return (value as AgentScope | undefined) ?? null;
}
