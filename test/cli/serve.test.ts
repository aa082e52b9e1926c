import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { OpenedData } from "../../src/team/server/data.ts";
import { callerOf } from "../team/server/caller.ts";
import { requestOf, toTold } from "../team/server/desk.ts";
import { openMemoryData } from "../team/server/memory-data.ts";
import { until } from "../until.ts";
import { errorOf, makeWorld } from "../world.ts";
import { beginServe } from "./serve-call.ts";

it("makes a team, keeps the token to a file, serves, and ends in order", async () => {
  const world = makeWorld();
  const memory = openMemoryData(() => world.now);
  const opened: OpenedData = { data: memory, name: "memory", hasVectors: false, isEmbedded: false };
  const folder = path.join(world.home, ".memdir-server");
  const call = beginServe(world, {}, { open: async () => opened });
  const url = await call.url();
  const tokenFile = path.join(folder, "admin-token");
  const token = fs.readFileSync(tokenFile, "utf8").trim();
  expect(call.printed.join("\n")).toContain(`memdir join ${url}/default/REPOSITORY --token-file ${tokenFile}`);
  const told = await toTold(await fetch(`${url}/v1/teams/default`, requestOf({}, token)));
  expect(told.body).toMatchObject({ person: "ann", role: "admin" });
  expect(call.warned.map((line) => JSON.parse(line).status)).toEqual([200]);
  call.end();
  expect([await call.code, memory.closed]).toEqual([0, true]);
  expect(call.printed.join() + call.warned.join()).not.toContain(token);

  const issue = { "issue-token": "ann" };
  const issued = beginServe(world, issue, { open: async () => ({ ...opened, data: memory }) });
  expect(await issued.code).toBe(0);
  const other = fs.readFileSync(path.join(folder, "token-ann"), "utf8").trim();
  expect(await callerOf(memory, other)).toMatchObject({ person: "ann" });
  expect(issued.printed.join()).not.toContain(other);
  const nobody = beginServe(world, { "issue-token": "../eve" }, { open: async () => opened });
  expect((await errorOf(nobody.code)).code).toBe("not-found");
});

it("answers --json with one value and no token", async () => {
  const world = makeWorld();
  const data = openMemoryData(() => world.now);
  const open = async (): Promise<OpenedData> => ({ data, name: "memory", hasVectors: false, isEmbedded: false });
  const call = beginServe(world, { json: true, team: "acme", admin: "zoë" }, { open });
  await until(() => call.answers.length > 0);
  const tokenFile = path.join(world.home, ".memdir-server", "admin-token");
  expect(call.answers).toEqual([
    { url: expect.any(String), port: expect.any(Number), team: "acme", database: "memory", tokenFile },
  ]);
  call.end();
  expect([await call.code, call.printed]).toEqual([0, []]);
});

it("refuses what does not go together, before anything is opened", async () => {
  const world = makeWorld();
  const refusals: [Record<string, string | boolean>, RegExp][] = [
    [{ "tls-cert": "c.pem" }, /go together/],
    [{ "tls-cert": "c.pem", "tls-key": "k.pem", "behind-tls": true }, /give one of them/],
    [{ "token-file": "f" }, /--issue-token/],
    [{ database: "mysql://h/d" }, /^the URL of the database must be postgres:/],
    [{ database: "postgres://u:hunter2@h/d" }, /^--database must not hold a password/],
    [{ port: "http" }, /--port/],
    [{ host: "0.0.0.0" }, /--behind-tls/],
  ];
  for (const [options, message] of refusals) {
    const data = path.join(world.top, "data");
    const error = await errorOf(beginServe(world, { data, ...options }).code);
    expect([error.code, error.message]).toEqual(["usage", expect.stringMatching(message)]);
    expect(error.message).not.toContain("hunter2");
    expect(fs.existsSync(data)).toBe(false);
  }
  const env = { ...world.env, MEMDIR_DATABASE_URL: "mysql://u:hunter2@h/d" };
  expect((await errorOf(beginServe(world, {}, { env }).code)).message).not.toContain("hunter2");
});
