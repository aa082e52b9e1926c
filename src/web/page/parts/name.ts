/** Names as they are written, in the order in which their characters stand. */

/** Marks that turn what follows round: "gnp.live" would read "evil.png". Direction comes from the letters alone. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g;

export function showName(name: string): string {
  return name.replace(TURNS, "");
}
