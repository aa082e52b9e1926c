import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { slugOf } from "../../src/project/locate.ts";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import type { SessionList, SessionView } from "../../src/web/api.ts";
import { errorOf, makeWorld, type World } from "../world.ts";
import { call, HOSTILE, makePage } from "./open-page.ts";

const FIRST = "11111111-0000-4000-8000-000000000001";
const SECOND = "22222222-0000-4000-8000-000000000002";
const OTHER = "33333333-0000-4000-8000-000000000003";
const AT = "2026-03-10T11:15:00.000Z";

function put(world: World, folder: string, id: string, messages: { role: string; content: unknown }[]): void {
  const dir = path.join(world.home, ".claude", "projects", folder);
  fs.mkdirSync(dir, { recursive: true });
  const lines = messages.map((message, at) => ({
    type: message.role,
    uuid: `${id}-${at}`,
    parentUuid: at === 0 ? null : `${id}-${at - 1}`,
    cwd: world.project,
    timestamp: AT,
    message: message.role === "assistant" ? { id: `m${at}`, ...message } : message,
  }));
  fs.writeFileSync(path.join(dir, `${id}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const list = async (page: Parameters<typeof call>[0], q = "") =>
  ((await call(page, "GET", "/api/sessions", { q })) as SessionList).sessions;

it("lists and searches this project's sessions, and opens one", async () => {
  const world = makeWorld();
  const here = slugOf(world.project);
  put(world, here, FIRST, [
    { role: "user", content: `Why is the pool full? ${HOSTILE.script}` },
    {
      role: "assistant",
      content: [
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "x".repeat(50_000) }] },
    { role: "assistant", content: [{ type: "text", text: "It is full." }] },
  ]);
  put(world, here, SECOND, [{ role: "user", content: "Write the notes" }]);
  put(world, "-other", OTHER, [{ role: "user", content: "A pool elsewhere" }]);
  const { page } = await makePage({ world });
  expect((await list(page)).map(({ id }) => id).sort()).toEqual([FIRST, SECOND]);
  const [hit, ...more] = await list(page, "pool");
  expect(more).toEqual([]);
  expect(hit).toMatchObject({ id: FIRST });
  expect(hit?.excerpt).toContain("pool full");
  const view = (await call(page, "GET", "/api/session", { id: FIRST })) as SessionView;
  expect(view.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "assistant"]);
  expect(view.messages[0]).toEqual({ role: "user", at: AT, text: `Why is the pool full? ${HOSTILE.script}` });
  expect(view.messages[3]!.text.length).toBeLessThan(2_100);
  expect(view.isCut).toBe(false);
  expect((await errorOf(call(page, "GET", "/api/session", { id: OTHER }))).code).toBe("not-found");
  for (const id of ["../../../etc/passwd", "..", "x", `${FIRST}/..`]) {
    expect((await errorOf(call(page, "GET", "/api/session", { id }))).code).toBe("not-found");
  }
});

it("masks secrets in what was said and in what tools answered", async () => {
  const world = makeWorld();
  const secret = `ghp_${"aB3dE6gH9k".repeat(4).slice(0, 36)}`;
  put(world, slugOf(world.project), FIRST, [
    { role: "user", content: `Use ${secret}` },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "t1", name: "Bash", input: { command: `curl ${secret}` } }],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t1", content: `${"x ".repeat(990)}${secret}` }],
    },
  ]);
  const { page } = await makePage({ world });
  const view = JSON.stringify(await call(page, "GET", "/api/session", { id: FIRST }));
  expect(view).toContain("Use [redacted: github-token]");
  expect(view).not.toContain(secret.slice(0, 10));
});

it("cuts long ones, takes broken lines for none, and has nothing where there is nothing", async () => {
  const world = makeWorld();
  const { page } = await makePage({ world });
  expect(await list(page)).toEqual([]);
  const here = slugOf(world.project);
  const messages = Array.from({ length: 900 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: i % 2 === 0 ? `question ${i}` : [{ type: "text", text: `answer ${i}` }],
  }));
  put(world, here, FIRST, messages);
  put(world, here, SECOND, [{ role: "user", content: "y ".repeat(1_000_000) }]);
  fs.appendFileSync(path.join(world.home, ".claude", "projects", here, `${FIRST}.jsonl`), "{half\n");
  const long = (await call(page, "GET", "/api/session", { id: FIRST })) as SessionView;
  expect([long.messages.length, long.isCut]).toEqual([400, true]);
  expect(long.messages[0]?.text).toBe("question 0");
  const huge = (await call(page, "GET", "/api/session", { id: SECOND })) as SessionView;
  expect(JSON.stringify(huge).length).toBeLessThan(500_000);
  expect(huge.isCut).toBe(true);
});

it("traces a session: what it was shown at which prompt and why, and what was learnt from it", async () => {
  const world = makeWorld();
  put(world, slugOf(world.project), FIRST, [
    { role: "user", content: "Hello there." },
    { role: "assistant", content: [{ type: "text", text: "Hello." }] },
    { role: "user", content: "How do we deploy?" },
  ]);
  const source = `source: user session=${FIRST}`;
  world.write("project_deploys.md", `---\nname: deploys\ntype: project\n${source}\n---\n\nOn Fridays.\n`);
  const { page } = await makePage({ world });
  const memories = [{ file: "project_deploys.md", scope: "project", why: ["words: deploy"] }];
  logSurfaced(world.dir, { at: world.now, session: FIRST, door: "hook", prompt: "How do we deploy?", memories });
  expect(await list(page)).toMatchObject([{ id: FIRST, recalls: 1, learnt: 1 }]);
  const view = (await call(page, "GET", "/api/session", { id: FIRST })) as SessionView;
  const deploys = { directory: 0, file: "project_deploys.md", name: "deploys" };
  expect(view.shown).toMatchObject([{ message: 2, memories: [{ ...deploys, why: ["words: deploy"] }] }]);
  expect(view.learnt).toEqual([deploys]);
});
