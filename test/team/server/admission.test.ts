/** What a token may ask for before it costs the database anything. */

import { beforeEach, describe, expect, it } from "vitest";
import { SERVER_LIMITS } from "../../../src/team/server/route.ts";
import { START } from "../../world.ts";
import { APP, type Desk, note, openDesk } from "./desk.ts";
import { type MemoryData, openMemoryData } from "./memory-data.ts";

const NEW = { "if-none-match": "*" };

describe("admission", () => {
  let desk: Desk;
  let data: MemoryData;

  beforeEach(async () => {
    const clock = { now: new Date(START) };
    data = openMemoryData(() => clock.now);
    desk = await openDesk(data, clock, { ...SERVER_LIMITS, rate: { requests: 40, seconds: 10 } });
  });

  const wrong = (i: number) => `memdir_acme_${String(i).padStart(43, "x")}`;

  it("stops looking up tokens that are wrong after a few, while known ones go on", async () => {
    expect((await desk.ask("GET", `${APP}/memories`)).status).toBe(200);
    data.calls = [];
    const statuses = [];
    for (let i = 0; i < 100; i++) statuses.push((await desk.ask("GET", `${APP}/memories`, { token: wrong(i) })).status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(80);
    expect(data.calls.filter((call) => call === "enter")).toHaveLength(20);
    expect((await desk.ask("GET", `${APP}/memories`)).status).toBe(200);
    desk.clock.now = new Date(desk.clock.now.getTime() + 10_000);
    expect((await desk.ask("GET", `${APP}/memories`, { token: wrong(1) })).status).toBe(401);
  });

  it("hears who comes for the first time during a flood of wrong tokens from many addresses", async () => {
    const from = (address: string, token: string) =>
      desk.ask("GET", `${APP}/memories`, { token, headers: { "x-forwarded-for": address } });
    const statuses = [];
    for (let i = 0; i < 400; i++) statuses.push((await from(`10.0.0.${i % 40}`, wrong(i))).status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(100);
    expect((await from("10.0.1.1", desk.tokens["acme rita"] ?? "")).status).toBe(200);
    expect((await from("2001:db8::5", wrong(500))).status).toBe(401);
  });

  it("counts a large memory as several requests, and says how long to wait", async () => {
    await desk.ask("GET", "/v1/teams/acme");
    const big = note("x ".repeat(25_000));
    const headers = { ...NEW, "content-length": String(big.length) };
    const statuses = [];
    for (let i = 0; i < 5; i++)
      statuses.push((await desk.ask("PUT", `${APP}/memories/m${i}.md`, { body: big, headers })).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const told = await desk.ask("PUT", `${APP}/memories/m9.md`, { body: big, headers });
    const wait = Number(told.headers.get("retry-after"));
    desk.clock.now = new Date(desk.clock.now.getTime() + wait * 1000);
    expect((await desk.ask("PUT", `${APP}/memories/m9.md`, { body: big, headers })).status).toBe(200);
  });

  it("does not depend on the clocks of other servers", async () => {
    // Another process whose clock is 15 seconds ahead: both count for themselves.
    const ahead = { now: new Date(desk.clock.now.getTime() + 15_000) };
    const other = await openDesk(
      openMemoryData(() => ahead.now),
      ahead,
      {
        ...SERVER_LIMITS,
        rate: { requests: 40, seconds: 10 },
      },
    );
    for (const { ask } of [desk, other]) {
      let refused = 0;
      for (let i = 0; i < 60; i++) if ((await ask("GET", "/v1/teams/acme")).status === 429) refused++;
      expect(refused).toBe(20);
    }
  });
});
