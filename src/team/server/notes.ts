/** What is written down after the answer, so that reads do not write: the audit log of reads and refusals, and when a token was last used. */

import type { World } from "../../world.ts";
import { type AuditEntry, type Caller, type Noted, type Transaction, writeAudit } from "./data-base.ts";

/** Of one team, for one transaction. */
export interface TeamNotes {
  rows: Noted[];
  /** When each token was last used. */
  used: Map<string, string>;
  /** Tokens that named the team and are none of its. */
  refused: number;
}

/** Long enough to put many into one transaction, short enough that a crash loses little. */
const FLUSH_MS = 500;
/** Some megabytes: a database that is away for longer than these take loses the oldest. */
const MOST_ROWS = 20_000;
/** Nobody needs it more exactly. */
const USE_MS = 60_000;

export function openNotes(write: (team: string, notes: TeamNotes) => Promise<void>, now: World["now"]) {
  let teams = new Map<string, TeamNotes>();
  let [rows, lost] = [0, 0];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const uses = new Map<string, number>();

  const of = (team: string): TeamNotes => {
    const notes = teams.get(team) ?? { rows: [], used: new Map(), refused: 0 };
    teams.set(team, notes);
    // Not a reason for the process to stay.
    timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
    return notes;
  };
  const put = (team: string, noted: readonly Noted[]) => {
    const room = Math.max(0, MOST_ROWS - rows);
    lost += Math.max(0, noted.length - room);
    rows += Math.min(noted.length, room);
    of(team).rows.push(...noted.slice(0, room));
  };
  const writeAll = async () => {
    const taken = teams;
    teams = new Map();
    rows = 0;
    for (const [team, notes] of taken)
      await write(team, notes).catch(() => {
        // The next time; a use or a refusal that is not noted harms nobody.
        put(team, notes.rows);
      });
  };
  const flush = () => {
    if (timer) clearTimeout(timer);
    timer = null;
    writing = writing.then(writeAll);
    return writing;
  };

  return {
    /** Writes all that was noted so far. */
    flush,
    /** Rows that were lost because the database took none for too long. */
    lost: () => lost,
    add({ team, person, tokenId }: Caller, entries: readonly AuditEntry[]) {
      const about = { at: now().toISOString(), person, tokenId };
      const noted = entries.map((entry) => ({ ...entry, ...about }));
      put(team, noted);
    },
    addUse({ team, tokenId }: Caller) {
      const at = now().getTime();
      if (at - (uses.get(tokenId) ?? 0) < USE_MS) return;
      uses.set(tokenId, at);
      of(team).used.set(tokenId, new Date(at).toISOString());
    },
    addRefusal: (team: string) => void of(team).refused++,
  };
}

/** What was noted since the last time, in one transaction. */
export async function writeNotes(tx: Transaction, { rows, used, refused }: TeamNotes): Promise<void> {
  const wrong = { at: tx.now().toISOString(), person: "(unknown)", tokenId: "", action: "enter" };
  const all =
    refused > 0 ? [...rows, { ...wrong, outcome: `denied: unknown, expired or revoked tokens, ${refused}` }] : rows;
  if (all.length > 0) await writeAudit(tx, all);
  const text = `update memdir_token t set last_used = u.at::timestamptz from unnest($2::text[], $3::text[]) as u (id, at)
    where t.team = $1 and t.id = u.id`;
  if (used.size > 0) await tx.own(text, [[...used.keys()], [...used.values()]]);
}
