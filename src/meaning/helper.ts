/** A second thread for the model's multiplications. It takes parts of a layer while this one does the others, and is not waited for when it is late. */

import type { Shareable } from "./wasm.ts";

/** As in kernel.as: the activations and their scales, the weights and theirs, bias, out, its stride, tokens, rows, columns. */
export type LinearArguments = readonly [
  ...[number, number, number, number, number],
  ...[number, number, number, number, number],
];

export interface Helper {
  /** Does what the kernel's does, in both threads; returns when all of it is done. */
  linear(...given: LinearArguments): void;
}

/** The rows of every layer can be divided by it, into multiples of eight. With fewer, one thread would wait longer for the other's last part. */
export const PARTS = 16;
/** How long its last part is waited for: longer than a part takes, and far less than a thread waits for its turn on a busy machine. */
const PATIENCE_MS = 0.1;
/** How long the thread looks for more before it sleeps: waking it takes as long as a part, and between two layers there is other work. */
const LINGER_MS = 0.1;
/** What both threads see: the number of the layer and of its next part, the same of the part that the thread has, how many parts it has done, the arguments. */
const [NEXT, TAKEN, DONE, ARGUMENTS] = [0, 1, 2, 3];
const PART_BITS = 8;
const PART_MASK = (1 << PART_BITS) - 1;
/** In place of a part's number: its result is being written, or is not wanted any more. */
const [WRITING, DROPPED] = [-1, -2];

/** `scratch`: where one part's results have room. */
export function openHelper(
  { module, memory }: Shareable,
  scratch: number,
  linear: (...given: LinearArguments) => unknown,
): Helper {
  const shared = new Int32Array(new SharedArrayBuffer((ARGUMENTS + 10) * Int32Array.BYTES_PER_ELEMENT));
  shared[NEXT] = PARTS;
  const names = { NEXT, TAKEN, DONE, ARGUMENTS, PART_MASK, PARTS, LINGER_MS, WRITING };
  const workerData: Given = { module, memory, shared, scratch, ...names };
  // Loaded here: a hook that is started for one event does without it.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const source = `(${runThread})(require("node:worker_threads").workerData)`;
  const worker = new Worker(source, { eval: true, execArgv: [], env: {}, workerData });
  worker.unref();
  // Then everything is done here.
  worker.on("error", () => {});
  let layer = 0;
  return {
    linear(activations, scales, weights, weightScales, bias, out, stride, tokens, allRows, columns) {
      const rows = allRows / PARTS;
      const run = (part: number) => {
        const [at, ofWeights] = [part * rows * 4, weights + part * rows * columns * 2];
        linear(activations, scales, ofWeights, weightScales + at, bias + at, out + at, stride, tokens, rows, columns);
      };
      shared.set([activations, scales, weights, weightScales, bias, out, stride, tokens, rows, columns], ARGUMENTS);
      layer = (layer + 1) % (1 << 20);
      Atomics.store(shared, DONE, 0);
      Atomics.store(shared, NEXT, layer << PART_BITS);
      Atomics.notify(shared, NEXT);
      let others = PARTS;
      for (let part = take(shared); part < PARTS; part = take(shared), others--) run(part);
      const until = performance.now() + PATIENCE_MS;
      while (Atomics.load(shared, DONE) < others) {
        if (performance.now() < until) continue;
        const taken = Atomics.load(shared, TAKEN);
        // Writing takes microseconds: then it is waited for.
        if (taken < 0 || Atomics.compareExchange(shared, TAKEN, taken, DROPPED) !== taken) continue;
        run(taken & PART_MASK);
        break;
      }
    },
  };
}

function take(shared: Int32Array): number {
  return Atomics.add(shared, NEXT, 1) & PART_MASK;
}

interface Given {
  module: object;
  memory: { buffer: ArrayBuffer };
  shared: Int32Array;
  scratch: number;
  NEXT: number;
  TAKEN: number;
  DONE: number;
  ARGUMENTS: number;
  PART_MASK: number;
  PARTS: number;
  LINGER_MS: number;
  WRITING: number;
}

/** The part of the global that is used here, which the types of Node 20 lack. */
declare const WebAssembly: {
  Instance: new (module: object, imports: object) => { exports: { linear: (...given: LinearArguments) => unknown } };
};

/** What the thread runs. It gets there as text, without anything else of this file. A result is written aside first: when it is late, its place may be in use again. */
function runThread(given: Given): never {
  const { module, memory, shared, scratch, NEXT, TAKEN, DONE, ARGUMENTS, PART_MASK, PARTS, LINGER_MS, WRITING } = given;
  const { linear } = new WebAssembly.Instance(module, { env: { memory } }).exports;
  const floats = new Float32Array(memory.buffer);
  let until = 0;
  for (;;) {
    const next = Atomics.load(shared, NEXT);
    const part = next & PART_MASK;
    if (part >= PARTS) {
      if (performance.now() < until) continue;
      Atomics.wait(shared, NEXT, next);
      until = performance.now() + LINGER_MS;
      continue;
    }
    const [activations, scales, weights, weightScales, bias, out, stride, tokens, rows, columns] = shared.subarray(
      ARGUMENTS,
    ) as unknown as LinearArguments;
    Atomics.store(shared, TAKEN, next);
    // What was read above may be half of the next layer's: then it was not taken.
    if (Atomics.compareExchange(shared, NEXT, next, next + 1) !== next) continue;
    const [at, ofWeights] = [part * rows * 4, weights + part * rows * columns * 2];
    linear(activations, scales, ofWeights, weightScales + at, bias + at, scratch, rows * 4, tokens, rows, columns);
    if (Atomics.compareExchange(shared, TAKEN, next, WRITING) === next) {
      for (let token = 0; token < tokens; token++) {
        const from = scratch / 4 + token * rows;
        floats.copyWithin((out + at + token * stride) / 4, from, from + rows);
      }
      Atomics.add(shared, DONE, 1);
    }
    until = performance.now() + LINGER_MS;
  }
}
