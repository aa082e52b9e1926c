import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import type { Job } from "../../src/web/api.ts";
import { makeWorld, note } from "../world.ts";
import { checkAccess, openForAll, openUi, overflow, PHONE, settle, type Ui, ui, VIEWS, world } from "./browser.ts";
import { formatMemory, makeShop } from "./shop.ts";

openForAll(makeShop, { expected: /status of 40[39]/, isRenewed: true });

it("what is written, changed and removed on disk appears without a reload", async () => {
  const { page } = ui;
  await page.evaluate(() => Object.assign(window, { isSame: true }));
  await ui.show("memories", { q: "lighthouse" });
  await page.getByText("Nothing matches").waitFor();
  const text = formatMemory(
    { name: "lighthouse", description: "it shines", type: "project", body: "Light." },
    new Date(),
  );
  world.write("project_lighthouse.md", text);
  const entry = page.locator(".entry", { hasText: "lighthouse" });
  await entry.waitFor();
  await entry.getByRole("link").click();
  await page.getByRole("article").getByText("Light.").waitFor();
  world.write("project_lighthouse.md", text.replace("Light.", "Darkness."));
  await page.getByRole("article").getByText("Darkness.").waitFor();
  fs.rmSync(world.path("project_lighthouse.md"));
  await page.getByText("no longer exists").waitFor();
  expect(await page.evaluate(() => "isSame" in window)).toBe(true);
  // The memory that is not there is asked for again with every change: no view does that any more.
  await ui.show("home");
  ui.faults(/404/);
});

it("what another program does appears as well, in every view that tells of it", async () => {
  const { page } = ui;
  await ui.show("activity");
  const memdir = await world.open({ by: "cli" });
  await memdir.save(note("made elsewhere", { type: "project", reason: "told by a test" }));
  await page.locator(".event", { hasText: "told by a test" }).waitFor();
  const memories = [{ file: "project_rollback.md", scope: "project", why: ["words: back"] }];
  const [before] = (await page.getByRole("button", { name: /^Recalls/ }).textContent())?.match(/\d+/) ?? [];
  logSurfaced(world.dir, { at: new Date(), session: "live", door: "hook", prompt: "back?", memories });
  await expect
    .poll(async () => (await page.getByRole("button", { name: /^Recalls/ }).textContent())?.match(/\d+/)?.[0])
    .toBe(String(Number(before) + 1));
  const file = path.join(world.project, ".claude", "memory", "told.md");
  await ui.show("memories", { q: "told to all" });
  fs.writeFileSync(
    file,
    formatMemory({ name: "told to all", description: "d", type: "project", body: "b" }, new Date()),
  );
  await page.locator(".entry", { hasText: "told to all" }).waitFor();
});

/** Four thousand files are looked through, twice. */
const LONG_MS = 120_000;

it("verify tells how far it is, can be stopped, and runs again to its end", { timeout: LONG_MS }, async () => {
  const many = makeWorld();
  many.git("init", "-q");
  // What is counted are the files of the project that are looked through for the words.
  for (let i = 0; i < 4_000; i++) {
    const file = path.join(many.project, `part${i % 40}`, `file${i}.ts`);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, `export const value${i} = ${i};\n`.repeat(400));
  }
  const body = Array.from({ length: 200 }, (_, at) => `\`value${at}()\` is in \`part${at % 40}/file${at}.ts\``).join(
    "\n",
  );
  for (let i = 0; i < 20; i++)
    many.write(
      `project_${i}.md`,
      formatMemory({ name: `many ${i}`, description: "d", type: "project", body }, many.now),
    );
  const own = await openUi(many);
  const tray = own.page.getByRole("region", { name: "Jobs" });
  const seen = await watchJobs(own);
  await own.page.evaluate(stopOnProgress);
  await own.page.getByRole("button", { name: "Check all claims" }).click();
  await tray.getByText("stopped", { exact: true }).waitFor({ timeout: LONG_MS / 2 });
  expect((await seen()).some(({ done, total }) => done > 0 && done < total)).toBe(true);
  await own.page.reload();
  await settle(own.page);
  const seenAgain = await watchJobs(own);
  const again = (await ask("POST", "/api/jobs", { kind: "verify" }, own)) as Job;
  expect(await ask("POST", "/api/jobs", { kind: "verify" }, own)).toMatchObject({ problem: "conflict" });
  await tray.getByRole("progressbar").waitFor();
  expect(await checkAccess(own.page)).toEqual([]);
  await expect
    .poll(async () => (await seenAgain()).findLast(({ id }) => id === again.id)?.state, { timeout: LONG_MS / 2 })
    .toBe("done");
  await tray.getByText(/[\d,]+ memories checked/).waitFor();
  expect(own.faults(/status of 409/)).toEqual([]);
  await own.close();
});

it("a server that ended is said so, and one that ends leaves nothing behind", async () => {
  const other = makeWorld();
  const own = await openUi(other);
  expect(await own.server.end()).toBe(0);
  await own.page.getByText("The server is not responding").first().waitFor();
  expect(fs.existsSync(other.dir)).toBe(false);
  await own.close();
});

it("an empty directory: every view says what will stand there, and how it comes there", async () => {
  const empty = makeWorld();
  const own = await openUi(empty);
  for (const view of VIEWS) {
    await own.show(view);
    for (const size of [PHONE, { width: 1280, height: 800 }]) {
      await own.page.setViewportSize(size);
      expect([view, await overflow(own.page)]).toEqual([view, 0]);
      const folder = process.env.MEMDIR_UI_PICTURES;
      if (folder) await own.page.screenshot({ path: path.join(folder, `empty-${view}-${size.width}.png`) });
    }
    expect([view, ...(await checkAccess(own.page))]).toEqual([view]);
    const text = (await own.page.locator("main").textContent()) ?? "";
    expect([view, text.length > 60, text.includes("Loading")]).toEqual([view, true, false]);
  }
  expect(own.faults()).toEqual([]);
  expect(fs.existsSync(empty.dir)).toBe(false);
  await own.close();
});

it("read-only: nothing that writes is shown, and the server refuses what is asked all the same", async () => {
  const own = await openUi(world, "--read-only");
  const before = world.files().map((file) => world.read(file));
  const words =
    /^(Edit|Rename|Forget|Accept|Edit first|Reject|Make a plan|Apply the plan|Merge|Keep ours|Keep theirs|Undo|Undo this change|New memory|Check|Verify|Learn from)/;
  for (const view of [...VIEWS, "memory?directory=0&file=project_rollback.md&tab=history"]) {
    await own.page.goto(`${own.server.url}/#/${view}`);
    await settle(own.page);
    await own.page.getByText("read-only").first().waitFor();
    const main = own.page.locator("main");
    expect([view, await main.getByRole("button", { name: words }).allTextContents()]).toEqual([view, []]);
    expect([view, await main.getByRole("link", { name: /^Edit$/ }).count()]).toEqual([view, 0]);
    for (const key of ["e", "u", "a", "r"]) await own.page.keyboard.press(key);
    expect(await own.page.getByRole("dialog").count()).toBe(0);
  }
  await own.show("edit", { directory: 0, file: "project_rollback.md" });
  await own.page.getByText("is read-only here").waitFor();
  const ref = { directory: 0, file: "project_rollback.md" };
  const writes: [string, string, object][] = [
    ["PUT", "/api/memory", { ...ref, base: world.read("project_rollback.md"), text: "x" }],
    ["POST", "/api/forget", ref],
    ["POST", "/api/rename", { ...ref, to: "x" }],
    ["POST", "/api/undo", {}],
    ["POST", "/api/new", { type: "project", name: "x", body: "x" }],
    ["POST", "/api/merge", { keep: ref, other: { ...ref, file: "project_migrations.md" }, text: "x" }],
    ["POST", "/api/review/accept", { id: "x" }],
    ["POST", "/api/bulk", { action: "forget", memories: ["0/project_rollback.md"] }],
    ["POST", "/api/settings", { name: "mode", value: "off" }],
    ["POST", "/api/index", { rebuild: true }],
    ["POST", "/api/jobs", { kind: "verify" }],
  ];
  for (const [method, where, body] of writes)
    expect([where, await ask(method, where, body, own)]).toMatchObject([where, { problem: "read-only" }]);
  expect(world.files().map((file) => world.read(file))).toEqual(before);
  expect(own.faults(/status of 403/)).toEqual([]);
  await own.close();
});

async function ask(method: string, where: string, body: object, by: Ui = ui): Promise<unknown> {
  const answer: unknown = await by.page.evaluate(
    async ([how, path, sent]) => {
      const headers = { "content-type": "application/json", "x-memdir": "1" };
      return (await fetch(String(path), { method: String(how), headers, body: JSON.stringify(sent) })).json();
    },
    [method, where, body],
  );
  return answer;
}

/** Presses Stop as soon as there is progress: the work is over sooner than a test's own click would come. */
function stopOnProgress(): void {
  const watching = new MutationObserver(() => {
    const tray = document.querySelector("[aria-label='Jobs']");
    if (!/\d of \d/.test(tray?.textContent ?? "")) return;
    watching.disconnect();
    tray?.querySelector<HTMLElement>("button[aria-label^='Stop']")?.click();
  });
  watching.observe(document.body, { subtree: true, childList: true, characterData: true });
}

/** Every state of every job that the page is told of from now on. */
async function watchJobs({ page }: Ui): Promise<() => Promise<Job[]>> {
  await page.evaluate(() => {
    const heard: unknown[] = [];
    Object.assign(window, { heard });
    new EventSource("/api/live").onmessage = ({ data }) => {
      const event = JSON.parse(String(data)) as { kind: string; job: unknown };
      if (event.kind === "job") heard.push(event.job);
    };
  });
  return () => page.evaluate(() => (window as unknown as { heard: Job[] }).heard);
}
