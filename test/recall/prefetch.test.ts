import { describe, expect, it, vi } from "vitest";
import { openRecallSession } from "../../src/recall/injection.ts";
import { isTooShort, type Prefetching, startPrefetch } from "../../src/recall/prefetch.ts";

interface Found {
  path: string;
  content: string;
}
const found = (...names: string[]): Found[] => names.map((name) => ({ path: `/m/${name}`, content: name }));
const paths = (memories: readonly Found[] | null) => memories?.map(({ path }) => path.slice(3)) ?? null;
/** Everything that is already due has happened. */
const rest = () => new Promise(setImmediate);

function deferred<T>() {
  let resolve = (_: T) => {};
  let reject = (_: unknown) => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

function start(options: Partial<Prefetching<Found>> = {}) {
  const session = openRecallSession();
  const log = vi.fn();
  const handle = startPrefetch({ query: "how to deploy", session, hasMemories: () => true, log, ...options });
  return { handle: handle!, session, log };
}

describe("isTooShort", () => {
  it.each([
    ["", true],
    ["  \n", true],
    ["hi", true],
    ["deploy", true],
    [" deploy ", true],
    ["src/db/pool.ts", true],
    ["👍", true],
    ["\0", true],
    ["how deploy", false],
    ["how\tdeploy", false],
    ["how\u3000deploy", false],
    ["部署流程是什么", false],
    ["デプロイ手順", false],
    ["배포절차", false],
    ["docker部署", false],
    ["好", true],
    ["วิธีการติดตั้ง", false],
  ])("C36 B6.15 %j: %s", (query, short) => {
    expect(isTooShort(query)).toBe(short);
  });
});

describe("startPrefetch: gates", () => {
  const full = openRecallSession({ maxBytes: 1 });
  full.surface(found("x"));
  it.each<[string, Partial<Prefetching<Found>>]>([
    ["B6.15 C36 a single word", { query: "hi" }],
    ["B6.15 an empty prompt", { query: "" }],
    ["B6.15 a full session", { session: full }],
    ["B6.15 no memories", { hasMemories: () => false }],
    ["B6.17 a sub-agent", { isSubAgent: true }],
    ["B6.11 an aborted turn", { signal: AbortSignal.abort() }],
  ])("%s: null and no call", async (_, options) => {
    const run = vi.fn(async () => found("a"));
    const fast = vi.fn(() => found("a"));
    expect(start({ run, fast, ...options }).handle).toBeNull();
    await rest();
    expect(run).not.toHaveBeenCalled();
    expect(fast).not.toHaveBeenCalled();
  });

  it("B6.15 the disk is looked at after all other gates", () => {
    const hasMemories = vi.fn(() => true);
    expect(start({ query: "hi", run: async () => [], hasMemories }).handle).toBeNull();
    expect(hasMemories).not.toHaveBeenCalled();
  });

  it("B11.6 nobody to ask: null", () => {
    expect(start({ run: null }).handle).toBeNull();
  });

  it("B11.9 a disk that cannot be read is a closed gate with a word in the log", () => {
    const { handle, log } = start({
      run: async () => [],
      hasMemories: () => {
        throw new Error("EACCES");
      },
    });
    expect(handle).toBeNull();
    expect(log).toHaveBeenCalledTimes(1);
  });
});

describe("startPrefetch: the handle", () => {
  it("B6.14 B6.16 polled, taken once", async () => {
    const { promise, resolve } = deferred<Found[]>();
    const { handle } = start({ run: () => promise });
    expect(handle).toMatchObject({ settled: false, consumed: false, fast: null });
    expect(handle.take()).toBeNull();
    expect(handle.consumed).toBe(false);
    resolve(found("a", "b"));
    expect(handle.settled).toBe(false);
    await rest();
    expect(handle.settled).toBe(true);
    expect(paths(handle.take())).toEqual(["a", "b"]);
    expect(handle.consumed).toBe(true);
    expect(handle.take()).toBeNull();
    expect(handle.takeFast()).toBeNull();
    expect(paths(await handle.promise)).toEqual(["a", "b"]);
  });

  it("B6.14 B6.16 a host may poll by hand: settled, consumed, promise", async () => {
    const { handle } = start({ run: async () => found("a"), fast: () => found("b") });
    await rest();
    expect(handle.settled && !handle.consumed).toBe(true);
    handle.consumed = true;
    expect(paths(await handle.promise)).toEqual(["a"]);
    expect(handle.take()).toBeNull();
    expect(handle.takeFast()).toBeNull();
  });

  it("B6.16 a late result lands in a later round", async () => {
    const { promise, resolve } = deferred<Found[]>();
    const { handle } = start({ run: () => promise, fast: () => found("a") });
    const rounds: (string[] | null)[] = [];
    for (let round = 0; round < 4; round++) {
      await rest();
      rounds.push(paths(handle.take()));
      if (round === 1) resolve(found("b"));
    }
    expect(rounds).toEqual([null, null, ["b"], null]);
  });

  it("B11.7 settled once the awaited promise continues, on resolve and on reject", async () => {
    const good = start({ run: async () => found("a") }).handle;
    await good.promise;
    expect(good.settled).toBe(true);
    const { handle: bad, log } = start({ run: async () => Promise.reject(new Error("down")) });
    expect(await bad.promise).toEqual([]);
    expect(bad.settled).toBe(true);
    expect(bad.take()).toBeNull();
    expect(bad.consumed).toBe(true);
    expect(log.mock.calls).toEqual([["recall failed: down"]]);
  });

  it("B11.7 whatever throws, nothing is left unhandled", async () => {
    const unhandled = vi.fn();
    process.on("unhandledRejection", unhandled);
    const broken = () => {
      throw new Error("at once");
    };
    try {
      for (const run of [broken, async () => Promise.reject("later")]) {
        const { handle, log } = start({ run, fast: broken });
        for (let i = 0; i < 3; i++) await rest();
        expect(handle.settled).toBe(true);
        expect(handle.take()).toBeNull();
        expect(log).toHaveBeenCalledTimes(2);
      }
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off("unhandledRejection", unhandled);
    }
  });

  it("B6.12 what the session has seen meanwhile is not shown again", async () => {
    const { handle, session } = start({ run: async () => found("a", "b") });
    await handle.promise;
    session.surface(found("a"));
    expect(paths(handle.take())).toEqual(["b"]);
  });
});

describe("startPrefetch: two speeds", () => {
  it("B6.16 a turn without tool calls gets the offline answer, the better one adds what is new", async () => {
    const { promise, resolve } = deferred<Found[]>();
    const { handle } = start({ run: () => promise, fast: () => found("a", "b") });
    await rest();
    expect(paths(handle.fast)).toEqual(["a", "b"]);
    expect(handle.take()).toBeNull();
    expect(paths(handle.takeFast())).toEqual(["a", "b"]);
    expect(handle.takeFast()).toBeNull();
    expect(handle.consumed).toBe(false);
    resolve(found("b", "c"));
    await rest();
    expect(paths(handle.take())).toEqual(["c"]);
    expect(handle.consumed).toBe(true);
  });

  it("B6.16 the better answer wins when it is there, also when it is none", async () => {
    const better = start({ run: async () => found("c"), fast: () => found("a") }).handle;
    await better.promise;
    expect(paths(better.takeFast())).toEqual(["c"]);
    const none = start({ run: async () => [], fast: () => found("a") }).handle;
    await none.promise;
    expect(none.takeFast()).toBeNull();
    expect(none.consumed).toBe(true);
  });

  it("B6.11 the offline answer stands when the better one fails, even if it comes later", async () => {
    const offline = deferred<Found[]>();
    const { handle } = start({ run: async () => Promise.reject(new Error("down")), fast: () => offline.promise });
    await rest();
    expect(handle.take()).toBeNull();
    offline.resolve(found("a", "b"));
    await rest();
    expect(paths(handle.take())).toEqual(["a", "b"]);
  });

  it("B6.11 what was given is not given again when the better one fails", async () => {
    const { promise, reject } = deferred<Found[]>();
    const { handle } = start({ run: () => promise, fast: () => found("a") });
    await rest();
    expect(paths(handle.takeFast())).toEqual(["a"]);
    reject(new Error("down"));
    await rest();
    expect(handle.take()).toBeNull();
    expect(paths(await handle.promise)).toEqual(["a"]);
  });

  it("B11.6 without a model the offline answer is the answer", async () => {
    const { handle } = start({ fast: () => found("a") });
    expect(paths(await handle.promise)).toEqual(["a"]);
    expect(paths(handle.take())).toEqual(["a"]);
  });
});

describe("startPrefetch: abort", () => {
  it.each(["handle", "signal"])("B6.11 by the %s: settled, empty, the run is told", async (by) => {
    const controller = new AbortController();
    const run = vi.fn((_: AbortSignal) => new Promise<Found[]>(() => {}));
    const { handle, log } = start({ run, fast: () => found("a"), signal: controller.signal });
    await rest();
    if (by === "handle") handle.abort();
    else controller.abort();
    expect(handle.settled).toBe(true);
    expect(run.mock.calls[0]![0].aborted).toBe(true);
    expect(handle.takeFast()).toBeNull();
    expect(await handle.promise).toEqual([]);
    expect(log).not.toHaveBeenCalled();
  });

  it("B6.11 an answer or an error after it changes nothing", async () => {
    for (const end of ["resolve", "reject"] as const) {
      const answer = deferred<Found[]>();
      const { handle, log } = start({ run: () => answer.promise });
      handle.abort();
      if (end === "resolve") answer.resolve(found("a"));
      else answer.reject(new Error("aborted"));
      await rest();
      expect(handle.take()).toBeNull();
      expect(await handle.promise).toEqual([]);
      expect(log).not.toHaveBeenCalled();
    }
  });
});
