/** Package files and makefiles: which dependencies, scripts and targets a project has, and which it had. */

import { join } from "node:path";
import { readRegularText } from "../disk/fence.ts";
import { attempt, isObject } from "../errors.ts";
import { type Commit, nameOf } from "./history.ts";

const MANIFEST =
  /^(?:package\.json|(?:[\w-]*requirements[\w-]*\.(?:txt|in))|pyproject\.toml|Pipfile|setup\.(?:py|cfg)|Cargo\.toml|go\.mod|Gemfile|[\w-]+\.gemspec|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|[\w-]+\.csproj|mix\.exs|deno\.jsonc?|environment\.ya?ml|GNUmakefile|Makefile|[\w-]+\.mk|justfile|Justfile)$/;
const MAKE = /(?:^|\/)(?:GNUmakefile|Makefile|[\w-]+\.mk|justfile|Justfile)$/;
const VENDORED = /(?:^|\/)(?:node_modules|vendor|third[_-]?party)\//;
const MAX_BYTES = 1 << 20;
const MAX_MANIFESTS = 2_000;

/** What a line or a file declares. */
interface Entry {
  kind: "package" | "script" | "target";
  name: string;
  /** What a script runs. */
  command: string;
}

/** By kind and name; with the commit where a line was removed. */
export type Entries<Place = unknown> = Record<Entry["kind"], ReadonlyMap<string, Entry & { file: string } & Place>>;

/** A line that a commit removed from such a file. */
export interface RemovedLine {
  file: string;
  text: string;
  commit: Commit;
}

export function isManifest(file: string): boolean {
  return MANIFEST.test(nameOf(file)) && !VENDORED.test(file);
}

/** Of files below the root that are such. */
export function readManifests(root: string, files: readonly string[]): Entries {
  const textOf = (file: string) => attempt(() => readRegularText(join(root, file), MAX_BYTES), null) ?? "";
  return byKind(
    files.slice(0, MAX_MANIFESTS).flatMap((file) => entriesOf(file, textOf(file)).map((entry) => ({ ...entry, file }))),
  );
}

/** The newest removal of each. */
export function removedEntries(lines: readonly RemovedLine[]): Entries<{ commit: Commit }> {
  return byKind(
    lines.toReversed().flatMap(({ text, ...place }) => entriesIn(place.file, text).map((it) => ({ ...it, ...place }))),
  );
}

/** Of several of one name the last one counts. */
function byKind<Place>(entries: readonly (Entry & { file: string } & Place)[]): Entries<Place> {
  const mapOf = (kind: Entry["kind"]) =>
    new Map(entries.filter((entry) => entry.kind === kind).map((entry) => [entry.name, entry]));
  return { package: mapOf("package"), script: mapOf("script"), target: mapOf("target") };
}

/** Line by line, because removals are known by line; a package file also as a whole, because it may be on one line. */
function entriesOf(file: string, text: string): Entry[] {
  const byLine = text.split("\n").flatMap((line) => entriesIn(file, line));
  return nameOf(file) === "package.json" ? [...byLine, ...packageEntries(text)] : byLine;
}

const DEPENDENCIES = ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];

/** None where it cannot be read: also a value that JSON can hold may refuse to become a text. */
function packageEntries(text: string): Entry[] {
  return attempt(() => {
    const file: Record<string, unknown> | null = JSON.parse(text);
    const pairs = (key: string) => {
      const value = file?.[key];
      return isObject(value) ? Object.entries(value) : [];
    };
    return [
      ...DEPENDENCIES.flatMap(pairs).map(([name]): Entry => ({ kind: "package", name, command: "" })),
      ...pairs("scripts").map(([name, command]): Entry => ({ kind: "script", name, command: String(command) })),
    ];
  }, []);
}

const JSON_PAIR = /^\s*"((?:[^"\\]|\\.){1,200})"\s*:\s*"((?:[^"\\]|\\.){0,1000})"/;
const VERSION = /^(?:[\^~<>=*]|v?\d|workspace:|npm:|file:|link:|git[+:@]|github:|catalog:|latest$|next$|https?:)/;
/** Keys of a package file that are neither. */
const OTHER_KEY =
  /^(?:name|version|description|license|author|main|module|types|typings|type|homepage|url|email|node|npm|engines|packageManager|private|\$schema|import|require|default|directory|browser|bin)$/;
const TARGET = /^([A-Za-z0-9][\w.-]*(?:\s+[A-Za-z0-9][\w.-]*)*)\s*:(?!=)/;

/** By the line alone: a removed line comes without those around it. */
function entriesIn(file: string, line: string): Entry[] {
  if (MAKE.test(file)) {
    const names = TARGET.exec(line)?.[1]?.split(/\s+/) ?? [];
    return names.map((name) => ({ kind: "target", name, command: "" }));
  }
  if (/\.jsonc?$/.test(file)) {
    const [, name = "", value = ""] = JSON_PAIR.exec(line) ?? [];
    if (name === "" || OTHER_KEY.test(name) || name.startsWith(".")) return [];
    return [VERSION.test(value) ? { kind: "package", name, command: "" } : { kind: "script", name, command: value }];
  }
  const name = packageOf(file, line);
  return name ? [{ kind: "package", name, command: "" }] : [];
}

/** Which files declare packages in which lines. */
const PACKAGE_LINES: readonly (readonly [file: RegExp, ...lines: RegExp[]])[] = [
  [/\.(?:txt|in)$/, /^\s*([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:[=<>~!;@]|$)/],
  [/go\.mod$/, /^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/[^\s]+)\s+v\d/],
  [/\.xml$/, /<artifactId>\s*([\w.-]+)\s*<\/artifactId>/],
  [/\.csproj$/, /PackageReference\s+Include="([\w.-]+)"/],
  [/gradle/, /["'][\w.-]+:([\w.-]+):[\w.$-]+["']/],
  [/Gemfile|gemspec/, /\b(?:gem|add_\w*dependency)\s*\(?\s*["']([\w-]+)["']/],
  [/mix\.exs$/, /\{:(\w+),/],
  [/\.ya?ml$/, /^\s*-\s*([A-Za-z][\w.-]*)\s*(?:[=<>]|$)/],
  [
    /\.(?:toml|cfg|py)$|Pipfile$/,
    /^\s*"?([A-Za-z0-9][\w.-]*)"?\s*=\s*(?:["'][\^~<>=*\d]|\{)/,
    /^\s*["']?([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*[=<>~!]=?\s*\d[^"']*["']?,?\s*$/,
    /^\s*"([A-Za-z][\w.-]*)(?:\[[^\]]*\])?(?:[=<>~!][^"]*)?",?\s*$/,
  ],
];

function packageOf(file: string, line: string): string | undefined {
  const [kind, ...forms] = PACKAGE_LINES.find(([kind]) => kind.test(file)) ?? [];
  const name = forms.map((form) => form.exec(line)?.[1]).find(Boolean);
  // In requirements the case of a name does not count.
  return kind?.test(".txt") ? name?.toLowerCase() : name;
}
