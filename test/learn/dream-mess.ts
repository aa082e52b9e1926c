/** A directory of 120 memories as it looks after a year without tidying up: made by rule, the same every time. */

import type { World } from "../world.ts";

export function memoryText(type: string, name: string, body: string, more = ""): string {
  return `---\nname: ${name}\ndescription: about ${name}\ntype: ${type}\n${more}---\n\n${body}\n`;
}

const AREAS = ["billing", "search", "login", "export", "mail", "cache", "queue", "audit", "upload", "report"];

/** Duplicates, contradictions, stale projects, corrections, and an index with lines by hand and lines that lead nowhere. */
export function makeMess(world: World): void {
  const files: string[] = [];
  const put = (file: string, text: string) => {
    world.write(file, text, { ageMs: 100 * 24 * 3_600_000 });
    files.push(file);
  };
  for (const [i, area] of AREAS.entries()) {
    const at = (month: number) => `modified: 2025-${String(month).padStart(2, "0")}-0${(i % 9) + 1}T10:00:00.000Z\n`;
    const owner = `The ${area} module is owned by team ${area}-core and its dashboard is called ${area}-health.`;
    put(`reference_${area}_owner.md`, memoryText("reference", `${area} owner`, owner, at(3)));
    put(`reference_${area}_owner_2.md`, memoryText("reference", `${area} owner`, `${owner}\n`, at(2)));
    put(
      `project_${area}_store.md`,
      memoryText("project", `${area} store`, `The ${area} data lies in Postgres 14.`, at(1)),
    );
    put(
      `project_${area}_store_new.md`,
      memoryText("project", `${area} storage`, `The ${area} data lies in Postgres 16.`, at(6)),
    );
    put(
      `project_${area}_freeze.md`,
      memoryText("project", `${area} freeze`, `Merge freeze for ${area} until 2025-0${(i % 9) + 1}-20.`, at(1)),
    );
    put(
      `project_${area}_since.md`,
      memoryText("project", `${area} flags`, `Feature flags for ${area} are in use since 2025-02-10.`, at(2)),
    );
    put(
      `feedback_${area}.md`,
      memoryText(
        "feedback",
        `${area} rule`,
        `Never change ${area} without a migration note.\n\n**Why:** it broke twice.`,
        at(4),
      ),
    );
    put(
      `feedback_${area}_again.md`,
      memoryText(
        "feedback",
        `${area} rule again`,
        `Never change ${area} without a migration note.\n\n**Why:** it broke.`,
        at(5),
      ),
    );
    put(
      `user_${area}.md`,
      memoryText(
        "user",
        `knows ${area}`,
        `Has worked on ${area} for ${i + 2} years.`,
        `${at(3)}${i === 0 ? "pinned: true\n" : ""}`,
      ),
    );
    put(
      `topics/${area}.md`,
      memoryText(
        "reference",
        `${area} topics`,
        `Notes about ${area} are kept in the wiki under ${area}/overview.`,
        at(7),
      ),
    );
    put(
      `reference_${area}_board.md`,
      memoryText("reference", `${area} board`, `Tickets: tracker.invalid/${area}`, `${at(8)}source: document\n`),
    );
    put(
      `project_${area}_plan.md`,
      memoryText(
        "project",
        `${area} plan`,
        `Goal for ${area}: halve the latency.`,
        `${at(9)}source: inferred session=s${i}\n`,
      ),
    );
  }
  const own = files.map((file, i) => {
    const name = /name: (.*)/.exec(world.read(file))?.[1];
    return i % 12 === 4 ? `- [Freeze!](${file}) read this before merging\n` : `- [${name}](${file}) — about ${name}\n`;
  });
  world.write(
    "MEMORY.md",
    `# Memory\n\nKept by hand and by tools.\n\n${own.join("")}- [gone](project_gone.md) — was here\n* see also [lost.md]\n`,
  );
}
