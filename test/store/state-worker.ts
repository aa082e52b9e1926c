/** A process that uses the state of a directory: appends lines, replaces a record, or holds a lock until it is ended. */

import { loadNative } from "../../src/disk/fence.ts";
import { openState } from "../../src/store/state.ts";
import { any } from "./state-values.ts";

const [mode, directory = "", name = "", count = "0"] = process.argv.slice(2);
const state = openState(directory);

if (mode === "append") {
  // Large enough that the log is renamed after some hundred of them.
  const filler = "x".repeat(2000);
  const log = state.log("surfaced.jsonl", any);
  for (let n = 0; n < Number(count); n++) log.append([{ name, n, filler }]);
} else if (mode === "write") {
  const record = state.record("verdicts", any);
  for (let n = 0; n < Number(count); n++) record.write({ name, n, filler: name.repeat(50_000) });
} else if (mode === "hold") {
  const release = state.lock("extract-test", count === "pid" ? null : loadNative()).try();
  console.log(release ? "held" : "busy");
  if (release) setInterval(() => {}, 1000);
} else if (mode === "count") {
  const total = state.text("dream-scan");
  for (let n = 0; n < Number(count); n++) {
    const release = await state.lock("extract-test").wait();
    total.write(String(Number(total.read() ?? 0) + 1));
    release();
  }
}
