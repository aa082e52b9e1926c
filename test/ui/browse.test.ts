import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import type { World } from "../world.ts";
import { closeAll, openUi, settle, type Ui } from "./browser.ts";
import { makeShop } from "./shop.ts";

let world: World;
let ui: Ui;

beforeAll(async () => {
  world = await makeShop();
  ui = await openUi(world);
});
afterAll(closeAll);
afterEach(() => expect(ui.faults()).toEqual([]));

const names = () => ui.page.locator(".memories .entry .name a").allTextContents();
const search = () => ui.page.getByRole("searchbox", { name: "Search the memories" });
const title = () => ui.page.locator("h1").textContent();
const press = async (...keys: string[]) => {
  for (const key of keys) await ui.page.keyboard.press(key);
};

it("searches as one types, with the real ranking, and keeps it in the address", async () => {
  await ui.show("memories");
  expect((await names()).length).toBe(41);
  await search().pressSequentially("retried jobs", { delay: 15 });
  await expect
    .poll(async () => (await names()).slice(0, 2).sort())
    .toEqual(["job retries of the queue", "queue retries"]);
  await expect.poll(() => ui.page.url()).toContain("q=retried");
  await ui.page.reload();
  await expect.poll(async () => (await names()).length).toBeGreaterThan(0);
  expect(await search().inputValue()).toBe("retried jobs");
  await search().fill("zzzzqqq");
  await ui.page.getByText("Nothing matches").waitFor();
  await ui.page.getByRole("button", { name: "Show all memories" }).click();
  await expect.poll(async () => (await names()).length).toBe(41);
});

it("filters by type, scope, verdict and age, all at once", async () => {
  await ui.show("memories");
  const choose = (label: string, value: string) => ui.page.getByLabel(label, { exact: true }).selectOption(value);
  await choose("Type", "feedback");
  await expect.poll(async () => (await names()).length).toBe(10);
  await choose("Scope", "team");
  await expect
    .poll(async () => (await names()).sort())
    .toEqual(["commit messages", "no blame", "reviews within a day"]);
  await choose("Age", "this month");
  await expect.poll(names).toEqual(["reviews within a day"]);
  expect(ui.page.url()).toMatch(/type=feedback.*scope=team.*age=this/);
  await choose("Verdict", "holds");
  await ui.page.getByText("Nothing matches").waitFor();
});

it("sorts by every column, both ways, and says so", async () => {
  await ui.show("memories");
  for (const column of ["Type", "Memory", "Scope", "Age", "Verdict", "Cues", "Recalled"]) {
    const head = ui.page.getByRole("columnheader", { name: column });
    await head.getByRole("button").click();
    await expect.poll(() => head.getAttribute("aria-sort")).toMatch(/ascending|descending/);
    const [way, first] = [await head.getAttribute("aria-sort"), await names()];
    await head.getByRole("button").click();
    await expect.poll(() => head.getAttribute("aria-sort")).toBe(way === "ascending" ? "descending" : "ascending");
    expect((await names()).join()).not.toBe(first.join());
  }
  expect((await names()).at(-1)).toBe("deploy to staging");
});

it("keyboard only: to the search, through the list, into a memory, to editing and back", async () => {
  await ui.show("overview");
  await press("/");
  await expect.poll(() => search().evaluate((field) => field === document.activeElement)).toBe(true);
  await ui.page.keyboard.type("rollback");
  // Names are found at once, the ranking finds more.
  await expect.poll(async () => (await names()).length).toBeGreaterThan(1);
  expect((await names())[0]).toBe("rollback");
  await press("ArrowDown", "ArrowDown");
  const focused = () => ui.page.evaluate(() => document.activeElement?.textContent ?? "");
  await expect.poll(focused).toBe((await names())[1]);
  await press("ArrowUp");
  await expect.poll(focused).toBe("rollback");
  await expect.poll(() => ui.page.url()).toContain("q=rollback");
  await press("Enter");
  await expect.poll(title).toBe("rollback");
  await press("e");
  await expect.poll(title).toBe("Edit rollback");
  await press("Escape");
  await expect.poll(title).toBe("rollback");
  await press("Escape");
  await expect.poll(title).toBe("Memories");
  expect(await search().inputValue()).toBe("rollback");
});

it("keyboard only: every view after g, the list of keys, and a question before undo", async () => {
  await ui.show("overview");
  const letters = {
    m: "Memories",
    r: "Recall",
    c: "Context",
    t: "Timeline",
    a: "Map",
    i: "Inbox",
    d: "Dream",
    e: "Team",
    s: "Sessions",
    o: "Overview",
  };
  for (const [letter, name] of Object.entries(letters)) {
    await press("g", letter);
    await expect.poll(title).toBe(name);
  }
  await press("?");
  const dialog = ui.page.getByRole("dialog");
  await expect.poll(() => dialog.textContent()).toContain("undo the last change");
  await press("Escape");
  await expect.poll(() => dialog.count()).toBe(0);
  await press("u");
  await expect.poll(() => dialog.textContent()).toContain("Undo the last change?");
  await press("Escape");
  await expect.poll(() => dialog.count()).toBe(0);
});

it("keyboard only: the tab key reaches everything with a focus that is seen", async () => {
  await ui.show("memories");
  await ui.page.reload();
  await settle(ui.page);
  const first = (await ui.page.locator(".entry .name a").first().textContent()) ?? "";
  const seen = new Set<string>();
  for (let i = 0; i < 30; i++) {
    await press("Tab");
    const at = await ui.page.evaluate(() => {
      const element = document.activeElement;
      if (element === null || element === document.body) return null;
      // The link of a row draws its focus around the whole row.
      const isSeen = [null, "::after"].some((part) => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element, part);
        return (outlineStyle !== "none" && outlineWidth !== "0px") || boxShadow !== "none";
      });
      return { name: element.textContent?.slice(0, 30) || element.tagName, isSeen };
    });
    if (at === null) break;
    expect([at.name, at.isSeen]).toEqual([at.name, true]);
    seen.add(at.name);
  }
  expect([...seen].some((name) => name.startsWith("Skip to content"))).toBe(true);
  expect([...seen]).toEqual(expect.arrayContaining(["Recall", "INPUT", "Recalled", first.slice(0, 30)]));
});

it("one memory: fields, links both ways that lead on, claims with evidence, history and surfacings", async () => {
  const { page } = ui;
  await ui.show("memory", { directory: 0, file: "project_deploy_to_staging.md" });
  const side = page.getByRole("complementary", { name: "About this memory" });
  await side.getByText("somebody wants to see a branch", { exact: true }).waitFor();
  expect(await side.getByRole("link").allTextContents()).toEqual(expect.arrayContaining(["release train", "rollback"]));
  await page.getByRole("tabpanel").getByText("scripts/deploy.ts exists").waitFor();
  await page.getByRole("tab", { name: /Surfaced/ }).click();
  await page.getByRole("tabpanel").getByText("cue: a release is near").first().waitFor();
  await page.getByRole("tab", { name: /History/ }).press("ArrowLeft");
  expect(page.url()).toContain("tab=");
  await page.getByRole("article").getByRole("link", { name: "rollback" }).click();
  await expect.poll(title).toBe("rollback");
  await page.goBack();
  await expect.poll(title).toBe("deploy to staging");
});

it("recall: what would be shown and what nearly was, why, and the exact text", async () => {
  const { page } = ui;
  await ui.show("recall");
  await page.getByLabel("Prompt").pressSequentially("how do we deploy to staging?", { delay: 5 });
  const hits = page.locator(".hit");
  await expect.poll(() => hits.first().textContent()).toContain("deploy to staging");
  expect(await hits.first().locator(".reasons").textContent()).toContain("staging");
  expect(await page.locator(".hit-unsure").count()).toBeGreaterThan(0);
  const text = () => page.getByLabel("The text that is sent").first().textContent();
  expect(await text()).toContain(world.read("project_deploy_to_staging.md").trim().split("\n").at(-1));
  const hook = await text();
  await page.getByLabel("as asked by").selectOption("library");
  await expect.poll(() => page.url()).toContain("adapter=library");
  await expect.poll(() => page.locator(".budget").textContent()).toContain("that this adapter allows");
  expect(hook).not.toBeNull();
  await page.getByLabel("Prompt").fill("zebra");
  await page.getByText("No memory reaches the threshold").waitFor();
});

it("context: why a file is loaded or not, and what touching one adds", async () => {
  const { page } = ui;
  await ui.show("context");
  await page.getByRole("region", { name: "Not loaded" }).getByText("billing.md").waitFor();
  await page.getByLabel(/Path of a file/).fill("src/billing/number.ts");
  const touched = page.getByRole("region", { name: "Touch a file" });
  await touched.getByText("adds 1 file").waitFor();
  await touched.locator("summary").click();
  await touched.getByText("Amounts are whole cents.").waitFor();
  await page.getByLabel(/Path of a file/).fill("README.md");
  await touched.getByText("adds nothing").waitFor();
});

it("sessions: found by what was said, and read", async () => {
  const { page } = ui;
  await ui.show("sessions");
  await expect.poll(() => page.locator(".session").count()).toBe(7);
  await page.getByRole("searchbox").fill("connections pool");
  await expect.poll(() => page.locator(".session").count()).toBe(1);
  await page.locator(".session a").click();
  await page.getByText("I saved it as a memory of the project.").waitFor();
  expect(await page.locator("mark").allTextContents()).toEqual(expect.arrayContaining(["pool", "connections"]));
  await page.getByRole("link", { name: /All sessions/ }).click();
  await expect.poll(() => page.locator(".session").count()).toBe(1);
});

it("timeline: kinds are turned off, a day is chosen, older events follow", async () => {
  const { page } = ui;
  await ui.show("timeline");
  await page.getByRole("button", { name: /^Recalls/ }).click();
  await expect.poll(() => page.locator(".event", { hasText: "recalled by" }).count()).toBe(0);
  await page.getByRole("button", { name: /^Recalls/ }).click();
  const day = new Date(world.now.getTime() - 70 * 86_400_000).toISOString().slice(0, 10);
  const today = (await page.locator(".day h2").first().textContent()) ?? "";
  await page.getByLabel("Events up to").fill(day);
  await expect.poll(() => page.locator(".day h2").first().textContent()).not.toContain(today);
  await page.getByText("There are no older events.").waitFor();
  await page.getByRole("button", { name: "Go to the newest" }).click();
  await page.locator(".event", { hasText: "recalled by" }).first().waitFor();
});

it("team: only what one person wrote", async () => {
  await ui.show("team");
  await ui.page.getByRole("region", { name: "People" }).getByRole("button", { name: /test/ }).click();
  await ui.page.getByRole("heading", { name: /Written by test/ }).waitFor();
  expect(ui.page.url()).toContain("by=test");
});
