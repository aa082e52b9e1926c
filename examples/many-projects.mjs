// A server that remembers for many projects, each in a folder of its own: POST /PROJECT/save and /PROJECT/recall, GET /status.
import { createServer } from "node:http";
import path from "node:path";
import { json } from "node:stream/consumers";
import { MemdirError, openMemdir } from "memdir";

const folder = path.resolve(process.argv[2] ?? "projects");
const memdirs = new Map();
const find = (project) => {
  if (!/^[a-z0-9-]+$/.test(project)) throw new MemdirError("usage", "a project's name is of a-z, 0-9 and -");
  if (!memdirs.has(project)) memdirs.set(project, openMemdir({ memoryDir: path.join(folder, project) }));
  return memdirs.get(project);
};
const answer = async (request) => {
  if (request.url === "/status") return { projects: memdirs.size, megabytes: process.memoryUsage().rss >> 20 };
  const [, project, verb] = request.url.split("/");
  const [memdir, input] = [await find(project), /** @type {any} */ (await json(request))];
  if (verb === "save") return memdir.save(input);
  if (verb === "recall") return memdir.recall(input.prompt);
  throw new MemdirError("not-found", "the address is /PROJECT/save or /PROJECT/recall");
};
const server = createServer((request, response) => {
  const send = (status, value) => response.writeHead(status).end(JSON.stringify(value));
  const fail = (error) => send(error instanceof MemdirError ? 400 : 500, { error: error.message });
  answer(request).then((value) => send(200, value), fail);
});
server.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  process.stdout.write(`${/** @type {any} */ (server.address()).port}\n`);
});
process.stdin.on("end", () => server.close()).resume(); // memdir itself keeps no process alive
