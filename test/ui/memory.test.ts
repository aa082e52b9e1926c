import { expect, it } from "vitest";
import { openForAll, ui, world } from "./browser.ts";
import { makeShop } from "./shop.ts";

openForAll(makeShop);

const title = () => ui.page.locator("h1").textContent();

it("one memory: cues, links both ways that lead on, what it names, and where it was shown", async () => {
  const { page } = ui;
  await ui.show("memory", { directory: 0, file: "project_deploy_to_staging.md" });
  const side = page.getByRole("complementary", { name: "About this memory" });
  await side.getByText("somebody wants to see a branch", { exact: true }).waitFor();
  expect(await side.getByRole("link").allTextContents()).toEqual(expect.arrayContaining(["release train", "rollback"]));
  await page.getByRole("region", { name: "What it names" }).getByText("scripts/deploy.ts").waitFor();
  const shown = page.getByRole("region", { name: "Shown to a model" });
  expect(await shown.getByRole("link", { name: "conversation" }).first().getAttribute("href")).toContain("session=");
  // Nothing is told twice.
  const about = await page.getByRole("region", { name: "About", exact: true }).textContent();
  expect(about).not.toMatch(/How a branch|somebody wants to see a branch/);
  await page.getByRole("article").getByRole("link", { name: "rollback" }).click();
  await expect.poll(title).toBe("rollback");
  await page.goBack();
  await expect.poll(title).toBe("deploy to staging");
});

it("recall: what would be shown, why, the exact text beside it; a deep link counts while the view is open", async () => {
  const { page } = ui;
  await ui.show("recall");
  await page.getByLabel("Prompt").pressSequentially("how do we deploy to staging?", { delay: 5 });
  await expect.poll(() => page.locator(".hit").first().textContent()).toContain("deploy to staging");
  const text = () => page.getByLabel("The text that is sent").first().textContent();
  expect(await text()).toContain(world.read("project_deploy_to_staging.md").trim().split("\n").at(-1));
  await page.getByLabel("as asked by").selectOption("library");
  await expect.poll(() => page.url()).toContain("adapter=library");
  await ui.show("recall", { q: "where do we go back to the last release" });
  await expect.poll(() => page.getByLabel("Prompt").inputValue()).toContain("go back");
  await page.getByLabel("Prompt").fill("zebra");
  await page.getByText("Nothing is shown").waitFor();
});

it("context: why a file is loaded or not, and what a file adds", async () => {
  const { page } = ui;
  await ui.show("recall", { tab: "context" });
  await page.getByRole("region", { name: "Not loaded" }).getByText("billing.md").waitFor();
  await page.getByLabel(/When an agent reads/).fill("src/billing/number.ts");
  const touched = page.getByRole("region", { name: "What a file adds" });
  await touched.getByText("adds 1 file").waitFor();
  await touched.locator("summary").click();
  await touched.getByText("Amounts are whole cents.").waitFor();
  await page.getByLabel(/When an agent reads/).fill("README.md");
  await touched.getByText("adds nothing").waitFor();
});
