/** Programs of several processes: a fixture is bundled into a temporary folder and run with node. */

import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = path.dirname(fileURLToPath(import.meta.url));

export interface Worker {
  /** A fresh folder, removed by `close`. */
  top: string;
  start(...args: (string | number)[]): ChildProcess;
  /** Starts it and gives its output once it has ended well. */
  run(...args: (string | number)[]): Promise<string>;
  close(): void;
}

export async function bundleWorker(fixture: string): Promise<Worker> {
  const top = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `memdir-${path.parse(fixture).name}-`)));
  const script = path.join(top, "worker.mjs");
  // The native module is found through this link.
  fs.symlinkSync(path.resolve(here, "../../node_modules"), path.join(top, "node_modules"));
  await build({
    entryPoints: [path.join(here, "fixtures", fixture)],
    outfile: script,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
  });
  const children: ChildProcess[] = [];
  const start: Worker["start"] = (...args) => {
    const child = spawn(process.execPath, [script, ...args.map(String)], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return child;
  };
  return {
    top,
    start,
    run: (...args) =>
      new Promise((done, fail) => {
        let output = "";
        const child = start(...args);
        child.stdout?.on("data", (data) => {
          output += data;
        });
        child.on("close", (code) =>
          code === 0 ? done(output) : fail(new Error(`worker ended with ${code}: ${output}`)),
        );
      }),
    close: () => {
      for (const child of children) if (child.exitCode === null) child.kill("SIGKILL");
      fs.rmSync(top, { recursive: true, force: true });
    },
  };
}
