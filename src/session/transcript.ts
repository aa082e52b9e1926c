/** The transcript of the running session: every message is on disk before the conversation goes on. */

import { join } from "node:path";
import type { Message, Usage } from "../model/ask.ts";
import type { ResumedSession } from "./session-reader.ts";
import { openLineFile } from "./transcript-file.ts";
import { formatLine, partsOf, type TranscriptLine } from "./transcript-line.ts";

export interface TranscriptPlace {
  /** Claude Code's folder for the working directory; made when there is something to write. */
  dir: string;
  cwd: string;
  /** Of this program. */
  version: string;
  model: () => string;
  gitBranch: () => string | null;
  /** How much may wait for a disk that takes nothing. */
  maxWaitingBytes?: number;
}

interface TranscriptWorld {
  now: () => Date;
  newId: () => string;
  log: (message: string) => void;
}

interface AppendFacts {
  usage?: Usage;
  stop?: string;
  /** It stands for what was compacted. */
  isSummary?: boolean;
}

/** Nothing here throws into the conversation: what the disk does not take waits, and `problem` tells. */
export interface Transcript {
  readonly id: string;
  readonly path: string;
  /** The line that the next message hangs on. */
  readonly leaf: string | null;
  /** The uuid of the message's own line. */
  append(message: Message, facts?: AppendFacts): string;
  /** A line of bookkeeping, which is no part of the conversation. Alone it makes no file. */
  note(line: TranscriptLine): void;
  /** The conversation was compacted: what is appended from now on is all of it. */
  boundary(metadata: { trigger: "manual" | "auto"; preTokens: number }): void;
  /** The next message hangs there; what came after it is a branch that is left. Holds for a reader at once. */
  rewindTo(leaf: string | null): void;
  problem(): string | null;
  close(): void;
}

/** Several long conversations' worth, and still no burden. */
const MAX_WAITING_BYTES = 64 << 20;

export function openTranscript(place: TranscriptPlace, world: TranscriptWorld, from?: ResumedSession): Transcript {
  const id = from?.id ?? world.newId();
  const path = from?.path ?? join(place.dir, `${id}.jsonl`);
  const { log } = world;
  const maxWaitingBytes = place.maxWaitingBytes ?? MAX_WAITING_BYTES;
  const file = openLineFile({ path, log, exists: from !== undefined, maxWaitingBytes });
  let leaf = from?.leaf ?? null;

  const write = (lines: readonly TranscriptLine[], later = false) => {
    try {
      file.write(lines.map(formatLine).join(""), { later });
    } catch (error) {
      // Only a value that JSON does not know can do this.
      log(`a line could not be written to the transcript: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const link = (line: TranscriptLine, parent: string | null): TranscriptLine & { uuid: string } => {
    const uuid = world.newId();
    leaf = uuid;
    const { type, ...rest } = line;
    const branch = place.gitBranch();
    return {
      parentUuid: parent,
      isSidechain: false,
      type,
      userType: "external",
      cwd: place.cwd,
      sessionId: id,
      version: place.version,
      ...(branch !== null && { gitBranch: branch }),
      uuid,
      timestamp: world.now().toISOString(),
      ...rest,
    };
  };
  const note = (line: TranscriptLine) =>
    write([{ sessionId: id, timestamp: world.now().toISOString(), ...line }].map(typeFirst), true);

  return {
    id,
    path,
    get leaf() {
      return leaf;
    },
    append(message, { usage, stop, isSummary = false } = {}) {
      const parts = partsOf(message, { id: `msg_${world.newId()}`, model: place.model(), usage, stop });
      const lines = parts.map((part) => link({ ...(isSummary && { isCompactSummary: true }), ...part }, leaf));
      // One write: a reader never sees a message without its reminders, unless it was killed in between.
      write(lines);
      return lines[0]!.uuid;
    },
    note,
    boundary(compactMetadata) {
      const logicalParentUuid = leaf;
      const content = "The conversation up to here was summarised.";
      write(
        [link({ type: "system", subtype: "compact_boundary", content, logicalParentUuid, compactMetadata }, null)],
        true,
      );
    },
    rewindTo(to) {
      leaf = to;
      note({ type: "rewind", leafUuid: to });
    },
    problem: file.problem,
    close: file.close,
  };
}

/** Readers that only want some types look at the first bytes. */
function typeFirst({ type, ...rest }: TranscriptLine): TranscriptLine {
  return { type, ...rest };
}
