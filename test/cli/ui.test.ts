import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { type PageOptions, start as showPage } from "../../src/cli/ui.ts";
import { isAlive } from "../../src/disk/fence.ts";
import { openPty } from "../pty.ts";
import { makeTemporary } from "../temporary.ts";
import { PATIENT } from "../until.ts";
import { errorOf, makeWorld, note, type World } from "../world.ts";
import { type CallOptions, hearCall } from "./call.ts";
import { BINARY, openSandbox } from "./run.ts";

interface Shown {
  launched: string[];
  pressEnter: () => void;
  end: () => void;
  code: Promise<number>;
  printed: string[];
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what tests look at
  answers: any[];
  isListening: () => boolean;
}

function show(
  world: World,
  given: CallOptions & { interactive?: boolean; platform?: string; program?: string },
): Shown {
  const assets = makeTemporary("page", "memory");
  fs.writeFileSync(path.join(assets, "index.html"), "<!doctype html>");
  const heard = hearCall(world, given);
  heard.call.open = () => world.open({ memoryDir: heard.call.value("memory-dir") });
  heard.call.terminal = { ...heard.call.terminal, interactive: given.interactive ?? true };
  const launched: string[] = [];
  let pressEnter = () => {};
  let isListening = false;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const options: PageOptions = {
    platform: given.platform ?? "darwin",
    assets,
    ...(given.program && { program: given.program }),
    launch: (program, args) => void launched.push([program, ...args].join(" ")),
    onLine(call) {
      pressEnter = call;
      isListening = true;
      return () => {
        isListening = false;
      };
    },
    untilEnd: () => ended,
  };
  const code = showPage(heard.call, options);
  const { printed, answers } = heard;
  return { launched, pressEnter: () => pressEnter(), end, code, printed, answers, isListening: () => isListening };
}

const addresses = (lines: string[]) => lines.join("\n").match(/http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}/g) ?? [];

it("prints the address once, opens the browser, gives a new address on Enter, and ends", async () => {
  const world = makeWorld();
  const shown = show(world, {});
  await expect.poll(() => shown.launched.length, PATIENT).toBe(1);
  const [first = ""] = addresses(shown.printed);
  expect(shown.launched).toEqual([`open ${first}`]);
  expect(shown.printed.join("\n")).toMatch(/works once.*Enter gives a new one\. Ctrl-C ends the page/);
  expect(addresses(shown.printed)).toHaveLength(1);
  shown.pressEnter();
  const [, second = ""] = addresses(shown.printed);
  expect(second).not.toBe(first);
  expect((await fetch(first, { redirect: "manual" })).status).toBe(401);
  expect((await fetch(second, { redirect: "manual" })).status).toBe(303);
  shown.end();
  expect([await shown.code, shown.isListening()]).toEqual([0, false]);
  await expect(fetch(first)).rejects.toThrow();
  expect(world.exists(".memdir")).toBe(false);
});

it.each<[string, CallOptions & { interactive?: boolean; platform?: string }, Record<string, string>, string[]]>([
  ["Windows", { platform: "win32" }, {}, ["cmd /c start  "]],
  ["a screen", { platform: "linux" }, { DISPLAY: ":0" }, ["xdg-open "]],
  ["no screen", { platform: "linux" }, {}, []],
  ["--no-open", { options: { "no-open": true } }, {}, []],
  ["CI", {}, { CI: "true" }, []],
  ["no terminal", { interactive: false }, {}, []],
  ["--json", { json: true }, {}, []],
])("opens a browser where a person sees it: %s", async (_, given, env, launched) => {
  const shown = show(makeWorld({ env }), given);
  await expect.poll(() => shown.printed.length + shown.answers.length, PATIENT).toBeGreaterThan(0);
  shown.end();
  expect(await shown.code).toBe(0);
  expect(shown.launched.map((line) => line.replace(/http:.*/, ""))).toEqual(launched);
});

it("answers --json with one value", async () => {
  const shown = show(makeWorld(), { json: true, options: { "read-only": true } });
  await expect.poll(() => shown.answers.length, PATIENT).toBe(1);
  const [{ url, port, address, readOnly }] = shown.answers;
  expect([url, readOnly]).toEqual([`http://127.0.0.1:${port}`, true]);
  expect(addresses([address])).toHaveLength(1);
  expect(shown.printed).toEqual([]);
  shown.end();
  expect(await shown.code).toBe(0);
});

it("refuses a port that is none, and one that is taken", async () => {
  const world = makeWorld();
  for (const port of ["http", "-1", "65536", "1.5", ""]) {
    expect((await errorOf(show(world, { options: { port } }).code)).message).toContain("0 to 65535");
  }
  const first = show(world, { json: true });
  await expect.poll(() => first.answers.length, PATIENT).toBe(1);
  const port = String(first.answers[0].port);
  const taken = await errorOf(show(world, { options: { port } }).code);
  expect(taken.message).toContain(`port ${port} cannot be used (EADDRINUSE)`);
  first.end();
  await first.code;
});

it.skipIf(process.platform === "win32")(
  "as a process: serves the built page, ends with Ctrl-C, and leaves nothing",
  async () => {
    const box = openSandbox();
    await box.save("a");
    const before = box.tree();
    const child = spawn(process.execPath, [BINARY, "ui", "--json"], { cwd: box.cwd, env: box.env, stdio: "pipe" });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk) => {
      out += chunk;
    });
    child.stderr.on("data", (chunk) => {
      err += chunk;
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    await expect.poll(() => out.endsWith("}\n") || child.exitCode !== null, PATIENT).toBe(true);
    const { url, address, port } = JSON.parse(out);
    const entered = await fetch(address, { redirect: "manual" });
    const cookie = String(entered.headers.get("set-cookie")).split(";", 1)[0] ?? "";
    const page = await fetch(`${url}/`, { headers: { cookie } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("/page.js")]);
    expect((await fetch(`${url}/page.js`, { headers: { cookie } })).status).toBe(200);
    const start = await fetch(`${url}/api/start`, { headers: { cookie } });
    expect(await start.json()).toMatchObject({ readOnly: false, version: expect.any(String) });
    const second = await box.run(["ui", "--port", String(port)]);
    expect([second.code, second.err]).toEqual([2, expect.stringContaining("it is already in use")]);
    child.kill("SIGINT");
    expect([await ended, err]).toEqual([0, ""]);
    const grown = box.tree().filter((name) => !before.includes(name) && !name.includes(".memdir"));
    expect(grown).toEqual([]);
  },
);

it("looks without changing anything: --read-only", async () => {
  const world = makeWorld();
  await (await world.open()).save(note("a"));
  const shown = show(world, { json: true, options: { "read-only": true } });
  await expect.poll(() => shown.answers.length, PATIENT).toBe(1);
  const { url, address } = shown.answers[0];
  const entered = await fetch(address, { redirect: "manual" });
  const cookie = String(entered.headers.get("set-cookie")).split(";", 1)[0] ?? "";
  const headers = { cookie, "x-memdir": "1", "content-type": "application/json" };
  const refused = await fetch(`${url}/api/jobs`, { method: "POST", headers, body: '{"kind":"verify"}' });
  expect(refused.status).toBe(403);
  shown.end();
  await shown.code;
});

it("measures the health of the store that it shows, and does not wait for it at the end", async () => {
  const world = makeWorld();
  const memoryDir = path.join(world.top, "elsewhere");
  await (await world.open({ memoryDir })).save(note("a"));
  const program = path.join(world.top, "program.mjs");
  // Writes what it was asked, and never ends by itself.
  const asked = path.join(world.top, "asked.json");
  const script = `import fs from "node:fs";
    fs.writeFileSync("${asked}.new", JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), pid: process.pid }));
    fs.renameSync("${asked}.new", "${asked}");
    setInterval(() => {}, 1000);`;
  fs.writeFileSync(program, script);
  const shown = show(world, { json: true, options: { "memory-dir": "../elsewhere" }, program });
  await expect.poll(() => shown.answers.length, PATIENT).toBe(1);
  const { url, address } = shown.answers[0];
  const entered = await fetch(address, { redirect: "manual" });
  const cookie = String(entered.headers.get("set-cookie")).split(";", 1)[0] ?? "";
  expect((await fetch(`${url}/api/health`, { headers: { cookie } })).status).toBe(200);
  await expect.poll(() => fs.existsSync(asked), PATIENT).toBe(true);
  const { args, cwd, pid } = JSON.parse(fs.readFileSync(asked, "utf8"));
  expect([args, cwd]).toEqual([["health", "--json", "--memory-dir", memoryDir], world.project]);
  shown.end();
  expect(await shown.code).toBe(0);
  await expect.poll(() => isAlive(pid), PATIENT).toBe(false);
});

it.skipIf(process.platform === "win32")(
  "on a terminal: Enter gives a new address, Ctrl-D is no end, Ctrl-C is",
  async () => {
    const box = openSandbox();
    // Wide enough that no address is broken into two rows.
    const pty = openPty(process.execPath, [BINARY, "ui"], { cwd: box.cwd, env: box.env, cols: 200 });
    const count = () => new Set(addresses([pty.text()])).size;
    await pty.waitFor(/Ctrl-C ends the page/);
    expect(count()).toBe(1);
    pty.press("enter");
    await expect.poll(count, PATIENT).toBe(2);
    pty.press("ctrl-d");
    const [, second = ""] = addresses([pty.text()]);
    expect((await fetch(second, { redirect: "manual" })).status).toBe(303);
    pty.press("ctrl-c");
    expect(await pty.exit).toBe(0);
  },
);
