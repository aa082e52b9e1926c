/** The transcript of the running session: every message is on disk before the conversation continues. */

import { dirname, join } from "node:path";
import { appendLines, makeFolders, syncDirectory } from "../disk/fence.ts";
import { diskError, messageOf } from "../errors.ts";
import type { Message } from "../model/ask.ts";
import type { World } from "../world.ts";
import type { ResumedSession } from "./session-reader.ts";
import { formatLine, type MessageFacts, partsOf, type TranscriptLine } from "./transcript-line.ts";

export interface TranscriptOptions {
  /** Claude Code's folder for the working directory; created when there is something to write. */
  dir: string;
  cwd: string;
  /** Of memdir. */
  version: string;
  model: () => string;
  gitBranch: () => string | null;
}

interface AppendFacts extends Pick<MessageFacts, "usage" | "stop"> {
  /** It replaces what was compacted. */
  isSummary?: boolean;
}

/** A transcript that is being written. Never throws into the conversation: what cannot be written waits, and `problem` says why. */
export type Transcript = ReturnType<typeof openTranscript>;

/** Opens the transcript of a new session, which may have an id already, or of one that is continued. */
export function openTranscript(
  options: TranscriptOptions,
  world: Pick<World, "now" | "newId" | "log">,
  from: Partial<Pick<ResumedSession, "id" | "path" | "leaf">> = {},
) {
  const id = from.id ?? world.newId();
  const path = from.path ?? join(options.dir, `${id}.jsonl`);
  const { log } = world;
  const file = openLineFile(path, log, from.path !== undefined);
  let leaf = from.leaf ?? null;

  const write = (lines: readonly TranscriptLine[], later = false) => {
    try {
      file.write(lines.map(formatLine).join(""), later);
    } catch (error) {
      // Only a value that JSON cannot represent causes this.
      log(`a line could not be written to the transcript: ${messageOf(error)}`);
    }
  };
  const link = (line: TranscriptLine, parent: string | null): TranscriptLine & { uuid: string } => {
    const uuid = world.newId();
    leaf = uuid;
    const { type, ...rest } = line;
    const branch = options.gitBranch();
    return {
      parentUuid: parent,
      isSidechain: false,
      type,
      userType: "external",
      cwd: options.cwd,
      sessionId: id,
      version: options.version,
      ...(branch !== null && { gitBranch: branch }),
      uuid,
      timestamp: world.now().toISOString(),
      ...rest,
    };
  };
  const note = ({ type, ...rest }: TranscriptLine): void =>
    // Readers that only want some types check the first bytes.
    write([{ type, sessionId: id, timestamp: world.now().toISOString(), ...rest }], true);

  return {
    /** The session's id. */
    id,
    /** Path of the file; it is created with the first message. */
    path,
    /** The parent of the next message. */
    get leaf(): string | null {
      return leaf;
    },
    /** The uuid of the message's own line. */
    append(message: Message, { usage, stop, isSummary = false }: AppendFacts = {}): string {
      const parts = partsOf(message, { id: `msg_${world.newId()}`, model: options.model(), usage, stop });
      const lines = parts.map((part) => link({ ...(isSummary && { isCompactSummary: true }), ...part }, leaf));
      // One write: a reader never sees a message without its reminders, unless we were killed in between.
      write(lines);
      return lines[0]!.uuid;
    },
    /** A line of bookkeeping outside the conversation. It alone creates no file. */
    note,
    /** The conversation was compacted: from now on it is only what is appended. */
    boundary(compactMetadata: { trigger: "manual" | "auto"; preTokens: number }): void {
      const logicalParentUuid = leaf;
      const content = "The conversation up to here was summarised.";
      const line = { type: "system", subtype: "compact_boundary", content, logicalParentUuid, compactMetadata };
      write([link(line, null)], true);
    },
    /** The next message gets this parent; what came after it becomes an abandoned branch, for readers at once. */
    rewindTo(to: string | null): void {
      leaf = to;
      note({ type: "rewind", leafUuid: to });
    },
    /** Why lines could not be written and how to fix it; null when all were. */
    problem: file.problem,
    /** Tries once more to write what waits; nothing else has to be released. */
    close: file.close,
  };
}

const PRIVATE_FOLDER = 0o700;

/** If the file `exists` already, nothing waits for it to be created. */
function openLineFile(path: string, log: (message: string) => void, exists: boolean) {
  /** What was written together stays together: a message with its reminders. */
  const waiting: string[] = [];
  let wanted = exists;
  let made = exists;
  /** Whether a waiting line must be on disk before the conversation continues. */
  let urgent = false;
  let problem: string | null = null;

  const flush = () => {
    if (!wanted) return;
    try {
      if (!made) makeFolders(dirname(path), PRIVATE_FOLDER);
      for (let lines = waiting[0]; lines !== undefined; lines = waiting[0]) {
        appendLines(path, lines, { flush: urgent, isOurs: true });
        waiting.shift();
        if (!made) syncDirectory(dirname(path));
        made = true;
      }
      urgent = false;
      problem = null;
    } catch (error) {
      const { message } = diskError(error, "write the transcript", path);
      const now = `${message}; what is said meanwhile waits in memory and is written with the next message`;
      if (now !== problem) log(now);
      problem = now;
    }
  };

  return {
    /** Must not throw. With `later` it may wait for a line that is worth a file, and is not flushed. */
    write(lines: string, later: boolean) {
      waiting.push(lines);
      wanted ||= !later;
      urgent ||= !later;
      flush();
    },
    problem: (): string | null => problem,
    /** A last attempt; nothing is held open between writes. */
    close(): void {
      flush();
      if (wanted && waiting.length > 0) log(`${waiting.length} lines of the transcript ${path} were never written`);
    },
  };
}
