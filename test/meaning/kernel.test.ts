import { expect, it } from "vitest";
import { KERNEL_BYTES, PLAIN_KERNEL_BYTES } from "../../src/meaning/kernel-bytes.ts";
import { openWasm, type Wasm } from "../../src/meaning/wasm.ts";

type Kernel = Wasm<"packWeights" | "packActivations" | "linear">;

const [ROWS, COLUMNS, TOKENS] = [16, 48, 10];
const [STAGE, WEIGHTS, SCALES, SUMS, BIAS] = [0, 0x4000, 0x8000, 0x8100, 0x8200];
const [STATES, PACKED, RANGES, OUT] = [0x9000, 0xc000, 0xd000, 0xe000];
const MEMORY_BYTES = 0x10000;

/** Numbers between -1 and 1 that a small generator gives, so that every run sees the same. */
function numbers(count: number): number[] {
  let seed = 1;
  return Array.from({ length: count }, () => {
    seed = (seed * 48271) % 0x7fffffff;
    return (seed / 0x7fffffff) * 2 - 1;
  });
}

/** Halves whose value is a multiple of 1/64 below 1, exact in float16. */
function toHalf(value: number): number {
  const size = Math.round(Math.abs(value) * 63) / 64;
  if (size === 0) return 0;
  const exponent = Math.floor(Math.log2(size));
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | Math.round((size / 2 ** exponent - 1) * 1024);
}

const fromHalf = (half: number) =>
  half === 0 ? 0 : (half & 0x8000 ? -1 : 1) * 2 ** (((half >> 10) & 31) - 15) * (1 + (half & 1023) / 1024);

const HALVES = numbers(ROWS * COLUMNS).map(toHalf);
const ACTIVATIONS = numbers(TOKENS * COLUMNS).map((value) => value * 3 + 1);

function run(kernel: Kernel, isGelu: boolean): Float32Array {
  const { buffer } = kernel.memory;
  new Uint16Array(buffer, STAGE, HALVES.length).set(HALVES);
  new Float32Array(buffer, STATES, ACTIVATIONS.length).set(ACTIVATIONS);
  new Float32Array(buffer, BIAS, ROWS).set(numbers(ROWS));
  expect(kernel.packWeights(STAGE, WEIGHTS, SCALES, SUMS, ROWS, COLUMNS)).toBe(1);
  kernel.packActivations(STATES, PACKED, RANGES, TOKENS, COLUMNS);
  const stride = ROWS * 4;
  kernel.linear(PACKED, RANGES, WEIGHTS, SCALES, SUMS, BIAS, OUT, stride, TOKENS, ROWS, COLUMNS, Number(isGelu));
  return Float32Array.from(new Float32Array(buffer, OUT, TOKENS * ROWS));
}

const plain: Kernel = openWasm(PLAIN_KERNEL_BYTES, MEMORY_BYTES);
const relaxed: Kernel = openWasm(KERNEL_BYTES, MEMORY_BYTES, KERNEL_BYTES);

it.each([false, true])("the kernel gives the same numbers with relaxed SIMD and without (GELU: %s)", (isGelu) => {
  expect(run(relaxed, isGelu)).toEqual(run(plain, isGelu));
});

it("the kernel multiplies as float arithmetic does, within the steps of a byte", () => {
  const bias = numbers(ROWS);
  const expected = Array.from({ length: TOKENS * ROWS }, (_, i) => {
    const [token, row] = [Math.floor(i / ROWS), i % ROWS];
    const products = Array.from(
      { length: COLUMNS },
      (_, c) => (ACTIVATIONS[token * COLUMNS + c] as number) * fromHalf(HALVES[row * COLUMNS + c] as number),
    );
    return products.reduce((sum, product) => sum + product, bias[row] as number);
  });
  const found = run(plain, false);
  for (const [i, value] of expected.entries()) expect(Math.abs((found[i] as number) - value)).toBeLessThan(0.3);
});
