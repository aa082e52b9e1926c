import { describe, expect, it } from "vitest";
import { DEBOUNCE_MS, FLUSH_MS, keepSynced, type WatchJob } from "../../src/team/watch.ts";
import type { World } from "../../src/world.ts";

/** Time passes when the test says so. */
function makeClock() {
  const waiting: { at: number; wake: () => void }[] = [];
  let now = 0;
  return {
    now: () => now,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        if (signal?.aborted) return resolve();
        const wake = () => {
          signal?.removeEventListener("abort", wake);
          resolve();
        };
        waiting.push({ at: now + ms, wake });
        signal?.addEventListener("abort", wake);
      }),
    async pass(ms: number) {
      const until = now + ms;
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        const next = waiting.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (!next) break;
        now = Math.max(now, next.at);
        waiting.splice(waiting.indexOf(next), 1);
        next.wake();
      }
      now = until;
    },
  };
}

function start({ random = () => 0.5, ...more }: Partial<WatchJob & Pick<World, "random">> = {}) {
  const clock = makeClock();
  const passes: number[] = [];
  const failures: unknown[] = [];
  const stop = new AbortController();
  let change = () => {};
  let isListening = false;
  const job: WatchJob = {
    pass: async () => void passes.push(clock.now()),
    listen: (onChange) => {
      change = onChange;
      isListening = true;
      return () => {
        isListening = false;
      };
    },
    onFailure: (error) => void failures.push(error),
    signal: stop.signal,
    pollMs: 15_000,
    ...more,
  };
  const done = Promise.resolve().then(() => keepSynced({ sleep: clock.sleep, random }, job));
  return { clock, passes, failures, stop, done, change: () => change(), isListening: () => isListening };
}

describe("keepSynced", () => {
  it("asks at once and then every now and then", async () => {
    const { clock, passes, stop, done, isListening } = start();
    await clock.pass(46_000);
    expect(passes).toEqual([0, 15_000, 30_000, 45_000]);
    stop.abort();
    await done;
    expect(passes).toHaveLength(4);
    expect(isListening()).toBe(false);
  });

  it("never asks more often than every five seconds, and not in step with others", async () => {
    const { clock, passes, stop, done } = start({ pollMs: 1, random: () => 0 });
    await clock.pass(10_000);
    expect(passes).toEqual([0, 4_500, 9_000]);
    stop.abort();
    await done;
  });

  it("sends a change when it is quiet for a moment", async () => {
    const { clock, passes, stop, done, change } = start();
    await clock.pass(1_000);
    change();
    await clock.pass(1_500);
    change();
    await clock.pass(1_500);
    expect(passes).toEqual([0]);
    await clock.pass(1_500);
    expect(passes).toEqual([0, 1_000 + 2 * DEBOUNCE_MS]);
    stop.abort();
    await done;
  });

  it("does not wait for ever for quiet", async () => {
    const { clock, passes, stop, done, change } = start({ pollMs: 1_000_000 });
    await clock.pass(0);
    for (let i = 0; i < 30; i++) {
      change();
      await clock.pass(1_000);
    }
    expect(passes.length).toBeGreaterThan(1);
    stop.abort();
    await done;
  });

  it("runs one pass at a time, and one more for what changed meanwhile", async () => {
    const running: (() => void)[] = [];
    const { clock, stop, done, change } = start({ pass: () => new Promise((resolve) => running.push(resolve)) });
    await clock.pass(1);
    change();
    await clock.pass(100_000);
    expect(running).toHaveLength(1);
    running[0]?.();
    await clock.pass(DEBOUNCE_MS);
    expect(running).toHaveLength(2);
    stop.abort();
    running[1]?.();
    await clock.pass(0);
    await done;
  });

  it("goes on after a failure, less often each time, and recovers", async () => {
    let isDown = true;
    const times: number[] = [];
    const { clock, failures, stop, done, change } = start({
      pass: async () => {
        times.push(clock.now());
        if (isDown) throw new Error("down");
      },
    });
    await clock.pass(100);
    change();
    await clock.pass(120_000);
    expect(times).toEqual([0, 30_000, 90_000]);
    expect(failures).toHaveLength(3);
    isDown = false;
    await clock.pass(150_000);
    // What changed while it was down is sent with the first pass that works; then all is as before.
    expect(times.slice(3, 5)).toEqual([210_000, 225_000]);
    stop.abort();
    await done;
  });

  it("ends after the pass that runs, which is cut off when it takes too long", async () => {
    let cutAt = -1;
    const { clock, stop, done, passes } = start({
      pass: (signal) =>
        new Promise((_, reject) => {
          passes.push(clock.now());
          signal.addEventListener("abort", () => {
            cutAt = clock.now();
            reject(new Error("cut"));
          });
        }),
    });
    await clock.pass(1_000);
    stop.abort();
    await clock.pass(FLUSH_MS - 1);
    expect(cutAt).toBe(-1);
    await clock.pass(1);
    await done;
    expect(cutAt).toBe(1_000 + FLUSH_MS);
    expect(passes).toEqual([0]);
  });

  it("sends what changed last before it ends", async () => {
    const { clock, passes, stop, done, change } = start();
    await clock.pass(1_000);
    change();
    stop.abort();
    await clock.pass(0);
    await done;
    expect(passes).toEqual([0, 1_000]);
  });

  it("does nothing when it is over before it begins", async () => {
    const stop = new AbortController();
    stop.abort();
    const { passes, done } = start({ signal: stop.signal });
    await done;
    expect(passes).toEqual([]);
  });
});
