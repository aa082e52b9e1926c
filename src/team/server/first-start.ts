/** Teams and tokens that the operator makes on the server's own machine; a token is only ever written to a file of theirs. */

import { dirname, join } from "node:path";
import { MemdirError } from "../../errors.ts";
import { writeToken } from "../credentials.ts";
import { findPersonProblem, findPlainNameProblem, TOKEN_DAYS } from "../protocol.ts";
import type { TeamData } from "./data.ts";
import { makeFolder } from "./pglite.ts";

export type Start = Awaited<ReturnType<typeof prepareTeam>>;

/**
 * Makes the team with its first admin if it is not there; then their token is in `tokenFile`. Without a name: `default`, and only
 * where there is no team at all.
 */
export async function prepareTeam(
  data: TeamData,
  options: { team: string | undefined; admin: string; folder: string },
) {
  const teams = await data.teams();
  const team = options.team ?? chooseTeam(teams);
  if (teams.includes(team)) return { team, tokenFile: null };
  // Before the file is made: the team's name is part of its path.
  checkName("--team", team, findPlainNameProblem(team));
  checkName("--admin", options.admin, findPersonProblem(options.admin));
  const name = teams.length === 0 ? "admin-token" : `admin-token-${team}`;
  try {
    makeFolder(options.folder);
    const make = async () => (await data.createTeam(team, options.admin)).token;
    const tokenFile = await writeToken(join(options.folder, name), make);
    return { team, tokenFile };
  } catch (error) {
    // Another server on the same database was faster: its operator has the token.
    if ((await data.teams()).includes(team)) return { team, tokenFile: null };
    throw error;
  }
}

/** Where none is named. */
function chooseTeam(teams: readonly string[]): string {
  return teams.includes("default") ? "default" : (teams[0] ?? "default");
}

/** For the operator, when an admin lost their token. The file that holds it. */
export async function issueToken(
  data: TeamData,
  options: { team: string | undefined; person: string; file: string; isNamed: boolean },
): Promise<string> {
  const { person, file, isNamed } = options;
  const make = async () => {
    const teams = await data.teams();
    // A token for one of several must not be for another than was meant.
    if (options.team === undefined && teams.length > 1)
      throw new MemdirError("usage", `there are several teams: give --team with one of ${teams.join(", ")}`);
    const team = options.team ?? chooseTeam(teams);
    const made = await data.issueToken(team, person, { label: "from the operator", days: TOKEN_DAYS });
    if (made) return made.token;
    const what = teams.includes(team)
      ? `the team ${team} has no ${JSON.stringify(person)}: an admin can add people`
      : `there is no team ${JSON.stringify(team)}: give --team with one of ${teams.join(", ") || "none so far"}`;
    throw new MemdirError("not-found", what);
  };
  makeFolder(dirname(file));
  return writeToken(file, make, isNamed ? "name another file, or move it away" : undefined);
}

function checkName(option: string, name: string, problem: string | null): void {
  if (problem) throw new MemdirError("usage", `${option} ${JSON.stringify(name)} cannot be used: ${problem}`);
}
