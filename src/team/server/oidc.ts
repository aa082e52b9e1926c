/** Signing in with an identity provider (OpenID Connect, device flow): the server asks the provider, the person confirms in a browser, groups become roles. */

import * as v from "valibot";
import { attempt, MemdirError } from "../../errors.ts";
import type { World } from "../../world.ts";
import { readBody } from "../http.ts";
import { isLoopback } from "../membership.ts";
import { covers, findPersonProblem, type LoginAnswer, ROLES, type Role, readAs } from "../protocol.ts";
import type { Identity } from "./data-people.ts";

const ROLE = v.picklist(ROLES);

/** The file that `--oidc` names. The client's secret is in a file of its own, or there is none. */
export const OidcSettings = v.strictObject({
  issuer: v.pipe(v.string(), v.url()),
  clientId: v.pipe(v.string(), v.minLength(1)),
  clientSecretFile: v.optional(v.string()),
  scope: v.optional(v.string(), "openid profile email"),
  /** The claim that lists a person's groups. */
  groupsClaim: v.optional(v.string(), "groups"),
  /** By team and group: a role in the whole team, or roles by repository. */
  roles: v.record(v.string(), v.record(v.string(), v.union([ROLE, v.record(v.string(), ROLE)]))),
  /** How long a token is good; who loses their groups keeps what they have for no longer. */
  hours: v.optional(v.pipe(v.number(), v.minValue(1), v.maxValue(24 * 90)), 24),
});
export type OidcSettings = v.InferOutput<typeof OidcSettings>;

export type Oidc = ReturnType<typeof openOidc>;

/** A provider is a small service next door; what takes longer is down. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 500_000;
/** Endpoints of a provider do not move; keys are not needed. */
const DISCOVERY_MS = 3_600_000;
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

const Discovery = v.object({
  issuer: v.string(),
  device_authorization_endpoint: v.string(),
  token_endpoint: v.string(),
  userinfo_endpoint: v.optional(v.string()),
});
const Device = v.object({
  device_code: v.string(),
  user_code: v.string(),
  verification_uri: v.string(),
  verification_uri_complete: v.optional(v.string()),
  expires_in: v.optional(v.number(), 600),
  interval: v.optional(v.number(), 5),
});
const Tokens = v.object({ id_token: v.string(), access_token: v.optional(v.string()) });
const Claims = v.looseObject({
  iss: v.string(),
  sub: v.pipe(v.string(), v.minLength(1)),
  aud: v.union([v.string(), v.array(v.string())]),
  exp: v.number(),
});

export function openOidc(settings: OidcSettings, secret: string | null, world: Pick<World, "fetch" | "now">) {
  const { issuer, clientId, scope, groupsClaim, roles, hours } = settings;
  const { protocol, hostname } = new URL(issuer);
  // Claims are believed because they come from the provider itself, over TLS: their signature adds nothing to that.
  if (protocol !== "https:" && !isLoopback(hostname.replace(/[[\]]/g, "")))
    throw new MemdirError("usage", "the issuer of --oidc must be an https:// address");
  let found: { at: number; value: v.InferOutput<typeof Discovery> } | null = null;

  const discover = async () => {
    const at = world.now().getTime();
    if (found && Math.abs(at - found.at) < DISCOVERY_MS) return found.value;
    const { status, body } = await ask(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
    if (status !== 200)
      throw misbehaved(`${status} for /.well-known/openid-configuration below the issuer; check "issuer"`);
    if (!v.is(v.looseObject({ device_authorization_endpoint: v.string() }), body))
      throw misbehaved("it names no device_authorization_endpoint; turn on the device flow there");
    const value = readAs(Discovery, body, misbehaved);
    if (value.issuer.replace(/\/$/, "") !== issuer.replace(/\/$/, "")) throw misbehaved("it names another issuer");
    found = { at, value };
    return value;
  };

  const ask = async (url: string, form?: Record<string, string>, bearer?: string) => {
    const basic = `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret ?? "")}`).toString("base64")}`;
    const authorization = bearer ? `Bearer ${bearer}` : form && secret !== null ? basic : null;
    try {
      const response = await world.fetch(url, {
        method: form ? "POST" : "GET",
        headers: { accept: "application/json", ...(authorization && { authorization }) },
        ...(form && { body: new URLSearchParams({ client_id: clientId, ...form }) }),
        redirect: "error",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const bytes = await readBody(response.body, MAX_BYTES);
      const body: unknown = attempt(() => JSON.parse(Buffer.from(bytes ?? []).toString("utf8")), null);
      return { status: response.status, body };
    } catch (cause) {
      const away = "the identity provider is not answering: try again in a moment";
      throw new MemdirError("network", away, { cause, details: { isProvider: true } });
    }
  };

  /** From the token itself; from the provider's account of the person where groups are missing there. */
  const readClaims = async ({ id_token, access_token }: v.InferOutput<typeof Tokens>) => {
    const payload = Buffer.from(id_token.split(".")[1] ?? "", "base64url").toString("utf8");
    const said: unknown = attempt(() => JSON.parse(payload), null);
    const claims = readAs(Claims, said, misbehaved);
    const { issuer: own, userinfo_endpoint } = await discover();
    if (claims.iss !== own || ![claims.aud].flat().includes(clientId) || claims.exp * 1000 < world.now().getTime())
      throw misbehaved("its token is for another program, or too old");
    if (groupsClaim in claims || !userinfo_endpoint || !access_token) return claims;
    const { body } = await ask(userinfo_endpoint, undefined, access_token);
    const more = v.safeParse(v.looseObject({ sub: v.literal(claims.sub) }), body);
    return more.success ? { ...more.output, ...claims } : claims;
  };

  return {
    /** Throws where the provider does not answer, or has no device flow. */
    check: async () => void (await discover()),
    /** Null for a team that nobody signs in to. */
    async start(team: string): Promise<LoginAnswer | null> {
      if (!Object.hasOwn(roles, team)) return null;
      const { device_authorization_endpoint: url } = await discover();
      const { status, body } = await ask(url, { scope });
      if (status !== 200) {
        const why = [status, errorOf(body)].filter(Boolean).join(", ");
        throw misbehaved(`${why}; check "clientId", its secret, "scope", and that this client may use the device flow`);
      }
      const device = readAs(Device, body, misbehaved);
      return {
        handle: device.device_code,
        userCode: device.user_code,
        url: device.verification_uri_complete ?? device.verification_uri,
        seconds: device.expires_in,
        interval: device.interval,
      };
    },
    /** Null while the person has not confirmed. */
    async finish(team: string, handle: string): Promise<Identity | null> {
      const { token_endpoint: url } = await discover();
      const { status, body } = await ask(url, { grant_type: GRANT, device_code: handle });
      const error = errorOf(body);
      if (status !== 200 && (error === "authorization_pending" || error === "slow_down")) return null;
      if (status !== 200)
        throw new MemdirError("usage", `signing in failed (${WORDS[error] ?? "refused by the provider"}): start again`);
      const claims = await readClaims(readAs(Tokens, body, misbehaved));
      const names = [claims.preferred_username, claims.name, claims.email, claims.sub].map(String);
      const name = names
        .map((one) => one.normalize("NFC").trim().slice(0, 100))
        .find((one) => !findPersonProblem(one) && one !== "undefined");
      const groups = [claims[groupsClaim]].flat().filter((group) => typeof group === "string");
      return {
        subject: `${claims.iss} ${claims.sub}`,
        name: name ?? "somebody",
        roles: rolesOf(roles[team] ?? {}, groups),
        hours,
      };
    },
  };
}

/** The word for programs (RFC 6749, 5.2); "" where there is none. Descriptions may quote anything. */
function errorOf(body: unknown): string {
  const { success, output } = v.safeParse(v.looseObject({ error: v.pipe(v.string(), v.regex(/^\w{1,40}$/)) }), body);
  return success ? output.error : "";
}

const WORDS: Record<string, string> = {
  access_denied: "it was refused in the browser",
  expired_token: "it took too long",
};

/** The strongest of what each group gives. */
function rolesOf(map: OidcSettings["roles"][string], groups: readonly string[]): Map<string, Role> {
  const roles = new Map<string, Role>();
  for (const group of groups) {
    const given = Object.hasOwn(map, group) ? map[group] : undefined;
    for (const [place, role] of Object.entries(typeof given === "string" ? { "": given } : (given ?? {})))
      if (!covers(roles.get(place) ?? null, role)) roles.set(place, role);
  }
  return roles;
}

function misbehaved(problem: string): MemdirError {
  const message = `the identity provider gave an answer that cannot be used: ${problem}`;
  return new MemdirError("network", message, { details: { isProvider: true } });
}
