import { describe, expect, it } from "vitest";
import { MemdirError } from "../../src/errors.ts";
import { sideQuery } from "../../src/model/choose.ts";
import type { SideQuery } from "../../src/recall/select.ts";
import { KEY, useTalk } from "./talk.ts";

const talk = useTalk();

describe("sideQuery", () => {
  it.each(["anthropic", "openai"] as const)("asks %s one question", async (provider) => {
    talk.server.queue({ text: ["for", "ty-two"] });
    expect(await sideQuery(talk[provider], 9)("Be brief.", "6 × 7?")).toBe("forty-two");
    const { raw } = talk.server.requests[0]!;
    expect(raw).toContain("6 × 7?");
    expect(raw).toContain("Be brief.");
    expect(raw).toContain('"max_tokens":9');
  });

  it("keeps a text that ran into the limit", async () => {
    talk.server.queue({ text: "cut", stop: "max_tokens" });
    expect(await sideQuery(talk.anthropic)("", "?")).toBe("cut");
  });

  it("rejects with an error that says what to do", async () => {
    talk.server.queue({ status: 401, message: KEY }, { status: 529 }, { text: "no", stop: "refusal" });
    const errors = [];
    for (let i = 0; i < 3; i++) errors.push(await sideQuery(talk.anthropic)("", "?").catch((e) => e));
    expect(errors.every((error) => error instanceof MemdirError)).toBe(true);
    expect(errors.map(({ code, details }) => [code, details.kind])).toEqual([
      ["usage", "auth"],
      ["model", "overloaded"],
      ["usage", "refused"],
    ]);
    expect(errors.map(String).join()).not.toContain(KEY);
  });

  it("fits recall's SideQuery", async () => {
    const query: SideQuery = sideQuery(talk.anthropic);
    talk.server.queue({ text: "yes" }, { before: "hang" });
    expect(await query("s", "u")).toBe("yes");
    await expect(query("s", "u", AbortSignal.timeout(50))).rejects.toThrow(/stopped/);
  });
});
