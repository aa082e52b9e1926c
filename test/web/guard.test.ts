import { expect, it } from "vitest";
import { startStub, tell } from "./stub-page.ts";

const MINUTE = 60_000;

it("exchanges the one-time address for a strict cookie, once", async () => {
  const { page, ask } = await startStub();
  const path = page.newAddress().slice(page.url.length);
  expect(path).toMatch(/^\/\?token=[\w-]{43}$/);
  const first = await ask({ path });
  expect(first).toMatchObject({ status: 303, text: "" });
  expect(first.headers).toMatchObject({
    location: "/",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "set-cookie": [
      expect.stringMatching(new RegExp(`^memdir-${page.port}=[\\w-]{43}; Path=/; HttpOnly; SameSite=Strict$`)),
    ],
  });
  const cookie = String(first.headers["set-cookie"]).split(";", 1)[0] ?? "";
  expect(path).not.toContain(cookie.split("=")[1]);

  const again = await ask({ path });
  expect(again.status).toBe(401);
  expect(again.headers["set-cookie"]).toBeUndefined();
  expect(again.text).toContain("press Enter in the terminal");
  expect((await ask({ headers: { cookie } })).status).toBe(200);
  // Back in the history of a browser that is in: no second cookie, and no token in the address.
  const back = await ask({ path, headers: { cookie } });
  expect([back.status, back.headers["set-cookie"]]).toEqual([303, undefined]);
});

it.each([
  ["wrong", "/?token=AAAA"],
  ["empty", "/?token="],
  ["missing", "/"],
])("refuses a token that is %s, and says how to come in", async (_, path) => {
  const { page, ask } = await startStub();
  page.newAddress();
  const page401 = await ask({ path, headers: { accept: "text/html" } });
  expect(page401.status).toBe(401);
  expect(page401.headers).toMatchObject({ "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
  expect(page401.text).toContain("<code>memdir ui</code>");
  expect((await ask({ path: "/api/thing" })).json).toMatchObject({ problem: "token" });
  expect((await ask({ path: "/page.js" })).status).toBe(401);
});

it("refuses a token after ten minutes, and one that a newer address voids", async () => {
  const { world, page, ask } = await startStub();
  const pathOf = () => page.newAddress().slice(page.url.length);
  const old = pathOf();
  world.now = new Date(world.now.getTime() + 10 * MINUTE);
  expect((await ask({ path: old })).status).toBe(401);
  const voided = pathOf();
  const good = pathOf();
  expect((await ask({ path: voided })).status).toBe(401);
  world.now = new Date(world.now.getTime() + 10 * MINUTE - 1);
  expect((await ask({ path: good })).status).toBe(303);
});

it("takes a token only at the page's own address and by GET", async () => {
  const { page, ask } = await startStub();
  const path = page.newAddress().slice(page.url.length);
  for (const method of ["HEAD", "POST", "OPTIONS"]) expect((await ask({ path, method })).status).toBe(401);
  expect((await ask({ path: path.replace("/?", "/api/thing?") })).status).toBe(401);
  expect((await ask({ path })).status).toBe(303);
});

it("refuses a name that is not its own: rebinding", async () => {
  const { page, call, ask, asked } = await startStub();
  const hosts = [
    "evil.example",
    `evil.example:${page.port}`,
    "127.0.0.1",
    "127.0.0.1:1",
    `127.0.0.1.nip.io:${page.port}`,
  ];
  for (const host of [...hosts, `localhost:${page.port}.`, ` 127.0.0.1:${page.port} x`, `[::]:${page.port}`]) {
    // What is no name at all does not even reach us.
    expect([400, 403]).toContain((await call({ path: "/api/thing", headers: { host } })).status);
    const address = page.newAddress().slice(page.url.length);
    expect((await ask({ path: address, headers: { host } })).headers["set-cookie"]).toBeUndefined();
  }
  expect(asked).toEqual([]);
  for (const host of [`127.0.0.1:${page.port}`, `localhost:${page.port}`, `[::1]:${page.port}`]) {
    expect((await call({ path: "/api/thing", headers: { host } })).status).toBe(200);
  }
});

it("refuses pages of other origins, also with the cookie: reading, writing, asking beforehand", async () => {
  const { page, call, asked } = await startStub();
  const others = ["http://evil.example", "null", `https://127.0.0.1:${page.port}`, "http://127.0.0.1:1", ""];
  for (const origin of [...others, `http://localhost:${page.port}`]) {
    for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]) {
      const told = await call({ path: "/api/thing", method, headers: { origin } });
      expect([origin, method, told.status]).toEqual([origin, method, 403]);
      expect(Object.keys(told.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  }
  for (const site of ["cross-site", "same-site", "nonsense"]) {
    const headers = { "sec-fetch-site": site };
    expect((await call({ path: "/api/thing", headers })).status).toBe(403);
    expect((await call({ path: "/", headers: { ...headers, "sec-fetch-dest": "document" } })).status).toBe(403);
    const address = page.newAddress().slice(page.url.length);
    expect((await call({ path: address, headers })).status).toBe(403);
    expect((await call({ path: address })).status).toBe(303);
  }
  expect(asked).toEqual([]);
  const own = { origin: page.url, "sec-fetch-site": "same-origin" };
  expect((await call({ path: "/api/thing", method: "PUT", headers: own, body: "{}" })).status).toBe(200);
  expect((await call({ path: "/", headers: { "sec-fetch-site": "none" } })).status).toBe(200);
});

it("lets nothing be written without its header and type: forms, plain text, nothing at all", async () => {
  const { call, asked } = await startStub();
  const write = (headers: Record<string, string | null>, body = "{}", method = "PUT") =>
    call({ path: "/api/thing", method, headers, body });
  expect((await write({ "x-memdir": null })).json).toMatchObject({ problem: "header" });
  expect((await write({ "x-memdir": "2" })).status).toBe(403);
  const types = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain"];
  for (const type of [...types, "application/json; charset=utf-16", "application/jsonp", null]) {
    expect((await write({ "content-type": type })).status).toBe(415);
  }
  expect((await write({ "content-type": "text/plain" }, "x", "DELETE")).status).toBe(415);
  for (const method of ["PATCH", "TRACE", "OPTIONS"]) expect((await write({}, "{}", method)).status).toBe(405);
  expect(asked).toEqual([]);
  expect((await call({ path: "/api/thing?id=7", method: "DELETE", headers: { "content-type": null } })).status).toBe(
    200,
  );
  expect((await write({ "content-type": "application/json; charset=utf-8" }, '{"a":1}')).status).toBe(200);
  expect(asked).toEqual(['DELETE {"id":"7"}', 'PUT {"a":1}']);
});

it("knows no cookie but its own, whole", async () => {
  const { page, enter, ask, call } = await startStub();
  const other = await startStub();
  const cookie = await enter();
  const [name, value = ""] = cookie.split("=");
  const bad = [`${name}=`, `${name}=${value.slice(1)}`, `${name}=${value}x`, `other=${value}`, await other.enter()];
  for (const given of bad) expect((await ask({ path: "/api/thing", headers: { cookie: given } })).status).toBe(401);
  const among = `a=b; ${cookie}; memdir=x`;
  expect((await ask({ path: "/api/thing", headers: { cookie: among } })).status).toBe(200);
  // Each address lets one more browser in, up to a number; whoever came first comes again.
  for (let i = 0; i < 32; i++) await tell(page.port, { path: page.newAddress().slice(page.url.length) });
  expect((await call({ path: "/api/thing" })).status).toBe(401);
});
