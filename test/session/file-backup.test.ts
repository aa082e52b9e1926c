import fs from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type BackupContent, keepBackup, removeFile, restoreBackup } from "../../src/session/file-backup.ts";
import { makeWorld, sha256, type World } from "../world.ts";

let world: World;
let dir: string;
let file: string;
let kept: BackupContent;

beforeEach(() => {
  world = makeWorld();
  dir = path.join(world.home, "copies");
  file = path.join(world.project, "a.ts");
  fs.writeFileSync(file, "one\n");
  kept = keepBackup(dir, file, 1, world.now.toISOString()).content as BackupContent;
  fs.writeFileSync(file, "two\n");
});

const untouched = () => {
  expect(fs.readFileSync(file, "utf8")).toBe("two\n");
  expect(fs.readdirSync(world.project).sort()).toEqual([".git", "a.ts"]);
};

describe("backups", () => {
  it("B10.4 are put back whole", () => {
    restoreBackup(dir, file, kept, () => true);
    expect(fs.readFileSync(file, "utf8")).toBe("one\n");
    expect(fs.readdirSync(world.project).sort()).toEqual([".git", "a.ts"]);
  });

  it("B10.4 never replace or remove what somebody else wrote at the last moment", () => {
    expect(() => restoreBackup(dir, file, kept, () => false)).toThrow(/changed by someone else just now/);
    expect(() => removeFile(file, () => false)).toThrow(/changed by someone else just now/);
    untouched();
  });

  it("B10.4 are never put back damaged, nor when they vanish meanwhile", () => {
    expect(() => restoreBackup(dir, file, { ...kept, hash: sha256("other") }, () => true)).toThrow(/damaged/);
    fs.rmSync(dir, { recursive: true });
    expect(() => restoreBackup(dir, file, kept, () => true)).toThrow(/its copy .* is missing/);
    untouched();
  });
});
