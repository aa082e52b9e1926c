/** `memdir serve`: the team server, on an embedded database in a folder or on PostgreSQL. */

import { createWriteStream, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { readConfig } from "../config.ts";
import { PRIVATE_MODE } from "../disk/atomic.ts";
import { attempt, diskError, givenFileError, MemdirError } from "../errors.ts";
import { findPersonProblem } from "../team/protocol.ts";
import { type DataSource, type OpenedData, openServerData } from "../team/server/data.ts";
import { issueToken, prepareTeam, type Start } from "../team/server/first-start.ts";
import { prepareEngine, runNpm } from "../team/server/pglite.ts";
import type { TeamServer } from "../team/server/route.ts";
import { checkHost, type RunningServer, type ServerOptions, startServer } from "../team/server/serve.ts";
import { answer, type Call, portOf, type Run, untilSignal } from "./command.ts";

declare const __MEMDIR_VERSION__: string;

const DEFAULT_PORT = 7373;

export interface ServeOptions {
  runNpm?: typeof runNpm;
  open?: typeof openServerData;
  /** The name of whoever runs this; "" where the system does not know. */
  user?: string;
  /** Resolves when the server should end. */
  untilEnd?: () => Promise<unknown>;
}

export const serve: Run = (call) => serveTeam(call, {});

export async function serveTeam(call: Call, options: ServeOptions): Promise<number> {
  const { open = openServerData, user = findUser(), untilEnd = untilSignal } = options;
  const folder = dataFolder(call);
  // All that can be wrong with the call is said before a database is opened or made.
  checkOptions(call);
  const place = readPlace(call);
  const opened = await open(chooseSource(call, options.runNpm ?? runNpm, folder), call.now);
  let server: RunningServer | null = null;
  try {
    if (call.value("issue-token") !== undefined) return await issue(call, opened, folder);
    const start = await prepareTeam(opened.data, {
      team: call.value("team"),
      admin: call.value("admin") ?? (findPersonProblem(user) ? "admin" : user),
      folder,
    });
    const log = openLog(call);
    const embed = await makeEmbed(call, opened.hasVectors);
    const { data } = opened;
    const version = __MEMDIR_VERSION__;
    server = await startServer({ ...place, data, now: call.now, log: log.write, embed, version });
    const ended = untilEnd();
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
function chooseSource(call: Call, npm: typeof runNpm, folder: string): DataSource {
  const database = call.value("database") ?? call.env.MEMDIR_DATABASE_URL;
  if (database) return { database };
  const ask = call.flag("yes") ? async () => true : call.terminal.interactive ? call.terminal.ask : null;
  const say = (text: string) => call.terminal.warn(`memdir: ${text}`);
  return { folder, engine: () => prepareEngine(folder, { runNpm: npm, ask, say }) };
}

function readPlace(call: Call): Pick<ServerOptions, "host" | "port" | "tls" | "behindTls"> {
  const host = call.value("host") ?? "127.0.0.1";
  const [cert, key] = [readPem(call, "tls-cert"), readPem(call, "tls-key")];
  const tls = cert && key && { cert, key };
  const behindTls = call.flag("behind-tls");
  checkHost(host, tls !== null || behindTls);
  return { host, port: portOf(call) ?? DEFAULT_PORT, tls, behindTls };
}

/** Vectors are only made where they can be kept. */
async function makeEmbed({ env }: Call, hasVectors: boolean): Promise<TeamServer["embed"]> {
  if (!hasVectors || env.MEMDIR_MEANING === "0") return null;
  const { openMeaning } = await import("../meaning/meaning.ts");
  const { meaning } = openMeaning();
  return meaning ? async (text) => meaning.embed(text) : null;
}

function greet(call: Call, server: RunningServer, { name }: OpenedData, { team, tokenFile }: Start): void {
  const { url, port } = server;
  const proxy = "The proxy in front must do TLS, and nothing but the proxy may reach this port.";
  const next = [
    `The admin's token is in ${tokenFile}, which only you can read. Next, in a project:`,
    `  memdir join ${url}/${team}/REPOSITORY --token-file ${tokenFile}`,
  ];
  answer(call, { url, port, team, database: name, tokenFile }, () => [
    `memdir serve: ${url}, team ${team}, memories in ${name}`,
    ...(call.flag("behind-tls") ? [proxy] : []),
    ...(tokenFile ? next : []),
  ]);
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
  return answer(call, { tokenFile: file }, () => `The token of ${person} is in ${file}, which only you can read.`);
}

function checkOptions(call: Call): void {
  const given = (name: string) => call.value(name) !== undefined;
  const wrong: [isSo: boolean, problem: string][] = [
    [given("tls-cert") !== given("tls-key"), "--tls-cert and --tls-key go together: give both files"],
    [
      given("tls-cert") && call.flag("behind-tls"),
      "--behind-tls says that a proxy does TLS, --tls-cert that we do: give one of them",
    ],
    [given("token-file") && !given("issue-token"), "--token-file goes with --issue-token PERSON"],
  ];
  const problem = wrong.find(([isSo]) => isSo)?.[1];
  if (problem) throw new MemdirError("usage", problem);
}

function readPem(call: Call, name: string): Buffer | null {
  const file = call.value(name);
  try {
    return file === undefined ? null : readFileSync(resolve(call.cwd, file));
  } catch (error) {
    throw givenFileError(error, `--${name}`, file as string);
  }
}

function dataFolder(call: Call): string {
  const named = call.value("data");
  if (named !== undefined) return resolve(call.cwd, named);
  return join(readConfig({ cwd: call.cwd, env: call.env, projectRoot: call.cwd }).home, ".memdir-server");
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

/** A container may run under a number that has no name. */
function findUser(): string {
  return attempt(() => userInfo().username, "");
}
