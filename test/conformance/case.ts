/** Builds a recorded case on disk and reads back what it expects; the format is told in test/fixtures/README.md. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { slugOf } from "../../src/project/locate.ts";
import { initRepository } from "../world.ts";

type FileSpec = string | (Part & { parts?: Part[]; base64?: string; json?: unknown; ageHours?: number; mode?: string });
interface Part {
  text?: string;
  raw?: boolean;
  repeat?: string;
  times?: number;
}

export interface Block {
  path: string;
  label?: string | null;
  content: string | Packed;
}
/** A long text is recorded by its length and hash. */
interface Packed {
  length: number;
  sha256: string;
}

export interface Recorded {
  case: {
    name: string;
    files?: Record<string, FileSpec>;
    filesAfterGit?: Record<string, FileSpec>;
    dirs?: string[];
    symlinks?: Record<string, string>;
    git?: boolean | "init";
    gitInit?: string[];
    worktree?: boolean;
    settings?: Record<"user" | "project" | "local" | "managed", unknown>;
    claudeJson?: unknown;
    env?: Record<string, string>;
    args?: string[];
    cwd?: string;
    layout?: Record<string, string>;
    steps?: { touch?: string }[];
    checkNested?: boolean;
    nonRoot?: boolean;
  };
  expect: {
    startup: Block[];
    startupUnordered: number[][];
    nested: Block[][];
    nestedUnordered: number[][];
    memory: {
      dir: string | null;
      indexLoaded: boolean;
      indexContentLoaded: string | Packed | null;
      warning: { lines: number | null; size: string | null } | null;
    };
    recallAge: { path: string; days: number | null }[];
  };
}

export interface Built {
  cwd: string;
  env: Record<string, string>;
  args: string[];
  touched: string[];
  /** `$REPO/x` -> the real path. */
  expand(text: string): string;
  remove(): void;
}

const TOKENS = /\$(ROOT|REPO|HOME|PARENT|MANAGED|ADD|WORKTREE|MEM)\b/g;
const PLACES = {
  parent: "parent",
  repo: "parent/repo",
  home: "home",
  add: "add",
  managed: "managed",
  worktree: "worktree",
};
const SETTINGS = {
  user: "$HOME/.claude/settings.json",
  project: "$REPO/.claude/settings.json",
  local: "$REPO/.claude/settings.local.json",
  managed: "$MANAGED/managed-settings.json",
};

export function buildCase(recorded: Recorded["case"], now: number): Built {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-case-")));
  const dirs: Record<string, string> = { ROOT: root };
  for (const [place, folder] of Object.entries({ ...PLACES, ...recorded.layout }))
    dirs[place.toUpperCase()] = path.join(root, folder);
  dirs.MEM = path.join(dirs.HOME as string, ".claude/projects", slugOf(dirs.REPO as string), "memory");
  const fill = (text: string) => text.replace(TOKENS, (token, name: string) => dirs[name] ?? token);
  const expand = (text: string) => fill(text.replace(/\$SLUG\[([^\]]*)\]/g, (_, inner: string) => slugOf(fill(inner))));
  const deep = (value: unknown): unknown => {
    if (typeof value === "string") return expand(value);
    if (Array.isArray(value)) return value.map(deep);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [expand(key), deep(each)]));
  };
  const written: [string, FileSpec][] = [];
  const put = (name: string, spec: FileSpec) => {
    const file = expand(name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, contentOf(spec, expand, deep));
    written.push([file, spec]);
  };

  for (const place of ["REPO", "HOME", "ADD", "MANAGED"]) fs.mkdirSync(dirs[place] as string, { recursive: true });
  for (const folder of recorded.dirs ?? []) fs.mkdirSync(expand(folder), { recursive: true });
  if (recorded.git) initRepository(dirs.REPO as string);
  for (const folder of recorded.gitInit ?? []) {
    fs.mkdirSync(expand(folder), { recursive: true });
    initRepository(expand(folder));
  }
  for (const [name, spec] of Object.entries(recorded.files ?? {})) put(name, spec);
  for (const [kind, json] of Object.entries(recorded.settings ?? {}))
    put(SETTINGS[kind as keyof typeof SETTINGS], { json });
  if (recorded.claudeJson) put("$HOME/.claude.json", { json: recorded.claudeJson });
  for (const [name, target] of Object.entries(recorded.symlinks ?? {})) {
    fs.mkdirSync(path.dirname(expand(name)), { recursive: true });
    fs.symlinkSync(expand(target), expand(name));
  }
  // Only a worktree needs a commit; what is loaded depends on no other.
  if (recorded.git === true && recorded.worktree) {
    git(dirs.REPO as string, "add", "-A");
    git(dirs.REPO as string, "commit", "-q", "--allow-empty", "-m", "init");
  }
  if (recorded.worktree) git(dirs.REPO as string, "worktree", "add", "-q", dirs.WORKTREE as string, "-b", "wt");
  for (const [name, spec] of Object.entries(recorded.filesAfterGit ?? {})) put(name, spec);
  for (const [file, spec] of written) {
    if (typeof spec === "string") continue;
    const seconds = now / 1000 - (spec.ageHours ?? 0) * 3600;
    if (spec.ageHours !== undefined) fs.utimesSync(file, seconds, seconds);
    if (spec.mode) fs.chmodSync(file, Number.parseInt(spec.mode, 8));
  }
  return {
    cwd: expand(recorded.cwd ?? "$REPO"),
    env: {
      HOME: dirs.HOME as string,
      MEMDIR_MANAGED_DIR: dirs.MANAGED as string,
      ...(deep(recorded.env ?? {}) as Record<string, string>),
    },
    args: (recorded.args ?? []).map(expand),
    touched: (recorded.steps ?? []).flatMap(({ touch }) => (touch ? [expand(touch)] : [])),
    expand,
    remove: () => fs.rmSync(root, { recursive: true, force: true }),
  };
}

function contentOf(spec: FileSpec, expand: (text: string) => string, deep: (value: unknown) => unknown): Buffer {
  if (typeof spec === "string") return Buffer.from(expand(spec));
  if (spec.base64 !== undefined) return Buffer.from(spec.base64, "base64");
  if (spec.json !== undefined) return Buffer.from(JSON.stringify(deep(spec.json), null, 2));
  const parts = (spec.parts ?? [spec]).map(({ text, raw, repeat = "", times = 0 }) => {
    if (text !== undefined) return raw ? text : expand(text);
    const numbered = (_: unknown, i: number) =>
      repeat.replaceAll("%d", String(i + 1)).replaceAll("%4d", String(i + 1).padStart(4, "0"));
    return Array.from({ length: times }, numbered).join("");
  });
  return Buffer.from(parts.join(""));
}

function git(cwd: string, ...args: string[]): void {
  const options = ["user.name=t", "user.email=t@example.com", "init.defaultBranch=main", "commit.gpgsign=false"];
  execFileSync("git", [...options.flatMap((option) => ["-c", option]), ...args], {
    cwd,
    stdio: "ignore",
    env: { PATH: process.env.PATH, HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" },
  });
}

/** Both texts, byte for byte; a packed one by its hash. */
export function sameText(
  want: string | Packed | null,
  got: string | null | undefined,
  expand: (text: string) => string,
): boolean {
  if (want === null || typeof want === "string") return (want === null ? "" : expand(want)) === (got ?? "");
  return (
    createHash("sha256")
      .update(got ?? "")
      .digest("hex") === want.sha256
  );
}
