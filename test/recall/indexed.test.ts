import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Query, rank } from "../../src/recall/rank.ts";
import { openResident, readAppended } from "../../src/recall/resident.ts";
import type { Resident } from "../../src/recall/resident-rows.ts";
import { queryTerms } from "../../src/recall/score.ts";
import type { Embed } from "../../src/store/digest.ts";
import type { Directory } from "../../src/store/directory.ts";
import { appendEntries, FILE_HEAD_BYTES, readRowCache } from "../../src/store/row-cache.ts";
import { DIMENSIONS, type RowEntry } from "../../src/store/row-entry.ts";
import { hashName, RECORD, RECORD_BYTES, RECORD_FLAG, RECORD_MAGIC } from "../../src/store/row-index.ts";
import { rewriteCache, scan } from "../../src/store/rows.ts";
import { hashOf } from "../../src/text/hash.ts";
import { DAY, makeWorld } from "../world.ts";
import {
  directoryAt,
  entryOf,
  type Fields,
  filesOf,
  memoryText,
  NOW_MS,
  openRows,
  rowsOf,
  writeEntries,
} from "./store.ts";

const { top } = makeWorld();
const NOTES = { folders: [], commits: "" };
const WORDS = "deploy kubectl staging database pool retry espresso migration rollback 部署 release invoice queue".split(
  " ",
);

/** A direction of its own for every text. */
const scattered: Embed = (text) => {
  let state = hashOf(text) || 1;
  const vector = Float32Array.from({ length: DIMENSIONS }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 31 - 1;
  });
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};

let folders = 0;
/** A directory whose cache has an index, as large ones have. */
function indexed(entries: readonly RowEntry[], more: Partial<Directory> = {}): Directory {
  const directory = directoryAt(path.join(top, `indexed-${++folders}`), { now: () => new Date(NOW_MS), ...more });
  fs.mkdirSync(path.join(directory.path, ".memdir"), { recursive: true, mode: 0o700 });
  expect(writeEntries({ ...directory, readOnly: false }, entries, NOTES, 1)).toBe(true);
  return directory;
}

function queryOf(prompt: string, embed: Embed | null = scattered): Query {
  return { terms: queryTerms(prompt), meaning: embed && { vector: embed(prompt) }, foreign: 0 };
}

const ranked = (rows: Resident, query: Query, limit = 100) =>
  rank(rows, query, { nowMs: NOW_MS, limit }).order.map(({ entry, score, confidence, evidence }) => {
    return { file: entry.file, name: entry.name, score, confidence, ...evidence() };
  });

const cacheOf = ({ path: folder }: Directory) => path.join(folder, ".memdir", "rows.bin");

function some(count: number, embed: Embed | null = scattered): RowEntry[] {
  return Array.from({ length: count }, (_, i) =>
    entryOf(
      `m${i}.md`,
      {
        name: `Note ${i}`,
        body: `${WORDS[i % WORDS.length]} ${WORDS[(i * 5) % WORDS.length]} ${i}`,
        when: [`cue ${i}`],
      },
      { ...(embed ? { embed } : {}), ageMs: i * DAY },
    ),
  );
}

describe("an index", () => {
  const bodies = fc.array(fc.array(fc.constantFrom(...WORDS), { maxLength: 9 }), { minLength: 1, maxLength: 30 });
  const asked = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 6 }).map((all) => all.join(" "));

  it.each(["words", "words and meaning"])("ranks as rows in memory do, to the last bit, by %s", (how) => {
    fc.assert(
      fc.property(bodies, asked, (all, prompt) => {
        const entries = all.map((body, i) => {
          const fields: Fields = {
            name: `Note ${i}`,
            body: body.join(" "),
            ...(i % 3 === 0 ? { when: [`cue ${i}`] } : {}),
          };
          const links: Fields =
            i % 7 === 6 ? { links: [`m${i - 1}`] } : i % 11 === 10 ? { supersedes: [`m${i - 2}`] } : {};
          return entryOf(
            `m${i}.md`,
            { ...fields, ...links },
            { ...(i % 5 === 4 ? {} : { embed: scattered }), ageMs: i * DAY },
          );
        });
        const query = queryOf(prompt, how === "words" ? null : scattered);
        const rows = openResident([indexed(entries)]);
        expect(rows.indexes).toHaveLength(1);
        const wanted = ranked(rowsOf(...entries), query);
        expect(ranked(rows, query)).toEqual(wanted);
        // Again, with the signs in memory.
        expect(ranked(rows, query)).toEqual(wanted);
        expect(ranked(rows, query, 3)).toEqual(wanted.slice(0, 3));
      }),
      { numRuns: 40 },
    );
  });

  it("several directories, with and without an index, are ranked together", () => {
    const entries = some(30);
    const halves = [entries.slice(0, 11), entries.slice(11, 19), entries.slice(19)] as const;
    const plain = directoryAt(path.join(top, `indexed-${++folders}`), { readOnly: false });
    fs.mkdirSync(path.join(plain.path, ".memdir"), { recursive: true, mode: 0o700 });
    writeEntries(plain, halves[1], NOTES);
    const rows = openResident([indexed(halves[0]), plain, indexed(halves[2])]);
    expect(rows.indexes).toHaveLength(2);
    const query = queryOf("deploy kubectl pool");
    expect(ranked(rows, query)).toEqual(ranked(rowsOf(...entries), query));
  });

  it("what was appended counts, in the place of what the index says", () => {
    const entries = some(20);
    const directory = indexed(entries, { readOnly: false });
    const open = openResident([directory]);
    ranked(open, queryOf("deploy"));
    const changed = entryOf("m3.md", { name: "Changed", body: "deploy deploy" }, { embed: scattered });
    const added = entryOf("new.md", { name: "New", body: "deploy rollback" }, { embed: scattered });
    expect(appendEntries(directory, [changed, added])).toBeGreaterThan(0);
    const now = entries.map((entry) => (entry.file === "m3.md" ? changed : entry)).concat(added);
    const wanted = ranked(rowsOf(...now), queryOf("deploy rollback"));
    expect(readAppended(open)).toBe(true);
    for (const rows of [open, openResident([directory])]) {
      const found = ranked(rows, queryOf("deploy rollback"));
      expect(found.map(({ file }) => file).sort()).toEqual(wanted.map(({ file }) => file).sort());
      expect(found.slice(0, 5)).toEqual(wanted.slice(0, 5));
    }
  });

  it("a cache that another process writes anew is opened again in the midst of it", () => {
    const directory = indexed(some(20), { readOnly: false });
    const rows = openResident([directory]);
    const query = queryOf("deploy kubectl");
    const before = ranked(rows, query);
    writeEntries(directory, some(20).reverse(), NOTES, 1);
    expect(ranked(rows, query)).toEqual(before);
    fs.rmSync(cacheOf(directory));
    expect(ranked(rows, query)).toEqual([]);
  });

  it("is written from some thousands on, and read back whole", () => {
    const entries = some(6, null);
    const many = Array.from({ length: 4096 }, (_, i) => ({ ...(entries[i % 6] as RowEntry), file: `f${i}.md` }));
    const directory = directoryAt(path.join(top, `indexed-${++folders}`), { readOnly: false });
    fs.mkdirSync(path.join(directory.path, ".memdir"), { recursive: true, mode: 0o700 });
    for (const [count, indexes] of [
      [4095, 0],
      [4096, 1],
    ] as const) {
      writeEntries(directory, many.slice(0, count), NOTES);
      expect(openResident([directory]).indexes).toHaveLength(indexes);
      expect(readRowCache(directory, "all").entries.size).toBe(count);
    }
  });

  it("the names of files are hashed as scan.as hashes them", () => {
    const directory = indexed([entryOf("größe/部署 x.md", { name: "Deploy" }), entryOf("b.md", { name: "Other" })]);
    const rows = openResident([directory]);
    const [low, high] = hashName("größe/部署 x.md");
    expect([
      rows.bytes.readUInt32LE(rows.list[0]! + RECORD.name),
      rows.bytes.readUInt32LE(rows.list[0]! + RECORD.name + 4),
    ]).toEqual([low, high]);
  });

  it("the layout is what scan.as takes it for", () => {
    const source = fs.readFileSync(path.join(import.meta.dirname, "../../src/recall/scan-rows.as"), "utf8");
    const numberOf = (name: string) => Number(new RegExp(`const ${name}: \\w+ = (\\w+);`).exec(source)?.[1]);
    const { rowAt, mtimeMs, name, vectorsAt, rowBytes, firstVector, length, texts, cues, flags } = RECORD;
    const names = { ROW_AT: rowAt, MTIME: mtimeMs, NAME: name, VECTORS_AT: vectorsAt, ROW_BYTES: rowBytes };
    const more = {
      FIRST_VECTOR: firstVector,
      LENGTH: length,
      TEXTS: texts,
      CUES: cues,
      FLAGS: flags,
      MAGIC: RECORD_MAGIC,
    };
    for (const [each, at] of Object.entries({ ...names, ...more }))
      expect([each, numberOf(`RECORD_${each}`)]).toEqual([each, at]);
    expect([numberOf("RECORD"), numberOf("LINKED")]).toEqual([RECORD_BYTES, RECORD_FLAG.linked]);
  });
});

describe("files behind an index", () => {
  function onDisk(files: Readonly<Record<string, Fields>>): Directory {
    const directory = directoryAt(path.join(top, `indexed-${++folders}`), {
      readOnly: false,
      // The disk has its own clock: an hour after it, every file is settled.
      now: () => new Date(performance.timeOrigin + performance.now() + 3_600_000),
    });
    fs.mkdirSync(path.join(directory.path, ".memdir"), { recursive: true, mode: 0o700 });
    for (const [file, fields] of Object.entries(files))
      fs.writeFileSync(path.join(directory.path, file), memoryText(fields));
    for (let i = 0; i < 2; i++) scan(directory);
    reindex(directory);
    return directory;
  }
  const reindex = (directory: Directory) => {
    const { entries, head } = readRowCache(directory, "all");
    writeEntries(directory, entries.values(), { folders: head?.folders ?? [], commits: "" }, 1);
  };
  const FILES = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`memory-${i}.md`, { name: `Deploy ${i}`, body: `${WORDS[i]} kubectl` }]),
  );
  const find = (directory: Directory, prompt = "deploy kubectl") => {
    const { resident, news, keep } = openRows([directory]);
    expect(resident.indexes).toHaveLength(1);
    const files = filesOf(rank(resident, queryOf(prompt, null), { nowMs: NOW_MS, limit: 100 }).order);
    return { files, stale: news.reduce((sum, { entries }) => sum + entries.length, 0), keep };
  };

  it("that changed, came or went are noticed, and so they are when they were appended", () => {
    const directory = onDisk(FILES);
    expect(find(directory)).toMatchObject({ stale: 0, files: expect.arrayContaining(Object.keys(FILES)) });
    fs.writeFileSync(path.join(directory.path, "memory-3.md"), memoryText({ name: "Tea", body: "Green tea." }));
    fs.writeFileSync(path.join(directory.path, "new.md"), memoryText({ name: "Deploy kubectl", body: "deploy" }));
    fs.rmSync(path.join(directory.path, "memory-5.md"));
    const wanted = [...Object.keys(FILES).filter((file) => !/-[35]\./.test(file)), "new.md"].sort();
    const { files, stale, keep } = find(directory);
    expect([files.sort(), stale]).toEqual([wanted, 2]);
    expect(find(directory, "green tea").files).toEqual(["memory-3.md"]);
    keep();
    const again = find(directory);
    expect([again.files.sort(), again.stale]).toEqual([wanted, 0]);
    rewriteCache(directory, [], null);
    reindex(directory);
    expect(find(directory).files.sort()).toEqual(wanted);
  });

  it("without frontmatter are memories only where MEMORY.md names them", () => {
    const directory = onDisk(FILES);
    const write = (file: string, text: string) => fs.writeFileSync(path.join(directory.path, file), text);
    write("README.md", "How we deploy with kubectl.");
    scan(directory);
    reindex(directory);
    expect(find(directory).files).toContain("README.md");
    write("MEMORY.md", "- [[memory-1]]");
    expect(find(directory).files).not.toContain("README.md");
    write("MEMORY.md", "- README.md");
    expect(find(directory).files).toContain("README.md");
  });
});

describe("a damaged index", () => {
  it("whatever bytes are changed, nothing is thrown, and only what was there is found, each once", () => {
    const entries = some(16).map((entry, i) => (i === 4 ? { ...entry, links: ["m5.md", ">m6.md"] } : entry));
    const directory = indexed(entries);
    const bytes = fs.readFileSync(cacheOf(directory));
    const names = new Set(entries.map(({ file }) => file));
    const flip = fc.tuple(fc.nat({ max: bytes.length - FILE_HEAD_BYTES - 1 }), fc.integer({ min: 1, max: 255 }));
    const nearEnd = flip.map(
      ([at, mask]) => [bytes.length - 1 - FILE_HEAD_BYTES - (at % 4000), mask] as [number, number],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(flip, nearEnd), { minLength: 1, maxLength: 8 }), fc.boolean(), (flips, byWords) => {
        const broken = Buffer.from(bytes);
        for (const [at, mask] of flips) (broken[FILE_HEAD_BYTES + Math.max(0, at)] as number) ^= mask;
        fs.writeFileSync(cacheOf(directory), broken);
        const rows = openResident([directory]);
        for (let round = 0; round < 2; round++) {
          const files = ranked(rows, queryOf("deploy kubectl pool", byWords ? null : scattered)).map(
            ({ file }) => file,
          );
          expect(files.filter((file) => !names.has(file))).toEqual([]);
          expect(new Set(files).size).toBe(files.length);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("cut anywhere, nothing is thrown", () => {
    const directory = indexed(some(16));
    const bytes = fs.readFileSync(cacheOf(directory));
    for (let length = FILE_HEAD_BYTES; length < bytes.length; length += 331) {
      fs.writeFileSync(cacheOf(directory), bytes.subarray(0, length));
      expect(ranked(openResident([directory]), queryOf("deploy kubectl")).length).toBeLessThanOrEqual(16);
    }
  });

  it("a row that cannot be read is left out, and the cache is no longer taken for complete", () => {
    const directory = indexed(some(16));
    const bytes = fs.readFileSync(cacheOf(directory));
    (bytes[FILE_HEAD_BYTES + 140] as number) ^= 0xff;
    fs.writeFileSync(cacheOf(directory), bytes);
    const rows = openResident([directory]);
    expect(ranked(rows, queryOf("note", null))).toHaveLength(15);
    expect(rows.caches[0]).toMatchObject({ isTidy: false, head: { folders: [] } });
  });
});
