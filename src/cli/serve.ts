/** `memdir serve`: the team server, on an embedded database in a folder or on PostgreSQL. */

import { createWriteStream } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { createSecureContext } from "node:tls";
import { readConfig } from "../config.ts";
import { PRIVATE_MODE } from "../disk/fence.ts";
import { attempt, diskError, MemdirError } from "../errors.ts";
import { findPersonProblem, readAs, TOKEN_DAYS } from "../team/protocol.ts";
import { type DataSource, type OpenedData, openServerData, RETENTION, type Retention } from "../team/server/data.ts";
import { prepareEngine, runNpm } from "../team/server/pglite.ts";
import type { TeamServer } from "../team/server/route.ts";
import {
  checkHost,
  issueToken,
  prepareTeam,
  type RunningServer,
  type ServerOptions,
  type Start,
  startServer,
} from "../team/server/serve.ts";
import { block } from "../verb.ts";
import { readNamedFile } from "../verbs/common.ts";
import { answer, type Call, numberOf, portOf, untilSignal } from "./command.ts";

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

export async function start(call: Call, options: ServeOptions = {}): Promise<number> {
  const { open = openServerData, user = findUser(), untilEnd = untilSignal } = options;
  const folder = dataFolder(call);
  // All that can be wrong with the call is said before a database is opened or made.
  checkOptions(call);
  const place = readPlace(call);
  const opened = await open(chooseSource(call, options.runNpm ?? runNpm, folder), call.now);
  let server: RunningServer | null = null;
  try {
    if (call.value("issue-token") !== undefined) return await issue(call, opened, folder);
    const team = await prepareTeam(opened.data, {
      team: call.value("team"),
      admin: call.value("admin") ?? (findPersonProblem(user) ? "admin" : user),
      folder,
    });
    for (const advice of await opened.data.advise()) call.terminal.warn(`memdir: ${advice}`);
    const log = openLog(call);
    const embed = await makeEmbed(call, opened.hasVectors);
    const { data } = opened;
    const version = __MEMDIR_VERSION__;
    const options = { data, now: call.now, log: log.write, embed, version, oidc: await readOidc(call) };
    const timeouts = { drainMs: 1000 * (numberOf(call, "drain") ?? 0) };
    server = await startServer({ ...place, ...options, timeouts, retention: readRetention(call) });
    const ended = untilEnd();
    renewOnSignal(call, server);
    greet(call, server, opened, team);
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
  const named = call.value("database");
  // Everybody on the machine can see the arguments of a program.
  if (named && URL.canParse(named) && new URL(named).password !== "") {
    const advice = "put the URL into MEMDIR_DATABASE_URL, or into a file that MEMDIR_DATABASE_URL_FILE names";
    throw new MemdirError("usage", `--database must not hold a password: ${advice}`);
  }
  const database = named ?? readSecret(call, "MEMDIR_DATABASE_URL");
  if (database) return { database, pool: numberOf(call, "pool", { min: 1 }) };
  const ask = call.flag("yes") ? async () => true : call.terminal.interactive ? call.terminal.ask : null;
  const say = (text: string) => call.terminal.warn(`memdir: ${text}`);
  return { folder, engine: () => prepareEngine(folder, { runNpm: npm, ask, say }) };
}

/** From the environment, or from the file that the variable with `_FILE` names, as containers hand secrets over. */
function readSecret({ env, cwd }: Call, name: string): string | undefined {
  const file = env[`${name}_FILE`];
  return file ? readNamedFile(`${name}_FILE`, file, cwd).toString("utf8").trim() : env[name];
}

/** None is for ever. */
function readRetention(call: Call): Retention {
  return {
    auditDays: (numberOf(call, "keep-audit") ?? RETENTION.auditDays) || null,
    versionDays: (numberOf(call, "keep-versions") ?? RETENTION.versionDays) || null,
    tombstoneDays: (numberOf(call, "keep-tombstones") ?? RETENTION.tombstoneDays) || null,
  };
}

async function readOidc(call: Call): Promise<TeamServer["oidc"]> {
  const file = call.value("oidc");
  if (file === undefined) return null;
  const { OidcSettings, openOidc } = await import("../team/server/oidc.ts");
  const fail = (problem: string) => new MemdirError("usage", `--oidc ${file}: ${problem}`);
  const text = readGiven(call, "oidc").toString("utf8");
  const value = attempt<unknown, undefined>(() => JSON.parse(text), undefined);
  if (value === undefined) throw fail("it is not valid JSON");
  const settings = readAs(OidcSettings, value, fail);
  const { clientSecretFile: kept } = settings;
  const secret = kept === undefined ? null : readNamedFile("clientSecretFile of --oidc:", kept, call.cwd);
  const world = { fetch: globalThis.fetch, now: call.now };
  const oidc = openOidc(settings, secret?.toString("utf8").trim() ?? null, world);
  // Said now, and not when the first person signs in. The provider may also be away for a moment, so the server starts.
  void oidc.check().catch(({ message }) => call.terminal.warn(`memdir: --oidc ${file}: ${message}`));
  return oidc;
}

/** A certificate is renewed every few weeks; connections that are open keep the old one. */
function renewOnSignal(call: Call, server: RunningServer): void {
  const { warn, interactive } = call.terminal;
  if (call.value("tls-cert") === undefined) {
    // A service that is told to reload goes on; a terminal that is closed ends what runs in it.
    if (!interactive) process.on("SIGHUP", () => warn("memdir: there is no certificate to read again"));
    return;
  }
  process.on("SIGHUP", () => {
    try {
      server.renew(readTls(call));
    } catch (error) {
      warn(`memdir: the certificate was not renewed: ${(error as Error).message}`);
    }
  });
}

/** Both files, which must belong together. */
function readTls(call: Call): NonNullable<ServerOptions["tls"]> {
  const tls = { cert: readGiven(call, "tls-cert"), key: readGiven(call, "tls-key") };
  try {
    createSecureContext(tls);
    return tls;
  } catch (error) {
    const files = `--tls-cert ${call.value("tls-cert")} and --tls-key ${call.value("tls-key")}`;
    const reason = (error as NodeJS.ErrnoException).code ?? "unknown reason";
    const advice = "they must be PEM files, the key without a passphrase, and belong to each other";
    throw new MemdirError("usage", `${files} cannot be used (${reason}): ${advice}`, { cause: error });
  }
}

function readPlace(call: Call): Pick<ServerOptions, "host" | "port" | "tls" | "behindTls"> {
  const host = call.value("host") ?? "127.0.0.1";
  const hasTls = call.value("tls-cert") !== undefined;
  const tls = hasTls ? readTls(call) : null;
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

const EMBEDDED =
  "The embedded database does not wait for the disk: after a power cut the last seconds may be missing, and in the worst case it does not open again. Back up its folder while the server is stopped, or use PostgreSQL (docs/operations.md).";

function greet(call: Call, server: RunningServer, { name, isEmbedded }: OpenedData, { team, tokenFile }: Start): void {
  const { url, port } = server;
  const proxy = "The proxy in front must do TLS, and nothing but the proxy may reach this port.";
  const next = [
    `The admin's token is in ${tokenFile}, which only you can read; it expires after ${TOKEN_DAYS} days. Next, in a project:`,
    `  memdir join ${url}/${team}/REPOSITORY --token-file ${tokenFile}`,
  ];
  answer(call, { url, port, team, database: name, tokenFile }, [
    block(`memdir serve: ${url}, team ${team}, memories in ${name}`),
    ...(call.flag("behind-tls") ? [proxy] : []),
    ...(isEmbedded ? [EMBEDDED] : []),
    ...(tokenFile ? next.map(block) : []),
  ]);
}

async function issue(call: Call, { data }: OpenedData, folder: string): Promise<number> {
  const person = call.value("issue-token") ?? "";
  const named = call.value("token-file");
  const file = await issueToken(data, {
    team: call.value("team"),
    person,
    file: named === undefined ? join(folder, `token-${person.replace(/[^\w-]+/g, "-")}`) : resolve(call.cwd, named),
    isNamed: named !== undefined,
  });
  return answer(call, { tokenFile: file }, [block(`The token of ${person} is in ${file}, which only you can read.`)]);
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

/** The file that an option names. */
function readGiven(call: Call, name: string): Buffer {
  return readNamedFile(`--${name}`, call.value(name) ?? "", call.cwd);
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
