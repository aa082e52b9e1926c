/** A machine of its own: a fresh home with the files that a test puts there, and an installation that need not exist. */

import fs from "node:fs";
import path from "node:path";
import { chooseClients } from "../../src/wiring/clients.ts";
import type { HookWish } from "../../src/wiring/hook-form.ts";
import type { Machine } from "../../src/wiring/machine.ts";
import { applyChanges, type Plan, planWiring, type Removal, unwire } from "../../src/wiring/wiring.ts";
import { makeTemporary } from "../temporary.ts";

export interface TestMachine extends Machine {
  logged: string[];
  at(file: string): string;
  /** Undefined when there is none. */
  read(file: string): string | undefined;
  json(file: string): unknown;
  put(file: string, content: string | Uint8Array): void;
  /** Every file and folder below the home, with content, to be compared. */
  picture(): Record<string, string>;
  /** How hooks are wired; as commands unless a test says so. */
  wish: HookWish;
  plan(...agents: string[]): Plan[];
  /** Throws the first problem. */
  init(...agents: string[]): Promise<void>;
  uninstall(...agents: string[]): Promise<Removal[]>;
  moved(dist: string): TestMachine;
}

export const COMMANDS: HookWish = { hooks: "command", hasRules: false, prefetches: false };
export const HOOK = '"/usr/bin/node" "/opt/memdir/dist/hook.cjs"';
export const SERVER = { command: "/usr/bin/node", args: ["/opt/memdir/dist/cli.js", "mcp"] };

export function makeMachine(files: Record<string, string> = {}, more: Partial<Machine> = {}): TestMachine {
  const home = more.home ?? path.join(makeTemporary("wiring", "memory"), "home");
  fs.mkdirSync(home, { recursive: true });
  const logged: string[] = [];
  const at = (file: string) => path.join(home, file);
  const machine: TestMachine = {
    home,
    env: { HOME: home, PATH: "" },
    cwd: home,
    platform: "linux",
    node: "/usr/bin/node",
    dist: "/opt/memdir/dist",
    now: () => new Date("2026-03-10T12:00:00.000Z"),
    log: (message) => logged.push(message),
    ...more,
    logged,
    at,
    read: (file) => (fs.existsSync(at(file)) ? fs.readFileSync(at(file), "utf8") : undefined),
    json: (file) => JSON.parse(fs.readFileSync(at(file), "utf8")),
    put(file, content) {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), content);
    },
    picture: () => picture(home),
    wish: COMMANDS,
    plan: (...agents) => planWiring(machine, chooseClients(machine, agents), machine.wish),
    async init(...agents) {
      for (const plan of machine.plan(...agents)) {
        if (plan.problem) throw plan.problem;
        await applyChanges(machine, plan.changes);
      }
    },
    uninstall: (...agents) => unwire(machine, { clients: agents.length > 0 ? agents : null }),
    moved(dist) {
      const { env, cwd, platform, node, now, log } = machine;
      return makeMachine({}, { env, cwd, platform, node, now, log, dist, home });
    },
  };
  for (const [file, content] of Object.entries(files)) machine.put(file, content);
  return machine;
}

function picture(root: string): Record<string, string> {
  const entries = fs.readdirSync(root, { recursive: true, withFileTypes: true }) as fs.Dirent[];
  const lines = entries.map((entry): [string, string] => {
    const file = path.join(entry.parentPath, entry.name);
    const stat = fs.lstatSync(file);
    const mode = (stat.mode & 0o777).toString(8);
    if (stat.isSymbolicLink()) return [path.relative(root, file), `-> ${fs.readlinkSync(file)}`];
    if (stat.isDirectory()) return [path.relative(root, file), "folder"];
    return [path.relative(root, file), `${mode} ${fs.readFileSync(file, "latin1")}`];
  });
  return Object.fromEntries(lines.sort(([a], [b]) => (a < b ? -1 : 1)));
}
