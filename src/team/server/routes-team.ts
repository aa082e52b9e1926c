/** Routes of the team for every member: who am I here, which repositories are there, search over all of them. */

import { termsOf } from "../../text/terms.ts";
import type { SearchAnswer } from "../protocol.ts";
import type { TeamAnswer } from "../protocol-admin.ts";
import { type Answer, refuse } from "./answer.ts";
import type { Asked, Route, ServerWorld } from "./route.ts";

const MAX_QUERY = 1000;
const MAX_HITS = 50;
const DEFAULT_HITS = 10;

export const TEAM_ROUTES: readonly Route[] = [
  {
    method: "GET",
    path: "/v1/teams/:team",
    access: { to: "member" },
    action: "",
    description: {
      summary: "Who the caller is, which limits hold, and the repositories that they may read",
      answers: { 200: { text: "The team as the caller sees it.", schema: "TeamAnswer" } },
    },
    answer: showTeam,
  },
  {
    method: "GET",
    path: "/v1/teams/:team/search",
    access: { to: "member" },
    action: "search",
    description: {
      summary: "Memories of all repositories that the caller may read, best first",
      query: {
        q: { required: true, text: `What is looked for, at most ${MAX_QUERY} characters.` },
        limit: { text: `How many, from 1 to ${MAX_HITS}; ${DEFAULT_HITS} unless told.` },
      },
      answers: { 200: { text: "The hits.", schema: "SearchAnswer" } },
    },
    answer: search,
  },
];

async function showTeam({ data, limits }: ServerWorld, { caller }: Asked): Promise<Answer> {
  const [role, repositories] = await Promise.all([data.teamRoleOf(caller), data.repositories(caller)]);
  const roles = await Promise.all(repositories.map(({ name }) => data.roleOf(caller, name)));
  const body: TeamAnswer = {
    team: caller.team,
    person: caller.person,
    role,
    limits: limits.memory,
    repositories: repositories.flatMap(({ name, memories, bytes }, i) => {
      const own = roles[i];
      // Taken away between the two questions.
      return own ? [{ name, memories, bytes, role: own }] : [];
    }),
  };
  return { status: 200, body };
}

async function search({ data, embed }: ServerWorld, { caller, query }: Asked): Promise<Answer> {
  const text = query.get("q")?.trim() ?? "";
  const limit = query.get("limit") ?? String(DEFAULT_HITS);
  if (text === "" || text.length > MAX_QUERY) {
    return refuse(400, "form", `\`q\` must have 1 to ${MAX_QUERY} characters`);
  }
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_HITS) {
    return refuse(400, "form", `\`limit\` must be a number from 1 to ${MAX_HITS}`);
  }
  const vector = (await embed?.(text)) ?? null;
  const hits = await data.search(caller, { terms: termsOf(text), vector, limit: Number(limit) });
  await data.audit(caller, [{ action: "search", repository: null, path: null, revision: null, outcome: "ok" }]);
  const body: SearchAnswer = { hits };
  return { status: 200, body };
}
