/** Whether names, variables and options are still in the code; gone is only what was seen there before. */

import type { Claim, Finding } from "./claim.ts";
import { flagForms, partsOf } from "./claim-words.ts";
import { isSolid } from "./hit.ts";
import type { Look } from "./look.ts";
import type { Place } from "./occurrences.ts";
import type { Removal } from "./removals.ts";

type Answer = Omit<Finding, "claim">;

export function checkSymbol(look: Look, claim: Claim): Answer {
  const parts = partsOf(claim.text);
  const name = parts.at(-1) as string;
  const places = (look.found.get(name) ?? []).filter(isSolid);
  if (places.length === 0) return lost(look, claim, name) ?? never(claim);
  const owner = parts.length > 1 ? (parts[0] as string) : null;
  if (owner !== null) return checkMember(look, claim, owner, name, places);
  return (claim.file === undefined ? null : checkTie(look, claim, claim.file, name, places)) ?? holdsAt(places);
}

function holdsAt(places: readonly Place[]): Answer {
  const best = places.find(({ hit }) => hit === "definition") ?? (places[0] as Place);
  return {
    verdict: "holds",
    evidence: `${best.hit === "definition" ? "defined" : "used"} in ${best.file}:${best.line}`,
    files: [...new Set(places.map(({ file }) => file))],
  };
}

function never({ declared }: Claim): Answer {
  return declared
    ? { verdict: "gone", evidence: "it is nowhere in the code" }
    : { verdict: "unknown", evidence: "it was never seen in the code" };
}

/** What was only used here and never defined belongs to a library. */
function lost(look: Look, claim: Claim, name: string): Answer | null {
  const removals = (look.removals.words.get(name) ?? []).filter(isSolid);
  const own =
    removals.find(({ hit }) => hit === "definition") ??
    (claim.file === undefined ? undefined : removals.find(({ file }) => isSame(look, file, claim.file as string)));
  if (!own) return null;
  return {
    verdict: "gone",
    evidence: `no longer in the code: taken out of ${own.file} by ${byWhom(removals[0] as Removal)}`,
    files: [own.file],
  };
}

/** `Owner.name`: both must be in one file, unless they never were. */
function checkMember(look: Look, claim: Claim, owner: string, name: string, places: readonly Place[]): Answer {
  const owners = (look.found.get(owner) ?? []).filter(isSolid);
  if (owners.length === 0) {
    const gone = /^[A-Z]/.test(owner) ? lost(look, { ...claim, file: undefined } as Claim, owner) : null;
    return gone ?? holdsAt(places);
  }
  const files = new Set(owners.filter(({ hit }) => hit === "definition").map(({ file }) => file));
  if (files.size === 0 || !/^[A-Z]/.test(owner) || places.some(({ file }) => files.has(file))) return holdsAt(places);
  const removal = (look.removals.words.get(name) ?? []).find(
    (each) => each.hit === "definition" && files.has(each.file),
  );
  if (!removal) return holdsAt(places);
  return {
    verdict: "gone",
    evidence: `${owner} has no ${name} any more: taken out of ${removal.file} by ${byWhom(removal)}`,
    files: [removal.file],
  };
}

/** Said to be in a file: it has moved when it was taken out of that one and is defined in another. */
function checkTie(look: Look, claim: Claim, file: string, name: string, places: readonly Place[]): Answer | null {
  if (places.some((place) => isSame(look, place.file, file))) return null;
  const removal = (look.removals.words.get(name) ?? []).find((each) => isSolid(each) && isSame(look, each.file, file));
  const now = places.find(({ hit }) => hit === "definition");
  if (!now || !(removal || claim.declared)) return null;
  const by = removal ? `, taken out of ${file} by ${byWhom(removal)}` : "";
  return { verdict: "moved", evidence: `now in ${now.file}:${now.line}${by}`, to: now.file, files: [file, now.file] };
}

/** The file itself, a longer path of it, or what it was renamed to. */
function isSame({ history, tree }: Look, file: string, said: string): boolean {
  if (file === said || file.endsWith(`/${said}`)) return true;
  const to = tree.files.has(said) ? null : history.events.get(said)?.to;
  return to !== null && to !== undefined && to === file;
}

/** A variable is mostly named in a text: `getenv("X")`. */
export function checkVariable(look: Look, claim: Claim): Answer {
  const places = (look.found.get(claim.text) ?? []).filter(({ hit }) => hit !== "comment");
  if (places.length > 0) return holdsAt(places);
  const removal = (look.removals.words.get(claim.text) ?? []).find(({ hit }) => hit !== "comment");
  if (!removal) return never(claim);
  return {
    verdict: "gone",
    evidence: `no longer read anywhere: taken out of ${removal.file} by ${byWhom(removal)}`,
    files: [removal.file],
  };
}

export function checkFlag(look: Look, claim: Claim): Answer {
  const [name = "", ...forms] = flagForms(claim.text);
  const named = (look.found.get(name) ?? []).filter(({ hit }) => hit !== "comment");
  const fields = forms.flatMap((form) => (look.found.get(form) ?? []).filter(({ hit }) => hit === "definition"));
  if (named.length > 0 || fields.length > 0) return holdsAt([...named, ...fields]);
  const removal =
    (look.removals.words.get(name) ?? []).find(({ hit, isOption }) => hit !== "comment" && isOption) ??
    forms.flatMap((form) => look.removals.words.get(form) ?? []).find(({ hit }) => hit === "definition");
  if (!removal) return never(claim);
  return {
    verdict: "gone",
    evidence: `no longer an option: taken out of ${removal.file} by ${byWhom(removal)}`,
    files: [removal.file],
  };
}

function byWhom({ commit }: Removal): string {
  return `${commit.hash} on ${commit.day}`;
}
