import { describe, expect, it } from "vitest";
import { openLearnQueue } from "../../src/agent/learner.ts";
import { readCursor } from "../../src/learn/extraction-gates.ts";
import type { LearnResult } from "../../src/learn/learn.ts";
import { DONE, FILE, NOTHING, openExtractionDesk, SESSION, TALK, user, write } from "../learn/extraction-desk.ts";
import { PATIENCE_MS, until } from "../until.ts";

const request = { session: SESSION, messages: TALK };
const later = (n: number) => ({ session: SESSION, messages: [...TALK, user(`u${n}`, `Later words ${n}`)] });

describe("openLearnQueue", () => {
  it("C28 runs one at a time, then the latest waiting one, without throttle", async () => {
    const desk = await openExtractionDesk();
    const done: LearnResult[] = [];
    const extractor = openLearnQueue(desk.learning, desk.extractor, (result) => done.push(result));
    desk.server.queue(() => {
      // From here on every third turn: the trailing run must not care.
      desk.learning.gates = () => ({ enabled: true, everyTurns: 3, budget: { ok: true } });
      extractor.request(later(2));
      extractor.request(later(3));
      return NOTHING;
    }, NOTHING);
    extractor.request(request);
    await extractor.drain(PATIENCE_MS);
    expect(desk.server.requests).toHaveLength(2);
    const second = JSON.stringify(desk.server.requests[1]?.body.messages);
    expect(second).toContain("Later words 3");
    expect(second).not.toContain("Later words 2");
    expect(done.map(({ failed }) => failed)).toEqual([null, null]);
    expect(readCursor(desk.disk.dir, SESSION)?.message).toBe("u3");
    expect(desk.disk.logged).toContain("extraction is waiting: another one is running");
  });

  it("B3.10 what was asked for stays asked for while it waits", async () => {
    const desk = await openExtractionDesk();
    const extractor = openLearnQueue(desk.learning, desk.extractor);
    desk.server.queue(() => {
      extractor.request({ ...later(2), explicit: true });
      extractor.request({ ...later(3), memoryWrittenInTurn: true });
      return NOTHING;
    }, NOTHING);
    extractor.request(request);
    await extractor.drain(PATIENCE_MS);
    expect(JSON.stringify(desk.server.requests[1]?.body)).toContain("The user asked for something to be remembered");
  });

  it("waits at the end no longer than told: what runs is stopped, what waits is dropped with a reason", async () => {
    const desk = await openExtractionDesk();
    const extractor = openLearnQueue(desk.learning, desk.extractor);
    let tell = () => {};
    const asked = new Promise<void>((resolve) => {
      tell = resolve;
    });
    desk.server.queue(() => {
      tell();
      return { text: "I am", fault: "hang" };
    });
    extractor.request(request);
    extractor.request(later(2));
    await asked;
    await extractor.drain(30);
    expect(desk.disk.logged.join("\n")).toMatch(
      /session ended before it could start[\s\S]*stopped: it was still running 30 ms/,
    );
    await until(() => desk.spent.length > 0);
    expect(desk.spent).toMatchObject([{ produced: "nothing (it was stopped)" }]);
    expect(readCursor(desk.disk.dir, SESSION)).toBeNull();
    extractor.request(request);
    expect(desk.skips).toContain("the session is ending");
    expect(desk.server.requests).toHaveLength(1);
    await extractor.drain(30);
  });

  it("goes on after a failure and after a listener that throws, and draining nothing is done at once", async () => {
    const desk = await openExtractionDesk();
    const extractor = openLearnQueue(desk.learning, desk.extractor, () => {
      throw new Error("listener");
    });
    await extractor.drain(0);
    desk.server.queue({ status: 401 }, write(FILE), DONE);
    extractor.request(request);
    await extractor.drain(PATIENCE_MS);
    extractor.request(request);
    await extractor.drain(PATIENCE_MS);
    expect(desk.disk.exists(FILE)).toBe(true);
    expect(readCursor(desk.disk.dir, SESSION)?.message).toBe("a1");
  });
});
