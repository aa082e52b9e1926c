/** WebAssembly of our own: compiled and given a memory of a fixed size. */
import { MemdirError } from "../errors.ts";

/** The part of the global that is used here: the types of Node 20 do not name it. */
declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => { buffer: ArrayBuffer };
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: object };
};

const PAGE_BYTES = 65536;

/** The functions that the module exports, and its memory. */
export function openWasm<T extends { memory: Uint8Array }>(base64: string, memoryBytes: number): T {
  const pages = Math.ceil(memoryBytes / PAGE_BYTES);
  try {
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const module = new WebAssembly.Module(Buffer.from(base64, "base64"));
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    return { ...exports, memory: new Uint8Array(memory.buffer) } as T;
  } catch (cause) {
    const why = "this Node cannot run it; WebAssembly with SIMD and 30 MB are needed, so run Node without --jitless";
    throw new MemdirError("usage", `the sentence model does not start: ${why}`, { cause });
  }
}
