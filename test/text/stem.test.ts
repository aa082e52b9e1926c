import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stem } from "../../src/text/terms.ts";

describe("stem", () => {
  it.each([
    ["deploy", "deploy deploys deployed deploying deployment deployments"],
    ["run", "run runs running"],
    ["hop", "hop hops hopped hopping"],
    ["hope", "hope hopes hoped hoping hopeful hopefulness"],
    ["polici", "policy policies"],
    ["general", "general generally generalize generalization generalizations"],
    ["migrat", "migrate migrates migrated migrating migration migrations"],
    ["authent", "authenticate authenticated authentication"],
    ["retri", "retry retries retried"],
    ["databas", "database databases"],
    ["cach", "cache caches cached caching"],
    ["depend", "depend depends depending dependence"],
    ["configur", "configure configured configuring"],
  ])("%s: %s are one term", (term, words) => {
    for (const word of words.split(" ")) expect([word, stem(word)]).toEqual([word, term]);
  });

  // From the vocabulary that Porter published with the algorithm.
  it.each([
    ["consign", "consign"],
    ["consistency", "consist"],
    ["consolation", "consol"],
    ["conspicuous", "conspicu"],
    ["knackeries", "knackeri"],
    ["knightly", "knight"],
    ["knitting", "knit"],
    ["abruptly", "abrupt"],
    ["agreed", "agre"],
    ["agreement", "agreement"],
    ["luxuriate", "luxuri"],
    ["relational", "relat"],
    ["conditional", "condit"],
    ["university", "univers"],
    ["probate", "probat"],
    ["rate", "rate"],
    ["cease", "ceas"],
    ["controll", "control"],
    ["roll", "roll"],
    ["falling", "fall"],
    ["generously", "generous"],
    ["communication", "communic"],
    ["sky", "sky"],
    ["skies", "sky"],
    ["dying", "die"],
    ["exceed", "exceed"],
    ["proceeds", "proceed"],
    ["news", "news"],
    ["happy", "happi"],
    ["cry", "cri"],
    ["say", "say"],
    ["by", "by"],
    ["enjoy", "enjoy"],
    ["yes", "yes"],
    ["gas", "gas"],
    ["this", "this"],
    ["gaps", "gap"],
    ["kiwis", "kiwi"],
    ["caresses", "caress"],
    ["ties", "tie"],
    ["cries", "cri"],
    ["bed", "bed"],
    ["shed", "shed"],
    ["dog's", "dog"],
  ])("%s becomes %s", (word, term) => {
    expect(stem(word)).toBe(term);
  });

  it("words that mean different things stay apart", () => {
    for (const [a, b] of [
      ["hoping", "hopping"],
      ["poll", "pool"],
      ["log", "lock"],
      ["new", "news"],
      ["general", "generous"],
    ] as const) {
      expect(stem(a)).not.toBe(stem(b));
    }
  });

  it("what is no English word is given back as it is", () => {
    for (const word of ["", "a", "is", "h100s", "größen", "部署", "Running", "a.running", "\0ing", "\ud800s"]) {
      expect(stem(word)).toBe(word);
    }
  });

  // Bug: the table of exceptions is an object, and every object has a `constructor`.
  it("a word that every object knows is a word too", () => {
    for (const word of Object.getOwnPropertyNames(Object.prototype)) {
      expect([word, typeof stem(word.toLowerCase())]).toEqual([word, "string"]);
    }
  });

  it("whatever comes in: a text, no longer than the word and one letter", () => {
    const letters = fc.string({ unit: fc.constantFrom(..."aeiouybdglnrstxz'"), maxLength: 14 });
    const endings = fc.constantFrom(
      "",
      "s",
      "es",
      "ies",
      "ed",
      "ing",
      "ingly",
      "eed",
      "ization",
      "ational",
      "ly",
      "'s",
    );
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.tuple(letters, endings)), (given) => {
        const word = typeof given === "string" ? given : given.join("");
        const term = stem(word);
        expect(typeof term).toBe("string");
        expect(term.length).toBeLessThanOrEqual(word.length + 1);
      }),
      { numRuns: 2000 },
    );
  });

  it("stemming again and again comes to rest", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."aeioustnglyz'"), maxLength: 12 }), (word) => {
        let term = stem(word);
        for (let i = 0; i < 12; i++) term = stem(term);
        expect(stem(term)).toBe(term);
      }),
      { numRuns: 1000 },
    );
  });
});
