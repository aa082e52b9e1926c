/** What a session was shown, kept between the processes of its hooks: `.memdir/surfaced/`, one small file per session. */

import { openState, quietly, type StateRecord, sessionKey } from "../store/store.ts";
import { openRecallSession, type RecallSession } from "./budget.ts";

/** A session without a name, or whose file is lost or broken, has seen nothing. */
export function readSurfaced(directory: string, session: string | null): RecallSession {
  const opened = openRecallSession();
  const kept = session === null ? null : recordOf(directory, session).read();
  for (const path of kept?.paths ?? []) opened.surfaced.add(path);
  opened.bytes = kept?.bytes ?? 0;
  return opened;
}

/** Whether it is kept. Only a convenience: where it cannot be written, a memory may be shown twice. */
export function writeSurfaced(directory: string, session: string | null, { surfaced, bytes }: RecallSession): boolean {
  if (session === null) return false;
  return quietly(() => recordOf(directory, session).write({ paths: [...surfaced], bytes }));
}

/** After clear and compact the model has none of it any more. */
export function clearSurfaced(directory: string, session: string): void {
  quietly(() => recordOf(directory, session).remove());
}

interface Surfaced {
  paths: string[];
  bytes: number;
}

function recordOf(directory: string, session: string): StateRecord<Surfaced> {
  return openState(directory, { parents: true }).record(`surfaced/${sessionKey(session)}`, parse);
}

function parse(value: unknown): Surfaced {
  const { paths, bytes } = value as { paths: unknown[]; bytes: unknown };
  return {
    paths: paths.filter((path) => typeof path === "string"),
    bytes: Number.isFinite(bytes) ? Math.max(0, bytes as number) : 0,
  };
}
