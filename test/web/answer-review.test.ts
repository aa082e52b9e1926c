import fs from "node:fs";
import { expect, it } from "vitest";
import { planSeen } from "../../src/learn/dream.ts";
import { openLearning } from "../../src/open-learn.ts";
import type { ChangedAnswer, DreamAnswer, InboxAnswer } from "../../src/web/api.ts";
import { propose } from "../learn/proposals.ts";
import { errorOf, note } from "../world.ts";
import { call, HOSTILE, makePage } from "./open-page.ts";

const inboxOf = async (page: Parameters<typeof call>[0]) => (await call(page, "GET", "/api/inbox")) as InboxAnswer;

it("proposals come as differences, are accepted with the person's words, and undone", async () => {
  const { world, memdir, page } = await makePage();
  expect(await inboxOf(page)).toEqual({ proposals: [] });
  const { inbox } = openLearning(memdir);
  await inbox.add(propose({ name: "queue", type: "project", description: "d", body: "Old words.", when: ["a cue"] }));
  const [row] = (await inboxOf(page)).proposals;
  expect(row).toMatchObject({ action: "save", name: "queue", body: "Old words.", cues: ["a cue"] });
  expect(row!.diff).toContainEqual({ kind: "added", text: "Old words." });
  const amended = { body: `New words. ${HOSTILE.image}`, cues: ["another cue"] };
  const accepted = (await call(page, "POST", "/api/inbox/accept", { id: row!.id, amended })) as ChangedAnswer;
  expect(accepted.ref).toEqual({ directory: 0, file: "project_queue.md" });
  expect(world.read("project_queue.md")).toContain("New words.");
  expect(world.read("project_queue.md")).toContain("another cue");
  expect((await inboxOf(page)).proposals).toEqual([]);
  await call(page, "POST", "/api/undo", { id: accepted.entry });
  expect(world.exists("project_queue.md")).toBe(false);
});

it("a rejected one is gone for good; what does not wait is not found", async () => {
  const { memdir, page } = await makePage();
  const { inbox } = openLearning(memdir);
  await inbox.add(propose({ name: "one" }));
  const [row] = (await inboxOf(page)).proposals;
  await call(page, "POST", "/api/inbox/reject", { id: row!.id });
  expect((await inboxOf(page)).proposals).toEqual([]);
  expect(await inbox.add(propose({ name: "one" }))).toEqual({ rejectedBefore: true });
  for (const id of [row!.id, "../../x", "", "a".repeat(500)]) {
    expect(["not-found", "usage"]).toContain((await errorOf(call(page, "POST", "/api/inbox/accept", { id }))).code);
  }
});

it("an amendment with a secret is refused, and the proposal stays", async () => {
  const { memdir, page } = await makePage();
  await openLearning(memdir).inbox.add(propose({ name: "one" }));
  const [row] = (await inboxOf(page)).proposals;
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  const error = await errorOf(call(page, "POST", "/api/inbox/accept", { id: row!.id, amended: { body: secret } }));
  expect(error.code).toBe("secret");
  expect((await inboxOf(page)).proposals.length).toBe(1);
});

it("a dream's plan waits, is shown as differences, applied once, and taken back by one undo", async () => {
  const { world, memdir, page } = await makePage();
  expect(await call(page, "GET", "/api/dream")).toEqual({ plan: null, last: null });
  const body = "The build uses pnpm and needs node twenty two installed.";
  await memdir.save(note("one", { body }));
  await memdir.save(note("two", { body }));
  const before = world.files().map((file) => [file, world.read(file)]);
  const plan = await planSeen(openLearning(memdir), null);
  page.kept.plan = { id: "p1", made: world.now.toISOString(), plan };
  const { plan: shown } = (await call(page, "GET", "/api/dream")) as DreamAnswer;
  expect(shown).toMatchObject({ id: "p1", summary: expect.stringContaining("1 merged") });
  expect(shown!.ops[0]!.says).toContain("merge ");
  expect(shown!.ops[0]!.diff.some(({ kind }) => kind === "removed")).toBe(true);
  expect((await errorOf(call(page, "POST", "/api/dream/apply", { plan: "p0" }))).code).toBe("conflict");
  const applied = (await call(page, "POST", "/api/dream/apply", { plan: "p1" })) as ChangedAnswer;
  const memories = world.files().filter((file) => file.endsWith(".md"));
  expect(memories.length).toBe(before.length - 1);
  expect((await errorOf(call(page, "POST", "/api/dream/apply", { plan: "p1" }))).code).toBe("conflict");
  expect(((await call(page, "GET", "/api/dream")) as DreamAnswer).last).not.toBeNull();
  await call(page, "POST", "/api/undo", { id: applied.entry });
  expect(before.every(([file, text]) => world.read(file!) === text)).toBe(true);
});

it("a plan whose memories changed since is not applied", async () => {
  const { world, memdir, page } = await makePage();
  const body = "The build uses pnpm and needs node twenty two installed.";
  await memdir.save(note("one", { body }));
  await memdir.save(note("two", { body }));
  page.kept.plan = { id: "p", made: world.now.toISOString(), plan: await planSeen(openLearning(memdir), null) };
  for (const file of ["user_one.md", "user_two.md"]) fs.appendFileSync(world.path(file), "More.\n");
  expect((await errorOf(call(page, "POST", "/api/dream/apply", { plan: "p" }))).code).toBe("conflict");
  expect(world.files()).toContain("user_two.md");
});
