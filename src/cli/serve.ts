/** `memdir serve`: the team server, on an embedded database in a folder or on PostgreSQL. */

import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { type Env, processEnv, readConfig } from "../config.ts";
import { PRIVATE_MODE } from "../disk/atomic.ts";
import { diskError, MemdirError } from "../errors.ts";
import { type DataSource, type OpenedData, openServerData } from "../team/server/data.ts";
import { issueToken, prepareTeam, type Start } from "../team/server/first-start.ts";
import { prepareEngine, runNpm } from "../team/server/pglite.ts";
import type { TeamServer } from "../team/server/route.ts";
import { checkHost, type RunningServer, type ServerOptions, startServer } from "../team/server/serve.ts";
import { findPersonProblem } from "../team/server/team-data.ts";
import { askPerson } from "./ask.ts";
import type { Call, Run } from "./command.ts";

declare const __MEMDIR_VERSION__: string;

const DEFAULT_PORT = 7373;

export interface ServeDesk {
  env: Env;
  now: () => Date;
  runNpm: typeof runNpm;
  ask: (question: string) => Promise<boolean>;
  open: typeof openServerData;
  /** The name of whoever runs this; "" where the system does not know. */
  user: string;
  /** Resolves when the server should end. */
  untilEnd: () => Promise<unknown>;
}

export const run: Run = (call) =>
  serve(call, {
    env: processEnv(),
    now: () => new Date(),
    runNpm,
    ask: askPerson,
    open: openServerData,
    user: findUser(),
    // A second signal finds no listener, and ends the process at once.
    untilEnd: () => Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]),
  });

export async function serve(call: Call, desk: ServeDesk): Promise<number> {
  const folder = dataFolder(call, desk.env);
  // All that can be wrong with the call is said before a database is opened or made.
  checkOptions(call);
  const place = readPlace(call);
  const opened = await desk.open(chooseSource(call, desk, folder), desk.now);
  let server: RunningServer | null = null;
  try {
    if (call.value("issue-token") !== undefined) return await issue(call, opened, folder);
    const start = await prepareTeam(opened.data, {
      team: call.value("team"),
      admin: call.value("admin") ?? (findPersonProblem(desk.user) ? "admin" : desk.user),
      folder,
    });
    const log = openLog(call);
    const { data, hasVectors } = opened;
    server = await startServer({
      ...place,
      data,
      now: desk.now,
      log: log.write,
      embed: await makeEmbed(desk.env, hasVectors),
      version: __MEMDIR_VERSION__,
    });
    const ended = desk.untilEnd();
    greet(call, server, opened, start);
    await ended;
    if (!call.json) call.terminal.print("memdir serve: ending; requests under way are finished first");
    await server.close();
    await log.close();
    return 0;
  } finally {
    if (!server) await opened.data.close();
  }
}

/** From the environment of this process only: settings of a repository must not choose where memories go. */
function chooseSource(call: Call, desk: ServeDesk, folder: string): DataSource {
  const database = call.value("database") ?? desk.env.MEMDIR_DATABASE_URL;
  if (database) return { database };
  const ask = call.flag("yes") ? async () => true : call.terminal.interactive ? desk.ask : null;
  const say = (text: string) => call.terminal.warn(`memdir: ${text}`);
  return { folder, engine: () => prepareEngine(folder, { runNpm: desk.runNpm, ask, say }) };
}

function readPlace(call: Call): Pick<ServerOptions, "host" | "port" | "tls" | "behindTls"> {
  const host = call.value("host") ?? "127.0.0.1";
  const tls = readTls(call);
  const behindTls = call.flag("behind-tls");
  checkHost(host, tls !== null || behindTls);
  return { host, port: readPort(call.value("port")), tls, behindTls };
}

/** Vectors are only made where they can be kept. */
async function makeEmbed(env: Env, hasVectors: boolean): Promise<TeamServer["embed"]> {
  if (!hasVectors || env.MEMDIR_MEANING === "0") return null;
  const { openMeaning } = await import("../meaning/meaning.ts");
  const { meaning } = openMeaning();
  return meaning ? async (text) => meaning.embed(text) : null;
}

function greet(call: Call, server: RunningServer, { name }: OpenedData, { team, tokenFile }: Start): void {
  const { terminal } = call;
  if (call.json) {
    terminal.json({ url: server.url, port: server.port, team, database: name, tokenFile });
    return;
  }
  terminal.print(`memdir serve: ${server.url}, team ${team}, memories in ${name}`);
  if (call.flag("behind-tls")) {
    terminal.print("The proxy in front must do TLS, and nothing but the proxy may reach this port.");
  }
  if (tokenFile) {
    const address = `${server.url}/${team}/REPOSITORY`;
    terminal.print(`The admin's token is in ${tokenFile}, which only you can read. Next, in a project:`);
    terminal.print(`  memdir join ${address} --token-file ${tokenFile}`);
  }
}

async function issue(call: Call, { data }: OpenedData, folder: string): Promise<number> {
  const person = call.value("issue-token") ?? "";
  const named = call.value("token-file");
  const file = await issueToken(data, {
    team: call.value("team") ?? "default",
    person,
    file: named === undefined ? join(folder, `token-${person.replace(/[^\w-]+/g, "-")}`) : resolve(call.cwd, named),
    isNamed: named !== undefined,
  });
  if (call.json) call.terminal.json({ tokenFile: file });
  else call.terminal.print(`The token of ${person} is in ${file}, which only you can read.`);
  return 0;
}

function checkOptions(call: Call): void {
  const given = (name: string) => call.value(name) !== undefined;
  if (given("tls-cert") !== given("tls-key")) {
    throw new MemdirError("usage", "--tls-cert and --tls-key go together: give both files");
  }
  if (given("tls-cert") && call.flag("behind-tls")) {
    throw new MemdirError("usage", "--behind-tls says that a proxy does TLS, --tls-cert that we do: give one of them");
  }
  if (given("token-file") && !given("issue-token")) {
    throw new MemdirError("usage", "--token-file goes with --issue-token PERSON");
  }
}

function readTls(call: Call): { cert: Buffer; key: Buffer } | null {
  const [cert, key] = [call.value("tls-cert"), call.value("tls-key")];
  return cert === undefined || key === undefined ? null : { cert: readPem(call, cert), key: readPem(call, key) };
}

function readPem(call: Call, file: string): Buffer {
  try {
    return readFileSync(resolve(call.cwd, file));
  } catch (error) {
    throw diskError(error, "read", file);
  }
}

function dataFolder(call: Call, env: Env): string {
  const named = call.value("data");
  if (named !== undefined) return resolve(call.cwd, named);
  return join(readConfig({ cwd: call.cwd, env, projectRoot: call.cwd }).home, ".memdir-server");
}

/** Standard error, where services keep it, or a file that is only added to. */
function openLog(call: Call): { write(line: string): void; close(): Promise<void> } {
  const file = call.value("log");
  if (file === undefined) return { write: (line) => call.terminal.warn(line), close: async () => {} };
  const stream = createWriteStream(resolve(call.cwd, file), { flags: "a", mode: PRIVATE_MODE });
  let isBroken = false;
  stream.on("error", (error) => {
    // A log that cannot be written is no reason to end, and is said once.
    if (!isBroken) call.terminal.warn(`memdir: ${diskError(error, "write", file).message}`);
    isBroken = true;
  });
  return {
    write: (line) => void (isBroken || stream.write(`${line}\n`)),
    close: () => new Promise((done) => (isBroken ? done() : stream.end(() => done()))),
  };
}

function readPort(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= 0 && port <= 65_535) return port;
  throw new MemdirError("usage", `--port ${JSON.stringify(text)}: a port is a number from 0 to 65535`);
}

function findUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that has no name.
    return "";
  }
}
