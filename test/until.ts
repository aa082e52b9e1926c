/** Waiting for something that happens by itself: it is looked for until it is there, never slept for. */

/** Ends a test that would wait for ever, and nothing else: no machine is this slow. */
export const PATIENCE_MS = 200_000;

const LOOK_MS = 5;

/** The real ones, also in a test whose own time stands still. */
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

/** What the condition says once it is true. `what` is for the failure's message. */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string | (() => string) = String(condition),
): Promise<T> {
  for (const started = now(); ; ) {
    const value = await condition();
    if (value) return value;
    if (now() - started > PATIENCE_MS)
      throw new Error(`it did not happen in ${PATIENCE_MS / 1000} s: ${typeof what === "string" ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** For `expect.poll`. */
export const PATIENT = { timeout: PATIENCE_MS, interval: LOOK_MS };
