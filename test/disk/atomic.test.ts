import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  exchange,
  loadNative,
  moveInto,
  PRIVATE_MODE,
  removeQuietly,
  SHARED_MODE,
  syncDirectory,
  writeCacheFile,
  writeTemporary,
} from "../../src/disk/fence.ts";
import { bundleWorker, type Worker } from "./worker.ts";

let worker: Worker;
beforeAll(async () => {
  worker = await bundleWorker("atomic.ts");
});
afterAll(() => worker.close());

let directory: string;
let tmp: string;
let target: string;
let count = 0;
beforeEach(() => {
  directory = path.join(worker.top, String(count++));
  tmp = path.join(directory, "tmp");
  target = path.join(directory, "target");
  fs.mkdirSync(tmp, { recursive: true });
});

const read = (file: string) => fs.readFileSync(file, "utf8");
const left = () => fs.readdirSync(tmp);
const never = () => {
  throw new Error("nobody should ask");
};

describe("writeTemporary", () => {
  it("writes texts and bytes whole, with the mode that was asked for", () => {
    const one = writeTemporary(tmp, "é😀\n", PRIVATE_MODE);
    const two = writeTemporary(tmp, Buffer.from([0, 255, 128]), SHARED_MODE, "index", false);
    expect(read(one)).toBe("é😀\n");
    expect([...fs.readFileSync(two)]).toEqual([0, 255, 128]);
    expect(fs.statSync(one).mode & 0o777).toBe(0o600);
    expect(fs.statSync(two).mode & 0o777).toBe(0o644 & ~process.umask());
    expect(path.basename(two)).toMatch(new RegExp(`^index-${process.pid}-`));
  });

  it("names never meet", () => {
    const names = Array.from({ length: 200 }, () => writeTemporary(tmp, "", PRIVATE_MODE, "file", false));
    expect(new Set(names).size).toBe(200);
  });

  it("leaves nothing behind when writing fails", () => {
    expect(() => writeTemporary(tmp, { length: 5 } as unknown as Uint8Array, PRIVATE_MODE)).toThrow();
    expect(left()).toEqual([]);
    expect(() => writeTemporary(path.join(directory, "none"), "x", PRIVATE_MODE)).toThrow("ENOENT");
  });

  it.skipIf(process.platform === "win32")("leaves nothing behind when the disk takes no more", () => {
    const script = path.join(worker.top, "worker.mjs");
    const limited = `trap "" XFSZ; ulimit -f 8; exec "$0" "$@"`;
    const args = ["-c", limited, process.execPath, script, "write", tmp];
    expect(execFileSync("bash", args, { encoding: "utf8" }).trim()).toBe("EFBIG");
    expect(left()).toEqual([]);
  });
});

describe("moveInto and writeCacheFile", () => {
  it("replace a file in one step", () => {
    fs.writeFileSync(target, "old");
    moveInto(writeTemporary(tmp, "new", PRIVATE_MODE), target);
    expect(read(target)).toBe("new");
    writeCacheFile(tmp, target, "newer");
    expect(read(target)).toBe("newer");
    expect(left()).toEqual([]);
  });

  it("replace a link, not what it points to", () => {
    fs.writeFileSync(path.join(directory, "elsewhere"), "theirs");
    fs.symlinkSync("elsewhere", target);
    moveInto(writeTemporary(tmp, "ours", PRIVATE_MODE), target);
    expect(fs.lstatSync(target).isSymbolicLink()).toBe(false);
    expect(read(path.join(directory, "elsewhere"))).toBe("theirs");
  });

  it("leave no temporary file when a directory is in the way, or the folder is gone", () => {
    fs.mkdirSync(target);
    expect(() => moveInto(writeTemporary(tmp, "x", PRIVATE_MODE), target)).toThrow("EISDIR");
    expect(left()).toEqual([]);
    expect(() => moveInto(writeTemporary(tmp, "x", PRIVATE_MODE), path.join(directory, "none/x"))).toThrow("ENOENT");
    expect(left()).toEqual([]);
    expect(() => writeCacheFile(tmp, target, "x")).toThrow("EISDIR");
    expect(left()).toEqual([]);
  });
});

describe.each([
  ["with the native swap", loadNative()],
  ["without it", null],
])("exchange, %s", (_, native) => {
  it("creates what was not there", () => {
    const result = exchange(writeTemporary(tmp, "new", PRIVATE_MODE), target, never, native);
    expect(result).toEqual({ replaced: null });
    expect(read(target)).toBe("new");
    expect(fs.statSync(target).nlink).toBe(1);
    expect(left()).toEqual([]);
  });

  it("replaces, and what came out is there to look at", () => {
    fs.writeFileSync(target, "old");
    const temporary = writeTemporary(tmp, "new", PRIVATE_MODE);
    const result = exchange(temporary, target, () => true, native);
    expect(read(target)).toBe("new");
    if (native) {
      expect(result).toEqual({ replaced: temporary });
      expect(read(temporary)).toBe("old");
    } else {
      expect(result).toEqual({ replaced: null });
      expect(left()).toEqual([]);
    }
  });

  it("swaps whatever is there; without the swap it asks first and leaves it", () => {
    fs.writeFileSync(target, "somebody else's");
    const temporary = writeTemporary(tmp, "ours", PRIVATE_MODE);
    const result = exchange(temporary, target, () => false, native);
    if (native) {
      expect(result).toEqual({ replaced: temporary });
      expect(read(temporary)).toBe("somebody else's");
    } else {
      expect(result).toBe("changed");
      expect(read(target)).toBe("somebody else's");
      expect(read(temporary)).toBe("ours");
    }
  });

  it("C-12 replaces a link, dangling or not, and never writes through it", () => {
    fs.symlinkSync("elsewhere", target);
    const result = exchange(writeTemporary(tmp, "ours", PRIVATE_MODE), target, () => true, native);
    expect(fs.lstatSync(target).isFile()).toBe(true);
    expect(read(target)).toBe("ours");
    expect(fs.existsSync(path.join(directory, "elsewhere"))).toBe(false);
    if (native) expect(fs.readlinkSync((result as { replaced: string }).replaced)).toBe("elsewhere");
  });

  it("leaves a directory where it is, and no temporary file", () => {
    fs.mkdirSync(target);
    fs.writeFileSync(path.join(target, "keep"), "x");
    expect(() => exchange(writeTemporary(tmp, "x", PRIVATE_MODE), target, () => true, native)).toThrow("EISDIR");
    expect(read(path.join(target, "keep"))).toBe("x");
    expect(left()).toEqual([]);
  });

  it("leaves no temporary file when the folder is gone", () => {
    const temporary = writeTemporary(tmp, "x", PRIVATE_MODE);
    expect(() => exchange(temporary, path.join(directory, "none/target"), () => true, native)).toThrow("ENOENT");
    expect(left()).toEqual([]);
  });
});

it.skipIf(!loadNative() || process.platform === "win32")(
  "several processes that swap at once lose no version",
  async () => {
    const names = ["a", "b", "c", "d"];
    const times = 150;
    const outputs = await Promise.all(names.map((name) => worker.run("swap", directory, name, times)));
    const seen = [...outputs.flatMap((output) => JSON.parse(output) as string[]), read(target)];
    const written = names.flatMap((name) => Array.from({ length: times }, (_, i) => `${name}-${i}`));
    expect(seen.sort()).toEqual(written.sort());
    expect(left()).toEqual([]);
  },
);

it("removeQuietly and syncDirectory", () => {
  expect(() => removeQuietly(path.join(directory, "nothing"))).not.toThrow();
  expect(() => removeQuietly(tmp)).not.toThrow();
  expect(() => syncDirectory(directory)).not.toThrow();
});
