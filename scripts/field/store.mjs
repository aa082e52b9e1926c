/** Measures the memory that one repository holds, in a clone of its own; run by scripts/field-report.mjs as a process. */

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, posix } from "node:path";
import {
  bodyOf,
  countDoubles,
  countIndex,
  decode,
  hasHow,
  hasWhy,
  historyOf,
  languageOf,
  linkKey,
  linksOf,
  logKindOf,
} from "./count.mjs";

/** Where agents keep a committed memory, the usual place first. */
const PLACES = [".claude/memory", "memory", "claude-memory", "docs/memory"];

/** Nothing that the repository or the user names is run. */
const ENV = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  LANG: "C.UTF-8",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_LFS_SKIP_SMUDGE: "1",
  GIT_OPTIONAL_LOCKS: "0",
};
const GIT = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.quotePath=false",
  "-c",
  "protocol.allow=never",
  "-c",
  "protocol.file.allow=always",
];

function git(dir, ...args) {
  return execFileSync("git", [...GIT, "-C", dir, ...args], {
    env: ENV,
    encoding: "utf8",
    maxBuffer: 1 << 29,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** The folder of the main store among a commit's files, "" for the top of a repository that is one; null if there is none. */
export function placeOf(files) {
  const isIndexed = (place) => files.includes(`${place}/MEMORY.md`);
  const first = files.some((file) => file.startsWith(".claude/memory/") && file.endsWith(".md"))
    ? ".claude/memory"
    : PLACES.find(isIndexed);
  if (first) return first;
  const others = files.filter((file) => /(?:^|\/)memory\/MEMORY\.md$/.test(file)).map((file) => dirname(file));
  if (others.length > 0) return others.sort((a, b) => a.length - b.length)[0];
  const isText = files.filter((file) => file.endsWith(".md")).length > files.length / 2;
  return files.includes("MEMORY.md") && isText ? "" : null;
}

/** `source` is a git directory or a checkout. Nothing is written into it. */
export async function measureRepository(source, library) {
  const files = git(source, "ls-tree", "-r", "--name-only", "-z", "HEAD").split("\0").filter(Boolean);
  const place = placeOf(files);
  if (place === null) return { store: null };
  const work = mkdtempSync(join(tmpdir(), "field-"));
  try {
    const root = clone(source, join(work, "project"));
    return { store: await measureStore(root, place, { files, library, home: join(work, "home") }) };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function clone(source, root) {
  execFileSync("git", [...GIT, "clone", "-q", "--shared", "--no-checkout", source, root], {
    env: ENV,
    stdio: "ignore",
  });
  // Fails where a large file is missing from the copy; the rest is there.
  spawnSync("git", [...GIT, "-C", root, "checkout", "-q", "-f", "HEAD"], { env: ENV, stdio: "ignore" });
  for (const file of git(root, "ls-files", "-z", "--deleted").split("\0").filter(Boolean)) {
    // A file that the copy lacks must not count as removed.
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), "", { flag: "wx" });
  }
  return root;
}

async function measureStore(root, place, { files, library, home }) {
  const { openMemdir, findSecrets } = await import(library);
  const dir = join(root, place);
  const head = Number(git(root, "log", "-1", "--format=%ct"));
  const now = () => new Date(head * 1000);
  mkdirSync(home);
  // Without a scope the memories of subagents would be listed too.
  const memdir = await openMemdir({ cwd: root, memoryDir: dir, scope: "project", env: { ...ENV, HOME: home }, now });
  const rows = (await memdir.list()).filter(({ path }) => isRegular(path));
  const texts = rows.map(({ path }) => readFileSync(path, "utf8"));
  const history = historyOf(
    git(root, "log", "--reverse", "--name-status", "-M", "--format=%x01%ct", "--", place || "."),
  );
  const keys = new Set(rows.flatMap(({ file, name }) => [linkKey(file), linkKey(name)]));
  const tracked = openTracked(files);
  const memories = rows.map((row, i) => ({
    ...describe(row, texts[i]),
    ...countLinks(posix.join(place, row.file), texts[i], { keys, tracked, place }),
    ...(history.get(posix.join(place, row.file)) ?? { added: null, edited: null, edits: null }),
    secrets: findSecrets(texts[i]).length,
  }));
  const index = join(dir, "MEMORY.md");
  const indexText = isRegular(index) ? readFileSync(index, "utf8") : null;
  const exists = (target) => tracked(posix.join(place, target)) || tracked(target.replace(/^\//, ""));
  return {
    place: PLACES.includes(place) ? place : place === "" ? "top of the repository" : "another folder",
    head,
    isShallow: git(root, "rev-parse", "--is-shallow-repository").trim() === "true",
    commits: Number(git(root, "rev-list", "--count", "HEAD")),
    storeCommits: Number(git(root, "rev-list", "--count", "HEAD", "--", place || ".")),
    codeFiles: files.filter(
      (file) => !file.startsWith(place === "" ? "" : `${place}/`) && !/\.(?:md|txt|json)$/i.test(file),
    ).length,
    memories,
    index:
      indexText === null
        ? null
        : {
            ...countIndex(
              indexText,
              rows.map(({ file }) => file),
              exists,
            ),
            secrets: findSecrets(indexText).length,
          },
    doubles: countDoubles(texts),
    truth: await verify(memdir),
  };
}

function isRegular(path) {
  return existsSync(path) && lstatSync(path).isFile();
}

function describe(row, text) {
  return {
    type: row.typeExplicit ? row.type : "none",
    bytes: row.bytes,
    hasFrontmatter: bodyOf(text) !== text,
    hasDescription: row.description !== "",
    language: languageOf(text),
    hasWhy: hasWhy(text),
    hasHow: hasHow(text),
    log: logKindOf(row.file, text),
    // To find forks: the same body in two repositories.
    digest: createHash("sha256").update(bodyOf(text).trim()).digest("hex").slice(0, 16),
    file: createHash("sha256").update(row.file).digest("hex").slice(0, 16),
  };
}

function countLinks(file, text, { keys, tracked, place }) {
  const { wiki, markdown } = linksOf(text);
  const isThere = (target) =>
    [posix.join(dirname(file), target), posix.join(place, target), target.replace(/^\//, "")].some(tracked);
  return {
    wiki: wiki.length,
    deadWiki: wiki.filter((target) => !keys.has(linkKey(target))).length,
    markdown: markdown.length,
    deadMarkdown: markdown.filter((target) => !isThere(decode(target))).length,
  };
}

/** Whether a path is a file or a folder of the commit. */
function openTracked(files) {
  const known = new Set(files.flatMap((file) => file.split("/").map((_, i, parts) => parts.slice(0, i + 1).join("/"))));
  return (path) => known.has(posix.normalize(path).replace(/\/$/, ""));
}

/** What `verify --all` finds, as of the newest commit; null where it fails. */
async function verify(memdir) {
  try {
    const { memories, problems, notes } = await memdir.verify(undefined, { all: true });
    return {
      memories: memories.map(({ verdict, claims }) => ({ verdict, claims })),
      problems: problems.map(({ file, what, verdict, order, confidence }) => ({
        file: createHash("sha256").update(file).digest("hex").slice(0, 16),
        ...{ what, verdict, order, confidence },
      })),
      notes: notes.length,
    };
  } catch (error) {
    process.stderr.write(`verify: ${error.message}\n`);
    return null;
  }
}

if (process.argv[1] === import.meta.filename && process.argv.length === 4) {
  const library = new URL("../../dist/index.js", import.meta.url).href;
  writeFileSync(process.argv[3], JSON.stringify(await measureRepository(process.argv[2], library)));
}
