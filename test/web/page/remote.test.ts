import { afterEach, expect, it, vi } from "vitest";
import { send, start } from "../../../src/web/page/remote.ts";

afterEach(() => vi.unstubAllGlobals());

it("every request that may change something says which project the page shows", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_: string, { headers }: RequestInit) => {
    sent.push(new Headers(headers).get("x-memdir-project"));
    return Response.json({});
  });
  await send("POST", "/api/forget", {});
  start.set({ ...start.get(), generation: 3 });
  await send("PUT", "/api/memory", {});
  await send("DELETE", "/api/jobs?id=1");
  expect(sent).toEqual(["0", "3", "3"]);
});
