/** An open safetensors file: its header is checked once, and tensors are read on request. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { isObject, MemdirError } from "../errors.ts";

export interface TensorFile {
  /** The position in the file of a float16 tensor of exactly this shape; throws if there is none. */
  find(name: string, shape: readonly number[]): number;
  /** Fills `into`; throws if the file is too short. */
  read(into: Uint8Array, position: number): void;
  close(): void;
}

const LENGTH_BYTES = 8;
/** Ours is 11 kB. */
const MAX_HEADER_BYTES = 1 << 20;

export function openTensorFile(file: string): TensorFile {
  const fd = attempt(file, () => openSync(file, "r"));
  const read = (into: Uint8Array, position: number) => {
    for (let done = 0; done < into.length; ) {
      const count = attempt(file, () => readSync(fd, into, done, into.length - done, position + done));
      if (count === 0) throw broken(file, "it ends too early");
      done += count;
    }
  };
  const close = () => closeSync(fd);
  try {
    const size = attempt(file, () => fstatSync(fd).size);
    const { header, dataStart } = readHeader(file, size, read);
    return { find: (name, shape) => dataStart + findTensor(file, header, name, shape, size - dataStart), read, close };
  } catch (error) {
    close();
    throw error;
  }
}

export function broken(file: string, what: string, cause?: unknown): MemdirError {
  return new MemdirError("broken", `${file} cannot be used: ${what}; reinstall the sentence model`, { cause });
}

/** Runs something that reads the file; errors of the disk become ours. */
export function attempt<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new MemdirError("disk", `cannot read ${file} (${code ?? cause}); reinstall the sentence model`, { cause });
  }
}

function readHeader(file: string, size: number, read: TensorFile["read"]) {
  const lengthBytes = Buffer.alloc(LENGTH_BYTES);
  read(lengthBytes, 0);
  const length = lengthBytes.readBigUInt64LE();
  if (length > MAX_HEADER_BYTES || LENGTH_BYTES + Number(length) > size) throw broken(file, "its header is too long");
  const text = Buffer.alloc(Number(length));
  read(text, LENGTH_BYTES);
  try {
    const header: unknown = JSON.parse(text.toString("utf8"));
    if (!isObject(header)) throw new Error("not an object");
    return { header, dataStart: LENGTH_BYTES + text.length };
  } catch (cause) {
    throw broken(file, "its header is not a JSON object", cause);
  }
}

function findTensor(
  file: string,
  header: Record<string, unknown>,
  name: string,
  shape: readonly number[],
  dataBytes: number,
): number {
  const entry = header[name] as { dtype?: unknown; shape?: unknown; data_offsets?: unknown } | null | undefined;
  if (typeof entry !== "object" || entry === null) throw broken(file, `it has no ${name}`);
  const bytes = shape.reduce((product, side) => product * side, 2);
  if (entry.dtype !== "F16" || JSON.stringify(entry.shape) !== JSON.stringify(shape))
    throw broken(file, `${name} is not a float16 tensor of ${shape.join(" x ")}`);
  const [start, end] = Array.isArray(entry.data_offsets) ? entry.data_offsets : [];
  if (!Number.isSafeInteger(start) || start < 0 || end !== start + bytes || end > dataBytes)
    throw broken(file, `${name} is outside the file`);
  return start;
}
