/** Which team's server a project belongs to, and the mirror of that team's memories on this machine. */

import { lstatSync, readdirSync } from "node:fs";
import type { Config } from "../config.ts";
import { moveInto, PRIVATE_MODE, writeTemporary } from "../disk/atomic.ts";
import { realPath } from "../disk/real-path.ts";
import { readRegular } from "../disk/regular.ts";
import { diskError, MemdirError } from "../errors.ts";
import type { Project } from "../project/root.ts";
import { mirrorOf } from "../project/scopes.ts";
import { setUserEntry } from "../project/user-file.ts";
import { type Directory, prepareDirectory, statePath, withPins } from "../store/store.ts";
import { parseObject } from "./http.ts";
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
const MARKER = "mirror.json";
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
    await withPins(directory, (pinned) => writeMarker(pinned, { ...membership, person }));
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
  if (!lstatSync(statePath(directory, MARKER), { throwIfNoEntry: false })) return "none";
  const { server, team, repository } = parseMarker(directory);
  if (typeof server !== "string" || typeof team !== "string" || typeof repository !== "string") return "unreadable";
  return formatMembership({ server, team, repository });
}

/** Who we are on the server, as it said when we joined; "" where that is not known. */
export function readPerson(directory: Directory): string {
  const { person } = parseMarker(directory);
  return typeof person === "string" ? person : "";
}

function parseMarker(directory: Directory): Record<string, unknown> {
  const text = readRegular(statePath(directory, MARKER), { maxBytes: MAX_MARKER_BYTES })?.toString("utf8") ?? "";
  return parseObject(text) ?? {};
}

function writeMarker(directory: Directory, marker: Membership & { person: string }): void {
  const text = `${JSON.stringify(marker, null, 2)}\n`;
  const file = statePath(directory, MARKER);
  try {
    moveInto(writeTemporary(statePath(directory, "tmp"), text, PRIVATE_MODE), file);
  } catch (error) {
    throw diskError(error, "write", file);
  }
}

/** What lies in a folder without a marker is not known to be the team's: it may be private. */
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
