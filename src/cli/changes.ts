/** The commands that change memories: `save`, `edit`, `forget`, `rename`, `undo`, `adopt`, `trust`. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { givenFileError, MemdirError } from "../errors.ts";
import type { Memdir } from "../memdir.ts";
import { type MemoryType, readGiven } from "../store/store.ts";
import type { AdoptResult } from "../verbs/adopt.ts";
import type { SaveResult } from "../verbs/save.ts";
import type { Env } from "../world.ts";
import { answer, type Call, defined, note, type Run } from "./command.ts";

export const save: Run = async (call) => {
  const [type, name] = [call.value("type"), call.value("name")];
  if (type === undefined || name === undefined) {
    throw new MemdirError("usage", `--${type === undefined ? "type" : "name"} is missing; see memdir save --help`);
  }
  const [word] = call.args;
  if (word !== undefined && word !== "-") {
    throw new MemdirError("usage", `"${word}" is not understood: the body comes from standard input or with --file`);
  }
  const memdir = await call.open();
  const [description, source, reason] = ["description", "source", "reason"].map(call.value);
  const result = await memdir.save({
    type: type as MemoryType,
    name,
    body: await readBody(call),
    when: call.values("when"),
    links: call.values("link"),
    supersedes: call.values("supersedes"),
    redact: call.flag("redact"),
    ...(call.flag("pin") ? { pinned: true } : {}),
    ...(source === undefined ? {} : { source: { by: source, session: null, message: null } }),
    ...defined({ description, reason }),
  });
  return printSaved(call, result);
};

async function readBody(call: Call): Promise<string> {
  const file = call.value("file");
  if (file !== undefined && file !== "-") {
    try {
      return readGiven(readFileSync(resolve(call.cwd, file)), file);
    } catch (error) {
      throw givenFileError(error, "--file", file);
    }
  }
  const asked = file === "-" || call.args[0] === "-";
  // On a terminal nobody is typing unless they said so; a description alone is a memory too.
  return asked || !process.stdin.isTTY ? call.terminal.readInput() : "";
}

export function printSaved(call: Pick<Call, "json" | "terminal">, result: SaveResult): number {
  return answer(call, result, () => {
    const undo = result.undo === null ? "" : call.terminal.color.dim(`   (memdir undo ${result.undo})`);
    call.terminal.print(`${result.action} ${result.file}${undo}`);
    note(call, result.notices);
  });
}

export const edit: Run = async (call) => {
  const memdir = await call.open();
  return printSaved(
    call,
    await editByHand(memdir, call.args[0] as string, { redact: call.flag("redact"), env: call.env }),
  );
};

/** The memory in the user's editor, checked when it closes. Ends when the editor does. */
export async function editByHand(
  memdir: Pick<Memdir, "text" | "edit">,
  name: string,
  { env, ...options }: { redact: boolean; env: Env },
): Promise<SaveResult> {
  const { file, text } = await memdir.text(name);
  // The editor works on a copy: a half-written or refused edit never touches the memory.
  const folder = mkdtempSync(join(tmpdir(), "memdir-edit-"));
  const copy = join(folder, basename(file));
  let isKept = false;
  try {
    writeFileSync(copy, text, { mode: 0o600 });
    await runEditor(copy, env);
    const edited = readCopy(copy);
    const save = async () => memdir.edit(file, text, readGiven(edited, file), options);
    return await save().catch((error: unknown) => {
      if (!(error instanceof MemdirError)) throw error;
      // A copy with the secret in it would stay behind in the folder for temporary files.
      if (error.code === "secret")
        throw new MemdirError(error.code, `${error.message}; your edit was not kept`, {
          cause: error,
          details: error.details,
        });
      isKept = true;
      throw new MemdirError(error.code, `${error.message}; your text is in ${copy}`, { cause: error });
    });
  } finally {
    if (!isKept) rmSync(folder, { recursive: true, force: true });
  }
}

function readCopy(copy: string): Buffer {
  try {
    return readFileSync(copy);
  } catch (error) {
    throw new MemdirError("usage", "the editor removed its file: nothing was changed", { cause: error });
  }
}

async function runEditor(path: string, env: Env): Promise<void> {
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

export const forget: Run = async (call) => {
  const memdir = await call.open();
  const options = { purge: call.flag("purge"), ...defined({ reason: call.value("reason") }) };
  const result = await memdir.forget(call.args[0] as string, options);
  const { notices, ...rest } = result;
  const undo = result.undo === null ? "" : `; memdir undo ${result.undo} brings it back`;
  answer(call, notices.length > 0 ? result : rest, () => `removed ${result.file}${undo}`);
  note(call, notices);
  return 0;
};

export const rename: Run = async (call) => {
  const [name, fresh] = call.args as [string, string];
  return printSaved(call, await (await call.open()).rename(name, fresh));
};

export const undo: Run = async (call) => {
  const result = await (await call.open()).undo(call.args[0]);
  return answer(call, result, () => {
    call.terminal.print(`undid ${result.action} ${result.undone}: ${result.files.join(", ")}`);
    note(call, result.notices);
  });
};

export const trust: Run = async (call) => {
  const result = (await call.open()).trust({ revoke: call.flag("revoke") });
  return answer(call, result, () => result.message);
};

export const adopt: Run = async (call) => {
  const ways = (["separate", "share", "keep"] as const).filter((way) => call.flag(way));
  if (ways.length > 1 || (ways.length === 1 && call.args.length > 0)) {
    throw new MemdirError("usage", "give one of --separate, --share, --keep, or a directory");
  }
  const memdir = await call.open();
  const [way] = ways;
  if (way) {
    const settled = await memdir.settle(way);
    return answer(call, settled, () => settled.message);
  }
  const [named] = call.args;
  const sources = named === undefined ? await findSources(memdir) : [resolve(call.cwd, named)];
  const results: AdoptResult[] = [];
  for (const source of sources) results.push(await memdir.adopt(source));
  return answer(call, results, () => {
    for (const { from, adopted, present, undo, notices } of results) {
      const already = present.length === 0 ? "" : `, ${present.length} were here already`;
      const back = undo === null ? "" : `; memdir undo ${undo} takes it back`;
      call.terminal.print(`took over ${adopted.length} memories from ${from}${already}${back}`);
      note(call, notices);
    }
    return results.length > 0 ? [] : "There is nothing to adopt: no moved project and no older directory was found.";
  });
};

/** Only what is certain is taken without being named. */
async function findSources(memdir: Memdir): Promise<string[]> {
  const { orphans, older } = await memdir.findAdoptable();
  const sure = [...orphans.filter((orphan) => orphan.sure), ...older].map(({ dir }) => dir);
  if (sure.length > 0 || orphans.length === 0) return sure;
  const list = orphans.map(({ dir, recordedRoot }) => `${dir} (${recordedRoot ?? "unknown project"})`).join(", ");
  throw new MemdirError(
    "ambiguous",
    `only directories that might be this project's were found: ${list}; name the right one: memdir adopt DIR`,
  );
}
