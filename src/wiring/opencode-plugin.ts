/** The text of OpenCode's plugin: answers each prompt in OpenCode's own process, with what memdir's hook says. It fails open, like the hook. */

export const PLUGIN_MARK = "// Made by memdir init, removed by memdir uninstall.";

export function buildPlugin(node: string, hook: string): string {
  return `${PLUGIN_MARK}
import { createRequire } from "node:module";

const NODE = ${JSON.stringify(node)};
const HOOK = ${JSON.stringify(hook)};
let answer = null;

/** The hook's answer to an event; "" for none, or after any error. */
async function ask(event) {
  try {
    answer ??= createRequire(import.meta.url)(HOOK).openHooks({ node: NODE });
    const { out, after } = await answer(event);
    setTimeout(after, 0);
    return String(JSON.parse(out).hookSpecificOutput.additionalContext ?? "");
  } catch {
    return "";
  }
}

export const Memdir = async ({ directory }) => {
  // Sessions that were greeted, and those whose model has forgotten what it was shown.
  const greeted = new Set();
  const compacted = new Set();
  return {
    event: async ({ event }) => {
      if (event?.type !== "session.compacted") return;
      greeted.delete(event.properties?.sessionID);
      compacted.add(event.properties?.sessionID);
    },
    "chat.message": async (input, output) => {
      try {
        const { sessionID } = input;
        const written = output.parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored);
        const base = { session_id: sessionID, cwd: directory };
        const texts = [];
        if (!greeted.has(sessionID)) {
          greeted.add(sessionID);
          const source = compacted.delete(sessionID) ? "compact" : "startup";
          texts.push(await ask({ ...base, hook_event_name: "SessionStart", source }));
        }
        const prompt = written.map((part) => part.text).join("\\n");
        texts.push(await ask({ ...base, hook_event_name: "UserPromptSubmit", prompt }));
        const text = texts.filter((said) => said !== "").join("\\n\\n");
        const last = output.parts.at(-1);
        if (text === "" || !last?.id) return;
        // Parts are put in order by their ids: a longer one comes right behind the one it begins with.
        const { id, messageID } = last;
        output.parts.push({ id: id + "m", sessionID, messageID, type: "text", text, synthetic: true });
      } catch {
        // The prompt goes out without memories.
      }
    },
  };
};
`;
}
