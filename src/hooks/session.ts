/**
 * The start of a session in another agent: what the client does not load itself, and what its user should know. It fails open: after
 * an error the session starts without it.
 */

import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config, Env } from "../config.ts";
import { readProposals } from "../learn/inbox.ts";
import type { Location } from "../project/locate.ts";
import { findDirectories, findPlace } from "../project/scopes.ts";
import {
  formatEnforced,
  formatFaults,
  formatOverdue,
  formatScopeIndex,
  formatUnconsented,
  formatWaiting,
} from "../prompts/hooks.ts";
import { neutralise, neutraliseLine } from "../recall/neutral.ts";
import { clearSurfaced } from "../recall/surface-log.ts";
import { checkState, type Directory, daysOverdue, INDEX_FILE, isShared, loadIndex, statePath } from "../store/store.ts";
import {
  type Answer,
  type Deadline,
  type Event,
  failOpen,
  formatContext,
  type Host,
  isMemorySized,
  MAX_CHARS,
} from "./event.ts";
import { markTold, readNewFaults } from "./faults.ts";
import { IN_FORCE, isEnforcing, openConsent, readForHooks, readRules, readSharedRules } from "./rules.ts";
import { syncBeside } from "./team-sync.ts";

type SessionHost = Pick<Host, "env" | "now" | "deadline" | "onFault">;

export function answerSession(event: Event, host: Host): Answer {
  const text = failOpen(() => greet(event, host), "", host);
  return {
    out: text === "" ? "" : formatContext("SessionStart", text),
    after() {
      if (text !== "" && readNewFaults(host.env).length > 0) markTold(host.env, host.now());
      syncBeside(event, host);
    },
  };
}

/** The text for the start of the session, at most MAX_CHARS; "" for none. */
export function greet(event: Event, host: SessionHost): string {
  const { env, now, deadline } = host;
  const { cwd, session, source } = event;
  const { config, location } = findPlace({ cwd }, env);
  if (config.disabled !== null && !isEnforcing(config)) return "";
  deadline.set(config.hooks.deadlineMs);
  const { main, directories } = findDirectories({ cwd, now, withOlder: false, by: "hook" }, config, location);
  if (config.disabled !== null) {
    const notes = [() => faultsNote(env), () => enforcedNote(directories, config, location, deadline)];
    return joinNotes(notes.map((make) => failOpen(make, "", host)));
  }
  // The model no longer has what it was shown.
  if (session !== null && /^(clear|compact)$/.test(source)) clearSurfaced(main.path, session);
  const shown = directories.filter(({ scope }) => scope === "user" || scope === "team");
  if (!loadsOwnIndex(event, env)) shown.push(main);
  const notes = [
    () => faultsNote(env),
    () => waitingNote(main),
    () => rulesNote(directories, config, location, deadline),
    () => overdueNote(main, deadline),
  ].map((make) => failOpen(make, "", host));
  const room = MAX_CHARS - notes.join("\n\n").length;
  return joinNotes([...indexNotes(shown, room, host), ...notes]);
}

function joinNotes(notes: readonly string[]): string {
  return notes.filter((note) => note !== "").join("\n\n");
}

/** Claude Code shows the project's MEMORY.md itself; Codex and Gemini CLI, recognised by their traces, do not. */
function loadsOwnIndex({ isCodex }: Event, env: Env): boolean {
  return !isCodex && env.GEMINI_SESSION_ID === undefined;
}

/** For the text around an index: whose it is, where it is, how many more lines there are. */
const FRAME_CHARS = 600;

/** Each gets its share of the room; what a short one does not use goes to the next ones. */
function indexNotes(directories: readonly Directory[], room: number, host: SessionHost): string[] {
  let left = room;
  return directories.map((directory, at) => {
    const share = Math.floor(left / (directories.length - at)) - FRAME_CHARS;
    const note = host.deadline.isOver() ? "" : failOpen(() => indexNote(directory, share), "", host);
    left -= note.length + 2;
    return note;
  });
}

function indexNote(directory: Directory, maxChars: number): string {
  const stat = statSync(join(directory.path, INDEX_FILE), { throwIfNoEntry: false });
  if (stat && !isMemorySized(stat)) return "";
  // Generated as the client does where there is none, but not written: starting a session changes no files.
  const { index } = loadIndex({ ...directory, readOnly: true }, { generate: true });
  const lines = neutralise(index).split("\n");
  let kept = 0;
  for (let chars = 0; kept < lines.length; kept++) {
    chars += (lines[kept] as string).length + 1;
    if (chars > maxChars) break;
  }
  const text = lines.slice(0, kept).join("\n").trim();
  const left = lines.slice(kept).filter((line) => line.trim() !== "").length;
  const dir = neutraliseLine(directory.path).slice(0, FRAME_CHARS / 2);
  return text === ""
    ? ""
    : formatScopeIndex({ scope: isShared(directory) ? "team" : directory.scope, dir, index: text, left });
}

const MAX_OVERDUE = 5;
const MAX_NAME_CHARS = 100;

function overdueNote(directory: Directory, deadline: Deadline): string {
  const now = directory.now();
  const found = readForHooks(directory, deadline.isOver, now.getTime()).flatMap(({ details: { header, day } }) => {
    if (day === null || header.problems.length > 0 || daysOverdue(day, header, now) === null) return [];
    return [{ name: short(header.name), file: short(header.file), date: day }];
  });
  if (found.length === 0) return "";
  found.sort((a, b) => (a.date < b.date ? -1 : 1));
  return formatOverdue(found.slice(0, MAX_OVERDUE), Math.max(0, found.length - MAX_OVERDUE));
}

function short(text: string): string {
  return neutraliseLine(text).slice(0, MAX_NAME_CHARS).toWellFormed();
}

function waitingNote(directory: Directory): string {
  checkState(directory);
  const folder = statePath(directory, "inbox");
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return "";
  const count = readProposals(folder, directory.log).length;
  return count === 0 ? "" : formatWaiting(count);
}

/** Rules of others that do nothing yet. */
function rulesNote(directories: readonly Directory[], config: Config, { project }: Location, late: Deadline): string {
  if (!config.hooks.enforce) return "";
  const consent = openConsent(config, project);
  const count = readSharedRules(directories, late.isOver).filter((rule) => consent(rule) === "waiting").length;
  return count === 0 ? "" : formatUnconsented(count);
}

/** Where the repository switched memory off. */
function enforcedNote(
  directories: readonly Directory[],
  config: Config,
  { project }: Location,
  late: Deadline,
): string {
  const consent = openConsent(config, project);
  const count = readRules(directories, late.isOver).filter((rule) => IN_FORCE.has(consent(rule))).length;
  return count === 0 ? "" : formatEnforced(count, neutraliseLine(config.disabled ?? ""));
}

function faultsNote(env: Env): string {
  const faults = readNewFaults(env);
  const [first] = faults;
  return first ? formatFaults(faults.length, first.at.slice(0, 16).replace("T", " ")) : "";
}
