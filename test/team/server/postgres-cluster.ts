/** A PostgreSQL of its own for a test: a cluster in a temporary folder, on a free port of the loopback, removed afterwards. */

import { execFile, execFileSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

export interface PostgresCluster {
  /** Of the superuser; `url("name")` for another database or user of the same cluster. */
  url(options?: { user?: string; database?: string }): string;
  /** One statement as superuser, through psql. */
  sql(statement: string, database?: string): string;
  /** As after a power cut: no connection is told, nothing is finished. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The folder of initdb and pg_ctl, or null where no PostgreSQL server is installed. */
export function findPostgres(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = fs.existsSync(debian) ? fs.readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => path.join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(path.delimiter),
  ];
  const has = (folder: string, name: string) => fs.existsSync(path.join(folder, name));
  return folders.find((folder) => has(folder, "initdb") && has(folder, "pg_ctl")) ?? null;
}

/** `settings` are lines of postgresql.conf. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresCluster> {
  const bin = findPostgres();
  if (!bin) throw new Error("no PostgreSQL server is installed");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "memdir-postgres-"));
  const data = path.join(folder, "data");
  const owner = findOwner();
  if (owner) fs.chownSync(folder, owner.uid, owner.gid);
  // PostgreSQL refuses to run as root: there it runs as the user that its package made.
  const options = { cwd: folder, env: { ...process.env, LC_ALL: "C" }, ...owner };
  const run = async (name: string, ...args: string[]) => {
    const { stdout } = await promisify(execFile)(path.join(bin, name), args, options);
    return stdout;
  };
  await run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync");
  const port = await findPort();
  fs.appendFileSync(
    path.join(data, "postgresql.conf"),
    [
      "listen_addresses = '127.0.0.1'",
      `port = ${port}`,
      "unix_socket_directories = ''",
      "max_connections = 60",
      ...settings,
      "",
    ].join("\n"),
  );
  const control = (...args: string[]) =>
    // The server keeps what it inherits open: without a log of its own pg_ctl's output would never end.
    run("pg_ctl", "-D", data, "-w", "-t", "60", "-l", path.join(folder, "log"), ...args);
  await control("start");
  const url: PostgresCluster["url"] = ({ user = "postgres", database = "postgres" } = {}) =>
    `postgres://${user}@127.0.0.1:${port}/${database}`;
  const end = () => {
    try {
      execFileSync(path.join(bin, "pg_ctl"), ["-D", data, "-w", "-m", "immediate", "stop"], {
        ...options,
        stdio: "ignore",
      });
    } catch {
      // It is down already.
    }
    fs.rmSync(folder, { recursive: true, force: true });
  };
  // A test that is cut off leaves no server behind.
  process.once("exit", end);
  return {
    url,
    sql: (statement, database = "postgres") =>
      execFileSync(
        path.join(bin, "psql"),
        ["-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement, url({ database })],
        {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "pipe"],
        },
      ).trim(),
    restart: async () => {
      await control("-m", "immediate", "restart");
    },
    stop: async () => {
      process.removeListener("exit", end);
      end();
    },
  };
}

function findOwner(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const of = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: of("-u"), gid: of("-g") };
}

function findPort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = net.createServer();
    server.once("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => done(port));
    });
  });
}
