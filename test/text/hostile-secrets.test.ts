/** Secrets are looked for in linear time, whatever stands there. Takes long, so it runs with the heavy ones. */

import { describe, expect, it } from "vitest";
import { findSecrets } from "../../src/text/secrets.ts";
import { makeDice } from "../team/dice.ts";

const dice = makeDice(20_261_116);

describe("time", () => {
  const seconds = (text: string) => {
    // The processor's time, as a loaded machine says nothing of how long it takes.
    const from = process.cpuUsage();
    const found = findSecrets(text);
    return { seconds: process.cpuUsage(from).user / 1e6, found };
  };

  it("checks 10 MB without a newline, and finds what stands in the middle", () => {
    const value = `ghp_${dice.alnum(36)}`;
    const half = "lorem ipsum dolor sit amet, ".repeat(180_000);
    const run = seconds(`${half} ${value} ${half}`);
    expect(run.found).toHaveLength(1);
    expect(run.seconds).toBeLessThan(5);
    expect(seconds("abcdefghij0123456789".repeat(500_000)).seconds).toBeLessThan(5);
  }, 30_000);

  const SEEDS = [
    "password",
    "password:",
    "password=",
    'password:"',
    "password is ",
    "password for a",
    "secret key ",
    "api key = ",
    "--token ",
    "token|",
    "eyJ",
    "eyJ-",
    "eyJaaaaaaaaaaaaaaa.",
    "eyJaaaaaaaaaaaaaaa.a.",
    "://",
    "a://a:",
    "http://a:a",
    "https://aaaaaaaaaaaaaaaaaaaaaaaa",
    "M1",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nAAAA",
    "LS0tLS1CRUdJTiB",
    "Authorization: ",
    "Authorization: Bearer ",
    "bearer ",
    "curl ",
    "curl -u a:",
    "login a password ",
    "docker login ",
    "docker login -p ",
    "mysql ",
    "mysql -p",
    "sshpass -p ",
    '"auth":"',
    "memdir_",
    "memdir_a",
    "<password>",
    "sk-",
    "sk-a",
    "xoxb-",
    "xoxb-a-",
    "SG.",
    "SG.a.a",
    "AKIA",
    "AKIAAAAAAAAAAAAAAAAA,",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-",
    "ghp_",
    "gl",
    "dp.pt.",
    "1:AA",
    "12345678:AA",
    "Q~",
    "key ",
    "TOKEN=",
    "log in ",
    "| token |\n",
    "token a1B2c3D4e5F6g7H8i9J0k ",
    "a1B2c3D4e5 is the password ",
    "\\n",
    '"',
    "a",
    "0",
    " ",
    "_",
    "-",
    ".",
    "/",
    "=",
  ];

  it.each(SEEDS)(
    "takes linear time on a megabyte of %j",
    (seed) => {
      for (const text of [seed, `${seed} `].map((unit) => unit.repeat(Math.ceil(1_000_000 / unit.length)))) {
        expect(seconds(text).seconds).toBeLessThan(4);
      }
      expect(seconds(seed + "a".repeat(1_000_000)).seconds).toBeLessThan(4);
    },
    60_000,
  );

  it("survives many findings", () => {
    const run = seconds(
      Array.from(
        { length: 20_000 },
        () => `password: ${dice.lower(1)}${dice.digits(1)}${dice.alnum(7)}${dice.lower(1)} ghp_${dice.alnum(36)}`,
      ).join("\n"),
    );
    expect(run.found).toHaveLength(40_000);
    expect(run.found.at(-1)?.line).toBe(20_000);
    expect(run.seconds).toBeLessThan(4);
  }, 30_000);
});
