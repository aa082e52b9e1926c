import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Message } from "../../src/model/ask.ts";
import { parseWords, searchSessions } from "../../src/session/sessions.ts";
import { answered, call, type Desk, makeDesk, makeFolder, reminder, result, said } from "./transcripts.ts";

const places = ({ dir }: Desk) => ({ dirs: [dir], older: null });

/** A session for each list of messages; their ids in order. */
function shelve(desk: Desk, ...sessions: (Message | string)[][]): string[] {
  return sessions.map((messages) => {
    const transcript = desk.open();
    for (const message of messages) transcript.append(typeof message === "string" ? said(message) : message);
    return transcript.id;
  });
}

describe("searching sessions", () => {
  test("B1.13 all words anywhere rank above some of them, together above apart", async () => {
    const desk = makeDesk();
    const [some, apart, together, none] = shelve(
      desk,
      ["The deploy failed. deploy deploy deploy deploy", "deploy again", "deploy", "deploy"],
      ["How do we deploy?", answered("It goes to staging first.")],
      ["Please deploy staging now"],
      ["Something else"],
    );
    const hits = await searchSessions(places(desk), "deploy staging");
    expect(hits.map(({ id }) => id)).toEqual([together, apart, some]);
    expect(hits.map(({ id }) => id)).not.toContain(none);
    for (const { score } of hits) expect(score).toBeGreaterThan(0);
    expect(hits[0]!.score).toBeLessThanOrEqual(1);
    expect(hits[2]!.score).toBeLessThan(hits[1]!.score);
    expect(hits[0]).toMatchObject({
      line: "Please deploy staging now",
      role: "user",
      messages: 1,
      title: "Please deploy staging now",
    });
  });

  test("case, accents and white space do not matter", async () => {
    const desk = makeDesk();
    shelve(desk, ["Das CAFÉ\n  Zürich heißt ﬁne"]);
    for (const words of ["cafe", "CAFÉ", "zurich", "Zu\u0308rich", "fine", '"café zürich"']) {
      const hits = await searchSessions(places(desk), words);
      expect(hits.map(({ line }) => line)).toEqual(["Das CAFÉ Zürich heißt ﬁne"]);
    }
  });

  test("secrets are masked in titles and excerpts, also where the excerpt would cut one, and when one is searched for", async () => {
    const secret = `ghp_${"aB3dE6gH9k".repeat(4).slice(0, 36)}`;
    const desk = makeDesk();
    const far = "word ".repeat(14);
    const prompts = [
      `Deploy with ${secret} please`,
      `${far}${secret} deploy ${"later ".repeat(40)}`,
      `${"earlier ".repeat(40)}deploy ${far}${secret}`,
      `deploy \x1b[31mghp_\x1b[0m${secret.slice(4)}`,
    ];
    for (const prompt of prompts) {
      const [id] = shelve(desk, [prompt]);
      for (const words of ["deploy", secret, "ghp_"]) {
        const hit = (await searchSessions(places(desk), words)).find((one) => one.id === id);
        const shown = `${hit?.title} ${hit?.line}`;
        expect(shown).not.toContain(secret.slice(0, 8));
        expect(shown).not.toContain(secret.slice(-8));
      }
    }
    const [first] = await searchSessions(places(desk), '"deploy with"');
    expect(first).toMatchObject({
      title: "Deploy with [redacted: github-token] please",
      line: "Deploy with [redacted: github-token] please",
    });
  });

  test("words in quotes must stand together", async () => {
    const desk = makeDesk();
    const [, exact] = shelve(desk, ["the pool of connections"], ["the connection pool is full"]);
    const hits = await searchSessions(places(desk), '"connection pool"');
    expect(hits.map(({ id }) => id)).toEqual([exact]);
    expect(parseWords('"a  B" c "" " d')).toEqual(["a b", "c", "d"]);
  });

  test("the excerpt is one short line around the words, without anything that a terminal obeys", async () => {
    const desk = makeDesk();
    const padding = "lorem ipsum dolor sit amet ".repeat(200);
    shelve(
      desk,
      [answered(`${padding}\n\x1b[31mthe Näedle\x07 is\there ${padding}`), said("x")].reverse() as Message[],
    );
    const [hit] = await searchSessions(places(desk), "naedle");
    expect(hit!.role).toBe("assistant");
    expect(hit!.line).toMatch(/^….*the Näedle is here.*…$/);
    expect(hit!.line.length).toBeGreaterThan(100);
    expect(hit!.line.length).toBeLessThan(175);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(hit!.line).not.toMatch(/[\x00-\x1f]/);
  });

  test("the excerpt shows the place where most of the words are", async () => {
    const desk = makeDesk();
    shelve(desk, [`alpha ${"- ".repeat(300)} here alpha and beta meet ${"- ".repeat(300)} beta`]);
    const [hit] = await searchSessions(places(desk), "beta alpha");
    expect(hit!.line).toContain("here alpha and beta meet");
  });

  test("results of tools, calls and reminders are searched only when asked", async () => {
    const desk = makeDesk();
    const content = [reminder("kumquat reminder"), ...said("read it").content];
    shelve(desk, [
      { role: "user", content } as Message,
      answered(call("t1", { path: "kumquat" })),
      { role: "user", content: [result("t1", "a kumquat result")] },
      answered("done"),
    ]);
    expect(await searchSessions(places(desk), "kumquat")).toEqual([]);
    const [hit] = await searchSessions(places(desk), "kumquat result", { everything: true });
    expect(hit).toMatchObject({ line: "a kumquat result", role: "tool" });
    const [other] = await searchSessions(places(desk), "kumquat reminder", { everything: true });
    expect(other).toMatchObject({ line: "kumquat reminder", role: "attachment" });
  });

  test("without words nothing is found; a limit keeps the best; a signal ends it", async () => {
    const desk = makeDesk();
    const ids = shelve(desk, ...Array.from({ length: 12 }, (_, i) => [i === 5 ? "plum and pear" : "plum"]));
    for (const words of ["", '  ""  ']) expect(await searchSessions(places(desk), words)).toEqual([]);
    const hits = await searchSessions(places(desk), "plum pear", { limit: 3 });
    expect(hits.map(({ id }) => id)).toEqual([ids[5], ids[11], ids[10]]);
    expect(await searchSessions(places(desk), "plum", { limit: 0 })).toEqual([]);
    const stop = new AbortController();
    const some = await searchSessions(places(desk), "plum", {
      signal: stop.signal,
      onProgress: (n) => n === 4 && stop.abort(),
    });
    expect(some.length).toBeLessThan(6);
    expect(await searchSessions({ dirs: [path.join(makeFolder(), "none")], older: null }, "plum")).toEqual([]);
  });
});
