/** A second thread for the model's multiplications. It takes parts of a layer while this one does the others, and is not waited for when it is late. */

import type { Shareable } from "./wasm.ts";

/** As in kernel.as: the activations and their scales, the weights and theirs, bias, out, its stride, tokens, rows, columns, whether GELU follows. */
export type LinearArguments = readonly [
  ...[number, number, number, number, number],
  ...[number, number, number, number, number, number],
];

export interface Helper {
  /** Does what the kernel's does, in both threads; returns when all of it is done. */
  linear(...given: LinearArguments): void;
  /** A text is about to come: waking takes an idle processor longer than a layer, so it is done beforehand. */
  wake(): void;
  /** There is nothing more to do for now. */
  rest(): void;
}

/** The rows of every layer can be divided by it, into multiples of eight. With fewer, one thread would wait longer for the other's last part. */
export const PARTS = 16;
/** The fewest rows that the kernel takes. */
const STEP = 8;
/** How long the thread looks for more before it sleeps although it was not told to rest: as long as it takes from a prompt's arrival to the model. */
const LINGER_MS = 2;
/** What both threads see: the number of the layer and of its next part, the same of the part that the thread has, how many parts it has done, whether it is to stay awake, the arguments. */
const [NEXT, TAKEN, DONE, AWAKE, ARGUMENTS] = [0, 1, 2, 3, 4];
const PART_BITS = 8;
const PART_MASK = (1 << PART_BITS) - 1;
/** In place of a part's number: its result is being written, or is not wanted any more. */
const [WRITING, DROPPED] = [-1, -2];
/** What the thread knows of these. */
const NAMES = { NEXT, TAKEN, DONE, AWAKE, ARGUMENTS, PART_MASK, PARTS, LINGER_MS, WRITING };

/** `scratch`: where one part's results have room. */
export function openHelper(
  { module, memory }: Shareable,
  scratch: number,
  linear: (...given: LinearArguments) => unknown,
): Helper {
  const shared = new Int32Array(new SharedArrayBuffer((ARGUMENTS + 11) * Int32Array.BYTES_PER_ELEMENT));
  shared[NEXT] = PARTS;
  const workerData: Given = { module, memory, shared, scratch, ...NAMES };
  // Loaded here: a hook that is started for one event does without it.
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const source = `(${runThread})(require("node:worker_threads").workerData)`;
  const worker = new Worker(source, { eval: true, execArgv: [], env: {}, workerData });
  worker.unref();
  // Then everything is done here.
  worker.on("error", () => {});
  let layer = 0;
  const wake = () => {
    if (Atomics.exchange(shared, AWAKE, 1) === 0) Atomics.notify(shared, AWAKE);
  };
  return {
    wake,
    rest: () => void Atomics.store(shared, AWAKE, 0),
    linear(...given) {
      const [activations, scales, weights, weightScales, bias, out, stride, tokens, allRows, columns, isGelu] = given;
      const rows = allRows / PARTS;
      const run = (from: number, count: number) => {
        const at = from * 4;
        const [ofWeights, ofScales, ofBias] = [weights + from * columns, weightScales + at, bias + at];
        linear(activations, scales, ofWeights, ofScales, ofBias, out + at, stride, tokens, count, columns, isGelu);
      };
      shared.set(given, ARGUMENTS);
      layer = (layer + 1) % (1 << 20);
      Atomics.store(shared, DONE, 0);
      Atomics.store(shared, NEXT, layer << PART_BITS);
      wake();
      let others = PARTS;
      for (let part = take(shared); part < PARTS; part = take(shared), others--) run(part * rows, rows);
      const isDone = () => Atomics.load(shared, DONE) >= others;
      const taken = Atomics.load(shared, TAKEN);
      // The thread's last part is not waited for but done here too, bit by bit: the numbers are the same, whoever writes them.
      for (let row = 0; row < rows && taken >= 0 && !isDone(); row += STEP) run((taken & PART_MASK) * rows + row, STEP);
      // Writing takes microseconds: then it is waited for.
      while (!isDone() && (taken < 0 || Atomics.compareExchange(shared, TAKEN, taken, DROPPED) !== taken));
    },
  };
}

function take(shared: Int32Array): number {
  return Atomics.add(shared, NEXT, 1) & PART_MASK;
}

type Given = Shareable & typeof NAMES & { shared: Int32Array; scratch: number };

/** The part of the global that is used here, which the types of Node 20 lack. */
declare const WebAssembly: {
  Instance: new (module: object, imports: object) => { exports: { linear: (...given: LinearArguments) => unknown } };
};

/** What the thread runs. It gets there as text, without anything else of this file. A result is written aside first: when it is late, its place may be in use again. */
function runThread(given: Given): never {
  const { module, memory, shared, scratch, NEXT, TAKEN, DONE, AWAKE } = given;
  const { ARGUMENTS, PART_MASK, PARTS, LINGER_MS, WRITING } = given;
  const { linear } = new WebAssembly.Instance(module, { env: { memory } }).exports;
  const floats = new Float32Array(memory.buffer);
  let until = 0;
  for (;;) {
    const next = Atomics.load(shared, NEXT);
    const part = next & PART_MASK;
    if (part >= PARTS) {
      const isAwake = Atomics.load(shared, AWAKE) === 1;
      if (isAwake && performance.now() < until) continue;
      if (isAwake) Atomics.store(shared, AWAKE, 0);
      Atomics.wait(shared, AWAKE, 0);
      until = performance.now() + LINGER_MS;
      continue;
    }
    const [activations, scales, weights, weightScales, bias, out, stride, tokens, allRows, columns, isGelu] =
      shared.subarray(ARGUMENTS) as unknown as LinearArguments;
    const rows = allRows / PARTS;
    Atomics.store(shared, TAKEN, next);
    // What was read above may be half of the next layer's: then it was not taken.
    if (Atomics.compareExchange(shared, NEXT, next, next + 1) !== next) continue;
    const at = part * rows * 4;
    const [ofWeights, ofScales, ofBias] = [weights + (at * columns) / 4, weightScales + at, bias + at];
    linear(activations, scales, ofWeights, ofScales, ofBias, scratch, rows * 4, tokens, rows, columns, isGelu);
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
