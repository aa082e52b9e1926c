import { describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { openKeeper } from "../../src/learn/draft.ts";
import type { Keep } from "../../src/learn/learn.ts";
import { buildWindow, listPieces } from "../../src/learn/window.ts";
import { note, TALK } from "./extraction-desk.ts";

async function open(keep: Keep, isStopped = () => false) {
  let ids = 0;
  const { pieces } = buildWindow(TALK);
  const newId = () => `p${++ids}`;
  const world = { now: () => new Date(0), newId };
  return openKeeper(world, { session: "s-1", pieces, said: listPieces(TALK), isStopped }, keep);
}

const draft = { file: "a.md", text: note(), base: null };

describe("openKeeper", () => {
  it("tells where it went, counts nothing that was there already, and one memory once", async () => {
    const kept: string[] = [];
    const actions = ["saved", "updated", "unchanged"] as const;
    const keeper = await open(async ({ id }) => {
      kept.push(id);
      const file = id === "p1" ? "a.md" : "feedback_b.md";
      return { file, done: actions[kept.length - 1]!, undo: null, reason: "noted" };
    });
    expect(await keeper.keep(draft)).toEqual({ notices: ["noted"] });
    // In the file, the labels have become a source: a second version need not name them again.
    await keeper.keep({ ...draft, base: note({ source: "user" }), text: note({ source: "user", name: "Better" }) });
    expect(await keeper.keep({ ...draft, file: "b.md" })).toEqual({
      notices: ["it is saved as feedback_b.md", "noted"],
    });
    expect(kept).toEqual(["p1", "p1", "p2"]);
    expect(keeper.saved()).toMatchObject([
      { file: "a.md", action: "saved", proposal: { action: "save", file: null, name: "Better" } },
    ]);
  });

  it("what is refused for good is no problem; what may succeed the next time is", async () => {
    const answers: (() => ReturnType<Keep>)[] = [
      async () => ({ file: "a.md", done: "refused", undo: null, reason: "it was rejected before" }),
      () => Promise.reject(new MemdirError("secret", "it holds a key")),
      () => Promise.reject(new MemdirError("lock", "somebody else writes")),
      async () => ({ file: "a.md", done: "saved", undo: null }),
    ];
    const keeper = await open(() => answers.shift()!());
    await expect(keeper.keep(draft)).rejects.toThrow("a.md was not written: it was rejected before");
    await expect(keeper.keep({ ...draft, file: "b.md" })).rejects.toThrow("b.md was not written: it holds a key");
    await expect(keeper.keep(draft)).rejects.toThrow("somebody else writes");
    expect(keeper.problem()).toBe("a.md could not be saved: somebody else writes");
    await keeper.keep(draft);
    expect([keeper.problem(), keeper.refused()]).toEqual([null, ["b.md: it holds a key"]]);
  });

  it("begins nothing after a stop, and waits for what was begun", async () => {
    let stopped = false;
    let tell = () => {};
    const begun = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const keeper = await open(
      async () => {
        stopped = true;
        tell();
        await new Promise((resolve) => setTimeout(resolve, 10));
        return { file: "a.md", done: "saved", undo: null };
      },
      () => stopped,
    );
    const first = keeper.keep(draft);
    await begun;
    await expect(keeper.keep({ ...draft, file: "b.md" })).rejects.toThrow("stopped");
    await keeper.settle();
    expect(keeper.saved()).toHaveLength(1);
    await first;
  });
});
