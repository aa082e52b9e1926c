/** What a directory holds already, to tell an import what is known, what says the same, and which names are taken. */

import { type Directory, oneLine, parseMemory, readBytes, scan } from "../store/store.ts";
import { openLikeness, plain, type Said } from "../text/likeness.ts";
import { termsOf } from "../text/terms.ts";
import { type Arrival, importedFrom } from "./arrival.ts";

interface Stock {
  /** Why it need not come in, or null. */
  find(arrival: Arrival): { kind: "known" | "duplicate"; reason: string } | null;
  /** The same under a name that is free: a memory is known by its type and name together. */
  rename(arrival: Arrival): Arrival;
  add(arrival: Arrival): void;
}

interface Kept extends Said {
  label: string;
  origin: string | null;
}

/** A larger file is no memory that somebody imports again. */
const MAX_BYTES = 256 * 1024;

export function openStock(directory: Directory, arrivals: readonly Arrival[]): Stock {
  const kept = readKept(directory);
  const likeness = openLikeness<string>([...kept, ...arrivals], termsOf);
  const names = new Set(kept.map(nameKey));
  const origins = new Map(kept.flatMap((each) => (each.origin === null ? [] : [[each.origin, each] as const])));
  for (const each of kept) likeness.add(each, each.label);
  return {
    find(arrival) {
      const known = origins.get(arrival.origin);
      if (known) {
        const same = plain(known.body) === plain(arrival.body);
        return {
          kind: "known",
          reason: same
            ? `imported before as ${known.label}`
            : `imported before as ${known.label}, which differs from its source now and is kept`,
        };
      }
      const same = likeness.find(arrival);
      return same === null ? null : { kind: "duplicate", reason: `${same} says the same` };
    },
    rename(arrival) {
      const base = arrival.name.slice(0, MAX_BASE).toWellFormed();
      let name = arrival.name;
      for (let number = 1; names.has(nameKey({ ...arrival, name })); number++)
        name = `${base} (${arrival.from}${number > 1 ? ` ${number}` : ""})`;
      return name === arrival.name ? arrival : { ...arrival, name };
    },
    add(arrival) {
      names.add(nameKey(arrival));
      // Files of one store are not compared among themselves: whoever kept them knew both.
      if (arrival.text !== null) return;
      likeness.add(arrival, `"${arrival.name}"`);
      origins.set(arrival.origin, { ...arrival, label: `"${arrival.name}"` });
    },
  };
}

/** Leaves room for the source's name and a number within the limit of a name. */
const MAX_BASE = 170;

function nameKey({ type, name }: Pick<Said, "type" | "name">): string {
  return `${type}\n${oneLine(name)}`;
}

function readKept(directory: Directory): Kept[] {
  return scan(directory).memories.flatMap(({ header, bytes }): Kept[] => {
    if (header.unreadable || bytes > MAX_BYTES) return [{ ...header, body: "", label: header.file, origin: null }];
    try {
      const memory = parseMemory(header.file, readBytes(directory, header.file));
      const { type, name, description, body } = memory;
      return [{ type, name, description, body, label: header.file, origin: importedFrom(memory) }];
    } catch {
      return []; // gone since it was listed
    }
  });
}
