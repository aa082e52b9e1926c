/** Worlds for the page's tests: an ordinary one with something in every view, and a large and hostile one. */

import fs from "node:fs";
import path from "node:path";
import type { Memdir } from "../../src/memdir.ts";
import { openLearning } from "../../src/open-learn.ts";
import { slugOf } from "../../src/project/locate.ts";
import { logSurfaced } from "../../src/recall/surface-log.ts";
import { makeConflictCopy } from "../../src/team/merge.ts";
import { propose } from "../learn/proposals.ts";
import { DAY, HOUR, makeWorld, note, type World } from "../world.ts";
import { ORDINARY, PROJECT_FILES } from "./ordinary.ts";

export const FIRST_SESSION = "11111111-0000-4000-8000-000000000001";

/** Forty memories of all types and scopes with claims, links, history, recalls, spending, proposals, a conflict and conversations. */
export async function makeShop(): Promise<World> {
  const prices = { "anthropic/*": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } };
  const world = makeWorld({ settings: { learn: { prices } } });
  world.now = new Date();
  const now = world.now.getTime();
  writeProject(world);
  const team = path.join(world.project, ".claude", "memory");
  for (const each of ORDINARY.toSorted((a, b) => b.ageDays - a.ageDays)) {
    world.now = new Date(now - each.ageDays * DAY - HOUR);
    const { scope, ageDays: _, ...request } = each;
    if (scope !== "team") await (await world.open({ scope, by: "cli" })).save(request);
    else write(path.join(team, `${each.name.replaceAll(" ", "-")}.md`), formatMemory(each, world.now));
  }
  commitTeam(world);
  world.now = new Date(now - 3 * HOUR);
  const memdir = await world.open({ by: "agent" });
  await memdir.save({
    ...note("feature flags", { type: "project" }),
    description: "Flags live in the database and are read once a minute",
    body: "Flags are read by `src/flags.ts` once a minute. A flag that is on everywhere for a month is taken out.\n\nThe list is in the table `flags`.",
    when: ["a feature is switched on"],
    reason: "the table was asked for",
  });
  for (let day = 59; day >= 0; day--) recallSome(world, new Date(now - day * DAY - 2 * HOUR), day);
  await verifyAndConflict(world, memdir);
  await fillLearning(memdir, now);
  putSessions(world, now);
  world.now = new Date(now);
  return world;
}

function writeProject(world: World): void {
  for (const file of PROJECT_FILES)
    write(path.join(world.project, file), file.endsWith(".json") ? "{}\n" : "export const made = true;\n");
  write(
    path.join(world.project, "package.json"),
    JSON.stringify({ name: "shop", scripts: { "deploy:staging": "node scripts/deploy.ts" } }),
  );
  write(path.join(world.project, "CLAUDE.md"), "# The shop\n\nUse named exports. Run `npm test` before a commit.\n");
  write(path.join(world.project, "src", "server", "CLAUDE.md"), "Routes answer JSON and nothing else.\n");
  write(
    path.join(world.project, ".claude", "rules", "billing.md"),
    "---\npaths: src/billing/**\n---\n\nAmounts are whole cents.\n",
  );
  write(path.join(world.home, ".claude", "CLAUDE.md"), "Answer in short sentences.\n");
}

/** With a file that a memory names and that is gone since. */
function commitTeam(world: World): void {
  write(path.join(world.project, "src", "admin", "legacy.ts"), "export const old = true;\n");
  world.git("init", "-q");
  world.git("add", ".");
  world.git("commit", "-qm", "what we agreed on");
  world.git("rm", "-q", "src/admin/legacy.ts");
  world.git("commit", "-qm", "the old panel goes");
}

function recallSome(world: World, at: Date, day: number): void {
  const shown = [
    "project_deploy_to_staging.md",
    "project_rollback.md",
    "feedback_no_default_exports.md",
    "project_queue_retries.md",
  ];
  const memories = shown
    .filter((_, place) => day % (place + 1) === 0)
    .map((file) => ({ file, scope: "project", why: ["words: deploy, staging", "cue: a release is near"] }));
  logSurfaced(world.dir, {
    at,
    session: FIRST_SESSION,
    door: day % 3 === 0 ? "mcp" : "hook",
    prompt: `p${day}`,
    memories,
  });
}

async function verifyAndConflict(world: World, memdir: Memdir): Promise<void> {
  await memdir.verify();
  const text = world.read("project_rate_limits.md");
  const theirs = makeConflictCopy(
    "project_rate_limits.md",
    text.replace("Sixty requests", "A hundred requests").replace("in memory, so", "in the cache; when"),
  );
  world.write(theirs.path, theirs.text);
}

async function fillLearning(memdir: Memdir, now: number): Promise<void> {
  const { ledger, inbox } = openLearning(memdir);
  const kinds = ["extraction", "extraction", "notes", "dream"] as const;
  for (let day = 40; day >= 0; day--) {
    const usage = { input: 4_000 + 900 * (day % 7), output: 300 + 40 * (day % 5), cacheRead: 12_000, cacheWrite: 500 };
    const kind = kinds[day % kinds.length] ?? "notes";
    const at = new Date(now - day * DAY - HOUR).toISOString();
    ledger.spend({
      at,
      kind,
      session: FIRST_SESSION,
      model: "anthropic/claude-sonnet-4-5",
      usage,
      produced: "1 saved",
      skipped: null,
    });
  }
  const at = new Date(now - 5 * HOUR).toISOString();
  await inbox.add(
    propose({
      at,
      name: "cart expiry",
      description: "A cart is kept for thirty days",
      body: "Carts are emptied thirty days after the last change.",
      when: ["somebody asks where a cart went"],
    }),
  );
  await inbox.add(
    propose({
      at,
      name: "rollback",
      type: "project",
      file: "project_rollback.md",
      action: "update",
      description: "Going back to the release before, within two minutes",
      body: "`npm run rollback` puts the release before back and tells #releases.",
    }),
  );
  await inbox.add(
    propose({
      at,
      name: "holiday hours",
      description: "Support is closed between the years",
      body: "From December 24 to January 1 nobody answers.",
      when: [],
    }),
  );
}

function putSessions(world: World, now: number): void {
  putSession(world, FIRST_SESSION, new Date(now - 26 * HOUR), [
    "Why does the checkout time out on staging?",
    "The pool of connections is full: each request opens two. I changed it to one, and the timeouts are gone.",
    "Good. Remember that for the next time.",
    "I saved it as a memory of the project.",
  ]);
  for (let i = 2; i < 8; i++)
    putSession(world, `${String(i).repeat(8)}-0000-4000-8000-00000000000${i}`, new Date(now - i * 30 * HOUR), [
      `Look at ticket ${i * 137} about invoices`,
      `Ticket ${i * 137} was a missing number. It is mended.`,
    ]);
}

export function putSession(world: World, id: string, at: Date, said: string[]): void {
  const lines = said.map((text, place) => ({
    type: place % 2 === 0 ? "user" : "assistant",
    uuid: `${id}-${place}`,
    parentUuid: place === 0 ? null : `${id}-${place - 1}`,
    cwd: world.project,
    timestamp: new Date(at.getTime() + place * 60_000).toISOString(),
    message:
      place % 2 === 0
        ? { role: "user", content: text }
        : { id: `m${place}`, role: "assistant", content: [{ type: "text", text }] },
  }));
  const file = path.join(world.home, ".claude", "projects", slugOf(world.project), `${id}.jsonl`);
  write(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Sets a flag in the window wherever one of its texts is taken for markup. */
export const ATTACKS = {
  name: `<img src=x onerror="window.pwned='name'"><script>window.pwned='name'</script>`,
  description: `"><svg onload="window.pwned='description'"></svg>`,
  cue: `<iframe srcdoc="<script>parent.pwned='cue'</script>"></iframe>`,
  body: `<script>window.pwned='body'</script>\n\n<img src=x onerror="window.pwned='image'">\n\n[a link](javascript:window.pwned='link') and [another](data:text/html,<script>opener.pwned='data'</script>) and [vb](vbscript:x)\n\n![picture](https://elsewhere.invalid/p.png) ![x](javascript:pwned=1)\n\n<a href="javascript:window.pwned='html'" onclick="window.pwned='click'">html</a>\n\n<javascript:window.pwned=1>\n\n<style>body{display:none}</style>\n\n[[${"<b onmouseover=window.pwned=1>x</b>"}]]\n\n\`\`\`html\n</code></pre><script>window.pwned='code'</script>\n\`\`\``,
  file: "project_<img src=x onerror=window.pwned=1>.md",
} as const;

export const LONG_NAME = "supercalifragilisticexpialidocious".repeat(9).slice(0, 300);

/** Five hundred memories: scripts that read the other way, wide ones, very long names, and text that would like to be a program. */
export function makeCrowd(): World {
  const world = makeWorld();
  world.now = new Date();
  const kinds = ["user", "feedback", "project", "reference"] as const;
  const words = [
    "قاعدة البيانات يجب أن تبقى فارغة",
    "כל הבדיקות רצות לפני המיזוג",
    "記憶の地図を更新する手順について",
    "배포하기 전에 확인할 것",
    "🚀🧠 emoji 👩‍👩‍👧‍👦 everywhere",
    "ordinary words about the build",
  ];
  for (let i = 0; i < 490; i++) {
    const type = kinds[i % kinds.length] ?? "user";
    const word = words[i % words.length] ?? "";
    world.write(
      `${type}_memory_${i}.md`,
      formatMemory(
        {
          name: `${word} ${i}`,
          description: `${word}, number ${i}`,
          type,
          body: `${word}\n\n- ${i}\n- ${word}`,
          when: [`${word} ?`],
        },
        new Date(world.now.getTime() - i * HOUR),
      ),
    );
  }
  world.write(
    "project_long.md",
    formatMemory(
      {
        name: LONG_NAME,
        description: LONG_NAME.repeat(2),
        type: "project",
        body: `${LONG_NAME}\n\n| ${LONG_NAME} | b |\n| --- | --- |\n| 1 | ${LONG_NAME} |\n\n\`\`\`\n${LONG_NAME.repeat(3)}\n\`\`\``,
      },
      world.now,
    ),
  );
  world.write("project_hostile.md", formatMemory({ ...ATTACKS, type: "project", when: [ATTACKS.cue] }, world.now));
  world.write(
    ATTACKS.file,
    formatMemory({ name: "named by its file", description: "d", type: "project", body: "b" }, world.now),
  );
  world.write(
    "project_override.md",
    formatMemory(
      {
        name: "\u202egnp.live\u202c",
        description: "\u2066turned\u2069 around \u202eabc",
        type: "project",
        body: "\u202eturned",
      },
      world.now,
    ),
  );
  world.write(
    "project_marks.md",
    formatMemory({ name: "Z̷̢͝a̸̛l̶g̵o̶ ".repeat(4), description: "marks on marks", type: "project", body: "x" }, world.now),
  );
  world.write("broken.md", "no frontmatter <script>window.pwned='broken'</script>\n");
  write(path.join(world.project, "CLAUDE.md"), "<script>window.pwned='instructions'</script>\n");
  putSession(world, FIRST_SESSION, world.now, [
    `<script>window.pwned='session'</script> needle`,
    `<img src=x onerror=window.pwned=1> needle`,
  ]);
  return world;
}

interface Written {
  name: string;
  description: string;
  type: string;
  body: string;
  when?: string[];
}

/** As a person would write it: the writer of memories would clean what a test wants to see. */
export function formatMemory({ name, description, type, body, when = [] }: Written, modified: Date): string {
  const cues = when.length === 0 ? [] : ["when:", ...when.map((cue) => `  - ${JSON.stringify(cue)}`)];
  const head = [`name: ${JSON.stringify(name)}`, `description: ${JSON.stringify(description)}`, `type: ${type}`];
  return ["---", ...head, `modified: ${modified.toISOString()}`, ...cues, "---", "", body, ""].join("\n");
}

function write(file: string, text: string): void {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}
