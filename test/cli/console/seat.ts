/** A console for slash commands: real files, and a person who answers as the test says. */

import { expect } from "vitest";
import type { Agent } from "../../../src/agent/agent.ts";
import { askBy } from "../../../src/cli/console/input.ts";
import { runSlash } from "../../../src/cli/console/slash-commands.ts";
import type { Console } from "../../../src/cli/console/slash-memory.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";
import { openInbox } from "../../../src/learn/inbox.ts";
import type { Proposal } from "../../../src/learn/proposal.ts";
import type { Memdir } from "../../../src/memdir.ts";
import { openAgent } from "../../../src/open-agent.ts";
import type { Choice } from "../../../src/verb.ts";
import { propose } from "../../learn/proposals.ts";
import { mainOf, makeWorld, type World } from "../../world.ts";
import { hearCall } from "../call.ts";

export interface Seat {
  world: World;
  memdir: Memdir;
  console: Console;
  asked: { question: string; choices: readonly Choice[] }[];
  /** Types a line; what it prints. */
  type(line: string, ...answers: Answer[]): Promise<string>;
}

/** A key, or what happens while the question stands, then the key. */
type Answer = string | null | (() => Promise<string | null> | string | null);

export interface SeatOptions {
  world?: World;
  agent?: Agent;
  columns?: number;
  /** Nobody can be asked. */
  isPiped?: boolean;
  signal?: AbortSignal;
}

export async function sitDown(options: SeatOptions = {}): Promise<Seat> {
  const world = options.world ?? makeWorld();
  const memdir = await world.open();
  const agent = options.agent ?? (await openAgent({ memdir, env: world.env, model: null }));
  const asked: Seat["asked"] = [];
  const answers: Answer[] = [];
  const { call } = hearCall(world, {});
  const said: string[] = [];
  const note = (text: string) => void said.push(text);
  const choose: Terminal["choose"] = async (question, choices) => {
    asked.push({ question, choices });
    const next = answers.shift();
    if (next === undefined) throw new Error(`nobody answers ${question}`);
    const key = typeof next === "function" ? await next() : next;
    if (key !== null) expect(choices.map((choice) => choice.key)).toContain(key);
    return key;
  };
  const console: Console = {
    ...call,
    open: async () => memdir,
    memdir,
    agent,
    offline: agent.model().name === "",
    terminal: {
      ...{ ...call.terminal, print: note, warn: note, columns: options.columns ?? 100 },
      ...(!options.isPiped && { interactive: true, choose, ask: askBy(choose) }),
    },
    release: options.isPiped ? null : (work) => work(),
    working: (_, work) => work(options.signal ?? new AbortController().signal),
    suggest: () => {},
  };
  return {
    world,
    memdir,
    console,
    asked,
    async type(line, ...keys) {
      answers.push(...keys);
      said.length = 0;
      expect(await runSlash(line, console)).toBe("stay");
      expect(answers).toEqual([]);
      return said.join("\n");
    },
  };
}

/** Puts a proposal into the inbox; its id. */
export async function addProposal({ memdir }: Seat, more: Partial<Proposal> = {}): Promise<string> {
  const added = await openInbox(mainOf(memdir), mainOf(memdir)).add(propose(more));
  if (!("id" in added)) throw new Error(JSON.stringify(added));
  return added.id;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
export const HARMFUL = /[\x00-\x09\x0b-\x1f\x7f\x9b\u202e]/;
/** Clears the screen, sets a title, turns the direction of writing. */
export const EVIL = "a\x1b[2J\x1b]0;title\x07\u202eb\rc";
