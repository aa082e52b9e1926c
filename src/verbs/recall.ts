/** `recall`: the memories that an agent would be shown for a prompt. */

import { bold, dim, flag, type Line, list, number, text, verb } from "../verb.ts";

export const recall = verb({
  args: ["prompt…"],
  input: {
    prompt: text("what you would ask an agent", "PROMPT"),
    "max-bytes": number("the most that all of them may take, headers included"),
    limit: number("at most this many (default: 5)"),
    exclude: list("leave this memory out; may be given several times", "FILE"),
    "no-model": flag("rank offline even if a model is configured"),
    all: flag("also those that are not sure enough to be shown"),
  },
  examples: ['recall "can I stub the database in this spec?"'],
  async run(memdir, { prompt = "", exclude = [], ...given }, { progress, signal }) {
    // Memories whose meaning is not known yet are read first: long work the first time.
    await memdir.warm({ onProgress: progress("reading memories") });
    const { memories, considered, method, tookMs, leftOut } = await memdir.recall(prompt, {
      ...{ exclude, signal },
      ...(given.limit === undefined ? {} : { limit: given.limit }),
      ...(given["max-bytes"] === undefined ? {} : { maxBytes: given["max-bytes"] }),
      ...(given["no-model"] ? { model: false } : {}),
      ...(given.all ? { everything: true } : {}),
    });
    return { memories, considered, method, tookMs, leftOut };
  },
  say({ memories, considered, method, tookMs, leftOut }) {
    const found = memories.length === 0 ? "Nothing that clearly helps" : `${memories.length} recalled`;
    return [
      ...memories.flatMap(({ type, name, file, score, description, why }): Line[] => [
        [`[${type}] `, bold(name), " ", dim(file), `  ${score.toFixed(2)}`],
        ...(description === "" ? [] : [`    ${description}`]),
        ...why.map((reason) => dim(`    ${reason}`)),
      ]),
      ...(leftOut.length > 0 ? [dim(`Did not fit: ${leftOut.join(", ")}`)] : []),
      dim(`${found}, of ${considered} memories (${method}, ${Math.round(tookMs)} ms)`),
    ];
  },
});
