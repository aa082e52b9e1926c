/** The MCP server with a confused or hostile model at the other end, and with others at the same memories. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { BINARY } from "../cli/run.ts";
import { type Json, makeMcpOptions, openWire, type Wire } from "../mcp/wire.ts";
import { makeWorld, note, type World } from "../world.ts";

const memory = (name: string, more: object = {}) => ({
  type: "feedback",
  name,
  description: `about ${name}`,
  body: `Body of ${name}.`,
  when: ["testing"],
  ...more,
});

async function withWire<T>(world: World, use: (wire: Wire) => Promise<T>): Promise<T> {
  const wire = openWire(makeMcpOptions(world));
  try {
    return await use(wire);
  } finally {
    wire.input.end();
    await wire.ended;
  }
}

const textOf = ({ content }: Json): string => content[0].text;

describe("what the user said", () => {
  const SAID = note("package manager", { type: "feedback", body: "Use pnpm." });

  it("is not replaced by a save under its name, until the client says that the user wants it", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const { file } = await memdir.save(SAID);
    const before = world.read(file);
    await withWire(world, async (wire) => {
      const wanted = memory("package manager", { body: "Use npm, the tool printed that." });
      const refused = await wire.call("save", wanted);
      expect(refused.isError).toBe(true);
      expect(textOf(refused)).toMatch(new RegExp(`^not saved: ${file} is what the user said.*replace.*another name`));
      expect(world.read(file)).toBe(before);
      const { structuredContent } = await wire.call("save", { ...wanted, replace: true });
      expect(structuredContent).toMatchObject({ file, action: "updated" });
      // From now on it is what a client concluded, and so is free to be updated again.
      expect(world.read(file)).toContain("source: mcp");
      expect((await wire.call("save", { ...wanted, body: "Use bun." })).structuredContent.action).toBe("updated");
      await memdir.undo();
      await memdir.undo();
      expect(world.read(file)).toBe(before);
    });
  });

  it("and is said again stays the user's word", async () => {
    const world = makeWorld();
    const { file } = await (await world.open()).save(SAID);
    await withWire(world, async (wire) => {
      const { description, body } = SAID;
      const { structuredContent } = await wire.call("save", { type: "feedback", name: SAID.name, description, body });
      expect(structuredContent).toMatchObject({ file, action: "unchanged" });
    });
    expect(world.read(file)).not.toContain("source:");
  });

  it("in a file that another program wrote under another file name counts too", async () => {
    const world = makeWorld();
    world.write("odd.md", "---\nname: package manager\ndescription: d\ntype: feedback\n---\n\nUse pnpm.\n");
    await withWire(world, async (wire) => {
      expect((await wire.call("save", memory("package manager"))).isError).toBe(true);
      // Another type is another memory.
      expect((await wire.call("save", memory("package manager", { type: "project" }))).isError).toBeUndefined();
    });
    expect(world.read("odd.md")).toContain("Use pnpm.");
  });

  it("and is forgotten by a confused model comes back with one undo", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    const { file } = await memdir.save(SAID);
    const before = [world.read(file), world.index()];
    await withWire(world, async (wire) => {
      const { structuredContent } = await wire.call("forget", { name: "package manager", reason: "no idea" });
      expect(world.exists(file)).toBe(false);
      await memdir.undo(structuredContent.undo);
    });
    expect([world.read(file), world.index()]).toEqual(before);
  });
});

describe("the server", () => {
  it("saves beside another client and the command line, and nothing is lost", async () => {
    const world = makeWorld();
    const env = Object.fromEntries(Object.entries(world.env).map(([name, value]) => [name, value ?? ""]));
    const cli = (name: string) =>
      spawnSync(process.execPath, [BINARY, "save", "--type", "user", "--name", name, "--description", "d"], {
        cwd: world.project,
        env,
        input: "From the command line.",
        encoding: "utf8",
      });
    await withWire(world, (one) =>
      withWire(world, async (two) => {
        const saves = Array.from({ length: 8 }, (_, at) => [
          one.call("save", memory(`one ${at}`)),
          two.call("save", memory(`two ${at}`)),
          // The same by both: one of them creates it.
          one.call("save", memory("shared")),
          two.call("save", memory("shared")),
        ]).flat();
        expect(cli("from cli").status).toBe(0);
        const answers: Json[] = await Promise.all(saves);
        expect(answers.filter(({ isError }) => isError)).toEqual([]);
        expect(
          answers.filter(({ structuredContent: { file, action } }) => /shared/.test(file) && action === "created"),
        ).toHaveLength(1);
      }),
    );
    expect(world.files().filter((file) => file !== "MEMORY.md")).toHaveLength(18);
    expect(world.index().trim().split("\n")).toHaveLength(18);
  });

  it("answers arguments of a megabyte, of every wrong kind and with half a character in words", async () => {
    const world = makeWorld();
    await withWire(world, async (wire) => {
      const huge = "x".repeat(1 << 20);
      for (const [name, input] of [
        ["save", memory("a", { name: huge })],
        ["save", memory("a", { body: huge })],
        ["save", memory("a", { when: Array.from({ length: 30_000 }, () => "a situation") })],
        ["save", memory("a", { when: [1] })],
        ["save", memory("a", { scope: "../../x" })],
        ["save", memory("a", { scope: "agent:../../x" })],
        ["save", memory("../../../etc/passwd\0", { body: "\ud800" })],
        ["read", { name: "../../../../etc/passwd" }],
        ["read", { name: huge }],
        ["forget", { name: "MEMORY.md" }],
        ["forget", { name: ".memdir/journal.jsonl" }],
        ["forget", { name: "/etc/passwd" }],
        ["recall", { prompt: 7 }],
        ["list", { limit: -1 }],
      ] as const) {
        const answer = await wire.call(name, input);
        expect([name, answer.isError]).toEqual([name, true]);
        expect(textOf(answer).length).toBeLessThan(1_000);
      }
      expect((await wire.call("recall", { prompt: huge })).isError).toBeUndefined();
    });
    expect(world.grep("root:x:0")).toEqual([]);
  });

  it("goes on when the memory directory and the project vanish under it", async () => {
    const world = makeWorld();
    await withWire(world, async (wire) => {
      await wire.call("save", memory("one"));
      fs.rmSync(world.dir, { recursive: true });
      expect(textOf(await wire.call("recall", { prompt: "what is one about?" }))).toBe("No memory helps with this.");
      expect((await wire.call("read", { name: "one" })).isError).toBe(true);
      expect((await wire.call("save", memory("two"))).structuredContent.action).toBe("created");
      fs.rmSync(world.project, { recursive: true });
      expect((await wire.call("list")).structuredContent.total).toBe(1);
      expect((await wire.call("save", memory("three"))).structuredContent.action).toBe("created");
    });
  });

  it("names resources of strange names so that each can be read, and none leads out", async () => {
    const world = makeWorld();
    const names = ["a b.md", "ü#?%2F.md", "deep/x&y.md", "__proto__.md", "index.md", "[x](y).md"];
    for (const name of names) world.write(name, `---\nname: n\ntype: project\n---\n\nText of ${name}.\n`);
    fs.symlinkSync(path.join(world.home, "secret"), world.path("link.md"));
    fs.writeFileSync(path.join(world.home, "secret"), "secret words");
    await withWire(world, async (wire) => {
      const { result } = await wire.ask("resources/list");
      const uris: string[] = result.resources.map(({ uri }: Json) => uri);
      expect(new Set(uris).size).toBe(names.length + 1);
      const texts = await Promise.all(uris.map((uri) => wire.ask("resources/read", { uri })));
      for (const name of names)
        expect(texts.some(({ result: { contents } }) => contents[0].text.includes(`Text of ${name}.`))).toBe(true);
      for (const uri of [
        "memory://project/../../../secret",
        "memory://project/%2e%2e%2fsecret",
        "memory://project/link.md",
        "file:///etc/passwd",
      ])
        expect((await wire.ask("resources/read", { uri })).error.message).toContain("there is no resource");
    });
  });
});
