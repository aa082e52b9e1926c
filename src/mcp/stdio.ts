/** MCP on a pair of streams: one message a line, answers in the order in which they are ready. */

import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "../errors.ts";
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
    if (!isOver) output.write(`${JSON.stringify(message)}\n`);
  };
  const server = openMcpServer(mcp, openMemories(mcp), write);
  const answer = async (value: unknown): Promise<Answer | null> => {
    const problem = findMessageProblem(value);
    return problem ? refusal("invalid", problem, value) : server.receive(value as Message);
  };
  const serve = async (line: string): Promise<void> => {
    // No JSON means undefined.
    const value = attempt<unknown, undefined>(() => JSON.parse(line), undefined);
    if (value === undefined) return write(refusal("unreadable", "the line is not JSON"));
    if (Array.isArray(value) && value.length === 0) return write(refusal("invalid", "the batch is empty"));
    // Several messages in one, as clients of 2025-03-26 may send them: their answers go back in one as well.
    const answers = (await Promise.all([value].flat().map(answer))).filter((each) => each !== null);
    if (answers.length > 0) write(Array.isArray(value) ? answers : answers[0]);
  };
  // The reader of the answers is gone. The listener stays: late failures must not end the process.
  output.on("error", () => {
    isOver = true;
    input.destroy();
  });
  for await (const line of readLines(input)) {
    if (line === null) write(refusal("unreadable", `the line is longer than ${MAX_LINE_BYTES} bytes`));
    else {
      const served = serve(line)
        .catch((error: Error) => mcp.log(`mcp: ${error.stack}`))
        .then(() => void waiting.delete(served));
      waiting.add(served);
    }
    // A client that does not read gets to send no more.
    if (output.writableNeedDrain) await Promise.race([once(output, "drain"), once(input, "close")]).catch(() => {});
  }
  server.close();
  if (!isOver) await settled(waiting);
  isOver = true;
}

async function settled(waiting: ReadonlySet<Promise<void>>): Promise<void> {
  const stop = new AbortController();
  await Promise.race([Promise.all(waiting), sleep(LAST_ANSWERS_MS, null, stop).catch(() => {})]);
  stop.abort();
}

const NEWLINE = 0x0a;

/** Null for a line that is too long; the rest of the stream is still read. A last line need not end in a line break. */
async function* readLines(input: Readable): AsyncGenerator<string | null> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const finish = () => {
    const line = Buffer.concat(pieces).toString("utf8").trim();
    pieces = [];
    bytes = 0;
    return line === "" ? [] : [line];
  };
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      for (let from = 0, at = 0; at >= 0; from = at + 1) {
        at = chunk.indexOf(NEWLINE, from);
        const piece = chunk.subarray(from, at < 0 ? undefined : at);
        const wasShort = bytes <= MAX_LINE_BYTES;
        bytes += piece.length;
        if (bytes <= MAX_LINE_BYTES) pieces.push(piece);
        else pieces = [];
        if (wasShort && bytes > MAX_LINE_BYTES) yield null;
        if (at >= 0) yield* finish();
      }
    }
  } catch {
    // A stream that breaks off has ended.
  }
  yield* finish();
}
