/** Putting the wiring in and taking it out on real files: to the byte, after every interruption, against every odd file. */

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CLIENTS } from "../../src/wiring/clients.ts";
import { readReceipt } from "../../src/wiring/receipt.ts";
import { applyChanges, planWiring } from "../../src/wiring/wiring.ts";
import { HOOK, makeMachine, type TestMachine } from "./machine.ts";

const FILES = {
  ".claude/settings.json": '{\n  "model": "opus"\n}\n',
  ".claude.json": '{"a": 1}',
  ".codex/config.toml": 'model = "x"\n',
  ".gemini/settings.json": "{}\n",
  ".config/opencode/opencode.json": "{}",
  ".cursor/mcp.json": '{\r\n\t"mcpServers": {}\r\n}\r\n',
  ".config/Code/User/mcp.json": "",
};

const problemOf = (machine: TestMachine, ...agents: string[]) => machine.plan(...agents)[0]?.problem?.message;

describe("all at once", () => {
  test("in, again without any change, out to the byte; memories are not touched", async () => {
    const machine = makeMachine({ ...FILES, ".claude/projects/p/memory/user_a.md": "memory" });
    const before = machine.picture();
    await machine.init();
    const wired = machine.picture();
    expect(Object.keys(wired).length).toBeGreaterThan(Object.keys(before).length);
    expect(machine.plan().flatMap(({ changes }) => changes)).toEqual([]);
    await machine.init();
    expect(machine.picture()).toEqual(wired);
    const removals = await machine.uninstall();
    expect(new Set(removals.map(({ kind }) => kind))).toEqual(new Set(["restored", "removed"]));
    expect(machine.picture()).toEqual(before);
    expect((await machine.uninstall()).every(({ kind }) => kind === "unchanged")).toBe(true);
    expect(machine.picture()).toEqual(before);
  });

  test("the receipt and the backups are for the user alone", async () => {
    const machine = makeMachine(FILES);
    await machine.init();
    const mode = (file: string) => (fs.statSync(machine.at(file)).mode & 0o777).toString(8);
    expect(mode(".claude/memdir-receipt.json")).toBe("600");
    expect(mode(".claude/memdir-backups")).toBe("700");
    for (const name of fs.readdirSync(machine.at(".claude/memdir-backups"))) {
      expect(mode(`.claude/memdir-backups/${name}`)).toBe("600");
    }
  });

  test("one agent alone is taken back, the others stay wired", async () => {
    const machine = makeMachine(FILES);
    await machine.init();
    await machine.uninstall("codex", "cursor");
    expect(machine.read(".codex/config.toml")).toBe(FILES[".codex/config.toml"]);
    expect(machine.read(".codex/hooks.json")).toBe(undefined);
    expect(machine.read(".cursor/mcp.json")).toBe(FILES[".cursor/mcp.json"]);
    expect(machine.read(".claude/settings.json")).toContain("hook.cjs");
    expect(readReceipt(machine).entries.map(({ client }) => client)).not.toContain("codex");
  });

  test("an installation that moved changes its own entries, and the way back is still to the byte", async () => {
    const machine = makeMachine(FILES);
    const before = machine.picture();
    await machine.init();
    const moved = machine.moved("/elsewhere/built");
    await moved.init();
    expect(JSON.stringify(moved.json(".claude/settings.json")).match(/hook\.cjs/g)).toHaveLength(6);
    expect(moved.read(".claude/settings.json")).not.toContain("/opt/memdir");
    expect(moved.read(".config/opencode/plugin/memdir.js")).toContain('"/elsewhere/built/hook.cjs"');
    await moved.moved("/third").uninstall();
    expect(machine.picture()).toEqual(before);
  });
});

describe("files that changed since", () => {
  test("only ours goes: what the user wrote since stays, also in a file that we made", async () => {
    const machine = makeMachine({ ".claude/settings.json": '{\n  "a": 1\n}\n', ".codex/x": "" });
    await machine.init();
    const edit = (file: string, from: string, to: string) =>
      machine.put(file, (machine.read(file) as string).replace(from, to));
    edit(".claude/settings.json", '"a": 1', '"a": 2, "b": [] /* mine */');
    edit(".codex/hooks.json", "{\n", '{\n  "own": true,\n');
    edit(".codex/config.toml", "[mcp", 'model = "new"\n\n[mcp');
    fs.appendFileSync(machine.at(".codex/AGENTS.md"), "\nBe kind.\n");
    const removals = await machine.uninstall();
    expect(removals.filter(({ kind }) => kind === "edited").map(({ file }) => path.basename(file))).toEqual([
      "settings.json",
      "config.toml",
      "hooks.json",
      "AGENTS.md",
    ]);
    expect(machine.read(".claude/settings.json")).toBe('{\n  "a": 2, "b": [] /* mine */\n}\n');
    expect(machine.read(".codex/hooks.json")).toBe('{\n  "own": true\n}\n');
    expect(machine.read(".codex/config.toml")).toBe('model = "new"\n');
    expect(machine.read(".codex/AGENTS.md")).toBe("\nBe kind.\n");
    expect(machine.read(".claude/memdir-receipt.json")).toBe(undefined);
  });

  test("changed, then moved, then taken back", async () => {
    const machine = makeMachine({ ".claude/settings.json": '{\n  "a": 1\n}\n' });
    await machine.init();
    machine.put(".claude/settings.json", (machine.read(".claude/settings.json") as string).replace('"a": 1', '"a": 2'));
    const moved = machine.moved("/other");
    await moved.init();
    await moved.uninstall();
    expect(machine.read(".claude/settings.json")).toBe('{\n  "a": 2\n}\n');
  });

  test("a file that is gone meanwhile is no problem, one that is broken is named and kept for later", async () => {
    const machine = makeMachine({ ".claude/settings.json": "{}", ".gemini/settings.json": "{}", ".cursor/x": "" });
    await machine.init();
    fs.rmSync(machine.at(".cursor/mcp.json"));
    machine.put(".gemini/settings.json", "{ broken");
    const removals = await machine.uninstall();
    const broken = removals.filter(({ problem }) => problem);
    expect(broken.map(({ client, problem }) => `${client} ${problem?.code}`)).toEqual(["gemini broken"]);
    expect(machine.read(".claude/settings.json")).toBe("{}");
    expect(readReceipt(machine).entries).toHaveLength(1);
    machine.put(".gemini/settings.json", '{"hooks": {}}');
    await machine.uninstall();
    expect(machine.read(".claude/memdir-receipt.json")).toBe(undefined);
  });

  test("a file that memdir made and the user emptied is removed", async () => {
    const machine = makeMachine({ ".cursor/x": "" });
    await machine.init();
    machine.put(".cursor/mcp.json", "{}\n");
    expect(await machine.uninstall()).toContainEqual(expect.objectContaining({ client: "cursor", kind: "removed" }));
    expect(machine.picture()).toEqual({ ".cursor": "folder", ".cursor/x": "644 " });
  });

  test("without a receipt, or with one that nobody can read, ours is known by how it looks", async () => {
    const newer = (text: string) => text.replaceAll('"kind": "', '"kind": "newer-');
    for (const receipt of [null, "{", '{"version": 1, "folders": [], "entries": [{}]}', "[]", newer]) {
      const machine = makeMachine(FILES);
      await machine.init();
      if (receipt === null) fs.rmSync(machine.at(".claude/memdir-receipt.json"));
      else {
        const text =
          typeof receipt === "string" ? receipt : receipt(machine.read(".claude/memdir-receipt.json") as string);
        machine.put(".claude/memdir-receipt.json", text);
      }
      await machine.uninstall();
      expect(machine.read(".claude/settings.json")).toBe(FILES[".claude/settings.json"]);
      expect(machine.read(".codex/config.toml")).toBe(FILES[".codex/config.toml"]);
      expect(machine.read(".config/opencode/plugin/memdir.js")).toBe(undefined);
      expect(JSON.stringify(machine.picture())).not.toContain("/opt/memdir");
    }
  });

  test("a plugin that was changed by hand is neither overwritten nor thrown away", async () => {
    const machine = makeMachine({ ".config/opencode/opencode.json": "{}" });
    await machine.init();
    const file = ".config/opencode/plugin/memdir.js";
    machine.put(file, `${machine.read(file)}\n// mine`);
    expect(problemOf(machine, "opencode")).toMatch(/memdir\.js was changed by hand; look at it and remove it yourself/);
    const removals = await machine.uninstall();
    expect(removals.find((removal) => removal.file.endsWith("memdir.js"))?.problem?.code).toBe("broken");
    expect(machine.read(file)).toContain("// mine");
    machine.put(file, "export const Other = 1;");
    expect(problemOf(machine, "opencode")).toMatch(/memdir\.js is not memdir's; move it away/);
  });
});

describe("entries that the user wrote under memdir's name", () => {
  const MINE = '{"command":"mine", "env":{"A":"1"}}';
  const OWN = {
    ".cursor/mcp.json": `{"mcpServers":{"memdir":${MINE}}}`,
    ".claude.json": `{\n  "mcpServers": {\n    "memdir": ${MINE}\n  }\n}\n`,
    ".claude/settings.json":
      '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"node /home/me/memdir/dist/hook.cjs","timeout":3}]}]}}',
    ".codex/config.toml":
      '[mcp_servers.memdir] # mine\ncommand = "mine"\nargs = ["x"]\n\n[mcp_servers.memdir.env]\nA = "1"\n',
    ".gemini/settings.json": `{"mcpServers":{"memdir":${MINE}}}`,
    ".config/opencode/opencode.json": '{"mcp":{"memdir":{"type":"local","command":["mine"]}}}',
    ".config/Code/User/mcp.json": '{"servers":{"memdir":{"url":"http://localhost:1/"}}}',
  };

  test("come back to the byte", async () => {
    const machine = makeMachine(OWN);
    const before = machine.picture();
    await machine.init();
    expect(machine.read(".cursor/mcp.json")).toContain("/opt/memdir");
    await machine.uninstall();
    expect(machine.picture()).toEqual(before);
  });

  test("come back in a file that was changed since, also after a move", async () => {
    for (const dist of ["/opt/memdir/dist", "/elsewhere/built"]) {
      const machine = makeMachine(OWN);
      await machine.init();
      const put = (file: string, change: (text: string) => string) =>
        machine.put(file, change(machine.read(file) as string));
      const files = Object.keys(OWN).filter((file) => !file.endsWith(".toml"));
      for (const file of files) put(file, (text) => text.replace("{", '{"new":1,'));
      put(".codex/config.toml", (text) => `model = "new"\n${text}`);
      const moved = machine.moved(dist);
      await moved.init();
      await moved.uninstall();
      for (const [file, text] of Object.entries(OWN)) {
        const expected = file.endsWith(".toml") ? `model = "new"\n${text}` : text.replace("{", '{"new":1,');
        expect([file, machine.read(file)]).toEqual([file, expected]);
      }
    }
  });

  test("stay where nothing was wired, or where the user wrote them after it was", async () => {
    const machine = makeMachine({ ...OWN, ".config/opencode/plugin/memdir.js": "export const Other = 1;" });
    const before = machine.picture();
    expect(problemOf(machine, "opencode")).toMatch(/not memdir's/);
    expect((await machine.uninstall()).every(({ kind }) => kind === "unchanged")).toBe(true);
    expect(machine.picture()).toEqual(before);

    const later = makeMachine(FILES);
    await later.init();
    later.put(".cursor/mcp.json", OWN[".cursor/mcp.json"]);
    later.put(".codex/config.toml", OWN[".codex/config.toml"]);
    await later.uninstall();
    expect(later.read(".cursor/mcp.json")).toBe(OWN[".cursor/mcp.json"]);
    expect(later.read(".codex/config.toml")).toBe(OWN[".codex/config.toml"]);
  });

  test("one event's hook in memdir's own words is the user's as well", async () => {
    const hook = JSON.stringify({ type: "command", command: HOOK });
    const machine = makeMachine({ ".claude/settings.json": `{"hooks":{"Stop":[{"hooks":[${hook}]}]}}` });
    const before = machine.picture();
    await machine.uninstall();
    expect(machine.picture()).toEqual(before);
    await machine.init();
    await machine.uninstall();
    expect(machine.picture()).toEqual(before);
  });
});

describe("interrupted", () => {
  /** Stops like a kill would: at the n-th step nothing more happens. */
  async function initStoppedAt(machine: TestMachine, step: number): Promise<boolean> {
    let count = 0;
    const world = {
      ...machine,
      log: () => {
        if (++count === step) throw new Error("killed");
      },
    };
    try {
      for (const { changes } of planWiring(world, CLIENTS, machine.wish)) await applyChanges(world, changes);
      return false;
    } catch {
      return true;
    }
  }

  test("after every step: taking it back leaves every byte as it was, going on ends where it would have", async () => {
    const whole = makeMachine(FILES);
    await whole.init(...CLIENTS.map(({ name }) => name));
    const done = JSON.stringify(whole.picture()).replaceAll(whole.home, "~");
    let stops = 0;
    for (let step = 1; ; step++) {
      const machine = makeMachine(FILES);
      const before = machine.picture();
      if (!(await initStoppedAt(machine, step))) break;
      stops += 1;
      await machine.uninstall();
      expect(machine.picture()).toEqual(before);
      await initStoppedAt(machine, step);
      await machine.init(...CLIENTS.map(({ name }) => name));
      const { ".claude/memdir-receipt.json": _, ...files } = machine.picture();
      const { ".claude/memdir-receipt.json": __, ...wanted } = JSON.parse(done);
      expect(withoutBackups(files)).toEqual(withoutBackups(wanted));
      await machine.uninstall();
      expect(machine.picture()).toEqual(before);
    }
    expect(stops).toBeGreaterThan(15);
  });

  test("in the middle of a move, too", async () => {
    for (let step = 1; step < 20; step++) {
      const machine = makeMachine(FILES);
      const before = machine.picture();
      await machine.init(...CLIENTS.map(({ name }) => name));
      const isStopped = await initStoppedAt(machine.moved("/moved/to"), step);
      await machine.moved("/moved/again").uninstall();
      expect(machine.picture()).toEqual(before);
      if (!isStopped) return;
    }
  });

  test("files that a killed run was writing are swept", async () => {
    const machine = makeMachine({ ".cursor/mcp.json": "{}", ".cursor/.memdir-999999999-abc-0": "half" });
    await machine.init();
    expect(fs.readdirSync(machine.at(".cursor"))).toEqual(["mcp.json"]);
  });

  const withoutBackups = (files: Record<string, string>) =>
    Object.fromEntries(Object.entries(files).filter(([file]) => !file.startsWith(".claude/memdir-backups/")));
});

describe("others at work", () => {
  test("a file that changed since the plan is refused, and nothing of the client is changed", async () => {
    const machine = makeMachine({ ".claude/settings.json": "{}", ".claude.json": "{}" });
    const [plan] = machine.plan();
    machine.put(".claude.json", '{"new": 1}');
    const before = machine.picture();
    await expect(applyChanges(machine, plan?.changes ?? [])).rejects.toThrow(/\.claude\.json was changed by another/);
    expect(machine.picture()).toEqual(before);
  });

  test("several at once: no doubling, nothing lost, the way back is whole", async () => {
    const machine = makeMachine(FILES);
    const before = machine.picture();
    const runs = await Promise.allSettled([1, 2, 3, 4].map(() => machine.init()));
    expect(runs.some(({ status }) => status === "fulfilled")).toBe(true);
    for (const run of runs) if (run.status === "rejected") expect(run.reason.code).toBe("conflict");
    await machine.init();
    expect(JSON.stringify(machine.json(".claude/settings.json")).match(/hook\.cjs/g)).toHaveLength(6);
    await Promise.all([machine.uninstall(), machine.uninstall()]);
    expect(machine.picture()).toEqual(before);
  });
});

describe("odd files", () => {
  test("a link stays a link, the file it leads to is changed, mode and all", async () => {
    const machine = makeMachine({ "dotfiles/settings.json": '{"a": 1}' });
    fs.chmodSync(machine.at("dotfiles/settings.json"), 0o640);
    fs.mkdirSync(machine.at(".claude"));
    fs.symlinkSync("../dotfiles/settings.json", machine.at(".claude/settings.json"));
    const before = machine.picture();
    expect(machine.plan()[0]?.changes[0]).toMatchObject({ isLink: true, target: machine.at("dotfiles/settings.json") });
    await machine.init();
    expect(fs.lstatSync(machine.at(".claude/settings.json")).isSymbolicLink()).toBe(true);
    expect(machine.read("dotfiles/settings.json")).toContain("hook.cjs");
    expect(fs.statSync(machine.at("dotfiles/settings.json")).mode & 0o777).toBe(0o640);
    await machine.uninstall();
    expect(machine.picture()).toEqual(before);
  });

  test("what cannot be changed is refused with a reason, and the other agents are wired", async () => {
    const machine = makeMachine({ ".codex/x": "", ".gemini/x": "", ".cursor/x": "", ".config/Code/x": "" });
    const claude = machine.at(".claude/settings.json");
    fs.mkdirSync(claude, { recursive: true });
    fs.symlinkSync("nowhere", machine.at(".codex/hooks.json"));
    machine.put(".gemini/settings.json", "{}");
    fs.chmodSync(machine.at(".gemini/settings.json"), 0o444);
    machine.put(".config/Code/User/mcp.json", Buffer.from("\ufeff{}", "utf16le"));
    const before = machine.picture();
    const problems = machine.plan().map(({ client, problem }) => `${client.name}: ${problem?.message ?? "fine"}`);
    expect(problems).toEqual([
      `claude-code: ${claude} is a directory, not a file; move it away`,
      expect.stringMatching(/^codex: .*hooks\.json is a link to .*nowhere, which is not there; fix the link$/),
      expect.stringMatching(/^gemini: .*settings\.json is write-protected/),
      "cursor: fine",
      expect.stringMatching(/^vscode: .*mcp\.json is not UTF-8 text; save it as UTF-8$/),
    ]);
    for (const { changes } of machine.plan()) await applyChanges(machine, changes);
    expect(machine.read(".cursor/mcp.json")).toContain("memdir");
    await machine.uninstall();
    expect(machine.picture()).toEqual(before);
  });

  test.skipIf(process.platform === "win32")("a fifo holds nobody up", () => {
    const machine = makeMachine({ ".cursor/x": "" });
    execFileSync("mkfifo", [machine.at(".cursor/mcp.json")]);
    expect(problemOf(machine)).toMatch(/mcp\.json is not a regular file/);
  });

  test("a circle of links, and a file in the place of a folder", () => {
    const machine = makeMachine({ ".cursor/x": "", ".codex": "a file" });
    fs.symlinkSync("mcp.json", machine.at(".cursor/mcp.json"));
    expect(problemOf(machine, "cursor")).toMatch(/mcp\.json/);
    expect(problemOf(machine, "codex")).toMatch(/config\.toml/);
  });

  test("a file that is too large is not read", () => {
    const machine = makeMachine({ ".cursor/mcp.json": "" });
    fs.truncateSync(machine.at(".cursor/mcp.json"), 40 << 20);
    expect(problemOf(machine)).toMatch(/too large for a settings file/);
  });

  test("a large one is, byte order mark, CRLF and lone surrogates in escapes included", async () => {
    const big = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`key${index}`, { value: "x".repeat(60) }]),
    );
    const text = `\ufeff${JSON.stringify({ odd: "\ud800", ...big }, null, 2)}\n`.replaceAll("\n", "\r\n");
    const machine = makeMachine({ ".cursor/mcp.json": text });
    await machine.init();
    expect(machine.read(".cursor/mcp.json")?.startsWith('\ufeff{\r\n  "odd": "\\ud800"')).toBe(true);
    expect(JSON.parse((machine.read(".cursor/mcp.json") as string).slice(1)).mcpServers).toBeDefined();
    await machine.uninstall();
    expect(machine.read(".cursor/mcp.json")).toBe(text);
  });
});

test("any settings: in and out is to the byte, with and without a change in between", async () => {
  const settings = fc.record(
    {
      a: fc.jsonValue(),
      hooks: fc.record({ Stop: fc.array(fc.object({ maxDepth: 1 })) }, { requiredKeys: [] }),
      mcpServers: fc.dictionary(fc.constantFrom("x", "y"), fc.object({ maxDepth: 1 })),
    },
    { requiredKeys: [] },
  );
  const layout = fc.constantFrom<string | number>(0, 2, "\t");
  await fc.assert(
    fc.asyncProperty(settings, settings, layout, fc.boolean(), async (first, second, indent, isChanged) => {
      const machine = makeMachine({
        ".claude/settings.json": JSON.stringify(first, null, indent),
        ".gemini/settings.json": `${JSON.stringify(second, null, indent)}\n`,
      });
      const before = machine.picture();
      await machine.init();
      expect(machine.read(".claude/settings.json")).toContain(JSON.stringify(HOOK));
      if (isChanged) {
        // As good as another program that adds a blank line.
        fs.appendFileSync(machine.at(".gemini/settings.json"), "\n");
        await machine.uninstall();
        expect(machine.read(".gemini/settings.json")).toBe(`${JSON.stringify(second, null, indent)}\n\n`);
      } else {
        await machine.uninstall();
        expect(machine.picture()).toEqual(before);
      }
    }),
    { numRuns: 40 },
  );
});
