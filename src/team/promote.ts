/** Moving a memory between a private directory and the team's: written there first, then removed here, each in its journal. */

import { lstatSync } from "node:fs";
import { join } from "node:path";
import { realPath } from "../disk/fence.ts";
import { MemdirError } from "../errors.ts";
import type { Found } from "../memory/memories.ts";
import { writeMemory } from "../memory/save.ts";
import {
  fileNameFor,
  findBytes,
  type Header,
  type Memory,
  oneLine,
  parseMemory,
  readBytes,
  refuseBroken,
  type Store,
  sameName,
  scan,
  stemOf,
} from "../store/store.ts";
import { findEntryProblem } from "./protocol.ts";
import { refuseTravel } from "./travel.ts";

/** What a move would do, to show before asking. Valid only as long as nothing changes; `carryOut` checks again. */
export type Move = ReturnType<typeof planMove>;

export type MoveResult = Awaited<ReturnType<typeof carryOut>>;

/** Throws `usage` for what may not travel, `conflict` when the team has another text under this name and type. */
export function planPromotion(found: Found, team: Store): Move {
  const move = planMove("promote", found, team);
  refuseTravel(found.file, move.text, move.from.scope);
  return { ...move, notices: findPrivateLinks(move) };
}

/** The way back: the others lose it with the next commit. */
export function planDemotion(found: Found, to: Store): Move {
  const move = planMove("demote", found, to);
  return { ...move, notices: findLeftLinks(move) };
}

/**
 * Stopped between its steps it leaves the memory in both places, and running it again removes the first. Undoing one of the
 * two entries never loses it: the text is in the journal of either side. `onWritten` is called between the steps, for tests.
 */
export async function carryOut(move: Move, onWritten?: () => void) {
  const { kind, name, from, stores, text } = move;
  const { scope, file } = from;
  refuseReadOnly(stores.from);
  const written = await stores.to.change(async (to) => {
    // Another writer may have been faster since it was planned.
    const { target } = findTarget(to, parseMemory(file, text), text);
    return writeMemory(to, target, text, { action: "save", reason: `${kind}d from ${scope}: ${file}` });
  });
  onWritten?.();
  const changed = `${file} changed while it was moved: the earlier text is in ${written.path}, the new one stays here; look at both, then forget one`;
  const to = { ...move.to, file: written.file, path: written.path };
  const reason = `${kind}d to ${to.scope}: ${to.file}`;
  const removed = await stores.from.change(async (from) => {
    if (findBytes(from, file)?.toString("utf8") !== text) throw new MemdirError("conflict", changed);
    return from.apply({ action: "forget", reason, writes: new Map([[file, null]]) });
  });
  return {
    ...{ kind, name, from, to },
    notices: [...move.notices, ...written.notices, ...removed.notices],
    // Journal entries: of the directory it went to (null when it was there already), and of the one it left.
    undo: { written: written.undo, removed: removed.entry.id },
  };
}

function planMove(kind: "promote" | "demote", { directory: from, file }: Found, to: Store) {
  refuseReadOnly(from);
  if (realPath(from.path) === realPath(to.path))
    throw new MemdirError("usage", `${file} is already in ${to.path}: there is nothing to move`);
  const data = readBytes(from, file);
  const memory = parseMemory(file, data);
  refuseBroken(memory);
  const text = data.toString("utf8");
  const { target, isThere } = findTarget(to, memory, text);
  return {
    kind,
    name: memory.name,
    // Where it is and where it will be, below their directories.
    from: { scope: from.scope, file },
    to: { scope: to.scope, file: target, path: join(to.path, target) },
    isThere,
    text,
    notices: [] as string[],
    stores: { from, to },
  };
}

function refuseReadOnly(from: Store): void {
  const message = `${from.path} is a directory of an older layout and read-only: adopt it with \`memdir adopt\` first`;
  if (from.readOnly) throw new MemdirError("usage", message);
}

/** How many numbered file names are tried. */
const NUMBERS = 100;

/**
 * The file it has here, if that is free there, else one made from its name. `isThere`: the same text is there already, as an earlier
 * move was stopped half-way, and only its end is left to do.
 */
function findTarget(to: Store, memory: Memory, text: string): { target: string; isThere: boolean } {
  const there = scan(to);
  // A memory is known by its type and name together.
  const isSame = ({ type, name }: Header) => type === memory.type && sameName(name, memory.name);
  const same = there.filter((header) => !header.unreadable && isSame(header));
  const equal = same.find(({ file }) => findBytes(to, file)?.toString("utf8") === text);
  if (equal) return { target: equal.file, isThere: true };
  const [other] = same;
  if (other) {
    const found = `${to.scope} memory has a ${memory.type} memory "${oneLine(memory.name)}" with another text (${other.file})`;
    const advice = "rename one of them (`memdir rename`), or bring the two together and forget this one";
    throw new MemdirError("conflict", `${found}: ${advice}`);
  }
  // For a colleague's disk `A.md` and `a.md` may be one file.
  const taken = new Set(there.map(({ file }) => file.toLowerCase()));
  const numbered = Array.from({ length: NUMBERS }, (_, i) => fileNameFor(memory.type, memory.name, i + 1));
  const isFree = (file: string) =>
    !taken.has(file.toLowerCase()) && !lstatSync(join(to.path, file), { throwIfNoEntry: false });
  const target = [memory.file, ...numbered].find((file) => findEntryProblem(file) === null && isFree(file));
  if (target === undefined)
    throw new MemdirError("conflict", `${to.path} has no free file name for "${memory.name}": rename it first`);
  return { target, isThere: false };
}

/** Others would follow these into nothing. */
function findPrivateLinks({ stores: { from, to }, from: { file }, text }: Move): string[] {
  const memory = parseMemory(file, text);
  const own = scan(from).filter((header) => header.file !== file && pointsTo(memory, header));
  if (own.length === 0) return [];
  const shared = scan(to);
  const isNamedLike = (one: Header, other: Header) =>
    sameName(one.name, other.name) || stemOf(one.file) === stemOf(other.file);
  const left = own.filter((header) => !shared.some((other) => isNamedLike(other, header)));
  const stays = "which stays private: others will not find it";
  return left.map(({ name, file }) => `it links to "${oneLine(name)}" (${file}), ${stays}`);
}

/** What stays with the team and points to what leaves it. */
function findLeftLinks({ stores: { from }, from: { file }, text }: Move): string[] {
  const memory = parseMemory(file, text);
  const others = scan(from).filter((header) => header.file !== file && !header.unreadable);
  const linking = others.filter((header) => {
    const data = findBytes(from, header.file);
    return data !== null && pointsTo(parseMemory(header.file, data), memory);
  });
  return linking.map((header) => `${header.file} of the team still links to it: others will not find it`);
}

/** By a field or by a link in the body: `[[name]]`, `[words](file.md)`. */
function pointsTo({ links, supersedes, body }: Memory, header: Header): boolean {
  const names = [header.name, header.file, stemOf(header.file), header.file.replace(/\.md$/, "")].map(oneLine);
  if ([...links, ...supersedes].some((link) => names.includes(oneLine(link)))) return true;
  return names.some((name) => body.includes(`[[${name}]]`)) || body.includes(`](${header.file})`);
}
