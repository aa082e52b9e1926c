import fs from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Watching, watchDirectory } from "../../src/memory/watch.ts";
import { makeTemporary } from "../temporary.ts";
import { PATIENT, settle, until } from "../until.ts";

const QUICK = { settleMs: 10, pollMs: 20 };

/** What each way of watching sees; the last one only looks. */
const WAYS: [string, Watching][] = [
  ["folder by folder", {}],
  ["only looking", { watch: null }],
  ["a system that refuses", { watch: refusing("ENOSPC") }],
];

it.each(WAYS)("sees what a person changes, by %s", async (_, way) => {
  const { folder, changes, arm } = await watchTemporary(way);
  const at = (...names: string[]) => path.join(folder, ...names);
  // Each with a file beside it.
  const steps: [string, string, () => void][] = [
    ["a new file", "z.md", () => fs.writeFileSync(at("a.md"), "1")],
    ["a longer file", "z.md", () => fs.writeFileSync(at("a.md"), "12")],
    ["a file renamed into place", "z.md", () => fs.renameSync(at("a.md"), at("b.md"))],
    ["a folder", "z.md", () => fs.mkdirSync(at("deep"))],
    ["a file in it", "deep/z.md", () => fs.writeFileSync(at("deep", "c.md"), "3")],
    ["one that goes", "z.md", () => fs.rmSync(at("b.md"))],
    ["the journal", ".memdir/verdicts.json", () => fs.writeFileSync(at(".memdir", "journal.jsonl"), "{}\n")],
    ["a proposal", ".memdir/inbox/z.json", () => fs.writeFileSync(at(".memdir", "inbox", "1.json"), "{}")],
  ];
  for (const [what, beside, change] of steps) {
    await arm(beside);
    const before = changes();
    change();
    await expect.poll(changes, { ...PATIENT, message: what }).toBeGreaterThan(before);
  }
});

it.each(WAYS)("is not disturbed by our own caches, locks and half-written files, by %s", async (_, way) => {
  const { folder, changes } = await watchTemporary(way);
  const before = changes();
  for (const name of ["rows.bin", "lock", "ledger.jsonl", "tmp/x", "images/y", "journal.jsonl.tmp"]) {
    fs.writeFileSync(path.join(folder, ".memdir", name), "x");
  }
  await settle();
  expect(changes()).toBe(before);
});

it.each(WAYS)("hears only of the files that are wanted, by %s", async (_, way) => {
  const { folder, changes, arm } = await watchTemporary({ ...way, isWanted: (file) => file.startsWith("wanted") });
  await arm("wanted.md");
  const before = changes();
  for (const name of ["other.md", "MEMORY.md", ".memdir/journal.jsonl"]) fs.writeFileSync(path.join(folder, name), "x");
  await settle();
  expect(changes()).toBe(before);
});

it("waits for a directory that is not there yet, and finds one that was made anew", async () => {
  const folder = path.join(makeTemporary("watch", "memory"), "later");
  let count = 0;
  const watched = watchDirectory({ path: folder, recursive: true, onChange: () => count++, log: () => {}, ...QUICK });
  onTestFinished(() => watched.close());
  // What comes before it looked for the first time is nothing new.
  await until(() => {
    if (fs.existsSync(folder)) fs.rmdirSync(folder);
    else fs.mkdirSync(folder);
    return count > 0;
  });
  fs.mkdirSync(folder, { recursive: true });
  await armed(path.join(folder, "a.md"), () => count);
  const renamed = count;
  fs.renameSync(folder, `${folder}-old`);
  fs.mkdirSync(folder);
  await expect.poll(() => count, PATIENT).toBeGreaterThan(renamed);
  await armed(path.join(folder, "b.md"), () => count);
});

it("does not follow links out of the directory", async () => {
  const { folder, changes } = await watchTemporary({});
  const outside = makeTemporary("outside", "memory");
  fs.symlinkSync(outside, path.join(folder, "link"));
  await settle();
  const before = changes();
  fs.writeFileSync(path.join(outside, "a.md"), "x");
  await settle();
  expect(changes()).toBe(before);
});

it("gathers many changes into few, and says nothing once it is closed", async () => {
  const quick = { settleMs: 500, pollMs: 1000 };
  const { folder, changes, arm, close } = await watchTemporary({}, quick);
  await arm("z.md");
  const first = changes();
  for (let i = 0; i < 100; i++) fs.writeFileSync(path.join(folder, `${i}.md`), "x");
  await expect.poll(changes, PATIENT).toBeGreaterThan(first);
  await settle();
  close();
  const before = changes();
  expect(before - first).toBeLessThan(10);
  fs.writeFileSync(path.join(folder, "late.md"), "x");
  await settle();
  expect(changes()).toBe(before);
});

async function watchTemporary(way: Watching & { isWanted?: (file: string) => boolean }, quick = QUICK) {
  const folder = makeTemporary("watch", "memory");
  for (const name of ["tmp", "images", "inbox"]) fs.mkdirSync(path.join(folder, ".memdir", name), { recursive: true });
  let count = 0;
  const { close } = watchDirectory({
    path: folder,
    recursive: true,
    onChange: () => count++,
    log: () => {},
    ...way,
    ...quick,
  });
  onTestFinished(close);
  await settle();
  const arm = (file: string) => armed(path.join(folder, file), () => count);
  return { folder, changes: () => count, arm, close };
}

/** Writes a file until somebody hears of it, and then a little longer, until they have heard of all of it. */
async function armed(file: string, count: () => number): Promise<void> {
  const before = count();
  let times = 0;
  await until(() => {
    fs.writeFileSync(file, String(++times));
    return count() > before;
  }, file);
  await settle();
}

function refusing(code: string): NonNullable<Watching["watch"]> {
  return (() => {
    throw Object.assign(new Error(code), { code });
  }) as unknown as NonNullable<Watching["watch"]>;
}
