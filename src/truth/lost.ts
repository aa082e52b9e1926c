/** Words that are amiss in the code as it is now, and whether what is known of removals decides about them. */

import type { Claim } from "./claim.ts";
import { flagForms, partsOf, wordsOf } from "./claim-words.ts";
import { type Hit, isSolid } from "./hit.ts";
import type { Occurrences } from "./occurrences.ts";

/** A line that was taken out, as far as it matters here. */
interface TakenOut {
  file: string;
  hit: Hit;
  isOption: boolean;
}

type TakenOutWords = ReadonlyMap<string, readonly TakenOut[]>;

/** Words to look for among changes; those that would not alter a verdict are left out. */
export function lostWords(claims: readonly Claim[], found: Occurrences): Set<string> {
  return new Set(claims.flatMap((claim) => lostWordsOf(claim, found)));
}

/** Those of which removals so far do not tell what became of them. */
export function openWords(claims: readonly Claim[], found: Occurrences, removals: TakenOutWords): Set<string> {
  return new Set(
    claims.flatMap((claim) => {
      const lost = lostWordsOf(claim, found);
      return lost.length === 0 || isTold(claim, lost, found, removals) ? [] : lost;
    }),
  );
}

function lostWordsOf(claim: Claim, found: Occurrences): string[] {
  if (claim.kind === "symbol") return wordsOf(claim).filter((word) => isLostName(claim, word, found));
  if (claim.kind !== "env" && claim.kind !== "flag") return [];
  const [name = "", ...forms] = wordsOf(claim);
  const isHere =
    (found.get(name) ?? []).some(({ hit }) => hit !== "comment") ||
    forms.some((form) => (found.get(form) ?? []).some(({ hit }) => hit === "definition"));
  return isHere ? [] : [name, ...forms];
}

function isLostName({ file, text }: Claim, word: string, found: Occurrences): boolean {
  const parts = partsOf(text);
  const name = parts.at(-1) as string;
  const owner = parts[0] as string;
  const places = (found.get(word) ?? []).filter(isSolid);
  // What something belongs to matters only while it is there itself, and looks like a type.
  if (word !== name) return places.length === 0 && /^[A-Z]/.test(owner) && (found.get(name) ?? []).some(isSolid);
  if (places.length === 0) return true;
  if (file !== undefined) return !places.some((place) => place.file.endsWith(file));
  const homes = homesOf(owner, found);
  return homes.size > 0 && !places.some((place) => homes.has(place.file));
}

/** As the checks will ask (check-names.ts). */
function isTold(claim: Claim, lost: readonly string[], found: Occurrences, removals: TakenOutWords): boolean {
  const { kind, text, file } = claim;
  const of = (word: string) => removals.get(word) ?? [];
  const isDefinition = ({ hit }: TakenOut) => hit === "definition";
  if (kind === "env") return of(text).some(({ hit }) => hit !== "comment");
  if (kind === "flag") {
    const [name = "", ...forms] = flagForms(text);
    return (
      of(name).some(({ hit, isOption }) => hit !== "comment" && isOption) ||
      forms.some((form) => of(form).some(isDefinition))
    );
  }
  return lost.every((word) => {
    if (!(found.get(word) ?? []).some(isSolid)) return of(word).some(isDefinition);
    if (file !== undefined)
      return of(word).some((each) => isSolid(each) && (each.file === file || each.file.endsWith(`/${file}`)));
    const homes = homesOf(partsOf(text)[0] as string, found);
    return of(word).some((each) => isDefinition(each) && homes.has(each.file));
  });
}

function homesOf(owner: string, found: Occurrences): Set<string> {
  return new Set((found.get(owner) ?? []).filter(({ hit }) => hit === "definition").map((place) => place.file));
}
