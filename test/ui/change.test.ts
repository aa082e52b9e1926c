import fs from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { World } from "../world.ts";
import { checkAccess, closeAll, openUi, settle, type Ui } from "./browser.ts";
import { makeShop } from "./shop.ts";

let world: World;
let ui: Ui;

beforeAll(async () => {
  world = await makeShop();
  ui = await openUi(world);
});
afterAll(closeAll);
beforeEach(() => ui.renew());
afterEach(() => expect(ui.faults(/status of 4(00|04|09)/)).toEqual([]));

const title = () => ui.page.locator("h1").textContent();
const button = (name: string | RegExp) => ui.page.getByRole("button", { name, exact: true });
const field = () => ui.page.getByLabel("The whole file");
const message = (text: string | RegExp) => ui.page.locator(".message", { hasText: text }).last();

async function edit(file: string, change: (text: string) => string): Promise<string> {
  await ui.show("edit", { directory: 0, file });
  await field().fill(change(await field().inputValue()));
  return world.read(file);
}

it("edits with a check while one types, shows the difference, saves, and takes it back", async () => {
  const before = await edit("project_rollback.md", (text) =>
    text.replace("the release before back", "the last release back"),
  );
  expect(world.read("project_rollback.md")).toBe(before);
  await button("Review").click();
  const diff = ui.page.getByLabel("What saving will change");
  await expect.poll(() => diff.textContent()).toContain("the last release back");
  expect(await checkAccess(ui.page)).toEqual([]);
  await button("Save").click();
  await expect.poll(title).toBe("rollback");
  await ui.page.getByRole("article").getByText("the last release back").waitFor();
  expect(world.read("project_rollback.md")).toContain("the last release back");
  await message("Saved rollback").getByRole("button", { name: "Undo" }).click();
  await ui.page.getByRole("article").getByText("the release before back").waitFor();
  expect(world.read("project_rollback.md")).toBe(before);
});

it("says while one types what is wrong with the text", async () => {
  await edit("project_migrations.md", (text) => text.replace("type: project", "type: nonsense"));
  await expect.poll(() => ui.page.locator(".findings").textContent()).toMatch(/type|nonsense/);
  await field().fill((await field().inputValue()).replace("type: nonsense", "type: project"));
  await expect.poll(() => ui.page.locator(".findings").textContent()).toBe("");
});

it("refuses a secret with its rule and line, and never sends it back", async () => {
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  const before = await edit("project_migrations.md", (text) => `${text}\nThe key is ${secret}\n`);
  const lines = (await field().inputValue()).split("\n");
  const line = 1 + lines.findIndex((text) => text.includes(secret));
  await expect.poll(() => ui.page.locator(".findings").textContent()).toMatch(new RegExp(`Line ${line} .*github`, "i"));
  expect(await ui.page.locator(".findings").textContent()).not.toContain(secret);
  expect(await checkAccess(ui.page)).toEqual([]);
  await button("Review").click();
  expect(await button("Save").isDisabled()).toBe(true);
  // Past the page's own button the server refuses as well.
  const told = await put("project_migrations.md", before, `${before}\n${secret}\n`);
  expect([told.status, told.text.includes(secret)]).toEqual([400, false]);
  expect(world.read("project_migrations.md")).toBe(before);
  await button("Discard").click();
  await ui.page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
});

it("a file that changes meanwhile: both are shown, and nothing is written over until somebody decides", async () => {
  const file = "project_feature_flags.md";
  const before = await edit(file, (text) => text.replace("is taken out", "is MINE"));
  const theirs = before.replace("is taken out", "is THEIRS").replace("in the table", "in THEIR table");
  fs.writeFileSync(world.path(file), theirs);
  const conflict = ui.page.getByRole("region", { name: "The file changed on disk" });
  await expect.poll(() => conflict.textContent()).toContain("is THEIRS");
  expect(await conflict.textContent()).toContain("is MINE");
  expect(await checkAccess(ui.page)).toEqual([]);
  expect(await button("Review").isDisabled()).toBe(true);
  expect(world.read(file)).toBe(theirs);
  await button(/^Merge mine/).click();
  await expect.poll(() => ui.page.getByLabel("What saving will change").textContent()).toContain("is THEIRS");
  expect(world.read(file)).toBe(theirs);
  await button("Save").click();
  await expect.poll(title).toBe("feature flags");
  // Mine where both wrote, theirs where only they did.
  expect(world.read(file)).toContain("is MINE");
  expect(world.read(file)).toContain("in THEIR table");
});

it("a save against an old text is refused by the server, and the page shows the conflict", async () => {
  const file = "project_image_uploads.md";
  const before = await edit(file, (text) => text.replace("20 MB", "30 MB"));
  await button("Review").click();
  await expect.poll(() => button("Save").isEnabled()).toBe(true);
  // Between the last look and the save, before anybody can tell the page.
  await ui.page.route("**/api/memory", async (route) => {
    if (route.request().method() === "PUT")
      fs.writeFileSync(world.path(file), before.replace("five minutes", "FIVE minutes"));
    await route.continue();
  });
  await button("Save").click();
  await ui.page.getByRole("region", { name: "The file changed on disk" }).waitFor();
  await ui.page.unroute("**/api/memory");
  expect(world.read(file)).toContain("FIVE minutes");
  expect(world.read(file)).toContain("20 MB");
  await button("Take theirs").click();
  await expect.poll(() => field().inputValue()).toContain("FIVE minutes");
});

it("what was typed survives a reload, and leaving asks", async () => {
  await edit("project_time_zones.md", (text) => `${text}\nTyped and not saved.\n`);
  await ui.page.getByRole("navigation").getByRole("link", { name: "Recall" }).click();
  const dialog = ui.page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Stay" }).click();
  expect(await title()).toBe("Edit time zones");
  ui.page.once("dialog", (asked) => void asked.accept());
  await ui.page.reload();
  await settle(ui.page);
  expect(await field().inputValue()).toContain("Typed and not saved.");
  await button("Discard").click();
  await dialog.getByRole("button", { name: "Discard" }).click();
  expect(await field().inputValue()).not.toContain("Typed and not saved.");
});

it("forgets with a reason and brings back", async () => {
  const file = "project_old_admin_panel.md";
  const before = world.read(file);
  await ui.show("memory", { directory: 0, file });
  await button("Forget").click();
  const dialog = ui.page.getByRole("dialog");
  expect(await checkAccess(ui.page)).toEqual([]);
  await dialog.getByRole("textbox").fill("nobody uses it");
  await dialog.getByRole("button", { name: "Forget" }).click();
  await expect.poll(title).toBe("Memories");
  expect(world.exists(file)).toBe(false);
  expect(await ui.page.locator(".entry", { hasText: "old admin panel" }).count()).toBe(0);
  await message(/forgot|forgotten/i)
    .getByRole("button", { name: "Undo" })
    .click();
  await ui.page.locator(".entry", { hasText: "old admin panel" }).waitFor();
  expect(world.read(file)).toBe(before);
});

it("renames, and takes it back with a key", async () => {
  await ui.show("memory", { directory: 0, file: "project_migrations.md" });
  await button("Rename").click();
  const dialog = ui.page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("changes of tables");
  await ui.page.keyboard.press("Enter");
  await expect.poll(title).toBe("changes of tables");
  expect(world.exists("project_migrations.md")).toBe(false);
  await ui.page.keyboard.press("u");
  await dialog.getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => world.exists("project_migrations.md")).toBe(true);
  expect(world.read("project_migrations.md")).toContain("name: migrations");
});

it("takes one change of the history back", async () => {
  await ui.show("memory", { directory: 0, file: "project_deploy_to_staging.md" });
  await edit("project_deploy_to_staging.md", (text) => text.replace("ten minutes", "an hour"));
  await button("Review").click();
  await button("Save").click();
  await expect.poll(title).toBe("deploy to staging");
  await ui.page.getByRole("tab", { name: /History/ }).click();
  const latest = ui.page.getByRole("tabpanel").locator(".record").first();
  await latest.getByText("for an hour").waitFor();
  await latest.getByRole("button", { name: "Undo this change" }).click();
  await ui.page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => world.read("project_deploy_to_staging.md")).toContain("ten minutes");
});

it("writes a new memory, refuses a secret in it, and takes it back", async () => {
  const { page } = ui;
  await ui.show("memories");
  await page.getByRole("link", { name: "New memory" }).click();
  await page.getByRole("radio", { name: /^project/ }).check();
  await page.getByLabel("Name").fill("written here");
  await page.getByLabel("Description").fill("by hand");
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  await page.getByLabel("Text").fill(`The key is ${secret}`);
  await button("Save").click();
  await expect.poll(() => page.getByRole("alert").textContent()).toMatch(/secret|github/i);
  expect(await page.getByRole("alert").textContent()).not.toContain(secret);
  expect(world.exists("project_written_here.md")).toBe(false);
  await page.getByLabel("Text").fill("The key is in the vault.");
  await page.getByLabel("Cues").fill("somebody looks for the key\nthe vault is full");
  await button("Save").click();
  await expect.poll(title).toBe("written here");
  expect(world.read("project_written_here.md")).toContain("the vault is full");
  await message(/written_here/)
    .getByRole("button", { name: "Undo" })
    .click();
  await expect.poll(() => world.exists("project_written_here.md")).toBe(false);
});

it("inbox: accepts, accepts with changes, rejects; by mouse and by key", async () => {
  await ui.show("inbox");
  const card = (name: string) => ui.page.locator(".proposal", { hasText: name });
  await card("cart expiry").getByRole("button", { name: "Edit first" }).click();
  expect(await checkAccess(ui.page)).toEqual([]);
  await card("cart expiry").getByLabel("Text").fill("Carts are emptied after SIXTY days.");
  await card("cart expiry").getByRole("button", { name: "Accept with changes" }).click();
  await expect.poll(() => card("cart expiry").count()).toBe(0);
  expect(world.read("project_cart_expiry.md")).toContain("SIXTY");
  await card("holiday hours").getByRole("button", { name: "Reject" }).click();
  await ui.page.getByRole("dialog").getByRole("button", { name: "Reject" }).click();
  await expect.poll(() => card("holiday hours").count()).toBe(0);
  expect(world.files().some((file) => file.includes("holiday"))).toBe(false);
  await card("rollback").focus();
  await ui.page.keyboard.press("a");
  await ui.page.getByText("The inbox is empty").waitFor();
  expect(world.read("project_rollback.md")).toContain("tells #releases");
  await message(/rollback/)
    .getByRole("button", { name: "Undo" })
    .click();
  await expect.poll(() => world.read("project_rollback.md")).not.toContain("tells #releases");
});

it("dream: a plan is made, shown, applied as one change and taken back", async () => {
  const before = memories();
  await ui.show("dream");
  await button("Make a plan").click();
  await ui.page.getByRole("heading", { name: "The plan" }).waitFor();
  expect(await ui.page.getByRole("region", { name: "The plan" }).textContent()).toContain("job retries of the queue");
  expect(memories()).toEqual(before);
  await button("Apply the plan").click();
  await ui.page.getByText("No plan is waiting").waitFor();
  expect(memories().length).toBeLessThan(before.length);
  await message(/merged/)
    .getByRole("button", { name: "Undo" })
    .click();
  await expect.poll(memories).toEqual(before);
});

it("map: near-duplicates are merged from there", async () => {
  const before = memories();
  await ui.show("map");
  await ui.page
    .getByRole("button", { name: /^Merge .*(queue retries.*job retries|job retries.*queue retries)/ })
    .click();
  const dialog = ui.page.getByRole("dialog");
  await dialog.getByLabel("Merged text").waitFor();
  expect(await checkAccess(ui.page)).toEqual([]);
  const text = await dialog.getByLabel("Merged text").inputValue();
  await dialog.getByLabel("Merged text").fill(`${text}\nMerged by hand.\n`);
  await dialog.getByRole("button", { name: "Merge", exact: true }).click();
  await expect.poll(() => dialog.count()).toBe(0);
  expect(memories().length).toBe(before.length - 1);
  expect(world.grep("Merged by hand.").some((file) => file.endsWith("retries.md") || file.endsWith("queue.md"))).toBe(
    true,
  );
  await message(/merge/i).getByRole("button", { name: "Undo" }).click();
  await expect.poll(memories).toEqual(before);
});

it("team: a conflict is settled by keeping theirs", async () => {
  await ui.show("team");
  await ui.page.getByRole("button", { name: /^Keep theirs/ }).click();
  await ui.page.getByText("No conflicts.").waitFor();
  expect(world.read("project_rate_limits.md")).toContain("A hundred requests");
  expect(world.files().some((file) => file.includes("conflict"))).toBe(false);
});

function memories(): [string, string][] {
  return world
    .files()
    .flatMap((file) => (file.endsWith(".md") && file !== "MEMORY.md" ? [[file, world.read(file)]] : []));
}

/** As the page itself would ask. */
async function put(file: string, base: string, text: string): Promise<{ status: number; text: string }> {
  return ui.page.evaluate(
    async (body) => {
      const headers = { "content-type": "application/json", "x-memdir": "1" };
      const answer = await fetch("/api/memory", { method: "PUT", headers, body: JSON.stringify(body) });
      return { status: answer.status, text: await answer.text() };
    },
    { directory: 0, file, base, text },
  );
}
