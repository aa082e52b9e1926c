import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { MAX_SESSION_MEMORY_BYTES, openRecallSession } from "../../src/recall/injection.ts";
import type { SideQuery } from "../../src/recall/select.ts";
import { endsLater } from "../hang.ts";
import { PATIENT, until } from "../until.ts";
import { DAY, mainOf, makeWorld } from "../world.ts";
import { choosing, type Fields, fakeEmbed, memoryText, openStore, put, recalled, setLater } from "./store.ts";

const PROMPT = "deploy kubectl staging";
const MEMORIES: Record<string, Fields> = {
  "deploy.md": { name: "Deploy kubectl staging", description: "How to roll out", body: "Deploy with BODYONE." },
  "pool.md": { name: "Database pool connections", description: "Limits", body: "Twenty, BODYTWO." },
  "coffee.md": { name: "Black espresso coffee", description: "A drink", body: "No sugar, BODYTHREE." },
};
const answering = (answer: string) => vi.fn<SideQuery>(async () => answer);
const never = () => new Promise<string>(() => {});
/** File names of a manifest, in its order. */
const offered = (question: string) =>
  [...question.matchAll(/^- \[\w+\] (\S+\.md)/gm)].map(([, file]) => file as string);
const firstFive = vi.fn<SideQuery>(async (_, question) => choosing(...offered(question).slice(0, 5)));
const rest = () => new Promise(setImmediate);
const numbered = (count: number, fields: Fields) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${String(i).padStart(3, "0")}.md`, fields]));

describe("recall offline", () => {
  it("C16 without a model: by words, explained, dated, ready to be shown", async () => {
    const { world, memdir } = await openStore(MEMORIES);
    const result = await memdir.recall(PROMPT);
    expect(result).toMatchObject({ method: "lexical", considered: 3, leftOut: [] });
    const [memory] = result.memories;
    expect(memory).toMatchObject({ file: "deploy.md", path: world.path("deploy.md"), scope: "project", ageDays: 0 });
    expect(memory!.why).toContain("words: deploy, kubectl, staging");
    expect(memory!.header).toBe(`Memory (saved today): ${world.path("deploy.md")}:`);
    expect(result.text).toBe(`<system-reminder>\n${memory!.header}\n\n${memory!.content}\n</system-reminder>`);
    expect(result.tookMs).toBeGreaterThan(0);
  });

  it("most prompts need none", async () => {
    const { memdir } = await openStore(MEMORIES);
    for (const prompt of ["thanks, looks good", "write a haiku about autumn", "rename this variable to count"]) {
      expect(await memdir.recall(prompt)).toMatchObject({ memories: [], text: "", leftOut: [] });
    }
  });

  it("C16 with meaning: what shares no word is found, and the cue that did it is named", async () => {
    const embed = fakeEmbed("outage unreachable down", "espresso coffee", "database pool");
    const { memdir } = await openStore(
      { ...MEMORIES, "pager.md": { name: "Whom to call", body: "Anna.", when: ["coffee", "outage", "down"] } },
      { embed },
    );
    // A recall by itself makes as many vectors as it has time for.
    await memdir.warm();
    const result = await memdir.recall("unreachable");
    expect(result.method).toBe("hybrid");
    expect(recalled(result)).toEqual(["pager.md"]);
    expect(result.memories[0]!.why[0]).toMatch(/^meaning: cue "outage"/);
    expect(result.memories[0]!.content).not.toContain("outage");
  });

  it("a prompt that the model cannot read goes by its words", async () => {
    const known = fakeEmbed("x");
    const embed = (text: string, isPrompt?: boolean) => (isPrompt && !/[a-z]/.test(text) ? null : known(text));
    const { memdir } = await openStore({ "th.md": { name: "ขั้นตอนการปรับใช้บริการ", body: "สร้างก่อน" } }, { embed });
    await memdir.warm();
    const found = await memdir.recall("ขั้นตอนการปรับใช้บริการ");
    expect([found.method, recalled(found), found.warnings]).toEqual(["lexical", ["th.md"], []]);
  });

  it("an embedder that gives nothing is said, and words have to do", async () => {
    const { memdir } = await openStore(MEMORIES, { embed: () => undefined as unknown as Float32Array });
    const found = await memdir.recall(PROMPT);
    expect([found.method, recalled(found)]).toEqual(["lexical", ["deploy.md"]]);
    expect(found.warnings.join()).toContain("`embed` must give a Float32Array of 384 numbers");
  });

  it("every scope is looked at, and its provenance told", async () => {
    const { world } = await openStore(MEMORIES);
    const user = mainOf(await world.open({ scope: "user" })).path;
    fs.mkdirSync(user, { recursive: true });
    fs.writeFileSync(path.join(user, "zoo.md"), memoryText({ name: "Zookeeper quorum size", body: "Three." }));
    const memdir = await world.open({ embed: null });
    const [memory] = (await memdir.recall("zookeeper quorum size")).memories;
    expect(memory).toMatchObject({ scope: "user", file: "zoo.md", path: path.join(user, "zoo.md") });
    expect(memory!.header).toContain("the user's own memory");
    const project = await world.open({ embed: null, scope: "project" });
    expect(recalled(await project.recall("zookeeper quorum size"))).toEqual([]);
    expect(recalled(await project.recall(PROMPT))).toEqual(["deploy.md"]);
  });

  // Bug: the floor looks at each memory's own confidence, so the successor that ranks first is dropped and the old one shown.
  it("a superseded memory is not shown without its successor", async () => {
    const { memdir } = await openStore({
      ...MEMORIES,
      "next.md": { name: "Rollouts by robot", body: "Ask it.", supersedes: ["deploy"] },
    });
    expect(recalled(await memdir.recall(PROMPT, { everything: true }))[0]).toBe("next.md");
    expect(recalled(await memdir.recall(PROMPT))[0]).toBe("next.md");
  });

  it("in a small directory a name is enough, when the prompt is about it", async () => {
    const { memdir } = await openStore({ ...MEMORIES, "zoo.md": { name: "Zookeeper", body: "The quorum is three." } });
    expect(recalled(await memdir.recall("what about the zookeeper quorum"))).toEqual(["zoo.md"]);
  });

  // Bug: the order goes by `modified` alone, though the age that is shown counts from the touch.
  it("B7.6 C15 a touched memory counts as young", async () => {
    const fields = { ...MEMORIES["deploy.md"], modified: "2025-01-01T00:00:00.000Z" };
    const { world, memdir } = await openStore({ "a.md": fields, "b.md": fields });
    world.age("a.md", 300 * DAY);
    world.age("b.md", 0);
    const { memories } = await memdir.recall(PROMPT, { everything: true });
    expect(memories.map(({ file, ageDays }) => [file, ageDays])).toEqual([
      ["b.md", 0],
      ["a.md", 300],
    ]);
  });
});

describe("recall: bad prompts", () => {
  const code = "```ts\nconst out = await exec('kubectl rollout', { deploy: staging.name });\n```";
  it.each([
    ["a megabyte", `${PROMPT} ${"lorem ipsum ".repeat(85_000)}`],
    ["a megabyte without a space", `${PROMPT} ${"x".repeat(1_000_000)}`],
    ["NUL bytes", "deploy\0kubectl\0\0staging\0"],
    ["only code", code],
    ["lone surrogates", `\ud800 ${PROMPT} \udfff`],
    ["other spaces", PROMPT.replaceAll(" ", "\u3000")],
    ["shouting", PROMPT.toUpperCase()],
  ])("%s: found all the same", async (_, prompt) => {
    const { world, memdir } = await openStore(MEMORIES);
    const [best] = recalled(await endsLater(() => memdir.recall(prompt, { everything: true })));
    expect(best).toBe("deploy.md");
    expect(world.logged).toEqual([]);
  });

  it.each([
    ["empty", ""],
    ["blank", " \n\t "],
    ["NUL alone", "\0\0"],
  ])("%s: nothing, and nobody is asked", async (_, prompt) => {
    const ask = answering(choosing("deploy.md"));
    const embed = fakeEmbed("x");
    const { world, memdir } = await openStore(MEMORIES, { ask, embed });
    await memdir.warm();
    embed.asked.length = 0;
    expect(await memdir.recall(prompt)).toMatchObject({ memories: [], text: "" });
    expect([ask.mock.calls.length, embed.asked.length, world.logged]).toEqual([0, 0, []]);
  });

  it.each([
    ["emoji", "👍🏽 👩‍👩‍👧"],
    ["marks", "?!... ---"],
    ["stop words", "what is it with the"],
    ["one word that nobody has", "xylophone"],
    ["brackets", "[[]] (.*) {} \\"],
  ])("%s: nothing, without a word in the log", async (_, prompt) => {
    const { world, memdir } = await openStore(MEMORIES);
    expect(await memdir.recall(prompt, { everything: true })).toMatchObject({ memories: [], text: "" });
    expect(world.logged).toEqual([]);
  });

  it("B6.11 no text at all is a line in the log, not an error", async () => {
    const { world, memdir } = await openStore(MEMORIES);
    expect(await memdir.recall(undefined as never)).toMatchObject({ memories: [], text: "" });
    expect(world.logged.join()).toMatch(/recall failed/);
  });

  // Bug of stem.ts, seen from here: whoever asks about a constructor gets nothing, and such a memory is never found.
  it("a prompt about a constructor", async () => {
    const { memdir } = await openStore(MEMORIES);
    expect(recalled(await memdir.recall(`${PROMPT} constructor`))).toEqual(["deploy.md"]);
  });

  it("a memory about a constructor", async () => {
    const { memdir } = await openStore({ "c.md": { ...MEMORIES["deploy.md"], body: "The constructor is private." } });
    expect(recalled(await memdir.recall(PROMPT))).toEqual(["c.md"]);
  });

  it.each([0, -1, Number.NaN, 1.5, Number.POSITIVE_INFINITY])("a limit of %d does no harm", async (limit) => {
    const { memdir } = await openStore(MEMORIES);
    const { memories } = await memdir.recall(PROMPT, { limit });
    expect(memories.length).toBeLessThanOrEqual(Math.max(0, limit || 0));
  });

  it.each([0, 1, 50, -5])("%i bytes: nothing fits, nothing is shown", async (maxBytes) => {
    const { memdir } = await openStore(MEMORIES);
    const result = await memdir.recall(PROMPT, { maxBytes });
    expect(result).toMatchObject({ memories: [], text: "", leftOut: ["Deploy kubectl staging"] });
  });
});

describe("recall with a model", () => {
  it("C17 any callback: its choice is taken, in its order", async () => {
    const ask = answering(choosing("coffee.md", "pool.md"));
    const { memdir } = await openStore(MEMORIES, { ask });
    const result = await memdir.recall(PROMPT);
    expect(result.method).toBe("model");
    expect(recalled(result)).toEqual(["coffee.md", "pool.md"]);
    expect(result.memories[0]!.why).toContain("chosen by the model");
    expect(result.text).toContain("BODYTHREE");
  });

  it("B6.2 the whole manifest and no bodies, the best offline first", async () => {
    const ask = answering(choosing());
    const { memdir } = await openStore(MEMORIES, { ask });
    await memdir.recall(PROMPT, { tools: ["WebFetch"], messages: ["and yesterday"] });
    expect(ask).toHaveBeenCalledTimes(1);
    const question = ask.mock.calls[0]![1];
    expect(offered(question)).toHaveLength(3);
    expect(offered(question)[0]).toBe("deploy.md");
    expect(offered(question).sort()).toEqual(Object.keys(MEMORIES).sort());
    expect(question).not.toContain("BODY");
    expect(question).toContain(PROMPT);
    expect(question).toContain("WebFetch");
    expect(question).toContain("and yesterday");
  });

  it("B6.2 more than fit: those that the words find are among them", async () => {
    const ask = answering(choosing());
    const long = { name: "Filler", description: "long ".repeat(100) };
    const { memdir } = await openStore({ ...numbered(200, long), "z.md": MEMORIES["deploy.md"]! }, { ask });
    await memdir.recall(PROMPT);
    const question = ask.mock.calls[0]![1];
    expect(question.length).toBeLessThan(26_000);
    expect(offered(question)[0]).toBe("z.md");
  });

  it("B6.2 a prompt that shares no word with any memory is a question for the model too", async () => {
    const ask = answering(choosing("coffee.md"));
    const { memdir } = await openStore(MEMORIES, { ask });
    expect(recalled(await memdir.recall("anything warm against tiredness"))).toEqual(["coffee.md"]);
  });

  it("B6.5 none is a good answer", async () => {
    const { world, memdir } = await openStore(MEMORIES, { ask: answering(choosing()) });
    expect(await memdir.recall(PROMPT)).toMatchObject({ memories: [], text: "", leftOut: [], method: "model" });
    expect(world.logged).toEqual([]);
  });

  it.each([
    ["fenced", '```json\n{"selected_memories": ["pool.md"]}\n```'],
    ["in prose", 'These help: {"selected_memories": ["pool.md"]}, I think.'],
    ["with names that do not exist", choosing("nope.md", "../../etc/passwd", "pool.md", "MEMORY.md")],
    ["by its name", choosing("Database pool connections")],
  ])("B6.7 B6.8 an answer %s", async (_, answer) => {
    const { memdir } = await openStore(MEMORIES, { ask: answering(answer) });
    expect(recalled(await memdir.recall(PROMPT))).toEqual(["pool.md"]);
  });

  it("B6.8 at most five, fewer if fewer are wanted", async () => {
    const ask = vi.fn<SideQuery>(async (_, question) => choosing(...offered(question)));
    const { memdir } = await openStore({ ...MEMORIES, ...numbered(9, { name: "Other" }) }, { ask });
    expect((await memdir.recall(PROMPT)).memories).toHaveLength(5);
    expect((await memdir.recall(PROMPT, { limit: 2 })).memories).toHaveLength(2);
    expect((await memdir.recall(PROMPT, { limit: 50 })).memories).toHaveLength(5);
  });

  it.each<[string, SideQuery, RegExp]>([
    ["an error", async () => Promise.reject(new Error("529 overloaded")), /529 overloaded/],
    [
      "an error at once",
      () => {
        throw new Error("no key");
      },
      /no key/,
    ],
    ["nonsense", async () => "I'd rather not", /selected_memories/],
    ["no text", async () => 7 as never, /not text/],
    ["half an answer", async () => '{"selected_memories": ["coff', /selected_memories/],
  ])("B6.11 C16 %s: the offline result stands, the log says why", async (_, ask, why) => {
    const { world, memdir } = await openStore(MEMORIES, { ask });
    const result = await memdir.recall(PROMPT);
    expect(result.method).toBe("lexical");
    expect(recalled(result)).toEqual(["deploy.md"]);
    expect(world.logged).toHaveLength(1);
    expect(world.logged[0]).toMatch(why);
  });

  it.each<[string, SideQuery]>([
    // Later than any other: only when it was given up.
    [
      "late",
      (_, __, signal) => new Promise((done) => signal?.addEventListener("abort", () => done(choosing("coffee.md")))),
    ],
    ["never", never],
  ])("B11.9 an answer that comes %s: the offline result stands", async (_, answer) => {
    const ask = vi.fn(answer);
    const { world, memdir } = await openStore(MEMORIES, { ask });
    const result = await memdir.recall(PROMPT, { timeoutMs: 40 });
    expect([result.method, recalled(result)]).toEqual(["lexical", ["deploy.md"]]);
    expect(world.logged).toEqual(["memory selection failed: no answer within 40 ms"]);
    expect(ask.mock.calls[0]![2]!.aborted).toBe(true);
  });

  it("B6.6 no memories, all of them seen, or all left out: nobody is asked", async () => {
    const ask = answering(choosing("deploy.md"));
    const empty = await openStore({}, { ask });
    expect(await empty.memdir.recall(PROMPT)).toMatchObject({ memories: [], considered: 0 });
    const { memdir } = await openStore(MEMORIES, { ask });
    const session = openRecallSession();
    session.surface((await memdir.recall(PROMPT, { everything: true, model: false })).memories);
    for (const row of await memdir.list()) session.surfaced.add(row.path);
    expect((await memdir.recall(PROMPT, { session })).memories).toEqual([]);
    expect((await memdir.recall(PROMPT, { exclude: Object.keys(MEMORIES) })).memories).toEqual([]);
    expect(ask).not.toHaveBeenCalled();
  });

  it("a model can be left out for one prompt", async () => {
    const ask = answering(choosing("coffee.md"));
    const { memdir } = await openStore(MEMORIES, { ask });
    expect(recalled(await memdir.recall(PROMPT, { model: false }))).toEqual(["deploy.md"]);
    expect(ask).not.toHaveBeenCalled();
  });

  it("what is excluded is not offered, and not taken when it is named all the same", async () => {
    const ask = answering(choosing("coffee.md", "pool.md"));
    const { memdir } = await openStore(MEMORIES, { ask });
    expect(recalled(await memdir.recall(PROMPT, { exclude: ["coffee"] }))).toEqual(["pool.md"]);
    expect(offered(ask.mock.calls[0]![1])).not.toContain("coffee.md");
  });

  it.each(["chosen", "the offline result"])(
    "a memory that vanishes while the model thinks: %s without it",
    async (way) => {
      const { world, memdir } = await openStore(
        { ...MEMORIES, "twin.md": MEMORIES["deploy.md"]! },
        {
          ask: async () => {
            fs.rmSync(world.path("deploy.md"));
            if (way === "chosen") return choosing("deploy.md", "twin.md", "coffee.md");
            throw new Error("down");
          },
        },
      );
      const result = await memdir.recall(PROMPT, { everything: true });
      expect(recalled(result)).toEqual(way === "chosen" ? ["twin.md", "coffee.md"] : ["twin.md"]);
      expect(result.text).not.toContain(world.path("deploy.md"));
      expect(world.logged.some((line) => line.includes("deploy.md was found and could not be read"))).toBe(true);
    },
  );

  it("the whole directory vanishes while the model thinks: nothing, and no error", async () => {
    const { world, memdir } = await openStore(MEMORIES, {
      ask: async () => {
        fs.rmSync(world.dir, { recursive: true });
        return choosing("deploy.md");
      },
    });
    expect(await memdir.recall(PROMPT)).toMatchObject({ memories: [], text: "" });
    expect(await memdir.recall(PROMPT)).toMatchObject({ memories: [], considered: 0 });
  });

  it("a memory that changes while the model thinks is shown as it is now", async () => {
    const { world, memdir } = await openStore(MEMORIES, {
      ask: async () => {
        put(world, "deploy.md", { name: "Deploy", body: "Quite different." });
        return choosing("deploy.md");
      },
    });
    expect((await memdir.recall(PROMPT)).text).toContain("Quite different.");
  });

  it("B6.11 aborted before it began: nothing, and nobody is asked", async () => {
    const ask = answering(choosing("deploy.md"));
    const { memdir } = await openStore(MEMORIES, { ask });
    expect(await memdir.recall(PROMPT, { signal: AbortSignal.abort() })).toMatchObject({ memories: [], text: "" });
    expect(ask).not.toHaveBeenCalled();
  });

  // Bug: whoever gave up gets the offline result.
  it("B6.11 aborted while the model thinks: nothing", async () => {
    const controller = new AbortController();
    const ask = vi.fn<SideQuery>(() => {
      controller.abort();
      return never();
    });
    const { memdir } = await openStore(MEMORIES, { ask });
    expect(await memdir.recall(PROMPT, { signal: controller.signal })).toMatchObject({ memories: [], text: "" });
  });

  // Bug: prompt and messages go to the model whole, however long; the manifest alone is bounded.
  it("a prompt of a megabyte is not sent whole", async () => {
    const ask = answering(choosing());
    const { memdir } = await openStore(MEMORIES, { ask });
    await memdir.recall(`${PROMPT} ${"lorem ipsum ".repeat(85_000)}`);
    expect(ask.mock.calls[0]![1].length).toBeLessThan(100_000);
  });

  it("nor are messages of a megabyte", async () => {
    const ask = answering(choosing());
    const { memdir } = await openStore(MEMORIES, { ask });
    await memdir.recall(PROMPT, { messages: ["lorem ipsum ".repeat(85_000)] });
    expect(ask.mock.calls[0]![1].length).toBeLessThan(100_000);
  });
});

describe("recall: budgets", () => {
  const long = (i: number): Fields => ({ name: `Part ${i}`, body: `${"größer ".repeat(1200)}\nend` });
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`p${i}.md`, long(i)]));

  it("B6.9 4 KB a file, whole characters, and a word that it was cut", async () => {
    const { memdir } = await openStore(many, { ask: firstFive });
    const { memories } = await memdir.recall("größer parts");
    expect(memories).toHaveLength(5);
    for (const { content } of memories) {
      expect(Buffer.byteLength(content)).toBeLessThanOrEqual(4096);
      expect(Buffer.byteLength(content)).toBeGreaterThan(3500);
      expect(content).toMatch(/\[cut here/);
      expect(content).not.toContain("\ufffd");
    }
  });

  it.each([600, 1500, 5000, 10_000])(
    "%i bytes: the text keeps to it, and what did not fit is named",
    async (maxBytes) => {
      const { memdir } = await openStore(many, { ask: firstFive });
      const { memories, leftOut, text } = await memdir.recall("größer parts", { maxBytes });
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      expect(memories.length + leftOut.length).toBe(5);
      expect(leftOut.length).toBeGreaterThan(0);
      for (const name of leftOut) expect(name).toMatch(/^Part \d+$/);
      if (maxBytes >= 5000) for (const name of leftOut) expect(text).toContain(name);
    },
  );

  it("B6.12 B6.13 B6.19 a session: no repeats, 60 KB in all, then nothing more; clear begins anew", async () => {
    const { memdir } = await openStore(many, { ask: firstFive });
    const session = openRecallSession();
    const seen: string[] = [];
    for (let turn = 0; turn < 8; turn++) {
      const { memories } = await memdir.recall("größer parts", { session });
      session.surface(memories);
      seen.push(...memories.map(({ path: shown }) => shown));
      expect(session.surfaced).toEqual(new Set(seen));
      expect(session.bytes).toBeLessThanOrEqual(MAX_SESSION_MEMORY_BYTES);
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThanOrEqual(15);
    expect(seen.length).toBeLessThan(20);
    expect((await memdir.recall("größer parts", { session })).memories).toEqual([]);
    session.clear();
    expect((await memdir.recall("größer parts", { session })).memories).toHaveLength(5);
  });

  it("B6.12 the same offline, and a second session has seen nothing", async () => {
    const { memdir } = await openStore(MEMORIES);
    const session = openRecallSession();
    session.surface((await memdir.recall(PROMPT, { session })).memories);
    expect((await memdir.recall(PROMPT, { session })).memories).toEqual([]);
    expect(recalled(await memdir.recall(PROMPT, { session: openRecallSession() }))).toEqual(["deploy.md"]);
    session.clear();
    expect(recalled(await memdir.recall(PROMPT, { session }))).toEqual(["deploy.md"]);
  });

  it.each(["deploy", "deploy.md", "PATH"])("exclude %s", async (name) => {
    const { world, memdir } = await openStore(MEMORIES);
    const exclude = [name === "PATH" ? world.path("deploy.md") : name];
    expect(recalled(await memdir.recall(PROMPT, { exclude }))).toEqual([]);
  });

  it("many excluded ones do not keep the next from coming", async () => {
    const { memdir } = await openStore(numbered(60, MEMORIES["deploy.md"]!));
    const exclude = Array.from({ length: 50 }, (_, i) => `m${String(i).padStart(3, "0")}`);
    expect(recalled(await memdir.recall(PROMPT, { exclude, everything: true }))).toHaveLength(5);
  });

  // Bug: 25 are ranked, and what the session has seen is taken out of them afterwards.
  it("B6.12 nor do many that were seen", async () => {
    const { memdir } = await openStore(numbered(60, MEMORIES["deploy.md"]!));
    const session = openRecallSession();
    session.surface((await memdir.recall(PROMPT, { limit: 40, everything: true })).memories);
    expect(session.surfaced.size).toBe(40);
    expect(recalled(await memdir.recall(PROMPT, { session, everything: true }))).toHaveLength(5);
  });
});

describe("recall: files change behind our back", () => {
  const zoo: Fields = { name: "Zookeeper quorum size", body: "Three." };
  const ZOO = "zookeeper quorum size";
  /** Without the word that its file name has. */
  const ROLLOUT = "kubectl staging roll out";

  it.each(["settled", "written this moment"])("%s: edited, dropped in, renamed, removed", async (when) => {
    const { world, memdir } = await openStore(MEMORIES);
    const tick = () => (when === "settled" ? setLater(world) : undefined);
    if (when !== "settled") world.now = new Date("2026-03-10T12:00:00.000Z");
    const find = async (prompt: string) => recalled(await memdir.recall(prompt));
    expect(await find(ROLLOUT)).toEqual(["deploy.md"]);
    put(world, "deploy.md", zoo);
    tick();
    expect([await find(ROLLOUT), await find(ZOO)]).toEqual([[], ["deploy.md"]]);
    fs.renameSync(world.path("deploy.md"), world.path("moved.md"));
    expect(await find(ZOO)).toEqual(["moved.md"]);
    put(world, "sub/deep/back.md", MEMORIES["deploy.md"]!);
    tick();
    expect(await find(ROLLOUT)).toEqual(["sub/deep/back.md"]);
    fs.rmSync(world.path("moved.md"));
    expect(await find(ZOO)).toEqual([]);
    expect(world.logged).toEqual([]);
  });

  it("an edit of the same length with the old time is noticed", async () => {
    const { world, memdir } = await openStore({ "a.md": zoo });
    const { atime, mtime } = fs.statSync(world.path("a.md"));
    expect(recalled(await memdir.recall(ZOO))).toEqual(["a.md"]);
    fs.writeFileSync(world.path("a.md"), world.read("a.md").replace(zoo.name!, "Xylophone melody tune"));
    fs.utimesSync(world.path("a.md"), atime, mtime);
    expect(recalled(await memdir.recall(ZOO))).toEqual([]);
    expect(recalled(await memdir.recall("xylophone melody tune"))).toEqual(["a.md"]);
  });

  it("two edits within one tick of the clock are both noticed", async () => {
    const world = makeWorld();
    const memdir = await world.open({ embed: null });
    for (const name of ["Alpha bravo charlie", "Delta foxtrot gamma", "Hotel india julia"]) {
      put(world, "a.md", { name });
      expect(recalled(await memdir.recall(name))).toEqual(["a.md"]);
    }
  });

  it("many edits wear the shelf out, and nothing is lost when it is made anew", async () => {
    const { world, memdir } = await openStore({ ...MEMORIES, ...numbered(40, { name: "Filler" }) });
    for (let round = 0; round < 5; round++) {
      for (let i = 0; i < 40; i++)
        put(world, `m${String(i).padStart(3, "0")}.md`, { name: `Round${round}x number${i}x` });
      setLater(world);
      expect(recalled(await memdir.recall(`round${round}x number7x`, { everything: true }))[0]).toBe("m007.md");
      if (round > 0) expect(recalled(await memdir.recall(`round${round - 1}x`, { everything: true }))).toEqual([]);
      expect(await memdir.recall(PROMPT)).toMatchObject({ considered: 43, memories: [{ file: "deploy.md" }] });
    }
  });

  it("in a large directory too, what is new is found at once, and what is gone is not shown", async () => {
    const { world, memdir } = await openStore({ ...MEMORIES, ...numbered(310, { name: "Filler" }) });
    expect(recalled(await memdir.recall(PROMPT))).toEqual(["deploy.md"]);
    put(world, "zoo.md", zoo);
    expect(recalled(await memdir.recall(ZOO))).toEqual(["zoo.md"]);
    fs.rmSync(world.path("zoo.md"));
    expect(recalled(await memdir.recall(ZOO))).not.toContain("zoo.md");
  });

  it("what memdir itself saves, forgets and takes back is known at once", async () => {
    const { memdir } = await openStore(MEMORIES);
    const find = async () => recalled(await memdir.recall(ZOO));
    expect(await find()).toEqual([]);
    const { file } = await memdir.save({ type: "project", name: zoo.name!, body: "Three." });
    expect(await find()).toEqual([file]);
    await memdir.forget(file);
    expect(await find()).toEqual([]);
    await memdir.undo();
    expect(await find()).toEqual([file]);
  });

  it("what is no memory is not found: the index, links, folders", async () => {
    const { world, memdir } = await openStore({ "MEMORY.md": `- [x](x.md) ${ZOO}`, "real.md": { name: "Real" } });
    fs.writeFileSync(path.join(world.top, "secret"), memoryText(zoo));
    fs.symlinkSync(path.join(world.top, "secret"), world.path("link.md"));
    fs.mkdirSync(world.path("folder.md"));
    expect(await memdir.recall(ZOO, { everything: true })).toMatchObject({ memories: [], considered: 1 });
  });

  it("files without frontmatter, broken, empty or binary do no harm", async () => {
    const { world, memdir } = await openStore({
      "plain.md": "zookeeper quorum size: three, the zookeeper quorum size.",
      "empty.md": "",
      "open.md": "---\nname: [unclosed\n",
      "nul.md": "\0\0\0zookeeper",
    });
    world.write(
      "binary.md",
      new Uint8Array(2000).map((_, i) => (i * 7919) % 256),
    );
    const files = recalled(await memdir.recall(ZOO, { everything: true }));
    expect(files[0]).toBe("plain.md");
    expect(world.logged).toEqual([]);
  });
});

describe("recall: vectors are made once", () => {
  const FIELDS = { name: "Whom to call", body: "Anna.", when: ["outage", "database is full"] };

  async function warmed(files: Record<string, Fields> = { "a.md": FIELDS }) {
    const embed = fakeEmbed("outage", "database");
    const store = await openStore(files, { embed });
    await store.memdir.warm();
    const asked = [...embed.asked];
    embed.asked.length = 0;
    return { ...store, embed, asked };
  }

  it("one for the text and one for each cue, and none again for the next prompt", async () => {
    const { memdir, embed, asked } = await warmed();
    expect(asked).toEqual(["Whom to call\nAnna.", "outage", "database is full"]);
    await memdir.recall("an outage today");
    expect(embed.asked).toEqual(["an outage today"]);
  });

  // Bug: a part of blanks is trimmed to nothing and embedded all the same.
  it("blank stretches of a text have no meaning", async () => {
    const { asked } = await warmed({ "a.md": { name: "Gap", body: `above\n${" ".repeat(2500)}\nbelow` } });
    expect(asked).not.toContain("");
  });

  it("a long text is embedded in at most eight parts, whole characters and all", async () => {
    const { asked } = await warmed({ "a.md": { name: "Long", body: `${"word ".repeat(5000)}\n${"x".repeat(9000)}` } });
    expect(asked).toHaveLength(8);
    for (const text of asked) expect(text.length).toBeLessThanOrEqual(1100);
  });

  it("a recall in a new store answers by words at once and says so; the vectors are made behind it, newest first", async () => {
    const embed = fakeEmbed("outage");
    const { world, memdir } = await openStore(
      { "a.md": FIELDS, "b.md": { name: "Old", body: "Long ago." } },
      { embed },
    );
    world.age("b.md", 5 * DAY);
    const first = await memdir.recall("an outage today", { everything: true });
    expect([first.method, recalled(first)]).toEqual(["lexical", ["a.md"]]);
    expect(first.warnings).toEqual([
      "all memories were ranked by their words only: their vectors have not been made yet",
    ]);
    expect(embed.asked).toEqual(["an outage today"]);
    await expect.poll(() => embed.asked.length, PATIENT).toBe(5);
    expect(embed.asked.at(-1)).toContain("Long ago");
    await expect.poll(async () => (await memdir.recall("an outage today")).warnings, PATIENT).toEqual([]);
    expect((await memdir.recall("an outage today")).method).toBe("hybrid");
  });

  // Bug: what another program had just written was not shown, however often it was asked for.
  it("a memory whose vectors are missing is shown for its words", async () => {
    const { world, memdir } = await warmed();
    put(world, "b.md", { name: "Deploy", body: "Staging is deployed with helm." });
    setLater(world);
    expect(recalled(await memdir.recall("how do we deploy to staging?"))).toEqual(["b.md"]);
  });

  it("a recall while some vectors are missing says how many", async () => {
    const { world, memdir } = await warmed();
    put(world, "b.md", { name: "Pool", body: "Twenty." });
    setLater(world);
    const { method, warnings } = await memdir.recall("an outage today");
    expect([method, warnings]).toEqual([
      "hybrid",
      ["1 of 2 memories were ranked by their words only: their vectors have not been made yet"],
    ]);
  });

  it("B7.6 a file that was only touched keeps its vectors", async () => {
    const { world, memdir, embed } = await warmed();
    world.age("a.md", 5 * DAY);
    expect((await memdir.recall("an outage today")).memories[0]!.ageDays).toBe(5);
    const other = await world.open({ embed });
    expect(await other.warm()).toMatchObject({ embedded: 0, left: 0 });
    expect(embed.asked).toEqual(["an outage today"]);
  });

  // Bug: the entry is first made anew without vectors, so that there is nothing left to take over when they are made.
  it("one changed cue is one new vector", async () => {
    const { world, memdir, embed } = await warmed();
    put(world, "a.md", { ...FIELDS, when: ["outage", "database is slow"] });
    setLater(world);
    await memdir.warm();
    expect(embed.asked).toEqual(["database is slow"]);
  });

  it("a changed cue is found, and the old one no more", async () => {
    const { world, memdir } = await warmed();
    put(world, "a.md", { ...FIELDS, when: ["zebra"] });
    setLater(world);
    await memdir.warm();
    expect(recalled(await memdir.recall("outage"))).toEqual([]);
  });

  it("neither a save nor a recall waits for vectors: they are made once, a little later", async () => {
    const { memdir, embed } = await warmed();
    await memdir.save({ type: "project", name: "Pool", body: "Twenty." });
    expect(embed.asked).toEqual([]);
    await memdir.recall("an outage today");
    expect(embed.asked).toEqual(["an outage today"]);
    await expect.poll(() => embed.asked.length, PATIENT).toBe(2);
    expect(await memdir.warm()).toMatchObject({ embedded: 0, left: 0 });
  });

  it("a model of meaning that breaks: by words, and the log says so", async () => {
    const embed = () => {
      throw new Error("out of memory");
    };
    const { world, memdir } = await openStore(MEMORIES, { embed });
    const result = await memdir.recall(PROMPT);
    expect([result.method, recalled(result)]).toEqual(["lexical", ["deploy.md"]]);
    expect(world.logged.join("\n")).toMatch(/by words only: out of memory/);
  });

  // Bug: a text that cannot be embedded takes its memory off the shelf; in a large directory it is missed until the next full look.
  it("one memory that cannot be embedded is still found by its words", async () => {
    const plain = fakeEmbed("x");
    const embed = (text: string) => {
      if (text.includes("Poison")) throw new Error("cannot tokenise");
      return plain(text);
    };
    const poison = { name: "Poison ivy garden", body: "Do not touch." };
    const { memdir } = await openStore(
      { "a.md": poison, ...numbered(310, { name: "Filler", body: "Nothing." }) },
      { embed },
    );
    await memdir.warm();
    const found = await memdir.recall("poison ivy garden", { everything: true });
    expect(recalled(found)[0]).toBe("a.md");
  });

  it("warm tells how far it is, stops when asked, and goes on later", async () => {
    const embed = fakeEmbed("x");
    const { memdir } = await openStore(numbered(6, { name: "Filler", body: "Nothing." }), { embed });
    const controller = new AbortController();
    const steps: [number, number][] = [];
    const onProgress = (done: number, total: number) => {
      steps.push([done, total]);
      if (done === 2) controller.abort();
    };
    expect(await memdir.warm({ onProgress, signal: controller.signal })).toEqual({ memories: 6, embedded: 2, left: 4 });
    expect(steps).toEqual([
      [1, 6],
      [2, 6],
    ]);
    expect(await memdir.warm({ onProgress: () => {} })).toEqual({ memories: 6, embedded: 4, left: 0 });
    expect(await memdir.warm()).toEqual({ memories: 6, embedded: 0, left: 0 });
  });

  // Bug: `onProgress?.(++embedded, ...)` does not count when nobody listens.
  it("warm counts also when nobody listens", async () => {
    const { memdir } = await openStore(MEMORIES, { embed: fakeEmbed("x") });
    expect(await memdir.warm()).toEqual({ memories: 3, embedded: 3, left: 0 });
  });
});

describe("prefetch", () => {
  it("B6.14 B6.16 a handle that is polled and taken once", async () => {
    let answer = (_: string) => {};
    const ask = vi.fn<SideQuery>(() => new Promise((done) => (answer = done)));
    const { memdir } = await openStore(MEMORIES, { ask });
    const handle = (await memdir.prefetch(PROMPT))!;
    expect(handle).toMatchObject({ settled: false, consumed: false });
    await until(() => ask.mock.calls.length === 1);
    expect(handle.take()).toBeNull();
    answer(choosing("coffee.md"));
    await handle.promise;
    expect(handle.settled).toBe(true);
    expect(handle.take()!.map(({ file }) => file)).toEqual(["coffee.md"]);
    expect(handle.consumed).toBe(true);
    expect([handle.take(), handle.takeFast()]).toEqual([null, null]);
  });

  it("B6.16 a turn without tool calls gets the offline answer; the late one adds what is new", async () => {
    let answer: ((text: string) => void) | null = null;
    const ask: SideQuery = () => new Promise((done) => (answer = done));
    const { memdir } = await openStore(MEMORIES, { ask });
    const session = openRecallSession();
    const handle = (await memdir.prefetch(PROMPT, { session }))!;
    await until(() => handle.fast && answer);
    const fast = handle.takeFast()!;
    expect(fast.map(({ file }) => file)).toEqual(["deploy.md"]);
    session.surface(fast);
    answer!(choosing("deploy.md", "pool.md"));
    await handle.promise;
    expect(handle.take()!.map(({ file }) => file)).toEqual(["pool.md"]);
  });

  it("B11.7 B11.9 a model that fails: settled with the offline answer, nothing unhandled", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    try {
      const { world, memdir } = await openStore(MEMORIES, { ask: async () => Promise.reject(new Error("down")) });
      const handle = (await memdir.prefetch(PROMPT))!;
      await handle.promise;
      expect(handle.settled).toBe(true);
      expect(handle.take()!.map(({ file }) => file)).toEqual(["deploy.md"]);
      expect(world.logged).toEqual(["memory selection failed: down"]);
      await rest();
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off("unhandledRejection", unhandled);
    }
  });

  it("B11.9 a model that never answers holds nobody up", async () => {
    const { memdir } = await openStore(MEMORIES, { ask: never });
    const handle = (await memdir.prefetch(PROMPT))!;
    await until(() => handle.fast);
    handle.abort();
    expect(await handle.promise).toEqual([]);
    expect([handle.settled, handle.take(), handle.takeFast()]).toEqual([true, null, null]);
  });

  it("B11.6 without a model the offline answer is the answer", async () => {
    const { memdir } = await openStore(MEMORIES);
    const handle = (await memdir.prefetch(PROMPT))!;
    expect((await handle.promise).map(({ file }) => file)).toEqual(["deploy.md"]);
  });

  it("B6.15 B6.17 C36 closed gates cost nothing", async () => {
    const ask = answering(choosing("deploy.md"));
    const embed = fakeEmbed("x");
    const { world, memdir } = await openStore(MEMORIES, { ask, embed });
    const full = openRecallSession({ maxBytes: 1 });
    full.surface([{ path: "/x", content: "xx" }]);
    expect(await memdir.prefetch("")).toBeNull();
    expect(await memdir.prefetch("deploy")).toBeNull();
    expect(await memdir.prefetch(PROMPT, { isSubAgent: true })).toBeNull();
    expect(await memdir.prefetch(PROMPT, { session: full })).toBeNull();
    expect(await memdir.prefetch(PROMPT, { signal: AbortSignal.abort() })).toBeNull();
    const none = await openStore({ "MEMORY.md": "# Memory\n" }, { ask, embed });
    expect(await none.memdir.prefetch(PROMPT)).toBeNull();
    await rest();
    expect([ask.mock.calls.length, embed.asked.length]).toEqual([0, 0]);
    expect(world.exists(".memdir/recall.bin")).toBe(false);
  });

  // Bug: with a vector of the prompt and none of any memory, confidence is on the scale of meaning and the floor on that of words.
  it("before the meaning of any memory is known it goes by words", async () => {
    const files = { ...MEMORIES, "zoo.md": { name: "Zookeeper", body: "The quorum is three." } };
    const { memdir } = await openStore(files, { embed: fakeEmbed("x") });
    const handle = (await memdir.prefetch("what about the zookeeper quorum"))!;
    expect((await handle.promise).map(({ file }) => file)).toEqual(["zoo.md"]);
  });

  it("C36 one word of Chinese is a sentence", async () => {
    const { memdir } = await openStore({ "zh.md": { name: "服务部署流程说明" } });
    const handle = (await memdir.prefetch("服务部署流程说明"))!;
    expect((await handle.promise).map(({ file }) => file)).toEqual(["zh.md"]);
  });

  it("B6.12 B6.19 over a conversation nothing comes twice", async () => {
    const { memdir } = await openStore({ ...MEMORIES, ...numbered(9, { name: "Filler" }) }, { ask: firstFive });
    const session = openRecallSession();
    const seen: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const handle = (await memdir.prefetch(`${PROMPT} filler espresso database`, { session }))!;
      await handle.promise;
      const taken = handle.take() ?? [];
      session.surface(taken);
      seen.push(...taken.map(({ file }) => file));
    }
    expect(seen).toHaveLength(12);
    expect(new Set(seen).size).toBe(12);
  });

  it("two at once, on a directory that was never read: both answer", async () => {
    const { memdir } = await openStore(MEMORIES, { ask: answering(choosing("pool.md")) });
    const handles = await Promise.all([memdir.prefetch(PROMPT), memdir.prefetch(PROMPT), memdir.recall(PROMPT)]);
    const [a, b] = await Promise.all([handles[0]!.promise, handles[1]!.promise]);
    expect([a, b].map((memories) => memories.map(({ file }) => file))).toEqual([["pool.md"], ["pool.md"]]);
    expect(recalled(handles[2])).toEqual(["pool.md"]);
    expect(mainOf(memdir).path).toBeTruthy();
  });
});
