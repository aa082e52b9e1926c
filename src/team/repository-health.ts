/** What `memdir doctor` says about team memory in the repository. */

import { existsSync } from "node:fs";
import { resolveInside } from "../disk/fence.ts";
import { type Check, check, names } from "../memory/doctor.ts";
import { readGit } from "../project/git.ts";
import { findBytes, INDEX_FILE, walk } from "../store/store.ts";
import { isConflictPath } from "./conflict-copy.ts";
import {
  attributesFile,
  findIgnoreWarning,
  hasAttributes,
  isCheckout,
  prepareTeam,
  readAttributes,
  readSettings,
  type TeamCheckout,
  wantedSettings,
} from "./repository.ts";

/** Empty where there is no repository, or one without team memory. Changes nothing; never throws for what it finds. */
export async function checkTeam(checkout: TeamCheckout): Promise<Check[]> {
  if (!existsSync(checkout.team.path) || !(await isCheckout(checkout))) return [];
  try {
    resolveInside(checkout.root, `.claude/memory/${INDEX_FILE}`);
  } catch (error) {
    return [check("team-merge", false, (error as Error).message, "replace the link by a directory")];
  }
  const { files } = walk(checkout.team.path, checkout.team.recursive);
  return [
    await checkDriver(checkout),
    ...(await checkIgnored(checkout)),
    ...checkMarkers(checkout, files),
    ...checkCopies(files),
  ];
}

const INIT = "memdir init --team";

async function checkDriver(checkout: TeamCheckout): Promise<Check> {
  const name = "team-merge";
  let text: string;
  try {
    text = readAttributes(attributesFile(checkout.root)) ?? "";
  } catch (error) {
    return check(name, false, (error as Error).message, "make .gitattributes a regular file");
  }
  if (!hasAttributes(text))
    return check(name, true, `git merges team memories line by line; \`${INIT}\` merges them by section`, null);
  const fix = async () => `set up ${(await prepareTeam(checkout)).changes.length} settings of git in this clone`;
  const settings = await readSettings(checkout);
  const wanted = Object.entries(wantedSettings(checkout.command)).filter(([key]) => key.endsWith(".driver"));
  const missing = wanted.flatMap(([key]) => (settings.get(key) ? [] : [key]));
  if (missing.length > 0)
    return check(
      name,
      false,
      `this clone lacks the merge driver that .gitattributes asks for (${missing.join(", ")})`,
      INIT,
      fix,
    );
  if (wanted.some(([key, value]) => settings.get(key) !== value))
    return check(name, false, "the merge driver of this clone starts another installation of memdir", INIT, fix);
  const other = await findOther(checkout);
  if (other)
    return check(name, false, other, "move memdir's lines to the end of .gitattributes, or remove the other rule");
  return check(name, true, "team memories are merged by section", null);
}

/** A later rule, or one of a folder below, wins over ours. */
async function findOther({ root, env }: TeamCheckout): Promise<string | null> {
  const file = ".claude/memory/x.md";
  const answer = await readGit({ root, env }, ["check-attr", "-z", "merge", "--", file]);
  const value = answer?.toString("utf8").split("\0")[2];
  return value === undefined || value === "memdir"
    ? null
    : `another rule of .gitattributes decides how memories are merged (merge=${value})`;
}

async function checkIgnored(checkout: TeamCheckout): Promise<Check[]> {
  const warning = await findIgnoreWarning(checkout);
  return warning ? [check("team-ignored", false, warning.message, `lift the rule ${warning.rule}`)] : [];
}

/** A memory is small; what is larger is not searched. */
const MAX_BYTES = 1 << 20;
const MARKERS = /^<{7} [^\n]*\n[\s\S]*?^={7}\r?\n[\s\S]*?^>{7} /m;

function checkMarkers({ team }: TeamCheckout, files: readonly string[]): Check[] {
  const marked = files.filter((file) => {
    try {
      const data = findBytes(team, file);
      return (
        data !== null && data.length <= MAX_BYTES && data.includes("<<<<<<< ") && MARKERS.test(data.toString("utf8"))
      );
    } catch {
      return false;
    }
  });
  if (marked.length === 0) return [];
  const detail = `conflict markers of git are in ${names(marked)}: models read them as text`;
  return [check("team-markers", false, detail, "memdir edit NAME, keep what holds, remove the markers")];
}

function checkCopies(files: readonly string[]): Check[] {
  const copies = files.filter(isConflictPath);
  if (copies.length === 0) return [];
  const detail = `${names(copies)}: two people changed the same part, and the other text is kept here`;
  return [check("team-conflict", false, detail, "bring both together with memdir edit, then memdir forget the copy")];
}
