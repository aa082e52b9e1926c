/** A memory as a model is shown it: under a header with its age, author and verdict, and without the cues, which are for finding. */

import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import {
  ageInDays,
  agrees,
  countsFrom,
  type Directory,
  findAuthor,
  isBulkTime,
  type RowEntry,
  readStart,
} from "../store/store.ts";
import { findVerdict, formatVerdict, readVerdicts, type Verdicts } from "../truth/verdicts.ts";
import type { Candidate } from "./budget.ts";
import { type Checked, formatHeader } from "./injection.ts";
import type { Ranked } from "./rank.ts";
import { bulksOf, type Digest, type Place, type Resident } from "./resident.ts";

export interface Presented extends Candidate {
  /** As the file is now. */
  entry: RowEntry;
  stat: Stats;
  /** The time that the age counts from. */
  fromMs: number;
  ageDays: number;
}

/** Far more than is shown of it. */
const MAX_BYTES = 1 << 20;

/** Null for a memory that is gone or cannot be read. `digest` is asked where the file has changed since it was ranked. */
export function openPresenter<D extends Place>(
  resident: Resident<D>,
  { now, digest }: { now: Date; digest: Digest<D> },
): (ranked: Pick<Ranked, "owner" | "entry" | "fromMs">) => Presented | null {
  const presenters = resident.directories.map((directory) => openEntryPresenter(directory, now));
  const bulks = bulksOf(resident);
  return ({ owner, entry, fromMs }) => {
    const directory = resident.directories[owner] as D;
    const stat = lstatSync(join(directory.path, entry.file), { throwIfNoEntry: false });
    if (!stat?.isFile()) return null;
    const found = agrees(entry, stat) ? "same" : digest(directory, entry.file, entry);
    if (found === null) return null;
    const present = presenters[owner] as ReturnType<typeof openEntryPresenter>;
    if (found === "same") return present(entry, stat, fromMs);
    const isBulk = isBulkTime(bulks[owner] ?? [], found.mtimeMs);
    return present(found, stat, countsFrom(found, { ...directory, isBulk }));
  };
}

/** For entries of one directory whose dates are known. */
export function openEntryPresenter(
  directory: Pick<Directory, "path" | "scope" | "inRepository">,
  now: Date,
): (entry: RowEntry, stat: Stats, fromMs: number) => Presented {
  const find = openChecked(directory.path, now);
  return (entry, stat, fromMs) => {
    const { file, isInferred } = entry;
    const path = join(directory.path, file);
    const ageDays = ageInDays(fromMs, now.getTime());
    const header = formatHeader({
      path,
      scope: directory.scope,
      ageDays,
      source: isInferred ? { by: "inferred", session: null, message: null } : null,
      checked: find(file, stat),
      author: findAuthor(directory, file),
    });
    const content = shownContent(readStart(directory, file, MAX_BYTES).toString("utf8"));
    return { path, title: entry.name, header, content, entry, stat, fromMs, ageDays };
  };
}

export type FindChecked = (file: string, stat: { size: number; mtimeMs: number }) => Checked | null;

/** Finds nothing where no claims are checked: then the age alone has to do. Reads one file, when it is first asked. */
export function openChecked(directoryPath: string, now: Date): FindChecked {
  let verdicts: Verdicts | null = null;
  return (file, { size, mtimeMs }) => {
    verdicts ??= readVerdicts(directoryPath);
    if (verdicts.size === 0) return null;
    const kept = findVerdict(verdicts, file, { bytes: size, mtimeMs });
    return {
      verdict: kept?.verdict ?? "unchecked",
      days: kept ? ageInDays(Date.parse(kept.at), now.getTime()) : 0,
      text: formatVerdict(kept, now),
    };
  };
}

/** The field and what belongs to it: lines that are further in, items of a list, empty lines. */
const CUES = /^([ \t]*)when:.*(?:\n(?:\1[ \t]+.*|\1-.*|[ \t]*\r?))*\n?/m;
const FENCE = /^---[ \t]*\r?\n/;

/** Its text without the cues. */
export function shownContent(text: string): string {
  if (!FENCE.test(text)) return text;
  const end = text.indexOf("\n---", 3);
  if (end < 0) return text;
  // One line break more belongs to the head than is cut off it.
  return text.slice(0, end + 1).replace(CUES, "") + text.slice(end + 1);
}
