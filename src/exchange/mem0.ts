/** Importing an export of mem0: a list of memories, bare, or under `results`, `memories` or `data`, or a line each. */

import { sha256 } from "../text/hash.ts";
import {
  describeBody,
  type Harvest,
  type Imported,
  MAX_MEMORIES,
  nameBody,
  textOf,
  textsOf,
  timeOf,
} from "./harvest.ts";
import { readSource } from "./source-file.ts";

type Item = Record<string, unknown>;

export function readMem0(path: string): Harvest {
  const read = readSource(path, { follow: true });
  if ("problem" in read) return { found: [], problems: [read.problem] };
  const items = itemsOf(read.text);
  if (items === null) return { found: [], problems: ["no list of memories was found: is this mem0's export?"] };
  const problems: string[] = [];
  if (items.length > MAX_MEMORIES)
    problems.push(`only the first ${MAX_MEMORIES} of ${items.length} memories are taken`);
  const found = items.slice(0, MAX_MEMORIES).flatMap((item) => memoryOf(item) ?? []);
  const empty = Math.min(items.length, MAX_MEMORIES) - found.length;
  if (empty > 0) problems.push(`${empty} entries hold no text: passed over`);
  return { found, problems };
}

function itemsOf(text: string): unknown[] | null {
  const whole = parse(text);
  if (whole === undefined) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const parsed = lines.map(parse).filter((value) => value !== undefined);
    return parsed.length > 0 ? parsed : null;
  }
  if (Array.isArray(whole)) return whole;
  const { results, memories, data } = (whole ?? {}) as Item;
  return [results, memories, data].find((list): list is unknown[] => Array.isArray(list)) ?? null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A model drew it from what was said: a conclusion. */
function memoryOf(value: unknown): Imported | null {
  const item = (typeof value === "object" && value !== null ? value : { memory: value }) as Item;
  const said = [item.memory, item.text, item.content].map(textOf).find((text) => text !== "");
  if (said === undefined) return null;
  const tags = [...textsOf(item.categories), ...textsOf((item.metadata as Item | null)?.categories)];
  return {
    name: nameBody(said),
    description: describeBody(said),
    type: null,
    body: tags.length === 0 ? said : `${said}\n\nTags: ${[...new Set(tags)].join(", ")}`,
    when: [],
    at: timeOf(item.updated_at) ?? timeOf(item.created_at),
    origin: { from: "mem0", id: textOf(item.id) || sha256(said).slice(0, 12) },
    trust: "inferred",
  };
}
