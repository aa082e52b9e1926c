/** Runs the built binary as a person would: its own home, a clean environment, a real repository. */

import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { makeTemporary } from "../temporary.ts";
import { initRepository } from "../world.ts";

export const BINARY = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface RunOptions {
  input?: string;
  env?: Record<string, string>;
  cwd?: string;
}

export interface Sandbox {
  /** Everything lies below: home, projects, editors. Removed after the file's tests. */
  top: string;
  home: string;
  /** The project that calls run in. */
  cwd: string;
  env: Record<string, string>;
  at(...parts: string[]): string;
  put(file: string, content: string | object): string;
  git(cwd: string, ...args: string[]): string;
  repository(relative: string): string;
  run(args: string[], options?: RunOptions): Promise<Ran>;
  /** The answer of a call with `--json`; it must end with 0 and say nothing else on standard output. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what tests look at
  json(args: string[], options?: RunOptions): Promise<any>;
  save(name: string, extra?: string[], body?: string): Promise<Ran>;
  /** The memory directory of a project. */
  dir(cwd?: string): string;
  /** Every path below `top` except the given folders, sorted. */
  tree(...except: string[]): string[];
}

export function openSandbox(base: "disk" | "memory" = "memory"): Sandbox {
  const top = makeTemporary("cli", base);
  const at = (...parts: string[]) => path.join(top, ...parts);
  for (const folder of ["home", "tmp"]) fs.mkdirSync(at(folder));
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    MEMDIR_MEANING: "0",
    HOME: at("home"),
    USERPROFILE: at("home"),
    TMPDIR: at("tmp"),
    TZ: "UTC",
    LANG: "C.UTF-8",
    MEMDIR_MANAGED_DIR: at("managed"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const git = (cwd: string, ...args: string[]) => {
    const who = [
      "user.name=test",
      "user.email=test@example.invalid",
      "init.defaultBranch=main",
      "commit.gpgsign=false",
    ];
    const all = [...who.flatMap((item) => ["-c", item]), ...args];
    return execFileSync("git", all, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], env }).trim();
  };
  const repository = (relative: string) => {
    fs.mkdirSync(at(relative), { recursive: true });
    initRepository(at(relative));
    // The path is in the message: two repositories of one second must not have the same first commit.
    git(at(relative), "commit", "-q", "--allow-empty", "-m", at(relative));
    return at(relative);
  };
  const cwd = repository("project");
  const run = (args: string[], options: RunOptions = {}) =>
    start(process.execPath, [BINARY, ...args], options.input ?? "", options.cwd ?? cwd, { ...env, ...options.env });
  return {
    top,
    home: at("home"),
    cwd,
    env,
    at,
    put(file, content) {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), typeof content === "string" ? content : JSON.stringify(content));
      return at(file);
    },
    git,
    repository,
    run,
    async json(args, options) {
      const ran = await run([...args, "--json"], options);
      expect({ ...ran, out: "" }).toEqual({ code: 0, out: "", err: "" });
      return JSON.parse(ran.out);
    },
    save: (name, extra = [], body = `About ${name}.`) =>
      run(["save", "--type", "user", `--name=${name}`, "--description", `Says ${name}`.slice(0, 80), ...extra], {
        input: body,
      }),
    dir: (project = cwd) =>
      path.join(at("home"), ".claude", "projects", project.replace(/[^a-zA-Z0-9]/g, "-"), "memory"),
    tree: (...except) =>
      (fs.readdirSync(top, { recursive: true }) as string[])
        .filter((name) => !except.some((folder) => at(name).startsWith(folder)))
        .sort(),
  };
}

/** Never rejects: the exit code is part of the answer. */
export function start(program: string, args: string[], input: string, cwd: string, env: Record<string, string>) {
  return new Promise<Ran>((resolve) => {
    const child = execFile(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, out, err) => {
      resolve({ code: error ? (typeof error.code === "number" ? error.code : -1) : 0, out, err });
    });
    // A program that does not read its input may be gone before it is written.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

/** One line on standard error that starts with `memdir: `, nothing on standard output, no stack trace. */
export function expectError(ran: Ran, code: number, message: RegExp): void {
  expect(ran.err).toMatch(message);
  expect(ran.err).toMatch(/^memdir: [^\n]+\n$/);
  expect(ran.err).not.toMatch(/\n\s+at /);
  expect(ran.out).toBe("");
  expect(ran.code).toBe(code);
}
