/** What every request passes before its route: form, size, token, rate, tenant, role, in this order. */

import { PROTOCOL, type Role } from "../protocol.ts";
import { type Answer, notFound, refuse } from "./answer.ts";
import { covers, readToken } from "./auth.ts";
import { refuseRate, refuseSize } from "./limits.ts";
import { findPlainNameProblem } from "./name-form.ts";
import type { Access, Route, ServerWorld } from "./route.ts";
import type { Caller } from "./team-data.ts";

/** `caller` is also known of a refused request once its token was. */
export interface Admission {
  caller: Caller | null;
  repository: string;
  /** Of the repository, for who may read it. */
  state: string | null;
  refused: Answer | null;
}

/** Nothing of the body is read here, so nobody without a right can make us hold one. */
export async function admitRequest(
  world: ServerWorld,
  route: Route,
  request: { url: string; headers: Headers; params: Readonly<Record<string, string>> },
): Promise<Admission> {
  const { access } = route;
  const out = (refused: Answer | null, caller: Caller | null = null): Admission => ({
    caller,
    repository: "",
    state: null,
    refused,
  });

  const misshapen = findFormProblem(world, access, request);
  if (misshapen) return out(misshapen);
  if (access.to === "open") return out(null);

  const token = readToken(request.headers);
  const named = request.params.repository ?? "";
  const asked = access.to === "repository" && !findPlainNameProblem(named) ? named : null;
  const entered = token === null ? null : await world.data.enter(token, world.limits.rate, asked);
  if (!entered) return out(refuseToken(token !== null));
  const { caller } = entered;
  // Before the rights are looked at: a caller who has none, or tries other teams, is slowed down as well.
  if (!entered.isAdmitted) return out(refuseRate(world.limits.rate, world.now()), caller);
  if (request.params.team !== caller.team) {
    await noteDenial(world, route, caller, null);
    return out(notFound("team"), caller);
  }
  return { caller, state: entered.state, ...(await checkRole(world, route, entered, named)) };
}

/** Whoever cannot read a repository is told that there is none; whoever can read it is told which role is missing. */
async function checkRole(
  world: ServerWorld,
  route: Route,
  { caller, role, teamRole }: { caller: Caller; role: Role | null; teamRole: Role | null },
  repository: string,
): Promise<Omit<Admission, "caller" | "state">> {
  const { access } = route;
  if (access.to === "repository") {
    if (covers(role, access.role)) return { repository, refused: null };
    await noteDenial(world, route, caller, role ? repository : null);
    return { repository, refused: role ? refuseRole(access) : notFound("repository") };
  }
  if (access.to === "team" && !covers(teamRole, access.role)) {
    await noteDenial(world, route, caller, null);
    return { repository, refused: refuseRole(access) };
  }
  return { repository, refused: null };
}

function findFormProblem(
  { limits }: ServerWorld,
  access: Access,
  { url, headers }: { url: string; headers: Headers },
): Answer | null {
  const protocol = headers.get("memdir-protocol");
  if (access.to !== "open" && protocol !== PROTOCOL) {
    const what = protocol === null ? "no protocol is named" : "this server does not speak that protocol";
    return refuse(400, "protocol", `${what}: send \`Memdir-Protocol: ${PROTOCOL}\`, the one it knows`);
  }
  // A small body that unpacks to a large one is never unpacked.
  if ((headers.get("content-encoding") ?? "identity").trim().toLowerCase() !== "identity") {
    const message = "compressed bodies are not taken: send it as it is, without Content-Encoding";
    return refuse(415, "encoding", message, { headers: { connection: "close" } });
  }
  const length = Number(headers.get("content-length") ?? 0);
  if (!(length <= limits.memory.requestBytes)) return refuseSize("a request", limits.memory.requestBytes);
  if (access.to !== "open" && /[?&](?:access_?token|token)=/i.test(url)) {
    return refuse(
      400,
      "token",
      "a token does not belong into a URL: send it as `Authorization: Bearer TOKEN` and revoke this one",
    );
  }
  return null;
}

function refuseToken(given: boolean): Answer {
  const message = given
    ? "the token is unknown, expired or revoked: ask an admin of the team for another"
    : "no token was sent: send it as `Authorization: Bearer TOKEN`";
  return refuse(401, "token", message, { headers: { "www-authenticate": "Bearer" } });
}

export function refuseRole(access: Exclude<Access, { to: "open" | "member" }>): Answer {
  const where = access.to === "team" ? "the whole team" : "this repository";
  return refuse(403, "role", `this needs the role ${access.role} in ${where}: ask an admin of the team for it`);
}

async function noteDenial(world: ServerWorld, route: Route, caller: Caller, repository: string | null): Promise<void> {
  const action = route.action || "read";
  await world.data.audit(caller, [{ action, repository, path: null, revision: null, outcome: "denied" }]);
}
