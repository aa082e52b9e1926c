import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { errorOf } from "../world.ts";
import { openTeamDesk, share, URL } from "./team-desk.ts";

describe("memdir join", () => {
  it("makes the first repository of a new team, keeps the token apart, and takes what is there", async () => {
    const desk = await openTeamDesk();
    const ann = await desk.addPerson("ann", "admin");
    const first = await ann.run("join", { args: [URL], options: { "token-file": ann.tokenFile } });
    expect(first.code).toBe(0);
    expect(first.printed.join("\n")).toContain(`joined ${URL}`);
    const claude = path.join(ann.world.home, ".claude");
    const token = fs.readFileSync(ann.tokenFile, "utf8").trim();
    expect(JSON.parse(fs.readFileSync(path.join(claude, "memdir.json"), "utf8"))).toEqual({
      teams: { [ann.world.project]: URL },
    });
    expect(fs.statSync(path.join(claude, "memdir-tokens.json")).mode & 0o777).toBe(0o600);
    expect(ann.world.grep(token).sort()).toEqual(["home/.claude/memdir-tokens.json", "token"]);
    expect([...first.printed, ...first.warned].join()).not.toContain(token);

    share(ann.world, "deploys.md", "Releases are cut on Tuesdays.");
    await ann.run("sync");
    const bob = await desk.addPerson("bob", "writer");
    const input = fs.readFileSync(bob.tokenFile, "utf8");
    const joined = await bob.run("join", { args: [URL], input, json: true });
    expect(joined.answers).toEqual([
      expect.objectContaining({ joined: URL, directory: bob.world.path("team"), pulled: ["deploys.md"] }),
    ]);
    const rows = await (await bob.world.open()).list();
    expect(rows.map(({ scope, name }) => [scope, name])).toEqual([["team", "deploys"]]);
  });

  it("keeps nothing when the server does not take the token", async () => {
    const desk = await openTeamDesk();
    const ann = await desk.addPerson("ann", "admin");
    fs.writeFileSync(ann.tokenFile, "memdir_not-a-token-of-anybody");
    const error = await errorOf(ann.run("join", { args: [URL], options: { "token-file": ann.tokenFile } }));
    expect(error.code).toBe("network");
    expect(error.message).not.toContain("not-a-token");
    expect(fs.readdirSync(path.join(ann.world.home, ".claude"))).toEqual([]);
  });

  it("does not write down a token that comes with every call", async () => {
    const desk = await openTeamDesk();
    const ann = await desk.addPerson("ann", "admin");
    const token = fs.readFileSync(ann.tokenFile, "utf8").trim();
    ann.world.env = { ...ann.world.env, MEMDIR_TOKEN: token };
    const open = ann.world.open;
    ann.world.open = (more) => open({ env: ann.world.env, ...more });
    expect((await errorOf(ann.run("join", { args: [URL] }))).message).toContain("MEMDIR_TOKEN_SERVER");
    ann.world.env = { ...ann.world.env, MEMDIR_TOKEN_SERVER: URL.replace(/\/[^/]+\/[^/]+$/, "/") };
    expect((await ann.run("join", { args: [URL] })).code).toBe(0);
    expect((await ann.run("sync")).code).toBe(0);
    expect(ann.world.grep(token)).toEqual(["token"]);
    await ann.run("join", { options: { leave: true } });
    const elsewhere = await errorOf(ann.run("join", { args: ["https://other.example/acme/app"] }));
    expect(elsewhere.message).toContain("MEMDIR_TOKEN is for ");
  });

  it("says which repositories there are, and makes one only when told", async () => {
    const desk = await openTeamDesk();
    const ann = await desk.addPerson("ann", "admin");
    const options = { "token-file": ann.tokenFile };
    await ann.run("join", { args: [URL], options });
    await ann.run("join", { options: { leave: true } });
    fs.rmSync(ann.world.path("team"), { recursive: true });
    const other = URL.replace(/app$/, "other");
    const error = await errorOf(ann.run("join", { args: [other], options }));
    expect(error).toMatchObject({ code: "not-found", message: expect.stringContaining("(app); --create") });
    expect((await ann.run("join", { args: [other], options: { ...options, create: true } })).code).toBe(0);
    const bob = await desk.addPerson("bob", "writer");
    const third = URL.replace(/app$/, "third");
    const refused = await errorOf(bob.run("join", { args: [third], options: { "token-file": bob.tokenFile } }));
    expect(refused.message).toContain("an admin of the team can make it");
  });

  it("belongs to one team at a time, and leaves what was shared on the disk", async () => {
    const desk = await openTeamDesk();
    const ann = await desk.addPerson("ann", "admin");
    const options = { "token-file": ann.tokenFile };
    await ann.run("join", { args: [URL], options });
    share(ann.world, "a.md", "x");
    expect((await errorOf(ann.run("join", { args: [`${URL}2`], options }))).code).toBe("conflict");
    const left = await ann.run("join", { options: { leave: true }, json: true });
    expect(left.answers).toEqual([{ left: URL, directory: ann.world.path("team") }]);
    expect(ann.world.read("team/a.md")).toContain("x");
    expect(await (await ann.world.open()).list()).toEqual([]);
    const claude = path.join(ann.world.home, ".claude");
    expect(JSON.parse(fs.readFileSync(path.join(claude, "memdir-tokens.json"), "utf8"))).toEqual({});
    expect((await errorOf(ann.run("join", { options: { leave: true } }))).code).toBe("usage");
    // Whoever comes back finds the mirror as it was left.
    expect((await ann.run("join", { args: [URL], options })).code).toBe(0);
    expect((await (await ann.world.open()).list()).map(({ name }) => name)).toEqual(["a"]);
  });

  it("does not take a folder of private memories for the mirror", async () => {
    const desk = await openTeamDesk();
    const ann = await desk.addPerson("ann", "admin");
    share(ann.world, "mine.md", "private words");
    const error = await errorOf(ann.run("join", { args: [URL], options: { "token-file": ann.tokenFile } }));
    expect(error).toMatchObject({ code: "conflict" });
    expect(desk.requests.some((request) => request.startsWith("PUT"))).toBe(false);
    expect(fs.existsSync(path.join(ann.world.home, ".claude", "memdir.json"))).toBe(false);
  });

  it.each([
    [[], {}, "join what"],
    [["memory.example"], {}, "not a URL"],
    [["http://memory.example/acme/app"], {}, "https"],
    [[URL], { "token-file": "missing" }, "not a file with a token"],
    [[URL], {}, "a token is needed"],
  ])("says what is wrong with %j %j", async (args, options, words) => {
    const desk = await openTeamDesk();
    const ann = await desk.addPerson("ann", "admin");
    expect((await errorOf(ann.run("join", { args, options }))).message).toContain(words);
    expect(desk.requests).toEqual([]);
  });
});
