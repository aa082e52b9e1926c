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
    "no-wait": flag("do not read memories first whose meaning is not known yet"),
    all: flag("also those that are not sure enough to be shown"),
  },
  examples: ['recall "can I stub the database in this spec?"'],
  async run(memdir, { prompt = "", exclude, limit, "max-bytes": maxBytes, ...given }, { progress, signal }) {
    if (!given["no-wait"]) await memdir.warm({ onProgress: progress("reading memories") });
    const model = given["no-model"] ? false : undefined;
    return memdir.recall(prompt, { exclude, limit, maxBytes, model, everything: given.all, signal });
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
