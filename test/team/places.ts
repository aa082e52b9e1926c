/** The kinds of remote that schedules run against, each with a way to take a backup and to restore it. */

import fs from "node:fs";
import path from "node:path";
import type { Remote } from "../../src/team/remote.ts";
import { makeApp } from "../../src/team/server/app.ts";
import { SERVER_LIMITS } from "../../src/team/server/route.ts";
import { openServerRemote } from "../../src/team/server-remote.ts";
import { openDiskRemote } from "./disk-remote.ts";
import { makeGitPlace } from "./git-place.ts";
import { makeMemoryRemote } from "./memory-remote.ts";
import { patientNetwork, repositoryAt } from "./rude-server.ts";
import { mustCall } from "./server/caller.ts";
import { openMemoryData } from "./server/memory-data.ts";

export type PlaceKind = "memory" | "disk" | "git" | "server";

export interface Place {
  open(who: string): Remote;
  /** What it returns restores the place as it is now. */
  backUp(): () => void;
  cleanup(): void;
}

export async function makePlace(kind: PlaceKind, top: string, now: () => Date): Promise<Place> {
  if (kind === "disk") return makeFolder(path.join(top, "shared"), now);
  if (kind === "git") return makeBranch(now);
  if (kind === "server") return makeServer(now);
  const { open, backUp } = makeMemoryRemote(now);
  return { open, backUp, cleanup: () => {} };
}

function makeFolder(folder: string, now: () => Date): Place {
  let backups = 0;
  return {
    open: (who) => openDiskRemote({ folder, who, now }),
    backUp() {
      const copy = `${folder}-backup-${++backups}`;
      const options = { recursive: true, preserveTimestamps: true };
      if (fs.existsSync(folder)) fs.cpSync(folder, copy, options);
      return () => {
        fs.rmSync(folder, { recursive: true, force: true });
        if (fs.existsSync(copy)) fs.cpSync(copy, folder, options);
      };
    },
    cleanup: () => {},
  };
}

function makeBranch(now: () => Date): Place {
  const place = makeGitPlace();
  const tip = () => place.git("for-each-ref", "--format=%(objectname)", "refs/heads/memdir");
  return {
    open: (who) => place.open(who, { now }),
    backUp() {
      const kept = tip();
      return () => {
        if (kept !== "") place.git("update-ref", "refs/heads/memdir", kept);
        else if (tip() !== "") place.git("update-ref", "-d", "refs/heads/memdir");
      };
    },
    cleanup: () => fs.rmSync(place.top, { recursive: true, force: true }),
  };
}

/** The routes of the real server, without a connection and with a database that can be put back in one step. */
async function makeServer(now: () => Date): Promise<Place> {
  const data = openMemoryData(now);
  const limits = { ...SERVER_LIMITS, rate: { requests: 1_000_000, seconds: 60 } };
  const app = makeApp({ data, now, log: () => {}, limits });
  const { token } = await data.createTeam("acme", "ann");
  await data.addRepository(await mustCall(data, token), "app");
  const network = {
    ...patientNetwork(),
    fetch: async (url: unknown, init?: RequestInit) => app.request(String(url), init),
  };
  const open = () => openServerRemote(network, repositoryAt("http://127.0.0.1:1", { token }));
  return {
    // Each listing as from a new process: the server's ETag counts writes, and counts them again after a restore.
    open: () => ({ ...open(), list: (signal) => open().list(signal) }),
    backUp: data.backUp,
    cleanup: () => {},
  };
}
