import fs from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PATIENT } from "../until.ts";
import type { World } from "../world.ts";
import { checkAccess, closeAll, DESKTOP, openUi, overflow, PHONE, settle, TABLET, type Ui, VIEWS } from "./browser.ts";
import { FIRST_SESSION, makeShop } from "./shop.ts";

let world: World;
let ui: Ui;

beforeAll(async () => {
  world = await makeShop();
  ui = await openUi(world);
  await takeForReadme();
});
afterAll(closeAll);

/** Every view with its data, and those that only an address leads to. */
const PLACES: [place: string, view: string, query: Record<string, string | number>, shows: string[]][] = [
  [
    "home",
    "home",
    {},
    ["41 memories", "Waiting for you", "What the model is given", "in good health", "Background work"],
  ],
  ["memories", "memories", {}, ["deploy to staging", "feedback", "team", "which is gone", "pinned"]],
  ["map", "memories", { as: "map" }, ["of 41 memories drawn", "no connection", "Links", "queue retries"]],
  ["map as text", "memories", { as: "map", text: "true" }, ["links to", "linked from", "similar to"]],
  ["memory", "memory", { directory: 0, file: "project_deploy_to_staging.md" }, ["Staging follows main", "on call"]],
  ["new", "new", {}, ["New memory", "Description", "Cues"]],
  ["edit", "edit", { directory: 0, file: "project_rollback.md" }, ["rollback"]],
  ["review", "review", {}, ["cart expiry", "holiday hours"]],
  ["recall", "recall", { q: "how do we deploy to staging?" }, ["deploy to staging"]],
  ["context", "recall", { tab: "context", touch: "src/server/routes.ts" }, ["CLAUDE.md"]],
  ["activity", "activity", {}, ["Changes", "Recalled", "Learnt from a session", "session"]],
  ["sessions", "activity", { tab: "sessions", q: "timeouts" }, ["Why does the checkout time out", "timeouts are gone"]],
  [
    "session",
    "activity",
    { session: FIRST_SESSION },
    ["User", "Agent", "The pool of connections is full", "shown to the model"],
  ],
  ["settings", "settings", {}, ["Learning", "Tokens a day", "Claude Code", "Stores"]],
];

/** What stands there, with what is folded and what fields hold. */
function readPage(): Promise<string> {
  return ui.page.evaluate(() => {
    const main = document.querySelector("main");
    const fields = [...(main?.querySelectorAll("textarea") ?? [])].map(({ value }) => value);
    return [main?.textContent, ...fields].join("\n");
  });
}

it("the list says which memory is doubtful, and the memory says why", async () => {
  await ui.show("memories", { verdict: "gone" });
  await expect.poll(() => ui.page.locator(".entry .name a").allTextContents()).toEqual(["old admin panel"]);
  expect(await ui.page.locator(".entry .verdict").textContent()).toContain("src/admin/legacy.ts");
  await ui.page.locator(".entry .name a").click();
  await expect.poll(() => ui.page.locator("main").textContent()).toMatch(/src\/admin\/legacy\.ts/);
});

describe.each(PLACES)("%s", (place, view, query, shows) => {
  it("opens and shows its data, and asks nobody else", async () => {
    await ui.show(view, query);
    for (const text of shows) await expect.poll(readPage, { message: text, ...PATIENT }).toContain(text);
    expect(ui.faults()).toEqual([]);
  });

  it.each(["light", "dark"] as const)(
    "%s: axe finds nothing, nothing is wider than the window, nothing jumps",
    async (colorScheme) => {
      await ui.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const size of [DESKTOP, TABLET, PHONE]) {
        await ui.page.setViewportSize(size);
        await ui.show(view, query);
        await take(`${place}-${colorScheme}-${size.width}`);
        expect([size.width, await overflow(ui.page)]).toEqual([size.width, 0]);
        expect([size.width, ...(await checkAccess(ui.page))]).toEqual([size.width]);
        expect([size.width, await readShift()]).toEqual([size.width, true]);
      }
      await ui.page.setViewportSize(DESKTOP);
      await ui.page.emulateMedia({ colorScheme: "light" });
      expect(ui.faults()).toEqual([]);
    },
  );
});

/** Whether what the view showed stayed where it was: Chromium's figure for everything that moved by itself. */
async function readShift(): Promise<boolean> {
  const shift = await ui.page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list) => {
          const shifts = list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[];
          resolve(shifts.reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0));
        }).observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve(0), 60);
      }),
  );
  return shift <= 0.1;
}

it("the theme follows the system until a person says otherwise, and stays so", async () => {
  const { page } = ui;
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await ui.show("home");
  const light = await paper();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await paper();
  expect(dark).not.toBe(light);
  const turn = page.getByRole("button", { name: /^Theme:/ });
  await turn.click();
  expect(await paper()).toBe(light);
  await page.reload();
  await settle(page);
  expect(await paper()).toBe(light);
  await turn.click();
  await page.emulateMedia({ colorScheme: "light" });
  expect(await paper()).toBe(dark);
  await turn.click();
  expect(await paper()).toBe(light);
});

it("on a phone the navigation unfolds and leads everywhere", async () => {
  const { page } = ui;
  await page.setViewportSize(PHONE);
  await ui.show("home");
  for (const view of VIEWS) {
    const title = `${view[0]?.toUpperCase()}${view.slice(1)}`;
    await page.locator(".menu-button").click();
    await page.locator(".side").getByRole("link", { name: title }).click();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    expect(await page.locator(".menu-button").getAttribute("aria-expanded")).toBe("false");
  }
  await page.setViewportSize(DESKTOP);
  expect(ui.faults()).toEqual([]);
});

it("a view or a memory that is not there says so and leads on", async () => {
  await ui.show("nowhere");
  expect(await ui.page.locator("main").textContent()).toContain("There is no view named “nowhere”");
  await ui.show("memory", { directory: 0, file: "nobody.md" });
  expect(await ui.page.locator("main").textContent()).toContain("no longer exists");
  await ui.show("activity", { session: "nothing" });
  expect(await ui.page.locator("main").textContent()).toContain("no session");
  expect(ui.faults(/404/)).toEqual([]);
});

it("axe is at work: it finds what is wrong", async () => {
  await ui.show("settings");
  await ui.page.evaluate(() => document.querySelector("main")?.append(document.createElement("button"), new Image()));
  const found = await checkAccess(ui.page);
  expect(found.map((line) => line.split(":")[0])).toEqual(expect.arrayContaining(["button-name", "image-alt"]));
  await ui.renew();
});

/** Those of docs/images, before any message or work covers something. */
async function takeForReadme(): Promise<void> {
  if (!process.env.MEMDIR_UI_PICTURES) return;
  const pictures: Record<string, Record<string, string>> = {
    home: {},
    memories: { sort: "recalled" },
    review: {},
    recall: { q: "how do we deploy to staging?" },
  };
  for (const [view, query] of Object.entries(pictures)) {
    await ui.show(view, query);
    await ui.page.waitForTimeout(300);
    await take(`readme-${view}`);
  }
}

/** With MEMDIR_UI_PICTURES=FOLDER every view is kept as a picture, for people to look at. */
async function take(name: string): Promise<void> {
  const folder = process.env.MEMDIR_UI_PICTURES;
  if (!folder) return;
  fs.mkdirSync(folder, { recursive: true });
  await ui.page.screenshot({
    path: path.join(folder, `${name.replaceAll(" ", "-")}.png`),
    fullPage: name.endsWith("400"),
  });
}
