/**
 * Many writers at once, an editor that rewrites MEMORY.md under them, and a reader that looks all the time.
 *
 * What is fair to ask about hand-written lines: the editor does not know memdir and may be stale, so it may write a text that
 * lacks memdir's newest lines; memdir has to put those back. But the editor never drops a line that it read: every text it
 * writes holds all hand-written lines of the text it read. So a hand-written line can only vanish if memdir lost it, either
 * by writing over it, or by showing for a moment a text without it that the editor then carried on. Both are memdir's fault.
 */

import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  dist,
  type HeavyWorld,
  hashOf,
  indexProblems,
  leftovers,
  makeWorld,
  memdir,
  memoryFiles,
  readIndex,
  readJournal,
  removeWorlds,
  start,
} from "./fixtures/heavy.ts";

afterEach(removeWorlds);

interface Ack {
  name: string;
  version: string;
  file: string;
  action: string;
}

const WRITERS = 16;

async function storm(
  world: HeavyWorld,
  job: { count: number; shared: number; editor: "rename" | "in-place" | "mixed" },
) {
  const stop = path.join(world.root, "stop");
  const barrier = path.join(world.root, "go");
  const writers = Array.from({ length: WRITERS }, (_, id) =>
    start(world, "saver.mjs", [dist, world.memory, { id, count: job.count, shared: job.shared, barrier }]),
  );
  const editor = start(world, "editor.mjs", [world.memory, job.editor, stop, "60"]);
  const reader = start(world, "reader.mjs", [world.memory, stop]);
  await Promise.all(
    [...writers, editor, reader].map(
      (p) =>
        new Promise<void>((done) => {
          if (p.lines.length > 0) done();
          p.onLine = () => done();
          p.ended.then(() => done());
        }),
    ),
  );
  const started = performance.now();
  writeFileSync(barrier, "");
  const ends = await Promise.all(writers.map((p) => p.ended));
  const seconds = (performance.now() - started) / 1000;
  writeFileSync(stop, "");
  await Promise.all([editor.ended, reader.ended]);
  const errors = [...writers, editor, reader].map((p) => p.err()).filter((text) => text !== "");
  const acks = writers.flatMap((p) => p.lines.slice(1).map((line) => JSON.parse(line) as Ack));
  const edited = JSON.parse(editor.lines.at(-1) as string) as { written: string[]; rewrites: number };
  const seen = JSON.parse(reader.lines.at(-1) as string) as {
    torn: { memories: string[]; index: string[]; missing: string[] };
    polls: number;
    files: number;
  };
  console.log(
    `${acks.length} saves by ${WRITERS} processes in ${seconds.toFixed(1)} s (${((seconds * 1000) / acks.length).toFixed(1)} ms each), ` +
      `${edited.rewrites} rewrites (${job.editor}) with ${edited.written.length} hand-written lines, ${seen.polls} polls, ${seen.files} files read`,
  );
  return { ends, errors, acks, edited, seen };
}

async function checkEnd(world: HeavyWorld, result: Awaited<ReturnType<typeof storm>>, expected: number) {
  const { ends, errors, acks, edited, seen } = result;
  expect(errors).toEqual([]);
  expect(ends.every(({ code }) => code === 0)).toBe(true);
  expect(acks).toHaveLength(expected);
  expect(seen.torn.memories).toEqual([]);

  const opened = await memdir(world, ["index"]);
  expect(opened.code, opened.err).toBe(0);

  const { index, more } = readIndex(world.memory);
  const all = [...index, ...more].map((line) => line.trimEnd());
  const counts = edited.written.map((line) => ({ line, count: all.filter((l) => l === line).length }));
  const problems = {
    handWritten: counts.filter(({ count }) => count !== 1).map(({ line, count }) => `${count} × ${line}`),
    index: indexProblems(world.memory),
    leftovers: leftovers(world.memory),
  };
  expect({ ...problems, index: problems.index.slice(0, 20), indexCount: problems.index.length }).toEqual({
    handWritten: [],
    index: [],
    indexCount: 0,
    leftovers: [],
  });

  const files = new Set(acks.map((a) => a.file));
  expect(new Set(memoryFiles(world.memory))).toEqual(files);
  const journal = readJournal(world.memory);
  expect(journal).toHaveLength(acks.filter((a) => a.action !== "unchanged").length);
  const last = new Map(journal.flatMap((entry) => entry.files.map(({ file, after }) => [file, after] as const)));
  const stale: string[] = [];
  for (const file of files) {
    const data = readFileSync(path.join(world.memory, file));
    expect(hashOf(data), file).toBe(last.get(file));
    const text = data.toString("utf8");
    const end = /\nEND (.+) (\d+\.\d+)\n$/.exec(text);
    expect(end, file).not.toBeNull();
    const [, name, version] = end as unknown as [string, string, string];
    expect(
      acks.some((a) => a.file === file && a.name === name && a.version === version),
      file,
    ).toBe(true);
    // The whole of one version: all lines of the body and the description agree.
    const bodyLines = text.split("\n").filter((line) => line.startsWith("line of "));
    expect(new Set(bodyLines)).toEqual(new Set([`line of ${name} version ${version}`]));
    expect(text).toContain(`${name} by ${version} end.`);
    const line = `- [${name}](${file}) — ${name} by ${version} end.`;
    if (!all.includes(line)) stale.push(all.filter((l) => l.includes(`](${file})`)).join());
  }
  // Lines in memdir's own words show the version that is there, not an earlier one that the editor brought back.
  expect(stale).toEqual([]);
}

describe("16 processes save at once", () => {
  test("200 saves each, different names, while an editor renames its text over MEMORY.md", async () => {
    const world = makeWorld();
    const result = await storm(world, { count: 200, shared: 0, editor: "rename" });
    expect(result.seen.torn.index).toEqual([]);
    expect(result.seen.torn.missing).toEqual([]);
    await checkEnd(world, result, WRITERS * 200);
  });

  test("60 saves each, half of them updates of ten shared names", async () => {
    const world = makeWorld();
    const result = await storm(world, { count: 60, shared: 10, editor: "rename" });
    expect(result.seen.torn.index).toEqual([]);
    expect(result.seen.torn.missing).toEqual([]);
    await checkEnd(world, result, WRITERS * 60);
  });

  test("60 saves each, while an editor truncates MEMORY.md and writes it in place", async () => {
    const world = makeWorld();
    const result = await storm(world, { count: 60, shared: 0, editor: "in-place" });
    // What the reader saw of MEMORY.md may be the editor's own half-written text; the memories are ours.
    await checkEnd(world, result, WRITERS * 60);
  });

  test("60 saves each, while one editor renames and writes in place in turn", async () => {
    const world = makeWorld();
    const result = await storm(world, { count: 60, shared: 4, editor: "mixed" });
    await checkEnd(world, result, WRITERS * 60);
  });
});
