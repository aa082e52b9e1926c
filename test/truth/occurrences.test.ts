import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { openFileReader } from "../../src/truth/occurrences.ts";
import { makeWorld } from "../world.ts";

it("reads ordinary files into the buffer, and nothing else", () => {
  const { project } = makeWorld();
  const at = (file: string) => path.join(project, file);
  fs.mkdirSync(at("src/folder"), { recursive: true });
  fs.writeFileSync(at("top.ts"), "top");
  fs.writeFileSync(at("src/a.ts"), "one");
  fs.writeFileSync(at("src/empty.ts"), "");
  fs.writeFileSync(at("src/full.ts"), "x".repeat(15));
  fs.writeFileSync(at("src/over.ts"), "x".repeat(16));
  fs.symlinkSync("a.ts", at("src/link.ts"));
  if (process.platform !== "win32") execFileSync("mkfifo", [at("src/fifo.ts")]);
  const read = openFileReader(project);
  const buffer = Buffer.alloc(16);
  const text = (file: string) => {
    const size = read(file, buffer);
    return size < 0 ? null : buffer.toString("utf8", 0, size);
  };
  expect(["top.ts", "src/a.ts", "src/empty.ts", "src/full.ts"].map(text)).toEqual(["top", "one", "", "x".repeat(15)]);
  for (const file of ["src/over.ts", "src/link.ts", "src/fifo.ts", "src/folder", "src/none.ts", "none/a.ts", "a\0.ts"])
    expect(text(file)).toBeNull();
  // Made after its folder was listed.
  fs.writeFileSync(at("src/late.ts"), "late");
  expect(text("src/late.ts")).toBe("late");
  fs.rmSync(at("src/a.ts"));
  expect(text("src/a.ts")).toBeNull();
});
