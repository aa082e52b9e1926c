/** all-MiniLM-L6-v2: the meaning of a sentence as 384 numbers, computed here and synchronously. */
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { MemdirError } from "../errors.ts";
import { openGlossary } from "./glossary.ts";
import { attempt, broken, openTensorFile } from "./tensor-file.ts";
import { FLOAT, type Kernel, loadWeights, MAX_TOKENS, openTuning, type Places, WIDTH } from "./weights.ts";
import { openWordPieces } from "./word-pieces.ts";

const HEADS = 12;
const HEAD_BYTES = (WIDTH / HEADS) * FLOAT;
/**
 * The beginning of the vector of the empty text, with the package's weights and with tuned ones, as our kernel computes it. It differs
 * for other models of the same shape and for broken arithmetic.
 */
const EMPTY_TEXT = [-0.0978, 0.0528, -0.0004, 0.0004, 0.0588, 0.0148, 0.1107, 0.0049];
const EMPTY_TEXT_TUNED = [-0.0796, 0.0553, -0.0135, 0.0058, 0.0951, 0.0038, 0.0934, -0.0284];
/** Other machines round alike: anything beyond this is another model. */
const TOLERANCE = 0.005;

/** A vector of length one; null for a prompt in a language that the model and its glossary do not know. */
export interface EmbedText {
  (text: string): Float32Array;
  (text: string, isPrompt?: boolean): Float32Array | null;
}

/**
 * Gives a unit vector for every text: the cosine of two is their dot product. Anything beyond 256 word pieces is ignored.
 * The model stays open for as long as the process lives.
 * @param modelDir holds `model.fp16.safetensors` and `tokenizer.json`.
 * @param assets holds what memdir adds to them, `minilm-tuning.bin` and `glossary.txt`; null for the model as it is
 * @throws MemdirError when a file is missing, broken or belongs to another model
 */
export function openMiniLm(modelDir: string, assets: string | null = null): EmbedText {
  const tokenizer = path.join(modelDir, "tokenizer.json");
  const file = path.join(modelDir, "model.fp16.safetensors");
  for (const name of [tokenizer, file]) requireFile(name);
  const inAssets = <T>(name: string, open: (file: string) => T): T | null => {
    const added = assets === null ? null : path.join(assets, name);
    return added === null ? null : attempt(added, () => open(added));
  };
  const glossary = inAssets("glossary.txt", openGlossary);
  const pieces = openWordPieces(
    attempt(tokenizer, () => readFileSync(tokenizer)),
    glossary,
  );
  const tuning = inAssets("minilm-tuning.bin", openTuning);
  const tensors = openTensorFile(file);
  try {
    const { kernel, places, readToken } = loadWeights(file, tensors, tuning);
    function embed(text: string): Float32Array;
    function embed(text: string, isPrompt?: boolean): Float32Array | null {
      if (isPrompt && !pieces.isReadable(text)) return null;
      const ids = pieces.encode(text, MAX_TOKENS);
      ids.forEach(readToken);
      runModel(kernel, places, ids.length);
      return unit(new Float32Array(kernel.memory.buffer, places.mean, WIDTH));
    }
    tuning?.finish();
    const check = embed("");
    const expected = tuning ? EMPTY_TEXT_TUNED : EMPTY_TEXT;
    if (!expected.every((x, i) => Math.abs(x - (check[i] as number)) < TOLERANCE))
      throw broken(file, "its vectors differ from those of all-MiniLM-L6-v2");
    return embed;
  } catch (error) {
    tensors.close();
    throw error;
  }
}

/** From word embeddings in `state` to the mean of all tokens in `mean`. */
function runModel(kernel: Kernel, places: Places, tokens: number): void {
  const { state, change, wide } = places;
  // The kernel takes tokens by fours and at the end perhaps a pair: zeros are added, which get no attention.
  const rows = tokens + (tokens % 2);
  kernel.memory.fill(0, state + tokens * WIDTH * FLOAT, state + rows * WIDTH * FLOAT);
  const states = new Float32Array(kernel.memory.buffer, state, rows * WIDTH);
  kernel.addNorm(state, places.positions, places.norm.weight, places.norm.bias, rows, WIDTH);
  const apply = (from: number, { columns, ...to }: Places["layers"][number]["up"], out: number, isGelu = 0) => {
    const { packed, ranges } = places;
    const { weights, scales, sums, bias, outliers } = to;
    for (const { column, power } of outliers) multiplyColumn(states, column, 2 ** -power);
    kernel.packActivations(from, packed, ranges, rows, columns);
    for (const { column, power } of outliers) multiplyColumn(states, column, 2 ** power);
    kernel.linear(packed, ranges, weights, scales, sums, bias, out, to.rows * FLOAT, rows, to.rows, columns, isGelu);
  };
  for (const layer of places.layers) {
    apply(state, layer.attention, wide);
    attend(kernel, places, tokens);
    apply(change, layer.attentionOut, wide);
    kernel.addNorm(state, wide, layer.attentionNorm.weight, layer.attentionNorm.bias, rows, WIDTH);
    apply(state, layer.up, wide, 1);
    apply(wide, layer.down, change);
    kernel.addNorm(state, change, layer.norm.weight, layer.norm.bias, rows, WIDTH);
  }
  kernel.average(state, places.mean, tokens, WIDTH);
}

function multiplyColumn(states: Float32Array, column: number, factor: number): void {
  for (let i = column; i < states.length; i += WIDTH) states[i] = (states[i] as number) * factor;
}

/**
 * Every head over queries, keys and values in `wide`, into `change`. By fours: what earlier texts left in the rows beyond
 * gets no attention.
 */
function attend(kernel: Kernel, { wide, keys, scores, change }: Places, tokens: number): void {
  const rows = Math.ceil(tokens / 4) * 4;
  const rowBytes = WIDTH * FLOAT;
  kernel.turn(wide + rowBytes, 3 * rowBytes, keys, rows, WIDTH);
  for (let at = 0; at < rowBytes; at += HEAD_BYTES) {
    const values = wide + 2 * rowBytes + at;
    kernel.attend(wide + at, keys + at * rows, values, scores, change + at, 3 * rowBytes, rowBytes, tokens, rows);
  }
}

function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
  return vector.map((x) => x / length);
}

/** Reading a pipe in place of the file would block forever. */
function requireFile(file: string): void {
  const stat = attempt(file, () => statSync(file, { throwIfNoEntry: false }));
  if (!stat?.isFile()) throw new MemdirError("not-found", `${file} does not exist; reinstall the sentence model`);
}
