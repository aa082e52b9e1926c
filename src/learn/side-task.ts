/** A side task of a model: tools that reach only the memory directory, and an answer that it may correct once. */

import { realPath } from "../disk/fence.ts";
import { type LoopOptions, type LoopResult, runAgentLoop } from "../model/agent-loop.ts";
import { type Ask, addUsage, type Message } from "../model/ask.ts";
import type { Tool } from "../model/tool.ts";
import { openFileState } from "../session/file-state.ts";
import { openTools } from "../tools/tools.ts";
import type { ToolName, Workbench } from "../tools/workbench.ts";

/** `store` gets what is written; null where nothing may be. */
export function openFencedTools(dir: string, store: Workbench["store"], only: readonly ToolName[]): Tool[] {
  return openTools(
    {
      cwd: realPath(dir),
      fence: dir,
      readable: [],
      files: openFileState(),
      history: null,
      // There is no user to ask.
      permit: async () => ({
        allowed: false,
        reason: "only the memory directory can be read, and nothing else changed",
      }),
      env: {},
      onTouch: () => {},
      store,
    },
    only,
  );
}

/** `take` looks at an answer and says what the model must fix, null if nothing. Must not throw because of the model. */
export async function askTwice(
  ask: Ask,
  options: LoopOptions,
  take: (result: LoopResult) => Promise<string | null>,
): Promise<LoopResult> {
  const isAnswer = ({ ended }: LoopResult) => ended === "done" || ended === "length" || ended === "turns";
  const first = await runAgentLoop(ask, options);
  const correction = isAnswer(first) ? await take(first) : null;
  if (correction === null) return first;
  const messages = withMessage(first.conversation.messages, correction);
  const second = await runAgentLoop(ask, { ...options, messages, maxTurns: 1 });
  if (isAnswer(second)) await take(second);
  return { ...second, usage: addUsage(first.usage, second.usage), turns: first.turns + second.turns };
}

export function say(text: string): Message {
  return { role: "user", content: [{ type: "text", text }] };
}

/** After tool results the text goes into the same message, because roles must alternate. */
function withMessage(messages: readonly Message[], text: string): Message[] {
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, say(text)];
  return [...messages.slice(0, -1), { role: "user", content: [...last.content, { type: "text", text }] }];
}
