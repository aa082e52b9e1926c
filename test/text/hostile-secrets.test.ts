/** Looking for secrets ends, whatever stands there. Takes long, so it runs with the heavy ones. */

import { describe, expect, it } from "vitest";
import { findSecrets } from "../../src/text/secrets.ts";
import { ends } from "../hang.ts";
import { makeDice } from "../team/dice.ts";

const dice = makeDice(20_261_116);

describe("large texts", () => {
  it("checks 10 MB without a newline, and finds what stands in the middle", () => {
    const value = `ghp_${dice.alnum(36)}`;
    const half = "lorem ipsum dolor sit amet, ".repeat(180_000);
    expect(ends(() => findSecrets(`${half} ${value} ${half}`))).toHaveLength(1);
    ends(() => findSecrets("abcdefghij0123456789".repeat(500_000)));
  });

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
    "password a1B2c3D4e5 ",
    "passphrase is abcd ",
    "| key | a1B2c3D4e5F6g7H8 |\n",
    "a1B2c3D4e5F6g7H8i9J0 ",
    "a=b:",
    "PIN ",
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

  it.each(SEEDS)("does not hang on a megabyte of %j", (seed) => {
    for (const text of [seed, `${seed} `].map((unit) => unit.repeat(Math.ceil(1_000_000 / unit.length)))) {
      ends(() => findSecrets(text));
    }
    ends(() => findSecrets(seed + "a".repeat(1_000_000)));
  });

  it("survives many findings", () => {
    const text = Array.from(
      { length: 20_000 },
      () => `password: ${dice.lower(1)}${dice.digits(1)}${dice.alnum(7)}${dice.lower(1)} ghp_${dice.alnum(36)}`,
    ).join("\n");
    const found = ends(() => findSecrets(text));
    expect(found).toHaveLength(40_000);
    expect(found.at(-1)?.line).toBe(20_000);
  });
});
