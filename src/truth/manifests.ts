/** Package files and makefiles: which dependencies, scripts and targets a project has, and which it had. */

import { join } from "node:path";
import { readRegularText } from "../disk/fence.ts";
import { attempt } from "../errors.ts";
import { type Commit, nameOf } from "./history.ts";

const MANIFEST =
  /^(?:package\.json|(?:[\w-]*requirements[\w-]*\.(?:txt|in))|pyproject\.toml|Pipfile|setup\.(?:py|cfg)|Cargo\.toml|go\.mod|Gemfile|[\w-]+\.gemspec|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|[\w-]+\.csproj|mix\.exs|deno\.jsonc?|environment\.ya?ml|GNUmakefile|Makefile|[\w-]+\.mk|justfile|Justfile)$/;
const MAKE = /(?:^|\/)(?:GNUmakefile|Makefile|[\w-]+\.mk|justfile|Justfile)$/;
const VENDORED = /(?:^|\/)(?:node_modules|vendor|third[_-]?party)\//;
const MAX_BYTES = 1 << 20;
const MAX_MANIFESTS = 2_000;

/** A line that a commit removed from such a file. */
export interface RemovedLine {
  file: string;
  text: string;
  commit: Commit;
}

export interface Manifests {
  /** Name -> file. */
  packages: ReadonlyMap<string, string>;
  scripts: ReadonlyMap<string, { file: string; command: string }>;
  targets: ReadonlyMap<string, string>;
}

interface Removed {
  file: string;
  commit: Commit;
  /** What a script ran. */
  command?: string;
}

export interface RemovedEntries {
  packages: ReadonlyMap<string, Removed>;
  scripts: ReadonlyMap<string, Removed>;
  targets: ReadonlyMap<string, Removed>;
}

export function isManifest(file: string): boolean {
  return MANIFEST.test(nameOf(file)) && !VENDORED.test(file);
}

/** Of files below the root that are such. */
export function readManifests(root: string, files: readonly string[]): Manifests {
  const packages = new Map<string, string>();
  const scripts = new Map<string, { file: string; command: string }>();
  const targets = new Map<string, string>();
  for (const file of files.slice(0, MAX_MANIFESTS)) {
    for (const entry of entriesOf(file, attempt(() => readRegularText(join(root, file), MAX_BYTES), null) ?? "")) {
      if (entry.kind === "package") packages.set(entry.name, file);
      else if (entry.kind === "script") scripts.set(entry.name, { file, command: entry.command ?? "" });
      else for (const name of entry.name.split(/\s+/)) targets.set(name, file);
    }
  }
  return { packages, scripts, targets };
}

/** The newest removal of each. */
export function removedEntries(lines: readonly RemovedLine[]): RemovedEntries {
  const found = {
    package: new Map<string, Removed>(),
    script: new Map<string, Removed>(),
    target: new Map<string, Removed>(),
  };
  for (const { file, text, commit } of lines) {
    const entry = entryOf(file, text);
    if (!entry) continue;
    for (const name of entry.kind === "target" ? entry.name.split(/\s+/) : [entry.name]) {
      if (!found[entry.kind].has(name))
        found[entry.kind].set(name, { file, commit, ...(entry.command ? { command: entry.command } : {}) });
    }
  }
  return { packages: found.package, scripts: found.script, targets: found.target };
}

interface Entry {
  kind: "package" | "script" | "target";
  name: string;
  command?: string;
}

/** Line by line, because removals are known by line; a package file also as a whole, because it may be on one line. */
function entriesOf(file: string, text: string): Entry[] {
  const byLine = text.split("\n").flatMap((line) => entryOf(file, line) ?? []);
  return nameOf(file) === "package.json" ? [...byLine, ...packageEntries(text)] : byLine;
}

const DEPENDENCIES = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

/** None where it cannot be read: also a value that JSON can hold may refuse to become a text. */
function packageEntries(text: string): Entry[] {
  return attempt(() => {
    const file: Record<string, unknown> | null = JSON.parse(text);
    const pairs = (key: string) => {
      const value = file?.[key];
      return typeof value === "object" && value !== null ? Object.entries(value) : [];
    };
    return [
      ...DEPENDENCIES.flatMap(pairs).map(([name]): Entry => ({ kind: "package", name })),
      ...pairs("scripts").map(([name, command]): Entry => ({ kind: "script", name, command: String(command) })),
    ];
  }, []);
}

const JSON_PAIR = /^\s*"((?:[^"\\]|\\.){1,200})"\s*:\s*"((?:[^"\\]|\\.){0,1000})"/;
const VERSION = /^(?:[\^~<>=*]|v?\d|workspace:|npm:|file:|link:|git[+:@]|github:|catalog:|latest$|next$|https?:)/;
/** Keys of a package file that are neither. */
const OTHER_KEY =
  /^(?:name|version|description|license|author|main|module|types|typings|type|homepage|url|email|node|npm|engines|packageManager|private|\$schema|import|require|default|directory|browser|bin)$/;
const TOML_PAIR = /^\s*"?([A-Za-z0-9][\w.-]*)"?\s*=\s*(?:["'][\^~<>=*\d]|\{)/;
const TARGET = /^([A-Za-z0-9][\w.-]*(?:\s+[A-Za-z0-9][\w.-]*)*)\s*:(?!=)/;

/** By the line alone: a removed line comes without those around it. */
function entryOf(file: string, line: string): Entry | null {
  if (MAKE.test(file)) {
    const name = TARGET.exec(line)?.[1];
    return name ? { kind: "target", name } : null;
  }
  if (/\.jsonc?$/.test(file)) {
    const [, name = "", value = ""] = JSON_PAIR.exec(line) ?? [];
    if (name === "" || OTHER_KEY.test(name) || name.startsWith(".")) return null;
    return VERSION.test(value) ? { kind: "package", name } : { kind: "script", name, command: value };
  }
  const name = packageOf(file, line);
  return name ? { kind: "package", name } : null;
}

function packageOf(file: string, line: string): string | undefined {
  if (/\.(?:txt|in)$/.test(file))
    return /^\s*([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:[=<>~!;@]|$)/.exec(line)?.[1]?.toLowerCase();
  if (/go\.mod$/.test(file)) return /^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/[^\s]+)\s+v\d/.exec(line)?.[1];
  if (/\.xml$/.test(file)) return /<artifactId>\s*([\w.-]+)\s*<\/artifactId>/.exec(line)?.[1];
  if (/\.csproj$/.test(file)) return /PackageReference\s+Include="([\w.-]+)"/.exec(line)?.[1];
  if (/gradle/.test(file)) return /["'][\w.-]+:([\w.-]+):[\w.$-]+["']/.exec(line)?.[1];
  if (/Gemfile|gemspec/.test(file)) return /\b(?:gem|add_\w*dependency)\s*\(?\s*["']([\w-]+)["']/.exec(line)?.[1];
  if (/mix\.exs$/.test(file)) return /\{:(\w+),/.exec(line)?.[1];
  if (/\.ya?ml$/.test(file)) return /^\s*-\s*([A-Za-z][\w.-]*)\s*(?:[=<>]|$)/.exec(line)?.[1];
  if (/\.(?:toml|cfg|py)$|Pipfile$/.test(file))
    return (
      TOML_PAIR.exec(line)?.[1] ??
      /^\s*["']?([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*[=<>~!]=?\s*\d[^"']*["']?,?\s*$/.exec(line)?.[1] ??
      /^\s*"([A-Za-z][\w.-]*)(?:\[[^\]]*\])?(?:[=<>~!][^"]*)?",?\s*$/.exec(line)?.[1]
    );
  return undefined;
}
