/** `memdir edit` with editors that behave and editors that do not. */

import fs from "node:fs";
import path from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { openSandbox, type Sandbox } from "./run.ts";

let box: Sandbox;
let file: string;

beforeAll(async () => {
  box = openSandbox();
  await box.save("tabs");
  file = path.join(box.dir(), "user_tabs.md");
});

/** An editor that is a small script; the path of the text is `$1`. */
function editor(name: string, script: string): Record<string, string> {
  const program = box.put(`editors/${name}`, `#!/bin/sh\n${script}\n`);
  fs.chmodSync(program, 0o755);
  return { EDITOR: program };
}

/** Copies of the text that an edit left behind. */
const leftCopies = () => fs.readdirSync(box.at("tmp")).filter((name) => name.startsWith("memdir-edit-"));

beforeEach(() => {
  for (const name of leftCopies()) fs.rmSync(box.at("tmp", name), { recursive: true });
});

test("what the editor wrote is saved, modified moves, the index follows", async () => {
  const before = fs.readFileSync(file, "utf8");
  const ran = await box.json(["edit", "tabs"], { env: editor("good", 'sed -i "s/Says tabs/Indentation/" "$1"') });
  expect(ran).toEqual({ file: "user_tabs.md", path: file, action: "updated", notices: [], undo: expect.any(String) });
  const after = fs.readFileSync(file, "utf8");
  expect(after).toContain("description: Indentation\n");
  const still = (text: string) => text.replace(/description: .*/, "").replace(/modified: .*/, "");
  expect(still(after)).toBe(still(before));
  expect(after).not.toContain(/modified: .*/.exec(before)?.[0]);
  expect(fs.readFileSync(path.join(box.dir(), "MEMORY.md"), "utf8")).toContain("— Indentation");
  expect(leftCopies()).toEqual([]);
});

test.each([
  ["a quoted path with a space", (program: string) => `'${program}' --wait`],
  [
    "a space that a backslash keeps, and an empty word",
    (program: string) => `${program.replaceAll(" ", "\\ ")} --wait ''`,
  ],
  ["quotes inside a word", (program: string) => `"${program}" --"wa"it`],
])("EDITOR is split as a shell does it: %s", async (_, spell) => {
  const script = 'test "$1" = --wait || exit 9; shift; test -n "$1" || shift; echo "Split." >> "$1"';
  const { EDITOR = "" } = editor("my editor", script);
  const ran = await box.run(["edit", "tabs"], { env: { EDITOR: spell(EDITOR) } });
  expect(ran).toMatchObject({ code: 0, err: "" });
});

test("the editor may have arguments, and VISUAL goes before EDITOR", async () => {
  const { EDITOR } = editor("args", 'test "$1" = --wait || exit 9; echo "More." >> "$2"');
  const ran = await box.run(["edit", "tabs"], { env: { VISUAL: `${EDITOR} --wait`, EDITOR: "false" } });
  expect(ran.out).toMatch(/^updated user_tabs\.md {3}\(memdir undo \d+\)\n$/);
  expect(fs.readFileSync(file, "utf8")).toMatch(/More\.\n$/);
});

test("an editor that changes nothing changes nothing", async () => {
  const before = fs.readFileSync(file, "utf8");
  const ran = await box.json(["edit", "tabs"], { env: editor("idle", "exit 0") });
  expect(ran).toMatchObject({ action: "unchanged", undo: null });
  expect(fs.readFileSync(file, "utf8")).toBe(before);
});

test("an editor that fails changes nothing and leaves no copy", async () => {
  const before = fs.readFileSync(file, "utf8");
  const ran = await box.run(["edit", "tabs"], { env: editor("failing", 'echo lost > "$1"; exit 3') });
  expect(ran.code).toBe(2);
  expect(ran.err).toBe("memdir: the editor ended with code 3: nothing was changed\n");
  expect(fs.readFileSync(file, "utf8")).toBe(before);
  expect(leftCopies()).toEqual([]);
});

test("a type that there is not is refused, and the text is kept", async () => {
  const before = fs.readFileSync(file, "utf8");
  const ran = await box.run(["edit", "tabs"], { env: editor("banana", 'sed -i "s/type: user/type: banana/" "$1"') });
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(
    /^memdir: user_tabs\.md was not changed: "banana" is not a type: use one of user, .*; your text is/,
  );
  expect(fs.readFileSync(file, "utf8")).toBe(before);
  const [copy] = leftCopies();
  expect(fs.readFileSync(box.at("tmp", copy as string, "user_tabs.md"), "utf8")).toContain("type: banana");
});

test("a memory that had such a type before can still be edited", async () => {
  const odd = path.join(box.dir(), "odd.md");
  fs.writeFileSync(odd, "---\nname: odd\ndescription: d\ntype: banana\n---\n\nText.\n");
  const ran = await box.json(["edit", "odd"], { env: editor("more", 'echo "More." >> "$1"') });
  expect(ran).toMatchObject({ action: "updated", notices: [expect.stringContaining('"banana" is not a type')] });
});

test("an editor that is not there, or none at all", async () => {
  const absent = await box.run(["edit", "tabs"], { env: { EDITOR: "/no/such/editor" } });
  expect(absent.code).toBe(2);
  expect(absent.err).toMatch(/^memdir: the editor "\/no\/such\/editor" could not be started: set EDITOR/);
  const none = await box.run(["edit", "tabs"]);
  expect(none.code).toBe(2);
  expect(none.err).toMatch(/^memdir: no editor is set: run it as EDITOR=nano memdir edit NAME\n$/);
  expect(leftCopies()).toEqual([]);
});

test("an editor that removes its file changes nothing", async () => {
  const before = fs.readFileSync(file, "utf8");
  const ran = await box.run(["edit", "tabs"], { env: editor("removing", 'rm "$1"') });
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(/^memdir: [^\n]+\n$/);
  expect(ran.err).not.toMatch(/unexpected failure/);
  expect(fs.readFileSync(file, "utf8")).toBe(before);
});

test("broken frontmatter is refused and the text is kept for the person", async () => {
  const before = fs.readFileSync(file, "utf8");
  const breaking = 'cat > "$1" <<END\n---\nname: tabs\ntype: user\nno closing fence\nEND';
  const ran = await box.run(["edit", "tabs"], { env: editor("breaking", breaking) });
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(
    /^memdir: user_tabs\.md was not saved, its frontmatter cannot be read: .*; your text is in \S+\n$/,
  );
  expect(fs.readFileSync(file, "utf8")).toBe(before);
  const kept = /your text is in (\S+)\n/.exec(ran.err)?.[1] as string;
  expect(fs.readFileSync(kept, "utf8")).toContain("no closing fence");
  expect(fs.statSync(kept).mode & 0o077).toBe(0);
  fs.rmSync(path.dirname(kept), { recursive: true });
});

test("text that is not UTF-8 is refused and kept for the person", async () => {
  const before = fs.readFileSync(file, "utf8");
  const ran = await box.run(["edit", "tabs"], { env: editor("latin", `printf 'caf\\351\\n' >> "$1"`) });
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(/not valid UTF-8.*; your text is in \S+\n$/);
  expect(fs.readFileSync(file, "utf8")).toBe(before);
  const kept = /your text is in (\S+)\n/.exec(ran.err)?.[1] as string;
  fs.rmSync(path.dirname(kept), { recursive: true });
});

test("a secret is refused, the edit kept without its value; --redact masks it", async () => {
  const before = fs.readFileSync(file, "utf8");
  const secret = `ghp_${"aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"}`;
  const env = editor("leaking", `cp "$1" "$1~"; echo "token ${secret}" >> "$1"; cp "$1" "$1.swp"`);
  const ran = await box.run(["edit", "tabs"], { env });
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(/^memdir: not saved, it holds what looks like a secret: .* in line \d+/);
  expect(ran.err).not.toContain(secret);
  expect(ran.err).toMatch(/; `memdir edit \S+ --redact` saves an edit that way\n$/);
  expect(fs.readFileSync(file, "utf8")).toBe(before);
  const kept = /your text is in (\S+), with the secret masked/.exec(ran.err)?.[1] as string;
  expect(fs.readdirSync(path.dirname(kept))).toEqual([path.basename(kept)]);
  expect(fs.readFileSync(kept, "utf8")).toMatch(/\ntoken \[redacted: [\w-]+\]\n$/);
  expect(fs.readFileSync(kept, "utf8")).not.toContain(secret);
  fs.rmSync(path.dirname(kept), { recursive: true });
  const masked = await box.json(["edit", "tabs", "--redact"], { env });
  expect(masked.notices[0]).toMatch(/^masked: /);
  expect(fs.readFileSync(file, "utf8")).not.toContain(secret);
  await box.json(["undo", masked.undo]);
});

test("a file that changed meanwhile is not overwritten, the text is kept", async () => {
  const script = `echo "By another." >> "${file}"; echo "By me." >> "$1"`;
  const ran = await box.run(["edit", "tabs"], { env: editor("slow", script) });
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(
    /^memdir: user_tabs\.md changed while it was edited: nothing was overwritten.*your text is in/,
  );
  const text = fs.readFileSync(file, "utf8");
  expect(text).toContain("By another.");
  expect(text).not.toContain("By me.");
  const kept = /your text is in (\S+)\n/.exec(ran.err)?.[1] as string;
  expect(fs.readFileSync(kept, "utf8")).toContain("By me.");
});

test("bytes that are not UTF-8 are never rewritten (invariant 7)", async () => {
  const odd = path.join(box.dir(), "user_latin.md");
  const bytes = Buffer.from("---\nname: latin\ntype: user\n---\n\ncaf\xe9\n", "latin1");
  fs.writeFileSync(odd, bytes);
  const ran = await box.run(["edit", "latin"], { env: editor("adding", 'echo "More." >> "$1"') });
  expect(ran.code).toBe(2);
  expect(ran.err).toMatch(/^memdir: user_latin\.md is not changed .*save it as UTF-8.*iconv -f latin1 -t utf-8/);
  expect(ran.err).not.toContain("your text is in");
  expect(fs.readFileSync(odd)).toEqual(bytes);
});

test("a memory of another scope is edited where it lies, and its undo works as printed", async () => {
  await box.save("wide", ["--scope", "user"]);
  const own = await box.json(["history", "--scope", "project"]);
  const ran = await box.run(["edit", "wide"], { env: editor("wide", 'echo "Changed." >> "$1"') });
  const undo = /\(memdir (undo [^)]*)\)/.exec(ran.out)?.[1] ?? "";
  const target = box.at("home", ".claude", "memory", "user_wide.md");
  expect(fs.readFileSync(target, "utf8")).toContain("Changed.");
  expect((await box.run(undo.split(" "))).code).toBe(0);
  expect(fs.readFileSync(target, "utf8")).not.toContain("Changed.");
  expect(await box.json(["history", "--scope", "project"])).toEqual(own);
  expect((await box.json(["history"])).at(-1)).toMatchObject({ action: "undo", undoes: "user:2" });
});
