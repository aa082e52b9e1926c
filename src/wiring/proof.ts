/** `doctor`'s proof of the wiring: a probe is saved in a store of its own and asked for through everything that clients' files start. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { type ChildCall, runChild } from "../child-group.ts";
import { attempt } from "../errors.ts";
import type { Check } from "../memory/doctor.ts";
import { openMemdir } from "../open.ts";
import type { Env } from "../world.ts";
import { CLIENTS, type Client } from "./clients.ts";
import { canCall, findForms, findVersion, type HookWish } from "./hook-form.ts";
import type { Machine } from "./machine.ts";
import { commandsOf, type Endpoint, kindOf, type Part, type Server } from "./parts.ts";
import { readReceipt } from "./receipt.ts";
import { readPlain } from "./user-file.ts";
import { planWiring } from "./wiring.ts";

/** A slow machine's first start; a client waits about as long. */
const DEADLINE_MS = 10_000;
/** Not in any dictionary, so that no other memory matches it. */
const WORD = "quokkabrine";
const PROMPT = `Where is the ${WORD} probe of memdir doctor kept?`;

/** `temporary`: where the probe's store is made. Nothing is written to the user's memories, and the probe is gone afterwards. Must not throw. */
export async function proveWiring(
  machine: Machine,
  { temporary, wish, deadlineMs = DEADLINE_MS }: { temporary: string; wish: HookWish; deadlineMs?: number },
): Promise<Check[]> {
  const wired = findWired(machine);
  if (wired.length === 0) return [check("no agent is connected; memdir init connects them", null)];
  let folder: string | null = null;
  try {
    folder = realpathSync(mkdtempSync(join(temporary, "memdir-doctor-")));
    const asked = await saveProbe(machine, folder, deadlineMs);
    // Several clients often name the same one.
    const outcomes = new Map<string, Promise<Outcome>>();
    const ask = (endpoint: Endpoint) => {
      const id = JSON.stringify(endpoint);
      const session = `memdir-doctor-${outcomes.size}`;
      const outcome = outcomes.get(id) ?? askEndpoint(machine, endpoint, { ...asked, session });
      outcomes.set(id, outcome);
      return outcome;
    };
    const proved = await Promise.all(wired.map((one) => proveClient(one, ask)));
    return wired.flatMap((one, i) => [...examineForm(machine, one.client, wish), ...(proved[i] ?? [])]);
  } catch (error) {
    const detail = `the wiring could not be tried: ${(error as Error).message}`;
    return [check(detail, "see that the folder for temporary files can be written to")];
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

async function saveProbe(machine: Machine, folder: string, deadlineMs: number): Promise<Asked> {
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const env = { ...machine.env, MEMDIR_MEMORY_DIR: join(folder, "memory") };
  const { now, log } = machine;
  const memdir = await openMemdir({ cwd, env, now, log, by: "doctor", ask: null, embed: null });
  await memdir.save({
    type: "reference",
    name: `${WORD} probe`,
    description: `Where the ${WORD} probe of memdir doctor is kept`,
    body: `The ${WORD} probe of memdir doctor is kept in a folder for temporary files.`,
    when: [`asked where the ${WORD} probe is`],
  });
  return { prompt: PROMPT, session: "memdir-doctor", word: WORD, cwd, env, deadlineMs };
}

async function askEndpoint(machine: Machine, endpoint: Endpoint, asked: Asked): Promise<Outcome> {
  if (endpoint.kind === "hook") return askHook(endpoint.command, endpoint.event, asked);
  if (endpoint.kind === "plugin") return askPlugin(machine.node, endpoint.file, asked);
  const server = endpoint.kind === "tool" ? endpoint.server : endpoint;
  if (server === null) return "it calls memdir's server, which is not connected";
  // The environment of a server's entry counts, but not about which store the probe is in.
  const env = { ...asked.env, ...server.env, MEMDIR_MEMORY_DIR: asked.env.MEMDIR_MEMORY_DIR };
  return askServer(server, { ...asked, env }, endpoint.kind === "tool" ? endpoint.event : undefined);
}

/** Clients that the receipt names or whose files have something of memdir's. */
function findWired(machine: Machine) {
  const { entries } = readReceipt(machine);
  return CLIENTS.flatMap((client) => {
    const parts = client.parts(machine);
    const known = commandsOf([...parts, ...entries.flatMap((entry) => entry.parts)]);
    const read = parts.map((part) => ({ file: part.file, found: readPart(part, known) }));
    const missing = read.flatMap(({ found }) => (typeof found === "string" ? [found] : []));
    const isWired = missing.length < parts.length || entries.some((entry) => entry.client === client.name);
    if (!isWired) return [];
    const endpoints = read.flatMap(({ file, found }) => (typeof found === "object" ? [{ file, endpoint: found }] : []));
    const server = endpoints.map(({ endpoint }) => endpoint).find((each) => each.kind === "server") ?? null;
    for (const { endpoint } of endpoints) if (endpoint.kind === "tool") endpoint.server = server;
    const off = client.findHooksOff?.(machine) ?? null;
    return [{ client, endpoints, other: client.findOther?.(machine) ?? null, off, missing }];
  });
}

/** What the part starts, true for nothing, or why it is missing. */
function readPart(part: Part, known: ReadonlySet<string>): Endpoint | true | string {
  try {
    const text = readPlain(part.file);
    const found = text.trim() === "" ? null : kindOf(part).read(text, part, known);
    return found ?? `${part.file} lacks memdir's part (${part.why})`;
  } catch (error) {
    return (error as Error).message;
  }
}

async function proveClient(
  { client, endpoints, other, off, missing }: ReturnType<typeof findWired>[number],
  ask: (endpoint: Endpoint) => Promise<Outcome>,
): Promise<Check[]> {
  const again = `memdir init --agent ${client.name}`;
  // A hook that would work if the client ran it does not work.
  const tried = off === null ? endpoints : endpoints.filter(({ endpoint }) => endpoint.kind === "server");
  const proved = tried.map(async ({ file, endpoint }) => {
    const what = `${client.title}: the ${WORDS[endpoint.kind]} in ${file}`;
    const problem = await ask(endpoint);
    return problem === null ? check(`${what} works`, null) : check(`${what} does not work: ${problem}`, again);
  });
  return [
    ...missing.map((problem) => check(`${client.title}: ${problem}`, again)),
    ...(other === null
      ? []
      : [check(`${client.title}: ${other} does the same again`, `memdir uninstall --agent ${client.name}`)]),
    ...(off === null || tried.length === endpoints.length
      ? []
      : [check(`${client.title}: its hooks do not run: ${off.why}`, off.fix)]),
    ...(await Promise.all(proved)),
  ];
}

const WORDS = { hook: "hook", tool: "server's hook", plugin: "plugin", server: "server" };

/** Whether its hooks are in a form that works with this client, these rules and this server. */
function examineForm(machine: Machine, client: Client, wish: HookWish): Check[] {
  const again = `memdir init --agent ${client.name}`;
  const forms = findForms(machine, client);
  const byTool = [...forms.keys()].filter((event) => forms.get(event) === "mcp_tool");
  if (byTool.length > 0) {
    const version = findVersion(machine, client);
    const can = canCall(client, version);
    if (can === false) {
      const needs = `its entries of type mcp_tool need ${client.calls?.since}`;
      return [check(`${client.title}: version ${version} ignores every hook of its settings: ${needs}`, again)];
    }
    const found: Check[] = [];
    const disabled = client.findDisabled?.(machine) ?? null;
    if (disabled !== null) {
      const detail = `${client.title}: its hooks call memdir's server, which is switched off in ${disabled}`;
      found.push(check(detail, `switch it on there, or ${again} --hooks command`));
    }
    if (wish.hasRules && byTool.includes("PreToolUse"))
      found.push(check(`${client.title}: enforced rules do not hold when memdir's server is switched off`, again));
    // Where the version cannot be told, what works is left alone.
    if (found.length > 0 || can === null) return found;
  }
  if (forms.size === 0) return [];
  const [plan] = planWiring(machine, [client], wish);
  const file = client.parts(machine).find(({ kind }) => kind === "hooks")?.file;
  const isOther = plan?.changes.some((change) => change.file === file && change.before !== null) === true;
  return isOther ? [check(`${client.title}: its hooks are in another form than memdir would wire now`, again)] : [];
}

function check(detail: string, fix: string | null): Check {
  return { name: "wiring", ok: fix === null, detail, fix };
}

// --- One question to a hook, a plugin or a server, asked as a client would: started, asked, and ended in time.

interface Asked {
  prompt: string;
  /** One of its own for each question: what a session was shown is not shown to it again. */
  session: string;
  /** A word that only an answer from the probe holds. */
  word: string;
  cwd: string;
  env: Env;
  deadlineMs: number;
}

/** Null when the probe came back, else what went wrong. Must not throw. */
type Outcome = string | null;

/** `command` is a line for a shell, as clients take it. */
export function askHook(command: string, event: string, asked: Asked): Promise<Outcome> {
  const { prompt, session, cwd } = asked;
  const input = JSON.stringify({ session_id: session, transcript_path: "", cwd, hook_event_name: event, prompt });
  return talk(command, [], asked, { input, shell: true });
}

/** OpenCode's plugin, loaded by Node in the place of OpenCode. */
export function askPlugin(node: string, file: string, asked: Asked): Promise<Outcome> {
  const script = `
    const { Memdir } = await import((await import("node:url")).pathToFileURL(process.argv[1]).href);
    const parts = [{ id: "prt_1", messageID: "msg_1", type: "text", text: process.argv[2] }];
    const hooks = await Memdir({ directory: process.cwd() });
    await hooks["chat.message"]({ sessionID: process.argv[3] }, { parts });
    process.stdout.write(parts.slice(1).map((part) => part.text).join("\\n"));`;
  const args = ["--input-type=module", "--no-warnings", "-e", script, file, asked.prompt, asked.session];
  return talk(node, args, asked);
}

/** An MCP server on its standard streams: greeted, then asked to recall, or, with an event, as a client's hook asks it. */
export function askServer(
  { command, args }: Pick<Server, "command" | "args">,
  asked: Asked,
  event?: string,
): Promise<Outcome> {
  const { prompt, session, cwd } = asked;
  const call = event
    ? { name: "hook", arguments: { hook_event_name: event, session_id: session, cwd, prompt } }
    : { name: "recall", arguments: { prompt } };
  const clientInfo = { name: "memdir-doctor", version: "1" };
  const messages = [
    { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/call", params: call },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join("");
  const replyIn = (out: string) => parseLines(out).find(({ id }) => id === 2);
  return talk(command, args, asked, {
    input,
    isAnswered: (out) => replyIn(out) !== undefined,
    judge(out) {
      const reply = replyIn(out);
      if (reply) return judge(JSON.stringify(reply.result ?? reply), asked);
      const isGreeted = parseLines(out).some(({ id, result }) => id === 1 && result !== undefined);
      return isGreeted ? "it ended before it answered" : "it ended before it said hello";
    },
  });
}

interface Talk extends Pick<ChildCall<never>, "input" | "shell"> {
  /** Whether what was heard is enough; without it the end is waited for. */
  isAnswered?(out: string): boolean;
  judge?(out: string): Outcome;
}

/** For what a process that has ended left in its pipes. */
const DRAIN_MS = 1_000;

async function talk(program: string, args: readonly string[], asked: Asked, how: Talk = {}): Promise<Outcome> {
  const { cwd, env, deadlineMs } = asked;
  const { input, shell, isAnswered = () => false, judge: judgeAll = (text: string) => judge(text, asked) } = how;
  let out = "";
  let complaint = "";
  const decoder = new StringDecoder("utf8");
  const { code, cut, problem } = await runChild<"answered">(program, args, {
    ...{ cwd, env, input, shell, timeoutMs: deadlineMs, graceMs: 0, drainMs: DRAIN_MS },
    onOut(bytes, stop) {
      out += decoder.write(bytes);
      if (isAnswered(out)) stop("answered");
    },
    onErr(bytes) {
      if (complaint.length < 500) complaint += bytes.toString("utf8");
    },
  });
  if (cut === "not started") return `it cannot be started: ${problem}`;
  if (cut === "timeout") return `it did not answer within ${Math.round(deadlineMs / 1000)} s`;
  const outcome = judgeAll(out);
  if (cut === "answered" || code === 0 || outcome === null) return outcome;
  const said = complaint.trim().split("\n")[0] ?? "";
  return `it ended with code ${code}${said && `: ${said}`}`;
}

function judge(answer: string, { word }: Asked): Outcome {
  if (answer.includes(word)) return null;
  return answer.trim() === "" ? "it answered, but said nothing" : "it answered, but not with the probe";
}

function parseLines(text: string): { id?: unknown; result?: unknown }[] {
  return text.split("\n").flatMap((line) => {
    const message = attempt<unknown, null>(() => JSON.parse(line), null);
    return typeof message === "object" && message !== null ? [message] : [];
  });
}
