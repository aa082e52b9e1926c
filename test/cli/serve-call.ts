/** Calls of `memdir serve` without a process, each running until it is ended. */

import { type ServeDesk, serve } from "../../src/cli/serve.ts";
import { openServerData } from "../../src/team/server/data.ts";
import type { World } from "../world.ts";
import { type CallOptions, hearCall } from "./call.ts";

export function beginServe(world: World, options: NonNullable<CallOptions["options"]>, desk: Partial<ServeDesk> = {}) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const heard = hearCall(world, { options: { port: "0", ...options }, json: options.json === true });
  const code = serve(heard.call, {
    env: world.env,
    now: () => world.now,
    runNpm: () => Promise.reject(new Error("no network in tests")),
    ask: async () => false,
    open: openServerData,
    user: "ann",
    untilEnd: () => ended,
    ...desk,
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
