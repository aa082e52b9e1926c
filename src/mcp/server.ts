/**
 * The MCP server: messages of the protocol become calls on a Memdir. The protocol is our own code: the official package takes
 * three times as long to start as Node itself, and every session of a host begins with it.
 */

import { MemdirError } from "../errors.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { Memdir } from "../memdir.ts";
import { buildMcpPrompt, MCP_INSTRUCTIONS, MCP_PROMPT_WORDS, type McpPromptName } from "../prompts/mcp.ts";
import type { World } from "../world.ts";
import { type Client, openClient, openPreparation } from "./client.ts";
import { callHook, HOOK_TOOL } from "./hook.ts";
import {
  type Answer,
  type Caller,
  dressResult,
  failure,
  type Id,
  isObject,
  LEGACY_VERSIONS,
  type Message,
  MODERN_VERSION,
  type Params,
  ProtocolError,
  readCaller,
} from "./protocol.ts";
import { listResources, RESOURCE_TEMPLATES, readResource } from "./resources.ts";
import { openOrder } from "./tool.ts";
import { MODEL_TOOLS } from "./tools.ts";

/** How memdir is offered to MCP clients. */
export interface McpOptions extends Pick<World, "env" | "now" | "log"> {
  /** Opens a project's memory. Called again from time to time, so that settings which changed count. */
  open: (asked: OpenRequest) => Promise<Memdir>;
  /** The project, unless a client names another. */
  cwd: string;
  /** Whether a client's first root is the project: not when the user named one. */
  followRoots: boolean;
  version: string;
  /** Answers the client's events; absent where it cannot ask for that. */
  hooks?: Hooks;
}

interface OpenRequest {
  cwd: string;
  /** For the journal and the memory's source. */
  by: string;
  scope?: string | undefined;
}

export interface Memories {
  /** Throws when memory is switched off for the project. */
  open(asked: OpenRequest): Promise<Memdir>;
  /** The first memory of a scope makes its directory, which a Memdir that is open does not know of. */
  renew(): void;
}

export interface McpServer {
  /** Null for what is not answered: notifications, and requests that were cancelled. Must not throw. */
  receive(message: Message, signal?: AbortSignal): Promise<Answer | null>;
}

/** One for each connection. `send`: for asking the client something, null where that is not possible. */
export function openMcpServer(
  mcp: McpOptions,
  memories: Memories,
  send: ((message: Message) => void) | null,
): McpServer {
  const client = openClient(mcp, send);
  const prepare = openPreparation(mcp);
  const running = new Map<Id, AbortController>();
  const identity = { name: "memdir", title: "memdir", version: mcp.version };

  const heed = ({ method, params }: Message): void => {
    if (method === "notifications/cancelled") running.get(params?.requestId as Id)?.abort();
    else if (method === "notifications/roots/list_changed") client.onRootsChanged();
  };
  const answer = async (id: Id, method: string, params: Params, signal: AbortSignal): Promise<Answer> => {
    try {
      const caller = readCaller(params);
      const run = METHODS[caller.era].get(method);
      if (!run) throw new ProtocolError("noMethod", `there is no method "${method.slice(0, 80)}"`);
      prepare(client.by(caller));
      const result = await run({ mcp, memories, client, caller, params, signal, identity });
      return { jsonrpc: "2.0", id, result: dressResult(caller, method, result, identity) };
    } catch (error) {
      if (!(error instanceof ProtocolError)) mcp.log(`mcp: ${method}: ${(error as Error).stack ?? error}`);
      return failure(id, error);
    }
  };
  return {
    async receive(message, signal) {
      const { id, method, params = {} } = message;
      if (method === undefined) client.onAnswer(message);
      else if (id === undefined) heed(message);
      else {
        const stop = new AbortController();
        running.set(id, stop);
        const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
        const answered = await answer(id, method, params, either);
        if (running.get(id) === stop) running.delete(id);
        return stop.signal.aborted ? null : answered;
      }
      return null;
    },
  };
}

/** A process lives as long as its host, often for days: a Memdir older than this is opened anew. */
const KEEP_MS = 60_000;
/** Projects, clients and scopes together; further ones are opened again. */
const MAX_OPEN = 32;

export function openMemories(mcp: Pick<McpOptions, "open" | "now">): Memories {
  const kept = new Map<string, { memdir: Promise<Memdir>; sinceMs: number }>();
  return {
    async open(asked) {
      const key = JSON.stringify([asked.cwd, asked.by, asked.scope ?? null]);
      const nowMs = mcp.now().getTime();
      let held = kept.get(key);
      if (!held || Math.abs(nowMs - held.sinceMs) >= KEEP_MS) {
        held = { memdir: mcp.open(asked), sinceMs: nowMs };
        kept.delete(key);
        kept.set(key, held);
        for (const oldest of kept.keys()) if (kept.size > MAX_OPEN) kept.delete(oldest);
        held.memdir.catch(() => kept.delete(key));
      }
      const memdir = await held.memdir;
      const off = memdir.config.disabled;
      if (off !== null) throw new MemdirError("usage", `memory is switched off for this project: ${off}`);
      return memdir;
    },
    renew: () => kept.clear(),
  };
}

interface Asked {
  mcp: McpOptions;
  memories: Memories;
  client: Client;
  caller: Caller;
  params: Params;
  signal: AbortSignal;
  identity: object;
}

type Method = (asked: Asked) => object | Promise<object>;

const OFFERED = { tools: {}, resources: {}, prompts: {} };

const SHARED: [string, Method][] = [
  ["tools/list", () => ({ tools: MODEL_TOOLS.map(({ spec }) => spec) })],
  ["tools/call", callTool],
  ["resources/list", async (asked) => listResources(await open(asked), findText(asked.params, "cursor"))],
  ["resources/templates/list", () => ({ resourceTemplates: RESOURCE_TEMPLATES })],
  ["resources/read", async (asked) => readResource(await open(asked), readText(asked.params, "uri"))],
  ["prompts/list", () => ({ prompts: listPrompts() })],
  ["prompts/get", ({ params }) => getPrompt(readText(params, "name"), readObject(params, "arguments"))],
];

const METHODS: Record<Caller["era"], ReadonlyMap<string, Method>> = {
  legacy: new Map([
    ...SHARED,
    ["initialize", initialize],
    ["ping", () => ({})],
    // Nothing is logged to clients; setting a level succeeds all the same.
    ["logging/setLevel", () => ({})],
  ]),
  modern: new Map([
    ...SHARED,
    [
      "server/discover",
      () => ({ supportedVersions: [MODERN_VERSION], capabilities: OFFERED, instructions: MCP_INSTRUCTIONS }),
    ],
  ]),
};

function initialize({ client, params, identity }: Asked): object {
  const wanted = readText(params, "protocolVersion");
  client.greet(params);
  return {
    protocolVersion: LEGACY_VERSIONS.find((version) => version === wanted) ?? LEGACY_VERSIONS[0],
    capabilities: { ...OFFERED, logging: {} },
    serverInfo: identity,
    instructions: MCP_INSTRUCTIONS,
  };
}

async function callTool(asked: Asked): Promise<object> {
  const name = readText(asked.params, "name");
  const { hooks } = asked.mcp;
  if (name === HOOK_TOOL && hooks) return callHook(hooks, readObject(asked.params, "arguments"));
  const tool = MODEL_TOOLS.find(({ spec }) => spec.name === name);
  if (!tool) {
    const names = MODEL_TOOLS.map(({ spec }) => spec.name).join(", ");
    throw new ProtocolError("badParams", `there is no tool "${name.slice(0, 80)}"; there are: ${names}`);
  }
  const { memories, client, caller, signal } = asked;
  const { env, now, log } = asked.mcp;
  const call = {
    ...{ env, now, log, signal, renew: memories.renew, cwd: await client.cwd(), by: client.by(caller) },
    open: (scope?: string) => open(asked, scope),
  };
  const given = readObject(asked.params, "arguments");
  const inOrder = orders.get(memories) ?? openOrder();
  orders.set(memories, inOrder);
  try {
    const { text, structured } = await inOrder(tool.spec.annotations.readOnlyHint, () => tool.run(call, given));
    return { content: [{ type: "text", text }], structuredContent: structured };
  } catch (error) {
    // What goes wrong inside a tool is an answer that the model can read.
    return { content: [{ type: "text", text: (error as Error).message }], isError: true };
  }
}

/** Of all connections to the same memories. */
const orders = new WeakMap<object, ReturnType<typeof openOrder>>();

async function open({ memories, client, caller }: Asked, scope?: string) {
  return memories.open({ cwd: await client.cwd(), by: client.by(caller), scope });
}

function readText(params: Params, name: string): string {
  const value = findText(params, name);
  if (value === undefined) throw new ProtocolError("badParams", `params: "${name}" is missing`);
  return value;
}

function findText(params: Params, name: string): string | undefined {
  const value = params[name];
  if (value === undefined || typeof value === "string") return value;
  throw new ProtocolError("badParams", `params: "${name}" is a text`);
}

function readObject(params: Params, name: string): Params {
  const value = params[name] ?? {};
  if (isObject(value)) return value;
  throw new ProtocolError("badParams", `params: "${name}" is an object`);
}

/** Prompts that a person can pick in a host. */
const NAMES = Object.keys(MCP_PROMPT_WORDS) as McpPromptName[];

function listPrompts(): object[] {
  return NAMES.map((name) => {
    const { title, description, argument } = MCP_PROMPT_WORDS[name];
    return { name, title, description, ...(argument && { arguments: [{ ...argument, required: false }] }) };
  });
}

function getPrompt(asked: string, given: Params): object {
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
