// A directory of memories made from a set, opened as a host would open it.
import fs from "node:fs";
import path from "node:path";

let stores = 0;

/** Memories: { file, name, description, type, body, modified?, when?, links? }. */
export function writeStore(root, memories) {
  const dir = path.join(root, `store-${stores++}`);
  fs.mkdirSync(dir, { recursive: true });
  for (const memory of memories) fs.writeFileSync(path.join(dir, memory.file), formatMemory(memory));
  return dir;
}

export async function openStore({ root, openMemdir }, dir, options = {}) {
  const env = { HOME: path.join(root, "home"), MEMDIR_MANAGED_DIR: path.join(root, "managed"), PATH: process.env.PATH };
  const memdir = await openMemdir({ cwd: root, memoryDir: dir, env, ...options });
  const progress = (done, total) => {
    if (process.stderr.isTTY) process.stderr.write(`\rembedding ${done}/${total} `);
  };
  await memdir.warm({ onProgress: progress });
  return memdir;
}

function formatMemory({ name, description = "", type = "project", body, created, modified, when = [], links = [] }) {
  const list = (key, items) =>
    items.length > 0 ? [`${key}:`, ...items.map((item) => `  - ${JSON.stringify(item)}`)] : [];
  return [
    "---",
    `name: ${JSON.stringify(name)}`,
    `description: ${JSON.stringify(description)}`,
    `type: ${type}`,
    ...(created ? [`created: ${created}`] : []),
    ...(modified ? [`modified: ${modified}`] : []),
    ...list("when", when),
    ...list("links", links),
    "---",
    "",
    body,
    "",
  ].join("\n");
}

/** The share of what should be found that is among the first k. */
export function recallAt(k, found, relevant) {
  const top = found.slice(0, k);
  return relevant.filter((item) => top.includes(item)).length / relevant.length;
}

export function mean(values) {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export const percent = (share) => (100 * share).toFixed(1);
