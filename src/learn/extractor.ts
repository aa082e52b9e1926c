/** Runs extractions beside a conversation: one at a time, the latest waiting one after it, and a bounded wait at the end. */

import { type ExtractionRequest, type ExtractionResult, type ExtractionWorld, extract } from "./extraction.ts";

interface Extractor {
  /** Returns at once and never throws. While one runs, only the latest request waits: it holds what the others held. */
  request(request: ExtractionRequest): void;
  /** Waits for what runs and waits, at most this long; then it is stopped, and its cursor stays. */
  drain(ms: number): Promise<void>;
  isBusy(): boolean;
}

/** For a stopped run to note what it cost. */
export const GRACE_MS = 250;

/** `onDone` is told of every run that asked a model. */
export function openExtractor(
  world: ExtractionWorld,
  onDone: (result: ExtractionResult) => void = () => {},
): Extractor {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let waiting: ExtractionRequest | null = null;

  const run = async (request: ExtractionRequest): Promise<void> => {
    const signals = [stopping.signal, ...(request.signal ? [request.signal] : [])];
    const result = await extract(world, { ...request, signal: AbortSignal.any(signals) });
    try {
      if (result.skipped === null) onDone(result);
    } catch (error) {
      world.log(`extraction: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  const runAll = async (first: ExtractionRequest): Promise<void> => {
    for (let next: ExtractionRequest | null = first; next; ) {
      await run(next);
      next = waiting && { ...waiting, trailing: true };
      waiting = null;
    }
    running = null;
  };

  /** Nothing is lost by it: the cursor stays. */
  const drop = ({ session }: ExtractionRequest, reason: string) => {
    world.log(`extraction skipped: ${reason}`);
    world.ledger.skip("extraction", session, reason);
  };

  return {
    request(request) {
      if (stopping.signal.aborted) return drop(request, "the session is ending");
      if (!running) {
        running = runAll(request);
        return;
      }
      world.log("extraction waits: another one is running");
      if (waiting && waiting.session !== request.session) drop(waiting, "another session's turn came after it");
      waiting = waiting?.session === request.session ? join(waiting, request) : request;
    },
    async drain(ms) {
      if (!running || (await endsWithin(running, ms))) return;
      if (waiting) drop(waiting, "the session ended before its turn came");
      waiting = null;
      world.log(`extraction stopped: it was not done ${ms} ms after the session`);
      stopping.abort();
      await endsWithin(running ?? Promise.resolve(), GRACE_MS);
    },
    isBusy: () => running !== null,
  };
}

/** What was asked for explicitly stays so; a turn that wrote a memory speaks for the other one only if both did. */
function join(earlier: ExtractionRequest, later: ExtractionRequest): ExtractionRequest {
  return {
    ...later,
    explicit: earlier.explicit === true || later.explicit === true,
    memoryWrittenInTurn: earlier.memoryWrittenInTurn === true && later.memoryWrittenInTurn === true,
  };
}

export async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
