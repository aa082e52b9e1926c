import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foreignShare, hasCjk, termsOf } from "../../src/text/terms.ts";
import { ends } from "../hang.ts";

describe("termsOf: code", () => {
  it.each([
    ["handleAuth", ["handl", "auth", "handleauth"]],
    ["HTTPServer", ["http", "server", "httpserver"]],
    ["XMLHttpRequest", ["xml", "http", "request", "xmlhttprequest"]],
    ["max_retry_count", ["max", "retri", "count", "max_retry_count"]],
    ["MAX_RETRY_COUNT", ["max", "retri", "count", "max_retry_count"]],
    ["src/db/pool.ts", ["src", "db", "pool", "ts", "src/db/pool.ts", "pool.ts"]],
    ["v1.2", ["v1", "2", "v1.2"]],
    ["h100", ["h100"]],
    ["C:\\paths\\to\\File.ts", ["path", "file", "ts", "c:/paths/to/file.ts", "file.ts"]],
    ["user@example.com", ["user", "exampl", "com", "user@example.com"]],
    ["port=5432", ["port", "5432"]],
    ["pool.query()", ["pool", "queri", "pool.query"]],
    ["--dry-run", ["dri", "run", "dry-run"]],
    ["a_b", ["a_b"]],
  ])("%s", (text, terms) => {
    expect(termsOf(text)).toEqual(terms);
  });

  it("however an identifier is written, its parts are the same", () => {
    const parts = ["max", "retri", "count"];
    for (const written of ["maxRetryCount", "MaxRetryCount", "max_retry_count", "max-retry-count", "max.retry.count"]) {
      expect(termsOf(written).slice(0, 3)).toEqual(parts);
    }
  });

  it("the same path with either slash is one term", () => {
    expect(termsOf("src\\db\\pool.ts")).toEqual(termsOf("src/db/pool.ts"));
  });

  it("a part that is found nowhere as a word: no term longer than 64", () => {
    expect(termsOf("x".repeat(65))).toEqual([]);
    expect(termsOf("y".repeat(64))).toHaveLength(1);
    expect(termsOf(`${"ab/".repeat(40)}c1`)).not.toContain("");
    for (const term of termsOf(`${"ab/".repeat(40)}c1`)) expect(term.length).toBeLessThanOrEqual(64);
  });

  // Bug of stem.ts: what comes back is a function, and hashing it throws.
  it("constructor is a word like any other", () => {
    for (const text of ["constructor", "constructor()", "the Constructor of Pool", "Object.constructor"]) {
      expect(termsOf(text)).toContain("constructor");
    }
  });
});

describe("termsOf: languages", () => {
  it.each([
    ["normalisation", "normalization"],
    ["normalise", "normalize"],
    ["colour", "color"],
    ["behaviours", "behaviors"],
    ["Organised", "organized"],
    ["initialiser", "initializer"],
  ])("%s is %s", (british, american) => {
    expect(termsOf(british)).toEqual(termsOf(american));
  });

  it("short words keep their spelling: four, hour, wise", () => {
    expect(termsOf("four hour wise")).toEqual(["four", "hour", "wise"]);
  });

  it.each([
    ["部署", ["部", "部署", "署"]],
    ["部署流程", ["部", "部署", "署", "署流", "流", "流程", "程"]],
    ["好", ["好"]],
    ["カタカナ", ["カタ", "タカ", "カナ"]],
    ["サーバー", ["サー", "ーバ", "バー"]],
    ["ありがとう", ["あり", "りが", "がと", "とう"]],
    ["本番に入れます", ["本", "本番", "番", "番に", "に入", "入", "入れ"]],
    ["使用docker", ["使", "使用", "用", "docker"]],
    ["用handleAuth登录", ["用", "handl", "auth", "handleauth", "登", "登录", "录"]],
    ["部署，程。", ["部", "部署", "署", "程"]],
    ["配置src/db/pool.ts", ["配", "配置", "置", "src", "db", "pool", "ts", "src/db/pool.ts", "pool.ts"]],
    ["𠮷野", ["𠮷", "𠮷野", "野"]],
  ])("CJK %s", (text, terms) => {
    expect(termsOf(text)).toEqual(terms);
  });

  it("full width is the same as half width, composed as decomposed", () => {
    expect(termsOf("ＤＯＣＫＥＲ　ｄｅｐｌｏｙ")).toEqual(termsOf("docker deploy"));
    expect(termsOf("Größe")).toEqual(termsOf("Gro\u0308ße"));
    expect(termsOf("データ")).toEqual(termsOf("ﾃﾞｰﾀ"));
  });

  it("stop words say nothing, with either apostrophe", () => {
    expect(termsOf("The what and HOW of it, don't we’ve that's")).toEqual([]);
    expect(termsOf("wie ist das, où est le, para los")).toEqual([]);
    expect(termsOf("the user’s coffee")).toEqual(["user", "coffe"]);
    expect(termsOf("the user's coffee")).toEqual(["user", "coffe"]);
  });

  // Bug: only the first apostrophe of a word is made a plain one.
  it("a word with two apostrophes", () => {
    expect(termsOf("rock’n’roll")).toEqual(termsOf("rock'n'roll"));
  });

  it("hasCjk and foreignShare", () => {
    expect(["部署", "a部", "ขอ", "デ", "abc", "", "é"].map(hasCjk)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(["deploy", "", "größer", "部署"].map(foreignShare)).toEqual([0, 0, 2 / 6, 1]);
  });
});

describe("termsOf: bad input", () => {
  it.each([
    ["nothing", "", []],
    ["spaces", " \n\t\u3000", []],
    ["emoji", "👍🏽 👩‍👩‍👧 🇩🇪", []],
    ["NUL between words", "foo\0bar", ["foo", "bar"]],
    ["a lone surrogate", "\ud800alpha \udc00", ["alpha"]],
    ["marks alone", "--- ... /// \\\\ ::", []],
    ["single letters", "a b x y", []],
    ["single digits", "1 2", ["1", "2"]],
    ["zero width between", "pa\u200bss", ["pa", "ss"]],
  ])("%s", (_, text, terms) => {
    expect(termsOf(text)).toEqual(terms);
  });

  it("never throws, and gives only texts of at most 64 units in lower case", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom("Auth", "_", "/", "\\", ".", "部署", "’s", "ﷺ", "İ", "\ud83d", "123", "-"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        for (const term of termsOf(pieces.join(""))) {
          expect(typeof term).toBe("string");
          expect(term.length).toBeLessThanOrEqual(64);
          expect(term).toBe(term.toLowerCase());
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("plain ASCII is read as it is read among other letters", () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary-ascii" }),
      fc.constantFrom("Auth", "HTTP", "v1", "_", "/", "\\", ".", "'s", "'", "@", "#", ":", "-", "a", "A"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const text = pieces.join("");
        fc.pre(!/constructor/i.test(text));
        expect(termsOf(`${text} 部`)).toEqual([...termsOf(text), "部"]);
      }),
      { numRuns: 1000 },
    );
  });

  // Bug: what stands before the ideographs ends with the joint, and its last part is empty.
  it("no term is empty where a path goes over from one script to the other", () => {
    expect(termsOf("docs/guide/部署.md")).not.toContain("");
    expect(termsOf("docs/guide/部署.md")).toContain("docs/guide");
  });

  it.each([
    ["words", "deploy the service "],
    ["one path", "a/"],
    ["one identifier", "aB"],
    ["one run of ideographs", "部"],
    ["letters", "x"],
    ["marks", "-"],
    ["apostrophes", "a'"],
    ["mixed", "部a"],
    ["ligatures that grow", "ﷺ"],
  ])("a megabyte of %s is cut, and does not hang", (_, piece) => {
    const text = piece.repeat(1_000_000 / piece.length);
    const terms = ends(() => termsOf(text));
    expect(termsOf(`${text}zebra`)).toHaveLength(terms.length);
  });
});
