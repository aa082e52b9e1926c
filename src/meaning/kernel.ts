/** The compiled kernel with its own memory. */
import { KERNEL_BYTES } from "./kernel-bytes.ts";
import { openWasm } from "./wasm.ts";

/** Addresses are bytes in `memory`; kernel.as describes the functions. */
export interface Kernel {
  readonly memory: Uint8Array;
  widen(from: number, to: number, count: number): number;
  packWeights(from: number, to: number, scales: number, rows: number, columns: number): number;
  packActivations(from: number, to: number, scales: number, rows: number, columns: number): void;
  linear(
    activations: number,
    activationScales: number,
    weights: number,
    weightScales: number,
    bias: number,
    out: number,
    outStride: number,
    tokens: number,
    rows: number,
    columns: number,
  ): void;
  attend(
    queries: number,
    keys: number,
    values: number,
    scores: number,
    out: number,
    rowStride: number,
    outStride: number,
    tokens: number,
    padded: number,
  ): void;
  turn(from: number, fromStride: number, to: number, rows: number, columns: number): void;
  addNorm(x: number, y: number, weight: number, bias: number, rows: number, columns: number): void;
  addRow(x: number, row: number, rows: number, columns: number): void;
  gelu(x: number, count: number): void;
  average(x: number, out: number, rows: number, columns: number): void;
}

export function openKernel(memoryBytes: number): Kernel {
  return openWasm<Kernel>(KERNEL_BYTES, memoryBytes);
}
