/** The page's own files, held in memory: read once, compressed once, identified by their content. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { diskError, lazily, MemdirError } from "../errors.ts";

interface Asset {
  type: string;
  etag: string;
  bytes: Buffer;
  /** In an encoding that the browser accepts; compressed on the first request. */
  pack(accepted: string): Promise<{ bytes: Buffer; encoding: "br" | "gzip" | null }>;
}

/** By path as the browser asks for it, "/page.js"; the page itself is "/". */
export type Assets = ReadonlyMap<string, Asset>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};
const PAGE = "index.html";

/** Files of other kinds do not belong to the page. */
export function loadAssets(folder: string): Assets {
  try {
    const names = readdirSync(folder).filter((name) => Object.hasOwn(TYPES, extname(name)));
    if (!names.includes(PAGE)) throw new MemdirError("broken", `${join(folder, PAGE)} is missing; reinstall memdir`);
    const load = (name: string) => makeAsset(TYPES[extname(name)] ?? "", readFileSync(join(folder, name)));
    return new Map(names.map((name) => [name === PAGE ? "/" : `/${name}`, load(name)]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw diskError(error, "read the page in", folder);
    const message = `the page's files are missing from ${folder}; reinstall memdir`;
    throw new MemdirError("broken", message, { cause: error });
  }
}

/** The highest level takes as long as the rest of the startup; this one is only a few percent larger. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

export function makeAsset(type: string, bytes: Buffer): Asset {
  const packed = {
    br: lazily(() => promisify(brotliCompress)(bytes, BROTLI)),
    gzip: lazily(() => promisify(gzip)(bytes, { level: 9 })),
  };
  return {
    type,
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    bytes,
    async pack(accepted) {
      const encoding = /\bbr\b/.test(accepted) ? "br" : /\bgzip\b/.test(accepted) ? "gzip" : null;
      return { bytes: encoding === null ? bytes : await packed[encoding](), encoding };
    },
  };
}
