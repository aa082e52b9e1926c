/** The console: a person on a terminal types below while the agent works above; or lines come from a pipe, and it ends with them. */

import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Memdir } from "../../memdir.ts";
import { sessionsFolder } from "../../project/scopes.ts";
import { sanitise } from "../../text/sanitise.ts";
import type { PermissionOptions, PermissionRequest } from "../../tools/permission.ts";
import { openAgentFor } from "../agent.ts";
import { type Call, cancellable, note } from "../command.ts";
import { openQuestions, type Terminal } from "../terminal.ts";
import { askBy, openInput } from "./input.ts";
import { type Completion, PROMPT } from "./input-view.ts";
import { answerLine, greet } from "./line.ts";
import { openPromptHistory } from "./prompt-history.ts";
import { openScreen, RESET } from "./screen.ts";
import { completeLine } from "./slash-commands.ts";
import type { Console, Status } from "./slash-memory.ts";
import { DEFAULT_COLUMNS, FRAME_MS, openTurnView, spinnerLine } from "./turn-view.ts";

/** Where the console is: what differs between a terminal and a pipe. */
type Place = Pick<Console, "terminal" | "release" | "suggest" | "working">;

const ENDING = "finishing what is being learnt, Ctrl-C leaves at once";
const ENDING_SIGNALS = { SIGTERM: 143, SIGHUP: 129 };

/** On a pipe, or where nothing can be redrawn: whole lines, as the terminal itself lets them be typed. */
export async function runLines(call: Call, memdir: Memdir): Promise<number> {
  const { interactive } = call.terminal;
  const source = createInterface({ input: process.stdin, terminal: false });
  const lines = source[Symbol.asyncIterator]();
  const readLine = async (question: string) => {
    if (interactive) process.stdout.write(question);
    const { done, value } = await lines.next();
    return done ? null : sanitise(value, "\t");
  };
  async function* readLines() {
    try {
      for (let line = await readLine(PROMPT); line !== null; line = await readLine(PROMPT)) yield line;
    } finally {
      source.close();
    }
  }
  const terminal = { ...call.terminal, columns: call.terminal.columns ?? DEFAULT_COLUMNS, ...openQuestions(readLine) };
  const ask = interactive ? (request: PermissionRequest) => askPermission(terminal, request, MAX_DETAIL) : null;
  const { agent, answerAll } = await openConversation(call, memdir, ask).catch((error: unknown) => {
    // A pipe that stays open would hold the process.
    source.close();
    throw error;
  });
  // While nothing works: the end of the input, so that what is being learnt is finished.
  const unlisten = interactive ? listen(process, "SIGINT", () => source.close()) : () => {};
  try {
    return await answerAll(readLines(), {
      terminal,
      release: interactive ? (work) => work() : null,
      // Nothing can be put into a line that the terminal holds: it is shown, to be typed.
      suggest: (text) => interactive && terminal.print(sanitise(text)),
      working: (_, work) => (interactive ? cancellable(work) : work(new AbortController().signal)),
    });
  } finally {
    unlisten();
    if (interactive) sayResume(call, agent);
  }
}

export async function runInteractive(call: Call, memdir: Memdir): Promise<number> {
  // Asked before the terminal is taken: what is wrong with a session or a model is said plainly.
  let stage: Stage | null = null;
  const { agent, answerAll } = await openConversation(call, memdir, (request) =>
    stage ? askPermission(stage.terminal, request, Math.floor(stage.screen.rows() / 2)) : Promise.resolve("deny"),
  );
  const folder = sessionsFolder(memdir.config, memdir.location.project);
  const history = openPromptHistory(join(folder, "prompts.jsonl"), call);
  let names: string[] = [];
  const readNames = async () => {
    const { rows } = await memdir.survey().catch(() => ({ rows: [] }));
    names = rows.map(({ name }) => name);
  };
  await readNames();
  const opened = openStage(call, history, (text) => completeLine(text, names));
  const { screen, input, terminal } = opened;
  stage = opened;
  async function* readLines() {
    for (let line = await input.read(); line !== null; line = await input.read()) {
      const problem = history.add(line);
      if (problem !== null) note({ terminal }, [problem]);
      yield line;
      // Not waited for: Ctrl-D counts only while a line is read.
      void readNames();
    }
  }
  const restore = () => void process.stdout.write(RESET);
  // What was said is on disk already; the terminal is given back as it was, and commands that run end with us.
  const stops = [
    listen(process, "exit", restore),
    ...Object.entries(ENDING_SIGNALS).map(([signal, code]) => listen(process, signal, () => process.exit(code))),
  ];
  try {
    await answerAll(readLines(), {
      ...{ terminal, release: input.release, suggest: input.suggest },
      working: (status, work) => spinDuring(opened, status, work),
    });
  } finally {
    input.close();
    screen.close();
    for (const stop of stops) stop();
  }
  sayResume(call, agent);
  return 0;
}

function sayResume({ terminal }: Call, { sessionId, transcriptPath, prompts }: Console["agent"]): void {
  const resume = `memdir --resume ${sessionId} continues this session (${transcriptPath})`;
  if (prompts().length > 0) terminal.print(terminal.color.dim(resume));
}

/** Opens the agent and greets; `answerAll` returns the exit code, which remembers that a line failed. */
async function openConversation(call: Call, memdir: Memdir, ask: PermissionOptions["ask"]) {
  const { agent, offline, from } = await openAgentFor(call, memdir, ask);
  await greet(memdir, agent.model(), call.terminal, from);
  const answerAll = async (lines: AsyncIterable<string>, place: Place): Promise<number> => {
    const console: Console = { ...call, json: false, open: async () => memdir, memdir, agent, offline, ...place };
    let code = 0;
    const talk = async (words: string) => {
      const { lexer } = await import("marked");
      const { cwd } = memdir.location.project;
      const view = openTurnView({ terminal: place.terminal, cwd, lexer });
      const result = await place.working(view.status, (signal) => agent.say(words, { signal, onEvent: view.show }));
      view.end(result);
      if (result.ended === "error") code = 3;
    };
    try {
      for await (const line of lines) {
        const end = await answerLine(line, console, talk);
        if (end === "leave") break;
        if (end === "failed") code = Math.max(code, 2);
      }
      if (agent.isLearning()) await console.working(ENDING, (signal) => agent.drain({ signal }));
      return code;
    } finally {
      agent.close();
    }
  };
  return { agent, answerAll };
}

type Stage = ReturnType<typeof openStage>;

/** The spinner runs, and Ctrl-C stops the work and not the program. */
async function spinDuring<T>(
  { input, screen, terminal }: Stage,
  status: string | Status,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const read = typeof status === "string" ? () => ({ label: status, tokens: null }) : status;
  const stop = new AbortController();
  const started = performance.now();
  const spin = () => {
    const elapsedMs = performance.now() - started;
    input.status([spinnerLine({ ...read(), elapsedMs }, screen.columns(), terminal.color)]);
  };
  const end = input.onInterrupt(() => stop.abort());
  spin();
  const timer = setInterval(spin, FRAME_MS);
  try {
    return await work(stop.signal);
  } finally {
    clearInterval(timer);
    end();
    input.status([]);
  }
}

/** Half the screen at most: the question must be seen with it. */
const MAX_DETAIL = 12;

async function askPermission(terminal: Terminal, { summary, detail, kind }: PermissionRequest, maxLines: number) {
  const { yellow, dim } = terminal.color;
  terminal.print(`${yellow("?")} ${sanitise(summary)}`);
  if (detail !== undefined) {
    const lines = sanitise(detail).split("\n");
    const shown = lines.slice(0, Math.max(6, maxLines));
    const more = lines.length - shown.length;
    terminal.print(dim([...shown, ...(more > 0 ? [`… ${more} more lines`] : [])].join("\n")));
  }
  const key = await terminal.choose(`Allow ${sanitise(kind)}?`, [
    { key: "y", label: "yes, in this session" },
    { key: "a", label: "always in this project" },
    { key: "n", label: "no" },
  ]);
  return key === "y" ? "allow" : key === "a" ? "always" : "deny";
}

function openStage(
  call: Call,
  history: ReturnType<typeof openPromptHistory>,
  complete: (text: string) => Completion[],
) {
  const { stdin, stdout } = process;
  const paint = call.terminal.color;
  const screen = openScreen({
    write: (text) => void stdout.write(text),
    columns: () => stdout.columns,
    rows: () => stdout.rows,
    isColour: paint.on,
  });
  const input = openInput({
    ...{ stdin, screen, paint, history, placeholder: "say something, or /help" },
    completions: (text, cursor) => complete(text.slice(0, cursor)),
    now: () => performance.now(),
    setTimer(run, ms) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    onResize: (listener) => listen(stdout, "resize", listener),
    onSignal: (listener) => listen(process, "SIGINT", listener),
    ...(process.platform !== "win32" && { suspend }),
  });
  // Prints above the input line.
  const { print } = screen;
  const terminal: Terminal = {
    ...call.terminal,
    print,
    get columns() {
      return screen.columns();
    },
    warn: (text) => print(paint.yellow(text)),
    progress: () => () => {},
    choose: input.question,
    ask: askBy(input.question),
  };
  return { screen, input, terminal };
}

/** Ctrl-Z: the shell takes over, until it brings us back. */
function suspend(): Promise<void> {
  // Without a keyboard to read from, nothing else would keep the process alive.
  const alive = setInterval(() => {}, 60_000);
  return new Promise((resolve) => {
    process.once("SIGCONT", () => {
      clearInterval(alive);
      resolve();
    });
    process.kill(process.pid, "SIGTSTP");
  });
}

function listen(source: NodeJS.EventEmitter, event: string, listener: () => void): () => void {
  source.on(event, listener);
  return () => void source.off(event, listener);
}
