/** Every route of the page: the answers' own, and those of the verbs, from the table. */

import { basename } from "node:path";
import { MemdirError } from "../errors.ts";
import { buildSchema, type Fields, type Input, readInput } from "../input.ts";
import { fieldsOf, plainOf, type Verb, writes } from "../verb.ts";
import { VERBS } from "../verbs/table.ts";
import { contextOf, get, NAME, type Page, REF, type Route, type Sent } from "./answer.ts";
import { ACTIVITY_ROUTES } from "./answer-activity.ts";
import { CHANGE_ROUTES } from "./answer-change.ts";
import { HOME_ROUTES } from "./answer-home.ts";
import { MAP_ROUTE } from "./answer-map.ts";
import { LIST_ROUTES } from "./answer-memories.ts";
import { MEMORY_ROUTE } from "./answer-memory.ts";
import { RECALL_ROUTES } from "./answer-recall.ts";
import { REVIEW_ROUTES } from "./answer-review.ts";
import { SETTINGS_ROUTES } from "./answer-settings.ts";

export const ROUTES: readonly Route[] = [
  get("/api/start", {}, viewStart),
  get("/api/verb", { name: NAME }, viewVerb),
  ...[...HOME_ROUTES, ...LIST_ROUTES, MEMORY_ROUTE, ...CHANGE_ROUTES, MAP_ROUTE],
  ...[...RECALL_ROUTES, ...REVIEW_ROUTES, ...ACTIVITY_ROUTES, ...SETTINGS_ROUTES],
];

export async function viewStart({ memdir, generation, readOnly, version }: Page) {
  const { project } = memdir.location;
  return {
    version,
    project: basename(project.worktreeRoot ?? project.cwd),
    /** The project's folder. */
    root: project.root,
    /** Sent back with every request that is no GET, so that nothing of another project is changed. */
    generation,
    readOnly,
    warnings: [...memdir.warnings],
    /** The verbs of the table that are for the page. */
    verbs: VERBS.filter(({ on }) => on.includes("web")).map(({ name, summary }) => ({ name, summary })),
  };
}

export async function viewVerb(_: Page, { name }: { name: string }) {
  const row = findRow(name);
  if (!row) throw new MemdirError("not-found", `there is no verb ${JSON.stringify(name.slice(0, 40))} for the page`);
  const verb = await row.load();
  const { properties, required } = buildSchema(fieldsOf(verb, "web")) as {
    properties: Record<string, { type: string; enum?: string[]; description?: string }>;
    required: string[];
  };
  return { name, summary: row.summary, about: verb.about ?? "", properties, required };
}

/** `POST /api/<name>` for a verb that is for the page, its result in words with `say`; null for any other. A verb is loaded when it is first asked for. */
export async function findVerbRoute(name: string): Promise<Route | null> {
  const verb = await findRow(name)?.load();
  if (!verb) return null;
  return {
    method: "POST",
    path: `/api/${name}`,
    writes:
      typeof verb.writes === "function"
        ? (sent) => writes(verb, readVerbInput(name, verb, sent))
        : verb.writes === true,
    async answer(page, sent, signal) {
      const input = readVerbInput(name, verb, sent);
      const result = await verb.run(page.memdir, input, contextOf(page, signal));
      if (sent.say === true)
        return { text: plainOf(verb.say(result, { input, call: (words) => words, now: page.now() })) };
      return verb.json ? verb.json(result) : result;
    },
  };
}

function findRow(name: string): (typeof VERBS)[0] | undefined {
  return VERBS.find((row) => row.name === name && row.on.includes("web"));
}

/** What a form, which cannot ask, gives besides: without `apply`, prune only says what would go. */
const IN_FORMS: Readonly<Record<string, Input<Fields>>> = { prune: { suggest: true } };

/** The page knows a memory by its place, which a Memdir takes instead of a name. */
function readVerbInput(called: string, verb: Verb, { say, ...sent }: Sent): Input<Fields> {
  const { name, ...others } = fieldsOf(verb, "web");
  if (!verb.args[0]?.startsWith("name") || sent.file === undefined)
    return { ...readInput({ ...others, ...(name && { name }) }, sent), ...(say === true && IN_FORMS[called]) };
  const { directory, file, ...input } = readInput({ ...others, ...REF }, sent);
  return { ...input, name: { directory, file } };
}
