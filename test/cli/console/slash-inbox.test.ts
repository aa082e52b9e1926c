/** /inbox on real files, with a person who answers as the test says. */

import fs from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { greet } from "../../../src/cli/console/line.ts";
import { completeLine } from "../../../src/cli/console/slash-commands.ts";
import { openInbox } from "../../../src/learn/inbox.ts";
import { widthOf } from "../../../src/text/wrap.ts";
import { propose } from "../../learn/proposals.ts";
import { errorOf, mainOf, type World } from "../../world.ts";
import { hearCall } from "../call.ts";
import { addProposal as add, EVIL, HARMFUL, type Seat, sitDown } from "./seat.ts";

const waiting = ({ memdir }: Seat) => openInbox(mainOf(memdir), mainOf(memdir)).list();

function editor(world: World, script: string): void {
  const program = path.join(world.top, "editor");
  fs.writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("TMPDIR", world.top);
  Object.assign(world.env, { EDITOR: program });
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("/inbox", () => {
  test("one after the other: accepted, rejected, put off; undo of what was accepted is named", async () => {
    const seat = await sitDown();
    const { file } = await seat.memdir.save({ type: "project", name: "queue", body: "One queue." });
    await add(seat, { at: "2026-03-01T00:00:00.000Z" });
    await add(seat, { at: "2026-03-02T00:00:00.000Z", file, name: "queue", action: "update", body: "Two queues." });
    const later = await add(seat, { at: "2026-03-03T00:00:00.000Z", name: "third", body: "Third." });
    const said = await seat.type("/inbox", "k", "s", "l");
    expect(seat.asked.map(({ question }) => question)).toEqual([1, 2, 3].map((n) => `Keep this? (${n} of 3)`));
    expect(said).toMatch(
      /^\S+ new retries\n {2}concluded by an agent, by extraction, 2026-03-01, session s1: the user/,
    );
    expect(said).toContain("  - One queue.\n");
    expect(said).toContain("  + Two queues.\n");
    expect(said).toContain("it will not be proposed again");
    expect(said).toContain("1 waiting");
    expect(waiting(seat)).toMatchObject([{ id: later }]);
    expect(seat.world.read(file)).toContain("One queue.");
    const undo = /saved project_retries\.md; (\/undo \S+) reverts it/.exec(said)?.[1];
    await seat.type(undo as string);
    expect(seat.world.exists("project_retries.md")).toBe(false);
  });

  test.each([["q"], [null]])("%j ends the walk, and everything waits on", async (key) => {
    const seat = await sitDown();
    await add(seat);
    await add(seat, { body: "Other." });
    expect(await seat.type("/inbox", key)).toContain("2 waiting");
    expect(waiting(seat)).toHaveLength(2);
    expect(seat.asked).toHaveLength(1);
  });

  test.skipIf(process.platform === "win32")("edited first, shown again, then accepted as it is", async () => {
    const seat = await sitDown();
    await add(seat);
    editor(seat.world, 'sed -i.bak "s/three/five/" "$1"');
    const said = await seat.type("/inbox", "e", "k");
    expect(said).toContain("+ Jobs are retried five times.");
    expect(said.endsWith("the inbox is empty")).toBe(true);
    expect(seat.world.read("project_retries.md")).toContain("five times");
  });

  test.skipIf(process.platform === "win32")(
    "an edit that cannot be taken is told, and another answer asked for",
    async () => {
      const seat = await sitDown();
      const id = await add(seat);
      editor(seat.world, 'echo "no frontmatter" > "$1"');
      expect(await seat.type("/inbox", "e", "l")).toContain(
        "memdir: warning: the proposal was not changed: no frontmatter",
      );
      editor(seat.world, `printf 'AKIA%s\\n' IOSFODNN7QQQQQQ2 >> "$1"`);
      const said = await seat.type("/inbox", "e", "l");
      expect(said).toMatch(/memdir: .*line \d/);
      expect(said).not.toContain("IOSFODNN7QQQQQQ2");
      expect(waiting(seat)).toMatchObject([{ id, body: "Jobs are retried three times." }]);
    },
  );

  test("what cannot be accepted is told and can be rejected; a memory that goes is not edited", async () => {
    const seat = await sitDown();
    await add(seat, { action: "update", file: "project_gone.md" });
    expect(await seat.type("/inbox", "k", "s")).toMatch(/there is no memory project_gone\.md; .*\n[\s\S]*rejected/);
    const { file } = await seat.memdir.save({ type: "user", name: "tabs", body: "Likes tabs." });
    await add(seat, { action: "forget", file, name: "tabs", type: "user", body: "" });
    const said = await seat.type("/inbox", "k");
    expect(seat.asked.at(-1)?.choices.map(({ key }) => key)).toEqual(["k", "s", "l", "a", "q"]);
    expect(said).toMatch(/forgotten user_tabs\.md; \/undo \S+ reverts it/);
    expect(seat.world.exists(file)).toBe(false);
  });

  test("what somebody else decides meanwhile: gone is passed over, amended is not what is accepted", async () => {
    const seat = await sitDown();
    const inbox = openInbox(mainOf(seat.memdir), mainOf(seat.memdir));
    const first = await add(seat, { at: "2026-03-01T00:00:00.000Z" });
    const second = await add(seat, { at: "2026-03-02T00:00:00.000Z", name: "second", body: "Second." });
    await add(seat, { at: "2026-03-03T00:00:00.000Z", name: "third", body: "Third." });
    const said = await seat.type(
      "/inbox",
      async () => {
        await inbox.reject(second);
        await inbox.amend(first, { body: "Planted while the question stood." });
        return "k";
      },
      async () => {
        await inbox.reject(waiting(seat)[0]?.id as string);
        return "k";
      },
    );
    expect(said).not.toContain("Second.");
    expect(seat.world.read("project_retries.md")).toContain("Jobs are retried three times.");
    expect(seat.world.grep("Planted while")).toEqual([]);
    expect(said).toContain("the inbox is empty");
  });

  test("on a pipe, and with all: a list; by id: accept, reject, edit", async () => {
    const piped = await sitDown({ isPiped: true });
    expect(await piped.type("/inbox")).toBe("the inbox is empty");
    const id = await add(piped);
    const other = await add(piped, { body: "Other." });
    const list = await piped.type("/inbox");
    expect(list).toContain("+ Jobs are retried three times.");
    expect(list).toContain("+ Other.");
    expect(list).toContain("2 waiting: /inbox accept ID, edit ID or reject ID");
    expect(await piped.type("/inbox all")).toBe(list);
    expect((await errorOf(piped.type(`/inbox edit ${id}`))).message).toBe(
      `an editor needs a terminal: run \`memdir inbox edit ${id}\` in one`,
    );
    expect(await piped.type(`/inbox accept ${id.slice(0, 6)}`)).toMatch(
      /^saved project_retries\.md; \/undo \S+ reverts/,
    );
    expect(await piped.type(`/inbox reject ${other}`)).toMatch(/^rejected /);
    expect(waiting(piped)).toEqual([]);
  });

  test.skipIf(process.platform === "win32")("edit by id says how to keep it", async () => {
    const seat = await sitDown();
    const id = await add(seat);
    editor(seat.world, 'sed -i.bak "s/three/five/" "$1"');
    const said = await seat.type(`/inbox edit ${id}`);
    expect(said).toContain("five times");
    expect(said).toContain(`/inbox accept ${id} saves it like this`);
    expect(waiting(seat)).toMatchObject([{ id, body: "Jobs are retried five times." }]);
  });

  test("wrong calls say how it goes; words are completed", async () => {
    const seat = await sitDown();
    for (const line of ["/inbox take x", "/inbox accept", "/inbox all x", "/inbox accept a b", "/inbox constructor x"])
      expect(await errorOf(seat.type(line))).toMatchObject({
        code: "usage",
        message: expect.stringContaining("inbox"),
      });
    expect((await errorOf(seat.type("/inbox accept ffff"))).message).toContain("lists them");
    expect(completeLine("/inbox ed", []).map(({ insert }) => insert)).toEqual(["/inbox edit "]);
  });

  test("foreign text is harmless, in views, answers and errors", async () => {
    const seat = await sitDown();
    const more = { description: EVIL, reason: `${EVIL}\nthe user said it`, session: EVIL, when: [EVIL] };
    await add(seat, { name: EVIL, body: `One ${EVIL}`, ...more, at: "2026-03-01T00:00:00.000Z" });
    const gone = { action: "update", file: `${EVIL}.md` } as const;
    await add(seat, { name: EVIL, body: `Two ${EVIL}`, ...gone, ...more, at: "2026-03-02T00:00:00.000Z" });
    await add(seat, { name: EVIL, body: `Three ${EVIL}`, ...more });
    const said = await seat.type("/inbox", "k", "k", "s", "s");
    expect(said).toContain("there is no memory");
    expect(said).not.toMatch(HARMFUL);
    const id = await add(seat, { name: EVIL, body: `Four ${EVIL}`, ...gone, ...more });
    expect((await errorOf(seat.type(`/inbox accept ${id}`))).message).not.toMatch(HARMFUL);
    expect(await seat.type(`/inbox reject ${id}`)).not.toMatch(HARMFUL);
  });

  test("40 columns: every line fits, no word is lost, and nothing poses as a line of the diff", async () => {
    const seat = await sitDown({ columns: 40 });
    const words = Array.from({ length: 40 }, (_, n) => `word${n}`).join(" ");
    await add(seat, { name: "n".repeat(100), body: `${words} + and more`, reason: words, session: "s".repeat(90) });
    const said = await seat.type("/inbox", "k");
    for (const line of said.split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(40);
    for (const word of words.split(" ")) expect(said.split(word).length).toBeGreaterThan(2);
    expect(said.split("\n").filter((line) => /^ {2}\+ word/.test(line))).toHaveLength(1);
  });

  test("what lies in the inbox's folder and is no proposal does no harm", async () => {
    const seat = await sitDown();
    await add(seat);
    seat.world.write(".memdir/inbox/x.json", "{");
    const planted = propose({ id: "abc", name: "by hand", body: "By hand." });
    seat.world.write(".memdir/inbox/abc.json", JSON.stringify(planted));
    expect(await seat.type("/inbox", "s")).toContain("the inbox is empty");
  });
});

test("the greeting says how many proposals wait", async () => {
  const seat = await sitDown();
  const heard = async () => {
    const { call, printed } = hearCall(seat.world, {});
    await greet(seat.memdir, { name: "", provider: "" }, call.terminal);
    return printed.join("\n");
  };
  expect(await heard()).not.toContain("/inbox");
  await add(seat);
  expect(await heard()).toContain("  1 proposal waits: /inbox");
  await add(seat, { body: "Other." });
  expect(await heard()).toContain("  2 proposals wait: /inbox");
});
