/** Prompts that a person can pick in a host: a message of the user's, with the result of a verb where it is about one. */

import type { Memdir } from "../memdir.ts";
import { buildMcpPrompt, MCP_PROMPT_WORDS, type McpPromptName } from "../prompts/mcp.ts";
import { neutraliseLine } from "../recall/neutral.ts";
import { type Context, countMemories, silent } from "../verb.ts";
import { type Params, ProtocolError } from "./protocol.ts";
import type { ToolCall } from "./tools.ts";

const NAMES = Object.keys(MCP_PROMPT_WORDS) as McpPromptName[];

export function listPrompts(): object[] {
  return NAMES.map((name) => {
    const { title, description, argument } = MCP_PROMPT_WORDS[name];
    return { name, title, description, ...(argument && { arguments: [{ ...argument, required: false }] }) };
  });
}

export async function getPrompt(asked: string, given: Params, { open, ...call }: ToolCall): Promise<object> {
  const name = NAMES.find((name) => name === asked);
  if (!name) {
    const problem = `there is no prompt "${asked.slice(0, 80)}"; there are: ${NAMES.join(", ")}`;
    throw new ProtocolError("badParams", problem);
  }
  const { description, argument } = MCP_PROMPT_WORDS[name];
  const value = argument ? given[argument.name] : undefined;
  const report = Object.hasOwn(REPORTS, name) ? REPORTS[name as keyof typeof REPORTS] : null;
  const context = silent({ ...call, open: ({ scope }) => open(scope) });
  const lines = report
    ? await report(await open(), { ...context, ...(call.progress && { progress: call.progress }) })
    : [];
  const text = buildMcpPrompt(name, typeof value === "string" ? value : "");
  const shown = [text, ...lines.map((line) => `- ${neutraliseLine(line)}`)].join("\n");
  return { description, messages: [{ role: "user", content: { type: "text", text: shown } }] };
}

/** A model needs no more to say what matters; the rest is counted. */
const MAX_LINES = 40;

/** What a message is about: the result of a verb, a line each. */
const REPORTS = {
  async health(memdir: Memdir, context: Context) {
    const { health } = await import("../verbs/health.ts");
    const { score, memories, first, findings, cued } = await health.run(memdir, {}, context);
    return [
      `${score} of 100, ${countMemories(memories)}, ${cued} with cues`,
      ...first.map(({ text }) => `first: ${text}`),
      ...cut(
        findings.map(({ kind, file, detail }) => `${kind}: ${file}: ${detail}`),
        "findings",
      ),
    ];
  },
  async recent(memdir: Memdir, context: Context) {
    const { history } = await import("../verbs/forget.ts");
    const changes = (await history.run(memdir, {}, context)).reverse();
    const lines = changes.map(({ id, at, action, files, by, reason }) => {
      const about = `${id}: ${at.slice(0, 16).replace("T", " ")} ${action} ${files.join(", ") || "MEMORY.md"} by ${by}`;
      return reason === "" ? about : `${about}: ${reason}`;
    });
    return lines.length === 0 ? ["nothing was changed yet"] : cut(lines, "earlier changes");
  },
};

function cut(lines: readonly string[], what: string): string[] {
  const left = lines.length - MAX_LINES;
  return left > 0 ? [...lines.slice(0, MAX_LINES), `and ${left} more ${what}`] : [...lines];
}
