import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findProgram } from "../src/child-group.ts";
import { makeWorld } from "./world.ts";

function place(file: string): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\n", { mode: 0o755 });
  return file;
}

describe.skipIf(process.platform === "win32")("a program outside of git", () => {
  it("is not taken from what npm adds for the folders that the working directory is in", () => {
    const { top, env } = makeWorld();
    const archive = join(top, "archive");
    const planted = place(join(archive, "node_modules", ".bin", "tool"));
    const own = place(join(top, "own", "tool"));
    const cwd = join(archive, "package");
    mkdirSync(cwd, { recursive: true });
    const PATH = `${dirname(planted)}:${dirname(own)}`;
    expect(findProgram({ ...env, PATH }, "tool", { cwd })?.file).toBe(own);
    expect(findProgram({ ...env, PATH }, "tool", { cwd })?.env.PATH).toBe(dirname(own));
  });

  it("is found where the machine's own programs are the working directory", () => {
    const { env } = makeWorld();
    const node = realpathSync(process.execPath);
    const PATH = dirname(node);
    expect(findProgram({ ...env, PATH }, basename(node), { cwd: PATH })?.file).toBe(node);
  });
});

it("a name that has its ending gets no second one, in capitals either", () => {
  const { top, env } = makeWorld();
  const file = place(join(top, "own", "Tool.EXE"));
  expect(findProgram({ ...env, PATH: dirname(file) }, "Tool.EXE", { endings: [".exe"] })?.file).toBe(file);
});
