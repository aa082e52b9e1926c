/** SHA-256 as hex. The crypto module is slow to load and reading does not need it, so it is loaded on first use. */

export function sha256(data: string | Uint8Array): string {
  const { createHash, hash } = process.getBuiltinModule("node:crypto");
  // Takes a third of the time; runtimes other than Node may lack it.
  return hash ? hash("sha256", data) : createHash("sha256").update(data).digest("hex");
}

// --- Texts as 32-bit numbers: for tables that are looked up, not for secrets.

/** FNV-1a over UTF-16 units: short, quick, the same on every machine. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    hash = Math.imul(hash ^ (unit >> 8), 0x01000193);
  }
  return hash >>> 0;
}

/** The place of a number in an ascending list, or -1. */
export function findSorted(values: Uint32Array, value: number): number {
  let low = 0;
  let high = values.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = values[middle] as number;
    if (found === value) return middle;
    if (found < value) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
