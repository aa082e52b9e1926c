/** The weights of the sentence model in the kernel's memory, and space for the results. */
import { readFileSync } from "node:fs";
import { KERNEL_BYTES, PLAIN_KERNEL_BYTES } from "./kernel-bytes.ts";
import { broken, type TensorFile } from "./tensor-file.ts";
import { openWasm, type Wasm } from "./wasm.ts";
import type { Token } from "./word-pieces.ts";

/** The length the model was trained on; it accepts 512. */
export const MAX_TOKENS = 256;
export const WIDTH = 384;
const HIDDEN = 1536;
const LAYERS = 6;
const WORDS = 30522;
/** Bytes of a number: as in the file, and otherwise. A weight and an activation as the kernel multiplies them are one byte. */
const HALF = 2;
export const FLOAT = 4;
/** Weights pass through here on their way from the file. Small, to stay in the processor's cache, but the positions must fit. */
const STAGE_BYTES = MAX_TOKENS * WIDTH * HALF;

/**
 * Columns of a token that are far larger than the rest in every layer, before attention and before the wide middle, each with a power
 * of two. Such a column is divided by it while a token is packed, and its weights are multiplied: otherwise the bytes of the token
 * would be too coarse for the rest. Read off the situations in training/.
 */
const OUTLIERS_IN_ATTENTION = { 63: 1, 99: 1, 157: 1 };
const OUTLIERS_IN_MIDDLE = { 63: 1, 99: 3, 127: 1, 157: 1, 223: 1, 267: 1, 338: 1 };

/** What each function takes and does is said in kernel.as. */
export type Kernel = Wasm<
  | "widen"
  | "packWeights"
  | "addChange"
  | "packActivations"
  | "linear"
  | "attend"
  | "turn"
  | "addNorm"
  | "addRow"
  | "average"
>;

/** Addresses in the kernel's memory. */
export type Places = ReturnType<typeof layOut>["places"];
type Layer = Places["layers"][number];
type Linear = Layer["up"];
type Norm = Layer["norm"];

/** `tuning`: what training changed of the weights in the file; null for the weights as they are. */
export function loadWeights(file: string, tensors: TensorFile, tuning: Tuning | null) {
  const { places, stage, bytes } = layOut();
  const kernel: Kernel = openWasm(PLAIN_KERNEL_BYTES, bytes, KERNEL_BYTES);
  const loader = openLoader(file, tensors, kernel, stage);
  const words = tensors.find("embeddings.word_embeddings.weight", [WORDS, WIDTH]);
  loadAll(loader, kernel, places, tuning);
  const row = (at: number) => new Float32Array(kernel.memory.buffer, at, WIDTH);
  const readPiece = (id: number, to: number): void => {
    if (id >= WORDS) throw broken(file, `it does not match its tokenizer, which has a word ${id}`);
    loader.halves(words + id * WIDTH * HALF, to, WIDTH);
  };
  return {
    kernel,
    places,
    /** Puts the embedding of a token into row `at` of `state`: the table is half of the file, so its rows are read one by one. */
    readToken(token: Token, at: number): void {
      const to = places.state + at * WIDTH * FLOAT;
      if (typeof token === "number") {
        readPiece(token, to);
        return;
      }
      const mixed = row(to).fill(0);
      for (const { piece, share } of token) {
        readPiece(piece, places.mean);
        row(places.mean).forEach((value, i) => {
          mixed[i] = (mixed[i] as number) + share * value;
        });
      }
    },
  };
}

/** Assigns an address to everything, in multiples of 16 bytes. */
function layOut() {
  let next = 0;
  const take = (bytes: number) => {
    const place = next;
    next += Math.ceil(bytes / 16) * 16;
    return place;
  };
  const norm = () => ({ weight: take(WIDTH * FLOAT), bias: take(WIDTH * FLOAT) });
  /** int8 rows with the factor and the sum of each, and what is added. */
  const linear = (rows: number, columns: number, outliers: Record<number, number> = {}) => ({
    weights: take(rows * columns),
    scales: take(rows * FLOAT),
    sums: take(rows * FLOAT),
    bias: take(rows * FLOAT),
    rows,
    columns,
    outliers: Object.entries(outliers).map(([column, power]) => ({ column: Number(column), power })),
  });
  // Behind the weights what training changed of them: a quarter of their size, and a scale for each row.
  const stage = take(STAGE_BYTES + STAGE_BYTES / 4 + (STAGE_BYTES / (WIDTH * HALF)) * FLOAT);
  const places = {
    /** A row for every token, and what the next step adds to it. */
    state: take(MAX_TOKENS * WIDTH * FLOAT),
    change: take(MAX_TOKENS * WIDTH * FLOAT),
    /** Queries, keys and values of a token side by side; later the wide middle of the feed-forward part. */
    wide: take(MAX_TOKENS * HIDDEN * FLOAT),
    /** Activations as numbers of one byte or of two, and for each row the step and the lowest number. */
    packed: take(MAX_TOKENS * HIDDEN * HALF),
    ranges: take(2 * MAX_TOKENS * FLOAT),
    /** A row for every dimension instead of every token. */
    keys: take(MAX_TOKENS * WIDTH * FLOAT),
    /** Of four tokens. */
    scores: take(4 * MAX_TOKENS * FLOAT),
    mean: take(WIDTH * FLOAT),
    positions: take(MAX_TOKENS * WIDTH * FLOAT),
    norm: norm(),
    layers: Array.from({ length: LAYERS }, () => ({
      attention: linear(3 * WIDTH, WIDTH, OUTLIERS_IN_ATTENTION),
      attentionOut: linear(WIDTH, WIDTH),
      attentionNorm: norm(),
      up: linear(HIDDEN, WIDTH, OUTLIERS_IN_MIDDLE),
      down: linear(WIDTH, HIDDEN),
      norm: norm(),
    })),
  };
  return { places, stage, bytes: next };
}

/** Reads tensors from the file to places in memory; throws when a number is not finite. */
function openLoader(file: string, tensors: TensorFile, kernel: Kernel, stage: number) {
  const changeStage = stage + STAGE_BYTES;
  const scaleStage = changeStage + STAGE_BYTES / 4;
  const fill = (bytes: number, position: number) =>
    tensors.read(kernel.memory.subarray(stage, stage + bytes), position);
  const check = (finite: number) => {
    if (!finite) throw broken(file, "it contains numbers that are not finite");
  };
  const halves = (position: number, to: number, count: number) => {
    fill(count * HALF, position);
    check(kernel.widen(stage, to, count));
  };
  const floats = (name: string, shape: number[], to: number, count: number) =>
    halves(tensors.find(name, shape), to, count);
  return {
    halves,
    floats,
    norm(name: string, to: Norm, tuning: Tuning | null = null): void {
      floats(`${name}.LayerNorm.weight`, [WIDTH], to.weight, WIDTH);
      floats(`${name}.LayerNorm.bias`, [WIDTH], to.bias, WIDTH);
      tuning?.replace(kernel.memory, to.weight, WIDTH);
      tuning?.replace(kernel.memory, to.bias, WIDTH);
    },
    linear(name: string, to: Linear, tuning: Tuning | null, firstRow = 0, rows = to.rows): void {
      const { columns, outliers } = to;
      const position = tensors.find(`${name}.weight`, [rows, columns]);
      const step = STAGE_BYTES / (columns * HALF);
      for (let row = 0; row < rows; row += step) {
        const count = Math.min(step, rows - row);
        const at = firstRow + row;
        fill(count * columns * HALF, position + row * columns * HALF);
        if (tuning) {
          tuning.readRows(kernel.memory, { change: changeStage, scales: scaleStage, rows: count, columns });
          kernel.addChange(stage, changeStage, scaleStage, count, columns);
        }
        const staged = new Uint16Array(kernel.memory.buffer, stage, count * columns);
        for (const { column, power } of outliers) {
          // A float16 times two has an exponent that is one more.
          for (let i = column; i < staged.length; i += columns) staged[i] = (staged[i] as number) + (power << 10);
        }
        const [scales, sums] = [to.scales + at * FLOAT, to.sums + at * FLOAT];
        check(kernel.packWeights(stage, to.weights + at * columns, scales, sums, count, columns));
      }
      floats(`${name}.bias`, [rows], to.bias + firstRow * FLOAT, rows);
      tuning?.replace(kernel.memory, to.bias + firstRow * FLOAT, rows);
    },
  };
}

function loadAll(loader: ReturnType<typeof openLoader>, kernel: Kernel, places: Places, tuning: Tuning | null): void {
  loader.floats("embeddings.token_type_embeddings.weight", [2, WIDTH], places.mean, WIDTH);
  loader.floats("embeddings.position_embeddings.weight", [512, WIDTH], places.positions, MAX_TOKENS * WIDTH);
  kernel.addRow(places.positions, places.mean, MAX_TOKENS, WIDTH);
  loader.norm("embeddings", places.norm);
  for (const [i, layer] of places.layers.entries()) {
    const name = `encoder.layer.${i}`;
    const tuned = tuning && i >= tuning.firstLayer ? tuning : null;
    for (const [part, self] of ["query", "key", "value"].entries())
      loader.linear(`${name}.attention.self.${self}`, layer.attention, tuned, part * WIDTH, WIDTH);
    loader.linear(`${name}.attention.output.dense`, layer.attentionOut, tuned);
    loader.norm(`${name}.attention.output`, layer.attentionNorm, tuned);
    loader.linear(`${name}.intermediate.dense`, layer.up, tuned);
    loader.linear(`${name}.output.dense`, layer.down, tuned);
    loader.norm(`${name}.output`, layer.norm, tuned);
  }
}

/**
 * What training changed of MiniLM's weights (`training/tune.py`): four bits a number for matrices, whole numbers for the rest. Read
 * from beginning to end, in the order in which the weights are loaded.
 */
interface Tuning {
  /** Layers before it are as they were. */
  firstLayer: number;
  /** The next rows of a matrix: their scales, and what is added to them. */
  readRows(memory: Uint8Array, to: { change: number; scales: number; rows: number; columns: number }): void;
  /** The next numbers take the place of those that are there. */
  replace(memory: Uint8Array, to: number, count: number): void;
  /** Throws unless everything was read. */
  finish(): void;
}

const MAGIC = 0x5754444d;
const VERSION = 1;
const TUNING_HEAD_BYTES = 12;

export function openTuning(file: string): Tuning {
  const bytes = readFileSync(file);
  if (bytes.length < TUNING_HEAD_BYTES || bytes.readUInt32LE(0) !== MAGIC || bytes.readUInt32LE(4) !== VERSION)
    throw broken(file, "it is not what this version of memdir expects");
  let at = TUNING_HEAD_BYTES;
  const copy = (memory: Uint8Array, to: number, count: number): void => {
    if (at + count > bytes.length) throw broken(file, "it ends too early");
    memory.set(bytes.subarray(at, at + count), to);
    at += count;
  };
  return {
    firstLayer: bytes.readUInt32LE(8),
    readRows(memory, { change, scales, rows, columns }) {
      for (let row = 0; row < rows; row++) {
        copy(memory, scales + row * 4, 4);
        copy(memory, change + (row * columns) / 2, columns / 2);
      }
    },
    replace: (memory, to, count) => copy(memory, to, count * 4),
    finish() {
      if (at !== bytes.length) throw broken(file, "it is longer than expected");
    },
  };
}
