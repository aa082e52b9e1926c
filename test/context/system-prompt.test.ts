import { describe, expect, it } from "vitest";
import { agentSections, MEMORY_SECTION, openSystemPrompt, type Section } from "../../src/context/system-prompt.ts";
import { makeWorld, note } from "../world.ts";

/** Says how often it was built. */
function counting(name: string): Section & { built: () => number } {
  let count = 0;
  return { name, build: () => `${name} ${++count}`, built: () => count };
}

describe("the system prompt", () => {
  it("B10.1 is the same bytes every turn, marked at its end", async () => {
    const prompt = openSystemPrompt([counting("a"), counting("b")]);
    expect(await prompt.blocks()).toEqual([{ text: "a 1\n\nb 1", cache: true }]);
    expect(await prompt.blocks()).toEqual([{ text: "a 1\n\nb 1", cache: true }]);
  });

  it("B10.1 builds sections anew after clear", async () => {
    const prompt = openSystemPrompt([counting("a")]);
    await prompt.blocks();
    prompt.clear();
    expect(await prompt.blocks()).toEqual([{ text: "a 2", cache: true }]);
  });

  it("leaves out what has nothing to say, also when it would have later", async () => {
    let said: string | null = null;
    const late: Section = { name: "late", build: () => said };
    const prompt = openSystemPrompt([late, { name: "empty", build: async () => "" }, counting("a")]);
    expect(await prompt.blocks()).toEqual([{ text: "a 1", cache: true }]);
    said = "now";
    expect(await prompt.blocks()).toEqual([{ text: "a 1", cache: true }]);
    prompt.clear();
    expect((await prompt.blocks())[0]?.text).toBe("now\n\na 2");
    expect(await openSystemPrompt([]).blocks()).toEqual([]);
  });

  it("builds once for requests at the same time, and all sections side by side", async () => {
    const a = counting("a");
    const prompt = openSystemPrompt([a, { name: "slow", build: async () => "slow" }]);
    const both = await Promise.all([prompt.blocks(), prompt.blocks()]);
    expect(both[0]).toEqual(both[1]);
    expect(a.built()).toBe(1);
  });

  it("is not filled by a build that a clear overtook", async () => {
    const finish: ((text: string) => void)[] = [];
    const prompt = openSystemPrompt([{ name: "a", build: () => new Promise<string>((done) => finish.push(done)) }]);
    const old = prompt.blocks();
    prompt.clear();
    const fresh = prompt.blocks();
    finish[1]?.("new");
    finish[0]?.("old");
    expect([await old, await fresh].map(([block]) => block?.text)).toEqual(["old", "new"]);
    expect((await prompt.blocks())[0]?.text).toBe("new");
  });

  it.each([
    ["throws", () => Promise.reject(new Error("no disk"))],
    [
      "throws at once",
      () => {
        throw new Error("no disk");
      },
    ],
  ])("tries a section again that %s", async (_, fail) => {
    let works = false;
    const prompt = openSystemPrompt([{ name: "a", build: () => (works ? "fine" : fail()) }]);
    await expect(prompt.blocks()).rejects.toThrow("no disk");
    works = true;
    expect(await prompt.blocks()).toEqual([{ text: "fine", cache: true }]);
  });

  it("tells what it was made of, in the order in which it is sent", async () => {
    const prompt = openSystemPrompt([counting("a"), counting("v")]);
    expect(await prompt.parts()).toEqual([
      { name: "a", text: "a 1" },
      { name: "v", text: "v 1" },
    ]);
    expect((await prompt.blocks())[0]?.text).toBe("a 1\n\nv 1");
  });
});

describe("the agent's sections", () => {
  const sectionsWith = (memory: Section["build"]) => agentSections({ commit: null, pr: null }, memory);

  it("B11.11 are who it is, its tools and its tone, how to commit and note results, and its memory", async () => {
    const named = async (memory: string | null) =>
      (await openSystemPrompt(sectionsWith(() => memory)).parts()).map(({ name }) => name);
    const always = ["identity", "tools", "tone", "commits", "result-notes"];
    expect(await named("# Memory")).toEqual([...always, MEMORY_SECTION]);
    expect(await named(null)).toEqual(always);
  });

  it("B10.1 keep the prefix while memories come and go", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const prompt = openSystemPrompt(sectionsWith(() => memdir.prompt({ withIndex: false })));
    const [before] = await prompt.blocks();
    await memdir.save(note("role"));
    expect((await prompt.blocks())[0]).toEqual(before);
    prompt.clear();
    expect((await prompt.blocks())[0]).toEqual(before);
    expect(before?.text).toContain("# Memory");
  });
});
