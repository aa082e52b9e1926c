/** What is found in a memory's text, and what is left alone. */

import path from "node:path";
import { describe, expect, it } from "vitest";
import { findClaims } from "../../src/truth/claims.ts";
import { ends } from "../hang.ts";

const root = path.resolve("/projects/harbor");
const context = { root, names: ["harbor"], written: new Date("2026-01-10") };
/** Kinds and texts of what cannot be anything else. */
const find = (text: string) =>
  findClaims(text, context)
    .claims.filter(({ loose, in: where }) => !loose && where !== "plan")
    .map(({ kind, text }) => `${kind} ${text}`);
const days = (text: string) =>
  findClaims(text, context).claims.flatMap(({ kind, day }) => (kind === "date" ? [day] : []));

describe("findClaims", () => {
  it("B5.6 finds files, functions and flags, with their line", () => {
    const { claims } = findClaims(
      "---\nname: a\n---\n\nOne.\nSee `src/a.ts:12` and\n`runAll()` with `--fast`.\n",
      context,
    );
    expect(claims).toMatchObject([
      { kind: "path", text: "src/a.ts", line: 6, lineNumber: 12 },
      { kind: "symbol", text: "runAll", line: 7 },
      { kind: "flag", text: "--fast", line: 7 },
    ]);
  });

  it("finds a thing once and knows its other places", () => {
    const text = "`src/a.ts` is good. Keep src/a.ts.";
    const [claim, ...others] = findClaims(text, context).claims.filter(({ kind }) => kind === "path");
    expect(others).toEqual([]);
    expect([claim?.at, ...(claim?.more ?? [])].map((at) => text.slice(at, (at ?? 0) + 8))).toEqual([
      "src/a.ts",
      "src/a.ts",
    ]);
  });

  it("reads the description, too, and lines of files with CRLF and BOM", () => {
    const text = "\uFEFF---\r\ndescription: about src/b.ts\r\n---\r\n\r\nSee src/c.ts.\r\n";
    const paths = findClaims(text, context).claims.filter(({ kind }) => kind === "path");
    expect(paths.map(({ text, line }) => [text, line])).toEqual([
      ["src/b.ts", 2],
      ["src/c.ts", 5],
    ]);
  });

  it.each([
    "Tests of `src/foo/bar.ts` are in path/to/file.test.ts, `<name>/index.ts` or src/**/x.ts.",
    "We deleted src/old.ts and its `oldName`.",
    "Helpers used to live in src/util.ts.",
    "`src/a.ts` was renamed; `oldName()` no longer exists.",
    "In the billing repo, src/a.ts does the same.",
    "We will create src/new.ts with a `newThing` function.",
    "See https://example.com/src/a.ts and ~/notes/a.md, /etc/hosts.conf.",
    "Push with `git push --force-with-lease`.",
    "~~src/gone.ts~~",
    "~~It is in src/gone.ts. Call `goneName()`\nand src/other.ts.~~",
    "```ts\nimport { a } from './src/a.ts';\n```",
    "For example:\n\n```sh\nnpm run thing\n```",
    "- [ ] add `src/later.ts`",
    "- ❌ **`rm -rf src/old/`**, `src/old.ts`",
    "Version 1.2.3, and/or 9/1, `application/json`.",
  ])("leaves alone: %s", (text) => expect(find(text)).toEqual([]));

  it.each([
    ["src/new.ts replaced src/old.ts.", ["path src/new.ts"]],
    ["Moved from `src/a.ts` to `src/b.ts`.", ["path src/b.ts"]],
    ["`src/a.ts` → `src/b.ts`", ["path src/b.ts"]],
    ["Use `newName` instead of `oldName`.", ["symbol newName"]],
    ["Run `npm run test:unit -- --watch`.", ["script test:unit"]],
    ["```sh\n$ npm run build\nsrc/printed.ts\n```", ["script build"]],
    ["Set `HARBOR_PORT=80` or $OTHER_PORT.", ["env HARBOR_PORT", "env OTHER_PORT"]],
    [`${root}/src/a.ts is ours.`, ["path src/a.ts"]],
    ["In the harbor repo, src/a.ts.", ["path src/a.ts"]],
    ["See [other](other_memory.md).", ["link other_memory.md"]],
  ])("finds in: %s", (text, expected) =>
    expect(find(text).filter((claim) => !/^symbol npm$/.test(claim))).toEqual(expected),
  );

  it("knows plans for what they are", () => {
    const planned = (text: string) =>
      findClaims(text, context).claims.map(({ kind, text, in: where }) => `${kind} ${text} ${where}`);
    expect(planned("We will create src/new.ts and the `newThing` function.")).toEqual([
      "path src/new.ts plan",
      "symbol newThing plan",
    ]);
    expect(planned("We will create src/new.ts with a `newThing` function.")).toEqual(["path src/new.ts plan"]);
    expect(planned("- [ ] add `src/later.ts`")).toEqual(["path src/later.ts plan"]);
  });

  it.each([
    ["`poolSize` is 10.", "poolSize 10"],
    ["Set `poolSize = 10_000` there.", "poolSize 10000"],
    ["`poolSize` (10) in src/db.ts", "poolSize 10"],
    ["poolSize 10 in src/db.ts", "poolSize 10"],
    ["`db.poolSize` defaults to 10.", "poolSize 10"],
    ["MAX_RETRIES is 5.", "MAX_RETRIES 5"],
    ['`logLevel` is "debug".', "logLevel debug"],
    ["The pool is 10.", undefined],
    ["`poolSize` was 10.", undefined],
    ["`poolSize` == 10 is checked.", undefined],
  ])("reads the value of: %s", (text, expected) => {
    const [claim] = findClaims(text, context).claims.filter(({ kind }) => kind === "value");
    expect(claim && `${claim.text} ${claim.value}`).toBe(expected);
  });

  it.each([
    ["Freeze until 2026-03-05.", ["2026-03-05"]],
    ["Due by March 5, 2026 or 6 March 2026.", ["2026-03-05", "2026-03-06"]],
    ["Launches on March 2.", ["2026-03-02"]],
    ["Ends on January 5th.", ["2027-01-05"]],
    ["Goal for Q1 2026.", ["2026-03-31"]],
    ["Decided on 2026-01-02, since 2026-01-03, as of 4 January 2026.", []],
    ["Until 2026-02-31 and before 2026-13-01.", []],
    ["Run it with `--until 2026-01-01`.", []],
  ])("knows deadlines: %s", (text, expected) => expect(days(text)).toEqual(expected));
});

describe("frontmatter", () => {
  const memory = (fields: string) => `---\nname: a\n${fields}\n---\n\nSee src/a.ts and src/b.ts.\n`;

  it("declares claims", () => {
    const { claims } = findClaims(
      memory('claims:\n  - "symbol: run in src/x.ts"\n  - "script: make all"\n  - "nonsense"'),
      context,
    );
    expect(claims.filter(({ declared }) => declared)).toMatchObject([
      { kind: "symbol", text: "run", file: "src/x.ts" },
      { kind: "script", text: "all", program: "make" },
    ]);
  });

  it("silences one with a reason, and not without", () => {
    const texts = (fields: string) =>
      findClaims(memory(fields), context).claims.flatMap(({ kind, text }) => (kind === "path" ? [text] : []));
    expect(texts('unchecked:\n  - "src/a.ts: kept as a picture"')).toEqual(["src/b.ts"]);
    expect(texts('unchecked:\n  - "src/a.ts"')).toEqual(["src/a.ts", "src/b.ts"]);
    expect(texts("unchecked: about the past")).toEqual([]);
  });
});

describe("hostile text", () => {
  it("takes 10,000 claims in one memory", () => {
    const text = Array.from({ length: 10_000 }, (_, i) => `See \`src/f${i}.ts\` now.`).join("\n");
    const { claims } = findClaims(text, context);
    expect(claims.length).toBe(10_000);
    expect(claims.at(-1)?.line).toBe(10_000);
  });

  it.each([
    ["letters", "a".repeat(300_000)],
    ["slashes", "a/".repeat(100_000)],
    ["dots", "a.".repeat(100_000)],
    ["backticks", "`".repeat(100_000)],
    ["brackets", "[[".repeat(50_000)],
    ["dashes", "--a".repeat(50_000)],
    ["blanks", `deleted${" ".repeat(100_000)}src/a.ts`],
    ["verbs", "deleted the old file and ".repeat(10_000)],
    ["dates", "until 2026-01-01 ".repeat(5_000)],
    ["parentheses", "f(".repeat(50_000)],
    ["branches", "branch ".repeat(5_000)],
    ["lone surrogates", "\uD800".repeat(1_000)],
    ["NUL", "src/a\0b.ts `x\0y`"],
    ["fences", "```\n".repeat(5_000)],
    ["ties", "a in b/".repeat(5_000)],
  ])("is not held up by %s", (_, text) => {
    ends(() => findClaims(text, context));
  });
});
