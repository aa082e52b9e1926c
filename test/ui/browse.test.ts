import { expect, it } from "vitest";
import { openForAll, settle, ui, world } from "./browser.ts";
import { makeShop } from "./shop.ts";

openForAll(makeShop);

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

it("filters by type, scope, verdict, age, cues and author, all at once; each says what it would show", async () => {
  const { page } = ui;
  await ui.show("memories");
  const choose = async (label: string, value: string) => {
    const menu = page.locator(".filter", { has: page.getByRole("button", { name: label }) });
    await menu.getByRole("button").click();
    await menu.getByRole("checkbox", { name: new RegExp(`^${value}`) }).click();
    await press("Escape");
  };
  await choose("Type", "feedback");
  await expect.poll(async () => (await names()).length).toBe(10);
  await choose("Scope", "team");
  await expect
    .poll(async () => (await names()).sort())
    .toEqual(["commit messages", "no blame", "reviews within a day"]);
  await choose("Age", "this month");
  await expect.poll(names).toEqual(["reviews within a day"]);
  expect(page.url()).toMatch(/type=feedback.*scope=team.*age=this/);
  await ui.show("memories", { verdict: "gone", type: "user" });
  await page.getByText("Nothing matches").waitFor();
  await page.getByRole("button", { name: "Show all memories" }).click();
  await expect.poll(async () => (await names()).length).toBe(41);
});

it("deep links count while the list is open, and matches are marked", async () => {
  const { page } = ui;
  await ui.show("memories");
  await page.evaluate(() => {
    location.hash = "#/memories?q=rollback";
  });
  await expect.poll(() => search().inputValue()).toBe("rollback");
  await expect.poll(async () => (await names())[0]).toBe("rollback");
  await expect.poll(() => page.locator(".entry mark").first().textContent()).toBe("rollback");
  await page.evaluate(() => {
    location.hash = "#/memories?type=user";
  });
  await expect.poll(() => search().inputValue()).toBe("");
  await expect.poll(() => page.locator(".entry .col-type").allTextContents()).not.toContain("project");
});

it("addresses of earlier versions lead to where things are now", async () => {
  const { page } = ui;
  const moved: Record<string, RegExp> = {
    overview: /#\/home$/,
    map: /#\/memories\?as=map$/,
    inbox: /#\/review$/,
    "context?touch=a.ts": /#\/recall\?touch=a.ts&tab=context$/,
    timeline: /#\/activity$/,
    "sessions?id=x&q=y": /#\/activity\?q=y&tab=sessions&session=x$/,
  };
  for (const [old, now] of Object.entries(moved)) {
    await page.goto(`${ui.server.url}/#/${old}`);
    await expect.poll(() => page.url()).toMatch(now);
  }
  // The session that is not there is asked for again with every change: no view does that any more.
  await ui.show("home");
  ui.faults(/404/);
});

it("what a row says on hovering is not covered by its link, and the whole row opens the memory", async () => {
  const { page } = ui;
  await ui.show("memories", { verdict: "gone" });
  const verdict = page.locator(".entry .verdict");
  await verdict.waitFor();
  const isOnTop = () =>
    verdict.evaluate((element) => {
      const { left, top } = element.getBoundingClientRect();
      return element.contains(document.elementFromPoint(left + 3, top + 6));
    });
  // A message of the change before may still be in the way.
  await expect.poll(isOnTop).toBe(true);
  expect(await verdict.getAttribute("title")).toContain("legacy.ts");
  await page.locator(".entry .col-age").click();
  await expect.poll(title).toBe("old admin panel");
});

it("list and memory agree on a verdict, also after the memory was changed elsewhere", async () => {
  const { page } = ui;
  const file = "project_old_admin_panel.md";
  world.write(file, `${world.read(file)}\nOne more line.\n`);
  await ui.show("memories", { q: "old admin panel" });
  await page.locator(".entry .verdict", { hasText: "gone" }).first().waitFor();
});

it("keys only: j and k, x for several, one change for all of them, u says what it undoes and its offer goes", async () => {
  await ui.renew();
  const { page } = ui;
  await ui.show("memories", { sort: "name" });
  await expect.poll(async () => (await names()).length).toBe(41);
  const [first = "", second = ""] = await names();
  await press("j", "j", "x", "k", "x");
  const bar = page.getByRole("region", { name: "Selected memories" });
  await bar.getByText("2 selected").waitFor();
  await bar.getByRole("button", { name: "Forget" }).press("Enter");
  const messages = page.getByLabel("Messages");
  await messages.getByText("Forgot 2 memories").waitFor();
  await expect.poll(names).not.toContain(first);
  await press("u");
  await messages.getByText("Undid: Forgot 2 memories").waitFor();
  await expect.poll(async () => (await names()).slice(0, 2)).toEqual([first, second]);
  expect(await messages.getByRole("button", { name: "Undo" }).count()).toBe(0);
  await press("j", "x");
  await bar.getByText("1 selected").waitFor();
  await press("Escape");
  await expect.poll(() => bar.count()).toBe(0);
});

it("the palette runs every verb and opens every memory, by keys", async () => {
  const { page } = ui;
  await ui.show("home");
  const palette = page.getByRole("dialog", { name: "Run a command" });
  await press("Control+k");
  await palette.getByRole("combobox").waitFor();
  const offered = await palette.getByRole("option").allTextContents();
  for (const verb of ["save", "search", "verify", "health", "why", "index", "prune", "import", "check"])
    expect(offered.some((text) => text.startsWith(verb))).toBe(true);
  await page.keyboard.type("go to act");
  await press("Enter");
  await expect.poll(title).toBe("Activity");
  await press("Control+k");
  await page.keyboard.type("rollback");
  await palette.getByRole("option", { name: /Going back to the release/ }).waitFor();
  await press("Enter");
  await expect.poll(title).toBe("rollback");
  await press("Control+k");
  await page.keyboard.type("why");
  await press("Enter");
  const form = page.getByRole("dialog", { name: "why" });
  await expect.poll(() => form.getByLabel("name").inputValue()).toBe("project_rollback.md");
  await form.getByRole("button", { name: "Run" }).click();
  await expect.poll(() => form.locator("pre").textContent()).toContain("rollback");
  await press("Escape");
  await expect.poll(() => form.count()).toBe(0);
});

it("what is typed right after the shortcut goes into the palette", async () => {
  const { page } = ui;
  await ui.show("home");
  // Both keys in one task of the page, as fast as any keyboard.
  const focused = await page.evaluate(async () => {
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }));
    await Promise.resolve();
    await Promise.resolve();
    return document.activeElement?.getAttribute("role");
  });
  expect(focused).toBe("combobox");
  await press("Escape");
});

it("the focus returns to the row that was opened, and to the button behind a dialog", async () => {
  const { page } = ui;
  await ui.show("memories", { sort: "name" });
  await expect.poll(async () => (await names()).length).toBe(41);
  await press("j", "j", "j");
  const opened = await page.evaluate(() => document.activeElement?.textContent);
  await press("Enter");
  await expect.poll(title).toBe(opened);
  await press("Escape");
  await expect.poll(title).toBe("Memories");
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe(opened);
  await page.getByRole("button", { name: "Keys" }).press("Enter");
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Close");
  await press("Escape");
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Keys");
});

it("letters that follow e are not taken for keys", async () => {
  const { page } = ui;
  await ui.show("memories", { sort: "name" });
  await press("j", "e");
  await page.keyboard.type("gogmu");
  await expect.poll(() => page.url()).toContain("#/edit");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await ui.renew();
});

it("counts agree: what waits at home, in the navigation and in the queue", async () => {
  const { page } = ui;
  await ui.show("home");
  await page.locator(".health .figure").waitFor();
  const waits = page.getByRole("link", { name: /^Review \d+$/ });
  await waits.waitFor();
  const numbers = async () => {
    // A memory without cues is listed, but is no task.
    const tasks = page.locator(".waits a").filter({ hasNotText: "without cues" });
    const each = (await tasks.locator(".number").allTextContents()).map(Number);
    const nav = Number((await page.locator(".nav-count").textContent())?.match(/\d+/)?.[0]);
    const button = Number((await waits.textContent())?.match(/\d+/)?.[0]);
    return [each.reduce((sum, count) => sum + count, 0), button, nav];
  };
  await expect.poll(async () => new Set(await numbers()).size).toBe(1);
  for (const figure of await page.locator(".number, .figure").all())
    expect(await figure.evaluate((element) => getComputedStyle(element).whiteSpace)).toContain("nowrap");
});

it("the map: wheel, search and keys; it says what it leaves out", async () => {
  const { page } = ui;
  await ui.show("memories", { as: "map" });
  await page.getByText(/\d+ of 41 memories drawn · \d+ have no connection/).waitFor();
  const world = page.locator("svg.map > g");
  const before = await world.getAttribute("transform");
  await page.locator("svg.map").hover();
  await page.mouse.wheel(0, -300);
  await expect.poll(() => world.getAttribute("transform")).not.toBe(before);
  await press("/");
  await page.keyboard.type("queue ret");
  await page.getByText(/\d match/).waitFor();
  expect(await page.locator(".point.is-found").count()).toBeGreaterThan(0);
  await press("Enter");
  await page.getByRole("complementary", { name: "The chosen memory" }).getByText("similar to").waitFor();
  await page.getByRole("link", { name: "List", exact: true }).click();
  await expect.poll(async () => (await names()).length).toBe(41);
});

it("settings: what is chosen is kept", async () => {
  const { page } = ui;
  await ui.show("settings");
  await page.getByLabel("From your own sessions").selectOption("inbox");
  await page.getByLabel("Messages").getByText("Saved.").waitFor();
  await page.getByLabel("Tokens a day").fill("150000");
  await press("Tab");
  await page.reload();
  await expect.poll(() => page.getByLabel("From your own sessions").inputValue()).toBe("inbox");
  await expect.poll(() => page.getByLabel("Tokens a day").inputValue()).toBe("150000");
});

it("sorts by every column, both ways, and says so", async () => {
  await ui.show("memories");
  for (const column of ["Type", "Name", "Scope", "Age", "Verdict", "Cues", "Recalled"]) {
    const head = ui.page.getByRole("columnheader", { name: column });
    await head.getByRole("button").click();
    await expect.poll(() => head.getAttribute("aria-sort")).toMatch(/ascending|descending/);
    const [way, first] = [await head.getAttribute("aria-sort"), await names()];
    await head.getByRole("button").click();
    await expect.poll(() => head.getAttribute("aria-sort")).toBe(way === "ascending" ? "descending" : "ascending");
    await expect.poll(async () => (await names()).join()).not.toBe(first.join());
  }
  await expect.poll(async () => (await names()).at(-1)).toBe("deploy to staging");
});

it("keyboard only: to the search, through the list, into a memory, to editing and back", async () => {
  await ui.show("home");
  await press("/");
  await expect.poll(() => search().evaluate((field) => field === document.activeElement)).toBe(true);
  await ui.page.keyboard.type("rollback");
  // Names are found at once, the ranking finds more.
  const found = async () => ((await names()).length < 41 ? (await names()).slice(0, 2) : []);
  await expect.poll(found).toEqual(["rollback", expect.any(String)]);
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
  await ui.show("home");
  const letters = { m: "Memories", r: "Recall", a: "Activity", v: "Review", s: "Settings", h: "Home" };
  for (const [letter, name] of Object.entries(letters)) {
    await press("g", letter);
    await expect.poll(title).toBe(name);
  }
  await press("?");
  const dialog = ui.page.getByRole("dialog");
  await expect.poll(() => dialog.textContent()).toContain("undo the last change");
  await press("Escape");
  await expect.poll(() => dialog.count()).toBe(0);
  await (await world.open({ by: "cli" })).edit(
    "rollback",
    world.read("project_rollback.md"),
    `${world.read("project_rollback.md")}\nMore.\n`,
  );
  await press("u");
  await expect.poll(() => dialog.textContent()).toMatch(/Undo this change\?.*Edited “rollback”.*by cli/);
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

it("sessions: found by what was said, and read", async () => {
  const { page } = ui;
  await ui.show("activity", { tab: "sessions" });
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
  await ui.show("activity");
  await page.getByRole("button", { name: /^Recalls/ }).click();
  await expect.poll(() => page.locator(".event", { hasText: "Recalled" }).count()).toBe(0);
  await page.getByRole("button", { name: /^Recalls/ }).click();
  const day = new Date(world.now.getTime() - 70 * 86_400_000).toISOString().slice(0, 10);
  const today = (await page.locator(".day h2").first().textContent()) ?? "";
  await page.getByLabel("Events up to").fill(day);
  await expect.poll(() => page.locator(".day h2").first().textContent()).not.toContain(today);
  await page.getByText("There are no older events.").waitFor();
  await page.getByRole("button", { name: "Go to the newest" }).click();
  await page.locator(".event", { hasText: "Recalled" }).first().waitFor();
});

it("a setting that is being typed stays as it is while a memory changes elsewhere", async () => {
  const { page } = ui;
  await ui.show("settings");
  const tokens = page.getByLabel("Tokens a day");
  await tokens.fill("160000");
  const asked = page.waitForResponse(/\/api\/settings/);
  world.write("project_rollback.md", `${world.read("project_rollback.md")}\nOne more line.\n`);
  await asked;
  await settle(page);
  expect(await tokens.inputValue()).toBe("160000");
});
