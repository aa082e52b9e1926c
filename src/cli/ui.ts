/** `memdir ui`: the page in the browser, for as long as the command runs. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadAssets } from "../web/assets.ts";
import { type PageServer, startPage } from "../web/server.ts";
import { answer, type Call, portOf, type Run, untilSignal } from "./command.ts";

declare const __MEMDIR_VERSION__: string;

export interface PageOptions {
  platform?: string;
  /** The folder of the page's files. */
  assets?: string;
  /** Starts a program that nobody waits for. */
  launch?: (program: string, args: readonly string[]) => void;
  /** Calls back for every line that the person enters; gives a way to stop listening. */
  onLine?: (heard: () => void) => () => void;
  /** Resolves when the page should end. */
  untilEnd?: () => Promise<unknown>;
}

export const ui: Run = (call) => showPage(call, {});

export async function showPage(call: Call, options: PageOptions): Promise<number> {
  const { env, now, log, terminal } = call;
  const port = portOf(call) ?? 0;
  const assets = loadAssets(options.assets ?? findAssets());
  const memdir = await call.open({ by: "ui" });
  const readOnly = call.flag("read-only");
  const page = await startPage({ memdir, env, now, log, assets, port, readOnly, version: __MEMDIR_VERSION__ });
  const ended = (options.untilEnd ?? (() => untilSignal("SIGHUP")))();
  const isWatched = !call.json && terminal.interactive;
  const address = greet(call, page, isWatched);
  if (isWatched && !call.flag("no-open")) openBrowser(call, options, address);
  const silence = isWatched ? (options.onLine ?? onLine)(() => terminal.print(page.newAddress())) : () => {};
  try {
    await ended;
  } finally {
    silence();
    await page.close();
  }
  return 0;
}

function greet(call: Call, page: PageServer, isWatched: boolean): string {
  const address = page.newAddress();
  const again = isWatched ? "; Enter gives a new one" : "";
  answer(call, { url: page.url, port: page.port, address, readOnly: call.flag("read-only") }, () => [
    `memdir ui: ${address}`,
    call.terminal.color.dim(`The address works once, within ten minutes${again}. Ctrl-C ends the page.`),
  ]);
  return address;
}

/** Only where a person sits in front of a screen. */
function openBrowser({ env }: Call, options: PageOptions, address: string): void {
  const { platform = process.platform, launch: start = launch } = options;
  // Without a screen it would start a browser for terminals, behind our back.
  const hasScreen = env.DISPLAY || env.WAYLAND_DISPLAY || env.WSL_DISTRO_NAME;
  if (env.CI) return;
  if (platform === "darwin") start("open", [address]);
  else if (platform === "win32") start("cmd", ["/c", "start", "", address]);
  else if (hasScreen) start("xdg-open", [address]);
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
