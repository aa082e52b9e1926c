/**
 * The MCP server: messages of the protocol become calls on a Memdir. The protocol is our own code: the official package takes
 * three times as long to start as Node itself, and every session of a host begins with it.
 */

import { buildMcpPrompt, MCP_INSTRUCTIONS, MCP_PROMPT_WORDS, type McpPromptName } from "../prompts/mcp.ts";
import { type Client, openClient } from "./client.ts";
import { type Caller, dressResult, LEGACY_VERSIONS, MODERN_VERSION, readCaller } from "./era.ts";
import { type Answer, failure, type Id, isObject, type Message, type Params, ProtocolError } from "./message.ts";
import { listResources, RESOURCE_TEMPLATES, readResource } from "./resources.ts";
import { MCP_TOOLS } from "./tools.ts";
import { verifyByLooking } from "./verify.ts";
import type { McpWorld, Memories } from "./world.ts";

export interface McpServer {
  /** Null for what is not answered: notifications, and requests that were cancelled. Must not throw. */
  receive(message: Message, signal?: AbortSignal): Promise<Answer | null>;
}

/** One for each connection. `send`: for asking the client something, null where that is not possible. */
export function openMcpServer(
  world: McpWorld,
  memories: Memories,
  send: ((message: Message) => void) | null,
): McpServer {
  const client = openClient(world, send);
  const running = new Map<Id, AbortController>();
  const identity = { name: "memdir", title: "memdir", version: world.version };

  const heed = ({ method, params }: Message): void => {
    if (method === "notifications/cancelled") running.get(params?.requestId as Id)?.abort();
    else if (method === "notifications/roots/list_changed") client.onRootsChanged();
  };
  const answer = async (id: Id, method: string, params: Params, signal: AbortSignal): Promise<Answer> => {
    try {
      const caller = readCaller(params);
      const run = METHODS[caller.era].get(method);
      if (!run) throw new ProtocolError("noMethod", `there is no method "${method.slice(0, 80)}"`);
      const result = await run({ world, memories, client, caller, params, signal, identity });
      return { jsonrpc: "2.0", id, result: dressResult(caller, method, result, identity) };
    } catch (error) {
      if (!(error instanceof ProtocolError)) world.log(`mcp: ${method}: ${(error as Error).stack ?? error}`);
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

interface Asked {
  world: McpWorld;
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
  ["tools/list", () => ({ tools: MCP_TOOLS.map(({ spec }) => spec) })],
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
    // Nothing is logged to clients; those that set a level are told that it is well.
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

function callTool(asked: Asked): Promise<object> {
  const name = readText(asked.params, "name");
  const tool = MCP_TOOLS.find(({ spec }) => spec.name === name);
  if (!tool) {
    const names = MCP_TOOLS.map(({ spec }) => spec.name).join(", ");
    throw new ProtocolError("badParams", `there is no tool "${name.slice(0, 80)}"; there are: ${names}`);
  }
  const { world, memories, client, caller, signal } = asked;
  const call = {
    open: (scope?: string) => open(asked, scope),
    renew: memories.renew,
    by: client.by(caller),
    signal,
    verify: world.verify ?? verifyByLooking,
  };
  return tool.run(call, readObject(asked.params, "arguments"), world.log);
}

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
