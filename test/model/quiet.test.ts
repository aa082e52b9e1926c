/** The SDKs' logs would quote what went wrong on a terminal that is not theirs. A file of its own: they keep the console they first see. */
import { expect, it } from "vitest";
import { bad, KEY, request, useTalk } from "./talk.ts";

const written: unknown[] = [];
for (const name of ["error", "warn", "info", "log", "debug"] as const) {
  console[name] = (...args: unknown[]) => void written.push(args);
}
const talk = useTalk();

it.each(["anthropic", "openai"] as const)("%s writes nothing to the console", async (provider) => {
  talk.server.queue({ text: "half", fault: "malformed" }, { status: 401, message: KEY });
  bad(await talk[provider](request()));
  bad(await talk[provider](request()));
  expect(written).toEqual([]);
});
