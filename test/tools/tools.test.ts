import { expect, it } from "vitest";
import { runTools } from "../../src/model/tool.ts";
import { openTools } from "../../src/tools/tools.ts";
import { makeBench } from "./bench.ts";

it("offers all tools in one order, or some of them", () => {
  const bench = makeBench();
  expect(openTools(bench).map(({ name }) => name)).toEqual(["Read", "Write", "Edit", "Glob", "Grep", "Bash"]);
  expect(openTools(bench, ["Grep", "Read"]).map(({ name }) => name)).toEqual(["Read", "Grep"]);
});

it("every tool describes itself and its inputs, with the same bytes for every workbench", () => {
  const specs = () => openTools(makeBench()).map(({ name, description, schema }) => ({ name, description, schema }));
  for (const { name, description, schema } of specs()) {
    expect(description.length, name).toBeGreaterThan(50);
    const { properties, required } = schema as {
      properties: Record<string, { description: string }>;
      required: string[];
    };
    for (const [input, { description: words }] of Object.entries(properties))
      expect(words, `${name}.${input}`).not.toBe("");
    for (const input of required) expect(properties).toHaveProperty(input);
  }
  expect(JSON.stringify(specs())).toBe(JSON.stringify(specs()));
});

it("in the agent loop failures become results that say what to do", async () => {
  const bench = makeBench({ allowed: ["bash"] });
  const results = await runTools(
    [
      { type: "tool_use", id: "1", name: "Read", input: { file_path: "missing.txt" } },
      { type: "tool_use", id: "2", name: "Read", input: { path: "a" } },
      { type: "tool_use", id: "3", name: "Write", input: { file_path: "a.txt", content: "x" } },
    ],
    openTools(bench),
    new AbortController().signal,
    { maxChars: 50_000 },
    () => {},
  );
  expect(results).toMatchObject([
    { id: "1", isError: true, content: "missing.txt does not exist" },
    { id: "2", isError: true, content: expect.stringContaining('"file_path" is missing') },
    { id: "3", content: "created a.txt (1 line)" },
  ]);
});

it("B10.8 a fork with a cloned file state does not know for the parent", async () => {
  const bench = makeBench();
  bench.put("a.txt", "one\n");
  const fork = openTools({ ...bench, files: bench.files.clone() });
  const call = { id: "", signal: new AbortController().signal };
  await fork.find(({ name }) => name === "Read")?.run({ file_path: "a.txt" }, call);
  expect(await bench.fail("Write", { file_path: "a.txt", content: "x" })).toContain("has not been read yet");
});
