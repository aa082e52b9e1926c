import { describe, expect, it } from "vitest";
import { queryTerms } from "../../src/recall/score.ts";
import { ends } from "../hang.ts";
import { entryOf, filesOf, rankFor, rowsOf } from "./store.ts";

const weights = (prompt: string, signals = {}) =>
  Object.fromEntries(queryTerms(prompt, signals).map(({ term, weight }) => [term, weight]));

describe("queryTerms", () => {
  it("each term once, in the order of the prompt", () => {
    expect(queryTerms("Deploys? (deploying) `handleAuth`").map(({ term, weight }) => [term, weight])).toEqual([
      ["deploy", 1],
      ["handl", 1],
      ["auth", 1],
      ["handleauth", 1],
    ]);
  });

  it("hashes are those of the terms: the same for every form of a word", () => {
    const [a] = queryTerms("policy");
    const [b] = queryTerms("Policies");
    expect(a!.hash).toBe(b!.hash);
    expect(queryTerms("politics")[0]!.hash).not.toBe(a!.hash);
  });

  it("B6.20 B6.21 files, tools and messages are signals, each for less than the prompt", () => {
    const found = weights("deploy", { files: ["src/db/pool.ts"], tools: ["WebFetch"], messages: ["restart nginx"] });
    expect(found).toMatchObject({ deploy: 1, "pool.ts": 0.5, pool: 0.5, webfetch: 0.3, fetch: 0.3, nginx: 0.2 });
    const sizes = ["deploy", "pool", "fetch", "nginx"].map((term) => found[term] as number);
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  });

  it("what the prompt says counts in full, whoever says it too", () => {
    expect(weights("fix pool", { files: ["pool.ts"], tools: ["pool"], messages: ["pool"] })).toMatchObject({ pool: 1 });
  });

  it("only the last three messages, and the beginning of each", () => {
    const messages = ["oldest apple", "banana", "cherry", `${"x ".repeat(400)}zebra dates`];
    const found = weights("deploy", { messages });
    expect(Object.keys(found)).toEqual(["deploy", "banana", "cherri"]);
  });

  it("at most 256 terms, those of the prompt first", () => {
    const words = Array.from({ length: 1000 }, (_, i) => `word${i}x`);
    const terms = queryTerms(words.join(" "), { files: ["late.ts"] });
    expect(terms).toHaveLength(256);
    expect(terms[0]!.term).toBe("word0x");
    expect(terms.every(({ weight }) => weight === 1)).toBe(true);
  });

  it.each(["", " ", "👍", "\0\0", "the and of", "\ud800", "---"])("%j has no terms", (prompt) => {
    expect(queryTerms(prompt)).toEqual([]);
  });

  it("a megabyte does not hang", () => {
    const words = ends(() => queryTerms("alpha beta ".repeat(100_000)));
    expect(words.map(({ term }) => term)).toEqual(["alpha", "beta"]);
    expect(ends(() => queryTerms("x".repeat(1_000_000)))).toEqual([]);
  });
});

describe("signals in the ranking", () => {
  const corpus = rowsOf(
    entryOf("pool.md", { name: "Pool", body: "src/db/pool.ts holds twenty connections." }),
    entryOf("fetch.md", { name: "Fetching", body: "WebFetch fails behind the proxy." }),
    entryOf("deploy.md", { name: "Deploy", body: "Deploy with the blue script." }),
  );

  it("B6.21 C16 a file or a tool alone brings its memory", () => {
    expect(filesOf(rankFor(corpus, "why is it slow", { files: ["/repo/src/db/pool.ts"] }))).toEqual(["pool.md"]);
    expect(filesOf(rankFor(corpus, "why is it slow", { tools: ["WebFetch"] }))).toEqual(["fetch.md"]);
    expect(filesOf(rankFor(corpus, "and now", { messages: ["we deploy on Friday"] }))).toEqual(["deploy.md"]);
  });

  it("B6.21 what is asked now outranks what was said before", () => {
    const signals = { files: ["src/db/pool.ts"], tools: ["WebFetch"] };
    expect(filesOf(rankFor(corpus, "how do we deploy with the blue script", signals))[0]).toBe("deploy.md");
  });
});
