/** `recall`: the memories that an agent would be shown for a prompt; and `search`: every memory that contains the words. */

import { countMemories, dim, flag, type Line, list, notes, number, text, verb } from "../verb.ts";
import { foundLine, signRows } from "./list.ts";

/** Vectors that are missing are made first where half a second is enough: some fifty new memories, so that a first recall shows what an agent would get. */
const BEFORE_MS = 500;
/** A large new store gets the rest in the course of some calls; a person does not notice two seconds after the answer. */
const AFTER_MS = 2_000;

export const recall = verb({
  args: ["prompt…"],
  input: {
    prompt: text("what you would ask an agent", "PROMPT"),
    "max-bytes": number("maximum total size in bytes, including headers"),
    limit: number("at most this many (default: 5)", { min: 1 }),
    exclude: list("leave out this memory; can be repeated", "FILE"),
    "no-model": flag("rank offline even if a model is configured"),
    "no-wait": flag("do not compute missing vectors before or after answering"),
    all: flag("include memories that are too uncertain to be shown"),
  },
  examples: ['recall "can I stub the database in this spec?"'],
  async run(memdir, { prompt = "", exclude, limit, "max-bytes": maxBytes, ...given }, { signal, env }) {
    if (!given["no-wait"]) await memdir.warm({ budgetMs: BEFORE_MS, signal });
    const model = given["no-model"] ? false : undefined;
    const found = await memdir.recall(prompt, { exclude, limit, maxBytes, model, everything: given.all, signal });
    return { ...found, memories: await signRows(memdir, found.memories, env) };
  },
  async after(memdir, { "no-wait": isOver }, { progress, signal }) {
    if (!isOver) await memdir.warm({ budgetMs: AFTER_MS, onProgress: progress("making vectors"), signal });
  },
  say({ memories, considered, method, tookMs, leftOut, warnings }) {
    const none = leftOut.length > 0 ? "None of them fits" : "Nothing that clearly helps";
    const found = memories.length === 0 ? none : `${memories.length} recalled`;
    return [
      ...memories.flatMap((row): Line[] => [
        [...foundLine(row), `  ${row.confidence.toFixed(2)}`],
        ...(row.description === "" ? [] : [`    ${row.description}`]),
        ...row.why.map((reason) => dim(`    ${reason}`)),
      ]),
      ...(leftOut.length > 0 ? [dim(`Did not fit: ${leftOut.join(", ")}`)] : []),
      dim(`${found}, of ${countMemories(considered)} (${method}, ${Math.round(tookMs)} ms)`),
      ...notes(warnings),
    ];
  },
});

export const search = verb({
  args: ["words…"],
  input: { words: text("what to look for", "WORDS") },
  examples: ["search deploy staging"],
  run: async (memdir, { words = "" }, { env }) => signRows(memdir, await memdir.search(words), env),
  say: (hits) => (hits.length === 0 ? ["Nothing found."] : hits.flatMap((hit) => [foundLine(hit), `    ${hit.line}`])),
});
