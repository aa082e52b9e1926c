import { spawn } from "node:child_process";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { type GitPlace, makeGitPlace, put, readText } from "./git-place.ts";

const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

describe("the git remote over HTTP", () => {
  it("signs in with what the URL holds, and tells nobody", async () => {
    const place = makeGitPlace();
    place.git("config", "http.receivepack", "true");
    const port = await serve(place, "ann:right-word");
    const ann = place.open("ann", { remote: `http://ann:right-word@127.0.0.1:${port}/remote.git` });
    expect((await put(ann, "a.md", "one")).kind).toBe("done");
    expect(await readText(ann, "a.md")).toBe("one");
    expect(await readText(place.open("bob"), "a.md")).toBe("one");
    expect(`${ann.name} ${(await ann.list()).id}`).not.toContain("right-word");
    // Another password is another way to the same remote.
    const wrong = place.open("ann", { remote: `http://ann:wrong-word@127.0.0.1:${port}/remote.git` });
    expect(wrong.name).toBe(ann.name);
    const error = await wrong.list().catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "network" });
    expect(error.message).toMatch(/Authentication failed.*sign in once/);
    expect(error.message).not.toMatch(/wrong-word|right-word/);
  });

  it("never asks for a password", async () => {
    const place = makeGitPlace();
    const port = await serve(place, "ann:right-word");
    const ann = place.open("ann", { remote: `http://127.0.0.1:${port}/remote.git` });
    await expect(ann.list()).rejects.toThrow(/could not read Username.*sign in once/);
  });
});

/** Git's own server program behind a password. */
async function serve(place: GitPlace, credentials: string): Promise<number> {
  const expected = `Basic ${Buffer.from(credentials).toString("base64")}`;
  const server = http.createServer((request, response) => {
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="notes"' }).end();
      return;
    }
    const [file = "", query = ""] = (request.url ?? "").split("?");
    const backend = spawn("git", ["http-backend"], {
      env: {
        ...place.env,
        GIT_PROJECT_ROOT: place.top,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: file,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        REMOTE_USER: "ann",
        REMOTE_ADDR: "127.0.0.1",
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    request.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on("data", (chunk) => chunks.push(chunk));
    backend.on("close", () => {
      const output = Buffer.concat(chunks);
      const end = output.indexOf("\r\n\r\n");
      for (const line of output.toString("latin1", 0, end).split("\r\n")) {
        const [name = "", value = ""] = line.split(/: (.*)/);
        if (name === "Status") response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.end(output.subarray(end + 4));
    });
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}
