/** Tokens as they arrive, and which role covers which. */

import type { Role } from "../protocol.ts";

const RANK: Record<Role, number> = { reader: 1, writer: 2, admin: 3 };
export const ROLES = Object.keys(RANK) as Role[];

/** Ours are 40 to 60 characters; the database is not asked for a hash of anything longer. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/=-]{1,200}) *$/i;

/** Only from the header: what stands in a URL ends up in logs and histories. */
export function readToken(headers: Headers): string | null {
  return BEARER.exec(headers.get("authorization") ?? "")?.[1] ?? null;
}

export function isRole(value: unknown): value is Role {
  return typeof value === "string" && Object.hasOwn(RANK, value);
}

export function covers(role: Role | null, wanted: Role): boolean {
  return role !== null && RANK[role] >= RANK[wanted];
}
