/** Waiting for something that happens by itself: it is looked for until it is there, never slept for. */

/** Ends a test that would wait for ever, and nothing else: no machine is this slow. */
export const PATIENCE_MS = 200_000;

const LOOK_MS = 5;

/** The real ones, also in a test whose own time stands still. */
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

/**
 * What the condition says once it is true. `what` is for the failure's message.
 * A file that another process moves away between listing and reading it means "not yet".
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string | (() => string) = String(condition),
): Promise<T> {
  const look = async () => condition();
  for (const started = now(); ; ) {
    const value = await look().catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return false as const;
      throw error;
    });
    if (value) return value;
    if (now() - started > PATIENCE_MS)
      throw new Error(`it did not happen in ${PATIENCE_MS / 1000} s: ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** For what must not happen, or has happened and may have echoes: rounds of the event loop, since a machine that stands still stalls both alike. */
export async function settle(rounds = 10): Promise<void> {
  for (let round = 0; round < rounds; round++) await new Promise((resolve) => setTimeout(resolve, 2 * LOOK_MS));
}

/** For `expect.poll`. */
export const PATIENT = { timeout: PATIENCE_MS, interval: LOOK_MS };
