import { afterEach, describe, expect, it, vi } from "vitest";
import { SELECTOR_SYSTEM } from "../../src/prompts/memory.ts";
import { type SideQuery, selectWithModel } from "../../src/recall/select.ts";
import { row } from "./row.ts";

const rows = ["a.md", "b.md", "deep/c.md", "d.md", "e.md", "f.md", "g.md"].map((file) => row(file));
const answering = (answer: unknown) => vi.fn<SideQuery>(async () => answer as string);
const chosen = async (answer: unknown) => {
  const selection = await selectWithModel({ ask: answering(answer), query: "how to deploy", rows });
  return "files" in selection ? selection.files : selection;
};
const never = () => new Promise<string>(() => {});

afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("selectWithModel: the question", () => {
  it("B6.6 without memories nothing is asked", async () => {
    const ask = answering("{}");
    expect(await selectWithModel({ ask, query: "how to deploy", rows: [] })).toEqual({ files: [], rows: [] });
    expect(ask).not.toHaveBeenCalled();
  });

  it("B11.5 B11.6 asked once: system, then query, hints and manifest, and a signal", async () => {
    const ask = answering('{"selected_memories": []}');
    await selectWithModel({ ask, query: "how to deploy", rows, recentTools: ["Bash"], recentMessages: ["hi there"] });
    expect(ask).toHaveBeenCalledTimes(1);
    const [system, user, signal, schema] = ask.mock.calls[0]!;
    expect(schema).toMatchObject({ required: ["selected_memories"] });
    expect(system).toBe(SELECTOR_SYSTEM);
    expect(user).toMatch(/how to deploy[\s\S]*hi there[\s\S]*Bash[\s\S]*\n\nAvailable memories:\n- \[project\] a\.md/);
    expect(signal).toBeInstanceOf(AbortSignal);
    expect(signal!.aborted).toBe(false);
  });
});

describe("selectWithModel: the answer", () => {
  it.each([
    ["plain", '{"selected_memories": ["b.md", "a.md"]}'],
    ["fenced", '```json\n{"selected_memories": ["b.md", "a.md"]}\n```'],
    ["in prose", 'I think {these} help: {"selected_memories": ["b.md","a.md"]} since {"x": 1} says so.'],
    ["nested", '{"result": {"why": "a } and ] in \\" text", "selected_memories": ["b.md", "a.md"]}}'],
    ["after a draft", '{"selected_memories": ["g.md"]}\nNo, better:\n{"selected_memories": ["b.md", "a.md"]}'],
    ["several objects", '{"note": "{"}\n{"selected_memories": ["b.md", "a.md"]}\n{"done": true}'],
    ["a trailing comma", '{"selected_memories": ["b.md", "a.md",]}'],
    ["cut off after the list", '{"selected_memories": ["b.md", "a.md"], "why": "bec'],
    ["a cut draft after it", '{"selected_memories": ["b.md", "a.md"]} {"selected_memories": ["g.'],
    ["other types between", '{"selected_memories": [1, null, "b.md", ["g.md"], {"file": "g.md"}, "a.md", true]}'],
  ])("B6.7 %s, in the model's order", async (_, answer) => {
    expect(await chosen(answer)).toEqual(["b.md", "a.md"]);
  });

  it.each([
    ["unknown names", '["nope.md", "a.md", "../a.md/x", "", "A.MD"]', ["a.md"]],
    ["duplicates", '["a.md", "a.md", "`a.md`"]', ["a.md"]],
    ["more than five", '["g.md", "f.md", "e.md", "d.md", "a.md", "b.md"]', ["g.md", "f.md", "e.md", "d.md", "a.md"]],
    [
      "paths",
      '["/home/me/.memory/project/a.md", "./b.md", "~/.memory/project/d.md", "project/deep/c.md"]',
      ["a.md", "b.md", "d.md", "deep/c.md"],
    ],
    ["backslashes", '["deep\\\\c.md"]', ["deep/c.md"]],
    ["backticks and quotes", '["`a.md`", " \'b.md\' "]', ["a.md", "b.md"]],
    ["none", "[]", []],
  ])("B6.8 %s", async (_, list, files) => {
    expect(await chosen(`{"selected_memories": ${list}}`)).toEqual(files);
  });

  it("B6.8 a display name counts if only one memory has it", async () => {
    const named = [row("x.md", { name: "Pool size" }), row("y.md", { name: "Twin" }), row("z.md", { name: "Twin" })];
    const ask = answering('{"selected_memories": ["Twin", "Pool size"]}');
    expect(await selectWithModel({ ask, query: "q q", rows: named })).toMatchObject({ files: ["x.md"] });
  });

  it("C-9 the same file in two scopes is told apart", async () => {
    const twins = [row("a.md"), row("a.md", { scope: "team" })];
    const pick = async (name: string) => {
      const ask = answering(JSON.stringify({ selected_memories: [name] }));
      const selection = await selectWithModel({ ask, query: "q q", rows: twins });
      return "rows" in selection ? selection.rows.map(({ scope }) => scope) : selection;
    };
    expect(await pick("team:a.md")).toEqual(["team"]);
    expect(await pick("team/a.md")).toEqual(["team"]);
    expect(await pick("/home/me/.memory/team/a.md")).toEqual(["team"]);
    expect(await pick("a.md")).toEqual(["project"]);
  });

  it("B6.8 what has no place in the manifest cannot be chosen, and unknown names are logged", async () => {
    const many = Array.from({ length: 300 }, (_, i) => row(`m${i}.md`, { description: "x".repeat(500) }));
    const log = vi.fn();
    const ask = answering('{"selected_memories": ["m0.md", "m299.md"]}');
    expect(await selectWithModel({ ask, query: "q q", rows: many, log })).toMatchObject({ files: ["m0.md"] });
    expect(ask.mock.calls[0]![1].length).toBeLessThan(26_000);
    expect(log).toHaveBeenCalledTimes(1);
  });
});

describe("selectWithModel: failures are values", () => {
  it.each([
    ["no JSON", "sorry, I cannot"],
    ["empty", ""],
    ["wrong shape", '{"selected_memories": "a.md"}'],
    ["a number", 5],
    ["nothing", undefined],
    ["a megabyte of brackets", '"selected_memories":['.repeat(50_000)],
  ])("B6.11 an answer that is %s", async (_, answer) => {
    const log = vi.fn();
    const selection = await selectWithModel({ ask: answering(answer), query: "q q", rows, log });
    expect(selection).toEqual({ failed: expect.any(String) });
    expect(log).toHaveBeenCalledTimes(1);
  });

  it.each<[string, SideQuery]>([
    ["a rejection", async () => Promise.reject(new Error("overloaded"))],
    [
      "a throw",
      () => {
        throw new Error("overloaded");
      },
    ],
    ["something that is no error", async () => Promise.reject("overloaded")],
  ])("B6.11 B11.9 %s goes to the log, once", async (_, ask) => {
    const log = vi.fn();
    expect(await selectWithModel({ ask, query: "q q", rows, log })).toEqual({ failed: "overloaded" });
    expect(log.mock.calls).toEqual([["memory selection failed: overloaded"]]);
  });

  it("B6.11 B11.9 a model that never answers is given up in time, and told so", async () => {
    vi.useFakeTimers();
    const ask = vi.fn<SideQuery>(never);
    const log = vi.fn();
    const selection = selectWithModel({ ask, query: "q q", rows, timeoutMs: 5000, log });
    await vi.advanceTimersByTimeAsync(4999);
    expect(log).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(await selection).toEqual({ failed: "no answer within 5000 ms" });
    expect(ask.mock.calls[0]![2]!.aborted).toBe(true);
    expect(log).toHaveBeenCalledTimes(1);
  });

  it("B6.11 no timer is left after an answer", async () => {
    vi.useFakeTimers();
    // Others in this process may have timers of their own.
    const set = vi.spyOn(globalThis, "setTimeout");
    const cleared = vi.spyOn(globalThis, "clearTimeout");
    await selectWithModel({ ask: answering('{"selected_memories": []}'), query: "q q", rows, timeoutMs: 5000 });
    const own = set.mock.calls.findIndex(([, ms]) => ms === 5000);
    expect(own).toBeGreaterThanOrEqual(0);
    expect(cleared).toHaveBeenCalledWith(set.mock.results[own]?.value);
  });

  it("B6.11 abort, before and during", async () => {
    const ask = vi.fn<SideQuery>(never);
    expect(await selectWithModel({ ask, query: "q q", rows, signal: AbortSignal.abort() })).toEqual({
      failed: "aborted",
    });
    expect(ask).not.toHaveBeenCalled();
    const controller = new AbortController();
    const selection = selectWithModel({ ask, query: "q q", rows, signal: controller.signal });
    controller.abort();
    expect(await selection).toEqual({ failed: "aborted" });
    expect(ask.mock.calls[0]![2]!.aborted).toBe(true);
  });

  it("B11.7 an answer that is rejected after the time is nobody's unhandled rejection", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    try {
      const controller = new AbortController();
      let reject = (_: Error) => {};
      const ask = () => new Promise<string>((_, no) => (reject = no));
      const selection = selectWithModel({ ask, query: "q q", rows, signal: controller.signal });
      controller.abort();
      await selection;
      reject(new Error("late"));
      for (let i = 0; i < 3; i++) await new Promise(setImmediate);
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off("unhandledRejection", unhandled);
    }
  });
});
