import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { separatorSlug, sha256Key, slugOf } from "../../src/project/locate.ts";

/** Seen from Claude Code 2.1.325. */
const VECTORS: [path: string, slug: string][] = [
  ["/srv/demo/app", "-srv-demo-app"],
  ["/srv/demo/my.repo", "-srv-demo-my-repo"],
  ["/srv/demo/my_repo", "-srv-demo-my-repo"],
  ["/srv/demo/.hidden", "-srv-demo--hidden"],
  ["/srv/demo/caf\u00e9", "-srv-demo-caf-"],
  ["/srv/demo/cafe\u0301", "-srv-demo-cafe-"],
  ["/srv/demo/100%", "-srv-demo-100-"],
  [`/srv/demo/${"a".repeat(99)}/${"a".repeat(89)}`, `-srv-demo-${"a".repeat(99)}-${"a".repeat(89)}`],
  [`/srv/demo/${"a".repeat(99)}/${"a".repeat(90)}`, `-srv-demo-${"a".repeat(99)}-${"a".repeat(90)}`],
  [`/srv/demo/${"c".repeat(99)}/${"c".repeat(94)}\u00e9`, `-srv-demo-${"c".repeat(99)}-${"c".repeat(90)}-skntbc`],
  [`/srv/demo/${"日".repeat(60)}/${"z".repeat(150)}`, `-srv-demo-${"-".repeat(61)}${"z".repeat(129)}-owkgom`],
  [
    `/srv/demo/${"q".repeat(90)}/${"😀".repeat(30)}/${"w".repeat(90)}`,
    `-srv-demo-${"q".repeat(90)}${"-".repeat(62)}${"w".repeat(38)}-41o4i3`,
  ],
];

const shared = new URL("../../../shared/conformance/dev/slug-vectors.json", import.meta.url);

describe("slugOf", () => {
  it.each(VECTORS)("C1 vector %#", (path, slug) => {
    expect(slugOf(path)).toBe(slug);
  });

  it.skipIf(!existsSync(shared))("C1 every vector of the shared file, and the copy above is complete", () => {
    const vectors: { path: string; slug: string }[] = JSON.parse(readFileSync(shared, "utf8"));
    for (const { path, slug } of vectors) expect(slugOf(path)).toBe(slug);
    expect(VECTORS).toEqual(vectors.map(({ path, slug }) => [path, slug]));
  });

  it("C1 a Windows path", () => {
    expect(slugOf("C:\\Users\\Me\\app")).toBe("C--Users-Me-app");
  });
});

it("B1.3 code-assist's rule replaces / and \\ only", () => {
  expect(separatorSlug("/home/user/project")).toBe("-home-user-project");
  expect(separatorSlug("C:\\work\\my.repo")).toBe("C:-work-my.repo");
});

it("B1.4 the first 16 hex digits of sha256, the same for the same path", () => {
  expect(sha256Key("abc")).toBe("ba7816bf8f01cfea");
  expect(sha256Key("/a")).not.toBe(sha256Key("/b"));
});
