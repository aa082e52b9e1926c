/** Calls of `memdir serve` without a process, each running until it is ended. */

import { type ServeOptions, start as serveTeam } from "../../src/cli/serve.ts";
import type { World } from "../world.ts";
import { type CallOptions, hearCall } from "./call.ts";

export function beginServe(
  world: World,
  options: NonNullable<CallOptions["options"]>,
  more: ServeOptions & Partial<Pick<World, "env">> = {},
) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const heard = hearCall(world, { options: { port: "0", ...options }, json: options.json === true });
  if (more.env) heard.call.env = more.env;
  const code = serveTeam(heard.call, {
    runNpm: () => Promise.reject(new Error("no network in tests")),
    user: "ann",
    untilEnd: () => ended,
    ...more,
  });
  const url = async () => {
    for (;;) {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(heard.printed.join("\n"))?.[0];
      if (found) return found;
      await Promise.race([code, new Promise((resolve) => setTimeout(resolve, 5))]);
    }
  };
  return { ...heard, code, end, url };
}
