/**
 * The MCP server: messages of the protocol become calls on a Memdir. The protocol is our own code: the official package takes
 * three times as long to start as Node itself, and every session of a host begins with it.
 */

import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt, isObject, MemdirError } from "../errors.ts";
import type { EventInput } from "../hooks/event.ts";
import type { Hooks } from "../hooks/hooks.ts";
import type { Memdir } from "../memdir.ts";
import { MCP_INSTRUCTIONS } from "../prompts/mcp.ts";
import type { World } from "../world.ts";
import { type Changes, type Listener, openChanges } from "./changes.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import {
  type Answer,
  type Caller,
  type Client,
  dressResult,
  failure,
  findMessageProblem,
  type Id,
  LEGACY_VERSIONS,
  type Message,
  MODERN_VERSION,
  openClient,
  openPreparation,
  type Params,
  ProtocolError,
  readCaller,
  refusal,
  SUBSCRIPTION_KEY,
} from "./protocol.ts";
import { complete, completeResource, listResources, RESOURCE_TEMPLATES, readResource } from "./resources.ts";
import { MODEL_TOOLS, openOrder, type ToolCall } from "./tools.ts";

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

export type Memories = ReturnType<typeof openMemories>;
export type McpServer = ReturnType<typeof openMcpServer>;

/**
 * One for each connection. `send`: for asking the client something, null where that is not possible. `tell`: for what it did not
 * ask for, null where it would not get it.
 */
export function openMcpServer(
  mcp: McpOptions,
  memories: Memories,
  send: ((message: Message) => void) | null,
  tell: ((message: Message) => void) | null = send,
) {
  const client = openClient(mcp, send);
  const over = new AbortController();
  let changes: Changes | null = null;
  const listening: Listening = {
    notify: tell && ((method, params) => tell({ jsonrpc: "2.0", method, ...(params && { params }) })),
    listen: (asked, listener) => {
      changes ??= openChanges(() => open(asked), mcp.log);
      return changes.listen(listener);
    },
    legacy: null,
    over: over.signal,
  };
  const prepare = openPreparation(mcp);
  const running = new Map<Id, AbortController>();
  const afterwards = new Set<Promise<void>>();
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
      const result = await run({ mcp, memories, client, caller, id, params, signal, identity, listening, afterwards });
      return { jsonrpc: "2.0", id, result: dressResult(caller, method, result, identity) };
    } catch (error) {
      if (!(error instanceof ProtocolError)) mcp.log(`mcp: ${method}: ${(error as Error).stack ?? error}`);
      return failure(id, error);
    }
  };
  return {
    /** Null for what is not answered: notifications, and requests that were cancelled. Must not throw. */
    async receive(message: Message, signal?: AbortSignal): Promise<Answer | null> {
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
    /** No more is asked: those who listen are told that it ends. */
    close: () => over.abort(),
    /** What is still done after answers. */
    afterwards,
  };
}

/** A process lives as long as its host, often for days: a Memdir older than this is opened anew. */
const KEEP_MS = 60_000;
/** Projects, clients and scopes together; further ones are opened again. */
const MAX_OPEN = 32;

export function openMemories(mcp: Pick<McpOptions, "open" | "now">) {
  const kept = new Map<string, { memdir: Promise<Memdir>; sinceMs: number }>();
  return {
    /** Throws when memory is switched off for the project. */
    async open(asked: OpenRequest): Promise<Memdir> {
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
    /** The first memory of a scope makes its directory, which a Memdir that is open does not know of. */
    renew: () => kept.clear(),
  };
}

interface Asked {
  mcp: McpOptions;
  memories: Memories;
  client: Client;
  caller: Caller;
  params: Params;
  id: Id;
  signal: AbortSignal;
  identity: object;
  listening: Listening;
  /** What is under way behind answers. */
  afterwards: Set<Promise<void>>;
}

/** What a connection hears of without asking each time. */
interface Listening {
  /** Null where the client would not get it. */
  notify: Listener["notify"] | null;
  listen(asked: Asked, listener: Listener): Promise<() => void>;
  /** Of a client of the earlier era, which subscribes one by one. */
  legacy: Listener | null;
  /** Aborted when the client asks no more. */
  over: AbortSignal;
}

type Method = (asked: Asked) => object | Promise<object>;

const OFFERED = { tools: {}, resources: {}, prompts: {}, completions: {} };
const LIVE = { resources: { subscribe: true, listChanged: true } };

const SHARED: [string, Method][] = [
  ["tools/list", () => ({ tools: MODEL_TOOLS.map(({ spec }) => spec) })],
  ["tools/call", callTool],
  [
    "resources/list",
    async (asked) => {
      // Who has listed them keeps the list.
      if (asked.caller.era === "legacy") await listenLegacy(asked);
      return listResources(await open(asked), findText(asked.params, "cursor"));
    },
  ],
  ["completion/complete", completeArgument],
  ["resources/templates/list", () => ({ resourceTemplates: RESOURCE_TEMPLATES })],
  ["resources/read", async (asked) => readResource(await open(asked), readText(asked.params, "uri"))],
  ["prompts/list", () => ({ prompts: listPrompts() })],
  [
    "prompts/get",
    async (asked) => {
      const call = await callOf(asked);
      return getPrompt(readText(asked.params, "name"), readObject(asked.params, "arguments"), call);
    },
  ],
];

const METHODS: Record<Caller["era"], ReadonlyMap<string, Method>> = {
  legacy: new Map([
    ...SHARED,
    ["resources/subscribe", async (asked) => subscribe(asked, true)],
    ["resources/unsubscribe", async (asked) => subscribe(asked, false)],
    ["initialize", initialize],
    ["ping", () => ({})],
    // Nothing is logged to clients; setting a level succeeds all the same.
    ["logging/setLevel", () => ({})],
  ]),
  modern: new Map([
    ...SHARED,
    [
      "server/discover",
      () => ({
        supportedVersions: [MODERN_VERSION],
        capabilities: { ...OFFERED, ...LIVE },
        instructions: MCP_INSTRUCTIONS,
      }),
    ],
    ["subscriptions/listen", listen],
  ]),
};

/** The one listener of a client of the earlier era; null where it would not hear anything. */
async function listenLegacy(asked: Asked): Promise<Listener | null> {
  const { listening } = asked;
  if (!listening.notify || listening.legacy) return listening.legacy;
  listening.legacy = { list: true, uris: new Set(), notify: listening.notify };
  const stop = await listening.listen(asked, listening.legacy);
  listening.over.addEventListener("abort", stop, { once: true });
  return listening.legacy;
}

async function subscribe(asked: Asked, isWanted: boolean): Promise<object> {
  const uri = readText(asked.params, "uri");
  const listener = await listenLegacy(asked);
  if (!listener) throw new ProtocolError("noMethod", "there is no stream here on which changes could be told");
  if (isWanted) listener.uris.add(uri);
  else listener.uris.delete(uri);
  return {};
}

/** Lasts until it is cancelled, or the client leaves. */
async function listen(asked: Asked): Promise<object> {
  const { listening, signal, id } = asked;
  const { notify, over } = listening;
  if (!notify) throw new ProtocolError("noMethod", "there is no stream here on which changes could be told");
  const wanted = readObject(asked.params, "notifications");
  const asks = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : [];
  const uris = asks.filter((uri) => typeof uri === "string");
  const list = wanted.resourcesListChanged === true;
  const _meta = { [SUBSCRIPTION_KEY]: id };
  const tell: Listener["notify"] = (method, params) => notify(method, { ...params, _meta });
  const stop = await listening.listen(asked, { list, uris: new Set(uris), notify: tell });
  const notifications = {
    ...(list && { resourcesListChanged: true }),
    ...(uris.length > 0 && { resourceSubscriptions: uris }),
  };
  tell("notifications/subscriptions/acknowledged", { notifications });
  const end = AbortSignal.any([signal, over]);
  if (!end.aborted) await new Promise((done) => end.addEventListener("abort", done, { once: true }));
  stop();
  return { _meta };
}

async function completeArgument(asked: Asked): Promise<object> {
  const [ref, argument] = [readObject(asked.params, "ref"), readObject(asked.params, "argument")];
  const { arguments: others = {} } = readObject(asked.params, "context");
  const [name, value] = [readText(argument, "name"), readText(argument, "value")];
  if (ref.type === "ref/resource")
    return completeResource(await open(asked), name, value, isObject(others) ? others.scope : undefined);
  // The other prompts take words of the person's own.
  const rows = ref.name === "verify" ? await (await open(asked)).list() : [];
  return complete(
    rows.map((row) => row.name),
    value,
  );
}

function initialize({ client, params, identity, listening }: Asked): object {
  const wanted = readText(params, "protocolVersion");
  client.greet(params);
  return {
    protocolVersion: LEGACY_VERSIONS.find((version) => version === wanted) ?? LEGACY_VERSIONS[0],
    capabilities: { ...OFFERED, ...(listening.notify && LIVE), logging: {} },
    serverInfo: identity,
    instructions: MCP_INSTRUCTIONS,
  };
}

async function callTool(asked: Asked): Promise<object> {
  const name = readText(asked.params, "name");
  const { hooks } = asked.mcp;
  if (name === HOOK_TOOL && hooks) return callHook(hooks, asked);
  const tool = MODEL_TOOLS.find(({ spec }) => spec.name === name);
  if (!tool) {
    const names = MODEL_TOOLS.map(({ spec }) => spec.name).join(", ");
    throw new ProtocolError("badParams", `there is no tool "${name.slice(0, 80)}"; there are: ${names}`);
  }
  const { memories } = asked;
  const call = await callOf(asked);
  const given = readObject(asked.params, "arguments");
  const inOrder = orders.get(memories) ?? openOrder();
  orders.set(memories, inOrder);
  try {
    const { text, structured } = await inOrder(tool.spec.annotations.readOnlyHint, () => tool.run(call, given));
    return { content: [{ type: "text", text }], ...(structured !== undefined && { structuredContent: structured }) };
  } catch (error) {
    // What goes wrong inside a tool is an answer that the model can read.
    return { content: [{ type: "text", text: (error as Error).message }], isError: true };
  }
}

async function callOf(asked: Asked): Promise<ToolCall> {
  const { memories, client, caller, signal } = asked;
  const { env, now, log } = asked.mcp;
  return {
    ...progressOf(asked),
    ...{ env, now, log, signal, renew: memories.renew, cwd: await client.cwd(), by: client.by(caller) },
    open: (scope?: string) => open(asked, scope),
  };
}

/** More often than this a person sees no difference. */
const PROGRESS_MS = 100;

/** Only for who asks for it. */
function progressOf({ mcp, params, listening: { notify } }: Asked): Pick<ToolCall, "progress"> {
  const { progressToken } = readObject(params, "_meta");
  if (!notify || progressToken === undefined) return {};
  let toldMs = 0;
  return {
    progress: (message) => (progress, total) => {
      const nowMs = mcp.now().getTime();
      if (progress < total && Math.abs(nowMs - toldMs) < PROGRESS_MS) return;
      toldMs = nowMs;
      notify("notifications/progress", { progressToken, progress, total, message });
    },
  };
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

// --- The tool `hook`, which no list shows: clients call it for their events, so that no process has to be started for them.

const HOOK_TOOL = "hook";

/** The answer is JSON, as of a command hook; an empty object says nothing, where clients would show an empty text. */
async function callHook(hooks: Hooks, { params, afterwards }: Asked): Promise<object> {
  const { out, after } = await hooks(readEvent(readObject(params, "arguments")));
  // Once the answer is on its way.
  const done = new Promise((begin) => setImmediate(begin)).then(after).finally(() => afterwards.delete(done));
  afterwards.add(done);
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

// --- MCP on a pair of streams: one message a line, answers in the order in which they are ready.

/** A message holds a memory at most. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Some thousand small requests, whose answers are written together once the client reads on. */
const MAX_HELD_BYTES = 256 * 1024;
/** What was asked for before the input ended is answered, and what is done behind that ends, but not forever. */
const LAST_ANSWERS_MS = 10_000;

/** Ends when the client does: its end of either stream is closed, and what it asked for is answered. */
export async function serveStreams(
  mcp: McpOptions,
  { input, output }: { input: Readable; output: Writable },
): Promise<void> {
  const waiting = new Set<Promise<void>>();
  let heldBytes = 0;
  let isOver = false;
  const write = (message: unknown): void => {
    if (!isOver) output.write(`${JSON.stringify(message)}\n`);
  };
  const server = openMcpServer(mcp, openMemories(mcp), write);
  const answer = async (value: unknown): Promise<Answer | null> => {
    const problem = findMessageProblem(value);
    return problem ? refusal("invalid", problem, value) : server.receive(value as Message);
  };
  let draining: Promise<unknown> | null = null;
  const drained = () => {
    draining ??= Promise.race([once(output, "drain"), once(input, "close")])
      .catch(() => {})
      .finally(() => {
        draining = null;
      });
    return draining;
  };
  const serve = async (line: string): Promise<void> => {
    // A client that does not read is not served. Its lines are read all the same: whether it has left shows at their end.
    if (output.writableNeedDrain) await drained();
    // No JSON means undefined.
    const value = attempt<unknown, undefined>(() => JSON.parse(line), undefined);
    if (value === undefined) return write(refusal("unreadable", "the line is not JSON"));
    if (Array.isArray(value) && value.length === 0) return write(refusal("invalid", "the batch is empty"));
    // Several messages in one, as clients of 2025-03-26 may send them: their answers go back in one as well.
    const answers = (await Promise.all([value].flat().map(answer))).filter((each) => each !== null);
    if (answers.length > 0) write(Array.isArray(value) ? answers : answers[0]);
  };
  // The reader of the answers is gone. The listener stays: late failures must not end the process.
  output.on("error", () => {
    isOver = true;
    input.destroy();
  });
  for await (const line of readLines(input)) {
    if (line === null) write(refusal("unreadable", `the line is longer than ${MAX_LINE_BYTES} bytes`));
    else {
      heldBytes += line.length;
      const served = serve(line)
        .catch((error: Error) => mcp.log(`mcp: ${error.stack}`))
        .then(() => {
          heldBytes -= line.length;
          waiting.delete(served);
        });
      waiting.add(served);
    }
    // And it gets to send no more than this.
    if (output.writableNeedDrain && heldBytes > MAX_HELD_BYTES) await drained();
  }
  server.close();
  const finish = async () => {
    await Promise.all(waiting);
    await Promise.all(server.afterwards);
    await new Promise((done) => output.write("", done));
  };
  const stop = new AbortController();
  await Promise.race([finish(), sleep(LAST_ANSWERS_MS, null, stop).catch(() => {})]);
  stop.abort();
  isOver = true;
}

const NEWLINE = 0x0a;

/** Null for a line that is too long; the rest of the stream is still read. A last line need not end in a line break. */
async function* readLines(input: Readable): AsyncGenerator<string | null> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const finish = () => {
    const line = Buffer.concat(pieces).toString("utf8").trim();
    pieces = [];
    bytes = 0;
    return line === "" ? [] : [line];
  };
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      for (let from = 0, at = 0; at >= 0; from = at + 1) {
        at = chunk.indexOf(NEWLINE, from);
        const piece = chunk.subarray(from, at < 0 ? undefined : at);
        const wasShort = bytes <= MAX_LINE_BYTES;
        bytes += piece.length;
        if (bytes <= MAX_LINE_BYTES) pieces.push(piece);
        else pieces = [];
        if (wasShort && bytes > MAX_LINE_BYTES) yield null;
        if (at >= 0) yield* finish();
      }
    }
  } catch {
    // A stream that breaks off has ended.
  }
  yield* finish();
}
