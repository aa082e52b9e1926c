/** examples/many-projects.mjs at work: fifty projects in one process, 500 saves and 1,000 recalls that come together. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { makeWorld } from "../world.ts";

const PROGRAM = path.resolve(import.meta.dirname, "../../examples/many-projects.mjs");
const PROJECTS = 50;
const EACH = 10;

type Json = ReturnType<typeof JSON.parse>;

async function start() {
  const world = makeWorld();
  const folder = path.join(world.home, "projects");
  const child = spawn(process.execPath, [PROGRAM, folder], { cwd: world.project, env: world.env as NodeJS.ProcessEnv });
  const errors: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => errors.push(chunk));
  const [port] = await once(child.stdout.setEncoding("utf8"), "data");
  const at = (address: string) => `http://127.0.0.1:${Number(port)}/${address}`;
  const post = async (address: string, body: object): Promise<{ status: number; body: Json }> => {
    const response = await fetch(at(address), { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };
  const status = async (): Promise<Json> => (await fetch(at("status"))).json();
  const end = async () => {
    child.stdin.end();
    const [code] = await once(child, "exit");
    return { code, errors: errors.join("") };
  };
  return { folder, post, status, end };
}

const all = Array.from({ length: PROJECTS * EACH }, (_, i) => ({ project: `p-${i % PROJECTS}`, topic: `topic${i}x` }));

it("serves fifty projects at once, answers others meanwhile, keeps everything and ends by itself", async () => {
  const { folder, post, status, end } = await start();
  /** How often the server answered another request while it had this work to do: never, if it did all in one go. */
  const beside = async <T>(work: Promise<T>): Promise<{ result: T; answered: number }> => {
    let [isDone, answered] = [false, 0];
    const result = work.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await status();
      if (!isDone) answered++;
    }
    return { result: await result, answered };
  };
  const saves = await beside(
    Promise.all(
      all.map(({ project, topic }) =>
        post(`${project}/save`, {
          ...{ type: "project", name: topic, description: `what ${project} decided about ${topic}` },
          ...{ body: `The ${topic} of ${project} is deployed with kubectl.`, when: [`rolling out ${topic}`] },
        }),
      ),
    ),
  );
  expect(saves.result.map((saved) => [saved.status, saved.body.action])).toEqual(all.map(() => [200, "created"]));
  expect(saves.answered).toBeGreaterThan(20);
  for (const { project, topic } of all)
    expect(fs.readFileSync(path.join(folder, project, "MEMORY.md"), "utf8")).toContain(topic);

  const recallAll = () =>
    Promise.all(
      all.map(async ({ project, topic }) => {
        const { body } = await post(`${project}/recall`, { prompt: `how do we deploy ${topic} with kubectl?` });
        return body.memories[0]?.name;
      }),
    );
  const recalls = await beside(recallAll());
  expect(recalls.result).toEqual(all.map(({ topic }) => topic));
  expect(recalls.answered).toBeGreaterThan(20);

  const before = await status();
  expect(before.projects).toBe(PROJECTS);
  expect(await recallAll()).toEqual(all.map(({ topic }) => topic));
  const after = await status();
  // `npm run bench:library` measures some 150 in all; a copy of every store in memory for each call would be gigabytes.
  expect([after.megabytes < 700, after.megabytes - before.megabytes < 100, after]).toEqual([true, true, after]);

  expect(await post("p-1/save", { type: "banana" })).toMatchObject({ status: 400 });
  expect(await post("../save", {})).toMatchObject({ status: 400 });
  expect(await post("p-1/recall", {})).toMatchObject({ status: 200, body: { memories: [] } });
  expect(await end()).toEqual({ code: 0, errors: "" });
});
