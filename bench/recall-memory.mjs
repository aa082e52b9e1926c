// A process that holds a store and says how much memory it takes, in MB: node --expose-gc recall-memory.mjs LIBRARY [DIRECTORY PROMPT].
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
const peak = process.resourceUsage().maxRSS * 1024;
// The store is still held here.
const held = memdir === null ? 0 : memdir.directories.length;
process.stdout.write(
  JSON.stringify({
    rss: mb(rss),
    heap: mb(heapUsed),
    arrays: mb(arrayBuffers),
    external: mb(external),
    peak: mb(peak),
    held,
    considered: found?.considered ?? 0,
    method: found?.method ?? "",
  }),
);
