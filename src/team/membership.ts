/** Which team's server a project belongs to, and the mirror of that team's memories on this machine. */

import { readdirSync } from "node:fs";
import type { Config } from "../config.ts";
import { realPath } from "../disk/fence.ts";
import { diskError, MemdirError } from "../errors.ts";
import type { Project } from "../project/root.ts";
import { mirrorOf } from "../project/scopes.ts";
import { setUserEntry } from "../project/user-file.ts";
import { type Directory, openState, prepareDirectory, type StateRecord } from "../store/store.ts";
import { formatMembership, type Membership, parseMembership } from "./server-url.ts";

export type { Membership };

/** From the user's own file only: a repository must not send anybody's memories anywhere. Throws for an entry that cannot be used. */
export function findMembership(config: Config, project: Project): Membership | null {
  const text = Object.hasOwn(config.teams, project.root) ? config.teams[project.root] : undefined;
  return text === undefined ? null : parseMembership(text);
}

/** Null leaves the team. */
export function keepMembership(config: Config, project: Project, membership: Membership | null): void {
  setUserEntry(config, "teams", project.root, membership && formatMembership(membership));
}

/** Says whose copy the directory is. */
interface Marker extends Membership {
  /** Who we are on the server, as it said when we joined; "" where that is not known. */
  person: string;
}

const MAX_MARKER_BYTES = 10_000;

/**
 * Makes the directory ready to be this team's mirror, or throws: only what lies exactly there, is no link and was made for this
 * very team is ever sent. `dir` is the project's memory directory.
 */
export async function prepareMirror(
  directory: Directory,
  dir: string,
  membership: Membership,
  person = "",
): Promise<void> {
  const { path } = directory;
  if (path !== mirrorOf(dir) || realPath(path) !== mirrorOf(realPath(dir))) {
    throw new MemdirError("outside", `${path} is not the mirror of ${formatMembership(membership)}: nothing was sent`);
  }
  const found = readMarker(directory);
  if (found === "none") {
    checkEmpty(directory);
    prepareDirectory(directory);
    markerOf(directory).write({ ...membership, person });
  } else if (found !== formatMembership(membership)) {
    const whose = found === "unreadable" ? "something that cannot be read" : found;
    throw new MemdirError(
      "conflict",
      `${path} is a mirror of ${whose}, not of ${formatMembership(membership)}: it is left alone; move it away, then run this again`,
    );
  }
}

/** Which team the directory is a mirror of, as a URL. */
export function readMarker(directory: Directory): string | "none" | "unreadable" {
  let isBroken = false;
  const marker = markerOf(directory).read(() => {
    isBroken = true;
  });
  if (marker) return formatMembership(marker);
  return isBroken ? "unreadable" : "none";
}

export function readPerson(directory: Directory): string {
  return markerOf(directory).read()?.person ?? "";
}

function markerOf({ path }: Directory): StateRecord<Marker> {
  return openState(path).record("mirror", parseMarker, { maxBytes: MAX_MARKER_BYTES, flush: true });
}

function parseMarker(value: unknown): Marker | null {
  const { server, team, repository, person } = value as Record<string, unknown>;
  if (typeof server !== "string" || typeof team !== "string" || typeof repository !== "string") return null;
  return { server, team, repository, person: typeof person === "string" ? person : "" };
}

/** What is in a folder without a marker is not known to be the team's: it may be private. */
function checkEmpty({ path }: Directory): void {
  let names: string[];
  try {
    names = readdirSync(path).filter((name) => name !== ".memdir");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw diskError(error, "read", path);
  }
  if (names.length === 0) return;
  throw new MemdirError(
    "conflict",
    `${path} holds files that did not come from the team's server: move them away, run \`memdir sync\`, and share those that are meant for the team with \`memdir promote\``,
  );
}
