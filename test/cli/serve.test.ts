import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import type { OpenedData } from "../../src/team/server/data.ts";
import { callerOf } from "../team/server/caller.ts";
import { makeCertificate } from "../team/server/certificate.ts";
import { requestOf, toTold } from "../team/server/desk.ts";
import { openMemoryData } from "../team/server/memory-data.ts";
import { until } from "../until.ts";
import { errorOf, makeWorld } from "../world.ts";
import { beginServe } from "./serve-call.ts";

it("makes a team, keeps the token to a file, serves, and ends in order", async () => {
  const world = makeWorld();
  const memory = openMemoryData(() => world.now);
  const opened: OpenedData = { data: memory, name: "memory", hasVectors: false, isEmbedded: false };
  const folder = path.join(world.home, ".memdir-server");
  const call = beginServe(world, {}, { open: async () => opened });
  const url = await call.url();
  const tokenFile = path.join(folder, "admin-token");
  const token = fs.readFileSync(tokenFile, "utf8").trim();
  expect(call.printed.join("\n")).toContain(`memdir join ${url}/default/REPOSITORY --token-file ${tokenFile}`);
  const told = await toTold(await fetch(`${url}/v1/teams/default`, requestOf({}, token)));
  expect(told.body).toMatchObject({ person: "ann", role: "admin" });
  expect(call.warned.map((line) => JSON.parse(line).status)).toEqual([200]);
  call.end();
  expect([await call.code, memory.closed]).toEqual([0, true]);
  expect(call.printed.join() + call.warned.join()).not.toContain(token);

  const issue = { "issue-token": "ann" };
  const issued = beginServe(world, issue, { open: async () => ({ ...opened, data: memory }) });
  expect(await issued.code).toBe(0);
  const other = fs.readFileSync(path.join(folder, "token-ann"), "utf8").trim();
  expect(await callerOf(memory, other)).toMatchObject({ person: "ann" });
  expect(issued.printed.join()).not.toContain(other);
  const nobody = beginServe(world, { "issue-token": "../eve" }, { open: async () => opened });
  expect((await errorOf(nobody.code)).code).toBe("not-found");
});

it("answers --json with one value and no token", async () => {
  const world = makeWorld();
  const data = openMemoryData(() => world.now);
  const open = async (): Promise<OpenedData> => ({ data, name: "memory", hasVectors: false, isEmbedded: false });
  const call = beginServe(world, { json: true, team: "acme", admin: "zoë" }, { open });
  await until(() => call.answers.length > 0);
  const tokenFile = path.join(world.home, ".memdir-server", "admin-token");
  expect(call.answers).toEqual([
    { url: expect.any(String), port: expect.any(Number), team: "acme", database: "memory", tokenFile },
  ]);
  call.end();
  expect([await call.code, call.printed]).toEqual([0, []]);
});

it("refuses what does not go together, before anything is opened", async () => {
  const world = makeWorld();
  const file = (name: string, text: string) => {
    fs.writeFileSync(path.join(world.top, name), text);
    return path.join(world.top, name);
  };
  const key = file("k.pem", makeCertificate().key);
  const refusals: [Record<string, string | boolean>, RegExp][] = [
    [{ "tls-cert": "c.pem" }, /go together/],
    [{ "tls-cert": "c.pem", "tls-key": "k.pem", "behind-tls": true }, /give one of them/],
    [{ "token-file": "f" }, /--issue-token/],
    [{ database: "mysql://h/d" }, /^the URL of the database must be postgres:/],
    [{ database: "postgres://u:hunter2@h/d" }, /^--database must not hold a password/],
    [{ port: "http" }, /--port/],
    [{ host: "0.0.0.0" }, /--behind-tls/],
    [
      { "tls-cert": file("c.pem", makeCertificate().cert), "tls-key": key },
      /c\.pem and --tls-key .* belong to each other/,
    ],
  ];
  for (const [options, message] of refusals) {
    const data = path.join(world.top, "data");
    const error = await errorOf(beginServe(world, { data, ...options }).code);
    expect([error.code, error.message]).toEqual(["usage", expect.stringMatching(message)]);
    expect(error.message).not.toContain("hunter2");
    expect(fs.existsSync(data)).toBe(false);
  }
  const env = { ...world.env, MEMDIR_DATABASE_URL: "mysql://u:hunter2@h/d" };
  expect((await errorOf(beginServe(world, {}, { env }).code)).message).not.toContain("hunter2");
});

it("says what is wrong with the settings of --oidc", async () => {
  const world = makeWorld();
  const open = async (): Promise<OpenedData> => {
    return { data: openMemoryData(() => world.now), name: "memory", hasVectors: false, isEmbedded: false };
  };
  const settings = { issuer: "http://127.0.0.1:1", clientId: "memdir", roles: {} };
  const oidc = path.join(world.top, "oidc.json");
  const refusals: [string, RegExp][] = [
    ["{", /oidc\.json: it is not valid JSON$/],
    [JSON.stringify({ ...settings, secret: "hunter2" }), /`secret`: it is not known here$/],
    [JSON.stringify({ ...settings, clientSecretFile: "/nowhere/s" }), /clientSecretFile .*there is no such file$/],
  ];
  for (const [text, message] of refusals) {
    fs.writeFileSync(oidc, text);
    const error = await errorOf(beginServe(world, { oidc }, { open }).code);
    expect([error.code, error.message]).toEqual(["usage", expect.stringMatching(message)]);
  }
  fs.writeFileSync(oidc, JSON.stringify(settings));
  const call = beginServe(world, { oidc }, { open });
  await until(() => call.warned.some((line) => line.includes("the identity provider is not answering")));
  expect(await call.url()).toMatch(/^http/);
  call.end();
  expect(await call.code).toBe(0);
});

it("goes on when a service without a certificate is told to read it again", async () => {
  const world = makeWorld();
  const data = openMemoryData(() => world.now);
  const open = async (): Promise<OpenedData> => ({ data, name: "memory", hasVectors: false, isEmbedded: false });
  const others = process.listeners("SIGHUP");
  const call = beginServe(world, {}, { open });
  await call.url();
  const ours = process.listeners("SIGHUP").filter((listener) => !others.includes(listener));
  for (const listener of ours) listener("SIGHUP");
  expect(call.warned.join()).toContain("no certificate to read again");
  for (const listener of ours) process.removeListener("SIGHUP", listener);
  call.end();
  expect(await call.code).toBe(0);
});
