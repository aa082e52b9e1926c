/**
 * Before and after a tool call of another agent: denies a call that breaks an enforced rule; adds the
 * instructions of the folders it worked in, where the host does not load them, and memories that a model has found meanwhile. It fails
 * open, and it is fast, as it runs with every call.
 */

import { lstatSync } from "node:fs";
import { basename, relative, resolve, sep } from "node:path";
import { isWithin, realPath } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { findDirectories, findPlace } from "../project/scopes.ts";
import { fitMemories, openEntryPresenter } from "../recall/injection.ts";
import { neutraliseLine } from "../recall/neutral.ts";
import { logSurfaced, readSurfaced, writeSurfaced } from "../recall/surface-log.ts";
import { type Directory, findAuthor, readEntry } from "../store/store.ts";
import { findBroken } from "./enforcement.ts";
import {
  type Answer,
  type Event,
  failOpen,
  formatContext,
  formatDenial,
  type Host,
  MAX_CHARS,
  namedFiles,
} from "./event.ts";
import { findNested, type Nested } from "./nested.ts";
import { takePrefetch } from "./prefetch.ts";
import { expectChange, IN_FORCE, isEnforcing, openConsent, type Rule, readRules } from "./rules.ts";

type ToolHost = Omit<Host, "start">;

export function answerTool(event: Event, host: ToolHost): Answer {
  return { out: textFor(event, host) };
}

function textFor(event: Event, host: ToolHost): string {
  const { session, cwd } = event;
  // The event has the folder of the call, which may be in another repository than the session's.
  const start = attempt(host.startedIn, cwd);
  if (event.kind !== "PreToolUse")
    return session === null
      ? ""
      : answerAt(event.isCodex ? start : cwd, event, host, (open) => addFound(open, session));
  // In another project the rules of the session's own still apply.
  const checked = new Set<string>();
  for (const folder of new Set([cwd, start])) {
    const denial = answerAt(folder, event, host, (open) => {
      const { dir, project } = open.location;
      const place = JSON.stringify([dir, project.root]);
      if (checked.has(place)) return "";
      checked.add(place);
      return denyBroken(open);
    });
    if (denial !== "") return denial;
  }
  return "";
}

function answerAt(cwd: string, event: Event, host: ToolHost, work: (open: Open) => string): string {
  const place = findPlace({ cwd }, host.env);
  host.deadline.set(place.config.hooks.deadlineMs);
  return work({ ...place, event, cwd, host });
}

type Open = ReturnType<typeof findPlace> & { event: Event; cwd: string; host: ToolHost };

function directoriesOf({ cwd, config, location, host }: Open): { main: Directory; all: Directory[] } {
  const options = { cwd, now: host.now, withOlder: false };
  const { main, directories } = findDirectories(options, config, location);
  // An agent's own memories are for that agent.
  return { main, all: directories.filter(({ scope }) => !scope.startsWith("agent:")) };
}

/** For a rule's message: a paragraph. */
const MAX_MESSAGE_CHARS = 1_000;
/** The limit of names that are saved through memdir. */
const MAX_NAME_CHARS = 200;

function denyBroken(open: Open): string {
  const { event, config, location, host } = open;
  if (!isEnforcing(config)) return "";
  const { all } = directoriesOf(open);
  const rules = readRules(all, host.deadline.isMissed);
  failOpen(() => expectChanges(open, all), undefined, host);
  const late = host.deadline.missed;
  if (late > 0) host.onFault(new Error("time was up before all rules were read"));
  if (rules.length === 0) return "";
  const root = location.project.worktreeRoot ?? location.project.cwd;
  const onSkip = ({ file }: Rule) => host.onFault(new Error(`the rule in ${basename(file)} took too long`));
  const consent = openConsent(config, location.project);
  const isInForce = (rule: Rule) => IN_FORCE.has(consent(rule));
  const place = { cwd: event.cwd, root, home: config.home };
  const broken = findBroken(rules, event.call, { ...place, onSkip, isLate: host.deadline.isMissed, isInForce });
  if (late === 0 && host.deadline.missed > 0)
    host.onFault(new Error("time was up before all of the team's rules were checked"));
  return broken ? formatDenial(event.name, reasonOf(broken, all)) : "";
}

/** It must be clear whose rule it is, before its first word: the text of another person is not the user's, and no instruction. */
function reasonOf({ message, name, path, isShared }: Rule, directories: readonly Directory[]): string {
  const cut = (text: string, chars: number) => neutraliseLine(text).slice(0, chars).toWellFormed();
  const memory = `memory ${cut(name, MAX_NAME_CHARS)}, ${neutraliseLine(path)}`;
  const says = cut(message, MAX_MESSAGE_CHARS);
  if (!isShared) return `${says} (${memory}; enforced because you asked for it)`;
  const at = ownerOf(path, directories);
  const author = at && findAuthor(at.owner, at.file);
  const whose = author ? `written by ${author}` : "whose author is not known";
  return `A rule of your team, ${whose}: ${says} (${memory}; the user lets it deny calls, its words are not theirs)`;
}

/** The share of the room that instructions may take when there are memories to show, too. */
const NESTED_SHARE = 0.6;

/** Instructions that the host does not load, and memories found in the background, unless they are in the conversation already. */
function addFound(open: Open, session: string): string {
  if (open.config.disabled !== null) return "";
  const { main, all } = directoriesOf(open);
  const paths = takePrefetch(main.path, session);
  const isNesting = open.event.isCodex && !open.config.claudeMdsDisabled;
  if (paths.length === 0 && !isNesting) return "";
  const surfaced = readSurfaced(main.path, session);
  const fresh = paths.filter((path) => !surfaced.surfaced.has(path));
  const candidates = fresh.flatMap((path) => readFound(path, all, open.host.now()));
  const share = candidates.length > 0 ? Math.floor(MAX_CHARS * NESTED_SHARE) : MAX_CHARS;
  const nested = isNesting ? nestedOf(open, surfaced.surfaced, share) : NOT_NESTED;
  const room = MAX_CHARS - nested.text.length - 2;
  const { memories, text } = fitMemories(candidates, { maxBytes: room, sessionLeft: surfaced.bytesLeft() });
  if (memories.length === 0 && nested.paths.length === 0) return "";
  surfaced.surface(memories);
  for (const path of nested.paths) surfaced.surfaced.add(path);
  // If it cannot be recorded that they were shown, they would come with every call.
  const instructions = writeSurfaced(main.path, session, surfaced) ? nested.text : "";
  // The prompt is known to the process that found them, not here.
  const why = ["found beside the turn"];
  const logged = memories.map(({ file, scope }) => ({ file, scope, why }));
  logSurfaced(main.path, { at: open.host.now(), session, door: "hook", prompt: "", memories: logged });
  const added = [instructions, memories.length > 0 ? text : ""].filter((part) => part !== "").join("\n\n");
  return added === "" ? "" : formatContext(open.event.name, added);
}

const NOT_NESTED: Nested = { text: "", paths: [] };

/** If this fails, the memories are still shown. */
function nestedOf({ event, cwd: start, location, host }: Open, known: ReadonlySet<string>, maxChars: number): Nested {
  const place = { start, cwd: event.cwd, root: location.project.worktreeRoot ?? start };
  const { isOver: isLate } = host.deadline;
  const options = { ...place, response: event.response, known, maxChars, isLate };
  return failOpen(() => findNested(event.call, options), NOT_NESTED, host);
}

/** Which directory a path is in, and its file there; null for none. */
function ownerOf(path: string, directories: readonly Directory[]): { owner: Directory; file: string } | null {
  const real = realPath(path);
  const owner = innermost(directories, (each) => isWithin(realPath(each.path), real));
  return owner ? { owner, file: relative(realPath(owner.path), real).split(sep).join("/") } : null;
}

/** A team's mirror is inside the project's directory, and is not the user's own. */
function innermost(directories: readonly Directory[], isIn: (each: Directory) => boolean): Directory | undefined {
  return directories.filter(isIn).sort((a, b) => b.path.length - a.path.length)[0];
}

/** Memories that the call names: it may write a rule into one. */
function expectChanges({ event }: Open, directories: readonly Directory[]): void {
  for (const name of namedFiles(event.call.input)) {
    const path = resolve(event.cwd, name);
    const directory = path.endsWith(".md") ? innermost(directories, (each) => isWithin(each.path, path)) : undefined;
    if (directory) expectChange(directory, relative(directory.path, path).split(sep).join("/"));
  }
}

/** Only files of our directories, whatever the other process wrote. */
function readFound(path: string, directories: readonly Directory[], now: Date) {
  const at = path.endsWith(".md") ? ownerOf(path, directories) : null;
  try {
    const found = at && readEntry(at.owner, at.file);
    if (!at || !found) return [];
    const shown = openEntryPresenter(at.owner, now)(found.entry, lstatSync(path), found.fromMs);
    return [{ ...shown, file: at.file, scope: at.owner.scope }];
  } catch {
    return []; // deleted meanwhile
  }
}
