/** Compiles our WebAssembly and gives it a memory, which can grow on request. */
import { MemdirError } from "../errors.ts";

/** The part of the global that is used here, which the types of Node 20 lack. */
declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => { buffer: ArrayBuffer; grow(pages: number): number };
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: object };
};

const PAGE_BYTES = 65536;
/** All that 32-bit addresses can reach. */
const MAX_PAGES = 65536;

/** The functions that the module exports, and its memory. `grow` makes it larger, which ends all views of it: it gives the new one. */
export function openWasm<T extends { memory: Uint8Array }>(
  base64: string,
  memoryBytes: number,
  mayGrow = false,
): T & { grow: (bytes: number) => Uint8Array } {
  const pages = Math.ceil(memoryBytes / PAGE_BYTES);
  try {
    const memory = new WebAssembly.Memory({ initial: pages, maximum: mayGrow ? MAX_PAGES : pages });
    const module = new WebAssembly.Module(Buffer.from(base64, "base64"));
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    const grow = (bytes: number) => {
      const missing = Math.ceil((bytes - memory.buffer.byteLength) / PAGE_BYTES);
      if (missing > 0) memory.grow(missing);
      return new Uint8Array(memory.buffer);
    };
    return { ...exports, memory: new Uint8Array(memory.buffer), grow } as T & { grow: typeof grow };
  } catch (cause) {
    const why = "it needs WebAssembly with SIMD and 30 MB of memory; run Node without --jitless";
    throw new MemdirError("usage", `the sentence model cannot start: ${why}`, { cause });
  }
}
