/** Teams and tokens that the operator makes on the server's own machine; a token is only ever written to a file of theirs. */

import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { PRIVATE_MODE, removeQuietly } from "../../disk/atomic.ts";
import { diskError, MemdirError } from "../../errors.ts";
import { findPersonProblem, findPlainNameProblem } from "../protocol.ts";
import type { TeamData } from "./data.ts";
import { makeFolder } from "./pglite.ts";

export interface Start {
  team: string;
  /** Where the first admin's token is, if the team was created just now. */
  tokenFile: string | null;
}

/** More servers than ever shared one folder. */
const MAX_FILES = 1000;

/** Makes the team with its first admin if it is not there. Without a name: `default`, and only where there is no team at all. */
export async function prepareTeam(
  data: TeamData,
  options: { team: string | undefined; admin: string; folder: string },
): Promise<Start> {
  const teams = await data.teams();
  const team = options.team ?? (teams.includes("default") ? "default" : (teams[0] ?? "default"));
  if (teams.includes(team)) return { team, tokenFile: null };
  // Before the file is made: the team's name is part of its path.
  checkName("--team", team, findPlainNameProblem(team));
  checkName("--admin", options.admin, findPersonProblem(options.admin));
  const name = teams.length === 0 ? "admin-token" : `admin-token-${team}`;
  try {
    const tokenFile = await keepToken(join(options.folder, name), async () => {
      return (await data.createTeam(team, options.admin)).token;
    });
    return { team, tokenFile };
  } catch (error) {
    // Another server on the same database was faster: its operator has the token.
    if ((await data.teams()).includes(team)) return { team, tokenFile: null };
    throw error;
  }
}

/** For the operator, when an admin lost their token. The file that holds it. */
export async function issueToken(
  data: TeamData,
  options: { team: string; person: string; file: string; isNamed: boolean },
): Promise<string> {
  const { team, person } = options;
  return keepToken(
    options.file,
    async () => {
      const made = await data.issueToken(team, person, { label: "from the operator", days: null });
      if (made) return made.token;
      const teams = await data.teams();
      const what = teams.includes(team)
        ? `the team ${team} has no ${JSON.stringify(person)}: an admin can add people`
        : `there is no team ${JSON.stringify(team)}: give --team with one of ${teams.join(", ") || "none so far"}`;
      throw new MemdirError("not-found", what);
    },
    options.isNamed,
  );
}

/**
 * The file is there before the token is made, as a token that cannot be written is lost. What is there already is another
 * server's and stays: the next free name is taken, unless the file was named by a person.
 */
async function keepToken(wanted: string, make: () => Promise<string>, isNamed = false): Promise<string> {
  const { file, fd } = openFree(wanted, isNamed);
  let isWritten = false;
  try {
    const token = await make();
    writeSync(fd, `${token}\n`);
    fsyncSync(fd);
    isWritten = true;
    return file;
  } finally {
    closeSync(fd);
    if (!isWritten) removeQuietly(file);
  }
}

function openFree(wanted: string, isNamed: boolean): { file: string; fd: number } {
  makeFolder(dirname(wanted));
  for (let i = 1; ; i++) {
    const file = i === 1 ? wanted : `${wanted}-${i}`;
    try {
      return { file, fd: openSync(file, "wx", PRIVATE_MODE) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || i > MAX_FILES) throw diskError(error, "write", file);
      if (isNamed) throw new MemdirError("conflict", `${file} already exists: name another file, or move it away`);
    }
  }
}

function checkName(option: string, name: string, problem: string | null): void {
  if (problem) throw new MemdirError("usage", `${option} ${JSON.stringify(name)} cannot be used: ${problem}`);
}
