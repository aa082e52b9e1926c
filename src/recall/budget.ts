/** How much of the memories may be shown: the budget of a session, and the budget of the adapter that asks. */

import { type Candidate, formatInjection, formatLeftOut, formatReminder } from "./injection.ts";
import { cutContent, neutralise } from "./neutral.ts";

/** How much a conversation can hold before memories crowd out the work. In bytes, so that every language gets the same share. */
export const MAX_SESSION_MEMORY_BYTES = 60 * 1024;

/** More than a handful is noise. */
export const MAX_MEMORIES = 5;

/** A memory cut shorter than this says too little: its title says as much. */
const MIN_CUT_BYTES = 400;

/** The names of what is left out may take this part of an adapter's budget from what is shown. */
const LEFT_OUT_SHARE = 0.25;

const SEPARATOR_BYTES = 2;

/** What a session has been shown. Created when it starts, and kept by the host. */
export interface RecallSession {
  /** Paths of the memories that were shown. */
  surfaced: Set<string>;
  /** The total size of their contents in bytes. */
  bytes: number;
  /** The most bytes of memories that the session may be shown, 60 KiB by default. */
  readonly maxBytes: number;
  /** How many bytes may still be shown; never below 0. */
  bytesLeft(): number;
  /** Whether the budget is used up; recall then finds nothing. */
  isFull(): boolean;
  /** Records memories as shown: they count against the budget and are not recalled again. */
  surface(memories: Iterable<{ path: string; content: string }>): void;
  /** Call it after a clear or compact: the model no longer has any of the memories. */
  clear(): void;
}

/** Starts a session. Pass it to every recall in a conversation, so that no memory is shown twice. */
export function openRecallSession(options: { maxBytes?: number | undefined } = {}): RecallSession {
  const { maxBytes = MAX_SESSION_MEMORY_BYTES } = options ?? {};
  const session: RecallSession = {
    surfaced: new Set(),
    bytes: 0,
    maxBytes,
    bytesLeft: () => Math.max(0, maxBytes - session.bytes),
    isFull: () => session.bytes >= maxBytes,
    surface(memories) {
      for (const { path, content } of memories) {
        session.surfaced.add(path);
        session.bytes += Buffer.byteLength(content);
      }
    },
    clear() {
      session.surfaced.clear();
      session.bytes = 0;
    },
  };
  return session;
}

export interface FitLimits {
  /** For the whole text, fences and the line of what is left out included. */
  maxBytes?: number | undefined;
  limit?: number;
  /** Bytes of content that the session may still show. */
  sessionLeft?: number | undefined;
}

/**
 * The first `limit` candidates in their order, as many as fit. One that does not fit whole is cut to the room there is, one that
 * would be too short is named instead, and a smaller one behind it may still find room. The text never exceeds `maxBytes`.
 * The memories come back with their contents as shown; the text is ready to inject, "" when nothing fits.
 */
export function fitMemories<M extends Candidate>(candidates: readonly M[], limits: FitLimits = {}) {
  const { maxBytes = Number.POSITIVE_INFINITY, limit = MAX_MEMORIES, sessionLeft = MAX_SESSION_MEMORY_BYTES } = limits;
  const ready = candidates.slice(0, Math.max(0, limit)).map((memory) => {
    return measure({ ...memory, content: cutContent(neutralise(memory.content)).content });
  });
  let packed = pack(ready, maxBytes, sessionLeft);
  if (packed.leftOut.length > 0) {
    // Naming them needs room, so what is shown is packed again, tighter.
    const names = Buffer.byteLength(remindOf(packed.leftOut.map(({ title }) => title))) + SEPARATOR_BYTES;
    packed = pack(ready, maxBytes - Math.min(names, Math.floor(maxBytes * LEFT_OUT_SHARE)), sessionLeft);
  }
  const shown = formatInjection(packed.memories);
  const room = maxBytes - Buffer.byteLength(shown) - (shown === "" ? 0 : SEPARATOR_BYTES);
  const titles = packed.leftOut.map(({ title }) => title);
  return { ...packed, text: [shown, nameLeftOut(titles, room)].filter((part) => part !== "").join("\n\n") };
}

/** A memory with its bytes as it will be shown, and those of its content. */
interface Measured<M> {
  memory: M;
  total: number;
  bytes: number;
}

function measure<M extends Candidate>(memory: M): Measured<M> {
  return { memory, total: Buffer.byteLength(formatInjection([memory])), bytes: Buffer.byteLength(memory.content) };
}

function pack<M extends Candidate>(ready: readonly Measured<M>[], maxBytes: number, sessionLeft: number) {
  const memories: M[] = [];
  const leftOut: M[] = [];
  let room = maxBytes;
  let session = sessionLeft;
  for (const measured of ready) {
    const separator = memories.length > 0 ? SEPARATOR_BYTES : 0;
    const fitted = fitOne(measured, room - separator, session);
    if (fitted) {
      memories.push(fitted.memory);
      room -= separator + fitted.total;
      session -= fitted.bytes;
    } else {
      leftOut.push(measured.memory);
    }
  }
  return { memories, leftOut };
}

/** The memory whole, or cut to the room, or null. */
function fitOne<M extends Candidate>(measured: Measured<M>, room: number, session: number): Measured<M> | null {
  const { memory, total, bytes } = measured;
  if (total <= room && bytes <= session) return measured;
  const left = Math.min(room - (total - bytes), session);
  if (left < MIN_CUT_BYTES) return null;
  const cut = measure({ ...memory, content: cutContent(memory.content, { maxBytes: left }).content });
  // A cut may end a line where it looks like one of ours, which is then quoted and longer: rare, and not worth a second try.
  return cut.total <= room ? cut : null;
}

/** As many titles as there is room for, the others as a number. */
function nameLeftOut(titles: readonly string[], room: number): string {
  for (let named = titles.length; titles.length > 0 && named >= 0; named--) {
    const text = remindOf(titles.slice(0, named), titles.length - named);
    if (Buffer.byteLength(text) <= room) return text;
  }
  return "";
}

function remindOf(titles: readonly string[], more = 0): string {
  return formatReminder(formatLeftOut(titles, more));
}
