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

/** `MEMORIES=20000` for as many as a repository may have. */
const MEMORIES = Number(process.env.MEMORIES ?? 5_000);

/** About 1,200 characters of prose, another text for each number. */
function textOf(at: number): string {
  const words = Array.from({ length: 210 }, (_, word) => WORDS[(at * 7 + word * word) % WORDS.length]).join(" ");
  return `---\nname: memory ${at}\ndescription: what is known about part ${at}\ntype: project\n---\n\n${at} ${words}\n`;
}

const WORDS =
  "the build runs on every branch and a release is cut from main when tests are green so that nobody waits for deploys".split(
    " ",
  );

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
    const memory = { text, hash: sha256(text), name: "", description: "", terms: [], vector: null };
    const path = `part-${at % 40}/memory-${at}.md`;
    await data.write(ann, { repository: "app", path, expected: null, memory }, SERVER_LIMITS.memory);
  }
  const limits = { ...SERVER_LIMITS, rate: { requests: 1_000_000, seconds: 60 } };
  const server = await startServer({ data, now, log: () => {}, limits, port: 0 });
  try {
    const open = () => openServerRemote(patientNetwork(), repositoryAt(server.url, { token }));
    const remote = open();
    const top = makeTemporary("large");
    let began = startClock();
    const { entries } = await remote.list();
    const texts = await remote.fetch(entries);
    expect(texts.size).toBe(MEMORIES);
    const downloads = path.join(top, "downloads");
    for (const [file, text] of texts) {
      fs.mkdirSync(path.join(downloads, path.dirname(file)), { recursive: true });
      fs.writeFileSync(path.join(downloads, file), text);
    }
    const download = began();

    const directory = directoryAt(path.join(top, "mirror"), { now: now() });
    const sync = () => syncDirectory({ directory, remote: open(), who: "ann" });
    began = startClock();
    expect((await sync()).pulled.length).toBe(MEMORIES);
    const first = began();
    began = startClock();
    expect((await sync()).pulled).toEqual([]);
    const next = began();
    const state = sizeOf(path.join(directory.path, ".memdir"));
    const say = ({ wall, cpu }: Taken) => `${wall.toFixed(1)} s (${cpu.toFixed(1)} s CPU)`;
    console.info(
      `${MEMORIES} memories, ${mb(bytes)}: download ${say(download)}, first sync ${say(first)}, ` +
        `${(first.wall / download.wall).toFixed(1)}x (${(first.cpu / download.cpu).toFixed(1)}x CPU), next ${say(next)}, state ${mb(state)}`,
    );
    // The base texts take as much as the memories, the rest a fraction of it.
    expect(state).toBeLessThan(2 * bytes);
  } finally {
    await server.close();
  }
});

interface Taken {
  wall: number;
  cpu: number;
}

/** Seconds; on a busy machine those of this process's own work say more. */
function startClock(): () => Taken {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { wall: (performance.now() - wall) / 1e3, cpu: (user + system) / 1e6 };
  };
}

/** As the disk counts it. */
function sizeOf(file: string): number {
  const stat = fs.statSync(file);
  const inside = stat.isDirectory() ? fs.readdirSync(file).map((name) => sizeOf(path.join(file, name))) : [];
  return inside.reduce((sum, size) => sum + size, stat.blocks * 512);
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
