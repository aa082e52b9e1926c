/** Signing in to a team server whose people come from an identity provider: an address to open, a code to confirm, then a token. */

import { MemdirError } from "../errors.ts";
import { expectAnswer, type Http, type Network, openHttp, problemOf } from "./http.ts";
import type { Membership } from "./membership.ts";
import { LoginAnswer, LoginFinished } from "./protocol.ts";

/** These requests need none, and every request of ours sends one. */
const NO_TOKEN = "signing-in-without-one";

/** The token; `show` is told what to open and which code to compare. */
export async function signIn(
  network: Network,
  { server, team }: Pick<Membership, "server" | "team">,
  show: (lines: readonly string[]) => void,
  signal?: AbortSignal,
): Promise<string> {
  const http = openHttp(network, { server, token: NO_TOKEN });
  const path = `/v1/teams/${encodeURIComponent(team)}/login`;
  const started = await ask(http, path, {}, signal);
  const { handle, url, userCode, seconds, interval } = expectAnswer(http.url, LoginAnswer, started);
  show([`open ${url} in a browser and confirm the code ${userCode}`]);
  const until = network.now().getTime() + seconds * 1000;
  while (network.now().getTime() < until) {
    await network.sleep(Math.max(1, interval) * 1000, signal);
    const { token } = expectAnswer(http.url, LoginFinished, await ask(http, `${path}/finish`, { handle }, signal));
    if (token !== undefined) return token;
  }
  throw new MemdirError("network", "signing in took too long: run it again");
}

async function ask(http: Http, path: string, body: object, signal?: AbortSignal) {
  const answer = await http.send({ method: "POST", path, body, signal });
  if (answer.status === 200) return answer;
  throw new MemdirError("usage", problemOf(answer).message || `${http.url} answered ${answer.status}`);
}
