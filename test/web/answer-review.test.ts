import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { planSeen } from "../../src/learn/dream.ts";
import { openLearning } from "../../src/open-learn.ts";
import { makeConflictCopy } from "../../src/team/merge.ts";
import type { ChangedAnswer, Ref, ReviewAnswer, ReviewDetail, ReviewItem, ReviewKind } from "../../src/web/api.ts";
import { propose } from "../learn/proposals.ts";
import { DAY, errorOf, makeWorld, note } from "../world.ts";
import { call, HOSTILE, makePage, makeUserWorld } from "./open-page.ts";

type Page = Parameters<typeof call>[0];

const review = async (page: Page) => (await call(page, "GET", "/api/review")) as ReviewAnswer;
const ofKind = async (page: Page, kind: ReviewKind) => (await review(page)).items.filter((item) => item.kind === kind);
const detailOf = async (page: Page, { id }: ReviewItem) =>
  (await call(page, "GET", "/api/review/item", { id })) as ReviewDetail;
const act = async (page: Page, verb: string, { id }: ReviewItem, more = {}) =>
  (await call(page, "POST", `/api/review/${verb}`, { id, ...more })) as ChangedAnswer;

const BODY = "The build uses pnpm and needs node twenty two installed.";

it("a proposal is shown with its origin, accepted with the person's words, undone and put back", async () => {
  const { world, memdir, page } = await makePage();
  const { inbox } = openLearning(memdir);
  await inbox.add(propose({ name: "queue", type: "project", description: "d", body: "Old words.", when: ["a cue"] }));
  const [item] = await ofKind(page, "proposal");
  expect(item).toMatchObject({ title: "queue", says: "New: d", verbs: ["accept", "edit", "skip"], memory: null });
  const shown = await detailOf(page, item!);
  expect(shown.origin).toContainEqual({ label: "Said by", value: "an agent’s conclusion", session: "s1" });
  expect(shown).toMatchObject({
    reason: "the user mentioned a decision",
    words: { body: "Old words.", cues: ["a cue"] },
  });
  expect(shown.changes).toMatchObject([{ effect: "new", title: "queue", ref: null }]);
  const block = shown.changes[0]!.parts.find(({ field }) => field === null);
  expect(block).toMatchObject({ before: null, after: "Old words." });
  const amended = { body: `New words. ${HOSTILE.image}`, cues: ["another cue"] };
  const accepted = await act(page, "accept", item!, { amended });
  expect(accepted).toMatchObject({ message: "Saved queue", ref: { directory: 0, file: "project_queue.md" } });
  expect(world.read("project_queue.md")).toContain("another cue");
  expect(await ofKind(page, "proposal")).toEqual([]);
  expect((await errorOf(act(page, "accept", item!))).code).toBe("not-found");
  await call(page, "POST", "/api/undo", { id: accepted.entry });
  await act(page, "restore", item!);
  expect(world.exists("project_queue.md")).toBe(false);
  expect(await ofKind(page, "proposal")).toMatchObject([{ id: item!.id }]);
});

it("a proposal is not accepted over a memory, or with words, that the person has not seen", async () => {
  const { world, memdir, page } = await makePage();
  const { inbox } = openLearning(memdir);
  await memdir.save(note("queue", { type: "project", body: "As it was." }));
  const file = "project_queue.md";
  await inbox.add(propose({ action: "update", file, name: "queue", body: "As proposed." }));
  const [item] = await ofKind(page, "proposal");
  const { base } = await detailOf(page, item!);
  const edited = world.read(file).replace("As it was.", "As somebody else wrote it.");
  world.write(file, edited);
  for (const more of [{ base }, { base, amended: { body: "As amended." } }])
    expect((await errorOf(act(page, "accept", item!, more))).code).toBe("conflict");
  expect(world.read(file)).toBe(edited);
  expect(inbox.list()).toMatchObject([{ body: "As proposed." }]);
  const again = await detailOf(page, item!);
  await inbox.amend(item!.id, { body: "As proposed since." });
  expect((await errorOf(act(page, "accept", item!, { base: again.base }))).code).toBe("conflict");
  const { base: last } = await detailOf(page, item!);
  expect((await act(page, "accept", item!, { base: last })).message).toBe("Updated queue");
  expect(world.read(file)).toContain("As proposed since.");
});

it("a new memory does not take the place of one whose name the person gave it", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("taken", { type: "project", body: "Stays." }));
  await openLearning(memdir).inbox.add(propose({ name: "fresh" }));
  const [item] = await ofKind(page, "proposal");
  const { base } = await detailOf(page, item!);
  expect((await errorOf(act(page, "accept", item!, { base, amended: { name: "taken" } }))).code).toBe("conflict");
  expect(world.read("project_taken.md")).toContain("Stays.");
});

it("a skipped proposal does not come back, unless the person takes that back", async () => {
  const { memdir, page } = await makePage();
  const { inbox } = openLearning(memdir);
  await inbox.add(propose({ name: "one" }));
  const [item] = await ofKind(page, "proposal");
  await act(page, "skip", item!);
  expect(await ofKind(page, "proposal")).toEqual([]);
  expect(await inbox.add(propose({ name: "one" }))).toEqual({ rejectedBefore: true });
  await act(page, "restore", item!);
  expect((await ofKind(page, "proposal")).length).toBe(1);
  await inbox.accept(item!.id);
  expect(await inbox.add(propose({ name: "one" }))).toEqual({ id: item!.id });
});

it("words with a secret are refused, and the proposal stays", async () => {
  const { memdir, page } = await makePage();
  await openLearning(memdir).inbox.add(propose({ name: "one" }));
  const [item] = await ofKind(page, "proposal");
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  expect((await errorOf(act(page, "accept", item!, { amended: { body: secret } }))).code).toBe("secret");
  expect((await ofKind(page, "proposal")).length).toBe(1);
});

it("every step of a dream is accepted or skipped by itself, and each can be undone", async () => {
  const { world, memdir, page } = await makePage();
  const other = "Kafka partitions rebalance whenever consumers restart during a deploy.";
  for (const [name, body] of [
    ["one", BODY],
    ["two", BODY],
    ["three", other],
    ["four", other],
  ] as const)
    await memdir.save(note(name, { body }));
  await planSeen(openLearning(memdir), null);
  const merges = async () => (await ofKind(page, "dream")).filter(({ says }) => says.startsWith("Merge"));
  const steps = await merges();
  expect(steps.length).toBe(2);
  expect(steps[0]!.says).toMatch(/^Merge \w+, \w+ into \w+: /);
  const shown = await detailOf(page, steps[0]!);
  expect(shown.changes.map(({ effect }) => effect).sort()).toEqual(["removed", "same"]);
  const before = world.files().map((file) => [file, world.read(file)] as const);
  const { entry } = await act(page, "accept", steps[0]!);
  expect(await merges()).toMatchObject([{ id: steps[1]!.id }]);
  await call(page, "POST", "/api/undo", { id: entry });
  expect(before.every(([file, text]) => world.read(file) === text)).toBe(true);
  expect((await merges()).length).toBe(2);
  await act(page, "skip", steps[1]!);
  expect(await merges()).toMatchObject([{ id: steps[0]!.id }]);
  await act(page, "restore", steps[1]!);
  expect((await merges()).length).toBe(2);
  // A step whose memory changed since no longer fits.
  await memdir.save(note("one", { body: `${BODY} And more.` }));
  expect((await merges()).length).toBe(1);
});

it("a path that moved is fixed, or the memory confirmed, or skipped until it changes; an undo brings it back", async () => {
  const world = makeWorld();
  fs.mkdirSync(path.join(world.project, "src"));
  fs.writeFileSync(
    path.join(world.project, "src", "old-auth.ts"),
    "export function login() {\n  return 'a session';\n}\n",
  );
  world.git("init", "-q");
  world.git("add", ".");
  world.git("commit", "-qm", "one");
  const { memdir, page } = await makePage({ world });
  world.now = new Date(Date.now() - 10 * DAY);
  await memdir.save(note("auth", { type: "project", body: "Sessions are made in `src/old-auth.ts` alone." }));
  world.now = new Date();
  world.git("mv", "src/old-auth.ts", "src/auth.ts");
  world.git("commit", "-qm", "moved");
  await memdir.verify();
  const [item] = await ofKind(page, "finding");
  expect(item).toMatchObject({ title: "auth", says: "Names src/old-auth.ts, moved to src/auth.ts" });
  expect(item!.verbs.slice(0, 5)).toEqual(["fix", "true", "edit", "forget", "skip"]);
  const { changes, claims } = await detailOf(page, item!);
  expect(claims[0]).toMatchObject({ verdict: "moved", isWrong: true });
  expect(changes[0]!.parts.at(-1)).toMatchObject({ after: "Sessions are made in `src/auth.ts` alone." });
  const place = { directory: 0, file: "project_auth.md" };
  const { undo } = (await call(page, "POST", "/api/verify", { ...place, fix: true })) as { undo: string[] };
  expect(world.read(place.file)).toContain("`src/auth.ts`");
  expect(await ofKind(page, "finding")).toEqual([]);
  await call(page, "POST", "/api/undo", { id: undo[0] });
  await act(page, "restore", item!, place);
  const [again] = await ofKind(page, "finding");
  expect(again).toMatchObject({ title: "auth" });
  const confirmed = (await call(page, "POST", "/api/mark", { ...place, isTrue: true })) as ChangedAnswer;
  expect(world.read(place.file)).toMatch(/src\/old-auth.ts: still true/);
  expect(await ofKind(page, "finding")).toEqual([]);
  await memdir.verify();
  expect(await ofKind(page, "finding")).toEqual([]);
  await call(page, "POST", "/api/undo", { id: confirmed.entry });
  await act(page, "restore", again!, place);
  const [last] = await ofKind(page, "finding");
  await act(page, "skip", last!);
  expect(await ofKind(page, "finding")).toEqual([]);
});

it("duplicates and conflicts come with both texts, and merging takes the second away", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("one", { body: BODY }));
  await memdir.save(note("two", { body: BODY }));
  await memdir.save(note("shared", { type: "project" }));
  const text = world.read("project_shared.md").replace("Body of", "Their body of");
  const copy = makeConflictCopy("project_shared.md", text);
  world.write(copy.path, copy.text);
  world.write("lost-conflict-0123abcd.md", "---\nname: lost\nconflict_with: nobody\ntype: user\n---\n\nx\n");
  const { items, counts } = await review(page);
  expect(counts).toMatchObject({ conflict: 1, duplicate: 1 });
  const conflict = items.find(({ kind }) => kind === "conflict")!;
  expect(conflict).toMatchObject({
    title: "shared",
    memory: { file: "project_shared.md" },
    other: { file: copy.path },
  });
  const { texts, changes } = await detailOf(page, conflict);
  const differing = changes[0]!.parts.filter(({ before, after, isQuiet }) => before !== after && !isQuiet);
  expect(differing).toMatchObject([{ field: null, before: "Body of shared.", after: "Their body of shared." }]);
  const [keep, other] = [conflict.memory!, conflict.other!].map(({ directory, file }) => ({ directory, file }));
  const merged = { keep, other, text: texts!.right, ...texts };
  expect(((await call(page, "POST", "/api/merge", merged)) as ChangedAnswer).message).toMatch(
    /^Merged .* into shared$/,
  );
  expect(world.read("project_shared.md")).toContain("Their body of shared.");
  expect(world.read("project_shared.md")).not.toContain("conflict");
  expect(world.exists(copy.path)).toBe(false);
});

it("a memory is pinned and gets a cue without becoming younger", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("bare", { when: [] }));
  const file = "user_bare.md";
  const [item] = await ofKind(page, "cues");
  expect(item).toMatchObject({ title: "bare", memory: { file } });
  const modified = /modified: (.*)/.exec(world.read(file))?.[1];
  await call(page, "POST", "/api/mark", { directory: 0, file, pinned: true });
  await call(page, "POST", "/api/mark", { directory: 0, file, cue: "somebody asks for it" });
  expect(world.read(file)).toMatch(/pinned: true/);
  expect(world.read(file)).toContain("somebody asks for it");
  expect(world.read(file)).toContain(`modified: ${modified}`);
  expect(await ofKind(page, "cues")).toEqual([]);
  const { entry } = (await call(page, "POST", "/api/mark", { directory: 0, file, pinned: false })) as ChangedAnswer;
  expect(world.read(file)).not.toMatch(/pinned/);
  expect(entry).not.toBeNull();
  expect((await errorOf(call(page, "POST", "/api/mark", { directory: 0, file }))).code).toBe("usage");
});

it("says when nothing was marked, and why", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("good"));
  world.write("user_open.md", "---\nname: open\ndescription: d\n\nNo end.\n");
  world.write("user_bytes.md", Buffer.from("---\nname: bytes\ntype: user\n---\n\nCaf\xe9.\n", "latin1"));
  world.write("user_plain.md", "No frontmatter at all.\n");
  world.write("MEMORY.md", "- [plain](user_plain.md): a text that the index names\n");
  const mark = (file: string, what: object) => call(page, "POST", "/api/mark", { directory: 0, file, ...what });
  for (const file of ["user_open.md", "user_bytes.md", "user_plain.md"]) {
    const before = fs.readFileSync(path.join(world.dir, file));
    for (const what of [{ pinned: true }, { isTrue: true }])
      expect(await errorOf(mark(file, what))).toMatchObject({ code: "broken", message: expect.stringContaining(file) });
    expect(fs.readFileSync(path.join(world.dir, file))).toEqual(before);
  }
  expect(await mark("user_good.md", { pinned: false })).toMatchObject({ message: "Not pinned: good", entry: null });
  expect(await mark("user_good.md", { pinned: true })).toMatchObject({ message: "Pinned good" });
  expect(await mark("user_good.md", { pinned: true })).toMatchObject({ message: "Already pinned: good", entry: null });
});

const STEP = { kind: "create", file: "user_new.md", text: "---\nname: new\n---\n\nx\n", from: [], reason: "r" };

it.each([
  ["a step that is none", [null]],
  ["a step of another kind", [{ kind: "run", file: "user_new.md" }]],
  ["a step without its files", [{ kind: "merge", into: "user_new.md", text: "x", reason: "r" }]],
  ["a list that is none", [{ kind: "reindex", dead: [1], reason: "r" }]],
  ["a name that leads out", [STEP, { ...STEP, file: "../out.md" }]],
  ["a source that leads out", [{ ...STEP, from: ["/etc/passwd"] }]],
])("a kept plan with %s is no plan", async (_, ops) => {
  const { world, page } = await makePage();
  const keep = (steps: unknown[]) => world.write(".memdir/dream-plan.json", JSON.stringify({ ops: steps, base: {} }));
  keep([STEP, { kind: "reindex", dead: ["../gone.md"], reason: "r" }]);
  expect(await ofKind(page, "dream")).toHaveLength(2);
  keep(ops);
  expect(await ofKind(page, "dream")).toEqual([]);
});

it("a page that only reads offers no verbs", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("bare", { when: [] }));
  const { page } = await makePage({ world, readOnly: true });
  expect((await review(page)).items.map(({ verbs }) => verbs)).toEqual([["open"]]);
});

it("merges nothing that changed meanwhile, with itself, across directories, or with a secret", async () => {
  const { world, memdir, page } = await makePage({ world: await makeUserWorld("elsewhere") });
  await memdir.save(note("one"));
  await memdir.save(note("two"));
  const [keep, other] = ["user_one.md", "user_two.md"].map((file) => ({ directory: 0, file })) as [Ref, Ref];
  const [left, right] = [world.read(keep.file), world.read(other.file)];
  const merge = (more: object) =>
    errorOf(call(page, "POST", "/api/merge", { keep, other, text: left, left, right, ...more }));
  expect((await merge({ right: "something else" })).code).toBe("conflict");
  expect((await merge({ left: "something else" })).code).toBe("conflict");
  expect((await merge({ other: keep, right: left })).code).toBe("usage");
  const at = memdir.directories.findIndex(({ scope }) => scope === "user");
  expect((await merge({ other: { directory: at, file: "user_elsewhere.md" } })).message).toContain(
    "different directories",
  );
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  const refused = await merge({ text: `${left}\n${secret}` });
  expect(refused.code).toBe("secret");
  expect(refused.message).not.toContain(secret);
  expect([world.read(keep.file), world.read(other.file)]).toEqual([left, right]);
});
