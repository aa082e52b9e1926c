#!/usr/bin/env node
// What the page costs: web.mjs [--check] [--quick]. Needs dist/ and a chromium (MEMDIR_CHROMIUM or /usr/bin/chromium).
// Bytes of the first load; the server's CPU for the first list and the first search, which no other program changes; time to the
// first list as a ratio to a page of one row, a key in the search field to its result; what a change sends; and the server's
// memory, with Home and its health shown. With --check it ends with 1 when a target is missed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { inventMemories } from "./recall-invented.mjs";
import { writeStore } from "./recall-store.mjs";
import { formatTable, median, run, sizeRow, takeTurns, timeRow } from "./recall-timing.mjs";

const { values: options } = parseArgs({
  options: { check: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const ROUNDS = options.quick ? 5 : 21;
const SEARCHES = 20;
/** What the page itself may weigh, compressed. */
const MAX_KB = 70;
/** Of the first list of 10,000 to that of 1,000, in the server's CPU. */
const MAX_LIST_RATIO = 2;
const MAX_SEARCH_MS = 300;
const MAX_MB = 250;
const dist = path.resolve(import.meta.dirname, "..", "dist");
const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "memdir-bench-web-")));
fs.mkdirSync(path.join(top, "home"));
const ends = [];

try {
  const browser = await chromium.launch({
    executablePath: process.env.MEMDIR_CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  ends.push(() => browser.close());
  const { rows, says } = await measure(browser);
  const cpu = os.cpus();
  process.stdout.write(
    `${formatTable(rows)}\n\n${says}\n\nMedians, in brackets the 10 % quantile; ${ROUNDS} loads each, in turn; ranking by words. ` +
      `Node ${process.version}, chromium ${browser.version()}, ${cpu[0]?.model.trim() ?? "unknown CPU"} × ${cpu.length}, ${process.platform}, ${new Date().toISOString().slice(0, 10)}.\n`,
  );
  if (options.check && rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 3;
} finally {
  for (const end of ends.reverse()) await end();
  fs.rmSync(top, { recursive: true, force: true });
}

async function measure(browser) {
  const small = await openPage(browser, 1_000);
  const large = await openPage(browser, 10_000);
  const bare = await openBare(browser);
  const cpu = { small: await measureCpu(small), large: await measureCpu(large) };
  const bytes = await weigh(browser, small);
  const idle = { small: readMegabytes(small.pid), large: readMegabytes(large.pid) };
  const times = await takeTurns(ROUNDS, {
    bare: () => timeFirstEntry(bare),
    small: () => timeFirstEntry(small),
    large: () => timeFirstEntry(large),
  });
  const sent = await weighChange(large);
  await showHome(large);
  const searches = { small: await timeSearches(small), large: await timeSearches(large) };
  const node = measureNode();
  const own = bytes.filter(({ isData }) => !isData);
  const kilobytes = own.reduce((sum, each) => sum + each.bytes, 0) / 1_000;
  const rows = [
    {
      what: "first load, compressed, with headers",
      value: `${kilobytes.toFixed(1)} KB`,
      against: `${own.length} files`,
      other: "",
      found: "",
      target: `≤ ${MAX_KB} KB`,
      isMissed: kilobytes > MAX_KB,
    },
    cpuRow("first list, server CPU, 10,000 memories", cpu.large.list, "1,000 memories", cpu.small.list, MAX_LIST_RATIO),
    limitRow("first search, server CPU, 10,000 memories", cpu.large.search, "ms", MAX_SEARCH_MS),
    limitRow("sent again after a change, 10,000 memories", sent / 1_000, "KB", 100),
    timeRow("navigation to the first list, 1,000 memories", times.small, "a page of one row", times.bare),
    timeRow("navigation to the first list, 10,000 memories", times.large, "a page of one row", times.bare),
    timeRow("navigation to the first list, 10,000 memories", times.large, "1,000 memories", times.small),
    timeRow("key to result, 10,000 memories", searches.large, "1,000 memories", searches.small),
    sizeRow("server after that, 1,000 memories", [readMegabytes(small.pid)], "node -e 0", [node]),
    limitRow("server after that and Home, 10,000 memories", readMegabytes(large.pid), "MB", MAX_MB),
  ];
  const files = bytes.map(({ name, bytes: size }) => `${name} ${(size / 1_000).toFixed(1)} KB`).join(", ");
  const says = `Over the wire: ${files}. Before the first request the server had ${idle.small.toFixed(0)} and ${idle.large.toFixed(0)} MB. Key to result at 1,000: ${median(searches.small).toFixed(0)} ms.`;
  return { rows, says };
}

/** A server over that many invented memories, and a browser that it knows. */
async function openPage(browser, count) {
  const memory = writeStore(top, [...inventMemories(count - SEARCHES), ...inventNeedles()]);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: path.join(top, "home"),
    MEMDIR_MEMORY_DIR: memory,
    // Embedding thousands of memories in the background would be measured as well.
    MEMDIR_MEANING: "0",
  };
  run([path.join(dist, "cli.js"), "recall", "warm the cache", "--no-model"], { cwd: top, env });
  const child = spawn(process.execPath, [path.join(dist, "cli.js"), "ui", "--no-open", "--json"], {
    cwd: top,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  ends.push(async () => {
    if (child.exitCode === null && child.kill("SIGINT")) await once(child, "exit");
  });
  const [told] = await once(child.stdout, "data");
  const { url, address } = JSON.parse(String(told));
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  // Not as a page: that would ask for the first list already.
  await context.request.get(address);
  return { context, address: `${url}/#/memories`, url, pid: child.pid, memory };
}

/** What the server spends on what a browser asks for first, and on a search once the list stands. */
async function measureCpu({ context, url, pid }) {
  const ask = async (...paths) => {
    const before = readCpu(pid);
    for (const each of paths) await (await context.request.get(`${url}${each}`)).body();
    return readCpu(pid) - before;
  };
  const list = await ask("/", "/page.js", "/page.css", "/api/start", "/api/memories?limit=60");
  await ask("/api/memories?limit=60");
  return { list, search: await ask(`/api/memories?q=${wordOf(0)}&limit=60`) };
}

/** Milliseconds of user and system time. */
function readCpu(pid) {
  const fields = fs
    .readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  // Ticks of a hundredth of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Bytes of all answers to an open list after one memory has changed. */
async function weighChange({ context, address, memory }) {
  const page = await context.newPage();
  await page.goto(address);
  await page.locator(".entry").first().waitFor();
  await page.waitForLoadState("networkidle");
  let bytes = 0;
  page.on("response", async (response) => {
    bytes += (await response.body().catch(() => Buffer.alloc(0))).length;
  });
  const listed = page.waitForResponse((response) => response.url().includes("/api/memories"));
  fs.appendFileSync(path.join(memory, "needle_0.md"), "\nOne more line.\n");
  await listed;
  await page.waitForLoadState("networkidle");
  await page.close();
  return bytes;
}

/** Home with its health, which is measured beside the server. */
async function showHome({ context, url }) {
  const page = await context.newPage();
  await page.goto(`${url}/#/home`);
  await page.locator(".health .figure").waitFor({ timeout: 120_000 });
  await page.close();
}

function cpuRow(what, value, against, other, most) {
  const ratio = value / Math.max(10, other);
  return {
    ...{ what, value: `${value} ms`, against, other: `${other} ms`, found: `${ratio.toFixed(1)} ×` },
    ...{ target: `≤ ${most} ×`, isMissed: ratio > most },
  };
}

function limitRow(what, value, unit, most) {
  return {
    ...{ what, value: `${value.toFixed(0)} ${unit}`, against: "", other: "", found: "" },
    ...{ target: `≤ ${most} ${unit}`, isMissed: value > most },
  };
}

/** Words that stand in one body each: only the ranking finds them, not the names that the page has already. */
function inventNeedles() {
  return Array.from({ length: SEARCHES }, (_, at) => ({
    file: `needle_${at}.md`,
    name: `needle ${at}`,
    description: "looked for by the bench",
    type: "project",
    body: `It speaks of ${wordOf(at)}.`,
  }));
}

function wordOf(at) {
  return `quokka${String.fromCharCode(97 + at)}zephyr`;
}

async function openBare(browser) {
  const server = http.createServer((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end('<!doctype html><title>bare</title><table><tr class="entry"><td>one</table>');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => server.close());
  const { port } = server.address();
  return {
    context: await browser.newContext({ viewport: { width: 1280, height: 800 } }),
    address: `http://127.0.0.1:${port}/`,
  };
}

/** From the start of the navigation to the frame with the first row, in a tab of its own. */
async function timeFirstEntry({ context, address }) {
  const page = await context.newPage();
  await page.addInitScript(() => {
    const look = () => {
      if (document.querySelector(".entry") === null) return requestAnimationFrame(look);
      window.firstEntry = performance.now();
    };
    requestAnimationFrame(look);
  });
  await page.goto(address, { waitUntil: "commit" });
  const ms = await (await page.waitForFunction(() => window.firstEntry)).jsonValue();
  await page.close();
  return ms;
}

/** From the input event to the frame whose first row is what was looked for. */
async function timeSearches({ context, address }) {
  const page = await context.newPage();
  await page.goto(address);
  await page.locator(".entry").first().waitFor();
  const times = [];
  for (let at = 0; at < SEARCHES; at++) {
    const ms = await page.evaluate(
      ([words, name]) =>
        new Promise((resolve) => {
          const field = document.querySelector("input[type=search]");
          field.value = words;
          const start = performance.now();
          field.dispatchEvent(new InputEvent("input", { bubbles: true }));
          const look = () => {
            const first = document.querySelector(".entry .name a")?.textContent;
            if (first === name) resolve(performance.now() - start);
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        }),
      [wordOf(at), `needle ${at}`],
    );
    // The first one also reads the index of words.
    if (at > 0) times.push(ms);
  }
  await page.close();
  return times;
}

/** What each file of a first visit took, as the browser counts it. */
async function weigh(browser, { context, address, url }) {
  const fresh = await browser.newContext({ storageState: await context.storageState() });
  const page = await fresh.newPage();
  const client = await fresh.newCDPSession(page);
  await client.send("Network.enable");
  const names = new Map();
  const found = [];
  client.on("Network.requestWillBeSent", ({ requestId, request }) => names.set(requestId, request.url));
  client.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const name = new URL(names.get(requestId) ?? url).pathname;
    found.push({ name, bytes: encodedDataLength, isData: name.startsWith("/api/") });
  });
  await page.goto(address);
  await page.locator(".entry").first().waitFor();
  await page.waitForTimeout(300);
  await fresh.close();
  return found;
}

function readMegabytes(pid) {
  const { output } = runPs(pid);
  return Number(output.trim()) / 1_024;
}

function runPs(pid) {
  const status = `/proc/${pid}/status`;
  if (fs.existsSync(status)) return { output: /VmRSS:\s+(\d+)/.exec(fs.readFileSync(status, "utf8"))?.[1] ?? "" };
  throw new Error("the memory of the server can be measured on Linux only");
}

function measureNode() {
  const { output } = run(["-e", "console.log(process.memoryUsage.rss())"], { cwd: top, env: {} });
  return Number(output) / (1 << 20);
}
