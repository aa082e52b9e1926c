#!/usr/bin/env node
// Who may import whom in src/: layers.mjs [folder]. A room knows the rooms of lower ranks and what its own line names; the store is
// known by its front door only; the page knows nothing of its server but the types of their protocol,
// and how days and merged texts are made.
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** From the bottom up. A file at the top of src/ is a room of its own. */
export const RANKS = [
  ["errors", "world"],
  ["text", "disk", "prompts"],
  ["input"],
  ["child-group"],
  ["model"],
  ["meaning"],
  ["config"],
  ["project"],
  ["store", "instructions", "session"],
  ["memory", "tools"],
  ["truth"],
  ["recall"],
  ["learn", "team", "context"],
  ["memdir", "team/server"],
  ["verb"],
  ["open", "agent", "said"],
  ["open-learn"],
  ["open-agent", "open-team"],
  ["hooks", "memory-tool", "exchange", "wiring"],
  ["verbs"],
  ["mcp", "web"],
  ["cli", "library"],
  ["compat", "index", "agent-kit", "ai", "anthropic"],
];
/** Imports of other modules than these, from outside the room. */
const FRONT_DOORS = { store: "store/store.ts" };
/** Rooms that know only what is named here, whatever their rank. */
const ONLY = {
  "web/page": ["web/api.ts", "text/diff.ts", "text/local-day.ts"],
  session: ["disk", "model", "text", "errors", "world"],
  meaning: ["text", "errors"],
};

export function findBreaches(root) {
  const rankOf = new Map(RANKS.flatMap((rooms, rank) => rooms.map((room) => [room, rank])));
  return listFiles(root).flatMap((file) => {
    const from = roomOf(file);
    return importsOf(root, file).flatMap((target) => {
      const to = roomOf(target);
      if (from === to) return [];
      const only = ONLY[from];
      const isAllowed = only ? only.includes(to) || only.includes(target) : rankOf.get(to) < rankOf.get(from);
      if (!isAllowed) return [`${file}: ${from} may not know ${to} (${target})`];
      const door = FRONT_DOORS[to];
      return door && target !== door ? [`${file}: ${to} is known through ${door}, not ${target}`] : [];
    });
  });
}

function roomOf(file) {
  const [first, second, ...rest] = file.split("/");
  if (second === undefined) return first.replace(/\.tsx?$/, "");
  const inner = `${first}/${second}`;
  return rest.length > 0 && ["web/page", "team/server"].includes(inner) ? inner : first;
}

function importsOf(root, file) {
  const text = fs.readFileSync(path.join(root, file), "utf8");
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, target]) => path.posix.join(path.posix.dirname(file), target));
}

function listFiles(root) {
  const all = fs.readdirSync(root, { recursive: true }).map((file) => String(file).split(path.sep).join("/"));
  return all.filter((file) => /\.tsx?$/.test(file));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const src = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "src");
  const breaches = findBreaches(process.argv[2] ?? src);
  for (const breach of breaches) console.error(breach);
  process.exitCode = breaches.length > 0 ? 1 : 0;
}
