/** Whether a configured path may be a memory directory, and whether a text may be one part of a path. */

import path from "node:path";

interface PathCheckOptions {
  platform?: NodeJS.Platform;
  /** The repository the call is about: its top folder may not double as the memory directory. */
  repository?: string | null;
}

/** The normalised path, or why it is refused. Looks at the text only, never at the disk. */
export function checkDirectoryPath(
  value: string,
  home: string,
  options: PathCheckOptions = {},
): { path: string } | { reason: string } {
  const { platform = process.platform, repository = null } = options;
  const paths = platform === "win32" ? path.win32 : path.posix;
  if (value.trim() === "") return { reason: "it is empty" };
  if (value.includes("\0")) return { reason: "it holds a NUL byte" };
  if (/^[\\/]{2}/.test(value)) return { reason: "it is a network (UNC) path" };

  let candidate = value;
  if (value.startsWith("~")) {
    const rest = /^~[/\\]?(.*)$/s.exec(value)?.[1] ?? "";
    const named = value.length > 1 && !(value[1] === "/" || (platform === "win32" && value[1] === "\\"));
    if (named) return { reason: "it must be absolute or start with ~/" };
    const below = paths.normalize(rest || ".").replace(/[/\\]+$/, "");
    if (below === "." || below === "..")
      return { reason: "it names the home directory or its parent, not one below it" };
    if (/^\.\.[/\\]/.test(below)) return { reason: "it leaves the home directory with .." };
    candidate = paths.join(home, rest);
  }
  if (!paths.isAbsolute(candidate)) return { reason: "it is relative; it must be absolute or start with ~/" };
  if (platform === "win32" && !/^[a-zA-Z]:[\\/]/.test(candidate)) return { reason: "it names no drive" };

  const normal = paths
    .normalize(candidate)
    .replace(/(?<=.)[/\\]+$/, "")
    .normalize("NFC");
  if (platform === "win32" && /^[a-zA-Z]:\\?$/.test(normal)) return { reason: "it is the root of a drive" };
  if (normal.length < 3) return { reason: "it is the root of the file system or too close to it" };
  const reason = refusedPlace(normal, home, { platform, repository });
  return reason === null ? { path: normal } : { reason };
}

/** Why a directory, however it was spelt, is too large a place to be a memory directory; null if it is not. */
export function refusedPlace(dir: string, home: string, options: PathCheckOptions = {}): string | null {
  const { platform = process.platform, repository = null } = options;
  const paths = platform === "win32" ? path.win32 : path.posix;
  const toHome = paths.relative(dir, home);
  if (toHome === "") return "it is the home directory itself";
  if (!paths.isAbsolute(toHome) && toHome.split(paths.sep)[0] !== "..") return "the home directory lies inside it";
  if (repository !== null && paths.relative(dir, repository) === "") {
    return "it is the top of the repository itself; choose a folder below it, such as .claude/memory";
  }
  return null;
}

/** File systems allow 255 bytes for a name. */
const MAX_NAME_BYTES = 255;

/** Why a text may not be used as one part of a path, or null. Also refuses what decodes to a separator or `..`. */
export function refusedName(name: string): string | null {
  if (name.trim() === "") return "it is empty";
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return "it is too long for a file name";
  for (const form of [name, name.normalize("NFKC"), percentDecoded(name)]) {
    if (/[/\\]/.test(form)) return "it holds a path separator";
    if (form.includes("..") || form === ".") return "it holds ..";
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    if (/[\0-\x1f\x7f]/.test(form)) return "it holds a control character";
  }
  return null;
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
