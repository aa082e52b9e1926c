/** `doctor`'s proof of the wiring: a probe is saved in a memory of its own and asked for through every door that a client names. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Env } from "../config.ts";
import { openMemdir } from "../open.ts";
import type { Check } from "../verbs/doctor.ts";
import { CLIENTS } from "./clients.ts";
import { type Asked, askHook, askPlugin, askServer, type Outcome } from "./round-trip.ts";
import { type Door, findWired, type Wired } from "./wired.ts";
import type { WiringWorld } from "./world.ts";

/** A slow machine's first start; a client waits about as long. */
const DEADLINE_MS = 10_000;
/** In no dictionary, so that nothing else answers to it. */
const WORD = "quokkabrine";
const PROMPT = `Where is the ${WORD} probe of memdir doctor kept?`;

export interface ProofOptions {
  /** Where the probe's memory is made. */
  temporary: string;
  deadlineMs?: number;
}

/** Nothing is written to the user's memories, and the probe is gone afterwards. Must not throw. */
export async function proveWiring(world: WiringWorld, options: ProofOptions): Promise<Check[]> {
  const wired = findWired(world, CLIENTS);
  if (wired.length === 0) return [check("no agent is wired; memdir init does it", null)];
  let folder: string | null = null;
  try {
    folder = realpathSync(mkdtempSync(join(options.temporary, "memdir-doctor-")));
    const asked = await saveProbe(world, folder, options.deadlineMs ?? DEADLINE_MS);
    // Several clients often name the same door.
    const outcomes = new Map<string, Promise<Outcome>>();
    const ask = (door: Door) => {
      const id = JSON.stringify(door);
      const outcome = outcomes.get(id) ?? askDoor(world, door, { ...asked, session: `memdir-doctor-${outcomes.size}` });
      outcomes.set(id, outcome);
      return outcome;
    };
    return (await Promise.all(wired.map((one) => proveClient(one, ask)))).flat();
  } catch (error) {
    const detail = `the wiring could not be tried: ${(error as Error).message}`;
    return [check(detail, "see that the folder for temporary files can be written to")];
  } finally {
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
}

async function saveProbe(world: WiringWorld, folder: string, deadlineMs: number): Promise<Asked> {
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const env: Env = { ...world.env, MEMDIR_MEMORY_DIR: join(folder, "memory") };
  const memdir = await openMemdir({ cwd, env, now: world.now, log: world.log, by: "doctor", ask: null, embed: null });
  await memdir.save({
    type: "reference",
    name: `${WORD} probe`,
    description: `Where the ${WORD} probe of memdir doctor is kept`,
    body: `The ${WORD} probe of memdir doctor is kept in a folder for temporary files.`,
    when: [`asked where the ${WORD} probe is`],
  });
  return { prompt: PROMPT, session: "memdir-doctor", word: WORD, cwd, env, deadlineMs };
}

function askDoor(world: WiringWorld, door: Door, asked: Asked): Promise<Outcome> {
  switch (door.kind) {
    case "hook":
      return askHook(door.command, door.event, asked);
    case "plugin":
      return askPlugin(world.node, door.file, asked);
    case "server":
      return askServer(door.command, door.args, { ...asked, env: { ...asked.env, ...door.env, ...ownMemory(asked) } });
  }
}

/** What a server's entry says of the environment counts, but not about this. */
function ownMemory({ env: { MEMDIR_MEMORY_DIR } }: Asked): Env {
  return { MEMDIR_MEMORY_DIR };
}

async function proveClient(
  { client, doors, other, missing }: Wired,
  ask: (door: Door) => Promise<Outcome>,
): Promise<Check[]> {
  const again = `memdir init --agent ${client.name}`;
  const outcomes = await Promise.all(doors.map(({ door }) => ask(door)));
  return [
    ...missing.map((problem) => check(`${client.title}: ${problem}`, again)),
    ...(other === null
      ? []
      : [check(`${client.title}: ${other} does the same again`, `memdir uninstall --agent ${client.name}`)]),
    ...doors.map(({ file, door }, index) => {
      const what = `${client.title}: the ${door.kind} that ${file} names`;
      const problem = outcomes[index] ?? null;
      return problem === null ? check(`${what} recalls`, null) : check(`${what} does not work: ${problem}`, again);
    }),
  ];
}

function check(detail: string, fix: string | null): Check {
  return { name: "wiring", ok: fix === null, detail, fix };
}
