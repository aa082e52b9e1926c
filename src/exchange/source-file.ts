/** Reading another program's files: bounded, never through a link inside a folder, with the reason where it cannot be done. */

import { isUtf8 } from "node:buffer";
import { closeSync, statSync } from "node:fs";
import { basename } from "node:path";
import { openRegular, readRegular } from "../disk/fence.ts";
import { MAX_FILE_BYTES } from "./harvest.ts";

type SourceText = { text: string; modified: string } | { problem: string };

/** `follow`: the path that the user named may be a link; what is found in a folder may not. */
export function readSource(path: string, options: { follow?: boolean } = {}): SourceText {
  const name = basename(path);
  try {
    const opened = openRegular(path, options);
    if (!opened) return { problem: `${name} is missing, a link or no ordinary file: passed over` };
    closeSync(opened.fd);
    if (opened.size > MAX_FILE_BYTES)
      return { problem: `${name} has ${opened.size} bytes, more than ${MAX_FILE_BYTES}: passed over` };
    const data = readRegular(path, { ...options, maxBytes: MAX_FILE_BYTES });
    if (!data) return { problem: `${name} vanished or grew while it was read: passed over` };
    if (!isUtf8(data)) return { problem: `${name} is not valid UTF-8: passed over` };
    const modified = statSync(path).mtime.toISOString();
    return {
      text: data
        .toString("utf8")
        .replace(/^\uFEFF/, "")
        .replaceAll("\r\n", "\n"),
      modified,
    };
  } catch (error) {
    return {
      problem: `${name} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}): passed over`,
    };
  }
}
