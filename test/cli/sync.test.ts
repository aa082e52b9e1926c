import fs from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runOf } from "../../src/cli/command.ts";
import { LIMITS } from "../../src/team/protocol.ts";
import { sync } from "../../src/verbs/sync.ts";
import { callerOf } from "../team/server/caller.ts";
import { until } from "../until.ts";
import { errorOf, makeWorld, sha256 } from "../world.ts";
import { hearCall } from "./call.ts";
import { LONG, type Member, openTeamDesk, share, type TeamDesk, URL } from "./team-desk.ts";

async function twoPeople(): Promise<{ desk: TeamDesk; ann: Member; bob: Member }> {
  const desk = await openTeamDesk();
  const ann = await desk.addPerson("ann", "admin");
  const bob = await desk.addPerson("bob", "writer");
  for (const one of [ann, bob]) await one.run("join", { args: [URL], options: { "token-file": one.tokenFile } });
  desk.requests.length = 0;
  return { desk, ann, bob };
}

const NOTHING = {
  pulled: [],
  pushed: [],
  removed: { here: [], there: [] },
  merged: [],
  conflicts: [],
  refused: [],
  waiting: [],
  notices: [],
};

describe("memdir sync", () => {
  it("carries a memory from one to the other", async () => {
    const { desk, ann, bob } = await twoPeople();
    share(ann.world, "deploys.md", "On Tuesdays.");
    const pushed = await ann.run("sync", { json: true });
    expect(pushed).toMatchObject({ code: 0, answers: [{ ...NOTHING, pushed: ["deploys.md"] }] });
    const pulled = await bob.run("sync", { json: true });
    expect(pulled).toMatchObject({ code: 0, answers: [{ ...NOTHING, pulled: ["deploys.md"] }] });
    expect(bob.world.read("team/deploys.md")).toContain("On Tuesdays.");
    desk.requests.length = 0;
    const quiet = await bob.run("sync");
    expect(quiet.printed).toEqual(["nothing to exchange: both sides are the same"]);
    expect(desk.requests).toEqual(["GET /v1/teams/acme/repositories/app/memories"]);
  });

  it("keeps both texts when both changed, and says so", async () => {
    const { ann, bob } = await twoPeople();
    share(ann.world, "deploys.md", "On Tuesdays.");
    await ann.run("sync");
    await bob.run("sync");
    share(ann.world, "deploys.md", "On Wednesdays.");
    share(bob.world, "deploys.md", "On Thursdays.");
    await ann.run("sync");
    const met = await bob.run("sync", { json: true });
    expect(met.code).toBe(1);
    const [{ path: file, copy }] = met.answers[0].conflicts;
    expect(file).toBe("deploys.md");
    expect(bob.world.read("team/deploys.md")).toContain("Wednesdays");
    expect(bob.world.read(`team/${copy}`)).toContain("Thursdays");
    await ann.run("sync");
    expect(ann.world.read(`team/${copy}`)).toContain("Thursdays");
    const status = await ann.run("team", { json: true });
    expect(status.answers[0].conflicts).toEqual([copy]);
  });

  it("holds back secrets and private memories, whole, and names them", async () => {
    const { desk, ann } = await twoPeople();
    const secret = `ghp_${"a1B2".repeat(9)}`;
    share(ann.world, "token.md", `Use ${secret} for CI.`);
    share(ann.world, "me.md", "I like tea.", "type: user");
    share(ann.world, "own.md", "Not for others.", "type: project\nshare: false");
    share(ann.world, "fine.md", "We squash commits.");
    const heard = await ann.run("sync");
    expect(heard.code).toBe(1);
    const said = [...heard.printed, ...heard.warned].join("\n");
    expect(said).toContain("pushed fine.md");
    for (const file of ["token.md", "me.md", "own.md"]) expect(said).toContain(`held back ${file}`);
    expect(said).toMatch(/token\.md: .*line 7/);
    expect(said).not.toContain(secret);
    expect(desk.requests.filter((request) => request.startsWith("PUT"))).toEqual([
      "PUT /v1/teams/acme/repositories/app/memories/fine.md",
    ]);
  });

  it("does not hold back what others have shared already", async () => {
    const { desk, ann, bob } = await twoPeople();
    share(ann.world, "a.md", "x");
    await ann.run("sync");
    const caller = await callerOf(desk.data, fs.readFileSync(ann.tokenFile, "utf8").trim().replace(LONG, ""));
    if (!caller) throw new Error("the token is unknown");
    const text = "No frontmatter at all.\n";
    const memory = { text, hash: sha256(text), name: "old", description: "", terms: [], vector: null };
    await desk.data.write(caller, { repository: "app", path: "old.md", expected: null, memory }, LIMITS);
    expect((await bob.run("sync", { json: true })).answers[0].pulled).toEqual(["a.md", "old.md"]);
    expect(await bob.run("sync", { json: true })).toMatchObject({ code: 0, answers: [NOTHING] });
    bob.world.write("team/old.md", "No frontmatter, but changed.\n");
    expect((await bob.run("sync", { json: true })).answers[0].refused).toEqual([
      { path: "old.md", reason: expect.stringContaining("does not say what type it is") },
    ]);
  });

  it("removes for everybody what was forgotten, and only then", async () => {
    const { ann, bob } = await twoPeople();
    for (const name of ["a.md", "b.md", "c.md"]) share(ann.world, name, `It is ${name}.`);
    await ann.run("sync");
    await bob.run("sync");
    await (await bob.world.open({ scope: "team" })).forget("a");
    fs.unlinkSync(bob.world.path("team", "b.md"));
    const heard = await bob.run("sync", { json: true });
    expect(heard.answers[0]).toMatchObject({ removed: { here: [], there: ["a.md"] }, waiting: [{ path: "b.md" }] });
    await ann.run("sync");
    expect(ann.world.files().filter((file) => /^team\/.\.md$/.test(file))).toEqual(["team/b.md", "team/c.md"]);
  });

  it("with --dry-run says what would happen and does none of it", async () => {
    const { desk, ann, bob } = await twoPeople();
    share(ann.world, "a.md", "From ann.");
    await ann.run("sync");
    share(bob.world, "b.md", "From bob.");
    const before = bob.world.files();
    desk.requests.length = 0;
    const heard = await bob.run("sync", { options: { "dry-run": true }, json: true });
    expect(heard.answers[0]).toMatchObject({ pulled: ["a.md"], pushed: ["b.md"] });
    expect(bob.world.files()).toEqual(before);
    expect(desk.requests.filter((request) => /^(PUT|DELETE)/.test(request))).toEqual([]);
    const shown = await bob.run("sync", { options: { "dry-run": true } });
    expect(shown.printed.at(-1)).toBe("1 pulled, 1 pushed (dry run: nothing was changed)");
  });

  it("loses nothing when the network drops in the middle", async () => {
    const { desk, ann, bob } = await twoPeople();
    for (const name of ["a.md", "b.md", "c.md"]) share(ann.world, name, `It is ${name}.`);
    desk.onRequest = (request) => {
      if (request.endsWith("b.md")) throw new TypeError("fetch failed");
    };
    expect((await errorOf(ann.run("sync"))).code).toBe("network");
    desk.onRequest = () => {};
    expect((await ann.run("sync")).code).toBe(0);
    expect((await bob.run("sync", { json: true })).answers[0].pulled.sort()).toEqual(["a.md", "b.md", "c.md"]);
  });

  it("shows a bar, sends nothing private, and needs a team", async () => {
    const { desk, ann } = await twoPeople();
    ann.world.write("private.md", "---\nname: private\ndescription: d\ntype: project\n---\n\nmine alone\n");
    share(ann.world, "a.md", "x");
    const heard = await ann.run("sync");
    expect(heard.progress.at(-1)).toBe("end");
    expect(desk.requests.join()).not.toContain("private");
    const world = makeWorld();
    const { call } = hearCall(world, {});
    const error = await errorOf(runOf(sync)(call));
    expect(error).toMatchObject({ code: "usage", message: expect.stringContaining("memdir join") });
  });

  it("says how to get in again when the token is gone", async () => {
    const { ann } = await twoPeople();
    fs.rmSync(path.join(ann.world.home, ".claude", "memdir-tokens.json"));
    const error = await errorOf(ann.run("sync"));
    expect(error).toMatchObject({ code: "usage", message: expect.stringContaining(`memdir join ${URL} --token-file`) });
  });

  it("touches no mirror of another team", async () => {
    const { desk, ann } = await twoPeople();
    const marker = { server: "https://other.example", team: "acme", repository: "app" };
    ann.world.write("team/.memdir/mirror.json", JSON.stringify(marker));
    share(ann.world, "a.md", "x");
    desk.requests.length = 0;
    expect((await errorOf(ann.run("sync"))).code).toBe("conflict");
    expect(desk.requests).toEqual([]);
  });

  it("watches until it is told to end, and sends what changed last", async () => {
    const { desk, ann, bob } = await twoPeople();
    const stop = new AbortController();
    const { call, printed, answers } = hearCall(bob.world, { options: { watch: true }, json: true });
    const watching = bob.watch(call, stop);
    await until(() => desk.requests.length > 0);
    // Who began to listen later has heard of it: so has the one that watches.
    let heard = 0;
    const watcher = fs.watch(bob.world.path("team"), () => heard++);
    onTestFinished(() => watcher.close());
    await until(() => {
      share(bob.world, "late.md", "Written at the end.");
      return heard > 1;
    });
    stop.abort();
    expect(await watching).toBe(0);
    // A value on each line, for programs that read along.
    expect(printed.map((line) => JSON.parse(line))).toEqual([{ ...NOTHING, pushed: ["late.md"] }]);
    expect(answers).toEqual([]);
    expect((await ann.run("sync", { json: true })).answers[0].pulled).toEqual(["late.md"]);
  });

  it.each([
    [{ branch: "x" }, "--branch goes with --git"],
    [{ watch: true, "dry-run": true }, "--dry-run looks once"],
    [{ deadline: "soon" }, "--deadline must be a whole number from 1 to 3600"],
    [{ git: "" }, "empty"],
  ])("refuses %j", async (options, words) => {
    const { ann } = await twoPeople();
    expect((await errorOf(ann.run("sync", { options }))).message).toContain(words);
  });
});
