import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { beginServe } from "../cli/serve-call.ts";
import { requestOf, toTold } from "../team/server/desk.ts";
import { makeTemporary } from "../temporary.ts";
import { errorOf, makeWorld } from "../world.ts";

it("starts from nothing, keeps the token to a file, and comes back to the same team", async () => {
  const world = makeWorld();
  const data = path.join(makeTemporary("serve", "memory"), "data");
  const log = path.join(world.top, "requests.log");
  const first = beginServe(world, { data, log });
  const url = await first.url();
  const tokenFile = path.join(data, "admin-token");
  const token = fs.readFileSync(tokenFile, "utf8").trim();
  const said = first.printed.join("\n");
  expect(said).toContain(`memdir join ${url}/default/REPOSITORY --token-file ${tokenFile}`);
  expect(said + first.warned.join()).not.toContain(token);
  const ask = async (place: string) => toTold(await fetch(`${place}/v1/teams/default`, requestOf({}, token)));
  expect((await ask(url)).body).toMatchObject({ person: "ann", role: "admin" });

  const issue = { data, "issue-token": "ann", "token-file": path.join(world.top, "lost") };
  const busy = await errorOf(beginServe(world, issue).code);
  expect([busy.code, busy.message]).toEqual(["lock", expect.stringContaining("another process serves")]);

  first.end();
  expect(await first.code).toBe(0);
  const lines = fs.readFileSync(log, "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).route)).toEqual(["/v1/teams/:team"]);
  if (process.platform !== "win32") expect(fs.statSync(log).mode & 0o777).toBe(0o600);

  const issued = beginServe(world, issue);
  expect(await issued.code).toBe(0);
  const other = fs.readFileSync(issue["token-file"], "utf8").trim();
  expect(other).not.toBe(token);
  expect(issued.printed.join()).not.toContain(other);

  const second = beginServe(world, { data });
  const again = await second.url();
  expect(second.printed.join()).not.toContain("token");
  expect((await ask(again)).status).toBe(200);
  second.end();
  expect(await second.code).toBe(0);
});
