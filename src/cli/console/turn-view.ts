/** One turn of the agent as a person sees it: the answer as it comes, each tool call in a line, and what is going on right now. */

import { isAbsolute, relative } from "node:path";
import type { Token } from "marked";
import type { AgentEvent } from "../../agent/state.ts";
import type { TurnResult } from "../../agent/turn.ts";
import { sanitise, sanitiseLine } from "../../text/sanitise.ts";
import { cut } from "../../text/wrap.ts";
import type { Paint } from "../terminal.ts";
import { openMarkdown } from "./markdown.ts";

interface ViewOut {
  /** Whole lines. */
  print(text: string): void;
  /** Lines with their breaks, as they come. */
  stream(text: string): void;
}

interface ViewOptions {
  paint: Paint;
  columns: () => number;
  cwd: string;
  lexer: (text: string) => Token[];
}

interface TurnView {
  show(event: AgentEvent): void;
  end(result: TurnResult): void;
  /** For the line with the spinner: what is going on, and how many tokens were written. */
  status(): { label: string; tokens: number };
}

type Shows = { [T in AgentEvent["type"]]: (event: Extract<AgentEvent, { type: T }>) => void };

export function openTurnView(out: ViewOut, { paint, columns, cwd, lexer }: ViewOptions): TurnView {
  const render = () => openMarkdown({ columns, color: paint.on, lexer });
  let markdown = render();
  let tokens = 0;
  let written = 0;
  /** Calls that run now, by id. */
  const running = new Map<string, string>();
  let waiting = "";
  const flush = () => {
    const rest = markdown.end();
    if (rest !== "") out.stream(rest);
    markdown = render();
  };
  const say = (text: string) => {
    flush();
    out.print(text);
  };
  const note = (text: string) => say(paint.dim(cut(sanitiseLine(text), Math.max(20, columns()))));
  const line = () => ({ columns: columns(), paint, cwd });

  const shows: Shows = {
    text({ delta }) {
      waiting = "";
      written += delta.length;
      const ready = markdown.push(delta);
      if (ready !== "") out.stream(ready);
    },
    retry({ waitMs, error }) {
      waiting = `waiting ${Math.ceil(waitMs / 1000)} s to try again`;
      note(`${error.message}; trying again in ${Math.ceil(waitMs / 1000)} s`);
    },
    turn() {
      waiting = "";
    },
    message: flush,
    "tool-start": ({ call }) => void running.set(call.id, `${call.name} …`),
    "tool-end"({ call, result }) {
      running.delete(call.id);
      say(`${toolLine(call, line())}\n${toolResultLine(result, line())}`);
    },
    usage({ usage }) {
      tokens += usage.output;
      written = 0;
    },
    recalled: ({ memories }) => note(`recalled ${count(memories.length, "memory", "memories")}: ${names(memories)}`),
    instructions: ({ paths }) => note(`also heeds ${paths.map((path) => path.replace(`${cwd}/`, "")).join(", ")}`),
    saved({ action, file, notices }) {
      note(`${action === "created" ? "remembers" : "updated"} ${file}`);
      for (const notice of notices) note(`  ${notice}`);
    },
    learnt({ saved, waiting: proposals, problem }) {
      for (const { file, action } of saved) if (action !== "inbox") note(`learnt: ${action} ${file}`);
      if (saved.some(({ action }) => action === "inbox"))
        note(`${count(proposals, "proposal waits", "proposals wait")}: /inbox`);
      if (problem !== null) note(`nothing was learnt from this turn: ${problem}`);
    },
    compacting() {
      waiting = "compacting the conversation";
    },
    compacted({ before, after }) {
      waiting = "";
      note(`compacted the conversation: about ${before} tokens became ${after}`);
    },
    "sub-agent"({ name, id, event }) {
      const key = `sub-agent ${id}`;
      if (event.type === "tool-start") running.set(key, `${name}: ${event.call.name} …`);
      else if (event.type === "turn") running.set(key, `${name} thinks …`);
      else if (event.type === "end") {
        running.delete(key);
        note(`${name} is done after ${count(event.turns, "step", "steps")}`);
      }
    },
    problem: ({ message }) => say(paint.yellow(sanitiseLine(message))),
  };

  return {
    // Each kind has the function for it: the compiler checks the table, and cannot follow the look-up.
    show: (event) => (shows[event.type] as (event: AgentEvent) => void)(event),
    end(result) {
      flush();
      const word = ENDS[result.ended];
      if (result.error && result.ended === "error") out.print(paint.red(sanitiseLine(result.error.message)));
      else if (word) out.print(paint.yellow(word));
    },
    status: () => ({
      label: [...running.values()].map(sanitiseLine).join(", ") || waiting || (written > 0 ? "answering" : "thinking"),
      // Four characters are a token, until the provider says how many it were.
      tokens: tokens + Math.round(written / 4),
    }),
  };
}

const ENDS: Partial<Record<TurnResult["ended"], string>> = {
  aborted: "stopped",
  turns: "stopped after too many steps; say “go on” to continue",
  length: "the answer was cut at its limit; say “go on” to continue",
  refused: "the model declined to answer",
};

function names(memories: readonly { name: string }[]): string {
  return memories.map(({ name }) => name).join(", ");
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}

interface ToolLineOptions {
  columns: number;
  paint: Paint;
  /** Paths below it are shown relative to it. */
  cwd: string;
}

/** `● Read src/a.ts`, `● Bash npm test`. */
export function toolLine(
  call: { name: string; input: Readonly<Record<string, unknown>> },
  { columns, paint, cwd }: ToolLineOptions,
): string {
  const subject = subjectOf(call.name, call.input, cwd);
  const name = cut(sanitiseLine(call.name), columns);
  return cut(`${paint.green("●")} ${paint.bold(name)}${subject === "" ? "" : ` ${subject}`}`, columns);
}

/** Its first line and how many there are, dim; an error in red. */
export function toolResultLine(
  result: { content: string; isError?: boolean },
  { columns, paint }: Omit<ToolLineOptions, "cwd">,
): string {
  // Only what is shown is looked at: a result may be very long.
  const lines = countLines(result.content);
  const first = firstLine(result.content.slice(0, MAX_LOOKED_AT));
  const rest = lines > 1 ? ` (${lines} lines)` : "";
  const said = first === "" ? "(nothing)" : first;
  const room = Math.max(1, columns - LEAD.length - rest.length);
  if (result.isError) return cut(`${LEAD}${paint.red(cut(said, room))}${paint.dim(rest)}`, columns);
  return cut(paint.dim(`${LEAD}${cut(said, room)}${rest}`), columns);
}

const LEAD = "  └ ";
const MAX_LOOKED_AT = 4000;

/** What a call is about, as one line. */
function subjectOf(name: string, input: Readonly<Record<string, unknown>>, cwd: string): string {
  const text = (key: string) =>
    typeof input[key] === "string" ? sanitiseLine(String(input[key]).slice(0, MAX_LOOKED_AT)) : "";
  const file = shorten(text("file_path") || text("path"), cwd);
  if (name === "Bash") return text("command");
  if (name === "Glob" || name === "Grep") return [text("pattern"), file && `in ${file}`].filter(Boolean).join(" ");
  if (file !== "") return file;
  for (const key of ["command", "pattern", "query", "description", "prompt", "url"])
    if (text(key) !== "") return text(key);
  return Object.keys(input).length === 0 ? "" : sanitiseLine(toJson(input).slice(0, MAX_LOOKED_AT));
}

function shorten(file: string, cwd: string): string {
  if (!isAbsolute(file)) return file;
  const inside = relative(cwd, file);
  return inside === "" || /^\.\.(?:[\\/]|$)/.test(inside) || isAbsolute(inside) ? file : inside;
}

function toJson(input: unknown): string {
  try {
    return JSON.stringify(input) ?? "";
  } catch {
    return "";
  }
}

function firstLine(text: string): string {
  return (
    sanitise(text)
      .split("\n")
      .map((line) => line.trim())
      .find((line) => line !== "") ?? ""
  );
}

function countLines(text: string): number {
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}
