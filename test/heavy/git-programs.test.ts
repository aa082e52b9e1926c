import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/run.ts";
import { gitRunner, readGitState } from "../../src/context/environment.ts";
import { openSandbox, type Sandbox } from "../cli/run.ts";

/** A repository whose own configuration, attributes and hooks name programs; each leaves a marker when it runs. */
function makeHostile(): Sandbox & { ran(): string[]; program(name: string): string } {
  const sandbox = openSandbox();
  const { at, put, cwd } = sandbox;
  const git = (...args: string[]) => sandbox.git(cwd, ...args);
  for (const folder of ["marks", "programs", "hooks", "template/hooks"]) mkdirSync(at(folder), { recursive: true });
  const program = (name: string, file = `programs/${name.replaceAll("/", "")}`) => {
    put(file, `#!/bin/sh\ntouch '${at("marks", name.replaceAll("/", ""))}'\nexit 1\n`);
    chmodSync(at(file), 0o755);
    return at(file);
  };

  // Ordinary content first: memories of the team, instructions, two branches that meet, renames and deletions.
  put("home/.claude/memdir.json", { team: true });
  const memory = (name: string, text: string) => `---\nname: ${name}\ntype: project\n---\n\n${text}\n`;
  put(
    "project/.claude/memory/build.md",
    memory(
      "build",
      "The build is in `src/build.ts`, and `old.ts` calls `oldBuild()`. Call `removedHelper()` in `src/kept.ts` first.",
    ),
  );
  put("project/.claude/memory/MEMORY.md", "- [build](build.md): how it is built\n");
  put("project/CLAUDE.md", "Rules: @more.md\n");
  put("project/more.md", "More rules.\n");
  put("project/CLAUDE.local.md", "mine\n");
  put("project/src/build.ts", "export function build() {}\n");
  put("project/src/kept.ts", "export function removedHelper() {}\nexport const kept = 1;\n");
  put("project/src/old.ts", "export function oldBuild() {}\n");
  for (const name of ["clean", "process", "smudge", "included", "text", "command", "merge"])
    put(`project/a.${name}`, "one\n");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  git("checkout", "-q", "-b", "side");
  put("project/a.merge", "side\n");
  git("commit", "-qam", "side");
  git("checkout", "-q", "main");
  git("mv", "src/build.ts", "src/make.ts");
  git("rm", "-q", "src/old.ts");
  put("project/src/kept.ts", "export const kept = 1;\n");
  put("project/a.merge", "main\n");
  put("project/a.text", "two\n");
  git("commit", "-qam", "second");
  for (const signature of ["PGP SIGNATURE", "SSH SIGNATURE", "SIGNED MESSAGE"]) sign(sandbox, signature);

  const attributes = [
    ...["clean", "process", "smudge", "included"].map((name) => `*.${name} filter=${name}`),
    ...[
      "*.text diff=text",
      "*.ts diff=text",
      "*.command diff=command",
      "*.merge merge=merge",
      ".claude/memory/* diff=text filter=clean",
    ],
  ];
  put("project/.gitattributes", `${attributes.join("\n")}\n`);
  const settings: Record<string, string> = {
    "log.showSignature": "true",
    "gpg.ssh.allowedSignersFile": put("signers", "x\n"),
    "remote.origin.url": "ssh://host.invalid/x",
    "remote.folder.url": at("remote.git"),
    "remote.helper.url": `ext::${program("ext")}`,
    "remote.proxied.url": "git://host.invalid/x",
    "protocol.ext.allow": "always",
    "extensions.worktreeConfig": "true",
    "include.path": put("included.config", `[filter "included"]\n\tclean = ${program("included")}\n`),
    "init.templateDir": at("template"),
    "core.hooksPath": at("hooks"),
    "hook.x.event": "pre-commit",
    "alias.run": `!${program("alias")}`,
    "submodule.x.update": `!${program("submodule")}`,
  };
  for (const key of PROGRAMS) settings[key] = program(key);
  for (const [key, value] of Object.entries(settings)) git("config", key, value);
  git("config", "--worktree", "core.askPass", program("core.askPass"));
  const hooks =
    "post-index-change pre-commit post-checkout reference-transaction pre-push pre-auto-gc fsmonitor-watchman";
  for (const hook of hooks.split(" "))
    for (const folder of ["hooks", "project/.git/hooks", "template/hooks"])
      program(`hook ${hook}`, `${folder}/${hook}`);
  // A program of that name in the checkout, for whoever has `.` in PATH.
  program("git", "project/git");
  execFileSync("git", ["init", "-q", "--bare", "--template=", at("remote.git")], { env: sandbox.env });
  // A tree with changes, and an index that has to look at every file.
  for (const name of ["clean", "process", "included", "text", "command"]) put(`project/a.${name}`, "changed\n");
  rmSync(at("marks"), { recursive: true });
  mkdirSync(at("marks"));
  return { ...sandbox, program, ran: () => readdirSync(at("marks")).sort() };
}

const PROGRAMS = [
  "core.fsmonitor",
  "core.pager",
  "core.editor",
  "core.askPass",
  "core.sshCommand",
  "core.gitProxy",
  "core.alternateRefsCommand",
  "sequence.editor",
  "credential.helper",
  "credential.https://host.invalid.helper",
  "filter.clean.clean",
  "filter.process.process",
  "filter.smudge.smudge",
  "diff.external",
  "diff.text.textconv",
  "diff.command.command",
  "merge.merge.driver",
  "gpg.program",
  "gpg.ssh.program",
  "gpg.x509.program",
  "gpg.ssh.defaultKeyCommand",
  "interactive.diffFilter",
  "trailer.see.command",
  "tar.x.command",
  "remote.folder.uploadpack",
  "remote.folder.receivepack",
  "pager.log",
  "pager.status",
  "hook.x.command",
  "lfs.extension.x.clean",
  "uploadpack.packObjectsHook",
  "difftool.x.cmd",
];

/** A commit with something that passes for a signature. */
function sign({ cwd, git, put }: Sandbox, kind: string): void {
  const who = "test <test@example.invalid> 1700000000 +0000";
  const signature = [`-----BEGIN ${kind}-----`, "", "AAAA", `-----END ${kind}-----`].join("\n ");
  const [tree, parent] = [git(cwd, "rev-parse", "HEAD^{tree}"), git(cwd, "rev-parse", "HEAD")];
  const text = `tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\ngpgsig ${signature}\n\nsigned\n`;
  git(cwd, "update-ref", "HEAD", git(cwd, "hash-object", "-t", "commit", "-w", put("commit", text)));
}

const LONG = 300_000;

describe.skipIf(process.platform === "win32")("a repository that names programs", () => {
  it("has more than sixteen of them run by git itself", { timeout: LONG }, () => {
    const { cwd, env, ran, at } = makeHostile();
    const plain = (...args: string[]) => {
      const who = { GIT_COMMITTER_NAME: "x", GIT_COMMITTER_EMAIL: "x@example.invalid" };
      const own = {
        ...env,
        ...who,
        GIT_AUTHOR_NAME: "x",
        GIT_AUTHOR_EMAIL: "x@example.invalid",
        GIT_TERMINAL_PROMPT: "0",
      };
      spawnSync("git", args, { cwd, env: own, input: "protocol=https\nhost=host.invalid\n\n", timeout: 20_000 });
    };
    plain("status");
    plain("check-ignore", "x");
    plain("log", "--max-count=5");
    for (const file of ["a.clean", "a.command", "a.process"]) plain("diff", "--", file);
    plain("diff", "--no-ext-diff", "--", "a.text");
    plain("credential", "fill");
    plain("fetch", "origin");
    plain("fetch", "folder");
    plain("fetch", "helper");
    plain("fetch", "proxied");
    plain("push", "folder", "HEAD");
    plain("interpret-trailers", "--trailer", "see=1");
    plain("archive", "--format=x", "HEAD");
    plain("run");
    plain("commit", "--allow-empty");
    plain("commit", "--allow-empty", "--no-verify");
    rmSync(join(cwd, "a.smudge"));
    plain("checkout", "HEAD", "--", "a.smudge");
    const calm = ["-c", "core.hooksPath=/dev/null", "-c", "filter.process.process="];
    plain(...calm, "reset", "--hard");
    plain(...calm, "merge", "--no-edit", "side");
    plain("init", at("other"));
    const expected = PROGRAMS.filter(
      (key) =>
        !/^(pager|core\.(pager|alter)|sequence|lfs|uploadpack|difftool|hook)|default|interactive|askPass/.test(key),
    );
    expect(ran()).toEqual(
      expect.arrayContaining(
        [...expected.map((key) => key.replaceAll("/", "")), "ext", "alias", "included", "hook pre-commit"].sort(),
      ),
    );
    expect(ran().length).toBeGreaterThan(20);
  });

  it("has none of them run by any command of memdir", { timeout: LONG }, async () => {
    const { run, at, put, cwd, env, ran, git } = makeHostile();
    const seen = new Set<string>();
    const codes: Record<string, number> = {};
    const memdir = async (line: string, input = "") => {
      const args = line.split(" ");
      seen.add(args[0] as string);
      const { code, err } = await run(args, { input, env: { EDITOR: "true", PATH: `.:${env.PATH}` } });
      codes[line] = code;
      expect(err, line).not.toMatch(/\n\s+at /);
      expect(ran(), line).toEqual([]);
    };
    const text = "The build is in src/make.ts since commit 1234567, see branch side.";
    for (const line of [
      "save --type project --name mine --description d",
      "save --type user --name me --description d --scope user",
      "save --type project --name ours --description d --scope team",
    ])
      await memdir(line, text);
    put("session.jsonl", "");
    for (const name of ["base", "ours", "theirs"]) put(`project/${name}`, `${name}\n`);
    const hook = JSON.stringify({ session_id: "s", cwd, prompt: "how is the build made", hook_event_name: "x" });
    for (const line of LINES)
      await memdir(line.replace("REMOTE", at("remote.git")).replace("SESSION", at("session.jsonl")));
    for (const event of ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"])
      await memdir(`hook ${event}`, hook);
    const calls = ["memory_list", "memory_verify", "memory_recall"].map((name, id) => ({
      ...{ jsonrpc: "2.0", id: id + 2, method: "tools/call" },
      params: { name, arguments: name === "memory_recall" ? { prompt: "build" } : {} },
    }));
    const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
    const opening = { jsonrpc: "2.0", id: 1, method: "initialize", params: hello };
    await memdir("mcp", [opening, ...calls].map((call) => `${JSON.stringify(call)}\n`).join(""));

    const mustWork = /^(save|list|show|search|recall|prompt|index|context|history|log|undo|sync --git|init|export)/;
    expect(Object.entries(codes).filter(([line, code]) => code !== 0 && mustWork.test(line))).toEqual([]);
    const needPeople = ["console", "ui", "serve", "join", "chat"];
    expect(COMMANDS.map(({ name }) => name).filter((name) => !seen.has(name) && !needPeople.includes(name))).toEqual(
      [],
    );
    // The console and chat open with this.
    const state = await readGitState(cwd, gitRunner(cwd, env));
    expect(state?.status).toContain(" M a.text");
    expect(ran()).toEqual([]);
    expect(git(join(at("remote.git")), "branch", "--list", "memdir")).toContain("memdir");
  });
});

/** In an order in which each has something to work on. */
const LINES = [
  ..."list|list --json|show mine|show build|search build|recall build|prompt|prompt --files|index|index --rebuild".split(
    "|",
  ),
  ..."context|context --touch src/make.ts|context --all-agents|doctor|doctor --fix|lint|check|health|health --all|rot|why build".split(
    "|",
  ),
  ..."verify|verify --changed-since HEAD~1|verify --fix|verify --stamp|history|history build|edit mine".split("|"),
  ..."rename mine|rename mine renamed|undo|forget mine|undo|prune --older-than 1|prune --suggest --apply|log done|log".split(
    "|",
  ),
  ..."promote mine --yes|demote mine --yes|promote me --dry-run|sync --git REMOTE|sync --git REMOTE|sync|team".split(
    "|",
  ),
  ..."export|export --format json|export --format agents-md|import|sessions|sessions search build|rewind".split("|"),
  ..."extract --transcript SESSION|extract --since 7d|learn --since 7d|dream --status|dream --plan|inbox|ledger|enrich".split(
    "|",
  ),
  ..."init --dry-run|init --team --yes|doctor|uninstall --team --yes|uninstall --dry-run|adopt|trust|trust --revoke".split(
    "|",
  ),
  ..."merge-driver memory base ours theirs build.md|merge-driver index base ours theirs x.md|completion bash|prefetch|extract-hook --transcript SESSION --mark x".split(
    "|",
  ),
];
