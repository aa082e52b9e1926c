/** What is written down after the answer, so that reads do not write: the audit log of reads and refusals, and when a token was last used. */

import type { World } from "../../world.ts";
import type { AuditEntry, Caller, Transaction } from "./data-base.ts";

export interface Noted extends AuditEntry, Pick<Caller, "person" | "tokenId"> {
  at: string;
}

/** Of one team, for one transaction. */
export interface TeamNotes {
  rows: Noted[];
  /** When each token was last used. */
  used: Map<string, string>;
  /** Tokens that named the team and are none of its. */
  refused: number;
}

export interface Notes {
  add(caller: Caller, entries: readonly AuditEntry[]): void;
  addUse(caller: Caller): void;
  addRefusal(team: string): void;
  /** Writes all that was noted so far. */
  flush(): Promise<void>;
  /** Rows that were lost because the database took none for too long. */
  lost(): number;
}

/** Long enough to put many into one transaction, short enough that a crash loses little. */
const FLUSH_MS = 500;
/** Some megabytes: a database that is away for longer than these take loses the oldest. */
const MOST_ROWS = 20_000;
/** Nobody needs it more exactly. */
const USE_MS = 60_000;

export function openNotes(write: (team: string, notes: TeamNotes) => Promise<void>, now: World["now"]): Notes {
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
    flush,
    lost: () => lost,
    add({ team, person, tokenId }, entries) {
      const at = now().toISOString();
      put(
        team,
        entries.map((entry) => ({ ...entry, at, person, tokenId })),
      );
    },
    addUse({ team, tokenId }) {
      const at = now().getTime();
      if (at - (uses.get(tokenId) ?? 0) < USE_MS) return;
      uses.set(tokenId, at);
      of(team).used.set(tokenId, new Date(at).toISOString());
    },
    addRefusal: (team) => void of(team).refused++,
  };
}

/** What was noted since the last time, in one transaction. */
export async function writeNotes({ sql, caller: { team }, now }: Transaction, notes: TeamNotes): Promise<void> {
  const { rows, used, refused } = notes;
  const wrong = { at: now().toISOString(), person: "(unknown)", tokenId: "", action: "enter" };
  const all =
    refused > 0 ? [...rows, { ...wrong, outcome: `denied: unknown, expired or revoked tokens, ${refused}` }] : rows;
  // A token may name a team that there is not.
  if (all.length > 0)
    await sql(
      `insert into memdir_audit (team, at, person, token_id, action, repository, path, revision, outcome)
       select t.team, n.at, n.person, n."tokenId", n.action, n.repository, n.path, n.revision, n.outcome from memdir_team t,
         jsonb_to_recordset($2::jsonb) as n (at timestamptz, person text, "tokenId" text, action text, repository text, path text, revision text, outcome text)
       where t.team = $1`,
      [team, JSON.stringify(all)],
    );
  if (used.size > 0)
    await sql(
      `update memdir_token t set last_used = u.at::timestamptz from unnest($2::text[], $3::text[]) as u (id, at)
       where t.team = $1 and t.id = u.id`,
      [team, [...used.keys()], [...used.values()]],
    );
}
