/** `save` and `edit`: a memory is written, from a sentence, a body or an editor. */

import { isUtf8 } from "node:buffer";
import { createReadStream, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import { findProgram } from "../child-group.ts";
import { readRegular } from "../disk/fence.ts";
import { givenFileError, MemdirError } from "../errors.ts";
import type { Memdir, Named } from "../memdir.ts";
import type { SaveRequest, SaveResult } from "../memory/save.ts";
import {
  isExpired,
  type Memory,
  type MemoryType,
  noteLeft,
  parseMemory,
  readGiven,
  readGivenFields,
  refuseBroken,
  TRUSTS,
} from "../store/store.ts";
import { writeDates } from "../text/relative-dates.ts";
import { plainLine } from "../text/sanitise.ts";
import { redactSecrets } from "../text/secrets.ts";
import {
  type Context,
  choice,
  date,
  dim,
  flag,
  type Input,
  list,
  notes,
  type Reader,
  type Said,
  text,
  verb,
} from "../verb.ts";
import type { World } from "../world.ts";
import { NAME, REASON, REDACT, TYPE } from "./common.ts";

const INPUT = {
  text: text("the memory in a sentence or two; - for standard input", "TEXT"),
  type: TYPE,
  name: text("a short title", "NAME"),
  description: text("one line for the index: what it is about"),
  when: list("a situation in which it should come to mind; can be repeated", "CUE"),
  link: list("a related memory; can be repeated", "NAME"),
  supersedes: list("a memory that this one replaces and outranks", "NAME"),
  file: text("read the body from this file; - for standard input", "FILE", { only: ["cli", "console"] }),
  expires: date("the last day on which it applies, such as 2026-12-31"),
  pin: flag("keep its line in the index when others are moved out"),
  source: choice(TRUSTS, "who said it: user, inferred, tool or document", "WHO"),
  reason: REASON,
  redact: REDACT,
};

export const save = verb({
  args: ["text…?"],
  input: INPUT,
  about:
    "Whatever you leave out is derived from the text: the type, the name and the index line. " +
    "Saving under an existing name updates that memory.",
  examples: [
    'save "Use pnpm, never npm: the lockfile is pnpm\'s."',
    'save --type reference --name runbook --description "How to restore the database" --file runbook.md',
  ],
  writes: true,
  async run(memdir, input, context) {
    const body = await readBody(input, context);
    const { left, kept, added, ...request } = await complete(memdir, body, input, context.now());
    const { redact, reason } = input;
    const saved = await memdir.save({ ...request, redact, reason });
    // As it was kept: secrets are masked by now.
    const { type, name, metadata, expires } = await readNamed(memdir, { directory: 0, file: saved.file });
    const rules = metadata.enforce === undefined ? [] : ((await context.ruleNotices?.()) ?? []);
    const isPast = request.expires !== undefined && isExpired({ expires }, context.now());
    // For people alone: a model makes no rules.
    const isRuleLeft = left.includes("enforce") && context.ruleNotices !== undefined;
    const byHand = isRuleLeft ? [`to add the rule (\`enforce\`): memdir edit ${saved.file}`] : [];
    const past = isPast ? [`${request.expires} has passed: recall does not show this memory`] : [];
    return {
      ...saved,
      notices: [...saved.notices, ...(added ?? []), ...(kept ?? []), ...noteLeft(left), ...byHand, ...past, ...rules],
      type,
      name,
      derived: (["type", "name"] as const).filter((field) => input[field] === undefined),
    };
  },
  say(result, reader) {
    const { type, name, derived, file } = result;
    const saved = saySaved(result, reader);
    if (derived.length === 0 || result.action === "unchanged") return saved;
    const change = reader.call(`edit ${file.replace(/\.md$/, "")}`);
    return [...saved, dim(`    Saved as ${type}, "${name}". To change that: ${change}, or --type and --name.`)];
  },
});

export function saySaved({ action, file, undo, notices }: SaveResult, { call }: Pick<Reader, "call">): Said {
  const hint = undo === null ? [] : [dim(`   (${call(`undo ${undo}`)})`)];
  return [[`${action} ${file}`, ...hint], ...notes(notices)];
}

type SaveInput = Input<typeof INPUT>;

/** So much of a file is read, to say how large it is; a device or a pipe may have no end. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;

async function readBody(input: SaveInput, { cwd, signal, readInput }: Context): Promise<string> {
  const { text: given, file } = input;
  if (file !== undefined && given !== undefined && given !== "-")
    throw new MemdirError("usage", "give the text or --file, not both");
  if (file !== undefined && file !== "-") {
    // A pipe may keep it waiting, and Ctrl-C must still be heard.
    const bytes = await buffer(createReadStream(resolve(cwd, file), { end: MAX_FILE_BYTES, signal })).catch((error) => {
      throw givenFileError(error, "--file", file);
    });
    return readGiven(bytes, file);
  }
  if (given !== undefined && given !== "-") return given;
  const isAsked = given === "-" || file === "-";
  // A description alone is a memory, too.
  if (readInput && (isAsked || !process.stdin.isTTY)) return readInput();
  if (isAsked) throw new MemdirError("usage", "there is no standard input here: give the text itself");
  return "";
}

/**
 * What was not given is derived: from the head of a text that has the form of a memory, from the memory that the name
 * belongs to, or from the text itself. The text is kept as it is, but for the dates of days such as "on Friday". A derived
 * name never updates a memory that says something else.
 */
async function complete(memdir: Memdir, text: string, input: SaveInput, now: Date): Promise<Request> {
  const { typeOfStatement } = await import("../memory/statement.ts");
  const { text: given, added } =
    input.text === undefined ? { text, added: [] } : addDates(text, now, input.type ?? typeOfStatement(text));
  const { type, name, ...head } = readHead(given, input);
  const { body, description } = head;
  const whole = { ...head, added };
  const there = name === undefined ? null : await findNamed(memdir, name);
  if (there && name !== undefined && (type ?? there.type) === there.type)
    return { ...whole, ...(description === undefined && (await describeAgain(there, body))), type: there.type, name };
  if (type !== undefined && name !== undefined && description !== undefined) return { ...whole, type, name };
  const said = sayOf(body.trim() || (description ?? ""));
  if (!/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(said)) {
    if (type !== undefined && name !== undefined) return { ...whole, type, name };
    throw new MemdirError(
      "usage",
      'there is nothing to save: give the text, as in memdir save "Use pnpm, never npm.", or --file FILE, or at least --description',
    );
  }
  const { nameStatement } = await import("../memory/statement.ts");
  // Its name is for good, whatever day it is about.
  const [first = said] = linesOf(added.length > 0 ? said.replace(/ \(\d{4}-\d\d[^()]*\)/g, "") : said);
  const guessed = typeOfStatement(said);
  const derived = {
    type: type ?? (guessed === "project" && IMPERATIVE.test(first) ? "feedback" : guessed),
    name: name ?? nameFor(firstClause(first), nameStatement),
  };
  const isOwnText = body !== given || (type !== undefined && name !== undefined);
  const shaped = {
    ...whole,
    ...derived,
    body: isOwnText ? body : said,
    description: description ?? (await describe(said, derived)),
  };
  if (name === undefined) await refuseNamesake(memdir, shaped);
  return shaped;
}

/** `left`: fields of the text's head that a save does not keep. `kept`: what of the memory stays although its text changes. */
type Request = SaveRequest & { left: string[]; kept?: string[]; added?: string[] };

/** "Friday" means nothing when it is read weeks later. A text in the form of a memory, or with code in it, stays as it is. */
function addDates(text: string, now: Date, type: MemoryType) {
  if (/^(?:---|[ \t]*(?:```|~~~))/m.test(text)) return { text, added: [] };
  const daysIn = (line: string) => line.match(/\d{4}-\d\d(?:-\d\d)?/g) ?? [];
  const added: string[] = [];
  const lines = text.split("\n").map((line) => {
    const dated = writeDates(line, now, type === "feedback" || type === "user");
    const days = daysIn(dated).slice(daysIn(line).length);
    added.push(...days);
    return days.length > 0 ? dated : line;
  });
  return { text: lines.join("\n"), added: added.length > 0 ? [`added to the text: ${added.join(", ")}`] : [] };
}

/** A description that was derived from the old text is derived from the new one; another stays. */
async function describeAgain(there: Memory, body: string): Promise<{ description?: string; kept?: string[] }> {
  if (body.trim() === "" || body.trim() === there.body.trim()) return {};
  if (there.description === "" || there.description === (await describe(sayOf(there.body), there)))
    return { description: await describe(sayOf(body), there) };
  return { kept: [`the description is still "${there.description}"; change it with --description`] };
}

function sayOf(text: string): string {
  return text.trim().replace(/^remember\s+(?:that|to)?\s*/i, "");
}

/** Those that say something, without the marks of headings, lists and quotes. */
function linesOf(said: string): string[] {
  const lines = said.split("\n").map((line) => plainLine(line).replace(/^(?:(?:#{1,6}|[>*+-])\s+)+/, ""));
  return lines.filter((line) => /[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(line));
}

/** A name that says the first line needs no description but of what follows. */
async function describe(said: string, memory: Pick<Memory, "type" | "name">): Promise<string> {
  const { describeStatement } = await import("../memory/statement.ts");
  const [first = said, second = ""] = linesOf(said);
  return describeStatement(first.replace(/[.!]$/, "") === memory.name ? second : first, memory);
}

/** Words that orders begin with. */
const IMPERATIVE =
  /^(?:please )?(?:add|ask|avoid|be|build|check|commit|create|delete|deploy|document|don['’]t|ensure|explain|fix|follow|format|give|keep|let|make|merge|name|pin|prefer|push|put|quote|read|rebase|remove|rename|reply|respond|run|say|set|show|skip|sort|split|squash|start|stick|stop|test|treat|try|update|use|wait|wrap|write) (?!(?:is|are|was|were|has|have|had|will|can|runs|goes)\b)\S/i;

/** A text in the form of a memory says itself what it is; what is given beside it counts more. */
function readHead(given: string, input: SaveInput) {
  const { type, name, description, when, link: links, supersedes, pin, expires, source: by } = input;
  const source = by === undefined ? undefined : { by, session: null, message: null };
  const asked = { when, links, supersedes, pinned: pin || undefined, expires, source };
  const head = /^---\r?\n/.test(given) ? parseMemory("given.md", given) : null;
  if (!head || typeof head.metadata.name !== "string" || head.metadata.name === "")
    return { ...asked, type, name, description, body: given, left: [] };
  const isAsked = ([, value]: [string, unknown]) => (Array.isArray(value) ? value.length > 0 : value !== undefined);
  return {
    ...readGivenFields(given),
    ...Object.fromEntries(Object.entries(asked).filter(isAsked)),
    type: type ?? (head.typeExplicit ? head.type : undefined),
    name: name ?? head.name,
    description: description ?? (head.description === "" ? undefined : head.description),
    body: head.body,
  };
}

async function findNamed(memdir: Memdir, name: string) {
  const there = await readNamed(memdir, name).catch(() => null);
  return there?.name === name ? there : null;
}

/** Unlike `show`, without its age, for which all other memories are looked at. */
async function readNamed(memdir: Memdir, name: Named) {
  const { file, text } = await memdir.text(name);
  return parseMemory(file, text);
}

/** "Use pnpm, never npm: the lockfile is pnpm's" is called by what it says to do. */
function firstClause(said: string): string {
  const [clause = said] = said.split(/[:;.!?](?:\s|$)|\s[-–—]\s|,?\s(?:because|since|so that)\s/);
  return clause.trim().split(/\s+/).length > 1 ? clause : said;
}

/** As long as names are made elsewhere (`nameStatement`). */
const MAX_NAME_WORDS = 8;
const MAX_NAME_CHARS = 80;

/** Words left out in the middle would make it read as something else: then it is the words that it begins with, none cut off behind "for the". */
function nameFor(said: string, nameStatement: (said: string) => string): string {
  const name = nameStatement(said);
  const words = said.split(" ");
  const isShort = words.length <= MAX_NAME_WORDS && said.length <= MAX_NAME_CHARS;
  if (isShort || said.startsWith(name)) return name;
  const fits = (_: string, at: number) => words.slice(0, at + 1).join(" ").length <= MAX_NAME_CHARS;
  const begun = words.slice(0, MAX_NAME_WORDS).filter(fits);
  // Beside a very long word the words behind it say more.
  return begun.length < 3 ? name : nameStatement(begun.join(" ").replace(/(?:\s\p{Ll}{1,3})+$/u, ""));
}

async function refuseNamesake(memdir: Memdir, { name, body }: Pick<SaveRequest, "name" | "body">): Promise<void> {
  // Of two that have the name, either would be replaced.
  const ofSeveral = ({ code }: MemdirError) => (code === "ambiguous" ? { name, body: null } : null);
  const there = await readNamed(memdir, name).catch(ofSeveral);
  if (there?.name !== name || there.body?.trim() === body.trim()) return;
  throw new MemdirError(
    "conflict",
    `a memory is called "${name}" already: \`memdir save --name "${name}" TEXT\` updates it, and another name saves a new one`,
  );
}

export const edit = verb({
  args: ["name"],
  input: { name: NAME, redact: REDACT },
  about:
    "Opens a copy in $VISUAL or $EDITOR and checks it when the editor closes. If it is refused, your text is kept, without the values of secrets.",
  examples: ['edit "use pnpm"'],
  writes: true,
  async run(memdir, { name = "", redact = false }, context) {
    const { idOf, readSharedRules } = await import("../hooks/rules.ts");
    const before = readSharedRules(memdir.directories).map(idOf);
    const saved = await editByHand(memdir, name, { redact, env: context.env });
    const { metadata } = await readNamed(memdir, saved.file);
    if (metadata.enforce === undefined) return saved;
    const rule = readSharedRules(memdir.directories).find(({ path }) => path === saved.path);
    if (rule && !before.includes(idOf(rule))) (await import("./trust.ts")).acceptOwn(memdir, rule);
    return { ...saved, notices: [...saved.notices, ...((await context.ruleNotices?.()) ?? [])] };
  },
  say: saySaved,
});

/** The memory in the user's editor, checked when it closes. Ends when the editor does. */
export async function editByHand(
  memdir: Pick<Memdir, "text" | "edit">,
  name: string,
  { env, ...options }: { redact: boolean; env: World["env"] },
): Promise<SaveResult> {
  const { file, path, text } = await memdir.text(name);
  // A proposal is not on disk.
  const bytes = text.includes("\ufffd") ? readRegular(path) : null;
  if (bytes && !isUtf8(bytes)) refuseBroken(parseMemory(file, bytes));
  // The editor works on a copy: a half-written or refused edit never touches the memory.
  const folder = mkdtempSync(join(tmpdir(), "memdir-edit-"));
  const copy = join(folder, basename(file));
  let isKept = false;
  try {
    writeFileSync(copy, text, { mode: 0o600 });
    await runEditor(copy, env);
    const edited = await readFile(copy).catch((cause) => {
      throw new MemdirError("usage", "the editor removed its file: nothing was changed", { cause });
    });
    if (edited.toString("utf8").trim() === "")
      throw new MemdirError(
        "usage",
        `the file is empty: nothing was changed; \`memdir forget ${file}\` removes the memory`,
      );
    const save = async () => memdir.edit(file, text, readGiven(edited, file), options);
    return await save().catch((error: unknown) => {
      if (!(error instanceof MemdirError)) throw error;
      const { code, message, details } = error;
      isKept = true;
      if (code !== "secret")
        throw new MemdirError(code, `${message}; your text is in ${copy}`, { cause: error, details });
      keepMasked(folder, copy, edited.toString("utf8"));
      const kept = `your text is in ${copy}, with the secret masked`;
      const how = `\`memdir edit ${file} --redact\` saves an edit that way`;
      throw new MemdirError(code, `${message}; ${kept}; ${how}`, { cause: error, details });
    });
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
}

/** The copy without the value; whatever the editor left beside it goes, as it may hold the value. */
function keepMasked(folder: string, copy: string, edited: string): void {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  writeFileSync(copy, redactSecrets(edited), { mode: 0o600 });
}

/** As a shell does it. On Windows a backslash is part of a path. */
function splitWords(line: string): string[] {
  const escaped = process.platform === "win32" ? "(?!)(.)" : "\\\\(.)";
  const part = `"((?:\\\\["\\\\]|[^"])*)"|'([^']*)'|${escaped}`;
  const words = line.match(new RegExp(`(?:${part}|\\S)+`, "g")) ?? [];
  return words.map((word) =>
    word.replace(new RegExp(part, "g"), (_, double?: string, single?: string, one?: string) =>
      double === undefined ? (single ?? one ?? "") : double.replace(/\\(["\\])/g, "$1"),
    ),
  );
}

async function runEditor(path: string, env: World["env"]): Promise<void> {
  const editor = env.VISUAL?.trim() || env.EDITOR || "";
  // "code --wait": the words after the first are arguments; no shell is involved.
  const [program = "", ...args] = splitWords(editor);
  if (program === "") throw new MemdirError("usage", "no editor is set: run it as EDITOR=nano memdir edit NAME");
  // Loaded here: it is slow to load, and every command is bundled with this one.
  const { spawnSync } = await import("node:child_process");
  const found = findProgram(env, program);
  if (found === null) {
    const message = `the editor "${program}" was not found on your PATH, outside this project: set EDITOR to its full path`;
    throw new MemdirError("usage", message);
  }
  const { error, status, signal } = spawnSync(found.file, [...args, path], { stdio: "inherit", env: found.env });
  if (error) {
    const message = `the editor "${editor}" could not be started: set EDITOR to another one`;
    throw new MemdirError("usage", message, { cause: error });
  }
  const how = signal === null ? `ended with code ${status}` : `was ended by ${signal}`;
  if (status !== 0) throw new MemdirError("usage", `the editor ${how}: nothing was changed`);
}
