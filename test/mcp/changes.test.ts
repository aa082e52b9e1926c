/** What a client hears of without asking: changes of memories on disk, and how far a long call is. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeWorld, note } from "../world.ts";
import { MODERN, makeMcpOptions, openLegacyWire, openWire } from "./wire.ts";

const URI = "memory://project/user_my_role.md";
const KEY = "io.modelcontextprotocol/subscriptionId";

it("tells a client of the earlier era what another program changes", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  await memdir.save(note("my role"));
  const wire = await openLegacyWire(makeMcpOptions(world));
  expect(wire.welcome.capabilities.resources).toEqual({ subscribe: true, listChanged: true });
  await wire.ask("resources/list");
  expect((await wire.ask("resources/subscribe", { uri: URI })).result).toEqual({});
  await memdir.save(note("my role", { body: "Another text." }));
  expect(await wire.next()).toMatchObject({ method: "notifications/resources/updated", params: { uri: URI } });
  await wire.ask("resources/unsubscribe", { uri: URI });
  await memdir.forget("my role");
  expect(await wire.next()).toEqual({ jsonrpc: "2.0", method: "notifications/resources/list_changed" });
  wire.input.end();
  await wire.ended;
});

it("tells a listener of the later era what it asked for, and ends with the connection", async () => {
  const world = makeWorld();
  const wire = openWire(makeMcpOptions(world));
  const ended = wire.ask("subscriptions/listen", {
    ...MODERN,
    notifications: { resourcesListChanged: true, toolsListChanged: true },
  });
  expect(await wire.next()).toEqual({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { resourcesListChanged: true }, _meta: { [KEY]: "t1" } },
  });
  await (await world.open()).save(note("my role"));
  expect(await wire.next()).toMatchObject({
    method: "notifications/resources/list_changed",
    params: { _meta: { [KEY]: "t1" } },
  });
  wire.input.end();
  expect((await ended).result).toMatchObject({ resultType: "complete", _meta: { [KEY]: "t1" } });
  await wire.ended;
});

it("completes scopes, files and names", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  for (const name of ["my role", "the roles of others", "deploys"]) await memdir.save(note(name));
  const wire = await openLegacyWire(makeMcpOptions(world));
  const complete = async (ref: object, name: string, value: string) =>
    (await wire.ask("completion/complete", { ref, argument: { name, value } })).result.completion.values;
  const resource = { type: "ref/resource", uri: "memory://{scope}/{+file}" };
  expect(await complete(resource, "scope", "pro")).toEqual(["project"]);
  expect(await complete(resource, "file", "role")).toEqual(["user_my_role.md", "user_the_roles_of_others.md"]);
  expect(await complete({ type: "ref/prompt", name: "verify" }, "name", "the")).toEqual(["the roles of others"]);
  expect(await complete({ type: "ref/prompt", name: "remember" }, "what", "r")).toEqual([]);
});

it("tells how far a long call is, if it is asked to", async () => {
  const world = makeWorld();
  const memdir = await world.open();
  for (let i = 0; i < 40; i++)
    writeFileSync(join(world.project, `server${i}.ts`), `export function openServer${i}() {}\n`);
  await memdir.save(note("layout", { type: "project", body: "Call `openServer7` in `server7.ts` first." }));
  const wire = await openLegacyWire(makeMcpOptions(world));
  await wire.ask("tools/call", { name: "verify", arguments: {} });
  await wire.ask("tools/call", { name: "verify", arguments: {}, _meta: { progressToken: "p" } });
  const told = wire.lines.map((line) => JSON.parse(line)).filter(({ method }) => method === "notifications/progress");
  expect(told.map(({ params }) => params)).toEqual([
    { progressToken: "p", progress: 32, total: expect.any(Number), message: "files" },
  ]);
});
