/** The first sync of a large team: its time against that of the download alone, and what it leaves beside the memories. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { SERVER_LIMITS } from "../../src/team/server/route.ts";
import { startServer } from "../../src/team/server/serve.ts";
import { openServerRemote } from "../../src/team/server-remote.ts";
import { syncDirectory } from "../../src/team/sync.ts";
import { sha256 } from "../../src/text/hash.ts";
import { patientNetwork, repositoryAt } from "../team/rude-server.ts";
import { mustCall } from "../team/server/caller.ts";
import { openMemoryData } from "../team/server/memory-data.ts";
import { directoryAt } from "../team/sync-world.ts";
import { makeTemporary } from "../temporary.ts";

const MEMORIES = Number(process.env.MEMORIES ?? 20_000);

function textOf(at: number): string {
  const words = Array.from({ length: 150 }, (_, word) => sha256(`${at} ${word}`).slice(0, 7)).join(" ");
  return `---\nname: memory ${at}\ndescription: what is known about part ${at}\ntype: project\n---\n\n${words}\n`;
}

it(`syncs ${MEMORIES} memories for the first time`, { timeout: 900_000 }, async () => {
  const now = () => new Date("2026-03-10T12:00:00.000Z");
  const data = openMemoryData(now);
  const { token } = await data.createTeam("acme", "ann");
  const ann = await mustCall(data, token);
  await data.addRepository(ann, "app");
  let bytes = 0;
  for (let at = 0; at < MEMORIES; at++) {
    const text = textOf(at);
    bytes += text.length;
    const memory = {
      path: `part-${at % 40}/memory-${at}.md`,
      text,
      hash: sha256(text),
      name: "",
      description: "",
      terms: [],
      vector: null,
    };
    await data.putMemory(ann, "app", memory, null, SERVER_LIMITS.memory);
  }
  const limits = { ...SERVER_LIMITS, rate: { requests: 1_000_000, seconds: 60 } };
  const server = await startServer({ data, now, log: () => {}, limits, port: 0 });
  try {
    const open = () => openServerRemote(patientNetwork(), repositoryAt(server.url, { token }));
    const remote = open();
    let began = performance.now();
    const { entries } = await remote.list();
    expect((await remote.fetch(entries)).size).toBe(MEMORIES);
    const download = performance.now() - began;

    const directory = directoryAt(path.join(makeTemporary("large"), "mirror"), { now: now() });
    const sync = () => syncDirectory({ directory, remote: open(), who: "ann" });
    began = performance.now();
    expect((await sync()).pulled.length).toBe(MEMORIES);
    const first = performance.now() - began;
    began = performance.now();
    expect((await sync()).pulled).toEqual([]);
    const next = performance.now() - began;
    const state = sizeOf(path.join(directory.path, ".memdir"));
    const seconds = [download, first, next].map((ms) => `${(ms / 1000).toFixed(1)} s`);
    console.info(
      `${MEMORIES} memories, ${mb(bytes)}: download ${seconds[0]}, first sync ${seconds[1]} (${(first / download).toFixed(1)}x), ` +
        `next ${seconds[2]}, state ${mb(state)}`,
    );
    for (const name of fs.readdirSync(path.join(directory.path, ".memdir")))
      console.info(name, mb(sizeOf(path.join(directory.path, ".memdir", name))));
  } finally {
    await server.close();
  }
});

/** As the disk counts it. */
function sizeOf(file: string): number {
  const stat = fs.statSync(file);
  const inside = stat.isDirectory() ? fs.readdirSync(file).map((name) => sizeOf(path.join(file, name))) : [];
  return inside.reduce((sum, size) => sum + size, stat.blocks * 512);
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
