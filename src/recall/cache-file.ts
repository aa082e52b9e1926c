/** How the recall cache's file begins: what every reader of it must know, and nothing more. */

export const CACHE_FILE = "recall.bin";
/** Raised whenever digests or entries change: an older file is then ignored. */
export const CACHE_VERSION = 3;
/** Magic, version, then the folder's time at which the entries were exactly its files, each once; 0 if that is not known. */
export const CACHE_HEAD_BYTES = 16;
export const FOLDER_TIME_AT = 8;
export const CACHE_MAGIC = 0x4352444d;

/** Whether it begins as this version writes it. */
export function isCache(buffer: Buffer): boolean {
  return (
    buffer.length >= CACHE_HEAD_BYTES &&
    buffer.readUInt32LE(0) === CACHE_MAGIC &&
    buffer.readUInt32LE(4) === CACHE_VERSION
  );
}
