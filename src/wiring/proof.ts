/** `doctor`'s proof of the wiring: a probe is saved in a store of its own and asked for through everything that clients' files start. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Check } from "../memory/doctor.ts";
import { openMemdir } from "../open.ts";
import { CLIENTS, type Client } from "./clients.ts";
import { canCall, findForms, findVersion, type HookWish } from "./hook-form.ts";
import type { Machine } from "./machine.ts";
import { commandsOf, type Endpoint, kindOf, type Part, type Server } from "./parts.ts";
import { readReceipt } from "./receipt.ts";
import { type Asked, askHook, askPlugin, askServer, type Outcome } from "./round-trip.ts";
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

function askEndpoint(machine: Machine, endpoint: Endpoint, asked: Asked): Promise<Outcome> {
  switch (endpoint.kind) {
    case "hook":
      return askHook(endpoint.command, endpoint.event, asked);
    case "plugin":
      return askPlugin(machine.node, endpoint.file, asked);
    case "tool":
      if (endpoint.server === null) return Promise.resolve("it calls memdir's server, which is not wired");
      return askServer(endpoint.server, withEnv(asked, endpoint.server), endpoint.event);
    case "server":
      return askServer(endpoint, withEnv(asked, endpoint));
  }
}

/** The environment of a server's entry counts, but not about which store the probe is in. */
function withEnv(asked: Asked, { env }: Server): Asked {
  return { ...asked, env: { ...asked.env, ...env, MEMDIR_MEMORY_DIR: asked.env.MEMDIR_MEMORY_DIR } };
}

/** Clients that the receipt names or whose files have something of memdir's. */
function findWired(machine: Machine) {
  const { entries } = readReceipt(machine);
  return CLIENTS.flatMap((client) => {
    const parts = client.parts(machine);
    const known = commandsOf([...parts, ...entries.flatMap((entry) => entry.parts)]);
    const read = parts.map((part) => ({ file: part.file, endpoint: readPart(part, known) }));
    const server = read
      .map(({ endpoint }) => endpoint)
      .find((each) => typeof each === "object" && each.kind === "server");
    const found = read.map(({ file, endpoint }) => {
      const isTool = typeof endpoint === "object" && endpoint.kind === "tool";
      return { file, endpoint: isTool ? { ...endpoint, server: (server ?? null) as Server | null } : endpoint };
    });
    const missing = found.flatMap(({ endpoint }) => (typeof endpoint === "string" ? [endpoint] : []));
    const isWired = missing.length < parts.length || entries.some((entry) => entry.client === client.name);
    if (!isWired) return [];
    const endpoints = found.flatMap(({ file, endpoint }) => (typeof endpoint === "object" ? [{ file, endpoint }] : []));
    return [{ client, endpoints, other: client.findOther?.(machine) ?? null, missing }];
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
  { client, endpoints, other, missing }: ReturnType<typeof findWired>[number],
  ask: (endpoint: Endpoint) => Promise<Outcome>,
): Promise<Check[]> {
  const again = `memdir init --agent ${client.name}`;
  const outcomes = await Promise.all(endpoints.map(({ endpoint }) => ask(endpoint)));
  return [
    ...missing.map((problem) => check(`${client.title}: ${problem}`, again)),
    ...(other === null
      ? []
      : [check(`${client.title}: ${other} does the same again`, `memdir uninstall --agent ${client.name}`)]),
    ...endpoints.map(({ file, endpoint }, index) => {
      const what = `${client.title}: the ${WORDS[endpoint.kind]} in ${file}`;
      const problem = outcomes[index] ?? null;
      return problem === null ? check(`${what} works`, null) : check(`${what} does not work: ${problem}`, again);
    }),
  ];
}

const WORDS = { hook: "hook", tool: "server's hook", plugin: "plugin", server: "server" };

/** Whether its hooks are in a form that works with this client, these rules and this server. */
function examineForm(machine: Machine, client: Client, wish: HookWish): Check[] {
  const again = `memdir init --agent ${client.name}`;
  const forms = findForms(machine, client);
  const byTool = [...forms].filter(([, form]) => form === "mcp_tool").map(([event]) => event);
  const version = byTool.length > 0 ? findVersion(machine, client) : null;
  const can = canCall(client, version);
  const disabled = byTool.length > 0 ? (client.findDisabled?.(machine) ?? null) : null;
  if (byTool.length > 0 && can === false) {
    const needs = `its entries of type mcp_tool need ${client.calls?.since}`;
    return [check(`${client.title}: version ${version} ignores every hook of its settings: ${needs}`, again)];
  }
  const found = [
    ...(disabled === null
      ? []
      : [
          check(
            `${client.title}: its hooks call memdir's server, which is switched off in ${disabled}`,
            `switch it on there, or ${again} --hooks command`,
          ),
        ]),
    ...(wish.hasRules && byTool.includes("PreToolUse")
      ? [check(`${client.title}: enforced rules do not hold when memdir's server is switched off`, again)]
      : []),
  ];
  // Where the version cannot be told, what works is left alone.
  if (found.length > 0 || forms.size === 0 || (byTool.length > 0 && can === null)) return found;
  const [plan] = planWiring(machine, [client], wish);
  const file = client.parts(machine).find(({ kind }) => kind === "hooks")?.file;
  const isOther = plan?.changes.some((change) => change.file === file && change.before !== null) === true;
  return isOther ? [check(`${client.title}: its hooks are in another form than memdir would wire now`, again)] : [];
}

function check(detail: string, fix: string | null): Check {
  return { name: "wiring", ok: fix === null, detail, fix };
}
