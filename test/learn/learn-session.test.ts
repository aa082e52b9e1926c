/** Sessions on disk, learnt from by rules: each message once, whatever happens in between. */

import { describe, expect, it } from "vitest";
import { readCursor } from "../../src/learn/extraction-gates.ts";
import { findNew, type Learning, learnSession, NOTHING_NEW } from "../../src/learn/learn.ts";
import { openRulesExtractor } from "../../src/learn/rules.ts";
import type { Memdir } from "../../src/memdir.ts";
import { openLearning } from "../../src/open-learn.ts";
import type { HeardSession } from "../../src/session/session-reader.ts";
import { makeWorld, type World } from "../world.ts";

/** Prompts and answers in turn. */
function talk(...texts: string[]): HeardSession {
  const messages = texts.map((text, i) => ({
    role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: [{ type: "text" as const, text }],
  }));
  const prompts = texts.flatMap((text, index) =>
    index % 2 === 0 ? [{ uuid: `u${index}`, text, at: "2026-03-10T12:00:00.000Z", index, parent: null }] : [],
  );
  return { id: "44444444-0000-4000-8000-000000000000", path: "x", messages, prompts, cwd: null, problems: [] };
}

async function openDesk(world: World, more: Partial<Learning> = {}) {
  const memdir: Memdir = await world.open();
  const learning: Learning = { ...openLearning(memdir), ...more };
  const look = (session: HeardSession) =>
    learnSession(
      learning,
      openRulesExtractor(learning, async () => null),
      session,
    );
  return { memdir, look };
}

const FREEZE = "remember that the freeze starts on 2026-04-01";
const PNPM = "from now on don't use npm here, use pnpm instead";

describe("by rules", () => {
  it("what was looked at is not looked at again; a session that grew is gone on with", async () => {
    const world = makeWorld();
    const { look, memdir } = await openDesk(world);
    const first = await look(talk(FREEZE, "Noted."));
    expect(first).toMatchObject({ saved: [{ action: "saved" }], skipped: null, failed: null });
    await memdir.forget(first.saved[0]!.file);
    expect(await look(talk(FREEZE, "Noted."))).toMatchObject({ saved: [], skipped: NOTHING_NEW });
    const grown = talk(FREEZE, "Noted.", PNPM, "Understood.");
    expect(findNew(world.dir, grown)).toHaveLength(2);
    expect(await look(grown)).toMatchObject({ saved: [{ action: "saved" }] });
    expect((await memdir.list()).map(({ type }) => type)).toEqual(["feedback"]);
    expect(readCursor(world.dir, grown.id)?.message).toBe("u2.1");
  });

  it("a run that found nothing counts, too; one that failed does not", async () => {
    const world = makeWorld();
    const { look, memdir } = await openDesk(world);
    expect(await look(talk("fix the test", "Done."))).toMatchObject({ saved: [], skipped: null });
    expect(await look(talk("fix the test", "Done."))).toMatchObject({ skipped: NOTHING_NEW });
    const list = () => Promise.reject(new Error("the disk is gone"));
    const broken = await openDesk(world, { store: { ...memdir, list } as never });
    const grown = talk("fix the test", "Done.", FREEZE, "Noted.");
    expect(await broken.look(grown)).toMatchObject({ saved: [], failed: "the disk is gone" });
    expect(await look(grown)).toMatchObject({ saved: [{ action: "saved" }] });
  });

  it("nothing is looked at where nothing may be kept", async () => {
    const world = makeWorld({ settings: { learn: { mode: "read-only" } } });
    const { look } = await openDesk(world);
    expect(await look(talk(FREEZE, "Noted."))).toMatchObject({
      saved: [],
      skipped: expect.stringContaining("read-only"),
    });
    expect(findNew(world.dir, talk(FREEZE, "Noted."))).toHaveLength(2);
  });
});
