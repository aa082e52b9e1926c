/** The client at the other end of a connection: what it is called in the journal, which project it works on, and whether prompts will come. */

import { fileURLToPath } from "node:url";
import { statOrNull } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { World } from "../world.ts";
import { type Caller, type Id, isObject, type Message, nameOf, type Params } from "./protocol.ts";

export type Client = ReturnType<typeof openClient>;

/** Answering takes a client no time; one that does not answer must not hold up the first call. */
const ROOTS_TIMEOUT_MS = 2_000;
const MAX_NAME_CHARS = 40;

/** `cwd` is the project unless the client names another. `send` asks the client something, null where that is not possible. */
export function openClient(
  project: { cwd: string; followRoots: boolean } & Pick<World, "log">,
  send: ((message: Message) => void) | null,
) {
  let name: string | undefined;
  let hasRoots = false;
  let cwd: Promise<string> | null = null;
  let asked = 0;
  const waiting = new Map<Id, (message: Message) => void>();

  /** Null when it does not answer. */
  const askRoots = (): Promise<unknown> =>
    new Promise((resolve) => {
      const id = `roots-${++asked}`;
      const settle = (answer: Message | null) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(isObject(answer?.result) ? answer.result.roots : null);
      };
      const timer = setTimeout(settle, ROOTS_TIMEOUT_MS, null);
      waiting.set(id, settle);
      send?.({ jsonrpc: "2.0", id, method: "roots/list" });
    });
  const findCwd = async (): Promise<string> => {
    if (!send || !hasRoots || !project.followRoots) return project.cwd;
    const roots = await askRoots();
    if (!Array.isArray(roots)) project.log("mcp: the client did not name its roots");
    const folders = Array.isArray(roots) ? roots.map(folderOf) : [];
    return folders.find((folder) => folder !== null) ?? project.cwd;
  };
  return {
    /** What the handshake says of it. */
    greet(params: Params): void {
      name = nameOf(params.clientInfo);
      hasRoots = isObject(params.capabilities) && isObject(params.capabilities.roots);
      cwd = null;
    },
    by: (caller: Caller) => byName(caller.name ?? name),
    cwd: () => (cwd ??= findCwd()),
    /** Its answer to what it was asked. */
    onAnswer: (message: Message) => waiting.get(message.id as Id)?.(message),
    onRootsChanged(): void {
      cwd = null;
    },
  };
}

/** Clients that send their events, as the journal names them. */
const WITH_EVENTS = /^mcp:(?:claude-code|codex)/;
/** A client that has connected asks for one list after the other, and waits for each. */
const QUIET_MS = 100;

/** To be called at every message: when such a client is quiet for the first time, what its prompts need is loaded. */
export function openPreparation({ hooks, cwd }: { hooks?: Hooks; cwd: string }): (by: string) => void {
  let isDone = !hooks;
  let timer: NodeJS.Timeout | undefined;
  return (by) => {
    clearTimeout(timer);
    if (isDone || !WITH_EVENTS.test(by)) return;
    timer = setTimeout(() => {
      isDone = true;
      void hooks?.({ hook_event_name: "Connect", cwd });
    }, QUIET_MS).unref();
  };
}

/** One word, so that it fits the memory's source; the prefix keeps a client from posing as the user. */
export function byName(name: string | undefined): string {
  const word = (name ?? "")
    .toLowerCase()
    .replace(/[^a-z0-9._]+/g, "-")
    .slice(0, MAX_NAME_CHARS)
    .replace(/^-+|-+$/g, "");
  return word === "" ? "mcp" : `mcp:${word}`;
}

function folderOf(root: unknown): string | null {
  const folder = attempt(() => fileURLToPath((root as { uri: string }).uri), null);
  return folder !== null && statOrNull(folder)?.isDirectory() ? folder : null;
}
