/** Long work in short pieces, so that the host's timers, requests and Ctrl-C are not held up. */

/** Longer than this at a time would be noticed in a host that answers others meanwhile. */
const PIECE_MS = 2;

/** Lets everything else that waits have its turn. */
export function yieldTurn(): Promise<void> {
  return new Promise((done) => setImmediate(done));
}

/** However short a call is, between two of them the host's timers and requests have their turn. */
export function yielding<T extends object>(calls: T): T {
  const wrapped = Object.entries(calls).map(([name, call]) => {
    if (typeof call !== "function") return [name, call];
    const run = (...given: unknown[]) => {
      const answer = call(...given);
      return answer instanceof Promise ? answer.finally(yieldTurn) : answer;
    };
    return [name, run];
  });
  return Object.fromEntries(wrapped);
}

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
