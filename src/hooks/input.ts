/** What the host sends: read until it is whole, as some hosts leave their end open for as long as they wait for the answer. */

import { readSync } from "node:fs";

/** What a pipe holds at once on most systems. */
const PIECE_BYTES = 64 * 1024;
/** For a stream that says "not yet" instead of letting us wait. */
const PAUSE_MS = 5;
const MAX_PAUSES = 400;

/** Throws for what is no JSON. Of a host that sends nothing and stays, its own time limit takes care. */
export function readInput(fd: number): unknown {
  const pieces: Buffer[] = [];
  for (let piece = readPiece(fd); piece.length > 0; piece = readPiece(fd)) {
    pieces.push(piece);
    // A whole piece is seldom the last one, and parsing takes time.
    const value = piece.length < PIECE_BYTES && isEnd(piece) ? parse(pieces) : undefined;
    if (value !== undefined) return value;
  }
  return JSON.parse(textOf(pieces));
}

/** Empty at the end. */
function readPiece(fd: number): Buffer {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let pauses = 0; ; pauses++) {
    try {
      return piece.subarray(0, readSync(fd, piece, 0, piece.length, null));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // How Windows says that a pipe was closed.
      if (code === "EOF") return piece.subarray(0, 0);
      if (code !== "EAGAIN" || pauses === MAX_PAUSES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

function isEnd(piece: Buffer): boolean {
  return /[}\]]\s*$/.test(piece.toString("latin1", Math.max(0, piece.length - 16)));
}

/** Undefined while something is missing. */
function parse(pieces: readonly Buffer[]): unknown {
  try {
    return JSON.parse(textOf(pieces));
  } catch {
    return undefined;
  }
}

/** Without the mark that some shells of Windows put in front. */
function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^\ufeff/, "");
}
