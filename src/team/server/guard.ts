/** What every request passes before its route: form, size, token, rate, tenant, role, in this order. Each step may throw a `Refusal`. */

import type { World } from "../../world.ts";
import { PROTOCOL } from "../protocol.ts";
import {
  type Access,
  notFound,
  type Refusal,
  type Route,
  refuse,
  refuseRole,
  refuseSize,
  type TeamServer,
} from "./route.ts";
import { covers, type Entered, findPlainNameProblem } from "./team-data.ts";

/** Nothing of the body is read here, so nobody without a right can make us hold one. */
export function checkForm({ limits }: TeamServer, { access }: Route, url: string, headers: Headers): void {
  const protocol = headers.get("memdir-protocol");
  if (access.to !== "open" && protocol !== PROTOCOL) {
    const what = protocol === null ? "no protocol is named" : "this server does not speak that protocol";
    throw refuse(400, "protocol", `${what}: send \`Memdir-Protocol: ${PROTOCOL}\`, the one it knows`);
  }
  // A small body that unpacks to a large one is never unpacked.
  if ((headers.get("content-encoding") ?? "identity").trim().toLowerCase() !== "identity") {
    const message = "compressed bodies are not accepted: send it as it is, without Content-Encoding";
    throw refuse(415, "encoding", message, { headers: { connection: "close" } });
  }
  const length = Number(headers.get("content-length") ?? 0);
  if (!(length <= limits.memory.requestBytes)) throw refuseSize("a request", limits.memory.requestBytes);
  if (access.to !== "open" && /[?&](?:access_?token|token)=/i.test(url)) {
    throw refuse(
      400,
      "token",
      "a token does not belong in a URL: send it as `Authorization: Bearer TOKEN` and revoke this one",
    );
  }
}

/** Ours are 40 to 60 characters; the database is not asked for a hash of anything longer. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]{1,200}) *$/i;

/** Who asks, in a route that is not open. */
export async function identify(
  { data, limits }: TeamServer,
  access: Access,
  headers: Headers,
  repository: string,
): Promise<Entered> {
  // Only from the header: what is in a URL ends up in logs and histories.
  const token = BEARER.exec(headers.get("authorization") ?? "")?.[1];
  const asked = access.to === "repository" && !findPlainNameProblem(repository) ? repository : null;
  const entered = token === undefined ? null : await data.enter(token, limits.rate, asked);
  if (entered) return entered;
  const message =
    token === undefined
      ? "no token was sent: send it as `Authorization: Bearer TOKEN`"
      : "the token is unknown, expired or revoked: ask an admin of the team for another";
  throw refuse(401, "token", message, { headers: { "www-authenticate": "Bearer" } });
}

/** A caller who cannot read a repository is told that there is none; one who can is told which role is missing. */
export async function authorize(
  { data, limits, now }: TeamServer,
  { access, action }: Route,
  { caller, isAdmitted, role, teamRole }: Entered,
  params: Readonly<Record<string, string>>,
): Promise<void> {
  const deny = async (refusal: Refusal, repository: string | null = null) => {
    await data.audit(caller, [{ action: action || "read", repository, outcome: "denied" }]);
    throw refusal;
  };
  // Before the rights are looked at: a caller who has none, or tries other teams, is slowed down as well.
  if (!isAdmitted) throw refuseRate(limits.rate, now);
  if (params.team !== caller.team) await deny(notFound("team"));
  if (access.to === "repository" && !covers(role, access.role))
    await deny(role ? refuseRole(access) : notFound("repository"), role ? params.repository : null);
  if (access.to === "team" && !covers(teamRole, access.role)) await deny(refuseRole(access));
}

/** Windows begin at whole multiples of their length, so the end of this one is known without asking the database. */
function refuseRate({ requests, seconds }: TeamServer["limits"]["rate"], now: World["now"]): Refusal {
  const wait = Math.max(1, Math.ceil(seconds - ((now().getTime() / 1000) % seconds)));
  const message = `this token made more than ${requests} requests in ${seconds} seconds: wait ${wait} seconds and go on`;
  return refuse(429, "rate", message, { headers: { "retry-after": String(wait) } });
}
