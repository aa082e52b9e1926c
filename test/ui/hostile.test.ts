import path from "node:path";
import { afterEach, expect, it } from "vitest";
import { checkAccess, DESKTOP, openForAll, overflow, PHONE, settle, ui, VIEWS } from "./browser.ts";
import { ATTACKS, FIRST_SESSION, LONG_NAME, makeCrowd } from "./shop.ts";

openForAll(makeCrowd);
afterEach(async () => {
  expect(await ui.page.evaluate(() => (window as unknown as { pwned?: string }).pwned ?? null)).toBeNull();
});

const PLACES: [string, Record<string, string | number>][] = [
  ...VIEWS.map((view): [string, Record<string, string>] => [view, {}]),
  ["memory", { directory: 0, file: "project_hostile.md" }],
  ["memory", { directory: 0, file: ATTACKS.file }],
  ["memory", { directory: 0, file: "project_long.md" }],
  ["memory", { directory: 0, file: "user_memory_0.md" }],
  ["edit", { directory: 0, file: "project_hostile.md" }],
  ["recall", { q: ATTACKS.name }],
  ["recall", { q: "supercalifragilistic ordinary words about the build?" }],
  ["recall", { tab: "context", touch: ATTACKS.name }],
  ["activity", { tab: "sessions", q: "needle" }],
  ["activity", { session: FIRST_SESSION, q: "needle" }],
  ["memories", { q: "hostile <script>" }],
  ["memories", { as: "map" }],
  ["memories", { as: "map", text: "true" }],
  [`<img src=x onerror=window.pwned=1>`, {}],
];

it.each(PLACES)("%s %j: no text becomes a program, nothing is wider than the window", async (view, query) => {
  for (const size of [DESKTOP, PHONE]) {
    await ui.page.setViewportSize(size);
    await ui.show(view, query);
    await ui.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
    await take(
      `crowd-${view.slice(0, 8)}-${Object.values(query).join("-").replace(/\W+/g, "").slice(0, 20)}-${size.width}`,
    );
    expect([size.width, await overflow(ui.page)]).toEqual([size.width, 0]);
    const made = await ui.page.locator("main :is(script, iframe, object, embed, style, img, link, base, meta)").count();
    expect(made).toBe(0);
    const others = await ui.page
      .locator("main a")
      .evaluateAll((links) =>
        links
          .map((link) => (link as HTMLAnchorElement).protocol)
          .filter((protocol) => !["http:", "https:", "mailto:"].includes(protocol)),
      );
    expect(others).toEqual([]);
  }
});

it("markup is shown as what somebody wrote, also after hovering and clicking", async () => {
  const { page } = ui;
  await page.setViewportSize(DESKTOP);
  await ui.show("memory", { directory: 0, file: "project_hostile.md" });
  expect(await page.locator("h1").textContent()).toBe(ATTACKS.name);
  const article = page.getByRole("article");
  expect(await article.textContent()).toContain("window.pwned='code'");
  for (const word of ["a link", "another", "vb", "html"]) {
    const place = article.getByText(word, { exact: false }).first();
    await place.hover();
    await place.click();
  }
  expect(page.url()).toContain("#/memory");
  expect(await page.locator("main").textContent()).toContain(ATTACKS.cue);
});

it("five hundred: the list draws only what is seen, arrows go through all of it, and the place is found again", async () => {
  const { page } = ui;
  await page.setViewportSize(DESKTOP);
  await ui.show("memories", { sort: "name" });
  expect(await page.locator(".lead").textContent()).toBe("496 memories");
  expect(await page.locator(".entry").count()).toBeLessThan(120);
  for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowDown");
  const focused = () => page.evaluate(() => document.activeElement?.closest("tr")?.getAttribute("aria-rowindex"));
  await expect.poll(focused).toBe("41");
  const inSight = await page.evaluate(() => {
    const row = document.activeElement?.closest("tr")?.getBoundingClientRect();
    return row !== undefined && row.top >= 0 && row.bottom <= window.innerHeight;
  });
  expect(inSight).toBe(true);
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await page.locator(`.entry[aria-rowindex="497"]`).waitFor();
  // The row that was chosen is out of sight and not there any more: another one takes its place for the tab key.
  await expect.poll(() => page.locator(`.entry a[tabindex="0"]`).count()).toBe(1);
  await page.locator(`.entry[aria-rowindex="490"] a`).click();
  await page.getByRole("article").waitFor();
  await page.goBack();
  await page.locator(`.entry[aria-rowindex="490"]`).waitFor();
  expect(await page.evaluate(() => window.scrollY)).toBeGreaterThan(2_000);
});

it("five hundred: axe finds nothing in the list, at home and in what waits", async () => {
  for (const view of ["memories", "home", "review"]) {
    await ui.show(view);
    expect([view, ...(await checkAccess(ui.page))]).toEqual([view]);
  }
});

it("text that reads from the right stands at the right, and does not turn its neighbours", async () => {
  const { page } = ui;
  await page.setViewportSize(DESKTOP);
  await ui.show("memory", { directory: 0, file: "user_memory_0.md" });
  const way = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate((element) => getComputedStyle(element).direction);
  expect(await way("h1")).toBe("rtl");
  expect(await way("article p")).toBe("rtl");
  expect(await way("main")).toBe("ltr");
  await ui.show("memory", { directory: 0, file: "project_override.md" });
  expect(await way("h1")).not.toBeNull();
  await settle(page);
});

it("searches in every script", async () => {
  const { page } = ui;
  for (const [words, found] of [
    ["قاعدة البيانات", "قاعدة"],
    ["הבדיקות", "הבדיקות"],
    ["記憶の地図", "記憶"],
    ["배포하기", "배포하기"],
  ]) {
    await ui.show("memories");
    await page.getByRole("searchbox").fill(words ?? "");
    await expect.poll(() => page.locator(".entry .name").first().textContent()).toContain(found);
  }
});

it("a name of three hundred letters is cut in lists and whole where it is looked at", async () => {
  const { page } = ui;
  await page.setViewportSize(PHONE);
  await ui.show("memory", { directory: 0, file: "project_long.md" });
  expect(await page.locator("h1").textContent()).toBe(LONG_NAME);
  await ui.show("memories", { q: LONG_NAME.slice(0, 60) });
  const rows = await page
    .locator(".entry")
    .evaluateAll((all) => all.slice(0, 5).map((row) => row.getBoundingClientRect().height));
  expect(Math.max(...rows)).toBeLessThan(140);
});

async function take(name: string): Promise<void> {
  const folder = process.env.MEMDIR_UI_PICTURES;
  if (folder) await ui.page.screenshot({ path: path.join(folder, `${name.replace(/[^\w-]/g, "")}.png`) });
}
