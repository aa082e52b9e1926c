import fs from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { type Applied, acceptProposal, applyProposal, isFinal, previewProposal } from "../../src/learn/apply.ts";
import { type Inbox, openInbox } from "../../src/learn/inbox.ts";
import type { LearnMode, Proposal } from "../../src/learn/proposal.ts";
import type { Memdir } from "../../src/memdir.ts";
import type { Trust } from "../../src/store/memory.ts";
import { errorOf, mainOf, makeWorld, type World } from "../world.ts";
import { propose as proposeInferred } from "./proposals.ts";

let world: World;
let memdir: Memdir;
let inbox: Inbox;

beforeEach(async () => {
  world = makeWorld();
  memdir = await world.open();
  inbox = openInbox(mainOf(memdir), { now: () => world.now, log: (message) => world.logged.push(message) });
});

const propose = (more: Partial<Proposal> = {}) => proposeInferred({ trust: "user", ...more });

const apply = (more: Partial<Proposal> = {}, mode: LearnMode = "auto") =>
  applyProposal({ store: memdir, inbox, mode }, propose(more)).catch((error: Error): Applied => {
    // As applyAll has it: what our own rules forbid is a refusal.
    if (!isFinal(error)) throw error;
    return { done: "refused", file: null, undo: null, reason: error.message };
  });

/** A memory of this trust that is there before. */
async function have(by: Trust | null, more: Partial<Parameters<Memdir["save"]>[0]> = {}): Promise<string> {
  const source = by === null ? {} : { source: { by, session: "s0", message: "m0" } };
  const body = "Jobs are retried twice.";
  return (await memdir.save({ type: "project", name: "retries", description: "Old", body, ...source, ...more })).file;
}

describe("modes", () => {
  it("off and read-only write nothing at all", async () => {
    expect(await apply({}, "off")).toMatchObject({ done: "refused", reason: expect.stringContaining("off") });
    expect(await apply({}, "read-only")).toMatchObject({
      done: "refused",
      reason: expect.stringContaining("read-only"),
    });
    expect(fs.existsSync(world.dir) ? world.files() : []).toEqual([]);
  });

  it("inbox: a person decides", async () => {
    const applied = await apply({}, "inbox");
    expect(applied).toMatchObject({
      done: "inbox",
      file: null,
      undo: null,
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    expect(inbox.list()).toHaveLength(1);
    expect(world.files()).toEqual([]);
    expect(await apply({}, "inbox")).toMatchObject({
      done: "inbox",
      id: applied.id,
      reason: expect.stringMatching(/already/),
    });
  });

  it("auto: saved with its origin, undone by one undo", async () => {
    const applied = await apply();
    expect(applied).toEqual({ done: "saved", file: "project_retries.md", undo: expect.any(String) });
    const text = world.read("project_retries.md");
    expect(text).toContain("source: user session=s1 message=m1\n");
    expect(text).toContain("  - a job fails\n");
    expect((await memdir.history()).at(-1)).toMatchObject({ reason: "the user mentioned a decision" });
    await memdir.undo(applied.undo as string);
    expect(world.files().filter((file) => file !== "MEMORY.md")).toEqual([]);
  });
});

describe("provenance and poisoning", () => {
  it.each(["tool", "document"] as const)("text of a %s cannot become feedback or user by itself", async (trust) => {
    for (const type of ["feedback", "user"] as const)
      for (const mode of ["auto", "inbox"] as const)
        expect(await apply({ type, trust }, mode)).toMatchObject({
          done: "refused",
          reason: expect.stringMatching(/only the user can say/),
        });
    expect(inbox.list()).toEqual([]);
    expect(await apply({ type: "reference", trust })).toMatchObject({ done: "saved" });
    expect(world.read("reference_retries.md")).toContain(`source: ${trust} session=s1`);
  });

  it("nor slip into a feedback memory as an update of another type, nor ask to forget", async () => {
    // As another program may have written it: our own gate refuses that.
    const file = "feedback_retries.md";
    world.write(
      file,
      "---\nname: retries\ndescription: Old\ntype: feedback\nsource: document session=s0 message=m0\n---\n\nJobs are retried twice.\n",
    );
    const before = world.read(file);
    expect(await apply({ action: "update", file, type: "project", trust: "tool" })).toMatchObject({ done: "refused" });
    expect(await apply({ action: "forget", file, trust: "tool" })).toMatchObject({ done: "refused" });
    expect(await apply({ action: "forget", file, trust: "document" }, "inbox")).toMatchObject({ done: "refused" });
    expect(world.read(file)).toBe(before);
  });

  it.each([null, "user"] as const)("a memory of the user (%s) is not overwritten by less: it waits", async (by) => {
    const file = await have(by);
    const before = world.read(file);
    for (const more of [{}, { action: "update" as const, file, body: "Jobs are retried daily." }]) {
      const applied = await apply({ ...more, trust: "inferred" });
      expect(applied).toMatchObject({
        done: "inbox",
        file,
        reason: `${file} has a more trusted source (user) than this (inferred)`,
      });
    }
    expect(await apply({ action: "forget", file, trust: "inferred" })).toMatchObject({ done: "inbox", file });
    expect(world.read(file)).toBe(before);
  });

  it("the lowest trust wins when it changes a memory of lower trust", async () => {
    const file = await have("tool");
    const applied = await apply({ trust: "user" });
    expect(applied).toEqual({ done: "updated", file, undo: expect.any(String) });
    expect(world.read(file)).toContain("source: tool session=s1 message=m1\n");
    expect(world.read(file)).toContain("three times");
    await memdir.undo(applied.undo as string);
    expect(world.read(file)).toContain("source: tool session=s0 message=m0\n");
  });

  it("the user's own words replace the user's memory; name, type and other fields stay", async () => {
    const file = await have("user", { pinned: true, when: ["an old cue"] });
    expect(await apply({ action: "update", file, name: "other", type: "reference" })).toMatchObject({
      done: "updated",
    });
    const shown = await memdir.show(file);
    expect(shown).toMatchObject({ name: "retries", type: "project", pinned: true, description: "How often" });
    expect(shown.when).toEqual(["an old cue", "a job fails"]);
    expect(shown.body.trim()).toBe("Jobs are retried three times.");
  });

  it("a memory without frontmatter gets one, so that its origin is not lost", async () => {
    world.write("notes.md", "Jobs are retried twice.\n");
    await apply({ action: "update", file: "notes.md" });
    expect(world.read("notes.md")).toMatch(/^---\nname: notes\n[\s\S]*source: user session=s1[\s\S]*three times\.\n$/);
  });

  it("line ends, a byte order mark and fields of others stay; bytes that are no text are not rewritten", async () => {
    const text = "\ufeff---\r\nname: retries\r\ntype: project\r\nsource: tool\r\ncolour: red\r\n---\r\n\r\nTwice.\r\n";
    world.write("odd.md", text);
    expect(await apply({ file: "odd.md" })).toMatchObject({ done: "updated" });
    const after = world.read("odd.md");
    expect(after).toMatch(/^\ufeff---\r\nname: retries\r\n/);
    expect(after).toContain("colour: red\r\n");
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    world.write("bytes.md", Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff, 0xfe, 0x0a]));
    expect(await apply({ file: "bytes.md" })).toMatchObject({ done: "refused" });
  });

  it("a pinned memory is forgotten by the user's word only", async () => {
    const file = await have("inferred", { pinned: true });
    expect(await apply({ action: "forget", file, trust: "inferred" })).toMatchObject({ done: "inbox" });
    expect(await apply({ action: "forget", file })).toMatchObject({
      done: "forgotten",
      file,
      undo: expect.any(String),
    });
    expect(world.exists(file)).toBe(false);
  });
});

describe("what changes nothing", () => {
  it("exact duplicates, under this name or another", async () => {
    await apply();
    const before = world.read("project_retries.md");
    expect(await apply({ session: "s2", trust: "tool" })).toMatchObject({
      done: "unchanged",
      file: "project_retries.md",
    });
    expect(await apply({ name: "again" })).toMatchObject({ done: "unchanged", file: "project_retries.md", undo: null });
    expect(await apply({ name: "again" }, "inbox")).toMatchObject({ done: "unchanged" });
    expect(world.read("project_retries.md")).toBe(before);
    expect(inbox.list()).toEqual([]);
  });

  it("what was rejected before, in every mode", async () => {
    const { id } = await apply({}, "inbox");
    await inbox.reject(id as string);
    for (const mode of ["inbox", "auto"] as const)
      expect(await apply({ name: "other words" }, mode)).toMatchObject({
        done: "refused",
        reason: "it was rejected before",
      });
  });

  it("secrets, broken memories, memories that are gone, paths that lead out", async () => {
    const key = `AKIA${"IOSFODNN7QQQQQQ2"}`;
    for (const mode of ["auto", "inbox"] as const)
      expect(await apply({ body: `It is ${key}` }, mode)).toMatchObject({
        done: "refused",
        reason: expect.stringMatching(/looks like a secret/),
      });
    expect(world.grep(key)).toEqual([]);
    const file = await have("tool");
    expect(await apply({ body: `It is ${key}`, file })).toMatchObject({
      done: "refused",
      reason: expect.stringMatching(/looks like a secret/),
    });

    world.write("bad.md", '---\nname: "bad\n---\nBody.\n');
    expect(await apply({ action: "update", file: "bad.md" })).toMatchObject({ done: "refused" });
    expect(world.read("bad.md")).toBe('---\nname: "bad\n---\nBody.\n');
    for (const gone of ["gone.md", "../x.md", "/etc/passwd", "MEMORY.md", ""])
      expect(await apply({ action: "update", file: gone, body: "New." })).toMatchObject({ done: "refused" });
    expect(await apply({ action: "forget", name: "gone" })).toMatchObject({
      done: "refused",
      reason: expect.stringMatching(/no memory gone/),
    });
    fs.symlinkSync(world.path(file), world.path("link.md"));
    expect(await apply({ action: "update", file: "link.md", body: "New." })).toMatchObject({ done: "refused" });
  });

  it("failures are thrown: whoever applies decides whether to try again", async () => {
    await expect(applyProposal({ store: memdir, inbox, mode: "auto" }, propose({ name: " " }))).rejects.toThrow(
      /name is empty/,
    );
    const failing = { ...memdir, list: () => Promise.reject(new Error("the disk is gone")) };
    await expect(applyProposal({ store: failing, inbox, mode: "auto" }, propose())).rejects.toThrow("the disk is gone");
  });

  it("a memory that somebody wrote meanwhile", async () => {
    const file = await have("tool");
    const slow: typeof memdir = {
      ...memdir,
      put: (path, text, base) => {
        world.write(file, "---\nname: retries\ntype: project\n---\nMine.\n");
        return memdir.put(path, text, base);
      },
    };
    await expect(applyProposal({ store: slow, inbox, mode: "auto" }, propose())).rejects.toThrow(/changed while/);
    expect(world.read(file)).toContain("Mine.");
  });
});

describe("a person accepts", () => {
  it("what trust alone did not allow; the origin stays as it was", async () => {
    const file = await have("user");
    const { id } = await apply({ trust: "inferred" });
    const proposal = inbox.find(id as string) as Proposal;
    expect(await previewProposal(memdir, proposal)).toMatchObject({
      file,
      before: world.read(file),
      after: expect.stringMatching(/three times/),
    });
    const applied = await acceptProposal(memdir, inbox, proposal);
    expect(applied).toMatchObject({ done: "updated", file, undo: expect.any(String) });
    expect(world.read(file)).toContain("source: inferred session=s1");
    expect(inbox.list()).toEqual([]);
    await memdir.undo(applied.undo as string);
    expect(world.read(file)).toContain("retried twice");
  });

  it("what fails stays in the inbox", async () => {
    const file = await have("user");
    const { id } = await apply({ action: "update", file, trust: "inferred" });
    await memdir.forget(file);
    const error = await errorOf(acceptProposal(memdir, inbox, inbox.find(id as string) as Proposal));
    expect(error.message).toMatch(/there is no memory project_retries\.md; .* reject the proposal/);
    expect(inbox.list()).toHaveLength(1);
  });

  it("a memory that cannot be parsed is not rewritten, only forgotten", async () => {
    const bad = '---\nname: "bad\n---\nBody.\n';
    world.write("bad.md", bad);
    const update = propose({ action: "update", file: "bad.md" });
    const { id } = (await inbox.add(update)) as { id: string };
    expect((await errorOf(acceptProposal(memdir, inbox, { ...update, id }))).code).toBe("broken");
    expect(world.read("bad.md")).toBe(bad);
    const forget = await inbox.add(propose({ action: "forget", file: "bad.md" }));
    const proposal = inbox.find((forget as { id: string }).id) as Proposal;
    expect(await acceptProposal(memdir, inbox, proposal)).toMatchObject({ done: "forgotten", file: "bad.md" });
  });

  it("a new one and one that goes are shown as such", async () => {
    expect(await previewProposal(memdir, propose())).toMatchObject({
      file: null,
      before: null,
      after: expect.stringMatching(/^---\nname: retries\n/),
    });
    const file = await have("user");
    expect(await previewProposal(memdir, propose({ action: "forget", file }))).toMatchObject({ file, after: "" });
  });
});
