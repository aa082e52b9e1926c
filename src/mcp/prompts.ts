/** Prompts that a person can pick in a host. */

import { buildMcpPrompt, MCP_PROMPT_WORDS, type McpPromptName } from "../prompts/mcp.ts";
import { type Params, ProtocolError } from "./message.ts";

const NAMES = Object.keys(MCP_PROMPT_WORDS) as McpPromptName[];

export function listPrompts(): object[] {
  return NAMES.map((name) => {
    const { title, description, argument } = MCP_PROMPT_WORDS[name];
    return { name, title, description, ...(argument && { arguments: [{ ...argument, required: false }] }) };
  });
}

export function getPrompt(asked: string, given: Params): object {
  const name = NAMES.find((name) => name === asked);
  if (!name) {
    const problem = `there is no prompt "${asked.slice(0, 80)}"; there are: ${NAMES.join(", ")}`;
    throw new ProtocolError("badParams", problem);
  }
  const { description, argument } = MCP_PROMPT_WORDS[name];
  const value = argument ? given[argument.name] : undefined;
  const text = buildMcpPrompt(name, typeof value === "string" ? value : "");
  return { description, messages: [{ role: "user", content: { type: "text", text } }] };
}
