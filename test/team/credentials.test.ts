import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { checkToken, findToken, keepToken, tokensFile } from "../../src/team/membership.ts";
import { makeWorld, type World } from "../world.ts";

const ACME = { server: "https://h.example", team: "acme" };
const TOKEN = "memdir_0123456789abcdef";

function configOf(world: World, env = {}) {
  return readConfig({ cwd: world.project, env: { ...world.env, ...env }, projectRoot: world.project });
}

describe("tokens", () => {
  it("are kept for each server and team, for the user alone", () => {
    const config = configOf(makeWorld());
    expect(findToken(config, ACME)).toBeNull();
    keepToken(config, ACME, `${TOKEN}\n`);
    keepToken(config, { ...ACME, team: "other" }, "another-token-of-length");
    expect(findToken(config, ACME)).toBe(TOKEN);
    expect(findToken(config, { ...ACME, server: "https://h.example.evil" })).toBeNull();
    expect(fs.statSync(tokensFile(config)).mode & 0o777).toBe(0o600);
    keepToken(config, ACME, null);
    expect(findToken(config, ACME)).toBeNull();
    expect(findToken(config, { ...ACME, team: "other" })).toBe("another-token-of-length");
    expect(fs.readdirSync(path.dirname(tokensFile(config))).sort()).toEqual(["memdir-tokens.json"]);
  });

  it("that others can read are not used, nor written over", () => {
    const config = configOf(makeWorld());
    keepToken(config, ACME, TOKEN);
    for (const mode of [0o640, 0o604, 0o620]) {
      fs.chmodSync(tokensFile(config), mode);
      expect(() => findToken(config, ACME)).toThrow(/chmod 600/);
      expect(() => keepToken(config, ACME, TOKEN)).toThrow(/chmod 600/);
    }
  });

  it("in a link, a folder or a broken file are none", () => {
    const world = makeWorld();
    const config = configOf(world);
    const file = tokensFile(config);
    fs.writeFileSync(path.join(world.top, "elsewhere"), JSON.stringify({ "https://h.example/acme": TOKEN }), {
      mode: 0o600,
    });
    fs.symlinkSync(path.join(world.top, "elsewhere"), file);
    expect(findToken(config, ACME)).toBeNull();
    fs.unlinkSync(file);
    fs.mkdirSync(file);
    expect(findToken(config, ACME)).toBeNull();
    fs.rmdirSync(file);
    fs.writeFileSync(file, `{"x": ${TOKEN}`, { mode: 0o600 });
    expect(() => findToken(config, ACME)).toThrow(/fix it by hand/);
    expect(() => keepToken(config, ACME, TOKEN)).toThrow(/fix it by hand/);
    expect(() => findToken(config, ACME)).not.toThrow(TOKEN);
    fs.writeFileSync(file, JSON.stringify({ "https://h.example/acme": 7 }), { mode: 0o600 });
    expect(findToken(config, ACME)).toBeNull();
    fs.writeFileSync(file, "");
    expect(findToken(config, { server: "__proto__", team: "x" })).toBeNull();
  });

  it("come from MEMDIR_TOKEN first, which a repository cannot set, and only for the server that it is for", () => {
    const world = makeWorld();
    const given = (server: string) => configOf(world, { MEMDIR_TOKEN: TOKEN, MEMDIR_TOKEN_SERVER: server });
    expect(findToken(given("https://h.example/"), ACME)).toBe(TOKEN);
    keepToken(configOf(world), ACME, "kept-token-of-length");
    for (const other of ["https://h.example.evil", "https://h.example:8443", "https://h.example/below"])
      expect(findToken(given(other), ACME)).toBe("kept-token-of-length");
    keepToken(configOf(world), ACME, null);
    expect(findToken(given("https://other.example"), ACME)).toBeNull();
    expect(() => findToken(configOf(world, { MEMDIR_TOKEN: TOKEN }), ACME)).toThrow(
      "set MEMDIR_TOKEN_SERVER=https://h.example as well",
    );
    fs.mkdirSync(path.join(world.project, ".claude"));
    for (const name of ["settings.json", "settings.local.json"]) {
      fs.writeFileSync(path.join(world.project, ".claude", name), JSON.stringify({ env: { MEMDIR_TOKEN: TOKEN } }));
    }
    const config = configOf(world);
    expect(findToken(config, ACME)).toBeNull();
    expect(config.problems.join()).toContain("MEMDIR_TOKEN is not taken from a repository");
  });

  it("have a form, and are not quoted when they lack it", () => {
    expect(checkToken(` ${TOKEN}\r\n`, "it")).toBe(TOKEN);
    for (const wrong of [
      "",
      "short-secret",
      "two words are no token",
      "line\nbreak-in-a-token",
      "x".repeat(600),
      "ümläut-in-a-token",
    ]) {
      const failed = () => checkToken(wrong, "the token");
      expect(failed).toThrow("the token is not a token");
      if (wrong !== "") expect(failed).not.toThrow(wrong);
    }
  });
});
