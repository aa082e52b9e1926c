/** The public surface as the compiler sees it. */

import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, it } from "vitest";
import type { AiMemory } from "../../src/ai.ts";
import type { AnthropicMemory } from "../../src/anthropic.ts";
import type * as api from "../../src/index.ts";
import { openMemdir } from "../../src/index.ts";
import type { AllVerbs } from "../../src/library/verbs.ts";
import type { MEMORY_VERBS } from "../../src/verbs/rows.ts";
import { TABLE } from "../../src/verbs/table.ts";

describe("types", () => {
  it("opening needs nothing", () => {
    expectTypeOf(openMemdir).toBeCallableWith();
    expectTypeOf(openMemdir).toBeCallableWith({ scope: "agent:reviewer", embed: async () => new Float32Array(384) });
    expectTypeOf(openMemdir).returns.resolves.toEqualTypeOf<api.Library>();
  });

  it("verbs of a memory take and give what is exported", () => {
    type M = api.Memdir;
    expectTypeOf<Parameters<M["save"]>>().toEqualTypeOf<[request: api.SaveRequest]>();
    expectTypeOf<M["save"]>().returns.resolves.toEqualTypeOf<api.SaveResult>();
    expectTypeOf<M["list"]>().returns.resolves.toEqualTypeOf<api.Row[]>();
    expectTypeOf<M["list"]>().parameter(0).toEqualTypeOf<api.ListFilter | undefined>();
    expectTypeOf<M["survey"]>().returns.resolves.toEqualTypeOf<api.Listing>();
    expectTypeOf<M["show"]>().returns.resolves.toEqualTypeOf<api.ShownMemory>();
    expectTypeOf<M["forget"]>().returns.resolves.toEqualTypeOf<api.ForgetResult>();
    expectTypeOf<M["history"]>().returns.resolves.toEqualTypeOf<api.JournalEntry[]>();
    expectTypeOf<M["undo"]>().returns.resolves.toEqualTypeOf<api.UndoResult>();
    expectTypeOf<M["recall"]>().returns.resolves.toEqualTypeOf<api.RecallResult>();
    expectTypeOf<M["search"]>().returns.resolves.toEqualTypeOf<api.SearchHit[]>();
    expectTypeOf<M["verify"]>().returns.resolves.toEqualTypeOf<api.Verification>();
    expectTypeOf<M["prune"]>().parameter(0).toEqualTypeOf<api.PruneRequest>();
    expectTypeOf<M["directories"]>().toEqualTypeOf<readonly api.Store[]>();
  });

  it("nothing is any", () => {
    expectTypeOf<api.SaveRequest[keyof api.SaveRequest]>().not.toBeAny();
    expectTypeOf<api.Row[keyof api.Row]>().not.toBeAny();
    expectTypeOf<Awaited<ReturnType<api.Verbs["list"]>>>().not.toBeAny();
    expectTypeOf<Awaited<ReturnType<api.Verbs["health"]>>>().not.toBeAny();
    expectTypeOf<AiMemory["tools"]["save"]>().not.toBeAny();
    expectTypeOf<AnthropicMemory["tools"][number]>().not.toBeAny();
  });

  it("verbs know their input", () => {
    expectTypeOf<api.Verbs["list"]>().parameter(0).toExtend<{ type?: api.MemoryType | undefined } | undefined>();
    expectTypeOf<AllVerbs["undo"]>().toEqualTypeOf<api.Verbs["undo"]>();
    expectTypeOf<keyof AllVerbs>().toEqualTypeOf<(typeof TABLE)[number]["name"]>();
    expectTypeOf<keyof api.Verbs>().toEqualTypeOf<(typeof MEMORY_VERBS)[number]["name"]>();
    expectTypeOf<Awaited<ReturnType<AllVerbs["dream"]>>>().not.toBeAny();
    expectTypeOf<Parameters<AllVerbs["extract"]>[0]>().not.toBeAny();
    expectTypeOf<api.Verbs["undo"]>().returns.resolves.toEqualTypeOf<api.UndoResult>();
  });

  it("tools are typed by their names", () => {
    expectTypeOf<keyof AiMemory<"save" | "list">["tools"]>().toEqualTypeOf<"save" | "list">();
    expectTypeOf<api.MemoryTool["run"]>().returns.resolves.toBeString();
  });
});

it("a verb is explained on hover with the sentence of its help", () => {
  const source = ["library", "verbs"].map((file) => readFileSync(`src/library/${file}.ts`, "utf8")).join("\n");
  const missing = TABLE.filter(({ name, summary }) => {
    const [bare, quoted] = [`/** ${summary}. */\n  ${name}:`, `/** ${summary}. */\n  "${name}":`];
    return !source.includes(bare) && !source.includes(quoted);
  });
  expect(missing.map(({ name }) => name)).toEqual([]);
});
