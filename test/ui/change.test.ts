import fs from "node:fs";
import { expect, it } from "vitest";
import { checkAccess, openForAll, settle, ui, world } from "./browser.ts";
import { makeShop } from "./shop.ts";

openForAll(makeShop, { expected: /status of 4(00|04|09)/, isRenewed: true });

const title = () => ui.page.locator("h1").textContent();
const button = (name: string | RegExp) => ui.page.getByRole("button", { name, exact: true });
const field = () => ui.page.getByLabel("The whole file");
const message = (text: string | RegExp) => ui.page.locator(".message", { hasText: text }).last();

async function edit(file: string, change: (text: string) => string): Promise<string> {
  await ui.show("edit", { directory: 0, file });
  await type(change(await typed()));
  return world.read(file);
}

/** The whole text, as the editor has it. */
function typed(): Promise<string> {
  return field().evaluate((element) => {
    if (element instanceof HTMLTextAreaElement) return element.value;
    return [...element.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\n");
  });
}

async function type(text: string): Promise<void> {
  await ui.page.locator(".cm-content").waitFor();
  await field().focus();
  await ui.page.keyboard.press("Control+a");
  // As a paste: what a program puts into an editable element otherwise has styles, which the page's policy refuses.
  await field().evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

it("edits with a check while one types, shows the difference, saves, and takes it back", async () => {
  const before = await edit("project_rollback.md", (text) =>
    text.replace("the release before back", "the last release back"),
  );
  expect(world.read("project_rollback.md")).toBe(before);
  await button("Changes").click();
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
  await type((await typed()).replace("type: nonsense", "type: project"));
  await expect.poll(() => ui.page.locator(".findings").textContent()).toBe("");
});

it("refuses a secret with its rule and line, and never sends it back", async () => {
  const secret = ["ghp", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"].join("_");
  const before = await edit("project_migrations.md", (text) => `${text}\nThe key is ${secret}\n`);
  const lines = (await typed()).split("\n");
  const line = 1 + lines.findIndex((text) => text.includes(secret));
  await expect.poll(() => ui.page.locator(".findings").textContent()).toMatch(new RegExp(`Line ${line} .*github`, "i"));
  expect(await ui.page.locator(".findings").textContent()).not.toContain(secret);
  expect(await checkAccess(ui.page)).toEqual([]);
  expect(await button("Save").isDisabled()).toBe(true);
  expect(await ui.page.locator(".cm-lint-marker-error").count()).toBe(1);
  // Past the page's own button the server refuses as well.
  const told = await put("project_migrations.md", before, `${before}\n${secret}\n`);
  expect([told.status, told.text.includes(secret)]).toEqual([400, false]);
  expect(world.read("project_migrations.md")).toBe(before);
  await button("Discard").click();
});

it("a file that changes meanwhile: both are shown, and nothing is written over until somebody decides", async () => {
  const file = "project_feature_flags.md";
  const before = await edit(file, (text) => text.replace("is taken out", "is MINE"));
  const theirs = before.replace("is taken out", "is THEIRS").replace("in the table", "in THEIR table");
  fs.writeFileSync(world.path(file), theirs);
  const conflict = ui.page.getByRole("region", { name: "The file changed on disk" });
  await expect.poll(() => conflict.textContent()).toContain("is THEIRS");
  expect(await typed()).toContain("is MINE");
  expect(await checkAccess(ui.page)).toEqual([]);
  expect(await button("Save").isDisabled()).toBe(true);
  expect(world.read(file)).toBe(theirs);
  await button(/^Merge mine/).click();
  // What of theirs goes stands above mine, with a button for each place.
  await expect.poll(() => ui.page.locator(".cm-deletedChunk").textContent()).toContain("is THEIRS");
  await button("Take theirs").first().waitFor();
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
  await expect.poll(typed).toContain("FIVE minutes");
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
  await expect.poll(typed).toContain("Typed and not saved.");
  await button("Discard").click();
  await expect.poll(typed).not.toContain("Typed and not saved.");
  await message("Discarded").getByRole("button", { name: "Bring back" }).click();
  await expect.poll(typed).toContain("Typed and not saved.");
  await button("Discard").click();
});

it("typing right after `e` goes into the file, and nowhere else", async () => {
  await ui.show("memory", { directory: 0, file: "project_rollback.md" });
  await ui.page.keyboard.press("e");
  await ui.page.keyboard.type("algorithm, go home: g o g h", { delay: 20 });
  await expect.poll(title).toBe("Edit rollback");
  await expect.poll(typed).toContain("home: g o g h");
  // Also what was pressed before the editor was there must not lead away.
  expect(new URL(ui.page.url()).hash).toMatch(/^#\/edit/);
  await button("Discard").click();
});

it("two brackets complete a memory's name", async () => {
  await ui.show("edit", { directory: 0, file: "project_rollback.md" });
  await ui.page.locator(".cm-content").waitFor();
  await ui.page.keyboard.press("Control+End");
  await ui.page.keyboard.type("See [[release tr");
  await ui.page.locator(".cm-tooltip-autocomplete", { hasText: "release train" }).waitFor();
  // A list that has just opened takes no Enter yet.
  await ui.page.waitForTimeout(150);
  await ui.page.keyboard.press("Enter");
  await expect.poll(typed).toContain("See [[release train]]");
  await expect.poll(() => ui.page.getByLabel("Preview").getByRole("link", { name: "release train" }).count()).toBe(1);
  await button("Discard").click();
});

it("forgets at once and brings back, also with a key, which says what it undoes", async () => {
  const file = "project_old_admin_panel.md";
  const before = world.read(file);
  await ui.show("memories");
  await ui.show("memory", { directory: 0, file });
  await button("Forget").click();
  await expect.poll(title).toBe("Memories");
  expect(world.exists(file)).toBe(false);
  await message("Forgot old admin panel").getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => world.exists(file)).toBe(true);
  expect(world.read(file)).toBe(before);
  await ui.show("memory", { directory: 0, file });
  await ui.page.keyboard.press("d");
  await expect.poll(() => world.exists(file)).toBe(false);
  await ui.page.keyboard.press("u");
  await expect.poll(() => world.exists(file)).toBe(true);
  expect(world.read(file)).toBe(before);
  await message("Undid: Forgot old admin panel").waitFor();
  expect(await ui.page.locator(".message", { hasText: /^Forgot/ }).count()).toBe(0);
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
  await expect.poll(() => world.exists("project_migrations.md")).toBe(true);
  expect(world.read("project_migrations.md")).toContain("name: migrations");
});

it("takes one change of the history back", async () => {
  await edit("project_deploy_to_staging.md", (text) => text.replace("ten minutes", "an hour"));
  await button("Save").click();
  await expect.poll(title).toBe("deploy to staging");
  const latest = ui.page.getByRole("region", { name: "History" }).locator("details").first();
  await expect.poll(() => latest.locator("summary").textContent()).toMatch(/^edit just now/);
  await latest.locator("summary").click();
  await latest.getByText("an hour").waitFor();
  await latest.getByRole("button", { name: "Undo this change" }).click();
  await expect.poll(() => world.read("project_deploy_to_staging.md")).toContain("ten minutes");
});

it("writes a new memory, refuses a secret in it, and takes it back", async () => {
  const { page } = ui;
  await ui.show("memories");
  await page.getByRole("link", { name: "New memory" }).click();
  await page.getByRole("radio", { name: /^project/ }).check();
  await page.getByLabel("Name").fill("deploy to staging");
  // Before it is written twice.
  await page.getByText("You may have this already").waitFor();
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
  await message(/written here/)
    .getByRole("button", { name: "Undo" })
    .click();
  await expect.poll(() => world.exists("project_written_here.md")).toBe(false);
});

it("a new memory can be the user's, for all projects", async () => {
  const { page } = ui;
  await ui.show("new");
  await page.getByLabel("Name").fill("tabs not spaces");
  await page.getByLabel("Kept for").selectOption("user");
  await page.getByLabel("Description").fill("in every project");
  await page.keyboard.press("Control+s");
  await message("Saved tabs not spaces").waitFor();
  expect(world.exists("feedback_tabs_not_spaces.md")).toBe(false);
});

it("a memory with a moved path is called the same in the list and on its page, after an edit too", async () => {
  const file = "project_old_admin_panel.md";
  const verdict = async () => {
    await ui.show("memories", { q: "old admin panel" });
    return ui.page.locator(".entry", { hasText: "old admin panel" }).first().textContent();
  };
  await edit(file, (text) => `${text}\nOne more line.\n`);
  await button("Save").click();
  await expect.poll(title).toBe("old admin panel");
  const shown = ui.page.getByRole("region", { name: "Out of date" });
  await expect.poll(() => shown.textContent()).toContain("src/admin/legacy.ts");
  await expect.poll(verdict).toMatch(/gone/i);
});

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
