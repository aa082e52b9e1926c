/** The wiring on machines that nobody thought of: odd paths, older and newer versions, other parts of memdir in the same files. */

import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { exportMemories } from "../../src/exchange/export.ts";
import { hookCommand } from "../../src/wiring/clients.ts";
import { findPassing } from "../../src/wiring/machine.ts";
import { makeTemporary } from "../temporary.ts";
import { makeMachine } from "../wiring/machine.ts";
import { makeWorld, note } from "../world.ts";

const isPosix = process.platform !== "win32";
const ODD = [
  "with space",
  "it's",
  'a"quote',
  "$HOME and $(touch x)",
  "`touch y`",
  "100%PATH%",
  "ünï 日本",
  "a\nbreak",
  "back\\slash",
  "semi;colon & more|!",
  "-dash",
  "~tilde",
  "*",
];

describe.runIf(isPosix)("an odd path of Node and of the installation", () => {
  it.each(ODD)("%j is started by a real shell as it is, by every agent's entry", async (name) => {
    const top = makeTemporary("odd", "memory");
    const dist = path.join(top, name, "memdir", "dist");
    const node = path.join(top, name, "node");
    fs.mkdirSync(dist, { recursive: true });
    fs.symlinkSync(process.execPath, node);
    fs.writeFileSync(path.join(dist, "hook.cjs"), "process.stdout.write(JSON.stringify(process.argv.slice(1)));");
    const machine = makeMachine({}, { node, dist, home: path.join(top, name, "home") });
    const hook = path.join(dist, "hook.cjs");
    for (const shell of ["sh", "bash"]) {
      const { stdout, error } = spawnSync(shell, ["-c", hookCommand(machine)], { cwd: top, encoding: "utf8" });
      if ((error as NodeJS.ErrnoException | undefined)?.code !== "ENOENT") expect(JSON.parse(stdout)).toEqual([hook]);
    }
    expect(fs.readdirSync(top)).toEqual([name]);
    await machine.init("claude-code", "codex", "gemini", "opencode");
    const command = hookCommand(machine);
    expect(machine.json(".claude/settings.json")).toMatchObject({ hooks: { Stop: [{ hooks: [{ command }] }] } });
    const server = { command: node, args: [path.join(dist, "cli.js"), "mcp"] };
    expect(machine.json(".claude.json")).toMatchObject({ mcpServers: { memdir: server } });
    const toml = parseToml(machine.read(".codex/config.toml") ?? "");
    expect(toml).toMatchObject({ mcp_servers: { memdir: server } });
    const picture = machine.picture();
    await machine.init("claude-code", "codex", "gemini", "opencode");
    expect(machine.picture()).toEqual(picture);
    await machine.uninstall();
    expect(machine.picture()).toEqual({});
  });
});

describe("a receipt of a later version", () => {
  it("is neither overwritten nor cleared away, and what it stands for stays", async () => {
    const machine = makeMachine({ ".claude/settings.json": '{"model":"x"}\n' });
    await machine.init("claude-code");
    const receipt = ".claude/memdir-receipt.json";
    machine.put(receipt, (machine.read(receipt) ?? "").replace('"version": 1', '"version": 2'));
    const picture = machine.picture();
    await expect(machine.uninstall()).rejects.toThrow(/written by a later version of memdir; use that one/);
    await expect(machine.moved("/elsewhere/memdir/dist").init("claude-code")).rejects.toThrow(/later version/);
    await expect(machine.init("codex")).rejects.toThrow(/later version/);
    expect(machine.picture()).toEqual(picture);
  });
});

describe("one file for two parts of memdir", () => {
  it("Codex's AGENTS.md takes a pointer and an export, in either order, and each is taken out alone", async () => {
    const world = makeWorld();
    const memdir = await world.open();
    await memdir.save(note("use pnpm", { type: "feedback", body: "Use pnpm." }));
    for (const first of ["init", "export"]) {
      const machine = makeMachine({ ".codex/AGENTS.md": "Be brief.\n" });
      const output = machine.at(".codex/AGENTS.md");
      const steps = {
        init: () => machine.init("codex"),
        export: () => exportMemories(memdir, { format: "agents-md", output }),
      };
      const order = first === "init" ? (["init", "export"] as const) : (["export", "init"] as const);
      for (const step of [...order, ...order]) await steps[step]();
      const text = machine.read(".codex/AGENTS.md") ?? "";
      expect(text.match(/use pnpm/g)).toHaveLength(1);
      expect(text.match(/memdir-init:begin/g)).toHaveLength(1);
      await machine.uninstall("codex");
      const left = machine.read(".codex/AGENTS.md") ?? "";
      expect(left).toMatch(/^Be brief\.\n/);
      expect(left).toContain("use pnpm");
      expect(left).not.toContain("memdir-init");
    }
  });
});

describe("an installation that goes away", () => {
  it("is known by the folders of the programs that run something once", () => {
    for (const folder of [
      "/home/u/.npm/_npx/0a1b/node_modules/memdir/dist",
      "C:\\Users\\u\\AppData\\Local\\npm-cache\\_npx\\0a1b\\node_modules\\memdir\\dist",
      "/home/u/.cache/pnpm/dlx/0a1b/18c/node_modules/memdir/dist",
      "/home/u/.cache/pnpm/dlx-1234/node_modules/memdir/dist",
      "/tmp/xfs-0a1b/dlx-77/node_modules/memdir/dist",
      "/tmp/bunx-1000-memdir@latest/node_modules/memdir/dist",
    ])
      expect(findPassing(folder)).toContain("npm install -g memdir");
    for (const folder of ["/usr/lib/node_modules/memdir/dist", "/home/u/src/memdir/dist", "/home/u/npx/memdir/dist"])
      expect(findPassing(folder)).toBeNull();
  });
});
