/** Signing in with a real identity provider on loopback, through the server and the client's half. */

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Identity } from "../../../src/team/server/data-people.ts";
import { openOidc } from "../../../src/team/server/oidc.ts";
import { startServer } from "../../../src/team/server/serve.ts";
import { signIn } from "../../../src/team/server-remote.ts";
import { openMemoryData } from "./memory-data.ts";
import { confirm, type Provider, startProvider } from "./provider.ts";

let provider: Provider;
const now = () => new Date();

beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider?.close());

const open = (secret = provider.clientSecret) =>
  openOidc(
    {
      issuer: provider.issuer,
      clientId: "memdir",
      scope: "openid profile groups",
      groupsClaim: "groups",
      roles: { acme: { developers: "writer", leads: "admin", web: { web: "writer", app: "reader" } } },
      hours: 24,
    },
    secret,
    { fetch, now },
  );

/** The server's half with a provider that is real; what it would do to the team is noted. */
async function serve() {
  const data = openMemoryData(now);
  const { token } = await data.createTeam("acme", "ann");
  const identities: Identity[] = [];
  const signing = {
    ...data,
    signIn: async (_: string, identity: Identity) => {
      identities.push(identity);
      return identity.roles.size > 0 ? { id: "t", token } : null;
    },
  };
  const server = await startServer({ data: signing, now, log: () => {}, oidc: open(), port: 0 });
  return { server, identities, token };
}

const network = {
  fetch,
  now,
  random: Math.random,
  log: () => {},
  // The provider is asked at once instead of every five seconds.
  sleep: () => new Promise<void>((done) => setTimeout(done, 50)),
};

it("signs a person in: a code, a browser, groups as roles, a token", async () => {
  const { server, identities, token } = await serve();
  provider.groups.bob = ["developers", "web", "chess"];
  let page = "";
  const given = await signIn(network, { server: server.url, team: "acme" }, ([line = ""]) => {
    const url = /https?:\S+/.exec(line)?.[0] ?? "";
    void confirm(url, "bob").then((last) => {
      page = last;
    });
  });
  expect(given).toBe(token);
  expect(page).toContain("Success");
  const [identity] = identities;
  expect(identity).toMatchObject({ name: "bob", subject: `${provider.issuer} bob`, hours: 24 });
  expect([...(identity?.roles ?? [])].sort()).toEqual([
    ["", "writer"],
    ["app", "reader"],
    ["web", "writer"],
  ]);
  await server.close();
});

it("refuses who is in no group that has a role, and teams that nobody signs in to", async () => {
  const { server, identities } = await serve();
  provider.groups.eve = ["chess"];
  const asked = signIn(network, { server: server.url, team: "acme" }, ([line = ""]) => {
    void confirm(/https?:\S+/.exec(line)?.[0] ?? "", "eve");
  });
  await expect(asked).rejects.toThrow("no group");
  expect(identities[0]?.roles.size).toBe(0);
  await expect(signIn(network, { server: server.url, team: "other" }, () => {})).rejects.toThrow("has no sign-in");
  await server.close();
});

it("says that the provider refuses, or does not answer, without its words", async () => {
  const wrong = open("another secret");
  await expect(wrong.start("acme")).rejects.toThrow(/401, invalid_client; check "clientId"/);
  await expect(open().finish("acme", "no such handle")).rejects.toMatchObject({ code: "usage" });
  expect(() => openOidc({ ...SETTINGS, issuer: "http://id.example" }, null, { fetch, now })).toThrow("https");
  const gone = openOidc({ ...SETTINGS, issuer: "http://127.0.0.1:1" }, null, { fetch, now });
  await expect(gone.start("acme")).rejects.toMatchObject({ code: "network" });
});

it("names what is wrong with the settings to the operator and to who signs in, and does not blame the database", async () => {
  await open().check();
  const elsewhere = openOidc({ ...SETTINGS, issuer: `${provider.issuer}/realm` }, null, { fetch, now });
  await expect(elsewhere.check()).rejects.toThrow('check "issuer"');
  const discovery = JSON.stringify({ issuer: provider.issuer, token_endpoint: provider.issuer });
  const plain = { ...SETTINGS, issuer: provider.issuer };
  const without = openOidc(plain, null, { fetch: async () => new Response(discovery), now });
  await expect(without.check()).rejects.toThrow("turn on the device flow");
  const logged: string[] = [];
  const data = openMemoryData(now);
  const log = (line: string) => void logged.push(line);
  const server = await startServer({ data, now, log, oidc: open("another secret"), port: 0 });
  const asked = signIn({ ...network, sleep: async () => {} }, { server: server.url, team: "acme" }, () => {});
  await expect(asked).rejects.toThrow(/503 \(the identity provider .*invalid_client/);
  expect(JSON.parse(logged[0] ?? "").reason).toContain("invalid_client");
  await server.close();
});

const SETTINGS = {
  issuer: "",
  clientId: "memdir",
  scope: "openid",
  groupsClaim: "groups",
  roles: { acme: { all: "reader" as const } },
  hours: 1,
};
