import { describe, expect, it } from "vitest";
import { checkDraft } from "../../src/learn/draft.ts";
import { buildWindow, listPieces } from "../../src/learn/window.ts";
import { type NoteOptions, note, TALK } from "./extraction-desk.ts";

const NOW = new Date("2026-03-20T12:00:00.000Z");

async function check(text: string, base: string | null = null) {
  const { pieces } = buildWindow(TALK);
  return checkDraft({ file: "x.md", text, base }, { session: "s-1", pieces, said: listPieces(TALK) }, NOW);
}

const project = (options: NoteOptions) =>
  note({ type: "project", name: "Freeze", description: "Billing freeze", ...options });

describe("checkDraft", () => {
  it("B3.6 makes a proposal of a good one, with its source", async () => {
    const checked = await check(note());
    expect(checked).toMatchObject({
      ok: true,
      notices: [],
      proposal: {
        action: "save",
        file: null,
        name: "Keep commits separate",
        trust: "user",
        session: "s-1",
        message: "u1",
        reason: "from THE USER on 2026-03-09",
      },
    });
  });

  it.each<[string, string, RegExp]>([
    ["no frontmatter", "Never squash.", /frontmatter|type/],
    ["broken frontmatter", "---\nname: [x\ndescription: {\n", /frontmatter/],
    ["an unknown type", note({ type: "rule" }), /is not a type: use one of user, feedback, project, reference/],
    ["no type", note().replace(/type:.*\n/, ""), /no type/],
    ["no name", note().replace(/name:.*\n/, ""), /no name/],
    ["no description", note().replace(/description:.*\n/, ""), /no description/],
    ["no body", note({ body: "" }), /no body/],
    ["nothing", "", /frontmatter|type/],
  ])("refuses %s", async (_, text, reason) => {
    expect(await check(text)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });

  it("B3.8 refuses a secret and never says it", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const checked = await check(project({ body: `The token is ${secret}.` }));
    expect(checked).toMatchObject({ ok: false, reason: expect.stringMatching(/secret \(github-token in line \d+\)/) });
    expect(JSON.stringify(checked)).not.toContain(secret);
  });

  it("offers the date that was meant on the day it was said, not today", async () => {
    const checked = await check(project({ body: "Billing is frozen until next Thursday." }));
    expect(checked).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/"next Thursday" is 2026-03-1\d; write the date itself/),
    });
    expect(await check(project({ description: "Frozen until tomorrow" }))).toMatchObject({
      ok: false,
      reason: expect.stringContaining("2026-03-10"),
    });
    expect(await check(project({ body: "Billing is frozen until 2026-03-12." }))).toMatchObject({ ok: true });
  });

  it("leaves a relative date alone that stood there before", async () => {
    const base = project({ source: "user", body: "Frozen until tomorrow." });
    expect(
      await check(base.replace("source: user", "source: m1").replace("tomorrow.", "tomorrow.\n\nAsk Ana."), base),
    ).toMatchObject({ ok: true });
  });

  it("the least trusted of a memory and its change decides", async () => {
    const base = project({ source: "document session=s-0" });
    const text = project({ source: "m1" });
    expect(await check(text, base)).toMatchObject({
      ok: true,
      proposal: { action: "update", file: "x.md", trust: "document" },
    });
    expect(await check(text, project({ source: null }))).toMatchObject({ ok: true, proposal: { trust: "user" } });
    expect(await check(project({ source: "README" }))).toMatchObject({
      ok: true,
      proposal: { trust: "tool", message: null },
    });
    expect(await check(project({ source: "[m1, m2]" }))).toMatchObject({ ok: true, proposal: { trust: "inferred" } });
  });

  it("B3.11 asks for cues and for the reason where they are missing", async () => {
    const bare = note({ body: "Never squash." }).replace(/when:\n(?: {2}- .*\n)+/, "");
    expect(await check(bare)).toMatchObject({
      ok: true,
      notices: [expect.stringContaining("`when:`"), expect.stringContaining("**Why:**")],
    });
  });
});
