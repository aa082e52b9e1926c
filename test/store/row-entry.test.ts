import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DIMENSIONS,
  encodeEntry as encodeParts,
  hashBytes,
  isSoundRow,
  quantise,
  type RowEntry,
  rowBytesAt,
  viewEntry,
} from "../../src/store/row-entry.ts";
import { hashOf } from "../../src/text/hash.ts";
import { entryOf, fakeEmbed } from "../recall/store.ts";

const u32 = fc.integer({ min: 0, max: 0xffff_ffff });
const time = fc.double({ min: 0, max: 4e12, noNaN: true, noDefaultInfinity: true });
/** Well-formed, since it goes through UTF-8; a link is one line. */
const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", "größe.md", "部署/手順.md", "👩‍👩‍👧", "a\0b"),
);
const line = fc.string({ unit: "grapheme-ascii", minLength: 1 }).map((link) => link.replaceAll("\n", " "));

const vector = fc.record({
  hash: u32,
  isCue: fc.boolean(),
  scale: fc.float({ min: 0, max: 1, noNaN: true }),
  values: fc.int8Array({ minLength: DIMENSIONS, maxLength: DIMENSIONS }),
});

const small = entryOf(
  "größe.md",
  { name: "Size", body: "Twelve [[pools]].", when: ["it is full"], supersedes: ["old"] },
  { embed: fakeEmbed("full") },
);

const encodeEntry = (entry: RowEntry) => {
  const { row, rank } = encodeParts(entry);
  return Buffer.concat([row, rank]);
};

/** As plain values: what is parsed later is parsed now. Null for what is no sound entry. */
function decodeEntry(bytes: Buffer, at: number): RowEntry | null {
  const length = rowBytesAt(bytes, at);
  if (length === 0 || !isSoundRow(bytes, at, length)) return null;
  const entry: RowEntry & { from?: unknown } = viewEntry(bytes, at);
  const { from: _, ...fields } = entry;
  return { ...fields, details: entry.details, ranking: entry.ranking };
}

const anyEntry: fc.Arbitrary<RowEntry> = fc
  .record({
    file: text,
    name: text,
    links: fc.array(
      fc.oneof(
        line,
        line.map((link) => `>${link}`),
      ),
      { maxLength: 32 },
    ),
    hash: u32,
    mtimeMs: time,
    ctimeMs: time,
    size: fc.nat(),
    ino: fc.maxSafeNat(),
    saidMs: time,
    createdMs: time,
    commitMs: time,
    isSettled: fc.boolean(),
    isInferred: fc.boolean(),
    isPlain: fc.boolean(),
    description: text,
    day: fc.option(fc.constant("2026-01-02")),
    type: fc.constantFrom("user" as const, "feedback" as const, "project" as const, "reference" as const),
    pairs: fc.array(fc.tuple(u32, fc.integer({ min: 0, max: 65_535 })), { maxLength: 40 }),
    length: fc.float({ min: 0, max: 100_000, noNaN: true }),
    vectors: fc.array(vector, { maxLength: 8 }),
  })
  .map(({ pairs, length, vectors, description, day, ...entry }) => {
    const { file, name, type } = entry;
    const rule = day === null ? null : { name, file, tools: ["Bash"], pattern: "x", paths: [], message: description };
    return {
      ...entry,
      isForHooks: rule !== null,
      details: { header: { ...small.details.header, file, name, type, description }, rule, day },
      ranking: {
        terms: Uint32Array.from(pairs, ([term]) => term).sort(),
        weights: Uint16Array.from(pairs, ([, weight]) => weight),
        length,
        vectors,
      },
    };
  });

/** Moved behind other bytes, as it lies in a file. */
function placed(bytes: Buffer, at: number): Buffer {
  return Buffer.from(new Uint8Array([...new Uint8Array(at), ...bytes, ...new Uint8Array(16)]).buffer);
}

describe("entries as bytes", () => {
  it("any entry comes back as it was, wherever it lies", () => {
    fc.assert(
      fc.property(anyEntry, fc.integer({ min: 0, max: 4 }), (entry, blocks) => {
        const bytes = encodeEntry(entry);
        expect(bytes.length % 16).toBe(0);
        const file = placed(bytes, blocks * 16);
        expect(decodeEntry(file, blocks * 16)).toEqual(entry);
      }),
      { numRuns: 200 },
    );
  });

  it("the same entry gives the same bytes", () => {
    expect(encodeEntry(small).equals(encodeEntry(structuredClone(small)))).toBe(true);
  });

  it("every changed byte is noticed", () => {
    const bytes = encodeEntry(small);
    const rowBytes = encodeParts(small).row.length;
    for (let at = 0; at < bytes.length; at++) {
      const broken = Buffer.from(new Uint8Array(bytes).buffer);
      broken[at]! ^= 0x81;
      const found = decodeEntry(broken, 0);
      if (at < rowBytes) expect([at, found]).toEqual([at, null]);
      else expect([at, found?.ranking.terms.length]).toEqual([at, 0]);
    }
  });

  it("cut at any length it is no entry, or one without terms, and nothing throws", () => {
    const bytes = encodeEntry(small);
    const rowBytes = encodeParts(small).row.length;
    for (let length = 0; length < bytes.length; length++) {
      const cut = Buffer.from(new Uint8Array(bytes.subarray(0, length)).buffer);
      if (length < rowBytes) expect([length, decodeEntry(cut, 0)]).toEqual([length, null]);
      else expect([length, decodeEntry(cut, 0)?.ranking.terms.length]).toEqual([length, 0]);
    }
    expect(decodeEntry(bytes, bytes.length)).toBeNull();
  });

  it("bytes of any kind behind a true beginning: null or an entry, never an error", () => {
    const begin = encodeEntry(small).subarray(0, 16);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.nat(16), (tail, from) => {
        const bytes = Buffer.from(new Uint8Array([...begin.subarray(0, from), ...tail]).buffer);
        expect(decodeEntry(bytes, 0)).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it("lengths that overflow the file are not believed", () => {
    for (let field = 4; field < 124; field += 4) {
      for (const value of [0, 1, 0x7fff_ffff, 0xffff_ffff, 0xffff_fff0]) {
        const bytes = encodeEntry(small);
        if (bytes.readUInt32LE(field) === value) continue;
        bytes.writeUInt32LE(value, field);
        expect([field, value, decodeEntry(bytes, 0)]).toEqual([field, value, null]);
      }
    }
  });
});

describe("quantise", () => {
  it("keeps the direction", () => {
    fc.assert(
      fc.property(
        fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: DIMENSIONS, maxLength: DIMENSIONS }),
        (numbers) => {
          const length = Math.hypot(...numbers);
          fc.pre(length > 0.1);
          const one = Float32Array.from(numbers, (value) => value / length);
          const { scale, values } = quantise(one);
          const cosine = one.reduce((sum, value, i) => sum + value * (values[i] as number) * scale, 0);
          expect(cosine).toBeGreaterThan(0.99);
          expect(cosine).toBeLessThan(1.01);
        },
      ),
      { numRuns: 100 },
    );
  });

  it("nothing, or no numbers: nothing", () => {
    for (const value of [0, Number.NaN]) {
      const { scale, values } = quantise(new Float32Array(DIMENSIONS).fill(value));
      expect([scale, values.every((each) => each === 0)]).toEqual([1, true]);
    }
  });
});

it("knows a file by the number that caches of earlier versions have for it", () => {
  const bytes = fc.uint8Array({ maxLength: 2000 });
  fc.assert(
    fc.property(bytes, (data) => {
      expect(hashBytes(Buffer.from(data))).toBe(hashOf(Buffer.from(data).toString("latin1")));
    }),
  );
});
