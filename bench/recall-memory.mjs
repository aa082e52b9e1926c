// A process that holds a store and says how much memory it takes, in MB: node --expose-gc recall-memory.mjs LIBRARY [DIRECTORY PROMPT].
import fs from "node:fs";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [library, memoryDir, prompt] = process.argv.slice(2);
const { openMemdir } = await import(pathToFileURL(library).href);
let found = null;
const memdir = memoryDir ? await openMemdir({ cwd: process.cwd(), memoryDir, env: process.env }) : null;
if (memdir) found = await memdir.recall(prompt, { model: false });
// What the engine frees goes back to the machine a moment later.
for (let i = 0; i < 4; i++) {
  globalThis.gc?.();
  await new Promise((done) => setTimeout(done, 100));
}
const mb = (bytes) => Math.round(bytes / 1e5) / 10;
const { rss, heapUsed, arrayBuffers, external } = process.memoryUsage();
// The system's own count begins with what the parent had: only Linux tells this process's.
const peak = process.platform === "linux" ? /VmHWM:\s+(\d+)/.exec(fs.readFileSync("/proc/self/status", "utf8")) : null;
// The store is still held here.
const held = memdir === null ? 0 : memdir.directories.length;
process.stdout.write(
  JSON.stringify({
    rss: mb(rss),
    heap: mb(heapUsed),
    arrays: mb(arrayBuffers),
    external: mb(external),
    peak: peak ? mb(Number(peak[1]) * 1024) : null,
    held,
    considered: found?.considered ?? 0,
    method: found?.method ?? "",
  }),
);
