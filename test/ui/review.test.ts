import fs from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { planSeen } from "../../src/learn/dream.ts";
import { openLearning } from "../../src/open-learn.ts";
import { DAY, type World } from "../world.ts";
import { checkAccess, closeAll, openUi, overflow, type Ui } from "./browser.ts";
import { makeShop } from "./shop.ts";

// A world, a server and a browser for each of them, and dozens of keys.
vi.setConfig({ testTimeout: 120_000 });

let world: World;
let ui: Ui;

/** The shop with a path that moved, a memory without cues, two that say nearly the same, and a dream's plan. */
async function makeWaiting(): Promise<World> {
  const made = await makeShop();
  const now = Date.now();
  const put = (file: string, text: string) => fs.writeFileSync(path.join(made.project, file), text);
  put("src/old-auth.ts", "export function login() {\n  return 'the session of a user';\n}\n");
  made.git("add", ".");
  made.now = new Date(now - 30 * DAY);
  made.git("commit", "-qm", "auth");
  made.now = new Date(now - 20 * DAY);
  const memdir = await made.open({ by: "cli" });
  const save = (name: string, body: string, when: string[]) =>
    memdir.save({ name, type: "project", description: `about ${name}`, body, when });
  const why = "**Why:** two places made two cookies.\n**How to apply:** ask for a session there.";
  await save("sessions", `Sessions are made in \`src/old-auth.ts\` alone.\n\n${why}`, ["a session"]);
  await save("kafka", "Kafka partitions rebalance whenever consumers restart during a deploy: a minute.", ["a deploy"]);
  made.now = new Date(now - DAY);
  made.git("mv", "src/old-auth.ts", "src/auth.ts");
  made.git("commit", "-qm", "moved");
  made.now = new Date(now);
  await memdir.verify();
  await planSeen(openLearning(memdir), null);
  await save("kafka lag", "Kafka partitions rebalance whenever consumers restart during a deploy: two minutes.", [
    "lag",
  ]);
  return made;
}

const press = async (...keys: string[]) => {
  for (const key of keys) await ui.page.keyboard.press(key);
};
const rows = () => ui.page.locator(".review-row");
const row = (name: string) => ui.page.locator(".review-row", { hasText: name });
const item = () => ui.page.locator(".review-item");
const heading = () => item().locator(".item-title").textContent();
const message = (text: string | RegExp) => ui.page.locator(".message", { hasText: text }).last();

/** With keys only. */
async function reach(title: string): Promise<void> {
  const titles = () => rows().locator(".row-title").allTextContents();
  await expect.poll(titles).toContain(title);
  const [all, current] = [await titles(), await ui.page.locator(".review-row.is-current .row-title").textContent()];
  const by = all.indexOf(title) - all.indexOf(current ?? "");
  for (let nth = 0; nth < Math.abs(by); nth++) await press(by > 0 ? "j" : "k");
  await expect.poll(heading).toBe(title);
}

async function open(kind?: string): Promise<void> {
  await ui.show("review", kind === undefined ? {} : { kind });
  await item().locator(".item-title").waitFor({ state: "attached" });
}

beforeEach(async () => {
  world = await makeWaiting();
  ui = await openUi(world);
});
afterEach(async () => {
  expect(ui.faults(/status of 404/)).toEqual([]);
  await closeAll();
});
afterAll(closeAll);

describe("with keys only", () => {
  it("accepts, skips and edits proposals; each leaves at once and comes back with u", async () => {
    await open("proposal");
    await reach("cart expiry");
    await press("a");
    // Before the server has answered.
    expect(await row("cart expiry").count()).toBe(0);
    await message("Accepted cart expiry").waitFor();
    await expect.poll(() => world.read("project_cart_expiry.md")).toContain("thirty days");
    await press("u");
    await row("cart expiry").waitFor();
    await expect.poll(() => world.exists("project_cart_expiry.md")).toBe(false);
    await reach("holiday hours");
    await press("s");
    await message("Skipped holiday hours").waitFor();
    await press("u");
    await row("holiday hours").waitFor();
    await reach("cart expiry");
    await press("e");
    await ui.page.getByLabel("Name").waitFor();
    await press("Tab", "Tab", "Tab");
    await press("Control+a");
    await ui.page.keyboard.type("Carts are emptied after SIXTY days.");
    await press("Control+Enter");
    await message("Accepted cart expiry").waitFor();
    await expect.poll(() => world.read("project_cart_expiry.md")).toContain("SIXTY");
  });

  it("an update is shown word by word, with its reason and the conversation", async () => {
    await open("proposal");
    await reach("rollback");
    await item().locator("ins").first().waitFor();
    expect(await item().locator("del").first().textContent()).not.toBe("");
    expect(await item().textContent()).toContain("the user mentioned a decision");
    expect(await item().getByRole("link", { name: "the conversation" }).getAttribute("href")).toContain("session=s1");
    await press("Enter");
    await expect.poll(() => ui.page.locator("h1").textContent()).toBe("rollback");
  });

  it("a step of a dream is skipped or accepted by itself, and undone", async () => {
    const before = memories();
    await open("dream");
    const count = await rows().count();
    await press("s");
    await expect.poll(() => rows().count()).toBe(count - 1);
    await press("u");
    await expect.poll(() => rows().count()).toBe(count);
    await reach("queue retries");
    await press("a");
    await message("Accepted queue retries").waitFor();
    await expect.poll(() => memories().length).toBe(before.length - 1);
    await press("u");
    await expect.poll(memories).toEqual(before);
    await row("queue retries").waitFor();
  });

  it("fixes a path, says that a memory is still true, forgets and pins", async () => {
    await open("finding");
    await reach("sessions");
    await expect.poll(() => item().locator("del").first().textContent()).toContain("old-");
    await press("f");
    await message("Fixed sessions").waitFor();
    await expect.poll(() => world.read("project_sessions.md")).toContain("`src/auth.ts`");
    await press("u");
    await row("sessions").waitFor();
    await expect.poll(() => world.read("project_sessions.md")).toContain("`src/old-auth.ts`");
    await reach("sessions");
    await press("p");
    await message("Pinned sessions").waitFor();
    await expect.poll(() => world.read("project_sessions.md")).toContain("pinned: true");
    await reach("sessions");
    await press("t");
    await message("Confirmed sessions").waitFor();
    await expect.poll(() => world.read("project_sessions.md")).toContain("still true");
    await reach("old admin panel");
    await press("d");
    await message("Forgot old admin panel").waitFor();
    await expect.poll(() => world.exists("project_old_admin_panel.md")).toBe(false);
    await press("u");
    await expect.poll(() => world.exists("project_old_admin_panel.md")).toBe(true);
    await row("old admin panel").waitFor();
  });

  it("merges a conflict by parts: theirs here, ours there", async () => {
    await open("conflict");
    await reach("rate limits");
    const choices = item().getByRole("group");
    await choices.first().waitFor();
    expect(await choices.count()).toBe(2);
    await choices.last().getByRole("radio", { name: "Theirs" }).focus();
    await press("Space");
    await press("m");
    await message("Merged rate limits").waitFor();
    await expect.poll(() => world.files().some((file) => file.includes("conflict"))).toBe(false);
    const text = world.read("project_rate_limits.md");
    expect(text).toContain("Sixty requests");
    expect(text).toContain("in the cache; when");
    await press("u");
    await expect.poll(() => world.files().some((file) => file.includes("conflict"))).toBe(true);
    await row("rate limits").waitFor();
  });

  it("merges two that say nearly the same", async () => {
    const before = memories();
    await open("duplicate");
    await item().getByRole("group").first().waitFor();
    await press("a");
    await message("Merged kafka").waitFor();
    await expect.poll(() => memories().length).toBe(before.length - 1);
    await press("u");
    await expect.poll(memories).toEqual(before);
  });

  it("adds a cue, and shares a memory with the team", async () => {
    await open("cues");
    const name = (await heading()) ?? "";
    await press("c");
    await ui.page.keyboard.type("somebody asks a question");
    await press("Enter");
    await message(`Added a cue to ${name}`).waitFor();
    // In the memory itself: before that, the text is written aside.
    await expect.poll(() => memories().flat().join("\n")).toContain("somebody asks a question");
    await expect.poll(() => row(name).count()).toBe(0);
    while (!(await item().getByRole("button", { name: "Share" }).count())) await press("j");
    const shared = (await heading()) ?? "";
    const before = memories();
    await press("h");
    await message(`Shared ${shared}`).waitFor();
    await expect.poll(() => memories().length).toBe(before.length - 1);
    await press("u");
    await expect.poll(memories).toEqual(before);
  });

  it("several at once: x picks, one key decides, one undo brings all back", async () => {
    await open("proposal");
    expect(await rows().count()).toBe(3);
    await press("x", "j", "x", "s");
    await expect.poll(() => rows().count()).toBe(1);
    await message("Skipped 2 items").waitFor();
    await press("u");
    await expect.poll(() => rows().count()).toBe(3);
    await press("X");
    await ui.page.getByText("3 selected").waitFor();
    await press("Escape");
    expect(await ui.page.getByText("3 selected").count()).toBe(0);
  });
});

it("what fails comes back and says why", async () => {
  await open("proposal");
  await reach("cart expiry");
  await ui.page.route("**/api/review/accept", (route) =>
    route.fulfill({ status: 404, json: { problem: "not-found", message: "It is gone." } }),
  );
  await press("a");
  await message("It is gone.").waitFor();
  await row("cart expiry").waitFor();
  await ui.page.unroute("**/api/review/accept");
});

it("nothing sends a person to a terminal", async () => {
  await open();
  expect(await ui.page.locator("main").textContent()).not.toMatch(/terminal|`memdir /);
});

const VIEWS = [
  ["memory", { directory: 0, file: "project_sessions.md" }],
  ["memory", { directory: 0, file: "project_deploy_to_staging.md" }],
  ["edit", { directory: 0, file: "project_sessions.md" }],
  ["new", {}],
  ["recall", { q: "how do we deploy to staging" }],
  ["recall", { tab: "context" }],
] as [string, Record<string, string | number>][];

for (const colorScheme of ["light", "dark"] as const) {
  it(`is accessible and fits at 1440, 800 and 400 pixels, ${colorScheme}`, async () => {
    await ui.page.emulateMedia({ colorScheme });
    const found: string[] = [];
    const look = async (what: string) => {
      const wide = await overflow(ui.page);
      const problems = [...(await checkAccess(ui.page)), ...(wide === 0 ? [] : [`${wide} pixels too wide`])];
      found.push(...problems.map((problem) => `${what}: ${problem}`));
    };
    for (const width of [1440, 800, 400]) {
      await ui.page.setViewportSize({ width, height: 900 });
      for (const kind of ["conflict", "proposal", "dream", "finding", "duplicate", "cues"]) {
        await open(kind);
        await look(`${kind} at ${width}`);
        if (width > 900) continue;
        await press("j", "k");
        await item().locator(".verbs").waitFor();
        await look(`an item of ${kind} at ${width}`);
      }
      for (const [view, query] of VIEWS) {
        await ui.show(view, query);
        if (view === "edit") await ui.page.locator(".cm-content").waitFor();
        await look(`${view} at ${width}`);
      }
    }
    expect(found).toEqual([]);
  }, 240_000);
}

it("a memory shows its lines as written, what Why and How to apply are, and the verb for what is wrong", async () => {
  await ui.show("memory", { directory: 0, file: "project_sessions.md" });
  const labels = ui.page.locator(".labelled > strong");
  await expect.poll(() => labels.allTextContents()).toEqual(["Why", "How to apply"]);
  await ui.page.getByRole("button", { name: "Fix the path" }).click();
  await message("Fixed sessions").waitFor();
  await expect.poll(() => world.read("project_sessions.md")).toContain("`src/auth.ts`");
  await expect.poll(() => ui.page.getByRole("region", { name: "Out of date" }).count()).toBe(0);
});

it("recall says in words why, on a scale from 0 to 1", async () => {
  await ui.show("recall", { q: "how do we deploy to staging" });
  const shown = ui.page.getByRole("region", { name: "Shown to the model" });
  await expect.poll(() => shown.textContent()).toContain("It contains deploy, staging.");
  const numbers = await ui.page.locator(".confidence").allTextContents();
  expect(numbers.every((number) => Number(number) >= 0 && Number(number) <= 1)).toBe(true);
  await ui.page.getByRole("link", { name: "At the start" }).click();
  await ui.page.getByRole("link", { name: "deploy to staging" }).first().waitFor();
});

function memories(): [string, string][] {
  return world
    .files()
    .flatMap((file) => (file.endsWith(".md") && file !== "MEMORY.md" ? [[file, world.read(file)]] : []));
}
