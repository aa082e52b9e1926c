/** Every route of the page: the answers' own, and those of the verbs, from the table. */

import { basename } from "node:path";
import { type Fields, type Input, readInput } from "../input.ts";
import { fieldsOf, type Verb, writes } from "../verb.ts";
import { VERBS } from "../verbs/table.ts";
import { contextOf, get, REF, type Route, type Sent } from "./answer.ts";
import { ACTIVITY_ROUTES } from "./answer-activity.ts";
import { CHANGE_ROUTES } from "./answer-change.ts";
import { HOME_ROUTES } from "./answer-home.ts";
import { MAP_ROUTE } from "./answer-map.ts";
import { LIST_ROUTES } from "./answer-memories.ts";
import { MEMORY_ROUTE } from "./answer-memory.ts";
import { RECALL_ROUTES } from "./answer-recall.ts";
import { REVIEW_ROUTES } from "./answer-review.ts";
import { SETTINGS_ROUTES } from "./answer-settings.ts";
import { TEAM_ROUTE } from "./answer-team.ts";
import type { Start } from "./api.ts";
import { plainOf } from "./said.ts";

export const ROUTES: readonly Route[] = [
  get("/api/start", {}, async ({ memdir, generation, readOnly, version }): Promise<Start> => {
    const { project } = memdir.location;
    return {
      version,
      project: basename(project.worktreeRoot ?? project.cwd),
      root: project.root,
      generation,
      readOnly,
      warnings: [...memdir.warnings],
      verbs: VERBS.filter(({ on }) => on.includes("web")).map(({ name, summary }) => ({ name, summary })),
    };
  }),
  ...[...HOME_ROUTES, ...LIST_ROUTES, MEMORY_ROUTE, ...CHANGE_ROUTES, MAP_ROUTE],
  ...[...RECALL_ROUTES, ...REVIEW_ROUTES, ...ACTIVITY_ROUTES, TEAM_ROUTE, ...SETTINGS_ROUTES],
];

/** `POST /api/<name>` for a verb that is for the page, its result in words with `say`; null for any other. A verb is loaded when it is first asked for. */
export async function findVerbRoute(name: string): Promise<Route | null> {
  const verb = await VERBS.find((row) => row.name === name && row.on.includes("web"))?.load();
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
