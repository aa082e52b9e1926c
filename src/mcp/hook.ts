/** The tool `hook`, which no list shows: clients call it for their events, so that no process has to be started for them. */

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

/** Clients that call it, as the journal names them. */
const CALLERS = /^mcp:(?:claude-code|codex)/;
/** A client that has connected asks for one list after the other, and waits for each. */
const QUIET_MS = 100;

/** To be called at every message: when such a client is quiet for the first time, what its prompts need is loaded. */
export function openPreparation({ hooks, cwd }: { hooks?: Hooks; cwd: string }) {
  let isDone = !hooks;
  let timer: NodeJS.Timeout | undefined;
  return (by: string): void => {
    clearTimeout(timer);
    if (isDone || !CALLERS.test(by)) return;
    timer = setTimeout(() => {
      isDone = true;
      void hooks?.({ hook_event_name: "Connect", cwd });
    }, QUIET_MS).unref();
  };
}

/** What is no text in an event; Claude Code passes it as JSON, Codex as it is. */
const TYPED: ReadonlySet<string> = new Set(["tool_input", "stop_hook_active"]);

/** The fields that the client's settings name. One that an event does not have is "" in Claude Code. */
function readEvent(given: Params): EventInput {
  const fields = Object.entries(given).filter(([, value]) => value !== "");
  return Object.fromEntries(fields.map(([name, value]) => [name, TYPED.has(name) ? parse(value) : value]));
}

function parse(value: unknown): unknown {
  try {
    return typeof value === "string" ? JSON.parse(value) : value;
  } catch {
    return value;
  }
}
