/** MCP on a pair of streams: one message a line, answers in the order in which they are ready. */

import type { Readable, Writable } from "node:stream";
import { type Answer, findMessageProblem, type Message, refusal } from "./protocol.ts";
import { type McpOptions, openMcpServer, openMemories } from "./server.ts";

/** A message holds a memory at most. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** What was asked for before the input ended is answered, but not forever. */
const LAST_ANSWERS_MS = 10_000;

interface Streams {
  input: Readable;
  output: Writable;
}

/** Ends when the client does: its end of either stream is closed, and what it asked for is answered. */
export async function serveStreams(mcp: McpOptions, { input, output }: Streams): Promise<void> {
  const waiting = new Set<Promise<void>>();
  let isOver = false;
  const write = (message: unknown): void => {
    // A client that does not read gets to send no more.
    if (!isOver && !output.write(`${JSON.stringify(message)}\n`)) input.pause();
  };
  const server = openMcpServer(mcp, openMemories(mcp), write);
  const answer = async (value: unknown): Promise<Answer | null> => {
    const problem = findMessageProblem(value);
    return problem ? refusal("invalid", problem, value) : server.receive(value as Message);
  };
  const serve = async (line: string): Promise<void> => {
    const value = parse(line);
    if (value === undefined) write(refusal("unreadable", "the line is not JSON"));
    else if (!Array.isArray(value)) writeAll(write, [await answer(value)], false);
    else if (value.length === 0) write(refusal("invalid", "the batch is empty"));
    // Several messages in one, as clients of 2025-03-26 may send them: their answers go back in one as well.
    else writeAll(write, await Promise.all(value.map(answer)), true);
  };
  const lines = splitLines(MAX_LINE_BYTES, {
    onLine(line) {
      const served = serve(line)
        .catch((error: Error) => mcp.log(`mcp: ${error.stack}`))
        .then(() => void waiting.delete(served));
      waiting.add(served);
    },
    onTooLong: () => write(refusal("unreadable", `the line is longer than ${MAX_LINE_BYTES} bytes`)),
  });
  const hears = listen(input, output, (chunk) => lines.push(chunk));
  const isGone = await hears.ended;
  if (!isGone) {
    lines.end();
    await settled(waiting);
  }
  isOver = true;
  hears.close();
}

function writeAll(write: (message: unknown) => void, answers: readonly (Answer | null)[], together: boolean): void {
  const given = answers.filter((answer) => answer !== null);
  if (given.length > 0) write(together ? given : given[0]);
}

/** `ended` says whether the reader of the answers is gone. */
function listen(input: Readable, output: Writable, onData: (chunk: Buffer) => void) {
  let end: (isGone: boolean) => void = () => {};
  const ended = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  const onDrain = () => void input.resume();
  input.on("data", onData);
  for (const event of ["end", "close", "error"]) input.on(event, () => end(false));
  output.on("drain", onDrain);
  // The reader of the answers is gone. The listener stays: late failures must not end the process.
  output.on("error", () => end(true));
  const close = () => {
    input.off("data", onData);
    output.off("drain", onDrain);
    input.pause();
  };
  return { ended, close };
}

async function settled(waiting: ReadonlySet<Promise<void>>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, LAST_ANSWERS_MS);
  });
  await Promise.race([Promise.all(waiting), late]);
  clearTimeout(timer);
}

/** Undefined for what is not JSON: no JSON means undefined. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** A stream of bytes as lines. One that is too long is skipped and reported; the rest of the stream is still read. */
interface LineSink {
  onLine(line: string): void;
  onTooLong(): void;
}

const NEWLINE = 0x0a;

/** Give it every piece of the stream; `end` passes on a last line without a line break. */
function splitLines(maxBytes: number, sink: LineSink): { push(chunk: Buffer): void; end(): void } {
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
