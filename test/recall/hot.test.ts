import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestFile } from "../../src/hooks/stale.ts";
import { appendEntries, writeEntries } from "../../src/recall/cache.ts";
import { CACHE_HEAD_BYTES, FOLDER_TIME_AT } from "../../src/recall/cache-file.ts";
import { digestMemory, type Embed } from "../../src/recall/digest.ts";
import { AT, DIMENSIONS, type Entry, encodeEntry, HEAD_BYTES, VECTOR_BYTES } from "../../src/recall/entry.ts";
import { type HotAnswer, type HotOptions, recallHot } from "../../src/recall/hot.ts";
import { queryTerms } from "../../src/recall/query.ts";
import { type Ranked, rank } from "../../src/recall/rank.ts";
import { openScan } from "../../src/recall/scan.ts";
import { SUM_OF_WORDS } from "../../src/recall/score.ts";
import { compactShelf, freshenFile, freshenShelf, openShelf, type Shelf } from "../../src/recall/shelf.ts";
import type { Directory } from "../../src/store/directory.ts";
import { hashOf } from "../../src/text/fnv.ts";
import { DAY, makeWorld } from "../world.ts";
import { entryOf, type Fields, memoryText } from "./store.ts";

const { top } = makeWorld();
/** The disk has its own clock: an hour after it, every file is settled. */
const NOW_MS = Math.floor(performance.timeOrigin + performance.now()) + 3_600_000;
const PROMPT = "how do we deploy with kubectl on staging";
const FILES: Record<string, Fields> = {
  "deploy.md": { name: "Deploy kubectl staging", body: "Deploy with kubectl on staging." },
  "pool.md": { name: "Database pool connections", body: "The database pool holds twenty connections." },
  "coffee.md": { name: "Black espresso coffee", body: "Black espresso, and kubectl." },
};

let folders = 0;
function makeDirectory(files: Readonly<Record<string, Fields>> = {}, more: Partial<Directory> = {}): Directory {
  const directory: Directory = {
    path: path.join(top, `memory-${++folders}`),
    scope: "project",
    inRepository: false,
    readOnly: false,
    recursive: true,
    limits: { maxLines: 200, maxChars: 25_000 },
    ageDays: { recent: 2, stale: 8, old: 31 },
    now: () => new Date(NOW_MS),
    by: "test",
    log: () => {},
    ...more,
  };
  fs.mkdirSync(directory.path);
  for (const [file, fields] of Object.entries(files)) put(directory, file, fields);
  return directory;
}

function put(directory: Directory, file: string, fields: Fields): void {
  fs.mkdirSync(path.dirname(path.join(directory.path, file)), { recursive: true });
  fs.writeFileSync(path.join(directory.path, file), memoryText(fields));
}

function age(directory: Directory, file: string, ms: number): void {
  const then = new Date(NOW_MS - ms);
  fs.utimesSync(path.join(directory.path, file), then, then);
}

/** As a long-lived process opens them; this brings the caches up to date. */
async function openWarm(directories: readonly Directory[]): Promise<Shelf> {
  const shelf = openShelf(directories);
  await freshenShelf(shelf, 0);
  return shelf;
}

/** The second look has nothing to append, and so has time to note when the folder was seen. */
async function fill(...directories: Directory[]): Promise<void> {
  await openWarm(directories);
  await openWarm(directories);
}

function warm({ corpus }: Shelf, prompt: string, vector: Float32Array | null = null): Ranked[] {
  return rank(corpus, { terms: queryTerms(prompt), vector }, { nowMs: NOW_MS, limit: 10_000 });
}

function hot(directories: readonly Directory[], prompt = PROMPT, options: Partial<HotOptions> = {}): HotAnswer {
  return recallHot(directories, prompt, {
    nowMs: NOW_MS,
    wordsFile: null,
    digest: ({ path }, file) => digestFile(path, file),
    ...options,
  });
}

const filesOf = ({ order }: HotAnswer) => order.map(({ file }) => file);
const cacheOf = ({ path: folder }: Directory) => path.join(folder, ".memdir", "recall.bin");

function patchCache(directory: Directory, patch: (bytes: Buffer) => Buffer | undefined): void {
  const bytes = fs.readFileSync(cacheOf(directory));
  fs.writeFileSync(cacheOf(directory), patch(bytes) ?? bytes);
}

const forgetFolder = (directory: Directory) =>
  patchCache(directory, (bytes) => void bytes.writeDoubleLE(0, FOLDER_TIME_AT));
const folderTime = (directory: Directory) => fs.readFileSync(cacheOf(directory)).readDoubleLE(FOLDER_TIME_AT);

/** Where each entry begins. */
function entriesIn(bytes: Buffer): number[] {
  const starts: number[] = [];
  for (let at = CACHE_HEAD_BYTES; at < bytes.length; at += bytes.readUInt32LE(at + AT.bytes)) starts.push(at);
  return starts;
}

/** Scores are 4-byte numbers there and 8-byte numbers here. */
function expectSame(found: HotAnswer, ranked: readonly Ranked[], tolerance = 1e-3): void {
  const near = (a: number, b: number) => Math.abs(a - b) <= tolerance * (1 + Math.abs(b));
  const byKey = new Map(ranked.map((one) => [`${one.owner} ${one.entry.file}`, one]));
  const files = new Set(filesOf(found));
  const pairs = found.order.map((one) => [one, byKey.get(`${one.owner} ${one.file}`)] as const);
  for (const [one, other] of pairs) {
    expect(other, one.file).toBeDefined();
    if (!other) continue;
    const { score, confidence, entry } = other;
    expect(near(one.score, score), `score of ${one.file}: ${one.score}, ${score}`).toBe(true);
    // How sure the one is that it replaces counts for it too, as long as that one is among those weighed in full.
    const isAlone = entry.links.some((link) => link.startsWith(">") && !files.has(link.slice(1)));
    const isSame = isAlone ? one.confidence <= confidence + tolerance : near(one.confidence, confidence);
    expect(isSame, `${one.file} is sure: ${one.confidence}, ${confidence}`).toBe(true);
    expect([one.name, one.isInferred, one.saidMs]).toEqual([entry.name, entry.isInferred, entry.saidMs]);
  }
  const scores = pairs.flatMap(([, other]) => other?.score ?? []);
  scores.slice(1).forEach((score, i) => {
    const before = scores[i] as number;
    expect(score).toBeLessThanOrEqual(before + 2 * tolerance * (1 + Math.abs(before)));
  });
  // Of many, those are weighed in full that lead before age is counted: who leads by more than age can take must be there.
  const present = new Set(found.order.map(({ owner, file }) => `${owner} ${file}`));
  for (const { owner, entry, score } of ranked) {
    const rivals = ranked.filter((other) => other.score >= score * 0.91).length;
    if (rivals <= 24 && score > tolerance) expect(present.has(`${owner} ${entry.file}`), entry.file).toBe(true);
  }
}

const VOCABULARY =
  "deploy kubectl staging database pool retry_count handleAuth src/db/pool.ts espresso München naïve migration rollback 部署 测试环境 データベース メモリ release v1.2 tests flaky токен ключ invoice payment webhook cron queue worker cache redis".split(
    " ",
  );
const words = (max: number) => fc.array(fc.constantFrom(...VOCABULARY), { maxLength: max }).map((all) => all.join(" "));
const STEMS = ["note", "größe", "メモ", "with space", "a.b", "Übersicht-2", "😀"];

const memory = (count: number) =>
  fc.record({
    folder: fc.constantFrom("", "", "", "sub/", "sub/deep/"),
    stem: fc.constantFrom(...STEMS),
    type: fc.constantFrom("user" as const, "feedback" as const, "project" as const, "reference" as const),
    name: words(3),
    description: words(6),
    body: words(30),
    when: fc.array(words(5), { maxLength: 2 }),
    links: fc.array(fc.nat({ max: count - 1 }), { maxLength: 3 }),
    old: fc.nat({ max: count - 1 }),
    supersedes: fc.boolean(),
    modifiedDays: fc.option(fc.integer({ min: 0, max: 900 })),
    mtimeDays: fc.integer({ min: 0, max: 900 }),
    directory: fc.nat({ max: 2 }),
  });

const store = fc
  .record({ count: fc.integer({ min: 5, max: 60 }), linked: fc.boolean(), directories: fc.integer({ min: 1, max: 3 }) })
  .chain(({ count, linked, directories }) =>
    fc.record({
      linked: fc.constant(linked),
      directories: fc.constant(directories),
      prompt: words(8),
      memories: fc.array(memory(count), { minLength: count, maxLength: count }),
    }),
  );
type RandomStore = typeof store extends fc.Arbitrary<infer S> ? S : never;

function writeRandom({ linked, directories, memories }: RandomStore): Directory[] {
  const made = Array.from({ length: directories }, () => makeDirectory());
  const replaced = new Set<number>();
  const fileOf = (i: number) => `${memories[i]?.folder}${memories[i]?.stem}-${i}.md`;
  memories.forEach((one, i) => {
    const { type, name, description, body, when, mtimeDays } = one;
    // Even ones are only ever replaced, and once, odd ones only ever replace: chains have a test of their own.
    const replaces = linked && one.supersedes && i % 2 === 1 && one.old % 2 === 0 && !replaced.has(one.old);
    if (replaces) replaced.add(one.old);
    const fields: Fields = {
      type,
      name: `${name} n${i}`,
      description,
      body,
      ...(when.length > 0 ? { when } : {}),
      ...(linked && one.links.length > 0 ? { links: one.links.map(fileOf) } : {}),
      ...(replaces ? { supersedes: [fileOf(one.old)] } : {}),
      ...(one.modifiedDays === null ? {} : { modified: new Date(NOW_MS - one.modifiedDays * DAY).toISOString() }),
    };
    const directory = made[one.directory % directories] as Directory;
    put(directory, fileOf(i), fields);
    age(directory, fileOf(i), mtimeDays * DAY);
  });
  return made;
}

describe("the same as the warm ranker, by words", () => {
  it("on random stores, with the cache as appended, with the folder's time, and without it", async () => {
    await fc.assert(
      fc.asyncProperty(store, async (random) => {
        const directories = writeRandom(random);
        const ranked = warm(await openWarm(directories), random.prompt);
        const appended = hot(directories, random.prompt);
        expect([appended.method, appended.stale, appended.considered]).toEqual(["lexical", 0, random.memories.length]);
        expectSame(appended, ranked);
        await openWarm(directories);
        const noted = hot(directories, random.prompt);
        expectSame(noted, ranked);
        for (const directory of directories) if (fs.existsSync(cacheOf(directory))) forgetFolder(directory);
        expect(hot(directories, random.prompt)).toEqual(noted);
        for (const { path } of directories) fs.rmSync(path, { recursive: true });
      }),
      { numRuns: 25 },
    );
  });

  it("without any cache, on random stores whose files name no date and no other", async () => {
    await fc.assert(
      fc.asyncProperty(store, async (random) => {
        const memories = random.memories.map((one) => ({ ...one, modifiedDays: null }));
        const directories = writeRandom({ ...random, memories, linked: false });
        const found = hot(directories, random.prompt);
        expect(found.stale).toBe(memories.length);
        expect(directories.some((directory) => fs.existsSync(cacheOf(directory)))).toBe(false);
        const ranked = warm(await openWarm(directories), random.prompt);
        // What a file does not say is not known of a digest for one prompt.
        for (const { entry } of ranked) entry.saidMs = 0;
        for (const one of found.order) one.saidMs = 0;
        expectSame(found, ranked);
        for (const { path } of directories) fs.rmSync(path, { recursive: true });
      }),
      { numRuns: 12 },
    );
  });

  it("without a cache links weigh the same, though the files come in another order", async () => {
    const names = Array.from({ length: 9 }, (_, i) => `${String.fromCharCode(97 + i)}.md`);
    const at = (i: number) => names[i] as string;
    const links: Record<number, number[]> = { 1: [0, 2, 8], 8: [2], 3: [0, 8] };
    // The nearer way from 0 to 8 leads over 3, the other one over 1; which is taken must not depend on who comes first.
    for (const [one, other] of [
      [1, 3],
      [3, 1],
    ] as const) {
      const swap = (i: number) => (i === 1 ? one : i === 3 ? other : i);
      const files = names.map((_, i): [string, Fields] => [
        at(swap(i)),
        {
          name: `n${i}`,
          body: i === 8 ? "kubectl" : "",
          ...(links[i] ? { links: links[i].map((to) => at(swap(to))) } : {}),
        },
      ]);
      const directory = makeDirectory(Object.fromEntries(files));
      const found = hot([directory], "kubectl").order.find(({ file }) => file === at(0));
      const straight = warm(await openWarm([makeDirectory({ ...Object.fromEntries(files) })]), "kubectl");
      expect(found?.score).toBeCloseTo(straight.find(({ entry }) => entry.file === at(0))?.score as number, 3);
      expect(found?.score).toBeGreaterThan(0.5);
    }
  });

  it("C15: without a cache a private file is as young as its last touch, whatever date it names", async () => {
    const directory = makeDirectory({
      "deploy.md": { ...FILES["deploy.md"], modified: new Date(NOW_MS - 900 * DAY).toISOString() },
    });
    const [found] = hot([directory]).order;
    const [ranked] = warm(await openWarm([directory]), PROMPT);
    expect(found?.score).toBeCloseTo(ranked?.score as number, 3);
  });

  it("what replaces a memory comes with it and before it, though it shares no word with the prompt", async () => {
    const directory = makeDirectory({
      ...FILES,
      "new.md": { name: "Argo", body: "Argo does it.", supersedes: ["deploy.md"] },
    });
    const ranked = warm(await openWarm([directory]), PROMPT);
    const found = hot([directory]);
    expect(filesOf(found).slice(0, 2)).toEqual(["new.md", "deploy.md"]);
    expect(found.shown.map(({ file }) => file)).toContain("new.md");
    expectSame(found, ranked);
  });

  it("the newest of three generations comes first, in whatever order their files are", async () => {
    const directory = makeDirectory({
      "a-third.md": { name: "Argo", body: "Argo does it.", supersedes: ["b-second.md"] },
      "b-second.md": { name: "Helm", body: "Helm does it.", supersedes: ["deploy.md"] },
      "deploy.md": FILES["deploy.md"] as Fields,
    });
    const ranked = warm(await openWarm([directory]), PROMPT);
    expect(ranked.map(({ entry }) => entry.file)).toEqual(["a-third.md", "b-second.md", "deploy.md"]);
    expect(filesOf(hot([directory]))).toEqual(["a-third.md", "b-second.md", "deploy.md"]);
  });
});

/** A table of words in the documented format, so that a prompt's vector is known exactly. */
function writeWords(
  pieces: readonly string[],
  seed: number,
): { file: string; vectorOf(words: string[]): Float32Array } {
  const sorted = [...pieces].sort((a, b) => hashOf(a) - hashOf(b));
  const random = randomNumbers(seed);
  const first = Float32Array.from({ length: DIMENSIONS }, () => random() * 0.2);
  const rows = sorted.map(() => ({
    scale: 0.1,
    values: Int8Array.from({ length: DIMENSIONS }, () => Math.round(random() * 7)),
  }));
  const halves = (values: Int8Array) =>
    values.filter((_, i) => i % 2 === 0).map((low, i) => (low & 15) | ((values[i * 2 + 1] as number) << 4));
  const file = path.join(top, `words-${seed}.bin`);
  fs.writeFileSync(
    file,
    Buffer.concat([
      Buffer.from(Uint32Array.of(0x5657444d, 3, sorted.length, DIMENSIONS).buffer),
      Buffer.from(first.buffer),
      Buffer.from(Uint32Array.from(sorted, hashOf).buffer),
      ...rows.flatMap(({ scale, values }) => [
        Buffer.from(Float32Array.of(scale).buffer),
        Buffer.from(halves(values).buffer),
      ]),
    ]),
  );
  return {
    file,
    vectorOf(words) {
      const sum = Array.from(first);
      for (const word of words) {
        const row = rows[sorted.indexOf(word)];
        for (const [i, value] of row?.values.entries() ?? []) (sum[i] as number) += value * (row?.scale ?? 0);
      }
      const length = Math.hypot(...sum);
      return Float32Array.from(sum, (value) => value / length);
    },
  };
}

/** Numbers from -1 to 1 that are the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 31 - 1;
  };
}

/** A direction of its own for every text. */
const scattered: Embed = (text) => {
  const random = randomNumbers(hashOf(text));
  const vector = Float32Array.from({ length: DIMENSIONS }, random);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
};

describe("the same as the warm ranker, by meaning", () => {
  const PIECES = ["deploy", "kubectl", "staging", "database", "pool", "espresso", "release", "tests", "queue"];

  it("on random stores, some memories without vectors, with a table of words of our own", async () => {
    const table = writeWords(PIECES, 7);
    const near: Embed = (text) => {
      const vector = scattered(text);
      const to = table.vectorOf(text.split(/\s+/).filter((word) => PIECES.includes(word)));
      const mixed = vector.map((value, i) => value + (to[i] as number));
      const length = Math.hypot(...mixed);
      return mixed.map((value) => value / length);
    };
    const asked = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(store, asked, fc.nat({ max: 3 }), async (random, prompt, without) => {
        const directories = writeRandom(random);
        const shelf = await openWarm(directories);
        for (const [owner, places] of shelf.places.entries()) {
          for (const [i, file] of [...places.keys()].entries()) {
            if (without === 0 || i % 4 !== without) freshenFile(shelf, owner, file, near);
          }
        }
        const vector = table.vectorOf(prompt);
        const sureness = new Map(warm(shelf, prompt.join(" "), vector).map((one) => [one.entry, one.confidence]));
        // A vector that is shorter weighs less in the order, and how sure a memory is does not depend on it.
        const shorter = vector.map((value) => value * SUM_OF_WORDS);
        const ranked = warm(shelf, prompt.join(" "), shorter).map((one) => ({
          ...one,
          confidence: sureness.get(one.entry) ?? Number.NaN,
        }));
        for (const isCompact of [false, true]) {
          if (isCompact) compactShelf(shelf);
          const found = hot(directories, prompt.join(" "), { wordsFile: table.file });
          expect(found.method).toBe("hybrid");
          expectSame(found, ranked, 2e-3);
        }
        for (const { path } of directories) fs.rmSync(path, { recursive: true });
      }),
      { numRuns: 12 },
    );
  });

  it("the similarity of every vector is its dot product with the prompt", () => {
    const entries = Array.from({ length: 40 }, (_, i) =>
      entryOf(
        `m${i}.md`,
        { body: `text ${i}`, ...(i % 3 === 0 ? { when: [`cue ${i}`, `other ${i}`] } : {}) },
        i % 7 === 6 ? {} : { embed: scattered },
      ),
    );
    const encoded = entries.map(encodeEntry);
    const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
    const [first, list] = [64, align(64 + bytes)];
    const [text, cue, rows] = [align(list + 160), align(list + 320), align(list + 480)];
    const query = rows + 65_536;
    const scan = openScan(query + 65_536);
    const memory = Buffer.from(scan.memory.buffer);
    Buffer.concat(encoded).copy(memory, first);
    expect(scan.listEntries(first, first + bytes, list)).toBe(entries.length);
    expect(scan.listEntries(first, first + bytes - 1, list)).toBe(entries.length - 1);
    scan.listEntries(first, first + bytes, list);

    const asked = scattered("what is asked");
    memory.set(new Uint8Array(asked.buffer), rows);
    const scale = scan.sumRows(rows, 0, query);
    scan.matchVectors(list, entries.length, query, scale, text, cue);
    const dot = ({ values, scale: of }: { values: Int8Array; scale: number }) =>
      values.reduce((sum, value, i) => sum + value * of * (asked[i] as number), 0);
    entries.forEach(({ vectors }, i) => {
      const best = (isCue: boolean) =>
        Math.max(-2, ...vectors.filter((vector) => vector.isCue === isCue).map((vector) => dot(vector)));
      expect(memory.readFloatLE(text + i * 4)).toBeCloseTo(best(false), 3);
      expect(memory.readFloatLE(cue + i * 4)).toBeCloseTo(best(true), 3);
    });
  });

  it("a prompt of unknown words, another script, or a table that is none goes by words", async () => {
    const table = writeWords(PIECES, 9);
    const directory = makeDirectory({ ...FILES, "cjk.md": { name: "部署 到 测试环境", body: "部署用 kubectl" } });
    const shelf = await openWarm([directory]);
    for (const file of shelf.places[0]?.keys() ?? []) freshenFile(shelf, 0, file, scattered);
    const options = { wordsFile: table.file };
    expect(hot([directory], "deploy kubectl", options).method).toBe("hybrid");
    expect(hot([directory], "xylophone quixotic", options).method).toBe("lexical");
    expect(hot([directory], "怎么部署到测试环境", options)).toMatchObject({ method: "lexical" });
    expect(filesOf(hot([directory], "怎么部署到测试环境", options))[0]).toBe("cjk.md");
    for (const wordsFile of [path.join(top, "nowhere.bin"), cacheOf(directory)]) {
      expect(hot([directory], "deploy kubectl", { wordsFile }).method).toBe("lexical");
    }
  });
});

function align(offset: number): number {
  return (offset + 15) & ~15;
}

describe("files that changed behind the cache", () => {
  it.each(["the folder's time", "a listing"])("are found by what they say now: %s", async (how) => {
    const directory = makeDirectory(FILES);
    await fill(directory);
    expect(folderTime(directory)).not.toBe(0);
    if (how === "a listing") forgetFolder(directory);
    const check = async (stale: number, ...expected: string[]) => {
      const found = hot([directory]);
      expect([found.stale, found.shown.map(({ file }) => file).sort()]).toEqual([stale, expected.sort()]);
      const copy = { ...directory, readOnly: true };
      expectSame(
        { ...found, order: found.order.map((one) => ({ ...one, saidMs: 0 })) },
        warm(await openWarm([copy]), PROMPT).map((one) => ({ ...one, entry: { ...one.entry, saidMs: 0 } })),
      );
    };
    await check(0, "deploy.md");
    put(directory, "pool.md", { name: "Kubectl deploys", body: "Deploy staging with kubectl." });
    await check(1, "deploy.md", "pool.md");
    put(directory, "deploy.md", { name: "Nothing", body: "Something else." });
    await check(2, "pool.md");
    put(directory, "new.md", { name: "Deploy kubectl staging", body: "New." });
    await check(3, "new.md", "pool.md");
    fs.rmSync(path.join(directory.path, "pool.md"));
    await check(2, "new.md");
    fs.renameSync(path.join(directory.path, "new.md"), path.join(directory.path, "renamed.md"));
    await check(2, "renamed.md");
    fs.rmSync(path.join(directory.path, "renamed.md"));
    await check(1);
  });

  it("a folder that changed this moment is listed again: its clock may not have ticked since", async () => {
    const directory = makeDirectory(FILES);
    await openWarm([directory]);
    // Of whole seconds, so that it can be set again.
    const moment = Math.floor(NOW_MS / 1000) - 60;
    const setTime = () => fs.utimesSync(directory.path, moment, moment);
    setTime();
    const justNow = { ...directory, now: () => new Date(moment * 1000 + 10) };
    await openWarm([justNow]);
    put(directory, "new.md", { name: "Deploy kubectl staging" });
    setTime();
    expect(filesOf(hot([justNow]))).toContain("new.md");
  });

  it("nothing is written: neither the cache nor anything else", async () => {
    const directory = makeDirectory(FILES);
    await fill(directory);
    put(directory, "new.md", { name: "Deploy" });
    const list = () =>
      fs
        .readdirSync(directory.path, { recursive: true, encoding: "utf8" })
        .sort()
        .map((file) => `${file} ${fs.statSync(path.join(directory.path, file)).mtimeMs}`);
    const before = list();
    hot([directory]);
    expect(list()).toEqual(before);
  });

  it("of several entries of a file the last one counts", async () => {
    const directory = makeDirectory(FILES);
    await fill(directory);
    const file = path.join(directory.path, "pool.md");
    for (const body of ["nothing", "deploy kubectl staging"]) {
      const bytes = Buffer.from(memoryText({ name: "Appended", body }));
      expect(appendEntries(directory, [digestMemory("pool.md", bytes, fs.statSync(file))])).toBe(true);
    }
    const found = hot([directory]);
    expect(found.order.filter(({ file }) => file === "pool.md")).toMatchObject([{ name: "Appended" }]);
    expect(found.considered).toBe(3);
  });

  it("sub-folders are looked into, unless the directory is flat", async () => {
    const files = {
      ...FILES,
      "sub/deep/argo.md": { name: "Deploy kubectl staging" },
      "logs/2026/x.md": { name: "Deploy" },
    };
    const directory = makeDirectory(files);
    const flat = { ...directory, recursive: false };
    expect(filesOf(hot([directory]))).toContain("sub/deep/argo.md");
    expect(filesOf(hot([flat]))).toEqual(expect.arrayContaining(["coffee.md", "deploy.md"]));
    expect(filesOf(hot([flat]))).not.toContain("sub/deep/argo.md");
    await fill(directory);
    expect(folderTime(directory)).toBe(0);
    put(directory, "sub/deep/second.md", { name: "Deploy kubectl staging" });
    fs.rmSync(path.join(directory.path, "sub/deep/argo.md"));
    const found = filesOf(hot([directory]));
    expect([found.includes("sub/deep/second.md"), found.includes("sub/deep/argo.md")]).toEqual([true, false]);
    expect(found.some((file) => file.startsWith("logs/"))).toBe(false);
  });

  it("no directory, an empty one, and one with only an index give nothing", async () => {
    const empty = makeDirectory();
    const indexed = makeDirectory();
    fs.writeFileSync(path.join(indexed.path, "MEMORY.md"), "- deploy kubectl staging");
    fs.writeFileSync(path.join(indexed.path, "MEMORY.more.md"), "- deploy kubectl staging");
    const absent = { ...empty, path: path.join(top, "absent") };
    for (const all of [[], [empty], [indexed], [absent], [empty, indexed, absent]]) {
      expect(hot(all)).toEqual({ order: [], shown: [], method: "lexical", considered: 0, stale: 0 });
    }
  });

  it("a memory whose name only begins like the index is a memory", async () => {
    const directory = makeDirectory({ "MEMORY.main.md": { name: "Deploy kubectl staging" } });
    expect((await openWarm([directory])).corpus.count).toBe(1);
    expect(filesOf(hot([directory]))).toEqual(["MEMORY.main.md"]);
  });

  it("links and folders named like memories are passed over", async () => {
    const directory = makeDirectory(FILES);
    const outside = path.join(top, "outside-link.md");
    fs.writeFileSync(outside, memoryText({ name: "Deploy kubectl staging" }));
    fs.symlinkSync(outside, path.join(directory.path, "link.md"));
    fs.mkdirSync(path.join(directory.path, "folder.md"));
    expect(filesOf(hot([directory])).sort()).toEqual(["coffee.md", "deploy.md"]);
    await fill(directory);
    fs.rmSync(path.join(directory.path, "deploy.md"));
    fs.symlinkSync(outside, path.join(directory.path, "deploy.md"));
    expect(filesOf(hot([directory]))).toEqual(["coffee.md"]);
  });
});

describe("many files", () => {
  const many = (count: number) => {
    const directory = makeDirectory(FILES);
    for (let i = 0; i < count - 3; i++) {
      put(directory, `filler-${i}.md`, { name: `Filler ${i}`, body: `Nothing of note ${i % 17}.` });
      age(directory, `filler-${i}.md`, (i + 1) * DAY);
    }
    return directory;
  };

  it("up to 300 every file is looked at: the oldest may change", async () => {
    const directory = many(300);
    await fill(directory);
    expect(folderTime(directory)).not.toBe(0);
    put(directory, "filler-290.md", { name: "Deploy kubectl staging" });
    const found = hot([directory]);
    expect([found.considered, found.stale]).toEqual([300, 1]);
    expect(found.shown.map(({ file }) => file).sort()).toEqual(["deploy.md", "filler-290.md"]);
  });

  it("of 400 the newest are looked at, new ones come and removed ones go", async () => {
    const directory = many(400);
    await fill(directory);
    expect(filesOf(hot([directory]))[0]).toBe("deploy.md");
    const ranked = warm(await openWarm([directory]), PROMPT);
    expectSame(hot([directory]), ranked);
    put(directory, "coffee.md", { name: "Tea", body: "Something else." });
    expect(filesOf(hot([directory]))).toEqual(["deploy.md"]);
    put(directory, "new.md", { name: "Deploy kubectl staging" });
    fs.rmSync(path.join(directory.path, "deploy.md"));
    const found = hot([directory]);
    expect([filesOf(found), found.considered, found.stale]).toEqual([["new.md"], 400, 2]);
  });

  it("without a cache as many are digested as there is time for", () => {
    const found = hot([many(400)]);
    expect([found.stale, found.considered]).toEqual([400, 200]);
  });
});

describe("a broken cache", () => {
  const SOME = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [
      `memory-number-${i}-${"x".repeat(i)}.md`,
      {
        name: `Deploy kubectl ${i}`,
        body: VOCABULARY.slice(i, i + 8).join(" "),
        when: [`cue ${i}`],
        links: [`memory-number-${(i + 1) % 12}-${"x".repeat((i + 1) % 12)}.md`],
      },
    ]),
  );
  const table = writeWords(["deploy", "kubectl", "staging"], 11);

  async function sound(): Promise<{ directory: Directory; bytes: Buffer }> {
    const directory = makeDirectory(SOME);
    const shelf = await openWarm([directory]);
    for (const file of Object.keys(SOME)) freshenFile(shelf, 0, file, () => table.vectorOf(["deploy", "kubectl"]));
    compactShelf(shelf);
    await openWarm([directory]);
    expect(folderTime(directory)).toBe(fs.statSync(directory.path).mtimeMs);
    return { directory, bytes: fs.readFileSync(cacheOf(directory)) };
  }

  function expectHarmless(directory: Directory, wordsFile: string | null = table.file): void {
    const { order, shown } = hot([directory], PROMPT, { wordsFile });
    expect(order.filter(({ file }) => !Object.hasOwn(SOME, file))).toEqual([]);
    expect(new Set(order.map(({ file }) => file)).size).toBe(order.length);
    expect(shown.every((one) => order.includes(one))).toBe(true);
  }

  it("whatever bytes are changed, only files that exist are found, each once, and nothing is thrown", async () => {
    const { directory, bytes } = await sound();
    const starts = entriesIn(bytes);
    const anywhere = fc.nat({ max: bytes.length - 1 });
    const inHead = fc
      .tuple(fc.constantFrom(...starts), fc.nat({ max: HEAD_BYTES - 1 }))
      .map(([start, offset]) => start + offset);
    const flip = fc.tuple(fc.oneof(anywhere, inHead), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(
        fc.array(flip, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        fc.boolean(),
        (flips, listed, byWords) => {
          const broken = Buffer.from(bytes);
          for (const [at, mask] of flips) (broken[at] as number) ^= mask;
          if (listed) broken.writeDoubleLE(0, FOLDER_TIME_AT);
          fs.writeFileSync(cacheOf(directory), broken);
          expectHarmless(directory, byWords ? null : table.file);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("cut anywhere, garbage, another version, a folder in its place", async () => {
    const { directory, bytes } = await sound();
    const put = (content: Uint8Array) => fs.writeFileSync(cacheOf(directory), content);
    for (let length = 0; length < bytes.length; length += 517) {
      put(bytes.subarray(0, length));
      expectHarmless(directory);
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), fc.boolean(), (garbage, behindHead) => {
        put(behindHead ? Buffer.concat([bytes.subarray(0, CACHE_HEAD_BYTES), garbage]) : garbage);
        expectHarmless(directory);
      }),
      { numRuns: 25 },
    );
    const other = Buffer.from(bytes);
    other.writeUInt32LE(99, 4);
    put(other);
    expect(hot([directory])).toMatchObject({ stale: 12, considered: 12 });
    fs.rmSync(cacheOf(directory));
    fs.mkdirSync(cacheOf(directory));
    expect(hot([directory])).toMatchObject({ stale: 12, considered: 12 });
  });

  it("numbers that would reach beyond the entry end the reading of it", async () => {
    const { directory, bytes } = await sound();
    const second = entriesIn(bytes)[1] as number;
    const fields = [
      AT.bytes,
      AT.fileBytes,
      AT.linkBytes,
      AT.nameBytes,
      AT.termCount,
      AT.vectorCount,
      AT.termsAt,
      AT.vectorsAt,
    ];
    for (const field of fields) {
      for (const value of [0, 3, 96, 0x80000000, 0xffffffff]) {
        const broken = Buffer.from(bytes);
        broken.writeUInt32LE(value, second + field);
        fs.writeFileSync(cacheOf(directory), broken);
        expectHarmless(directory);
      }
    }
  });

  it("what stands behind a broken entry is found all the same", async () => {
    const { directory, bytes } = await sound();
    const starts = entriesIn(bytes);
    const broken = Buffer.from(bytes);
    broken.writeUInt32LE(0, starts[1] as number);
    fs.writeFileSync(cacheOf(directory), broken);
    expect(hot([directory]).considered).toBe(12);
  });

  it("a vector without sense costs its own memory, not those that have none", async () => {
    const { directory, bytes } = await sound();
    const [first = 0] = entriesIn(bytes);
    const broken = Buffer.from(bytes);
    broken.writeFloatLE(Number.NaN, first + broken.readUInt32LE(first + AT.vectorsAt) + 8);
    fs.writeFileSync(cacheOf(directory), broken);
    put(directory, "new.md", { name: "Deploy kubectl staging" });
    const found = hot([directory], PROMPT, { wordsFile: table.file });
    expect(found.method).toBe("hybrid");
    expect(filesOf(found)).toContain("new.md");
  });

  it("an entry that names a file outside the directory is passed over", () => {
    const directory = makeDirectory();
    const outside = path.join(top, "outside.md");
    fs.writeFileSync(outside, memoryText({ name: "Deploy kubectl staging" }));
    const entry: Entry = digestMemory("../outside.md", fs.readFileSync(outside), fs.statSync(outside));
    writeEntries(directory, [entry]);
    patchCache(directory, (bytes) => void bytes.writeDoubleLE(fs.statSync(directory.path).mtimeMs, FOLDER_TIME_AT));
    expect(filesOf(hot([directory]))).toEqual([]);
  });

  it("the layout is what scan.as takes it for", () => {
    expect([HEAD_BYTES, VECTOR_BYTES, DIMENSIONS]).toEqual([96, 400, 384]);
    expect(AT).toMatchObject({ bytes: 4, mtimeMs: 16, fileBytes: 56, linkBytes: 60, nameBytes: 64, termCount: 68 });
    expect(AT).toMatchObject({ vectorCount: 72, length: 80, termsAt: 84, vectorsAt: 88 });
  });
});
