/** A folder as on a disk that ignores case and Unicode forms, as those of Macs and of Windows do: names lead to whatever is there in another spelling. */

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { foldPath } from "../../src/team/protocol.ts";

/** Functions of `node:fs` by how many of their first arguments are paths. */
const ONE_PATH = [
  ...["accessSync", "chmodSync", "existsSync", "lstatSync", "mkdirSync", "openSync", "opendirSync", "readFileSync"],
  ...["readdirSync", "readlinkSync", "rmSync", "rmdirSync", "statSync", "unlinkSync", "utimesSync", "writeFileSync"],
] as const;
const TWO_PATHS = ["copyFileSync", "linkSync", "renameSync"] as const;

/** For everything in this process below `root`, until the function that it returns is called. */
export function ignoreCase(root: string): () => void {
  const real = { ...fs };
  const find = (given: unknown): unknown => {
    if (typeof given !== "string") return given;
    const pin = /^\/proc\/self\/fd\/\d+/.exec(given)?.[0];
    const whole = pin ? path.join(real.readlinkSync(pin), given.slice(pin.length)) : path.resolve(given);
    if (!whole.startsWith(`${root}/`)) return given;
    return whole
      .slice(root.length + 1)
      .split("/")
      .reduce((folder, name) => path.join(folder, spellingIn(real, folder, name)), root);
  };
  const wrap = (name: string, paths: number) => {
    const original = real[name as keyof typeof real] as (...args: unknown[]) => unknown;
    const wrapped = (...args: unknown[]) => original(...args.map((arg, at) => (at < paths ? find(arg) : arg)));
    Object.assign(fs, { [name]: Object.assign(wrapped, original) });
  };
  const { native } = real.realpathSync;
  const realpath = (given: string) => real.realpathSync(find(given) as string);
  const realpathSync = Object.assign(realpath, { native: (given: string) => native(find(given) as string) });
  Object.assign(fs, { realpathSync });
  for (const name of ONE_PATH) wrap(name, 1);
  for (const name of TWO_PATHS) wrap(name, 2);
  syncBuiltinESMExports();
  return () => {
    for (const name of ["realpathSync" as const, ...ONE_PATH, ...TWO_PATHS]) Object.assign(fs, { [name]: real[name] });
    syncBuiltinESMExports();
  };
}

function spellingIn(real: typeof fs, folder: string, name: string): string {
  try {
    const names = real.readdirSync(folder);
    return names.includes(name) ? name : (names.find((each) => foldPath(each) === foldPath(name)) ?? name);
  } catch {
    return name;
  }
}
