/** What memories say of each other, in `links:`, `supersedes:` and links in their text: which memory is meant, what a rename changes, what leads nowhere. */

import { attempt } from "../errors.ts";
import {
  fileNameFor,
  findBytes,
  type Header,
  MEMORY_TYPES,
  type Memory,
  nameKey,
  parseMemory,
  readReferences,
  type Store,
  scan,
  stemOf,
  targetFor,
} from "../store/store.ts";
import { editFields, parseDocument } from "../text/frontmatter.ts";
import { blankCode, splitLines } from "../text/lines.ts";

type Known = Pick<Header, "file" | "name">;

const FIELDS = ["links", "supersedes"] as const;

/** The texts of memories that name `from`, itself included, with `to` in its place. Dates stay: the memories say what they said. */
export function retarget(directory: Store, from: Known, to: Known): Map<string, string> {
  const headers = scan(directory);
  // Where several have the name, the first is meant, as recall reads it.
  const meant = new Map<string, string>();
  for (const header of headers.toReversed()) for (const key of keysOf(header)) meant.set(key, header.file);
  const isMeant = (reference: string) => meant.get(keyOf(reference)) === from.file;
  const follow = (link: Reference) => (isMeant(link.target) ? targetFor(link, from, to) : null);
  const texts = new Map<string, string>();
  for (const { file } of headers) {
    const data = attempt(() => findBytes(directory, file), null);
    const memory = data && parseMemory(file, data);
    if (!memory || memory.broken) continue;
    const text = data.toString("utf8");
    const lists = FIELDS.filter((field) => memory[field].some(isMeant)).map((field) => {
      const references = memory[field].map((each) => (isMeant(each) ? reword(each, from, to) : each));
      return [field, references] as const;
    });
    const description = retargetLinks(memory.description, follow);
    const fields = { ...Object.fromEntries(lists), ...(description !== memory.description && { description }) };
    const { bodyStart } = parseDocument(text);
    const linked = text.slice(0, bodyStart) + retargetLinks(text.slice(bodyStart), follow);
    const changed = Object.keys(fields).length === 0 ? linked : editFields(linked, fields);
    if (changed !== text) texts.set(file, changed);
  }
  return texts;
}

type Reference = ReturnType<typeof readReferences>[number];

/** `follow` says what a link leads to from now on, null where that stays. Code stays as it is. */
function retargetLinks(text: string, follow: (link: Reference) => string | null): string {
  if (!/\[\[|\]\(/.test(text)) return text;
  const seen = splitLines(blankCode(text));
  const lines = splitLines(text).map((line, at) => {
    const links = readReferences(seen[at] as string).filter(({ kind }) => kind !== "file");
    return links.reduceRight((out, link) => {
      const target = follow(link);
      return target === null ? out : out.slice(0, link.start) + target + out.slice(link.end);
    }, line);
  });
  return lines.join("");
}

/** References of a memory that lead to none of `known`. What was removed since is still superseded: that is no dead end. */
export function openDeadReferences(
  known: readonly Known[],
  removed: ReadonlySet<string>,
): (memory: Pick<Memory, "links" | "supersedes">) => string[] {
  const keys = new Set(known.flatMap(keysOf));
  const isRemoved = (reference: string) =>
    [reference, ...MEMORY_TYPES.map((type) => fileNameFor(type, reference))].some((each) => removed.has(keyOf(each)));
  return ({ links, supersedes }) => [
    ...links.filter((link) => !/^[a-z]+:\/\//i.test(link) && !keys.has(keyOf(link))),
    ...supersedes.filter((name) => !keys.has(keyOf(name)) && !isRemoved(name)),
  ];
}

/** Keys of the files that the journal saw go for good, not to another name. */
export function removedKeys(directory: Store): Set<string> {
  // A journal that cannot be read is named by doctor, and no reason to say nothing else.
  const files = attempt(() => directory.history(), []).flatMap(({ action, files }) =>
    action === "rename" ? [] : files,
  );
  return new Set(files.flatMap(({ file, after }) => (after === null ? [keyOf(file), keyOf(stemOf(file))] : [])));
}

function keysOf({ file, name }: Known): string[] {
  return [keyOf(file), keyOf(stemOf(file)), keyOf(name)];
}

/** As recall reads a reference: case, ending, brackets, and the signs between words do not matter. */
function keyOf(reference: string): string {
  return nameKey(
    reference
      .trim()
      .replace(/^\[\[(.*)\]\]$/, "$1")
      .trim(),
  );
}

/** By name, stem or file, with or without brackets and folder, as it was. */
function reword(reference: string, from: Known, to: Known): string {
  const [, open = "", target = reference, close = ""] = /^(\[\[)(.*)(\]\])$/.exec(reference.trim()) ?? [];
  return `${open}${targetFor({ kind: "wiki", target }, from, to)}${close}`;
}
