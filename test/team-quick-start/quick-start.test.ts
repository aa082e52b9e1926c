/** The quick start of docs/team.md, command by command: a real server, two people with a home and a checkout each. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeTemporary } from "../temporary.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const document = fs.readFileSync(path.join(root, "docs", "team.md"), "utf8");

interface Block {
  who: string;
  commands: string[];
}

const section = /## Quick start[\s\S]*?(?=\n## )/.exec(document)?.[0] ?? "";
const blocks: Block[] = [...section.matchAll(/^```sh (\w+)\n([\s\S]*?)^```$/gm)].map((match) => ({
  who: match[1] ?? "",
  commands: (match[2] ?? "").trim().split("\n"),
}));

const top = makeTemporary("quick-start");
let port = 0;
let server: ChildProcess | null = null;

beforeAll(async () => {
  port = await findPort();
  fs.mkdirSync(path.join(top, "bin"));
  const shim = `#!/bin/sh\nexec "${process.execPath}" "${path.join(root, "dist", "cli.js")}" "$@"\n`;
  fs.writeFileSync(path.join(top, "bin", "memdir"), shim, { mode: 0o755 });
  for (const who of ["server", "ann", "bob"]) {
    fs.mkdirSync(path.join(top, who === "server" ? "" : who), { recursive: true });
    fs.mkdirSync(path.join(top, "homes", who), { recursive: true });
    if (who !== "server") spawnSync("git", ["init", "-q", path.join(top, who)]);
  }
});

afterAll(async () => {
  if (server?.exitCode !== null) return;
  const ended = new Promise((resolve) => server?.once("exit", resolve));
  server.kill("SIGTERM");
  await ended;
});

/** What a person sees after each block, in the order of the document. */
const EXPECTED: ((said: string[], codes: (number | null)[]) => void)[] = [
  () => {},
  (said, codes) => {
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(said[0]).toContain("joined http://127.0.0.1:");
    expect(said[3]).toContain("1 pushed");
  },
  (said, codes) => {
    expect(codes).toEqual([0, 0]);
    expect(fs.statSync(path.join(top, "bob-token")).mode & 0o777).toBe(0o600);
    expect(said.join()).not.toContain(fs.readFileSync(path.join(top, "bob-token"), "utf8").trim());
  },
  (said, codes) => {
    expect(codes).toEqual([0, 0]);
    expect(said[0]).toContain("1 pulled");
    expect(said[1]).toContain("on Tuesdays");
  },
  (said, codes) => {
    expect(codes).toEqual([0, 0]);
    expect(said[1]).toContain("1 pushed");
  },
  (said, codes) => {
    expect(codes).toEqual([0, 1, 0, 0]);
    expect(said[1]).toMatch(
      /conflict \S+\.md: both sides changed it; theirs is kept there, yours is in \S+-conflict-[0-9a-f]{8}\.md/,
    );
    expect(said[2]).toContain("conflict");
    expect(said[3]).toMatch(/release day \(conflict/);
  },
  (said, codes) => {
    expect(codes).toEqual([0, 0]);
    expect(said[1]).toContain("1 removed there");
  },
  (said, codes) => {
    expect(codes).toEqual([0, 0]);
    expect(said[1]).toContain("on Wednesdays");
  },
];

describe("the quick start of docs/team.md", () => {
  it("has the blocks that are looked at here", () => {
    expect(blocks.map(({ who }) => who)).toEqual(["server", "ann", "ann", "bob", "ann", "bob", "bob", "ann"]);
    expect(EXPECTED).toHaveLength(blocks.length);
  });

  it("does what it says", async () => {
    for (const [at, { who, commands }] of blocks.entries()) {
      if (who === "server") {
        await startServer(commands[0] ?? "");
        continue;
      }
      const done = commands.map((command) => runIn(who, command));
      EXPECTED[at]?.(
        done.map(({ stdout, stderr }) => stdout + stderr),
        done.map(({ status }) => status),
      );
    }
    const mirrors = ["ann", "bob"].map((who) => readMirror(who));
    expect(mirrors[0]).toEqual(mirrors[1]);
    expect(Object.keys(mirrors[0] ?? {})).toHaveLength(1);
    // Nothing private went, and nothing was logged: what is private is still there and nowhere else.
    expect(JSON.stringify(mirrors)).not.toContain("Thursdays");
  });
});

function environmentOf(who: string): NodeJS.ProcessEnv {
  return {
    PATH: `${path.join(top, "bin")}:${process.env.PATH}`,
    HOME: path.join(top, "homes", who),
    NO_COLOR: "1",
    MEMDIR_MEANING: "0",
    NODE_EXTRA_CA_CERTS: "",
  };
}

function runIn(who: string, command: string) {
  const line = withCopy(who, command).replaceAll("7373", String(port));
  return spawnSync("sh", ["-c", line], {
    cwd: path.join(top, who),
    env: environmentOf(who),
    encoding: "utf8",
    input: "",
  });
}

/** A person reads the copy's name in the list; the document cannot know its hash. */
function withCopy(who: string, command: string): string {
  if (!command.includes("(conflict *)")) return command;
  const copy = Object.keys(readMirror(who)).find((name) => name.includes("-conflict-")) ?? "none";
  return command.replace(/"[^"]*\(conflict \*\)"/, `"${copy}"`);
}

function readMirror(who: string): Record<string, string> {
  const projects = path.join(top, "homes", who, ".claude", "projects");
  const [slug = ""] = fs.readdirSync(projects);
  const mirror = path.join(projects, slug, "memory", "team");
  const names = fs.readdirSync(mirror).filter((name) => name.endsWith(".md") && name !== "MEMORY.md");
  return Object.fromEntries(names.map((name) => [name, fs.readFileSync(path.join(mirror, name), "utf8")]));
}

async function startServer(command: string): Promise<void> {
  const line = `exec ${command.replaceAll("7373", String(port))}`;
  const child = spawn("sh", ["-c", line], {
    cwd: top,
    env: environmentOf("server"),
    stdio: ["ignore", "pipe", "pipe"],
  });
  server = child;
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("memdir serve: http")) resolve();
    };
    child.stdout?.on("data", hear);
    child.stderr?.on("data", hear);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  expect(fs.statSync(path.join(top, "memory-server", "admin-token")).mode & 0o777).toBe(0o600);
}

function findPort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address() as { port: number };
      probe.close(() => resolve(free));
    });
  });
}
