/** MCP on a pair of streams: one message a line, answers in the order in which they are ready. */

import type { Readable, Writable } from "node:stream";
import { splitLines } from "./lines.ts";
import { type Answer, findMessageProblem, type Message, refusal } from "./message.ts";
import { openMcpServer } from "./server.ts";
import { type McpWorld, openMemories } from "./world.ts";

/** A message holds a memory at most. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** What was asked for before the input ended is answered, but not for ever. */
const LAST_ANSWERS_MS = 10_000;

interface Streams {
  input: Readable;
  output: Writable;
}

/** Ends when the client does: its end of either stream is closed, and what it asked for is answered. */
export async function serveStreams(world: McpWorld, { input, output }: Streams): Promise<void> {
  const waiting = new Set<Promise<void>>();
  let isOver = false;
  const write = (message: unknown): void => {
    // A client that does not read gets to send no more.
    if (!isOver && !output.write(`${JSON.stringify(message)}\n`)) input.pause();
  };
  const server = openMcpServer(world, openMemories(world), write);
  const answer = async (value: unknown): Promise<Answer | null> => {
    const problem = findMessageProblem(value);
    return problem ? refusal("invalid", problem, value) : server.receive(value as Message);
  };
  const serve = async (line: string): Promise<void> => {
    const value = parse(line);
    if (value === undefined) write(refusal("unreadable", "the line is no JSON"));
    else if (!Array.isArray(value)) writeAll(write, [await answer(value)], false);
    else if (value.length === 0) write(refusal("invalid", "the batch is empty"));
    // Several messages in one, as clients of 2025-03-26 may send them: their answers go back in one as well.
    else writeAll(write, await Promise.all(value.map(answer)), true);
  };
  const lines = splitLines(MAX_LINE_BYTES, {
    onLine(line) {
      const served = serve(line)
        .catch((error: Error) => world.log(`mcp: ${error.stack}`))
        .then(() => void waiting.delete(served));
      waiting.add(served);
    },
    onTooLong: () => write(refusal("unreadable", `the line is longer than ${MAX_LINE_BYTES} bytes`)),
  });
  const hears = listen(input, output, (chunk) => lines.push(chunk));
  const lost = await hears.ended;
  if (!lost) {
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

/** `ended` tells whether the reader of the answers is lost. */
function listen(input: Readable, output: Writable, onData: (chunk: Buffer) => void) {
  let end: (lost: boolean) => void = () => {};
  const ended = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  const onDrain = () => void input.resume();
  input.on("data", onData);
  for (const event of ["end", "close", "error"]) input.on(event, () => end(false));
  output.on("drain", onDrain);
  // Nobody is there any more to read an answer. The listener stays: late failures must not end the process.
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

/** Undefined for what is no JSON, which no JSON stands for. */
function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
