/** The server's log: one line of JSON for each request and each failure. No contents, no tokens, no paths, no queries. */

export interface RequestLine {
  time: string;
  id: string;
  method: string;
  /** The pattern, not the path. */
  route: string;
  status: number;
  ms: number;
  team: string | null;
  /** The id of the person, not the name. */
  person: string | null;
}

export interface FailureLine {
  time: string;
  id: string;
  failure: string;
  code: string | null;
  /** Where it came from; messages of databases quote values. */
  at: string[];
}

export type LogLine = RequestLine | FailureLine;

/** Plain ASCII: nothing in a value can begin a line, move a cursor, or look like something else. */
export function formatLine(line: LogLine): string {
  return JSON.stringify(line).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

export function describeFailure(error: unknown, id: string, time: string): FailureLine {
  const known = error instanceof Error ? error : null;
  const { code: own, details } = (error ?? {}) as { code?: unknown; details?: { sqlState?: string } };
  const code = details?.sqlState || own;
  const frames = known?.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
  return {
    time,
    id,
    failure: known?.name ?? typeof error,
    code: typeof code === "string" && /^[\w-]{1,40}$/.test(code) ? code : null,
    at: frames.slice(0, 8).map((line) => line.trim()),
  };
}
