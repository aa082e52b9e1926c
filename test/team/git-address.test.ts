import fs from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { findBranchProblem, parseGitAddress } from "../../src/team/git-address.ts";
import { makeGitPlace } from "./git-place.ts";

describe("parseGitAddress", () => {
  it.each([
    ["https://git.example/ann/notes.git", "https://git.example/ann/notes.git", "https"],
    ["https://ann:pw@git.example:8443/notes", "https://git.example:8443/notes", "https"],
    ["ssh://git@git.example/notes", "ssh://git.example/notes", "ssh"],
    ["git@git.example:ann/notes.git", "git.example:ann/notes.git", "ssh"],
    ["http://127.0.0.1:3000/notes", "http://127.0.0.1:3000/notes", "http"],
    ["http://ann:pw@localhost/notes", "http://localhost/notes", "http"],
    ["http://[::1]:3000/notes", "http://[::1]:3000/notes", "http"],
    ["/srv/notes.git", "/srv/notes.git", "file"],
    ["file:///srv/notes.git", "/srv/notes.git", "file"],
    ["../notes.git", "/home/ann/notes.git", "file"],
  ])("takes %s", (text, name, protocols) => {
    expect(parseGitAddress(text, "/home/ann/work")).toMatchObject({ name, protocols });
  });

  it.each([
    "",
    " ",
    "-oProxyCommand=touch /tmp/x",
    "--upload-pack=touch /tmp/x",
    "ext::sh -c touch% /tmp/x",
    "fd::3",
    "::x",
    "transport+x::y",
    "ssh://-oProxyCommand=x/notes",
    "ssh://ann@-oProxyCommand=x/notes",
    "ann@-oProxyCommand=x:notes",
    "ftp://git.example/notes",
    "http://git.example/notes",
    "http://127.0.0.1.example/notes",
    "http://localhost@git.example/notes",
    "git://git.example/notes",
    "https://git.example/a\nb",
    "relative/notes",
  ])("refuses %j", (text) => {
    expect(() => parseGitAddress(text)).toThrow(expect.objectContaining({ code: "usage" }));
  });

  it("shows nothing of user, password, token or query, nor control characters", () => {
    const { name, mask } = parseGitAddress("https://ann:s3cr%40t-pw@git.example/notes?private_token=abcdef");
    expect(name).toBe("https://git.example/notes");
    const said =
      "fatal: https://ann:s3cr%40t-pw@git.example/notes?private_token=abcdef: s3cr@t-pw ann:s3cr@t-pw \x1b[31m\nhttps://x:y@other.example/";
    expect(mask(said)).not.toMatch(/s3cr|abcdef|ann|x:y|\p{Cc}/u);
    const token = parseGitAddress("https://ghp_0123456789abcdef@git.example/notes");
    expect(token.mask("bad ghp_0123456789abcdef here")).toBe("bad *** here");
    expect(parseGitAddress("ssh://git@git.example/x").mask("git failed")).toBe("git failed");
  });

  it("shows no credential in a refusal either", () => {
    expect(() => parseGitAddress("http://ann:s3cret@git.example/x")).toThrow(/git\.example/);
    expect(() => parseGitAddress("http://ann:s3cret@git.example/x")).not.toThrow(/s3cret/);
  });
});

describe("findBranchProblem", () => {
  it("takes plain names only", () => {
    for (const name of ["memdir", "memdir/ann", "a.b-c_d"]) expect(findBranchProblem(name), name).toBeNull();
    const odd = [
      "",
      "-x",
      "a..b",
      "a//b",
      "a/",
      "a.",
      ".a",
      "a/.b",
      "a.lock",
      "a.lock/b",
      "a b",
      "a:b",
      "a~1",
      "a^",
      "ä",
      "x".repeat(101),
      "@{u}",
    ];
    for (const name of odd) expect(findBranchProblem(name), name).not.toBeNull();
  });
});

describe("credentials", () => {
  it("are in no message, no name and no file", async () => {
    const place = makeGitPlace();
    // Nobody listens on port 1.
    const remote = "http://ann:s3cret-word@127.0.0.1:1/notes.git";
    const ann = place.open("ann", { remote });
    const error = await ann.list().catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "network" });
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)} ${ann.name} ${place.logged}`).not.toContain(
      "s3cret",
    );
    await expect(ann.apply([{ kind: "put", path: "a.md", text: "x", expected: null }])).rejects.not.toThrow(/s3cret/);
    for (const file of fs.readdirSync(place.cacheOf("ann"), { withFileTypes: true, recursive: true }))
      if (file.isFile())
        expect(fs.readFileSync(path.join(file.parentPath, file.name), "latin1")).not.toContain("s3cret");
  });
});
