import { expect, it, onTestFinished } from "vitest";
import { lastPlan } from "../../src/learn/dream.ts";
import { mainOf, openPage } from "../../src/web/answer.ts";
import type { Job } from "../../src/web/api.ts";
import { type JobsOptions, openJobs } from "../../src/web/jobs.ts";
import { startModelServer } from "../model-server/model-server.ts";
import { PATIENT } from "../until.ts";
import { errorOf, makeWorld, note, type World } from "../world.ts";
import { startStub } from "./stub-page.ts";

async function openTold(world: World, options: Partial<JobsOptions> = {}) {
  const told: Job[] = [];
  const page = openPage({
    memdir: await world.open(),
    env: world.env,
    now: () => world.now,
    log: (message) => world.logged.push(message),
    readOnly: false,
    version: "1.2.3",
  });
  let ids = 0;
  const jobs = openJobs(page, { tell: (job) => void told.push(job), newId: () => `job-${++ids}`, ...options });
  const ended = async (id: string) => {
    await expect.poll(() => told.find((job) => job.id === id && job.state !== "running"), PATIENT).toBeDefined();
    return told.find((job) => job.id === id && job.state !== "running") as Job;
  };
  return { page, jobs, told, ended };
}

it("verifies what memories claim", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("a"));
  await memdir.save(note("b", { body: "It is in `src/nowhere.ts`." }));
  const { jobs, ended } = await openTold(world);
  const job = jobs.start("verify");
  expect(job).toEqual({ id: "job-1", kind: "verify", state: "running", done: 0, total: 0, says: "" });
  expect(await ended(job.id)).toMatchObject({ state: "done", says: expect.stringMatching(/^2 memories checked, /) });
  expect(jobs.list()).toMatchObject([{ id: "job-1", state: "done" }]);
});

it("makes the recall cache whole", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("a"));
  const { jobs, ended } = await openTold(world);
  expect(await ended(jobs.start("warm").id)).toMatchObject({
    state: "done",
    says: expect.stringMatching(/^1 memory, /),
  });
});

it("plans a dream by rules, which waits; nothing is written", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  const body = "The staging database is reset every night at three; never keep test data there over night.";
  await memdir.save(note("staging reset", { type: "project", body }));
  await memdir.save(note("staging database reset", { type: "project", body }));
  const { page, jobs, ended } = await openTold(world);
  const files = world.files().map((file) => [file, world.read(file)]);
  const first = jobs.start("dream");
  const { state, says } = await ended(first.id);
  expect(state).toBe("done");
  expect(says).toMatch(/^a plan: 1 merged/);
  expect(
    lastPlan(mainOf(page.memdir))
      .read()
      ?.ops.map(({ kind }) => kind),
  ).toContain("merge");
  expect(world.files().map((file) => [file, world.read(file)])).toEqual(files);
});

it("says why a dream came to nothing: a model that is not configured right", async () => {
  const world = makeWorld({ env: { MEMDIR_MODEL: "nobody/knows" } });
  const { page, jobs, ended } = await openTold(world);
  const failed = await ended(jobs.start("dream").id);
  expect([failed.state, lastPlan(mainOf(page.memdir)).read()]).toEqual(["failed", null]);
  expect(failed.says).toContain("nobody");
});

it("is stopped while a model thinks: the plan that waited stays", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const env = { MEMDIR_MODEL: "anthropic/m", ANTHROPIC_API_KEY: "sk-x", ANTHROPIC_BASE_URL: server.url };
  const world = makeWorld({ env });
  await (await world.open()).save(note("a"));
  const { page, jobs, ended } = await openTold(world);
  const waiting = { ops: [], base: { "a.md": "x" } };
  lastPlan(mainOf(page.memdir)).write(waiting);
  server.queue(() => new Promise(() => {}));
  const job = jobs.start("dream");
  await expect.poll(() => server.requests.length, PATIENT).toBe(1);
  jobs.stop(job.id);
  expect(await ended(job.id)).toMatchObject({ state: "stopped", says: "it was stopped" });
  expect(lastPlan(mainOf(page.memdir)).read()).toEqual(waiting);
});

it("has one of a kind at a time, tells its progress, and stops it", async () => {
  const world = makeWorld();
  let begun = () => {};
  const running = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const { jobs, told, ended } = await openTold(world, {
    everyMs: 0,
    works: {
      warm: (_, { signal, progress }) =>
        new Promise((_resolve, reject) => {
          progress(1, 3);
          progress(2, 3);
          signal.addEventListener("abort", () => reject(new Error("aborted")));
          begun();
        }),
      verify: async () => "fine",
    },
  });
  const job = jobs.start("warm");
  await running;
  expect(told.map(({ done, total }) => [done, total])).toEqual([
    [0, 0],
    [1, 3],
    [2, 3],
  ]);
  const refused = await errorOf((async () => jobs.start("warm"))());
  expect(refused.code).toBe("conflict");
  expect(await ended(jobs.start("verify").id)).toMatchObject({ state: "done", says: "fine" });
  jobs.stop(job.id);
  expect(await ended(job.id)).toMatchObject({ state: "stopped", done: 2, total: 3 });
  // Stopped again, it stays as it is; another may begin.
  expect(jobs.stop(job.id).state).toBe("stopped");
  expect(jobs.start("warm").id).toBe("job-3");
  for (const kind of ["", "toString", "__proto__", "rm"]) {
    expect((await errorOf((async () => jobs.start(kind))())).code).toBe("usage");
  }
  expect((await errorOf((async () => jobs.stop("job-9"))())).code).toBe("not-found");
  await jobs.close();
  expect(jobs.list().find(({ kind }) => kind === "warm")?.state).toBe("stopped");
  expect((await errorOf((async () => jobs.start("warm"))())).code).toBe("conflict");
});

it("keeps what nobody should read out of the page: only the log knows an unexpected failure", async () => {
  const world = makeWorld();
  const fail = async () => {
    throw new TypeError("x is not a function");
  };
  const { jobs, ended } = await openTold(world, { works: { verify: fail } });
  const { says } = await ended(jobs.start("verify").id);
  expect(says).not.toContain("function");
  expect(world.logged.join()).toContain("x is not a function");
});

it("is started, watched and stopped over the page", async () => {
  const { page, call, enter } = await startStub({
    works: {
      warm: (_, { signal }) => new Promise((_r, no) => signal.addEventListener("abort", () => no(new Error()))),
    },
  });
  const response = await fetch(`${page.url}/api/live`, { headers: { cookie: await enter() } });
  const started = await call({ path: "/api/jobs", method: "POST", body: '{"kind":"warm"}' });
  expect(started).toMatchObject({ status: 200, json: { kind: "warm", state: "running" } });
  expect((await call({ path: "/api/jobs", method: "POST", body: '{"kind":"warm"}' })).status).toBe(409);
  expect((await call({ path: "/api/jobs", method: "POST", body: "{}" })).status).toBe(400);
  expect((await call({ path: "/api/jobs" })).json).toEqual([started.json]);
  const where = `/api/jobs?id=${started.json.id}`;
  expect((await call({ path: where, method: "DELETE", headers: { "content-type": null } })).status).toBe(200);
  let text = "";
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.includes('"state":"stopped"')) break;
  }
  expect(text).toContain('"kind":"job"');
});
