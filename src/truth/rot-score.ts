/** One number for the health of a directory, and the three things that would raise it most. */

import type { RotFinding, RotKind } from "./rot-kind.ts";

export interface FirstThing {
  kind: RotKind;
  count: number;
  /** What it is about, for a person. */
  text: string;
  /** A command that does it, or begins it. */
  command: string;
}

/**
 * How much of a memory's worth is lost: a secret or a false claim does harm, a double costs room, a memory without cues is
 * only found less often. Of several only the worst counts.
 */
const WEIGHTS: Record<RotKind, number> = {
  secret: 1,
  unreadable: 0.9,
  false: 0.8,
  contradiction: 0.8,
  duplicate: 0.6,
  expired: 0.6,
  "near-duplicate": 0.5,
  restated: 0.4,
  oversized: 0.3,
  unlinked: 0.3,
  "dead-link": 0.1,
  "never-recalled": 0.2,
  "without-cues": 0.1,
  unverifiable: 0.05,
};

/** One secret among a thousand memories is not 0.1 % of a problem. */
const MOST_WITH_SECRET = 60;

export function scoreRot(findings: readonly RotFinding[], memories: number): number {
  if (memories === 0) return 100;
  const worst = new Map<string, number>();
  for (const { kind, file } of findings) worst.set(file, Math.max(worst.get(file) ?? 0, WEIGHTS[kind]));
  const lost = [...worst.values()].reduce((sum, weight) => sum + weight, 0);
  // Rounded down: 100 means that there is nothing.
  const score = Math.max(0, Math.floor(100 * (1 - lost / memories)));
  const isWhole = findings.length === 0;
  const most = findings.some(({ kind }) => kind === "secret") ? MOST_WITH_SECRET : isWhole ? 100 : 99;
  return Math.min(score, most);
}

const MAX_FIRST = 3;

export function chooseFirst(findings: readonly RotFinding[]): FirstThing[] {
  const counts = new Map<RotKind, number>();
  for (const { kind } of findings) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const firstFile = (kind: RotKind) => findings.find((each) => each.kind === kind)?.file ?? "";
  return (
    [...counts]
      // Squared: ten that mislead come before a hundred that are only found less often.
      .map(([kind, count]) => ({ kind, count, gain: kind === "secret" ? Infinity : WEIGHTS[kind] ** 2 * count }))
      .sort((a, b) => b.gain - a.gain)
      .slice(0, MAX_FIRST)
      .map(({ kind, count }) => ({ kind, count, ...adviceFor(kind, count, firstFile(kind)) }))
  );
}

function adviceFor(kind: RotKind, count: number, file: string): { text: string; command: string } {
  const memories = count === 1 ? "1 memory" : `${count} memories`;
  const verb = (one: string, many: string) => `${memories} ${count === 1 ? one : many}`;
  const edit = `memdir edit ${quote(file)}`;
  const advice: Record<RotKind, [text: string, command: string]> = {
    secret: [`take the secret out of ${memories}, and change it: it was read`, edit],
    unreadable: [`mend ${memories} that cannot be read`, "memdir lint"],
    false: [`${verb("names", "name")} what is no longer there`, "memdir verify"],
    contradiction: [
      `decide what holds: ${verb("says", "say")} otherwise than a newer one`,
      `memdir show ${quote(file)}`,
    ],
    duplicate: [`${verb("says", "say")} what another says`, "memdir dream --plan"],
    expired: [`${verb("is", "are")} about a day that is past`, "memdir prune --suggest"],
    "near-duplicate": [`${verb("says", "say")} nearly what another says`, "memdir dream --plan"],
    restated: [`${verb("says", "say")} what your instruction files say`, "memdir prune --suggest"],
    oversized: [`split ${memories}: one fact in each is found better`, edit],
    unlinked: [`${verb("has", "have")} no line in the index`, "memdir index --rebuild"],
    "dead-link": [`${verb("links", "link")} to what is gone`, edit],
    "never-recalled": [
      `${memories} never helped: give ${count === 1 ? "it" : "them"} cues, or let ${count === 1 ? "it" : "them"} go`,
      "memdir enrich",
    ],
    "without-cues": [
      `give ${memories} cues, and ${count === 1 ? "it is" : "they are"} found far more often`,
      "memdir enrich",
    ],
    unverifiable: [`${verb("names", "name")} only what is not in this repository`, "memdir verify"],
  };
  const [text, command] = advice[kind];
  return { text, command };
}

function quote(file: string): string {
  return /^[\w./-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}
