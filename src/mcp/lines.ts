/** A stream of bytes as lines. One that is too long is passed over and told of; the rest of the stream is read on. */

interface LineSink {
  onLine(line: string): void;
  onTooLong(): void;
}

const NEWLINE = 0x0a;

/** Give it every piece of the stream; `end` tells of a last line without a line break. */
export function splitLines(maxBytes: number, sink: LineSink): { push(chunk: Buffer): void; end(): void } {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let skipping = false;
  const add = (piece: Buffer) => {
    if (skipping || piece.length === 0) return;
    bytes += piece.length;
    if (bytes <= maxBytes) pieces.push(piece);
    else {
      skipping = true;
      pieces = [];
      sink.onTooLong();
    }
  };
  const finish = () => {
    const line = Buffer.concat(pieces).toString("utf8").trim();
    const isWhole = !skipping && line !== "";
    pieces = [];
    bytes = 0;
    skipping = false;
    if (isWhole) sink.onLine(line);
  };
  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, at));
        from = at + 1;
        finish();
      }
      add(chunk.subarray(from));
    },
    end: finish,
  };
}
