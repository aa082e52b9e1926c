import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openMiniLm } from "../../src/meaning/minilm.ts";
import { MAX_PIECES, openWords, type Words } from "../../src/meaning/words.ts";
import { hashOf } from "../../src/text/hash.ts";
import { ends } from "../hang.ts";
import { makeWorld } from "../world.ts";
import { needModel } from "./model.ts";

const ASSET = fileURLToPath(new URL("../../assets/words.bin", import.meta.url));
const { top } = makeWorld();

/** The sum that stands for a text: the vector every sum begins with, and a row for each piece. */
function embed(words: Words, text: string): Float32Array {
  const { dimensions, rowBytes } = words;
  const rows = words.findRows(text);
  const bytes = Buffer.alloc(dimensions * 4 + rows.length * rowBytes);
  expect(words.readRows(rows, bytes, 0)).toBe(true);
  const sum = Float32Array.from({ length: dimensions }, (_, i) => bytes.readFloatLE(i * 4));
  rows.forEach((_, r) => {
    const at = dimensions * 4 + r * rowBytes;
    for (let i = 0; i < dimensions; i++) {
      const pair = bytes.readInt8(at + 4 + (i >> 1));
      (sum[i] as number) += bytes.readFloatLE(at) * (i % 2 === 0 ? (pair << 28) >> 28 : pair >> 4);
    }
  });
  return sum;
}

function cosine(a: Float32Array, b: Float32Array): number {
  const dot = a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}

function write(name: string, content: Uint8Array): string {
  const file = path.join(top, name);
  fs.writeFileSync(file, content);
  return file;
}

/** A table of three dimensions whose rows are all 1, 2, 3 … in the order of the pieces given. */
function table(...pieces: string[]): string {
  const sorted = [...pieces].sort((a, b) => hashOf(a) - hashOf(b));
  return write(
    `table-${hashOf(pieces.join())}.bin`,
    Buffer.concat([
      Buffer.from(Uint32Array.of(0x5657444d, 3, sorted.length, 3).buffer),
      Buffer.from(Float32Array.of(0.5, 0, 0).buffer),
      Buffer.from(Uint32Array.from(sorted, hashOf).buffer),
      ...sorted.flatMap((piece) => {
        const value = pieces.indexOf(piece) + 1;
        return [Buffer.from(Float32Array.of(1).buffer), Buffer.from([(value & 15) | (value << 4), -value & 15])];
      }),
    ]),
  );
}

describe("the table as it is shipped", () => {
  const words = openWords(ASSET) as Words;
  afterAll(() => words.close());

  it("has MiniLM's 384 dimensions", () => {
    expect([words.dimensions, words.rowBytes]).toEqual([384, 196]);
  });

  it("has a row for a known word, several for one of known pieces, none for what is unknown", () => {
    expect(words.findRows("deploy")).toHaveLength(1);
    expect(words.findRows("Deploy")).toEqual(words.findRows("deploy"));
    expect(words.findRows("kubectl").length).toBeGreaterThan(1);
    expect(words.findRows("deploy kubectl")).toEqual([...words.findRows("deploy"), ...words.findRows("kubectl")]);
    expect(words.findRows("ᚠᚢᚦ")).toEqual([]);
    expect(words.findRows("deploy ᚠᚢᚦ")).toEqual(words.findRows("deploy"));
    expect(words.findRows("x".repeat(101))).toEqual([]);
  });

  it("gives related sentences nearer vectors than unrelated ones", () => {
    const question = embed(words, "which package manager do we use for dependencies?");
    const answer = cosine(question, embed(words, "Install dependencies with pnpm, not npm."));
    const other = cosine(question, embed(words, "The office closes at six on Fridays."));
    expect(answer).toBeGreaterThan(other + 0.1);
  });

  it("whatever the text, at most so many rows come, all of them in the file, and every number is one", () => {
    const count = new Uint32Array(fs.readFileSync(ASSET).subarray(0, 16).buffer.slice(0, 16))[2] as number;
    const hostile = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ unit: "grapheme" }));
    fc.assert(
      fc.property(hostile, (text) => {
        const rows = words.findRows(text);
        expect(rows.length).toBeLessThanOrEqual(MAX_PIECES);
        expect(rows.every((row) => row >= 0 && row < count)).toBe(true);
        expect(embed(words, text).every(Number.isFinite)).toBe(true);
      }),
      { numRuns: 100 },
    );
    for (const text of ["", " ", "\0\0", "\ud800", "'".repeat(5000), "a ".repeat(5000), "a".repeat(1 << 20)]) {
      expect(words.findRows(text).length).toBeLessThanOrEqual(MAX_PIECES);
    }
    expect(words.findRows("word ".repeat(5000))).toHaveLength(MAX_PIECES);
  });

  it("thousands of unknown words do not hold up the prompt", () => {
    const text = `please tell me about this ${`${"q".repeat(98)}☃ `.repeat(600)}`;
    expect(ends(() => words.findRows(text)).length).toBeLessThanOrEqual(MAX_PIECES);
  });
});

describe("the sum of a text's words and MiniLM's own vector", () => {
  const folder = needModel();
  let model: ReturnType<typeof openMiniLm>;
  const words = openWords(ASSET) as Words;
  beforeAll(() => {
    if (folder) model = openMiniLm(folder);
  });
  afterAll(() => {
    words.close();
  });

  it.each([
    "How do we deploy the service to the staging cluster?",
    "The database connection pool keeps running out of connections",
    "please fix the flaky tests in the payment module",
    "Which package manager does this repository use?",
  ])("point the same way: %s", (text) => {
    expect(cosine(embed(words, text), model(text))).toBeGreaterThan(0.6);
  });

  it("find the same memory nearest", () => {
    const memories = [
      "Releases go out on Tuesdays, never before a holiday.",
      "The database pool holds at most twenty connections.",
      "Use pnpm to install packages.",
      "Tests must not reach the network.",
    ];
    const questions = [
      "when is the next release day?",
      "too many database connections are open",
      "how do I install a package?",
      "may a test call an external network service?",
    ];
    const vectors = memories.map((text) => model(text));
    const nearest = questions.map((question) => {
      const near = vectors.map((vector) => cosine(embed(words, question), vector));
      return near.indexOf(Math.max(...near));
    });
    expect(nearest).toEqual([0, 1, 2, 3]);
  });
});

describe("a table of a few pieces", () => {
  it("a word is the longest known piece, then the longest that goes on from there", () => {
    const words = openWords(table("run", "##ning", "##n", "##ing", "runn", "a")) as Words;
    expect(words.dimensions).toBe(3);
    const sumOf = (text: string) => [...embed(words, text)];
    expect(words.findRows("running")).toHaveLength(2);
    // "runn" (5) and "##ing" (4), after the vector that every sum begins with.
    expect(sumOf("running")).toEqual([9.5, 9, -9]);
    expect(sumOf("run")).toEqual([1.5, 1, -1]);
    expect(sumOf("RÚN a")).toEqual([7.5, 7, -7]);
    expect(sumOf("")).toEqual([0.5, 0, 0]);
    // A part is unknown: nothing of the word counts. A piece that goes on is no word of its own.
    expect(words.findRows("runx")).toEqual([]);
    expect(words.findRows("ning")).toEqual([]);
    words.close();
  });

  it("an empty table knows no word", () => {
    const words = openWords(table()) as Words;
    expect(words.findRows("run a")).toEqual([]);
    words.close();
  });

  it("rows of a file that was cut meanwhile are not read", () => {
    const file = table("run", "a");
    const words = openWords(file) as Words;
    const rows = words.findRows("run a");
    fs.truncateSync(file, fs.statSync(file).size - 7);
    expect(words.readRows(rows, Buffer.alloc(64), 0)).toBe(false);
    words.close();
  });
});

describe("a file that is no table is null", () => {
  const sound = fs.readFileSync(table("run", "##ning", "a"));
  const openFiles = () => fs.readdirSync("/proc/self/fd").length;

  it.each([
    ["missing", () => path.join(top, "missing.bin")],
    ["empty", () => write("empty.bin", Buffer.alloc(0))],
    ["shorter than its head", () => write("short.bin", sound.subarray(0, 15))],
    ["cut", () => write("cut.bin", sound.subarray(0, -1))],
    ["longer", () => write("longer.bin", Buffer.concat([sound, Buffer.from("x")]))],
    ["text", () => write("text.bin", Buffer.from("not a table of words at all, but a text"))],
    ["zeros", () => write("zeros.bin", Buffer.alloc(4096))],
    ["another version", () => write("version.bin", Buffer.from(sound.map((byte, i) => (i === 4 ? 9 : byte))))],
    [
      "counts beyond all bounds",
      () => write("count.bin", Buffer.from(sound.map((byte, i) => (i > 7 && i < 16 ? 255 : byte)))),
    ],
  ])("%s", (_, make) => {
    const file = make();
    expect(openWords(file)).toBeNull();
  });

  it("a folder in its place", () => {
    expect(openWords(top)).toBeNull();
  });

  it.runIf(fs.existsSync("/proc/self/fd"))("and none of them is left open", () => {
    const before = openFiles();
    const file = write("foreign.bin", Buffer.alloc(100));
    for (let i = 0; i < 20; i++) openWords(file);
    expect(openFiles()).toBe(before);
  });
});
