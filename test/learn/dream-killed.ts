/** A process that dreams over a directory and dies, as by `kill -9`, right before its nth rename, link or removal of a file. */

import { applyPlan } from "../../src/learn/dream-check.ts";
import { dreamOffline } from "../../src/learn/dream-offline.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { dieBefore } from "../cut.ts";

const [path = "", nth = "0"] = process.argv.slice(2);
const directory = openStore({
  path,
  scope: "project",
  inRepository: false,
  readOnly: false,
  recursive: true,
  limits: { maxLines: 200, maxChars: 25_000 },
  ageDays: { fresh: 1, aging: 7, stale: 30 } as unknown as Store["ageDays"],
  now: () => new Date("2026-03-10T12:00:00.000Z"),
  by: "test",
  log: () => {},
});

const plan = await dreamOffline(directory);
const steps = dieBefore(Number(nth));
await applyPlan(directory, plan);
console.log(String(steps()));
