/** A team's data for tests: a clock to set, teams with people, memories without ceremony. */

import { createHash, randomBytes } from "node:crypto";
import { openTeamData, type TeamData } from "../../../src/team/server/data.ts";
import type { Caller } from "../../../src/team/server/data-base.ts";
import type { DataLimits } from "../../../src/team/server/data-memories.ts";
import type { Database } from "../../../src/team/server/database.ts";
import { termsOf } from "../../../src/text/terms.ts";
import { mustCall } from "./caller.ts";

export const LIMITS: DataLimits = {
  memoryBytes: 1000,
  repositoryBytes: 10_000,
  repositoryMemories: 50,
  memoryVersions: 1000,
  memoryHistoryBytes: 10_000_000,
  repositoryHistoryBytes: 10_000_000,
  repositoryTombstones: 1000,
};

/** More than any test keeps. */
export const ALL = { limit: 1000, bytes: 100_000_000 };

export interface DataStage {
  database: Database;
  data: TeamData;
  clock: { now: Date };
}

export async function openStage(open: (now: () => Date) => Promise<Database>): Promise<DataStage> {
  const clock = { now: new Date("2026-03-10T12:00:00.000Z") };
  const now = () => clock.now;
  const database = await open(now);
  return { database, data: openTeamData(database, { now, randomBytes }), clock };
}

let counter = 0;

/** A team of its own, with the repository `app`. */
export async function makeTeam(data: TeamData, name = `team-${++counter}`): Promise<{ team: string; ann: Caller }> {
  await data.createTeam(name, "Ann");
  // The first one ends after 90 days, and tests move the clock.
  const made = await data.issueToken(name, "Ann", { label: "", days: null });
  const ann = await mustCall(data, made?.token ?? "");
  await data.addRepository(ann, "app");
  return { team: name, ann };
}

export async function addCaller(
  data: TeamData,
  ann: Caller,
  name: string,
  role: Parameters<TeamData["addPerson"]>[2],
): Promise<Caller> {
  await data.addPerson(ann, name, role);
  const made = await data.addToken(ann, name, { label: "", days: null });
  return mustCall(data, made?.token ?? "");
}

export function put(
  data: TeamData,
  caller: Caller,
  path: string,
  text: string,
  expected: string | null,
  options: { repository?: string; limits?: DataLimits; name?: string; vector?: Float32Array } = {},
) {
  const memory = {
    text,
    hash: createHash("sha256").update(text).digest("hex"),
    name: options.name ?? path,
    description: "",
    terms: termsOf(text),
    vector: options.vector ?? null,
  };
  return data.write(
    caller,
    { repository: options.repository ?? "app", path, expected, memory },
    options.limits ?? LIMITS,
  );
}

export function find(data: TeamData, caller: Caller, words: string, vector: Float32Array | null = null) {
  return data.search(caller, { terms: termsOf(words), vector, limit: 10 });
}
