import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { World } from "../world.ts";
import { closeAll, launchBrowser, openUi, type Ui } from "./browser.ts";
import { makeShop } from "./shop.ts";

let world: World;
let ui: Ui;
let elsewhere: http.Server;
/** What the other page's server was told: whatever leaked would come here. */
const told: string[] = [];

beforeAll(async () => {
  world = await makeShop();
  ui = await openUi(world);
  elsewhere = http.createServer((request, response) => {
    told.push(`${request.method} ${request.url}`);
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end("<!doctype html><title>elsewhere</title><body>");
  });
  elsewhere.listen(0, "127.0.0.1");
  await once(elsewhere, "listening");
});
afterAll(async () => {
  elsewhere?.close();
  await closeAll();
});

const origin = (name = "127.0.0.1") => `http://${name}:${(elsewhere.address() as AddressInfo).port}`;
/** Memories, the index, the journal and what waits; not what looking leaves behind, such as caches. */
const snapshot = () =>
  world
    .grep("")
    .filter((file) => file.includes("memory/") && /\.md$|journal|inbox/.test(file))
    .map((file) => [file, fs.readFileSync(`${world.top}/${file}`, "utf8")]);

/** Everything that a page can try against another origin; what came of each. */
async function attack(page: Page): Promise<Record<string, string>> {
  return page.evaluate(async (target) => {
    const found: Record<string, string> = {};
    const attempt = async (name: string, work: () => Promise<string>) => {
      found[name] = await work().catch((error: Error) => `failed ${error.name}`);
    };
    /** For what a browser may refuse without a word. */
    const orNothing = (work: () => Promise<string>) => () =>
      Promise.race([work(), new Promise<string>((resolve) => setTimeout(() => resolve("nothing"), 700))]);
    const body = JSON.stringify({ directory: 0, file: "project_rollback.md" });
    const read = (how: RequestInit) => async () => {
      const answer = await fetch(`${target}/api/memories`, how);
      return `${answer.type} ${answer.status} ${(await answer.text()).slice(0, 40)}`;
    };
    const load = (tag: "img" | "script" | "iframe" | "link" | "object", path: string) => () =>
      new Promise<string>((resolve) => {
        const element = document.createElement(tag);
        element.addEventListener("error", () => resolve("error"));
        element.addEventListener("load", () => {
          let inside = "closed";
          try {
            inside = String((element as HTMLIFrameElement).contentDocument?.body?.textContent ?? "closed").slice(0, 40);
          } catch {
            inside = "closed";
          }
          resolve(`load ${inside}`);
        });
        Object.assign(
          element,
          tag === "link"
            ? { rel: "stylesheet", href: target + path }
            : tag === "object"
              ? { data: target + path }
              : { src: target + path },
        );
        document.body.append(element);
      });
    const submit = (type: string) => async () => {
      const frame = Object.assign(document.createElement("iframe"), { name: `frame${type.length}` });
      const form = Object.assign(document.createElement("form"), {
        method: "post",
        action: `${target}/api/forget`,
        enctype: type,
        target: frame.name,
      });
      form.append(
        Object.assign(document.createElement("input"), {
          name: `{"directory":0,"file":"project_rollback.md","x":"`,
          value: `"}`,
        }),
      );
      document.body.append(frame, form);
      form.submit();
      await new Promise((resolve) => setTimeout(resolve, 150));
      return "sent";
    };
    await attempt("fetch", read({ credentials: "include" }));
    await attempt("fetch without cors", read({ mode: "no-cors", credentials: "include" }));
    await attempt(
      "live",
      () =>
        new Promise((resolve) => {
          const source = new EventSource(`${target}/api/live`, { withCredentials: true });
          source.onmessage = ({ data }) => resolve(`heard ${String(data).slice(0, 40)}`);
          source.onerror = () => resolve("error");
        }),
    );
    await attempt("image", load("img", "/api/memories"));
    await attempt("script", load("script", "/page.js"));
    await attempt("json as script", load("script", "/api/memories"));
    await attempt("style", load("link", "/page.css"));
    await attempt("frame", orNothing(load("iframe", "/")));
    await attempt("object", orNothing(load("object", "/")));
    await attempt("form", submit("text/plain"));
    await attempt("form encoded", submit("application/x-www-form-urlencoded"));
    await attempt("form parts", submit("multipart/form-data"));
    await attempt("post plain", read({ method: "POST", body, mode: "no-cors", credentials: "include" }));
    for (const method of ["POST", "PUT", "DELETE"])
      await attempt(`${method} as json`, async () => {
        const headers = { "content-type": "application/json", "x-memdir": "1" };
        return String((await fetch(`${target}/api/forget`, { method, headers, body, credentials: "include" })).status);
      });
    await attempt("beacon", async () => String(navigator.sendBeacon(`${target}/api/forget`, body)));
    await attempt("opened", async () => {
      const opened = window.open(`${target}/`);
      await new Promise((resolve) => setTimeout(resolve, 300));
      try {
        return `read ${opened?.document.body.textContent?.slice(0, 40)}`;
      } catch {
        return "closed";
      } finally {
        opened?.close();
      }
    });
    await attempt(
      "socket",
      () =>
        new Promise((resolve) => {
          const socket = new WebSocket(`${target.replace("http", "ws")}/api/live`);
          socket.onopen = () => resolve("open");
          socket.onerror = () => resolve("error");
        }),
    );
    return found;
  }, ui.server.url);
}

it.each([
  ["a page on another port", () => `${origin()}/evil`],
  ["a page on another name", () => `${origin("localhost")}/evil`],
  ["a page without an origin", () => "data:text/html,<!doctype html><title>evil</title><body>"],
])("%s reads nothing and changes nothing, with our cookie in the same browser", async (_, address) => {
  const before = snapshot();
  const page = await ui.context.newPage();
  await page.goto(address());
  const found = await attack(page);
  await page.close();
  expect(found).toEqual({
    fetch: "failed TypeError",
    "fetch without cors": expect.stringMatching(/^(opaque 0 |failed TypeError)$/),
    live: "error",
    image: "error",
    script: "error",
    "json as script": "error",
    style: "error",
    frame: expect.stringMatching(/^(load closed|error|nothing)$/),
    object: expect.stringMatching(/^(load closed|error|nothing)$/),
    form: "sent",
    "form encoded": "sent",
    "form parts": "sent",
    "post plain": expect.stringMatching(/^(opaque 0 |failed TypeError)$/),
    "POST as json": "failed TypeError",
    "PUT as json": "failed TypeError",
    "DELETE as json": "failed TypeError",
    beacon: expect.any(String),
    opened: expect.stringMatching(/^(closed|read (undefined|null|))$/),
    socket: "error",
  });
  expect(snapshot()).toEqual(before);
  expect(told.filter((line) => !/^GET \/(evil|favicon\.ico)$/.test(line))).toEqual([]);
  ui.faults();
});

it("a link from elsewhere into the page does not bring the cookie along, and shows nothing", async () => {
  const page = await ui.context.newPage();
  await page.goto(`${origin("localhost")}/evil`);
  await page.evaluate((target) => {
    const link = Object.assign(document.createElement("a"), { href: `${target}/`, textContent: "in" });
    document.body.append(link);
    link.click();
  }, ui.server.url);
  await page.waitForURL(`${ui.server.url}/`);
  expect(await page.locator("#page h1, .entry").count()).toBe(0);
  await page.close();
  ui.faults();
});

it("the address with the token works once: in another browser it is worth nothing", async () => {
  const browser = await launchBrowser();
  const page = await browser.newPage();
  const answer = await page.goto(ui.server.address);
  expect(answer?.status()).toBe(401);
  expect(await page.locator("body").textContent()).toContain("This page needs a new address");
  expect(await page.context().cookies()).toEqual([]);
  expect((await page.goto(`${ui.server.url}/api/memories`))?.status()).toBe(401);
  await browser.close();
});

it("the cookie is for this server alone, for no script and for no other site; the token is not in the address any more", async () => {
  const cookies = await ui.context.cookies(ui.server.url);
  expect(cookies).toMatchObject([
    { name: `memdir-${ui.server.port}`, httpOnly: true, sameSite: "Strict", path: "/", domain: "127.0.0.1" },
  ]);
  expect(await ui.page.evaluate(() => document.cookie)).toBe("");
  expect(ui.page.url()).not.toContain("token");
  expect(await ui.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain(
    cookies[0]?.value,
  );
});

it("another name for the same address is refused: rebinding", async () => {
  const browser = await launchBrowser();
  const context = await browser.newContext();
  await context.addCookies((await ui.context.cookies()).map((cookie) => ({ ...cookie, domain: "rebound.localhost" })));
  const page = await context.newPage();
  for (const name of ["rebound.localhost", "evil.localhost"]) {
    const answer = await page.goto(`http://${name}:${ui.server.port}/`);
    expect([name, answer?.status()]).toEqual([name, 403]);
    expect((await page.goto(`http://${name}:${ui.server.port}/api/memories`))?.status()).toBe(403);
  }
  await browser.close();
});

it("the policy stands in every answer, and holds: what a script in the page would try is refused", async () => {
  const seen: [string, string | undefined][] = [];
  ui.page.on("response", (response) => seen.push([response.url(), response.headers()["content-security-policy"]]));
  await ui.page.reload();
  await ui.show("map");
  await expect.poll(() => seen.length).toBeGreaterThan(5);
  for (const [url, policy] of seen) {
    expect([url, policy]).toEqual([
      url,
      expect.stringContaining("default-src 'none'; script-src 'self'; style-src 'self'"),
    ]);
    expect(policy).not.toContain("unsafe");
  }
  expect(ui.faults()).toEqual([]);
  const tried = await ui.page.evaluate(async (address) => {
    const script = Object.assign(document.createElement("script"), { textContent: "window.pwned = 1" });
    const image = Object.assign(document.createElement("img"), { src: `${address}/leak` });
    const outside = Object.assign(document.createElement("script"), { src: `${address}/leak.js` });
    document.body.append(script, image, outside);
    const sent = await fetch(`${address}/leak`, { mode: "no-cors" }).then(
      () => "sent",
      () => "refused",
    );
    return [sent, "pwned" in window];
  }, origin());
  expect(tried).toEqual(["refused", false]);
  expect(told.filter((line) => line.includes("leak"))).toEqual([]);
  const violations: string[] = [];
  await expect
    .poll(() => violations.push(...ui.faults().filter((fault) => fault.startsWith("policy"))))
    .toBeGreaterThanOrEqual(4);
});
