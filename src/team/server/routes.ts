/** All routes of the server, in the order in which they are described. */

import { makeOpenApi } from "./openapi.ts";
import type { Route } from "./route.ts";
import { ADMIN_ROUTES } from "./routes-admin.ts";
import { MEMORY_ROUTES } from "./routes-memories.ts";
import { makeStatusRoutes } from "./routes-status.ts";
import { TEAM_ROUTES } from "./routes-team.ts";

export function makeRoutes(): Route[] {
  const routes: Route[] = [...TEAM_ROUTES, ...MEMORY_ROUTES, ...ADMIN_ROUTES, ...makeStatusRoutes()];
  routes.push({
    method: "GET",
    path: "/openapi.json",
    access: { to: "open" },
    action: "",
    description: {
      summary: "This description",
      answers: { 200: { text: "An OpenAPI 3.1 document.", type: "application/json" } },
    },
    answer: async ({ version, limits }) => ({ status: 200, body: makeOpenApi(routes, { version, limits }) }),
  });
  return routes;
}
