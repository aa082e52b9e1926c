import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { logSurfaced } from "../../src/recall/surface-log.ts";

import type { MemoryView, Ref } from "../../src/web/api.ts";
import { putSession } from "../ui/shop.ts";
import { errorOf, HOUR, note } from "../world.ts";
import { call, HOSTILE, makePage, makeUserWorld, type OpenPage, rowOf } from "./open-page.ts";

async function open(page: OpenPage["page"], ref: Ref): Promise<MemoryView> {
  return (await call(page, "GET", "/api/memory", { ...ref })) as MemoryView;
}

it("shows fields, body, cues, links both ways, provenance, history and where it was surfaced", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("target", { when: ["when asked"], source: { by: "inferred", session: "s1", message: null } }));
  await memdir.save(note("other", { body: "See [[target]] and [[nobody]].", links: ["target"] }));
  world.now = new Date(world.now.getTime() + HOUR);
  const { text } = await memdir.text("target");
  await memdir.edit("target", text, text.replace("Body of target.", "Another **body**."));
  const memories = [{ file: "user_target.md", scope: "project", why: ["words: a"] }];
  logSurfaced(world.dir, { at: world.now, session: "s", door: "hook", prompt: "p q", memories });
  const view = (await call(page, "GET", "/api/memory", { directory: 0, file: "user_target.md" })) as MemoryView;
  expect(view.row.name).toBe("target");
  expect(view.text).toBe(world.read("user_target.md"));
  // What is shown as what it means is not repeated as a field.
  expect(view.fields).toEqual([]);
  expect(view.body).toEqual([
    {
      kind: "p",
      children: [
        { kind: "text", text: "Another " },
        { kind: "strong", children: [{ kind: "text", text: "body" }] },
        { kind: "text", text: "." },
      ],
    },
  ]);
  expect(view.cues).toEqual(["when asked"]);
  expect(view.links).toEqual({ to: [], from: [{ directory: 0, file: "user_other.md", name: "other" }] });
  expect(view.provenance).toContainEqual({ key: "said by", value: "inferred" });
  expect(view.provenance).toContainEqual({ key: "session", value: "s1" });
  expect(view.surfaced).toEqual([
    { at: world.now.toISOString(), adapter: "hook", session: "s", why: ["words: a"], prompt: null, used: null },
  ]);
  expect(view.history.map(({ action, canUndo, undone }) => [action, canUndo, undone])).toEqual([
    ["edit", true, false],
    ["save", false, false],
  ]);
  expect(view.history[0]!.diff.filter(({ kind }) => kind === "added").map(({ text }) => text)).toContain(
    "Another **body**.",
  );
  const other = await open(page, { directory: 0, file: "user_other.md" });
  expect(other.links.to).toEqual([{ directory: 0, file: "user_target.md", name: "target" }, { name: "nobody" }]);
});

it("says to which prompt it was shown, and what of it the answer names", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("deploys", { type: "project", body: "Run `npm run ship` from the main branch." }));
  const session = "11111111-0000-4000-8000-000000000001";
  const said = ["how do we ship it", "With `npm run ship`.", "and the weather", "It rains."];
  putSession(world, session, world.now, said);
  const memories = [{ file: "project_deploys.md", scope: "project", why: ["words: ship"] }];
  for (const prompt of [said[0] as string, said[2] as string])
    logSurfaced(world.dir, { at: world.now, session, door: "hook", prompt, memories });
  const { surfaced } = await open(page, { directory: 0, file: "project_deploys.md" });
  expect(surfaced.map(({ prompt, used }) => [prompt, used])).toEqual([
    ["and the weather", ""],
    ["how do we ship it", "npm run ship"],
  ]);
});

it("list and memory say the same about a text that was changed since it was checked", async () => {
  const { world, memdir, page } = await makePage();
  fs.mkdirSync(path.join(world.project, "src"), { recursive: true });
  fs.writeFileSync(path.join(world.project, "src", "a.ts"), "export const a = 1;\n");
  world.git("init", "-q");
  world.git("add", ".");
  world.git("commit", "-qm", "one");
  await memdir.save(note("names", { type: "project", body: "See `src/a.ts`." }));
  await memdir.verify();
  const file = "project_names.md";
  world.write(file, world.read(file).replace("See", "Look at"));
  const { row } = await open(page, { directory: 0, file });
  expect(row.verdict?.state).toBe("holds");
  expect((await rowOf(page, "names")).verdict).toEqual(row.verdict);
});

it("claims come with their verdict and evidence, silenced ones too", async () => {
  const { world, page } = await makePage();
  fs.mkdirSync(path.join(world.project, "src"));
  fs.writeFileSync(path.join(world.project, "src/auth.ts"), "export const a = 1;\n");
  world.git("init", "-q");
  world.git("add", ".");
  world.git("commit", "-qm", "one");
  world.write(
    "c.md",
    "---\nname: c\ntype: project\nverify_ignore:\n  - src/never.ts\n---\n\nLook at `src/auth.ts`, `src/never.ts` and `src/gone.ts`.\n",
  );
  const { claims } = await open(page, { directory: 0, file: "c.md" });
  expect(claims.find(({ text }) => text === "src/auth.ts")).toMatchObject({ kind: "path", line: 8, verdict: "holds" });
  expect(claims.length).toBeGreaterThan(1);
});

it("takes no path out of the directories and no file that the listing does not show", async () => {
  const { world, memdir, page } = await makePage();
  await memdir.save(note("a"));
  fs.writeFileSync(path.join(world.top, "outside.md"), "secret text");
  for (const file of [
    "../outside.md",
    "/etc/passwd",
    "..\\outside.md",
    "%2e%2e/outside.md",
    ".memdir/journal.jsonl",
    "MEMORY.md",
    "user_a.md/../../outside.md",
    "a\0.md",
  ]) {
    for (const [method, route, sent] of [
      ["GET", "/api/memory", {}],
      ["POST", "/api/check", { base: "x", text: "y" }],
      ["PUT", "/api/memory", { base: "x", text: "y" }],
      ["POST", "/api/forget", {}],
      ["POST", "/api/show", {}],
      ["POST", "/api/rename", { to: "n" }],
    ] as const) {
      const error = await errorOf(call(page, method, route, { directory: 0, file, ...sent }));
      const codes = file.includes("\0") ? ["usage"] : ["outside", "not-found", "conflict"];
      expect(codes, `${route} ${error.message}`).toContain(error.code);
      expect(JSON.stringify(error.details ?? "")).not.toContain("secret text");
    }
  }
  expect((await errorOf(open(page, { directory: 99, file: "user_a.md" }))).code).toBe("not-found");
  expect(fs.readFileSync(path.join(world.top, "outside.md"), "utf8")).toBe("secret text");
});

it("shows what cannot be read with its problem, and a link without following it", async () => {
  const { world, page } = await makePage();
  world.write("fine.md", "Only text.\n");
  fs.writeFileSync(path.join(world.top, "outside.md"), "outside text");
  fs.symlinkSync(path.join(world.top, "outside.md"), world.path("link.md"));
  const link = await open(page, { directory: 0, file: "link.md" });
  expect(link.text).toBe("");
  expect(link.row.problems[0]).toContain("symbolic link");
  const fine = await open(page, { directory: 0, file: "fine.md" });
  expect(fine.fields).toEqual([]);
  expect(fine.row.problems[0]).toContain("no frontmatter");
});

it("markup in name, description, cue, body and file name stays text", async () => {
  const { world, page } = await makePage();
  const file = "<b>x<b>.md";
  world.write(
    file,
    `---\nname: ${HOSTILE.script}\ndescription: ${HOSTILE.image}\ntype: user\nwhen:\n  - ${HOSTILE.image}\nmetadata:\n  node: ${HOSTILE.script}\n---\n\n${HOSTILE.script}\n\n[a](javascript:alert(1)) ${HOSTILE.rtl} ${HOSTILE.cjk}\n`,
  );
  const view = await open(page, { directory: 0, file });
  expect(view.row.name).toBe(HOSTILE.script);
  expect(view.cues).toEqual([HOSTILE.image]);
  expect(view.fields).toContainEqual({ key: "metadata.node", value: HOSTILE.script });
  expect(JSON.stringify(view.body)).not.toContain("javascript:");
  expect(view.body[0]).toEqual({ kind: "p", children: [{ kind: "text", text: HOSTILE.script }] });
});

it("a memory of another directory is known by its number, and so is its journal", async () => {
  const { memdir, page } = await makePage({ world: await makeUserWorld("same") });
  await memdir.save(note("same"));
  const at = memdir.directories.findIndex(({ scope }) => scope === "user");
  const view = await open(page, { directory: at, file: "user_same.md" });
  expect(view.text).toContain("Of the user.");
  expect(view.history.map(({ id }) => id)).toEqual(["user:1"]);
});
