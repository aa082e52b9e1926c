// The yardstick for recall by meaning: looking through vectors, the best one of each memory, and nothing else.

export const DIMENSIONS = 384;

/** As anybody would write it. */
export function scanPlainly(query, values, owners) {
  const best = new Float32Array(owners[owners.length - 1] + 1).fill(-2);
  for (let i = 0; i < owners.length; i++) {
    const from = i * DIMENSIONS;
    let sum = 0;
    for (let d = 0; d < DIMENSIONS; d++) sum += query[d] * values[from + d];
    if (sum > best[owners[i]]) best[owners[i]] = sum;
  }
  return best;
}

/** Without waiting for the last addition. */
export function scanInFours(query, values, owners) {
  const best = new Float32Array(owners[owners.length - 1] + 1).fill(-2);
  for (let i = 0; i < owners.length; i++) {
    const from = i * DIMENSIONS;
    let a = 0;
    let b = 0;
    let c = 0;
    let e = 0;
    for (let d = 0; d < DIMENSIONS; d += 4) {
      a += query[d] * values[from + d];
      b += query[d + 1] * values[from + d + 1];
      c += query[d + 2] * values[from + d + 2];
      e += query[d + 3] * values[from + d + 3];
    }
    const sum = a + b + c + e;
    if (sum > best[owners[i]]) best[owners[i]] = sum;
  }
  return best;
}
