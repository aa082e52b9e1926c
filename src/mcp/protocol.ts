/**
 * The protocol: messages of JSON-RPC, and the two eras of MCP. Up to 2025-11-25 a handshake opens a session; from 2026-07-28 on
 * every request says for itself which revision it speaks and who sends it.
 */

import { fileURLToPath } from "node:url";
import { statOrNull } from "../disk/fence.ts";
import { attempt, isObject } from "../errors.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { World } from "../world.ts";

export type Id = string | number;

export type Params = Readonly<Record<string, unknown>>;

/** A request has an id and a method, a notification only a method, an answer only an id. */
export interface Message {
  jsonrpc: "2.0";
  id?: Id;
  method?: string;
  params?: Params;
  result?: unknown;
  error?: unknown;
}

export type Answer = { jsonrpc: "2.0"; id: Id | null } & (
  | { result: object }
  | { error: { code: number; message: string; data?: unknown } }
);

export const CODES = {
  /** The text is not JSON. */
  unreadable: -32_700,
  /** The JSON is not a message. */
  invalid: -32_600,
  noMethod: -32_601,
  badParams: -32_602,
  internal: -32_603,
  noSession: -32_001,
  /** An HTTP header contradicts the message. */
  headerMismatch: -32_020,
  badVersion: -32_022,
} as const;

/** An error in the request itself; what goes wrong inside a tool is a result instead. */
export class ProtocolError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(kind: keyof typeof CODES, message: string, data?: unknown) {
    super(message);
    this.name = "ProtocolError";
    this.code = CODES[kind];
    this.data = data;
  }
}

/** Null for a request, a notification or an answer. */
export function findMessageProblem(value: unknown): string | null {
  if (!isObject(value)) return "a message is a JSON object";
  const { jsonrpc, id, method, params } = value;
  if (jsonrpc !== "2.0") return 'a message says "jsonrpc": "2.0"';
  if (id !== undefined && !isId(id)) return "an id is a text or a whole number";
  if (method === undefined) {
    return id !== undefined && ("result" in value || "error" in value) ? null : "a request names its method";
  }
  if (typeof method !== "string") return "a method is a text";
  return params === undefined || isObject(params) ? null : "params are an object";
}

/** `to` is what it answers, whose id is named if it has one. */
export function refusal(kind: keyof typeof CODES, message: string, to?: unknown): Answer {
  const id = isObject(to) ? to.id : undefined;
  return { jsonrpc: "2.0", id: isId(id) ? id : null, error: { code: CODES[kind], message } };
}

export function failure(id: Id | null, error: unknown): Answer {
  const { code, message, data } =
    error instanceof ProtocolError
      ? error
      : { code: CODES.internal, message: (error as Error).message, data: undefined };
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}

function isId(id: unknown): id is Id {
  return typeof id === "string" || Number.isSafeInteger(id);
}

export const MODERN_VERSION = "2026-07-28";
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY = "io.modelcontextprotocol/clientInfo";
/** Of a stream's notifications: the request that opened it. */
export const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";
const SERVER_KEY = "io.modelcontextprotocol/serverInfo";

/** The newest first: it is offered to clients that ask for an unknown one. */
export const LEGACY_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

export interface Caller {
  era: "legacy" | "modern";
  /** As a modern request gives it, or the handshake of an older client. */
  name: string | undefined;
}

/** Whether a request claims to be of the later era. */
export function isModern(params: Params | undefined): boolean {
  return isObject(params?._meta) && VERSION_KEY in params._meta;
}

/** Throws for a claim that does not hold. */
export function readCaller(params: Params | undefined): Caller {
  if (!isModern(params)) return { era: "legacy", name: nameOf(params?.clientInfo) };
  const meta = params?._meta as Record<string, unknown>;
  const requested = meta[VERSION_KEY];
  if (typeof requested !== "string") throw new ProtocolError("badParams", `_meta: ${VERSION_KEY} is a text`);
  if (requested !== MODERN_VERSION) {
    const data = { supported: [MODERN_VERSION], requested };
    throw new ProtocolError("badVersion", `protocol version ${requested.slice(0, 40)} is not supported here`, data);
  }
  if (!isObject(meta[CAPABILITIES_KEY])) {
    throw new ProtocolError("badParams", `_meta: ${CAPABILITIES_KEY} is missing or not an object`);
  }
  return { era: "modern", name: nameOf(meta[CLIENT_KEY]) };
}

export function nameOf(info: unknown): string | undefined {
  return isObject(info) && typeof info.name === "string" ? info.name : undefined;
}

/** Methods whose results a client may keep; ours may change any moment. */
const CACHEABLE = /^(?:server\/discover|(?:tools|prompts|resources|resources\/templates)\/list|resources\/read)$/;

/** Results of the later era say that they are whole, how long they hold and who made them. */
export function dressResult({ era }: Caller, method: string, result: object, server: object): object {
  if (era === "legacy") return result;
  return {
    ...result,
    resultType: "complete",
    ...(CACHEABLE.test(method) && { ttlMs: 0, cacheScope: "private" }),
    _meta: { ...("_meta" in result && isObject(result._meta) ? result._meta : {}), [SERVER_KEY]: server },
  };
}

// --- The client at the other end of a connection: what it is called in the journal, which project it works on, and whether prompts will come.

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
