/** A copy of a session's transcript in a folder that the host does not clean up, for users who want to keep their conversations. */

import { fstatSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  isAlive,
  moveInto,
  PRIVATE_MODE,
  pinFolder,
  removeQuietly,
  withRegular,
  writeTemporary,
} from "../disk/fence.ts";
import { slugOf } from "../project/locate.ts";

interface Archiving {
  /** Absolute path of the transcript. */
  transcript: string;
  session: string;
  /** The host's working directory, which the folder is named by as the host names its own. */
  cwd: string;
  claudeDir: string;
}

/** Weeks of one conversation; more could not be copied in the second that a session has to end. */
const MAX_BYTES = 200 * 1024 * 1024;

/** False when there is nothing to copy, or nothing new. Links are not followed on either side. Throws when the disk refuses. */
export function archiveTranscript({ transcript, session, cwd, claudeDir }: Archiving): boolean {
  if (!/^[\w.-]{1,128}$/.test(session) || session.startsWith(".")) return false;
  // Every host's transcript has this ending; anything else is not a conversation.
  if (!/\.jsonl?$/.test(transcript)) return false;
  const archive = (fd: number, size: number) => {
    if (size === 0 || size > MAX_BYTES) return false;
    const folder = makeFolder(claudeDir, slugOf(cwd));
    try {
      return copy(fd, folder.path, `${session}.jsonl`);
    } finally {
      folder.close();
    }
  };
  return withRegular(transcript, archive) ?? false;
}

/** One after the other, each checked before anything is made in it. */
function makeFolder(claudeDir: string, slug: string): { path: string; close: () => void } {
  const top = join(claudeDir, "memdir-archive");
  for (const folder of [top, join(top, slug)]) {
    if (!lstatSync(folder, { throwIfNoEntry: false })) mkdirSync(folder, { mode: 0o700 });
    if (!lstatSync(folder).isDirectory()) throw new Error(`${folder} is a link or not a folder; remove it`);
  }
  return pinFolder(join(top, slug));
}

/** A transcript only grows, so a copy that is as long and no older is the same. Not flushed: the original stays for weeks. */
function copy(from: number, folder: string, name: string): boolean {
  const { size, mtimeMs } = fstatSync(from);
  const target = join(folder, name);
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there?.isFile() && (there.size > size || (there.size === size && there.mtimeMs >= mtimeMs))) return false;
  sweep(folder, name);
  const bytes = readFileSync(from).subarray(0, size);
  moveInto(writeTemporary(folder, bytes, PRIVATE_MODE, ".copy", false, `-${name}`), target, false);
  return true;
}

/** Leftovers of copies of this session that were killed halfway: their processes are gone, since a session ends once. */
function sweep(folder: string, name: string): void {
  for (const each of readdirSync(folder)) {
    const writer = Number(/^\.copy-(\d+)-/.exec(each)?.[1]);
    const isLeft = each.endsWith(`-${name}`) && (writer === process.pid || (writer > 0 && !isAlive(writer)));
    if (isLeft) removeQuietly(join(folder, each));
  }
}
