/** `save` and `edit`: a memory is written, from a sentence, a body or an editor. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { givenFileError, MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import type { SaveRequest, SaveResult } from "../memory/save.ts";
import { parseMemory, readGiven } from "../store/store.ts";
import { plainLine } from "../text/sanitise.ts";
import { type Context, dim, flag, type Input, list, text, verb } from "../verb.ts";
import { openMachine } from "../wiring/machine.ts";
import type { World } from "../world.ts";
import { NAME, REASON, REDACT, saySaved, TYPE } from "./common.ts";

const INPUT = {
  text: text("the memory in a sentence or two; - reads it from standard input", "TEXT"),
  type: TYPE,
  name: text("a short title", "NAME"),
  description: text("one line for the index: what it is about"),
  when: list("a situation in which it should come to mind; may be given several times", "CUE"),
  link: list("a memory that belongs with it; may be given several times", "NAME"),
  supersedes: list("a memory that this one replaces: it will rank under it", "NAME"),
  file: text("read the body from this file; - is standard input", "FILE", { only: ["cli", "console"] }),
  expires: text("the last day on which it holds, as in 2026-12-31", "DATE"),
  pin: flag("keep its line in the index when others must go"),
  source: text("who said it: user, inferred, tool or document", "WHO"),
  reason: REASON,
  redact: REDACT,
};

export const save = verb({
  args: ["text…?"],
  input: INPUT,
  about:
    "What you do not give is derived from the text: the type, the name and the line for the index. " +
    "Saving under a name that exists updates that memory.",
  examples: [
    'save "Use pnpm, never npm: the lockfile is pnpm\'s."',
    'save --type reference --name runbook --description "How to restore the database" --file runbook.md',
  ],
  writes: true,
  async run(memdir, input, context) {
    const body = await readBody(input, context);
    const request = await complete(memdir, body, input);
    const { link: links, supersedes, redact, pin, expires, source: by, reason } = input;
    const source = by === undefined ? undefined : { by, session: null, message: null };
    const saved = await memdir.save({
      ...request,
      links,
      supersedes,
      redact,
      expires,
      reason,
      source,
      pinned: pin || undefined,
    });
    // As it was kept: secrets are masked by now.
    const { type, name, metadata } = await memdir.show({ directory: 0, file: saved.file });
    const notices = [...saved.notices, ...(metadata.enforce === undefined ? [] : await findRuleNotices(context))];
    return {
      ...saved,
      notices,
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

type SaveInput = Input<typeof INPUT>;

async function readBody(input: SaveInput, { cwd, readInput }: Context): Promise<string> {
  const { text: given, file } = input;
  if (file !== undefined && given !== undefined && given !== "-")
    throw new MemdirError("usage", "give the text or --file, not both");
  if (file !== undefined && file !== "-") {
    const bytes = await readFile(resolve(cwd, file)).catch((error) => {
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
 * belongs to, or from the text itself. The text is kept as it is. A derived name never updates a memory that says something else.
 */
async function complete(memdir: Memdir, given: string, input: SaveInput): Promise<Request> {
  const { body, ...stated } = readHead(given, input);
  const { type, name, description, when } = stated;
  const whole = { body, description, when };
  const there = name === undefined ? null : await findNamed(memdir, name);
  if (there && name !== undefined && (type ?? there.type) === there.type) return { ...whole, type: there.type, name };
  const said = (body.trim() || (description ?? "")).replace(/^remember\s+(?:that|to)?\s*/i, "");
  if (!/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(said)) {
    if (type !== undefined && name !== undefined) return { ...whole, type, name };
    throw new MemdirError(
      "usage",
      'there is nothing to save: give the text, as in memdir save "Use pnpm, never npm.", or --file FILE, or at least --description',
    );
  }
  const { describeStatement, nameStatement, typeOfStatement } = await import("../memory/statement.ts");
  const first = plainLine(said.split("\n").find((line) => line.trim() !== "") ?? said);
  const guessed = typeOfStatement(said);
  const derived = {
    type: type ?? (guessed === "project" && IMPERATIVE.test(first) ? "feedback" : guessed),
    name: name ?? nameFor(firstClause(first), nameStatement),
  };
  // A name that says it all needs no description.
  const told = first.replace(/[.!]$/, "") === derived.name ? "" : describeStatement(first);
  const isOwnText = body !== given || (type !== undefined && name !== undefined);
  const shaped = { ...whole, ...derived, body: isOwnText ? body : said, description: description ?? told };
  if (name === undefined) await refuseNamesake(memdir, shaped);
  return shaped;
}

type Request = Pick<SaveRequest, "type" | "name" | "description" | "body" | "when">;

/** Words that orders begin with. */
const IMPERATIVE =
  /^(?:please )?(?:add|ask|avoid|be|build|check|commit|create|delete|deploy|document|don['’]t|ensure|explain|fix|follow|format|give|keep|let|make|merge|name|pin|prefer|push|put|quote|read|rebase|remove|rename|reply|respond|run|say|set|show|skip|sort|split|squash|start|stick|stop|test|treat|try|update|use|wait|wrap|write) (?!(?:is|are|was|were|has|have|had|will|can|runs|goes)\b)\S/i;

/** A file in the form of a memory says itself what it is called. */
function readHead(given: string, { type, name, description, when = [] }: SaveInput) {
  const head = /^---\r?\n/.test(given) ? parseMemory("given.md", given) : null;
  if (!head || typeof head.metadata.name !== "string" || head.metadata.name === "")
    return { type, name, description, when, body: given };
  return {
    type: type ?? (head.typeExplicit ? head.type : undefined),
    name: name ?? head.name,
    description: description ?? (head.description === "" ? undefined : head.description),
    when: when.length > 0 ? when : head.when,
    body: head.body,
  };
}

async function findNamed(memdir: Memdir, name: string) {
  const there = await memdir.show(name).catch(() => null);
  return there?.name === name ? there : null;
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
  const there = await findNamed(memdir, name);
  if (!there || there.body.trim() === body.trim()) return;
  throw new MemdirError(
    "conflict",
    `a memory is called "${name}" already: give --name "${name}" to update it, or another name`,
  );
}

export const edit = verb({
  args: ["name"],
  input: { name: NAME, redact: REDACT },
  about: "Opens a copy in $VISUAL or $EDITOR. It is checked when the editor closes; what is refused is kept for you.",
  examples: ['edit "use pnpm"'],
  writes: true,
  async run(memdir, { name = "", redact = false }, context) {
    const { readSharedRules } = await import("../hooks/rules.ts");
    const { idOf } = await import("../hooks/consent.ts");
    const before = readSharedRules(memdir.directories).map(idOf);
    const saved = await editByHand(memdir, name, { redact, env: context.env });
    const { metadata } = await memdir.show(saved.file);
    if (metadata.enforce === undefined) return saved;
    const rule = readSharedRules(memdir.directories).find(({ path }) => path === saved.path);
    if (rule && !before.includes(idOf(rule))) (await import("./trust.ts")).acceptOwn(memdir, rule);
    return { ...saved, notices: [...saved.notices, ...(await findRuleNotices(context))] };
  },
  say: saySaved,
});

/** Loaded here: few memories are rules. */
async function findRuleNotices(context: Context): Promise<string[]> {
  try {
    const { findRuleGaps } = await import("../wiring/hook-form.ts");
    const clients = findRuleGaps(openMachine(fileURLToPath(import.meta.url), context));
    return clients.map(
      ({ title }) =>
        `${title} checks rules through memdir's server: \`memdir init\` makes them hold when that is switched off, too`,
    );
  } catch {
    return []; // an incomplete installation, which `memdir doctor` reports
  }
}

/** The memory in the user's editor, checked when it closes. Ends when the editor does. */
export async function editByHand(
  memdir: Pick<Memdir, "text" | "edit">,
  name: string,
  { env, ...options }: { redact: boolean; env: World["env"] },
): Promise<SaveResult> {
  const { file, text } = await memdir.text(name);
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
      // A copy with the secret in it would stay behind in the folder for temporary files.
      isKept = code !== "secret";
      const kept = isKept ? `your text is in ${copy}` : "your edit was not kept";
      throw new MemdirError(code, `${message}; ${kept}`, { cause: error, details });
    });
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
}

async function runEditor(path: string, env: World["env"]): Promise<void> {
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) throw new MemdirError("usage", "no editor is set: run it as EDITOR=nano memdir edit NAME");
  // "code --wait": the words after the first are arguments; no shell is involved.
  const [program = "", ...args] = editor.match(/"[^"]*"|\S+/g)?.map((word) => word.replace(/^"|"$/g, "")) ?? [];
  // Loaded here: it is slow to load, and every command is bundled with this one.
  const { spawnSync } = await import("node:child_process");
  const { error, status } = spawnSync(program, [...args, path], { stdio: "inherit" });
  if (error) {
    const message = `the editor "${editor}" could not be started: set EDITOR to another one`;
    throw new MemdirError("usage", message, { cause: error });
  }
  if (status !== 0) throw new MemdirError("usage", `the editor ended with code ${status}: nothing was changed`);
}
