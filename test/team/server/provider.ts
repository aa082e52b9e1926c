/** A real identity provider on loopback for tests, and a person who opens its pages and confirms. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Provider {
  issuer: string;
  clientSecret: string;
  /** By person; may change while it runs. */
  groups: Record<string, string[]>;
  close(): Promise<void>;
}

export async function startProvider(): Promise<Provider> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const groups: Record<string, string[]> = {};
  const clientSecret = "not-a-secret-but-long-enough";
  // @ts-expect-error the package has no types of its own
  const { default: Oidc } = await import("oidc-provider");
  const provider = new Oidc(issuer, {
    clients: [
      {
        client_id: "memdir",
        client_secret: clientSecret,
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code"],
        response_types: [],
        redirect_uris: [],
      },
    ],
    claims: { openid: ["sub"], profile: ["preferred_username"], groups: ["groups"] },
    scopes: ["openid", "profile", "groups"],
    conformIdTokenClaims: false,
    features: { deviceFlow: { enabled: true } },
    cookies: { keys: ["for tests"] },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, groups: groups[id] ?? [] }),
    }),
  });
  server.on("request", provider.callback());
  return {
    issuer,
    clientSecret,
    groups,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** What a person does in a browser: every form that comes is filled in and sent, until none comes any more. The last page. */
export async function confirm(url: string, person: string): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (to: string, form?: URLSearchParams): Promise<{ at: string; page: string }> => {
    const response = await fetch(to, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form && { method: "POST", body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === "") cookies.delete(name);
      else cookies.set(name, value);
    }
    const next = response.headers.get("location");
    return next ? visit(new URL(next, to).href) : { at: to, page: await response.text() };
  };
  let { at, page } = await visit(url);
  for (let step = 0; step < 8; step++) {
    const form = /<form[^>]*>[\s\S]*?<\/form>/.exec(page)?.[0];
    if (!form) return page;
    const fields = new URLSearchParams();
    for (const [tag] of form.matchAll(/<(?:input|button)[^>]*>/g)) {
      const of = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1];
      const name = of("name");
      if (name && of("value") !== "no" && name !== "abort") fields.set(name, of("value") ?? "");
    }
    if (fields.has("login")) fields.set("login", person);
    if (fields.has("password")) fields.set("password", "any");
    const action = /action="([^"]*)"/.exec(form)?.[1] ?? at;
    ({ at, page } = await visit(new URL(action, at).href, fields));
  }
  return page;
}
