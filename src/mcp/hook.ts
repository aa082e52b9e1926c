/** The tool `hook`, which no list shows: clients call it for their events, so that no process has to be started for them. */

import { attempt } from "../errors.ts";
import type { EventInput } from "../hooks/event.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { Params } from "./protocol.ts";

export const HOOK_TOOL = "hook";

/** The answer is JSON, as of a command hook; an empty object says nothing, where clients would show an empty text. */
export async function callHook(hooks: Hooks, given: Params): Promise<object> {
  const { out, after } = await hooks(readEvent(given));
  // Once the answer is on its way.
  setImmediate(after);
  return { content: [{ type: "text", text: out.trim() || "{}" }] };
}

/** What is no text in an event; Claude Code passes it as JSON, Codex as it is. */
const TYPED: ReadonlySet<string> = new Set(["tool_input", "stop_hook_active"]);

/** The fields that the client's settings name. One that an event does not have is "" in Claude Code. */
function readEvent(given: Params): EventInput {
  const fields = Object.entries(given).filter(([, value]) => value !== "");
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      TYPED.has(name) && typeof value === "string" ? attempt(() => JSON.parse(value), value) : value,
    ]),
  );
}
