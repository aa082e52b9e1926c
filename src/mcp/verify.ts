/** What can be seen of a memory's truth without understanding it: whether files it names exist, and names it says are in them. */

import { lstatSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { resolveInside } from "../disk/fence.ts";
import type { Memdir } from "../memdir.ts";
import { ageInWords } from "../memory/age.ts";
import type { Row } from "../memory/list.ts";
import { parseMemory } from "../memory/memory.ts";
import { neutraliseLine } from "../recall/neutral.ts";
import { findClaims } from "./claims.ts";

export interface VerifyProblem {
  file: string;
  /** Of the memory's file, from 1. */
  line: number;
  claim: string;
  kind: "path" | "symbol" | "flag" | "command" | "url" | "date";
  verdict: "gone" | "moved" | "changed" | "expired";
  evidence: string;
}

export interface Verification {
  /** How many memories were looked at. */
  checked: number;
  problems: VerifyProblem[];
  /** Memories that are old enough to be doubted, whatever was found. */
  aged: { file: string; ageDays: number }[];
}

/** Throws when the name is no memory's. */
export type Verify = (memdir: Memdir, name: string | undefined, signal: AbortSignal) => Promise<Verification>;

export const VERIFICATION_SCHEMA = {
  checked: { type: "integer", minimum: 0 },
  problems: {
    type: "array",
    items: {
      type: "object",
      properties: {
        file: { type: "string" },
        line: { type: "integer" },
        claim: { type: "string" },
        kind: { type: "string" },
        verdict: { type: "string" },
        evidence: { type: "string" },
      },
    },
  },
  aged: {
    type: "array",
    items: { type: "object", properties: { file: { type: "string" }, ageDays: { type: "integer" } } },
  },
};

/** A source file has less; more is data, and takes too long to look through. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;
/** A model reads so many at most; the rest is counted. */
const MAX_SHOWN = 50;
const MAX_AGED_SHOWN = 10;

/** Memories of the user's own scope speak of all projects: what is not in this one proves nothing. */
export const verifyByLooking: Verify = async (memdir, name, signal) => {
  const rows = name === undefined ? await memdir.list() : [await memdir.show(name)];
  const about = rows.filter(({ scope, unreadable }) => scope !== "user" && !unreadable);
  const root = memdir.location.project.worktreeRoot ?? memdir.location.project.cwd;
  const problems: VerifyProblem[] = [];
  for (const row of about) {
    if (signal.aborted) break;
    problems.push(...checkMemory(root, row));
    // Others get their turn.
    await new Promise((done) => setImmediate(done));
  }
  const aged = rows.filter(({ age }) => age === "stale" || age === "old");
  return {
    checked: about.length,
    problems,
    aged: aged.map(({ file, ageDays }) => ({ file: neutraliseLine(file), ageDays })),
  };
};

export function formatVerification({ checked, problems, aged }: Verification): string {
  const lines = [`${checked} ${checked === 1 ? "memory" : "memories"} checked, ${problems.length} doubtful claims`];
  for (const { file, line, claim, evidence } of problems.slice(0, MAX_SHOWN)) {
    lines.push(`- ${file}:${line} \`${claim}\`: ${evidence}`);
  }
  if (problems.length > MAX_SHOWN) lines.push(`- and ${problems.length - MAX_SHOWN} more`);
  if (aged.length > 0) {
    const oldest = [...aged].sort((a, b) => b.ageDays - a.ageDays).slice(0, MAX_AGED_SHOWN);
    const names = oldest.map(({ file, ageDays }) => `${file} (${ageInWords(ageDays)})`);
    lines.push(`Old enough to be doubted (${aged.length}): ${names.join(", ")}`);
  }
  lines.push("Only whether files and names exist was looked at. Read the code before you act on a memory.");
  return lines.join("\n");
}

function checkMemory(root: string, row: Row): VerifyProblem[] {
  const text = readText(row.path);
  if (text === null) return [];
  const { body } = parseMemory(row.file, text);
  const before = text.slice(0, Math.max(0, text.lastIndexOf(body))).split("\n").length - 1;
  const problems: VerifyProblem[] = [];
  for (const { line, paths, symbols } of findClaims(body)) {
    const report = (claim: string, kind: "path" | "symbol", evidence: string) =>
      problems.push({
        file: neutraliseLine(row.file),
        line: before + line,
        claim: neutraliseLine(claim),
        kind,
        verdict: "gone",
        evidence: neutraliseLine(evidence),
      });
    const found = paths.map((path) => ({ path, place: findPlace(root, path) }));
    for (const { path, place } of found) if (place === "gone") report(path, "path", "there is no such file or folder");
    const texts = found.flatMap(({ path, place }) =>
      place === "file" ? [{ path, text: readText(join(root, path)) }] : [],
    );
    const read = texts.filter((file): file is { path: string; text: string } => file.text !== null);
    if (read.length === 0) continue;
    for (const symbol of symbols) {
      if (read.some((file) => file.text.includes(symbol))) continue;
      report(symbol, "symbol", `it does not occur in ${read.map(({ path }) => path).join(", ")}`);
    }
  }
  return problems;
}

/** Null: it may be a path of somewhere else, or none at all. */
function findPlace(root: string, claimed: string): "file" | "folder" | "gone" | null {
  const path = isAbsolute(claimed) ? relative(root, claimed).split(sep).join("/") : claimed;
  try {
    const stat = lstatSync(resolveInside(root, path), { throwIfNoEntry: false });
    if (stat) return stat.isFile() ? "file" : stat.isDirectory() ? "folder" : null;
    const [top = "", ...below] = path.split("/");
    // What does not begin in a folder of this project may be a branch, a package or a media type.
    const isOurs = below.length > 0 && lstatSync(join(root, top), { throwIfNoEntry: false })?.isDirectory();
    return isOurs ? "gone" : null;
  } catch {
    return null;
  }
}

function readText(path: string): string | null {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.size <= MAX_FILE_BYTES ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}
