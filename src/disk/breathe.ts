/** Long work in short pieces, so that the host's timers, requests and Ctrl-C are not held up. */

/** Longer than this at a time would be noticed in a host that answers others meanwhile. */
const PIECE_MS = 2;

/** Everything of this process that wants to go on, the longest waiting first. */
const begun: (() => void)[] = [];
/** What has not begun. Of hundreds of calls at once most stay here, hold nothing, and wait for no lock. */
const others: (() => void)[] = [];
let isGoing = false;

/** Lets everything else that waits have its turn. One of ours goes on in each round of the event loop, however many there are: together they would hold it up. */
export function yieldTurn(): Promise<void> {
  return queueUp(begun);
}

/** The same for what begins, and for what nobody waits for: after what has begun. */
export function waitForTurn(): Promise<void> {
  return queueUp(others);
}

function queueUp(queue: (() => void)[]): Promise<void> {
  return new Promise((done) => {
    queue.push(done);
    if (!isGoing) setImmediate(goOn);
    isGoing = true;
  });
}

function goOn(): void {
  (begun.shift() ?? others.shift())?.();
  isGoing = begun.length + others.length > 0;
  if (isGoing) setImmediate(goOn);
}

/** However short a call is, before and after it the host's timers and requests have their turn. */
export function yielding<T extends object>(calls: T): T {
  const wrapped = Object.entries(calls).map(([name, call]) => {
    // Those that answer at once have nothing to wait for.
    if (call?.constructor !== AsyncFunction) return [name, call];
    const run = async (...given: unknown[]) => {
      await waitForTurn();
      return call(...given).finally(yieldTurn);
    };
    return [name, run];
  });
  return Object.fromEntries(wrapped);
}

const AsyncFunction = (async () => {}).constructor;

/** To be called between pieces of work: yields when the last turn is long enough ago. */
export function openBreath(ticks: () => number = () => performance.now()): () => Promise<void> | undefined {
  let last = ticks();
  return () => {
    if (ticks() - last < PIECE_MS) return undefined;
    return yieldTurn().then(() => {
      last = ticks();
    });
  };
}

/** Runs steps to their end, a piece at a time. */
export async function runInPieces<T>(steps: Generator<void, T>): Promise<T> {
  const breathe = openBreath();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    const turn = breathe();
    if (turn) await turn;
  }
}

/** Runs them at once, for callers that cannot wait. */
export function runAtOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
