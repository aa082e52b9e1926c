/** Compiles our WebAssembly and gives it a memory, which can grow on request. */
import { MemdirError } from "../errors.ts";

/** The part of the global that is used here, which the types of Node 20 lack. */
declare const WebAssembly: {
  Memory: new (size: { initial: number; maximum: number }) => { buffer: ArrayBuffer; grow(pages: number): number };
  Module: new (bytes: Uint8Array) => object;
  validate(bytes: Uint8Array): boolean;
  Instance: new (module: object, imports: object) => { exports: object };
};

const PAGE_BYTES = 65536;
/** All that 32-bit addresses can reach. */
const MAX_PAGES = 65536;

/**
 * The functions that a module exports, by name, and its memory: they take and give numbers, and addresses are bytes in the
 * memory. `grow` makes it at least this large, which ends all views of it: it gives the new one.
 */
export type Wasm<Name extends string> = Record<Name, (...numbers: number[]) => number> & {
  memory: Uint8Array;
  grow(bytes: number): Uint8Array;
};

/** @param relaxed the same with relaxed SIMD, which is used where it is understood */
export function openWasm<Name extends string>(plain: string, memoryBytes: number, relaxed?: string): Wasm<Name> {
  try {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(memoryBytes / PAGE_BYTES), maximum: MAX_PAGES });
    const bytes = relaxed === undefined ? null : Buffer.from(relaxed, "base64");
    const module = new WebAssembly.Module(bytes && isUnderstood(bytes) ? bytes : Buffer.from(plain, "base64"));
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    const grow = (bytes: number) => {
      const missing = Math.ceil((bytes - memory.buffer.byteLength) / PAGE_BYTES);
      if (missing > 0) memory.grow(missing);
      return new Uint8Array(memory.buffer);
    };
    return { ...exports, memory: new Uint8Array(memory.buffer), grow } as Wasm<Name>;
  } catch (cause) {
    const why = "it needs WebAssembly with SIMD and 16 MB of memory; run Node without --jitless";
    throw new MemdirError("usage", `the sentence model cannot start: ${why}`, { cause });
  }
}

/** Node 20 has relaxed SIMD behind a flag, later ones without; other engines may lack it. */
function isUnderstood(bytes: Uint8Array): boolean {
  if (WebAssembly.validate(bytes)) return true;
  if (!process.versions.v8?.startsWith("11.")) return false;
  process.getBuiltinModule("node:v8").setFlagsFromString("--experimental-wasm-relaxed-simd");
  return WebAssembly.validate(bytes);
}
