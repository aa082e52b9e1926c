/** The contract of a verb: whatever adapter calls it, it gives the same answer, says it harmlessly, and changes only what it says it changes. */

import { describe, expect, it } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { type Context, readInput, type Verb, writes } from "../../src/verb.ts";
import type { Row } from "../../src/verbs/table.ts";
import { findVerbRoute } from "../../src/web/routes.ts";
import { type CallOptions, hearCall } from "../cli/call.ts";
import { makePage } from "../web/open-page.ts";
import { errorOf, makeWorld, type World } from "../world.ts";

export interface Sample {
  input: Record<string, unknown>;
  /** What must be there before. */
  given?(world: World): Promise<void>;
  /** It may fail here: with a `MemdirError`, never anything else. */
  fails?: true;
}

const HOSTILE = "tea\x1b[2J\x07 \u202eevil";

export function testVerb(row: Row, sample: Sample): void {
  describe(row.name, () => {
    it("refuses what its schema does not know", async () => {
      const verb = await row.load();
      expect(() => readInput(verb.input, { "no-such-input": 1 })).toThrow(expect.objectContaining({ code: "usage" }));
      for (const name of Object.keys(verb.input))
        expect(() => readInput(verb.input, { [name]: { an: "object" } }), name).toThrow(
          expect.objectContaining({ code: "usage" }),
        );
      expect(row.on).toContain("cli");
      expect(readInput(verb.input, sample.input)).toEqual(sample.input);
    });

    it("answers the command line as it answers a caller", async () => {
      const verb = await row.load();
      const [direct, typed] = [await makeStore(sample), await makeStore(sample)];
      const result = await verb.run(await direct.open(), sample.input, contextOf(direct)).catch(failed(sample));
      const { call, answers } = hearCall(typed, callFor(verb, sample.input));
      const code = await runOf(verb)(call).catch(failed(sample));
      if (sample.fails) return;
      expect(code).toBe(verb.exitCode?.(result) ?? 0);
      expect(steady(answers[0], typed)).toEqual(steady(verb.json ? verb.json(result) : result, direct));
    });

    it("answers the page as it answers a caller, if it is for the page", async () => {
      const verb = await row.load();
      const route = await findVerbRoute(row.name);
      expect(route !== null).toBe(row.on.includes("web"));
      if (!route) return;
      const [direct, viewed] = [await makeStore(sample), await makeStore(sample)];
      const result = await verb.run(await direct.open(), sample.input, contextOf(direct));
      const { page } = await makePage({ world: viewed });
      const answer = await route.answer(page, sample.input, new AbortController().signal);
      expect(steady(answer, viewed)).toEqual(steady(verb.json ? verb.json(result) : result, direct));
    });

    it("says it in words, without a control character", async () => {
      const verb = await row.load();
      const world = await makeStore(sample);
      world.write("hostile.md", `---\nname: ${HOSTILE}\ndescription: ${HOSTILE}\ntype: user\n---\n\n${HOSTILE}\n`);
      const { call, printed, warned } = hearCall(world, { ...callFor(verb, sample.input), json: false });
      await runOf(verb)(call).catch(failed(sample));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      for (const text of [...printed, ...warned]) expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f\u202e]/);
    });

    it("changes memories only if it says that it writes, and nothing once it is cancelled", async () => {
      const verb = await row.load();
      const world = await makeStore(sample);
      const before = contentOf(world);
      const stop = AbortSignal.abort();
      const { call } = hearCall(world, callFor(verb, sample.input));
      expect(await runOf(verb, { call: (words) => words, signal: stop })(call).catch(failed(sample))).not.toBe(0);
      expect(contentOf(world)).toEqual(before);
      await verb.run(await world.open(), sample.input, contextOf(world)).catch(failed(sample));
      if (!writes(verb, sample.input)) expect(contentOf(world)).toEqual(before);
    });
  });
}

async function makeStore({ given }: Sample): Promise<World> {
  const world = makeWorld();
  await given?.(world);
  return world;
}

export function contextOf(world: World): Context {
  return {
    ...{ cwd: world.project, env: world.env, now: () => world.now, log: () => {} },
    signal: new AbortController().signal,
    progress: () => () => {},
    ask: null,
    show: () => {},
    readInput: async () => "",
    open: (options) => world.open(options),
  };
}

function callFor(verb: Verb, input: Record<string, unknown>): CallOptions {
  const positions = verb.args.map((arg) => arg.replace(/[?…]/g, ""));
  const options = Object.entries(input).filter(([name]) => !positions.includes(name));
  return {
    json: true,
    args: positions.flatMap((name) => (input[name] === undefined ? [] : [String(input[name])])),
    options: Object.fromEntries(options.map(([name, value]) => [name, value === true ? true : (value as string)])),
  };
}

const failed =
  ({ fails }: Sample) =>
  async (error: unknown) => {
    if (!fails) throw error;
    await errorOf(Promise.reject(error));
  };

function contentOf(world: World): Record<string, string> {
  return Object.fromEntries(world.files().map((file) => [file, world.read(file)]));
}

/** Without what differs from one run or folder to the next. */
function steady(value: unknown, { top }: World): unknown {
  const text = JSON.stringify(value ?? null)
    .replaceAll(top, "TOP")
    .replaceAll(top.replaceAll(/[/_.]/g, "-"), "TOP")
    .replace(/"(tookMs|created|modified|at|undo|id)":(?:"[^"]*"|[\d.]+)/g, '"$1":"?"');
  return JSON.parse(text);
}
