/** The one error class: a code for programs, a message for people that says what, which and how to fix it. */

/** What kind of problem it is. */
export type ErrorCode =
  | "usage" // the call itself is wrong
  | "not-found" // no memory, entry or file by that name
  | "ambiguous" // more than one memory has the name
  | "outside" // a path leads out of the directory it must stay in
  | "secret" // the text holds a credential
  | "conflict" // the file changed since, or the target exists
  | "broken" // a file cannot be parsed and must be fixed by hand
  | "untrusted" // a repository asks for something only the user may allow
  | "network" // a server or remote cannot be reached, or refuses us
  | "model" // the model did not answer, or not usefully
  | "disk" // the file system refused
  | "lock"; // another writer held the lock too long

/** Failures of the environment, not of the request: exit code 3 on the command line. */
const ENVIRONMENT: ReadonlySet<ErrorCode> = new Set(["network", "model", "disk", "lock"]);

/** Parts of the program that are built apart each have this class: they know one another's errors by this mark. */
const MARK = Symbol.for("memdir.error");

/** Every error that memdir throws. The code gives the kind of problem; the message says what happened and what to do. */
export class MemdirError extends Error {
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && MARK in value;
  }

  readonly [MARK] = true;
  /** The kind of problem, for programs that handle it. */
  readonly code: ErrorCode;
  /** Details for programs, such as the rule and line of every secret found. Never contains the value of a secret. */
  readonly details: unknown;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "MemdirError";
    this.code = code;
    this.details = options.details;
  }
}

export function exitCodeOf(error: unknown): 2 | 3 {
  if (error instanceof MemdirError) return ENVIRONMENT.has(error.code) ? 3 : 2;
  return 3;
}

/** Turns an error of the file system into one that names the file and a remedy; ours pass through. */
export function diskError(error: unknown, doing: string, file: string): MemdirError {
  if (error instanceof MemdirError) return error;
  const code = (error as NodeJS.ErrnoException)?.code ?? "";
  const read = doing.startsWith("read") ? READING[code] : undefined;
  const remedy = read ?? REMEDIES[code] ?? "see the cause with MEMDIR_DEBUG=1";
  return new MemdirError("disk", `cannot ${doing} ${file}${code ? ` (${code})` : ""}: ${remedy}`, { cause: error });
}

/** What the work returns; an error of the file system names the file and a remedy. */
export function onDisk<T>(doing: string, file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw diskError(error, doing, file);
  }
}

/** What the types say, for programs without types. */
export function checkGivenType(isRight: boolean, caller: string, what: string): void {
  if (!isRight) throw new MemdirError("usage", `${caller}: ${what}`);
}

/** For a file that the user named with `option` and that cannot be read; ours pass through. */
export function givenFileError(error: unknown, option: string, file: string): MemdirError {
  if (error instanceof MemdirError) return error;
  if (file === "") return new MemdirError("usage", `${option} needs the name of a file`, { cause: error });
  const code = (error as NodeJS.ErrnoException)?.code ?? "";
  const wrong = code === "EISDIR" ? "that is a directory; give a file" : READING[code];
  return new MemdirError("usage", `${option} ${file}: ${wrong ?? `it cannot be read (${code})`}`, { cause: error });
}

const READING: Record<string, string> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file, as a part of its path is not a directory",
  EACCES: "no permission; check its owner and mode",
  EPERM: "no permission; check its owner and mode",
};

const REMEDIES: Record<string, string> = {
  ENOSPC: "the disk is full, nothing was changed; free some space and run it again",
  EDQUOT: "the disk quota is used up, nothing was changed; free some space and run it again",
  EFBIG: "the file may not grow further; raise the limit (ulimit -f)",
  EROFS: "the file system is read-only; choose another directory with --memory-dir",
  EACCES: "no permission; check the owner and mode of the directory",
  EPERM: "no permission; check the owner and mode of the directory",
  ENOENT: "it was removed meanwhile, or cannot be made there; check the path and run the command again",
  ENOTDIR: "a part of the path is a file, not a directory; move it away or choose another --memory-dir",
  EEXIST: "something else is in its place; move it away",
  EISDIR: "it is a directory where a file belongs; move it away",
  ENOTFILE: "it is not a regular file; move it away",
  ELOOP: "it is a symbolic link where none is allowed; replace it with a real file or directory",
  ENAMETOOLONG: "its name is too long; choose a shorter one",
  EMFILE: "too many open files; raise the limit (ulimit -n)",
  EIO: "the disk reported an error; check its health",
};

/** What the work returns, or `otherwise` when it throws: for a file that may be missing, a text that may be broken. */
export function attempt<T, O>(work: () => T, otherwise: O): T | O {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** As JSON has it: no list, not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// --- Values made when they are first needed: patterns over all of Unicode take milliseconds, and a short process may need none.

export function lazily<T>(make: () => T): () => T {
  let made: { value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
