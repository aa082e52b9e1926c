/** A page for tests of its answers: a Memdir on real files in a world of its own. */

import type { Memdir } from "../../src/memdir.ts";
import type { OpenOptions } from "../../src/open.ts";
import { type KnownRow, openPage, type Page } from "../../src/web/answer.ts";
import { answerMemories } from "../../src/web/answer-memories.ts";
import { findVerbRoute, ROUTES } from "../../src/web/routes.ts";
import { makeWorld, note, type World } from "../world.ts";

export interface OpenPage {
  world: World;
  memdir: Memdir;
  page: Page;
}

export async function makePage(
  options: {
    readOnly?: boolean;
    world?: World;
    open?: Partial<OpenOptions>;
    store?: Page["store"];
    settings?: object;
  } = {},
): Promise<OpenPage> {
  const world = options.world ?? makeWorld(options.settings ? { settings: options.settings } : {});
  const memdir = await world.open({ by: "web", ...options.store, ...options.open });
  const page = openPage({
    memdir,
    ...(options.store && { store: options.store }),
    env: world.env,
    now: () => world.now,
    log: (message) => world.logged.push(message),
    readOnly: options.readOnly ?? false,
    version: "1.2.3",
  });
  return { world, memdir, page };
}

/** With a memory of this name in the user's own scope, which takes part only where it is there at opening. */
export async function makeUserWorld(name: string): Promise<World> {
  const world = makeWorld();
  await (await world.open({ scope: "user" })).save(note(name, { body: "Of the user." }));
  return world;
}

/** As the server calls it; what it gives must be plain JSON. */
export async function call(
  page: Page,
  method: "GET" | "POST" | "PUT",
  path: string,
  sent: Record<string, unknown> = {},
): Promise<unknown> {
  const own = ROUTES.find((each) => each.method === method && each.path === path);
  const route = own ?? (method === "POST" ? await findVerbRoute(path.slice("/api/".length)) : null);
  if (!route) throw new Error(`there is no route ${method} ${path}`);
  const query = Object.fromEntries(Object.entries(sent).map(([key, value]) => [key, String(value)]));
  const answer = await route.answer(page, method === "GET" ? query : sent, new AbortController().signal);
  const sentBack: unknown = JSON.parse(JSON.stringify(answer));
  return sentBack;
}

export async function rowOf(page: Page, name: string): Promise<KnownRow> {
  const row = (await answerMemories(page)).rows.find((each) => each.name === name);
  if (!row) throw new Error(`there is no memory ${name}`);
  return row;
}

/** Text that would be something else if anybody took it for markup, a path or a command. */
export const HOSTILE = {
  script: `<script>alert(1)</script>`,
  image: `<img src=x onerror=alert(1)>`,
  rtl: "\u202eevil\u202c שלום",
  cjk: "記憶の地図 — 한국어",
  escape: "\u001b[31mred\u001b[0m",
} as const;
