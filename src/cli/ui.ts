/** `memdir ui`: the page in the browser, for as long as the command runs. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Env, processEnv } from "../config.ts";
import { MemdirError } from "../errors.ts";
import { loadAssets } from "../web/assets.ts";
import { type PageServer, startPage } from "../web/server.ts";
import type { Call, Run } from "./command.ts";

declare const __MEMDIR_VERSION__: string;

export interface UiDesk {
  env: Env;
  now: () => Date;
  platform: string;
  /** The folder of the page's files. */
  assets: string;
  /** Starts a program that nobody waits for. */
  launch: (program: string, args: readonly string[]) => void;
  /** Calls back for every line that the person enters; gives a way to stop listening. */
  onLine: (heard: () => void) => () => void;
  /** Resolves when the page should end. */
  untilEnd: () => Promise<unknown>;
}

export const run: Run = (call) =>
  showPage(call, {
    env: processEnv(),
    now: () => new Date(),
    platform: process.platform,
    assets: findAssets(),
    launch,
    onLine,
    // A second signal finds no listener, and ends the process at once.
    untilEnd: () => Promise.race([once(process, "SIGINT"), once(process, "SIGTERM"), once(process, "SIGHUP")]),
  });

export async function showPage(call: Call, desk: UiDesk): Promise<number> {
  const { terminal } = call;
  const port = readPort(call.value("port"));
  const assets = loadAssets(desk.assets);
  const memdir = await call.open("ui");
  const log = (message: string) => {
    if (desk.env.MEMDIR_DEBUG) terminal.warn(`memdir: debug: ${message}`);
  };
  const page = await startPage({
    ...{ memdir, env: desk.env, now: desk.now, log, assets, port },
    readOnly: call.flag("read-only"),
    version: __MEMDIR_VERSION__,
  });
  const ended = desk.untilEnd();
  const isWatched = terminal.interactive && !call.json;
  const address = greet(call, page, isWatched);
  if (isWatched && !call.flag("no-open")) openBrowser(desk, address);
  const silence = isWatched ? desk.onLine(() => terminal.print(page.newAddress())) : () => {};
  try {
    await ended;
  } finally {
    silence();
    await page.close();
  }
  return 0;
}

function greet({ json, terminal, flag }: Call, page: PageServer, isWatched: boolean): string {
  const address = page.newAddress();
  if (json) {
    terminal.json({ url: page.url, port: page.port, address, readOnly: flag("read-only") });
    return address;
  }
  terminal.print(`memdir ui: ${address}`);
  const again = isWatched ? "; Enter gives a new one" : "";
  terminal.print(terminal.color.dim(`The address works once, within ten minutes${again}. Ctrl-C ends the page.`));
  return address;
}

/** Only where a person sits in front of a screen. */
function openBrowser({ env, platform, launch }: UiDesk, address: string): void {
  // Without a screen it would start a browser for terminals, behind our back.
  const hasScreen = env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME;
  if (env.CI) return;
  if (platform === "darwin") launch("open", [address]);
  else if (platform === "win32") launch("cmd", ["/c", "start", "", address]);
  else if (hasScreen) launch("xdg-open", [address]);
}

/** Its output is not ours, and it may live longer than we do. That it cannot be started is no failure: the address is shown. */
function launch(program: string, args: readonly string[]): void {
  try {
    const child = spawn(program, args, { stdio: "ignore", detached: true, windowsHide: true });
    child.on("error", () => {});
    child.unref();
  } catch {
    // As above.
  }
}

function onLine(heard: () => void): () => void {
  const listen = (chunk: Buffer) => {
    if (chunk.includes("\n")) heard();
  };
  process.stdin.on("data", listen);
  // Closed, a terminal says so by an error; the page goes on.
  process.stdin.on("error", () => {});
  return () => {
    process.stdin.off("data", listen);
    process.stdin.destroy();
  };
}

/** Beside the built program; from the sources it is what was built last. */
function findAssets(): string {
  const beside = fileURLToPath(new URL("./web/", import.meta.url));
  return existsSync(beside) ? beside : fileURLToPath(new URL("../../dist/web/", import.meta.url));
}

function readPort(text: string | undefined): number {
  if (text === undefined) return 0;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new MemdirError("usage", `--port ${JSON.stringify(text)}: a port is a number from 0 to 65535`);
}
