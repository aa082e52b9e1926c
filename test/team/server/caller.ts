/** Whose token it is, asked as the server asks. */

import type { TeamData } from "../../../src/team/server/data.ts";
import type { Caller } from "../../../src/team/server/data-base.ts";

export async function callerOf(data: TeamData, token: string): Promise<Caller | null> {
  return (await data.enter(token, null, null))?.caller ?? null;
}

export async function mustCall(data: TeamData, token: string): Promise<Caller> {
  const caller = await callerOf(data, token);
  if (!caller) throw new Error("the token is unknown");
  return caller;
}
