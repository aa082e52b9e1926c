/** The health of all memories, measured beside the requests, since it reads every one of them; what is wrong, and what doubles what. */

import { localDay } from "../text/local-day.ts";
import { pointsOf, scoreHealth } from "../truth/health.ts";
import { health } from "../verbs/health.ts";
import { contextOf, type Measurement, type Page, workBeside } from "./answer.ts";

/** The last measurement, null before the first; another begins where something has changed since, and the page is told of its end. */
export async function readHealth(page: Page): Promise<{ last: Measurement | null; isComplete: boolean }> {
  const { kept, now, tell } = page;
  if (kept.version === null) return { last: await measure(page), isComplete: true };
  kept.health ??= { of: "", last: null };
  const state = kept.health;
  const of = `${kept.version} ${localDay(now())}`;
  if (state.of !== of)
    workBeside(page, "the health could not be measured", async () => {
      try {
        state.last = await measure(page);
      } finally {
        state.of = of;
        tell({ kind: "health" });
      }
    });
  return { last: state.last, isComplete: state.of === of };
}

/** All directories, taken as one. */
async function measure(page: Page): Promise<Measurement> {
  const { memdir, store = {}, measureApart } = page;
  const measureHere = () => health.run(memdir, {}, contextOf(page, new AbortController().signal));
  const stores = await (measureApart?.({ memdir, store }) ??
    measureHere().then(({ others, ...main }) => [main, ...others]));
  const places = new Map(memdir.directories.map(({ path }, at) => [path, at]));
  const counted = stores.filter(({ dir }) => places.has(dir));
  const findings = counted.flatMap(({ dir, findings: these }) =>
    these.map((finding) => ({ ...finding, directory: places.get(dir) ?? 0 })),
  );
  const memories = counted.reduce((sum, each) => sum + each.memories, 0);
  const apart = findings.map((finding) => ({ ...finding, file: `${finding.directory}/${finding.file}` }));
  return { score: scoreHealth(apart, memories), memories, findings, points: pointsOf(apart, memories) };
}
