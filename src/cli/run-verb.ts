/** A verb as a command: its input read from the call, run, and its result printed. */

import { MemdirError } from "../errors.ts";
import {
  type Context,
  type Fields,
  type Input,
  type Line,
  positionsOf,
  readInput,
  type Said,
  type Verb,
} from "../verb.ts";
import { type Call, cancellable, INTERRUPTED, type Run } from "./command.ts";
import { print } from "./say.ts";

/** How a console or a command line differs from the other. */
interface Manner {
  /** Another verb's call, as one would type it here. */
  call(words: string): string;
  columns?: number | undefined;
  /** Cancels it; without one, Ctrl-C does. */
  signal?: AbortSignal | undefined;
  conversation?: Context["conversation"];
}

interface Running extends Manner {
  signal: AbortSignal;
  isCommand?: boolean;
}

const ON_COMMAND_LINE: Manner = { call: (words) => `memdir ${words}` };

export function runOf<F extends Fields, R>(verb: Verb<F, R>, manner = ON_COMMAND_LINE): Run {
  return async (call) => {
    const input = readVerbInput(verb, call);
    return manner.signal
      ? runVerb(verb, input, call, { ...manner, signal: manner.signal })
      : cancellable((signal) => runVerb(verb, input, call, { ...manner, signal, isCommand: true }));
  };
}

function readVerbInput<F extends Fields, R>(verb: Verb<F, R>, call: Call) {
  const given: Record<string, unknown> = {};
  for (const [name, { isList, value }] of Object.entries(verb.input))
    given[name] = isList ? call.values(name) : value === undefined ? call.flag(name) || undefined : call.value(name);
  const positions = positionsOf(verb);
  for (const [at, { name, isRest }] of positions.entries()) {
    const words = isRest ? call.args.slice(at) : call.args.slice(at, at + 1);
    if (words.length > 0) given[name] = words.join(" ");
  }
  const nameOf = (name: string) =>
    positions.some((position) => position.name === name) ? (verb.input[name]?.value ?? name) : `--${name}`;
  return readInput(verb.input, given, nameOf);
}

/** Opens the store, runs the verb and prints what it says. */
async function runVerb<F extends Fields, R>(
  verb: Verb<F, R>,
  input: Input<F>,
  call: Call,
  { call: spell, columns = call.terminal.columns || undefined, signal, isCommand, conversation }: Running,
): Promise<number> {
  const { json, terminal, cwd, env, now, log } = call;
  const bars: { end(): void }[] = [];
  const endBars = () => {
    for (const bar of bars.splice(0)) bar.end();
  };
  const show = (said: Said, value?: unknown) => {
    endBars();
    if (!json) print(terminal, said, columns);
    else if (value !== undefined) terminal.print(JSON.stringify(value));
    else if (!verb.hasWarnings) print(terminal, said.filter(isWarning), columns);
  };
  try {
    const memdir = await call.open(verb.hasWarnings ? { quiet: true } : undefined);
    signal.throwIfAborted();
    const progress = (what: string) => {
      const bar = terminal.progress(what);
      bars.push(bar);
      return bar.show;
    };
    const result = await verb.run(memdir, input, {
      ...{ cwd, env, now, log, show, conversation, scope: call.value("scope"), signal, progress },
      // Asked late: whether somebody is there is known by standard input, and looking at it loads half of Node's streams.
      get ask() {
        return !json && terminal.interactive ? (question: string) => terminal.ask(question) : null;
      },
      get choose() {
        return !json && isCommand && terminal.interactive ? terminal.choose : undefined;
      },
      readInput: () => terminal.readInput(),
      open: (options) => call.open({ quiet: true, ...options }),
    });
    const elsewhere = ["cwd", "memory-dir", "scope"].flatMap((name) => {
      const value = call.value(name);
      return value === undefined ? [] : [`--${name} ${/^[\w./:~-]+$/.test(value) ? value : JSON.stringify(value)}`];
    });
    // What is to be typed next must work where this call worked.
    const there = (words: string) => spell([...elsewhere, words].join(" "));
    show(verb.say(result, { input, call: there, now: now() }));
    const value = verb.json ? verb.json(result) : result;
    if (json && value !== undefined) terminal.json(value);
    // What goes on until it is told to end has ended as it should.
    if (isCommand && signal.aborted && value !== undefined) return INTERRUPTED;
    if (isCommand) await verb.after?.(memdir, input, { progress, signal });
    endBars();
    return verb.exitCode?.(result) ?? 0;
  } catch (error) {
    endBars();
    // A console goes on, and says what was stopped.
    if (signal.aborted && (isCommand || !(error instanceof MemdirError))) return INTERRUPTED;
    throw error;
  }
}

/** They are for people beside a JSON answer, too. */
function isWarning(line: Line): boolean {
  return typeof line === "object" && "warning" in line;
}
