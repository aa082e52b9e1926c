/** An event on standard input, read as far as it goes: some clients leave their end open. */

import { readSync } from "node:fs";

/** The capacity of a pipe on most systems. */
const PIECE_BYTES = 64 * 1024;
/** For a stream that returns EAGAIN instead of blocking. */
const PAUSE_MS = 5;
const MAX_PAUSES = 400;
const MAX_TRIES = 8;

/** Undefined when nothing was sent. Throws if it is not JSON. For a host that sends nothing and stays connected, the host's timeout ends us. */
export function readInput(fd: number): unknown {
  const pieces: Buffer[] = [];
  let tries = 0;
  for (let piece = readPiece(fd); piece.length > 0; piece = readPiece(fd)) {
    pieces.push(piece);
    // Parsing takes time: a full piece is rarely the last one, even if it looks like that.
    const mayEnd = isEnd(piece) && (piece.length < PIECE_BYTES || tries++ < MAX_TRIES);
    const value = mayEnd ? parse(pieces) : undefined;
    if (value !== undefined) return value;
  }
  const text = textOf(pieces);
  return text.trim() === "" ? undefined : JSON.parse(text);
}

/** Empty at the end. */
function readPiece(fd: number): Buffer {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let pauses = 0; ; pauses++) {
    try {
      return piece.subarray(0, readSync(fd, piece, 0, piece.length, null));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A closed pipe on Windows.
      if (code === "EOF") return piece.subarray(0, 0);
      if (code !== "EAGAIN" || pauses === MAX_PAUSES) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

function isEnd(piece: Buffer): boolean {
  return /[}\]]\s*$/.test(piece.toString("latin1", Math.max(0, piece.length - 16)));
}

/** Undefined while it is incomplete. */
function parse(pieces: readonly Buffer[]): unknown {
  try {
    return JSON.parse(textOf(pieces));
  } catch {
    return undefined;
  }
}

/** Without the byte order mark that some Windows shells add. */
function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/^\ufeff/, "");
}
