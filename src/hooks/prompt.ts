/** A prompt of another agent comes in, the memories that help go out: what `memdir recall` shows, from rows and a model that stay loaded. */

import type { Config, Env } from "../config.ts";
import { lazily } from "../errors.ts";
import { findEmbed } from "../meaning/meaning.ts";
import { findDirectories, findPlace } from "../project/scopes.ts";
import { isTooShort } from "../recall/prefetch.ts";
import { openRecaller, type Recaller } from "../recall/recaller.ts";
import { logSurfaced, readSurfaced, writeSurfaced } from "../recall/surface-log.ts";
import { type Directory, isTakenOver } from "../store/store.ts";
import { type Answer, type Event, formatContext, type Host, MAX_CHARS, NOTHING } from "./event.ts";
import { startPrefetch } from "./prefetch.ts";

/** Gemini CLI puts what hooks added at the start of the session before the user's first prompt. */
const HOST_CONTEXT = /^(?:\s*<hook_context>[\s\S]*?<\/hook_context>)+/;

export async function answerPrompt(event: Event, host: Host): Promise<Answer> {
  const { name, cwd, session } = event;
  const prompt = event.prompt.replace(HOST_CONTEXT, "");
  if (isTooShort(prompt)) return NOTHING;
  const opened = open(cwd, host);
  if (!opened) return NOTHING;
  const { config, main, recaller } = opened;
  host.deadline.set(config.hooks.deadlineMs);
  const { text, note } = await inTurn(session, host, () =>
    recallFor(recaller, { prompt, session, main: main.path }, host),
  );
  const after = () => {
    note();
    if (session !== null && wantsSearch(config, host.env)) startPrefetch(main.path, { cwd, session, prompt }, host);
  };
  return { out: text === "" ? "" : formatContext(name, text), after };
}

/** After so many the engine has compiled what a prompt runs through: the first prompts took twice as long as the thirtieth, and what is not the model a quarter longer than the sixtieth. */
const REHEARSALS = 60;
/** Some hundred memories; the rest is made behind the answers. */
const WARM_MS = 5000;
/** A prompt that comes meanwhile waits for one rehearsal at most. */
const PAUSE_MS = 10;

/** Before the first prompt of a process that lives on: what a prompt needs is loaded and compiled, and nobody waits for it. */
export async function prepare({ cwd }: Pick<Event, "cwd">, host: Host): Promise<Answer> {
  // Rehearsals put off what works on vectors, and a short session would never come to it.
  await open(cwd, host)?.recaller.warm({ budgetMs: WARM_MS });
  for (let i = 0; i < REHEARSALS; i++) {
    const opened = open(cwd, host);
    if (!opened) break;
    await opened.recaller.recall("which memories does this project have? ".repeat(1 + (i % 3)));
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
  return NOTHING;
}

/** Null where memory is switched off. */
function open(cwd: string, host: Host) {
  const { config, location } = findPlace({ cwd }, host.env);
  if (config.disabled !== null) return null;
  const { main, directories } = findDirectories({ cwd }, config, location);
  const used = directories.filter((each) => !each.readOnly || !isTakenOver(main, each));
  return { config, main, recaller: keepRecaller(used, config, host) };
}

/** Prompts of one session may overlap: each waits, until its time is up, for it to be noted what the last one was shown. */
async function inTurn<T extends { note: () => void }>(
  session: string | null,
  { deadline, keep }: Host,
  work: () => Promise<T>,
): Promise<T> {
  if (session === null) return work();
  const turns = keep(`prompts ${session}`, () => ({ end: async () => {} }));
  const worked = deadline.race(turns.end()).then(work);
  turns.end = () => worked.then(({ note }) => note()).catch(() => {});
  return worked;
}

/** `main`: the path of the directory that records what the session was shown. `note` does that; nobody needs to wait for it. */
async function recallFor(
  recaller: Recaller,
  { prompt, session, main }: { prompt: string; session: string | null; main: string },
  host: Host,
) {
  const { now, deadline } = host;
  const shown = readSurfaced(main, session);
  const found = await deadline.race(recaller.recall(prompt, { session: shown, maxBytes: MAX_CHARS }));
  if (!found || deadline.missed > 0) host.onFault(new Error("time was up before all memories were read"));
  const note = lazily(() => {
    if (!found || found.memories.length === 0) return;
    shown.surface(found.memories);
    writeSurfaced(main, session, shown);
    if (session === null) return;
    const memories = found.memories.map(({ file, scope, confidence }) => {
      return { file, scope, why: [`${found.method}: confidence ${confidence.toFixed(2)}`] };
    });
    logSurfaced(main, { at: now(), session, door: "hook", prompt, memories });
  });
  return { text: found?.text ?? "", note };
}

/** The rows of these directories, open from the first prompt on. */
function keepRecaller(directories: readonly Directory[], { meaning }: Config, host: Host): Recaller {
  const { recaller, call } = host.keep(`recaller ${JSON.stringify([directories, meaning])}`, () => {
    const call = { host };
    const recaller = openRecaller(directories, {
      findEmbed: async () => (meaning ? findEmbed() : null),
      ask: null,
      now: () => call.host.now(),
      ticks: () => process.uptime() * 1000,
      isLate: () => call.host.deadline.isMissed(),
      log: (_, error) => error && call.host.onFault(error),
    });
    return { recaller, call };
  });
  // The last one who asked waits the longest.
  call.host = host;
  return recaller;
}

/** Only if the user wants it and there is a model: it costs a request for every prompt. */
function wantsSearch({ hooks }: Config, { MEMDIR_RECALL, MEMDIR_MODEL = "" }: Env): boolean {
  return (hooks.prefetch || MEMDIR_RECALL === "model") && MEMDIR_MODEL.trim() !== "";
}
