/** The page in a real browser: the program that people start, chromium, and a watch over what the page does besides. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { World } from "../world.ts";

export const VIEWS = ["home", "memories", "review", "recall", "activity", "settings"] as const;

export const DESKTOP = { width: 1440, height: 900 };
export const TABLET = { width: 800, height: 900 };
export const PHONE = { width: 400, height: 800 };

const root = path.resolve(import.meta.dirname, "..", "..");

export interface Server {
  url: string;
  /** With the token that works once. */
  address: string;
  port: number;
  pid: number;
  end: () => Promise<number | null>;
}

const running = new Set<() => Promise<unknown>>();

/** Ends what this file has started, also where a test failed before it could. */
export async function closeAll(): Promise<void> {
  await Promise.allSettled([...running].map((end) => end()));
  running.clear();
}

export async function startServer(world: World, ...args: string[]): Promise<Server> {
  const env = { ...world.env, TZ: "UTC" };
  const cli = path.join(root, "dist", "cli.js");
  const child: ChildProcess = spawn(process.execPath, [cli, "ui", "--no-open", "--json", ...args], {
    cwd: world.project,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null || child.pid === undefined) throw new Error("the server did not start");
  let text = "";
  for await (const line of createInterface({ input: child.stdout })) {
    text += line;
    if (isWhole(text)) break;
  }
  const { url, address, port } = JSON.parse(text) as { url: string; address: string; port: number };
  const end = async () => {
    if (child.exitCode === null && child.kill("SIGINT")) await once(child, "exit");
    return child.exitCode;
  };
  running.add(end);
  return { url, address, port, pid: child.pid, end };
}

export async function launchBrowser(): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env.MEMDIR_CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  running.add(() => browser.close());
  return browser;
}

export interface Ui {
  browser: Browser;
  server: Server;
  /** The one that the server knows. */
  context: BrowserContext;
  page: Page;
  /** What the page did that it should not have done; empty again after it was asked. `expected` is left out. */
  faults: (expected?: RegExp) => string[];
  /** Another tab in place of the one that was open: nothing that was typed or asked is left. */
  renew: () => Promise<void>;
  show: (view: string, query?: Record<string, string | number>) => Promise<void>;
  close: () => Promise<void>;
}

export async function openUi(world: World, ...args: string[]): Promise<Ui> {
  const [server, browser] = await Promise.all([startServer(world, ...args), launchBrowser()]);
  const context = await browser.newContext({
    viewport: DESKTOP,
    locale: "en-GB",
    timezoneId: "UTC",
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(60_000);
  const found: string[] = [];
  await watch(context, server.url, found);
  const page = await context.newPage();
  await page.goto(server.address);
  await page.locator("h1").waitFor();
  const ui: Ui = {
    browser,
    server,
    context,
    page,
    faults: (expected) => found.splice(0).filter((fault) => !expected?.test(fault)),
    async renew() {
      const old = ui.page;
      ui.page = await context.newPage();
      await old.close();
      await ui.page.goto(server.url);
      await settle(ui.page);
    },
    async show(view, query = {}) {
      const asked = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)])).toString();
      await ui.page.goto(`${server.url}/#/${view}${asked === "" ? "" : `?${asked}`}`);
      await settle(ui.page);
    },
    async close() {
      await browser.close();
      await server.end();
    },
  };
  return ui;
}

/** What `openForAll` opened for the tests of the file that runs. */
export let world: World;
export let ui: Ui;

interface Opening {
  /** Faults that the tests provoke. */
  expected?: RegExp;
  /** Every test begins in a new tab. */
  isRenewed?: boolean;
}

/** One page for all tests of a file. A test in which it does what it should not do fails. */
export function openForAll(make: () => World | Promise<World>, { expected, isRenewed = false }: Opening = {}): void {
  beforeAll(async () => {
    world = await make();
    ui = await openUi(world);
  });
  afterAll(closeAll);
  if (isRenewed) beforeEach(() => ui.renew());
  afterEach(() => expect(ui.faults(expected)).toEqual([]));
}

/** Until the view stands there: nothing is being fetched for the first time. */
export async function settle(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const main = document.querySelector("main");
    const parts = [...(main?.children ?? [])].filter((part) => !part.matches(".page-head, .status-line"));
    return main?.querySelector("h1") && !main.querySelector(".waiting") && parts.length > 0;
  });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** By how many pixels the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

const axe = fs.readFileSync(path.join(root, "node_modules", "axe-core", "axe.min.js"), "utf8");

/** One line for each violation: its rule and where. */
export async function checkAccess(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: tool } = window as unknown as { axe: { run: (what: Document, how: object) => Promise<AxeAnswer> } };
    const { violations } = await tool.run(document, { resultTypes: ["violations"], preload: false });
    return violations.flatMap(({ id, nodes }) =>
      nodes
        .slice(0, 3)
        .map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} (${(failureSummary ?? "").slice(0, 200)})`),
    );
  });
}

interface AxeAnswer {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

async function watch(context: BrowserContext, origin: string, found: string[]): Promise<void> {
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type()))
      found.push(`console ${message.type()}: ${message.text()} ${message.location().url}`);
  });
  context.on("weberror", (error) => found.push(`exception: ${error.error().message}`));
  context.on("request", (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:image/"))
      found.push(`request: ${request.url()}`);
  });
  await context.exposeFunction("tellViolation", (what: string) => found.push(`policy: ${what}`));
  await context.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      (window as unknown as { tellViolation: (what: string) => void }).tellViolation(
        `${event.violatedDirective} ${event.blockedURI}`,
      );
    });
  });
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
