/** `memdir ui`: the page in the browser, for as long as the command runs. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { findOpener, launchProgram } from "../child-group.ts";
import { MemdirError } from "../errors.ts";
import { block, dim } from "../verb.ts";
import type { MeasuredStore, Page } from "../web/answer.ts";
import { type PageServer, startPage } from "../web/server.ts";
import type { Env } from "../world.ts";
import { answer, type Call, portOf, untilSignal } from "./command.ts";

declare const __MEMDIR_VERSION__: string;

export interface PageOptions {
  platform?: string;
  /** The folder of the page's files. */
  assets?: string;
  /** memdir itself, for work in another process; with `assets` and without this there is none. */
  program?: string;
  /** Starts a program that nobody waits for. */
  launch?: (program: string, args: readonly string[]) => unknown;
  /** Calls back for every line that the person enters; gives a way to stop listening. */
  onLine?: (heard: () => void) => () => void;
  /** Resolves when the page should end. */
  untilEnd?: () => Promise<unknown>;
}

export async function start(call: Call, options: PageOptions = {}): Promise<number> {
  const { env, now, log, terminal } = call;
  const port = portOf(call) ?? 0;
  const assets = options.assets ?? findAssets();
  const first = join(assets, "index.html");
  if (!existsSync(first)) throw new MemdirError("broken", `${first} is missing; reinstall memdir`);
  const memdir = await call.open({ by: "ui" });
  const readOnly = call.flag("read-only");
  const scope = call.value("scope");
  // A relative path was taken from where the command was called, not from the project's folder.
  const store = {
    ...(call.value("memory-dir") !== undefined && { memoryDir: memdir.location.dir }),
    ...(scope !== undefined && { scope }),
  };
  const program = options.program ?? (options.assets === undefined ? process.argv[1] : undefined);
  const ending = new AbortController();
  const page = await startPage({
    ...{ memdir, store, env, now, log, assets, port, readOnly, version: __MEMDIR_VERSION__ },
    ...(program !== undefined && { measureApart: (shown) => runHealth(program, shown, env, ending.signal) }),
  });
  const ended = (options.untilEnd ?? (() => untilSignal("SIGHUP")))();
  const isWatched = !call.json && terminal.interactive;
  const address = greet(call, page, isWatched);
  if (isWatched && !call.flag("no-open")) openBrowser(call, options, address);
  const silence = isWatched ? (options.onLine ?? onLine)(() => terminal.print(page.newAddress())) : () => {};
  try {
    await ended;
  } finally {
    silence();
    // Nobody waits for its answer any more.
    ending.abort();
    await page.close();
  }
  return 0;
}

/** A measurement of ten thousand memories; hundreds of bytes for each finding. */
const MAX_HEALTH_BYTES = 256 << 20;

/** `memdir health` in a process of its own: it reads every memory, which takes seconds and a lot of room. */
async function runHealth(
  program: string,
  { memdir, store: { memoryDir, scope } = {} }: Pick<Page, "memdir" | "store">,
  env: Env,
  signal: AbortSignal,
): Promise<MeasuredStore[]> {
  const where = [...(memoryDir ? ["--memory-dir", memoryDir] : []), ...(scope ? ["--scope", scope] : [])];
  const { stdout } = await promisify(execFile)(process.execPath, [program, "health", "--json", ...where], {
    cwd: memdir.location.project.cwd,
    env,
    signal,
    maxBuffer: MAX_HEALTH_BYTES,
  });
  const { others, ...main } = JSON.parse(stdout) as MeasuredStore & { others: MeasuredStore[] };
  return [main, ...others];
}

function greet(call: Call, page: PageServer, isWatched: boolean): string {
  const address = page.newAddress();
  const again = isWatched ? "; Enter gives a new one" : "";
  answer(call, { url: page.url, port: page.port, address, readOnly: call.flag("read-only") }, [
    block(`memdir ui: ${address}`),
    dim(`The address works once, within ten minutes${again}. Ctrl-C ends the page.`),
  ]);
  return address;
}

/** Only where a person sits in front of a screen. That it cannot be started is no failure: the address is shown. */
function openBrowser({ env }: Call, options: PageOptions, address: string): void {
  const { platform = process.platform, launch = (name, args) => launchProgram(env, name, args) } = options;
  if (env.CI) return;
  const opener = findOpener(env, platform);
  if (platform === "win32") launch("cmd", ["/c", "start", "", address]);
  else if (opener) launch(opener, [address]);
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
