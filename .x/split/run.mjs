var __defProp = Object.defineProperty;
var __getOwnPropNames = Object.getOwnPropertyNames;
var __esm = (fn, res, err) => function __init() {
  if (err) throw err[0];
  try {
    return fn && (res = (0, fn[__getOwnPropNames(fn)[0]])(fn = 0)), res;
  } catch (e) {
    throw err = [e], e;
  }
};
var __export = (target, all) => {
  for (var name in all)
    __defProp(target, name, { get: all[name], enumerable: true });
};

// src/settings.ts
import fs from "node:fs";
import path from "node:path";
function readClaudeSettings(places, problems) {
  const files = {
    user: path.join(places.claudeDir, "settings.json"),
    project: path.join(places.projectRoot, ".claude", "settings.json"),
    local: path.join(places.projectRoot, ".claude", "settings.local.json")
  };
  const read = (source) => {
    const counts = places.sources?.includes(source) ?? true;
    const twice = source === "project" && files.project === files.user && (places.sources?.includes("user") ?? true);
    return counts && !twice ? pickSettings(openJson(files[source], problems)) : { file: files[source] };
  };
  const managed = path.join(places.managedDir, "managed-settings.json");
  const parts = [managed, ...listDropIns(path.join(places.managedDir, "managed-settings.d"))];
  const policy = parts.map((file) => pickSettings(openJson(file, problems))).reduce(overlay);
  return { managed: policy, local: read("local"), project: read("project"), user: read("user") };
}
function listDropIns(dir) {
  try {
    const names3 = fs.readdirSync(dir).filter((name) => name.endsWith(".json") && !name.startsWith("."));
    return names3.sort().map((name) => path.join(dir, name));
  } catch {
    return [];
  }
}
function pickSettings(file) {
  const permissions = take(file, "permissions", OBJECT) ?? {};
  const settings = {
    file: file.path,
    autoMemoryEnabled: take(file, "autoMemoryEnabled", BOOLEAN),
    autoMemoryDirectory: take(file, "autoMemoryDirectory", TEXT),
    memoryDir: take(file, "memoryDir", TEXT),
    env: take(file, "env", ENV_BLOCK),
    claudeMdExcludes: take(file, "claudeMdExcludes", TEXTS),
    additionalDirectories: take({ ...file, values: permissions }, "additionalDirectories", TEXTS),
    enabledPlugins: take(file, "enabledPlugins", SWITCHES)
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== void 0));
}
function overlay(base, top) {
  const merged = { ...base, ...top };
  if (base.env && top.env) merged.env = { ...base.env, ...top.env };
  if (base.enabledPlugins && top.enabledPlugins)
    merged.enabledPlugins = { ...base.enabledPlugins, ...top.enabledPlugins };
  for (const key of ["claudeMdExcludes", "additionalDirectories"]) {
    if (base[key] && top[key]) merged[key] = [...base[key], ...top[key]];
  }
  return merged;
}
function openJson(file, problems) {
  const opened = { path: file, values: {}, problems };
  let text;
  try {
    const stat = fs.statSync(file);
    if (!stat.isFile() || stat.size > MAX_BYTES) {
      problems.push(`${file}: ${stat.isFile() ? "larger than 4 MB" : "not a file"}; it is ignored`);
      return opened;
    }
    text = fs.readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const code = error.code ?? "unknown error";
    if (code !== "ENOENT" && code !== "ENOTDIR") problems.push(`${file}: cannot be read (${code}); it is ignored`);
    return opened;
  }
  if (text.trim() === "") return opened;
  try {
    const values = OBJECT.accept(JSON.parse(text));
    if (values) return { ...opened, values };
    problems.push(`${file}: must hold one JSON object; it is ignored`);
  } catch (error) {
    problems.push(`${file}: not valid JSON${placeOf(error, text)}; it is ignored until that is mended`);
  }
  return opened;
}
function placeOf(error, text) {
  const position = /position (\d+)/.exec(String(error))?.[1];
  return position ? ` (line ${text.slice(0, Number(position)).split("\n").length})` : "";
}
function take(file, key, kind) {
  const value = file.values[key];
  if (value === void 0 || value === null) return void 0;
  const accepted = kind.accept(value);
  if (accepted === void 0) file.problems.push(`${file.path}: "${key}" must be ${kind.expected}; it is ignored`);
  return accepted;
}
function oneOf(values) {
  return { expected: `one of ${values.join(", ")}`, accept: (value) => values.find((item) => item === value) };
}
function mapOf(what, accept) {
  return {
    expected: `an object of ${what}`,
    accept: (value) => {
      const kept = keep(value, accept);
      return kept && Object.keys(kept).length === Object.keys(value).length ? kept : void 0;
    }
  };
}
function keep(value, accept) {
  const object = OBJECT.accept(value);
  if (!object) return void 0;
  const entries = Object.entries(object).map(([key, item]) => [key, accept(item)]);
  return Object.fromEntries(entries.filter((entry) => entry[1] !== void 0));
}
function booleanOf(value) {
  return typeof value === "boolean" ? value : void 0;
}
function textOf(value) {
  return typeof value === "string" ? value : void 0;
}
var SETTING_SOURCES, MAX_BYTES, BOOLEAN, TEXT, TEXTS, COUNT, OBJECT, TEXT_BY_NAME, SWITCHES, ENV_BLOCK;
var init_settings = __esm({
  "src/settings.ts"() {
    "use strict";
    SETTING_SOURCES = ["managed", "local", "project", "user"];
    MAX_BYTES = 4 * 1024 * 1024;
    BOOLEAN = { expected: "true or false", accept: booleanOf };
    TEXT = { expected: "a text", accept: textOf };
    TEXTS = {
      expected: "a list of texts",
      accept: (value) => Array.isArray(value) && value.every((item) => typeof item === "string") ? value : void 0
    };
    COUNT = {
      expected: "a whole number above zero",
      accept: (value) => Number.isSafeInteger(value) && value > 0 ? value : void 0
    };
    OBJECT = {
      expected: "an object",
      accept: (value) => typeof value === "object" && value !== null && !Array.isArray(value) ? value : void 0
    };
    TEXT_BY_NAME = mapOf("texts", textOf);
    SWITCHES = {
      expected: "an object",
      // Some values are lists of versions; only the plain switches concern us.
      accept: (value) => keep(value, booleanOf)
    };
    ENV_BLOCK = mapOf(
      "texts",
      (value) => ["string", "number", "boolean"].includes(typeof value) ? String(value) : void 0
    );
  }
});

// src/config.ts
import os from "node:os";
import path2 from "node:path";
function processEnv() {
  return process.env;
}
function readConfig(options) {
  const { cwd, env, projectRoot, platform = process.platform } = options;
  const problems = [];
  const home = env.HOME || env.USERPROFILE || os.homedir();
  const asked = profileOf(env.MEMDIR_PROFILE);
  if (env.MEMDIR_PROFILE && !asked) problems.push(`MEMDIR_PROFILE must be one of ${PROFILE_NAMES}; it is ignored`);
  const userFile = path2.join(claudeDirOf(asked ?? "claude", home, cwd, env), "memdir.json");
  const user = readOwn(openJson(userFile, problems), "user");
  const profile = asked ?? user.profile ?? "claude";
  const preset = PROFILES[profile];
  const claudeDir = claudeDirOf(profile, home, cwd, env);
  const managedDir = env.MEMDIR_MANAGED_DIR || preset.managedDir || MANAGED_DIRS[platform] || "/etc/claude-code";
  const projectFile = path2.join(projectRoot, ".claude", "memdir.json");
  const project = projectFile === userFile ? {} : readOwn(openJson(projectFile, problems), "project");
  const settings = readClaudeSettings(
    { claudeDir, managedDir, projectRoot, sources: options.settingSources },
    problems
  );
  const effective = mergeEnv(env, settings, problems);
  return {
    home,
    claudeDir,
    managedDir,
    userFile,
    profile,
    keying: user.keying ?? preset.keying,
    projectScope: project.projectScope ?? user.projectScope ?? preset.projectScope,
    scopeLayout: project.scopeLayout ?? user.scopeLayout ?? "separate",
    memoryFolder: preset.memoryFolder,
    index: { maxLines: 200, maxChars: 25e3, ...user.index, ...project.index },
    ageDays: ascending({ ...AGE_DAYS, ...user.ageDays, ...project.ageDays }, problems),
    team: isOff(env.TEAMMEM) ? false : isOn(env.TEAMMEM) || (user.team ?? true),
    trusted: user.trusted ?? {},
    directories: user.directories ?? {},
    settings,
    env: effective,
    disabled: whyDisabled(effective, settings),
    claudeMdsDisabled: isOn(effective.CLAUDE_CODE_DISABLE_CLAUDE_MDS) || isOn(effective.CLAUDE_CODE_SIMPLE),
    problems
  };
}
function profileOf(value) {
  return typeof value === "string" && Object.hasOwn(PROFILES, value) ? value : void 0;
}
function claudeDirOf(profile, home, cwd, env) {
  const preset = PROFILES[profile];
  if (preset.movable && env.CLAUDE_CONFIG_DIR) return path2.resolve(cwd, env.CLAUDE_CONFIG_DIR);
  return path2.join(home, preset.folder);
}
function readOwn(file, source) {
  const own = {
    projectScope: take(file, "projectScope", oneOf(["repository", "worktree", "cwd"])),
    scopeLayout: take(file, "scopeLayout", oneOf(["separate", "shared"])),
    index: readCounts(file, "index", ["maxLines", "maxChars"]),
    ageDays: readCounts(file, "ageDays", ["recent", "stale", "old"])
  };
  if (source === "project") {
    for (const key of USER_ONLY.filter((key2) => file.values[key2] !== void 0)) {
      file.problems.push(`${file.path}: "${key}" is not taken from a repository; set it in your own memdir.json`);
    }
    return own;
  }
  return {
    ...own,
    profile: take(file, "profile", { expected: `one of ${PROFILE_NAMES}`, accept: profileOf }),
    keying: take(file, "keying", KEYING),
    team: take(file, "team", BOOLEAN),
    trusted: take(file, "trusted", TEXT_BY_NAME),
    directories: take(file, "directories", TEXT_BY_NAME)
  };
}
function readCounts(file, key, names3) {
  const values = take(file, key, OBJECT) ?? {};
  const inner = { path: `${file.path}: ${key}`, values, problems: file.problems };
  const counts = {};
  for (const name of names3) {
    const count = take(inner, name, COUNT);
    if (count !== void 0) counts[name] = count;
  }
  return counts;
}
function ascending(days, problems) {
  if (days.recent <= days.stale && days.stale <= days.old) return days;
  problems.push(`"ageDays" of memdir.json must grow from recent over stale to old; the defaults are used`);
  return AGE_DAYS;
}
function mergeEnv(env, settings, problems) {
  const merged = { ...env };
  for (const source of SETTING_SOURCES) {
    const { file, env: block = {} } = settings[source];
    for (const [name, value] of Object.entries(block)) {
      const allowed = source === "managed" || source === "user" || REPOSITORY_SWITCH.test(name);
      if (!allowed && PLACE.test(name)) problems.push(`${file}: env ${name} is not taken from a repository`);
      if (allowed && merged[name] === void 0) merged[name] = value;
    }
  }
  return merged;
}
function whyDisabled(env, settings) {
  if (isOn(env.CLAUDE_CODE_DISABLE_AUTO_MEMORY)) return "CLAUDE_CODE_DISABLE_AUTO_MEMORY is set";
  if (isOff(env.CLAUDE_CODE_DISABLE_AUTO_MEMORY)) return null;
  if (isOn(env.CLAUDE_CODE_SIMPLE)) return "CLAUDE_CODE_SIMPLE is set";
  if (isOn(env.CLAUDE_CODE_REMOTE) && !env.CLAUDE_CODE_REMOTE_MEMORY_DIR) {
    return "CLAUDE_CODE_REMOTE is set without CLAUDE_CODE_REMOTE_MEMORY_DIR";
  }
  const source = SETTING_SOURCES.find((name) => settings[name].autoMemoryEnabled !== void 0);
  if (!source || settings[source].autoMemoryEnabled) return null;
  return `autoMemoryEnabled is false in ${settings[source].file}`;
}
function isOn(value) {
  return /^\s*(1|true|yes|on)\s*$/i.test(value ?? "");
}
function isOff(value) {
  return /^\s*(0|false|no|off)\s*$/i.test(value ?? "");
}
var CLAUDE, PROFILES, PROFILE_NAMES, MANAGED_DIRS, AGE_DAYS, KEYING, USER_ONLY, REPOSITORY_SWITCH, PLACE;
var init_config = __esm({
  "src/config.ts"() {
    "use strict";
    init_settings();
    CLAUDE = {
      folder: ".claude",
      movable: true,
      managedDir: null,
      keying: "slug",
      projectScope: "repository",
      memoryFolder: "memory"
    };
    PROFILES = {
      claude: CLAUDE,
      "code-assist": { ...CLAUDE, managedDir: "/etc/code-assist", memoryFolder: "" },
      "mini-claude": { ...CLAUDE, folder: ".mini-claude", movable: false, keying: "sha256-16", projectScope: "cwd" },
      own: { ...CLAUDE, folder: ".memdir", movable: false }
    };
    PROFILE_NAMES = Object.keys(PROFILES).join(", ");
    MANAGED_DIRS = {
      darwin: "/Library/Application Support/ClaudeCode",
      win32: "C:\\Program Files\\ClaudeCode"
    };
    AGE_DAYS = { recent: 2, stale: 8, old: 31 };
    KEYING = {
      expected: '"slug", "sha256-16" or { "name": "…" }',
      accept: (value) => {
        if (value === "slug" || value === "sha256-16") return value;
        const name = OBJECT.accept(value)?.name;
        return typeof name === "string" ? { name } : void 0;
      }
    };
    USER_ONLY = ["profile", "keying", "team", "trusted", "directories"];
    REPOSITORY_SWITCH = /^CLAUDE_CODE_(DISABLE_[A-Z_]+|SIMPLE|ADDITIONAL_DIRECTORIES_CLAUDE_MD)$/;
    PLACE = /^(MEMDIR_.*|CLAUDE_CONFIG_DIR|CLAUDE_MEMORY_DIR|CLAUDE_CODE_PROJECT_DIR_NAME|CLAUDE_.*_MEMORY_.*)$/;
  }
});

// src/errors.ts
function exitCodeOf(error) {
  if (error instanceof MemdirError) return ENVIRONMENT.has(error.code) ? 3 : 2;
  return 3;
}
function diskError(error, doing, file) {
  if (error instanceof MemdirError) return error;
  const code = error?.code ?? "";
  const remedy = REMEDIES[code] ?? "see the cause with MEMDIR_DEBUG=1";
  return new MemdirError("disk", `cannot ${doing} ${file}${code ? ` (${code})` : ""}: ${remedy}`, { cause: error });
}
var ENVIRONMENT, MemdirError, REMEDIES;
var init_errors = __esm({
  "src/errors.ts"() {
    "use strict";
    ENVIRONMENT = /* @__PURE__ */ new Set(["disk", "lock"]);
    MemdirError = class extends Error {
      code;
      /** For programs, e.g. the rule and line of every secret found. Never holds a secret's value. */
      details;
      constructor(code, message, options = {}) {
        super(message, { cause: options.cause });
        this.name = "MemdirError";
        this.code = code;
        this.details = options.details;
      }
    };
    REMEDIES = {
      ENOSPC: "the disk is full, nothing was changed; free some space and run it again",
      EDQUOT: "the disk quota is used up, nothing was changed; free some space and run it again",
      EROFS: "the file system is read-only; choose another directory with --memory-dir",
      EACCES: "no permission; check the owner and mode of the directory",
      EPERM: "no permission; check the owner and mode of the directory",
      ENOENT: "it is gone; was the directory removed meanwhile? Run the command again to make it anew",
      ENOTDIR: "a part of the path is a file, not a directory; move it away or choose another --memory-dir",
      EISDIR: "a directory stands where a file belongs; move it away",
      ELOOP: "it is a symbolic link where none is allowed; replace it by a real file or directory",
      EMFILE: "too many open files; raise the limit (ulimit -n)",
      EIO: "the disk reported an error; check its health"
    };
  }
});

// src/disk/real-path.ts
import fs2 from "node:fs";
import path3 from "node:path";
function realPath(file, links = 0) {
  const absolute = path3.resolve(file);
  const missing2 = [];
  for (let at = absolute; ; at = path3.dirname(at)) {
    const real = attempt(() => resolveLinks(at));
    if (real !== null) return path3.join(real, ...missing2);
    const target = links < MAX_LINKS ? attempt(() => fs2.readlinkSync(at)) : null;
    if (target !== null) return path3.join(realPath(path3.resolve(path3.dirname(at), target), links + 1), ...missing2);
    if (path3.dirname(at) === at) return absolute;
    missing2.unshift(path3.basename(at));
  }
}
function isWithin(dir, file) {
  const relative = path3.relative(dir, file);
  return relative === "" || !path3.isAbsolute(relative) && relative.split(path3.sep)[0] !== "..";
}
function resolveLinks(file) {
  return process.platform === "win32" ? fs2.realpathSync(file) : fs2.realpathSync.native(file);
}
function attempt(read) {
  try {
    return read();
  } catch {
    return null;
  }
}
var MAX_LINKS;
var init_real_path = __esm({
  "src/disk/real-path.ts"() {
    "use strict";
    MAX_LINKS = 40;
  }
});

// src/text/client-markdown.ts
function stripForClient(text) {
  return stripBlockComments(stripFrontmatter(text.startsWith("\uFEFF") ? text.slice(1) : text));
}
function stripFrontmatter(text) {
  const match = /^---[ \t]*\r?\n(?:[\s\S]*?)---(?:\s+|$)/.exec(text);
  return match ? text.slice(match[0].length) : text;
}
function stripBlockComments(text) {
  if (!text.includes("<!--")) return text;
  const source = text.replaceAll("\r\n", "\n");
  let out = "";
  let at = 0;
  let removed = false;
  while (at < source.length) {
    const end = lineEnd(source, at);
    const line = source.slice(at, end);
    const comment = COMMENT.test(line) ? commentSpan(source, at) : null;
    if (comment) {
      removed = true;
      out += comment.rest;
      at = comment.end;
      continue;
    }
    const block = COMMENT.test(line) ? end : blockEnd(source, at, line, end);
    out += source.slice(at, block);
    at = block;
  }
  return removed ? out : text;
}
function commentSpan(source, at) {
  const open2 = source.indexOf("<!--", at);
  if (/^<!---?>/.test(source.slice(open2, open2 + 6)) && !source.startsWith("<!---->", open2)) return null;
  const close = source.indexOf("-->", open2 + 4);
  if (close < 0) return null;
  const end = lineEnd(source, close);
  const rest = source.slice(close + 3, end);
  if (rest.trim() !== "") return { end, rest };
  let after = end;
  while (after < source.length && source.slice(after, lineEnd(source, after)).trim() === "")
    after = lineEnd(source, after);
  return { end: after, rest: "" };
}
function blockEnd(source, at, line, end) {
  const fence = FENCE.exec(line)?.[1];
  if (fence) {
    const close = new RegExp(`^ {0,3}${fence[0] === "`" ? "`" : "~"}{${fence.length},}[ \\t]*$`, "m");
    const found = close.exec(source.slice(end));
    return found ? lineEnd(source, end + found.index) : source.length;
  }
  const raw = RAW_HTML.exec(line)?.[1];
  if (raw) {
    const close = source.toLowerCase().indexOf(`</${raw.toLowerCase()}>`, at);
    return close < 0 ? source.length : lineEnd(source, close);
  }
  if (HTML_BLOCK.test(line)) {
    const blank2 = /\n[ \t]*\n/.exec(source.slice(at));
    return blank2 ? at + blank2.index + 1 : source.length;
  }
  return end;
}
function lineEnd(source, at) {
  const newline = source.indexOf("\n", at);
  return newline < 0 ? source.length : newline + 1;
}
var FENCE, COMMENT, RAW_HTML, HTML_BLOCK;
var init_client_markdown = __esm({
  "src/text/client-markdown.ts"() {
    "use strict";
    FENCE = /^ {0,3}(`{3,}|~{3,})/;
    COMMENT = /^ {0,3}<!--/;
    RAW_HTML = /^ {0,3}<(script|pre|style|textarea)\b/i;
    HTML_BLOCK = /^ {0,3}<\/?[a-z][a-z0-9-]*(\s|\/?>|$)/i;
  }
});

// src/instructions/discover.ts
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
function discoverInstructions(cwd, config) {
  if (config.claudeMdsDisabled) return [];
  const candidates = [
    ["managed", join(config.managedDir, "CLAUDE.md")],
    ["user", join(config.claudeDir, "CLAUDE.md")],
    ...ancestorsOf(cwd).flatMap((directory) => [
      ["project", join(directory, "CLAUDE.md")],
      ["project", join(directory, ".claude", "CLAUDE.md")],
      ["local", join(directory, "CLAUDE.local.md")]
    ])
  ];
  const seen = /* @__PURE__ */ new Set();
  return candidates.flatMap(([source, path14]) => {
    const content = seen.has(path14) ? "" : readContent(path14);
    seen.add(path14);
    return content === "" ? [] : [{ path: path14, label: LABELS[source], source, content, size: content.length }];
  });
}
function ancestorsOf(directory) {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [...ancestorsOf(parent), directory];
}
function readContent(path14) {
  try {
    return stripForClient(readFileSync(path14, "utf8")).trim();
  } catch {
    return "";
  }
}
var LABELS;
var init_discover = __esm({
  "src/instructions/discover.ts"() {
    "use strict";
    init_client_markdown();
    LABELS = {
      managed: "organization-managed policy instructions",
      user: "user's private global instructions for all projects",
      project: "project instructions, checked into the codebase",
      local: "user's private project instructions, not checked in"
    };
  }
});

// src/memory/age.ts
function ageInDays(thenMs, nowMs) {
  return Math.max(0, Math.floor((nowMs - thenMs) / DAY_MS));
}
function ageName(days, limits) {
  if (days >= limits.old) return "old";
  if (days >= limits.stale) return "stale";
  return days >= limits.recent ? "recent" : "fresh";
}
function ageInWords(days) {
  if (days === 0) return "today";
  return days === 1 ? "yesterday" : `${days} days ago`;
}
var DAY_MS;
var init_age = __esm({
  "src/memory/age.ts"() {
    "use strict";
    DAY_MS = 864e5;
  }
});

// src/disk/native.ts
import { createRequire } from "node:module";
function loadNative() {
  if (loaded === void 0) {
    try {
      loaded = createRequire(import.meta.url)("fs-native-extensions");
    } catch {
      loaded = null;
    }
  }
  return loaded;
}
var loaded;
var init_native = __esm({
  "src/disk/native.ts"() {
    "use strict";
  }
});

// src/disk/atomic.ts
import { closeSync, fsyncSync, linkSync, openSync, renameSync, unlinkSync, writeSync } from "node:fs";
import { dirname as dirname2, join as join2 } from "node:path";
function writeTemporary(directory, data, mode, kind = "file", flush = true) {
  const path14 = join2(directory, `${kind}-${process.pid}-${process.hrtime.bigint().toString(36)}-${counter++}`);
  const fd = openSync(path14, "wx", mode);
  try {
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    if (flush) fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    removeQuietly(path14);
    throw error;
  }
  closeSync(fd);
  return path14;
}
function moveInto(temporary, target, flush = true) {
  try {
    renameSync(temporary, target);
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
  if (flush) syncDirectory(dirname2(target));
}
function writeCacheFile(temporaries, target, data) {
  renameSync(writeTemporary(temporaries, data, PRIVATE_MODE, "cache", false), target);
}
function exchange(temporary, target, unchanged, native = loadNative()) {
  try {
    linkSync(temporary, target);
    removeQuietly(temporary);
    syncDirectory(dirname2(target));
    return { replaced: null };
  } catch (error) {
    const code = error.code;
    if (code !== "EEXIST" && code !== "EPERM" && code !== "ENOTSUP" && code !== "EXDEV" && code !== "EISDIR")
      throw error;
  }
  if (native && process.platform !== "win32") {
    try {
      native.swapSync(temporary, target);
      syncDirectory(dirname2(target));
      return { replaced: temporary };
    } catch (error) {
      const code = error.code;
      if (code === "ENOENT") return "changed";
      if (code !== "EINVAL" && code !== "ENOSYS" && code !== "ENOTSUP") throw error;
    }
  }
  if (!unchanged()) return "changed";
  renameSync(temporary, target);
  syncDirectory(dirname2(target));
  return { replaced: null };
}
function syncDirectory(directory) {
  if (process.platform === "win32") return;
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } catch (error) {
    if (error.code !== "EINVAL") throw error;
  } finally {
    closeSync(fd);
  }
}
function removeQuietly(path14) {
  try {
    unlinkSync(path14);
  } catch {
  }
}
var PRIVATE_MODE, SHARED_MODE, counter;
var init_atomic = __esm({
  "src/disk/atomic.ts"() {
    "use strict";
    init_native();
    PRIVATE_MODE = 384;
    SHARED_MODE = 420;
    counter = 0;
  }
});

// src/text/frontmatter-line.ts
function isBlankOrComment(line) {
  const text = line.trim();
  return text === "" || text.startsWith("#");
}
function indentOf(line) {
  return line.length - line.trimStart().length;
}
function keyEnd(line) {
  const text = line.trimStart();
  const quote3 = text[0];
  if (quote3 === '"' || quote3 === "'") {
    const close = text.indexOf(quote3, 1);
    const colon = close < 0 ? -1 : text.indexOf(":", close);
    return colon < 0 ? -1 : colon + indentOf(line);
  }
  return line.indexOf(":");
}
var init_frontmatter_line = __esm({
  "src/text/frontmatter-line.ts"() {
    "use strict";
  }
});

// src/text/frontmatter-value.ts
function readValue(lines, at, to, column, indent, parseMap2) {
  const rest = lines[at].text.slice(column).trim();
  const next = at + 1;
  if (rest === "" || rest.startsWith("#")) return readBelow(lines, next, to, indent, parseMap2);
  if (/^[|>][-+0-9]*(\s+#.*)?$/.test(rest)) return readBlock(lines, next, to, indent, rest);
  if (rest[0] === '"' || rest[0] === "'") return readQuoted(lines, at, to, rest);
  if (rest[0] === "[" || rest[0] === "{") return readFlow(lines, at, to, indent, rest);
  return readPlain(lines, next, to, indent, rest);
}
function scalar(value, style, next, problem) {
  return { value, style, comment: "", fields: [], next, ...problem ? { problem } : {} };
}
function readPlain(lines, from, to, indent, first) {
  let value = first;
  let next = from;
  while (next < to) {
    const text = lines[next].text;
    if (isBlankOrComment(text) || indentOf(text) <= indent || /^\s*[^\s"'].*?:(\s|$)/.test(text)) break;
    value += ` ${text.trim()}`;
    next++;
  }
  return scalar(value, "plain", next);
}
function readBlock(lines, from, to, indent, marker) {
  const taken = [];
  let next = from;
  while (next < to) {
    const text = lines[next].text;
    if (text.trim() !== "" && indentOf(text) <= indent) break;
    taken.push(text);
    next++;
  }
  while (taken.length > 0 && taken[taken.length - 1].trim() === "") {
    taken.pop();
    next--;
  }
  const depth = Math.min(...taken.filter((t) => t.trim() !== "").map(indentOf));
  const texts = taken.map((t) => t.slice(Number.isFinite(depth) ? depth : 0));
  const value = marker.startsWith("|") ? texts.join("\n") : fold(texts);
  return scalar(value, "block", next);
}
function fold(texts) {
  let out = "";
  let breaks = 0;
  for (const text of texts) {
    if (text.trim() === "") breaks++;
    else {
      out += out === "" ? text : breaks > 0 ? "\n".repeat(breaks) + text : ` ${text}`;
      breaks = 0;
    }
  }
  return out;
}
function readBelow(lines, from, to, indent, parseMap2) {
  let first = from;
  while (first < to && isBlankOrComment(lines[first].text)) first++;
  const line = lines[first];
  if (first >= to || !line) return scalar("", "empty", from);
  const depth = indentOf(line.text);
  if (depth >= indent && /^\s*-(\s|$)/.test(line.text)) return readList(lines, first, to, depth);
  if (depth <= indent) return scalar("", "empty", from);
  let end = first;
  let last = first;
  while (end < to) {
    const text = lines[end].text;
    if (!isBlankOrComment(text)) {
      if (indentOf(text) <= indent) break;
      last = end;
    }
    end++;
  }
  if (keyEnd(line.text) < 0) {
    const texts = lines.slice(first, last + 1).map((l) => l.text.trim());
    return scalar(fold(texts), "plain", last + 1);
  }
  const problems = [];
  const fields = parseMap2(lines, first, last + 1, problems);
  const value = Object.fromEntries(fields.map((f) => [f.key, f.value]));
  const read = { value, style: "map", comment: "", fields, next: last + 1 };
  return problems.length > 0 ? { ...read, problem: problems.join("; ") } : read;
}
function readList(lines, from, to, depth) {
  const items = [];
  let next = from;
  let last = from;
  let problem;
  while (next < to) {
    const text = lines[next].text;
    const isItem = indentOf(text) === depth && /^\s*-(\s|$)/.test(text);
    if (isItem) {
      const item = readItem(text.trim().slice(1).trim());
      problem ??= item.problem;
      items.push(item.value);
    } else if (!isBlankOrComment(text)) {
      if (indentOf(text) <= depth) break;
      items[items.length - 1] = `${items[items.length - 1]} ${text.trim()}`.trim();
    }
    if (!isBlankOrComment(text)) last = next;
    next++;
  }
  const read = { value: items, style: "list", comment: "", fields: [], next: last + 1 };
  return problem ? { ...read, problem } : read;
}
function readItem(text) {
  if (text[0] !== '"' && text[0] !== "'") return { value: text };
  const close = closingQuote(text, 0);
  if (close < 0) return { value: text, problem: "a quote is never closed" };
  return { value: decodeQuoted(text.slice(0, close + 1)) };
}
function readQuoted(lines, at, to, first) {
  let text = first;
  let next = at + 1;
  let close = closingQuote(text, 0);
  while (close < 0 && next < to) {
    const more = lines[next].text.trim();
    text = text.endsWith("\\") && first[0] === '"' ? text.slice(0, -1) + more : `${text}${more === "" ? "\n" : ` ${more}`}`;
    close = closingQuote(text, 0);
    next++;
  }
  if (close < 0) return scalar(first, "plain", at + 1, "a quote is never closed");
  const tail = text.slice(close + 1);
  if (tail.trim() !== "" && !/^\s+#/.test(tail)) {
    return scalar(first, "plain", at + 1, "there is text after the closing quote");
  }
  const read = scalar(decodeQuoted(text.slice(0, close + 1)), "quoted", next);
  return { ...read, comment: tail.trimEnd() };
}
function readFlow(lines, at, to, indent, first) {
  let text = first;
  let next = at + 1;
  let close = closingBracket(text);
  while (close < 0 && next < to) {
    const line = lines[next].text;
    if (line.trim() !== "" && indentOf(line) <= indent && keyEnd(line) > 0 && !line.trim().startsWith("]")) break;
    text += ` ${line.trim()}`;
    close = closingBracket(text);
    next++;
  }
  if (close < 0) return scalar(first, "plain", at + 1, `a "${first[0]}" is never closed`);
  const tail = text.slice(close + 1);
  if (tail.trim() !== "" && !/^\s+#/.test(tail)) return readPlain(lines, at + 1, to, indent, first);
  const inner = splitFlow(text.slice(1, close));
  const comment = tail.trimEnd();
  if (text[0] === "[") {
    return { value: inner.map(unquoteScalar), style: "list", comment, fields: [], next };
  }
  const entries = inner.map((part) => {
    const colon = part.indexOf(":");
    return colon < 0 ? [part.trim(), ""] : [part.slice(0, colon).trim(), unquoteScalar(part.slice(colon + 1).trim())];
  });
  return { value: Object.fromEntries(entries), style: "map", comment, fields: [], next };
}
function splitFlow(text) {
  const parts = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i <= text.length; i++) {
    const c = text[i];
    if ((c === '"' || c === "'") && text.slice(start, i).trim() === "") {
      const close = closingQuote(text, i);
      if (close > 0) i = close;
    } else if (c === "[" || c === "{") depth++;
    else if (c === "]" || c === "}") depth--;
    else if (i === text.length || c === "," && depth === 0) {
      const part = text.slice(start, i).trim();
      if (part !== "") parts.push(part);
      start = i + 1;
    }
  }
  return parts;
}
function closingBracket(text) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if ((c === '"' || c === "'") && /[[{,:\s]/.test(text[i - 1] ?? "")) {
      const close = closingQuote(text, i);
      if (close < 0) return -1;
      i = close;
    } else if (c === "[" || c === "{") depth++;
    else if ((c === "]" || c === "}") && --depth === 0) return i;
  }
  return -1;
}
function closingQuote(text, open2) {
  const quote3 = text[open2];
  for (let i = open2 + 1; i < text.length; i++) {
    if (quote3 === '"' && text[i] === "\\") i++;
    else if (text[i] === quote3) {
      if (quote3 === "'" && text[i + 1] === "'") i++;
      else return i;
    }
  }
  return -1;
}
function unquoteScalar(text) {
  const quoted = (text[0] === '"' || text[0] === "'") && closingQuote(text, 0) === text.length - 1;
  return quoted ? decodeQuoted(text) : text;
}
function decodeQuoted(text) {
  const inner = text.slice(1, -1);
  if (text[0] === "'") return inner.replaceAll("''", "'");
  return inner.replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])/g, (_, code) => {
    if (code.length === 1) return ESCAPES[code] ?? code;
    const point = Number.parseInt(code.slice(1), 16);
    return code[0] === "U" && point <= 1114111 ? String.fromCodePoint(point) : String.fromCharCode(point);
  });
}
var ESCAPES;
var init_frontmatter_value = __esm({
  "src/text/frontmatter-value.ts"() {
    "use strict";
    init_frontmatter_line();
    ESCAPES = {
      "0": "\0",
      a: "\x07",
      b: "\b",
      t: "	",
      n: "\n",
      v: "\v",
      f: "\f",
      r: "\r",
      e: "\x1B",
      N: "",
      _: " ",
      L: "\u2028",
      P: "\u2029"
    };
  }
});

// src/text/frontmatter.ts
function parseDocument(text) {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const from = text.startsWith(BOM) ? 1 : 0;
  const whole = {
    text,
    hasFrontmatter: false,
    fields: [],
    fenceStart: from,
    bodyStart: from,
    body: text.slice(from),
    eol,
    problems: []
  };
  const first = lineAt(text, from, 1);
  if (first.text.trim() !== "---") return whole;
  const lines = [];
  let line = first;
  for (; ; ) {
    if (line.end >= text.length) {
      return { ...whole, problems: ["the frontmatter that begins in line 1 has no closing `---`"] };
    }
    line = lineAt(text, line.end, line.number + 1);
    if (line.text.trim() === "---") break;
    lines.push(line);
  }
  const problems = [];
  const fields = parseMap(lines, 0, lines.length, problems);
  return {
    ...whole,
    hasFrontmatter: true,
    fields,
    fenceStart: line.start,
    bodyStart: line.end,
    body: text.slice(line.end).trim(),
    problems
  };
}
function parseMap(lines, from, to, problems) {
  const fields = [];
  const seen = /* @__PURE__ */ new Set();
  let i = from;
  while (i < to) {
    const line = lines[i];
    if (isBlankOrComment(line.text)) {
      i++;
      continue;
    }
    const colon = keyEnd(line.text);
    const key = colon < 0 ? "" : unquoteKey(line.text.slice(0, colon).trim());
    if (key === "") {
      problems.push(`line ${line.number} is not "key: value"`);
      i++;
      continue;
    }
    const indent = indentOf(line.text);
    const value = readValue(lines, i, to, colon + 1, indent, parseMap);
    if (value.problem) problems.push(`line ${line.number}: ${value.problem}`);
    if (seen.has(key)) problems.push(`line ${line.number}: "${key}" stands here a second time`);
    seen.add(key);
    const last = lines[value.next - 1];
    fields.push({
      key,
      value: value.value,
      style: value.style,
      start: line.start,
      end: last.end,
      indent,
      comment: value.comment,
      fields: value.fields
    });
    i = value.next;
  }
  return fields;
}
function unquoteKey(key) {
  const quote3 = key[0];
  return (quote3 === '"' || quote3 === "'") && key.length > 1 && key.endsWith(quote3) ? key.slice(1, -1) : key;
}
function lineAt(text, start, number) {
  const newline = text.indexOf("\n", start);
  const end = newline < 0 ? text.length : newline + 1;
  const raw = text.slice(start, newline < 0 ? end : newline);
  return { text: raw.endsWith("\r") ? raw.slice(0, -1) : raw, start, end, number };
}
function findField(fields, path14) {
  const [key, ...rest] = path14;
  const field = fields.find((f) => f.key === key);
  if (!field) return null;
  return rest.length === 0 ? field : findField(field.fields, rest);
}
var BOM;
var init_frontmatter = __esm({
  "src/text/frontmatter.ts"() {
    "use strict";
    init_frontmatter_line();
    init_frontmatter_value();
    BOM = "\uFEFF";
  }
});

// src/memory/directory.ts
import { lstatSync, mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { join as join3 } from "node:path";
function statePath(directory, ...names3) {
  return join3(directory.path, ".memdir", ...names3);
}
function fileMode(directory) {
  return directory.inRepository ? SHARED_MODE : PRIVATE_MODE;
}
function prepareDirectory(directory) {
  if (directory.readOnly) {
    throw new MemdirError(
      "usage",
      `${directory.path} is a directory of an older layout and only read: take it over with \`memdir adopt\``
    );
  }
  const mode = directory.inRepository ? 493 : 448;
  try {
    mkdirSync(directory.path, { recursive: true, mode });
    for (const folder of [statePath(directory), statePath(directory, "tmp"), statePath(directory, "images")]) {
      if (!statSync(folder, { throwIfNoEntry: false })) mkdirSync(folder, { recursive: true, mode: 448 });
    }
  } catch (error) {
    throw diskError(error, "make the directory", directory.path);
  }
  checkState(directory);
  const ignore = statePath(directory, ".gitignore");
  if (!statSync(ignore, { throwIfNoEntry: false })) writeFileSync(ignore, "*\n", { mode: 384 });
}
function checkState(directory) {
  const real = realpathSync(directory.path);
  for (const folder of [[], ["tmp"], ["images"]]) {
    const path14 = statePath(directory, ...folder);
    if (lstatSync(path14).isSymbolicLink() || realpathSync(path14) !== join3(real, ".memdir", ...folder)) {
      throw new MemdirError(
        "outside",
        `${path14} is a symbolic link: nothing was written; remove the link and run the command again`
      );
    }
  }
}
var INDEX_FILE, OVERFLOW_FILE;
var init_directory = __esm({
  "src/memory/directory.ts"() {
    "use strict";
    init_atomic();
    init_errors();
    INDEX_FILE = "MEMORY.md";
    OVERFLOW_FILE = "MEMORY.more.md";
  }
});

// src/memory/index-limits.ts
function measureIndex(text) {
  const seen = stripForClient(text).trim();
  return { lines: seen === "" ? 0 : seen.split("\n").length, chars: seen.length };
}
function isOver(size, limits) {
  return size.lines > limits.maxLines || size.chars > limits.maxChars;
}
var init_index_limits = __esm({
  "src/memory/index-limits.ts"() {
    "use strict";
    init_client_markdown();
  }
});

// src/memory/index-line.ts
function formatIndexLine(header) {
  const hook = tame(header.description);
  const title = tame(header.name).replaceAll("[", "(").replaceAll("]", ")").replace(/\\+$/, "");
  return `- [${title || "memory"}](${formatTarget(header.file)})${hook === "" ? "" : ` — ${hook}`}`;
}
function tame(text) {
  return text.replace(/\s+/g, " ").trim().replaceAll("`", "'").replaceAll("<!--", "<! --").replaceAll("-->", "-- >");
}
function formatTarget(file) {
  return file.replace(/[\s()<>[\]%]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}
function parseIndexLine(line) {
  const content = BULLET.exec(line.trimEnd())?.[1];
  if (content === void 0) return null;
  const link = LINK.exec(content);
  if (link) {
    const file2 = parseTarget(link[2] ?? "");
    const hook = (link[3] ?? "").replace(/^\s*\((?:user|feedback|project|reference)\)/, "").replace(/^\s*[—–:-]+\s*/, "");
    return file2 === null ? null : { file: file2, title: link[1] ?? "", hook: hook.trim() };
  }
  const trailing = TRAILING.exec(content);
  const file = trailing ? parseTarget(trailing[2] ?? "") : null;
  return file === null ? null : { file, title: trailing?.[1] ?? "", hook: trailing?.[1] ?? "" };
}
function parseTarget(target) {
  let file = target.trim().replace(/^\.\//, "").replace(/#.*$/, "");
  try {
    file = decodeURIComponent(file);
  } catch {
  }
  const elsewhere = /^[a-z][a-z0-9+.-]*:|^[/~\\]|(^|\/)\.\.(\/|$)/i.test(file);
  return elsewhere || !file.endsWith(".md") ? null : file.normalize("NFC");
}
var BULLET, LINK, TRAILING;
var init_index_line = __esm({
  "src/memory/index-line.ts"() {
    "use strict";
    BULLET = /^\s*(?:[-*+]|\d+[.)])\s+(.*)$/;
    LINK = /^(?:\*\*)?\[((?:\\.|[^\]\\])*)\]\(<?([^()<>]*?(?:\([^()]*\)[^()<>]*?)*)>?\)(?:\*\*)?(.*)$/;
    TRAILING = /^(.*?)\s*\[([^[\]()]+\.md)\]\s*$/;
  }
});

// src/memory/index-text.ts
function splitLines(text) {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
function linkedFiles(text) {
  const files = /* @__PURE__ */ new Set();
  for (const line of splitLines(text)) {
    const parsed = parseIndexLine(line);
    if (parsed) files.add(parsed.file);
  }
  return files;
}
function putLine(text, header, previous, restore) {
  const lines = splitLines(text);
  const file = header.file.normalize("NFC");
  const line = restore?.text ?? formatIndexLine(header);
  const own = previous ? formatIndexLine(previous) : null;
  let found = false;
  const kept = lines.filter((existing) => {
    if (parseIndexLine(existing)?.file !== file) return true;
    const bare = existing.trimEnd();
    if (bare !== own && bare !== line) {
      found = true;
      return true;
    }
    const first = !found;
    found = true;
    return first;
  });
  if (!found) return insertLine(kept, line, header, restore);
  return kept.map((existing) => own !== null && existing.trimEnd() === own ? line + existing.slice(own.length) : existing).join("");
}
function insertLine(lines, line, header, restore) {
  const eol = lines[0]?.endsWith("\r\n") ? "\r\n" : "\n";
  const before = restore ? positionAfter(lines, restore.after) : sectionEnd(lines, header.type);
  const at = before ?? lines.length;
  const previous = lines[at - 1];
  if (previous !== void 0 && !previous.endsWith("\n")) lines[at - 1] = previous + eol;
  lines.splice(at, 0, line + eol);
  return lines.join("");
}
function positionAfter(lines, after) {
  if (after === null) return 0;
  const at = lines.findIndex((l) => l.trimEnd() === after);
  return at < 0 ? null : at + 1;
}
function sectionEnd(lines, type) {
  const heading = new RegExp(`^#{1,6}\\s+${type}s?\\b`, "i");
  const start = lines.findIndex((l) => heading.test(l));
  if (start < 0) return null;
  let last = start;
  for (let i = start + 1; i < lines.length && !/^#{1,6}\s/.test(lines[i]); i++) {
    if (lines[i].trim() !== "") last = i;
  }
  return last + 1;
}
function removeLines(text, file) {
  const lines = splitLines(text);
  let removed = null;
  const kept = lines.filter((line, i) => {
    if (parseIndexLine(line)?.file !== file.normalize("NFC")) return true;
    removed ??= { text: line.trimEnd(), after: i === 0 ? null : lines[i - 1].trimEnd() };
    return false;
  });
  return { text: kept.join(""), removed };
}
function moveLine(text, previous, next) {
  const target = formatIndexLine({ ...next, name: "x", description: "" }).slice("- [x](".length, -1);
  const old = formatIndexLine(previous);
  return splitLines(text).map((line) => {
    const parsed = parseIndexLine(line);
    if (parsed?.file !== previous.file.normalize("NFC")) return line;
    if (line.trimEnd() === old) return formatIndexLine(next) + line.slice(old.length);
    return line.replace(
      /\]\([^)]*\)|\[[^[\]]+\.md\](?=\s*$)/,
      (m) => m.startsWith("](") ? `](${target})` : `[${next.file}]`
    );
  }).join("");
}
var init_index_text = __esm({
  "src/memory/index-text.ts"() {
    "use strict";
    init_index_line();
  }
});

// src/memory/type.ts
function isMemoryType(value) {
  return MEMORY_TYPES.includes(value);
}
var MEMORY_TYPES;
var init_type = __esm({
  "src/memory/type.ts"() {
    "use strict";
    MEMORY_TYPES = ["user", "feedback", "project", "reference"];
  }
});

// src/memory/memory.ts
import { isUtf8 } from "node:buffer";
function parseMemory(file, content) {
  const document = parseDocument(content.toString());
  const metadata = Object.fromEntries(document.fields.map((f) => [f.key, f.value]));
  return { ...headerOf(file, document, isText(content)), body: document.body, metadata };
}
function parseHeader(file, content) {
  return headerOf(file, parseDocument(content.toString()), isText(content));
}
function isText(content) {
  return typeof content === "string" || isUtf8(content);
}
function headerOf(file, document, utf8) {
  const read = (key) => readField(document.fields, key);
  const problems = [...document.problems];
  if (!utf8) problems.unshift("not valid UTF-8: it is shown with replacement characters and never rewritten");
  const broken = problems.length > 0;
  if (!document.hasFrontmatter && problems.length === 0)
    problems.push("no frontmatter: name, description and type are unknown");
  const typeText = firstWord(textOf2(read("type")));
  const typeExplicit = isMemoryType(typeText);
  if (document.hasFrontmatter && !typeExplicit) {
    const known = MEMORY_TYPES.join(", ");
    problems.push(typeText === "" ? `no type: write one of ${known}` : `the type "${typeText}" is none of ${known}`);
  }
  return {
    file,
    name: textOf2(read("name")) || stemOf(file),
    description: textOf2(read("description")),
    type: typeExplicit ? typeText : typeOfFolder(file),
    typeExplicit,
    created: dateOf(read("created")),
    modified: dateOf(read("modified")),
    verified: dateOf(read("verified")),
    pinned: /^(true|yes)$/i.test(firstWord(textOf2(read("pinned")))),
    links: listOf(read("links")),
    when: listOf(read("when")),
    source: sourceOf(read("source")),
    problems,
    broken,
    unreadable: false
  };
}
function readField(fields, key) {
  const top = findField(fields, [key]);
  if (top) return top;
  const metadata = findField(fields, ["metadata"]);
  const value = metadata && typeof metadata.value === "object" ? metadata.value[key] : void 0;
  if (!metadata || value === void 0) return null;
  return findField(metadata.fields, [key]) ?? { ...metadata, key, value };
}
function stemOf(file) {
  return file.slice(file.lastIndexOf("/") + 1).replace(/\.md$/, "");
}
function typeOfFolder(file) {
  const folder = file.split("/")[0] ?? "";
  return file.includes("/") && isMemoryType(folder) ? folder : "user";
}
function textOf2(field) {
  return typeof field?.value === "string" ? field.value.trim() : "";
}
function firstWord(text) {
  return text.replace(/\s+#.*$/, "").trim();
}
function listOf(field) {
  const value = field?.value;
  if (Array.isArray(value)) return value.filter((v) => typeof v === "string" && v !== "");
  return typeof value === "string" && value !== "" ? [value] : [];
}
function dateOf(field) {
  const text = firstWord(textOf2(field));
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
function sourceOf(field) {
  if (!field) return null;
  if (typeof field.value === "string") {
    const [by2 = "", ...rest] = field.value.trim().split(/\s+/);
    const part = (key) => rest.find((r) => r.startsWith(`${key}=`))?.slice(key.length + 1) ?? null;
    return by2 === "" ? null : { by: by2, session: part("session"), message: part("message") };
  }
  if (Array.isArray(field.value)) return null;
  const { by, session, message } = field.value;
  const text = (value) => typeof value === "string" && value !== "" ? value : null;
  return text(by) === null ? null : { by, session: text(session), message: text(message) };
}
function formatSource(source) {
  const session = source.session ? ` session=${source.session}` : "";
  const message = source.message ? ` message=${source.message}` : "";
  return `${source.by}${session}${message}`;
}
var init_memory = __esm({
  "src/memory/memory.ts"() {
    "use strict";
    init_frontmatter();
    init_type();
  }
});

// src/memory/read.ts
import { closeSync as closeSync2, constants, fstatSync, openSync as openSync2, readFileSync as readFileSync2, readSync } from "node:fs";
import { join as join4 } from "node:path";
function readBytes(directory, file) {
  const path14 = join4(directory.path, file);
  let fd;
  try {
    fd = openSync2(path14, OPEN_FLAGS);
    return readFileSync2(fd);
  } catch (error) {
    throw diskError(error, "read", path14);
  } finally {
    if (fd !== void 0) closeSync2(fd);
  }
}
function findBytes(directory, file) {
  try {
    return readBytes(directory, file);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
    throw error;
  }
}
function readMemory(directory, file) {
  return parseMemory(file, readBytes(directory, file));
}
function readHeader(directory, file) {
  let fd;
  try {
    fd = openSync2(join4(directory.path, file), OPEN_FLAGS);
    const size = fstatSync(fd).size;
    for (let want = HEAD_BYTES; ; want *= 8) {
      const data = Buffer.alloc(Math.min(size, want));
      const length = readSync(fd, data, 0, data.length, 0);
      const head = data.subarray(0, length);
      const header = parseHeader(file, length < size ? wholeCharacters(head) : head);
      if (length >= size || want >= MAX_HEAD_BYTES || !isUnclosed(header)) return header;
    }
  } catch (error) {
    return unreadable(file, errnoOf(error));
  } finally {
    if (fd !== void 0) closeSync2(fd);
  }
}
function unreadable(file, code) {
  const reason = code === "ELOOP" ? "a symbolic link: memdir does not follow links" : `cannot be read (${code}): check its permissions`;
  return { ...parseHeader(file, ""), problems: [reason], broken: true, unreadable: true };
}
function refuseBroken(header) {
  if (!header.broken) return;
  throw new MemdirError(
    "broken",
    `${header.file} is not changed because it cannot be read safely (${header.problems[0]}): mend it by hand first`
  );
}
function isUnclosed(header) {
  return header.problems.some((p) => p.includes("has no closing"));
}
function wholeCharacters(data) {
  for (let back = 1; back <= Math.min(4, data.length); back++) {
    const byte = data[data.length - back];
    if (byte < 128) break;
    if (byte >= 192) return data.subarray(0, data.length - back);
  }
  return data;
}
function errnoOf(error) {
  const cause = error instanceof MemdirError ? error.cause : error;
  return cause?.code ?? "unknown error";
}
var HEAD_BYTES, MAX_HEAD_BYTES, OPEN_FLAGS;
var init_read = __esm({
  "src/memory/read.ts"() {
    "use strict";
    init_errors();
    init_memory();
    HEAD_BYTES = 8 * 1024;
    MAX_HEAD_BYTES = 256 * 1024;
    OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);
  }
});

// src/memory/walk.ts
import { readdirSync } from "node:fs";
import { join as join5 } from "node:path";
function walk(directory, recursive = true) {
  const walked = { files: [], links: [], skipped: [] };
  visit(directory, "", 0, recursive, walked);
  walked.files.sort();
  return walked;
}
function visit(root, folder, depth, recursive, walked) {
  let entries;
  try {
    entries = readdirSync(folder === "" ? root : join5(root, folder), { withFileTypes: true });
  } catch (error) {
    const code = error.code ?? "unknown error";
    if (code !== "ENOENT") walked.skipped.push({ path: folder || ".", reason: `cannot be read (${code})` });
    return;
  }
  for (const entry of entries) {
    const name = entry.name;
    if (name.startsWith(".")) continue;
    const path14 = folder === "" ? name : `${folder}/${name}`;
    if (entry.isFile()) {
      if (name.endsWith(".md") && name !== INDEX_FILE && path14 !== OVERFLOW_FILE && !DAILY_LOG.test(path14))
        walked.files.push(path14);
    } else if (entry.isDirectory()) {
      if (name.endsWith(".md")) walked.skipped.push({ path: path14, reason: "a directory named like a memory" });
      if (recursive && depth < MAX_DEPTH) visit(root, path14, depth + 1, recursive, walked);
    } else if (entry.isSymbolicLink()) {
      if (name.endsWith(".md") && name !== INDEX_FILE) walked.links.push(path14);
    } else if (name.endsWith(".md")) {
      walked.skipped.push({ path: path14, reason: "not a regular file" });
    }
  }
}
var MAX_DEPTH, DAILY_LOG;
var init_walk = __esm({
  "src/memory/walk.ts"() {
    "use strict";
    init_directory();
    MAX_DEPTH = 8;
    DAILY_LOG = /^logs\/\d{4}\//;
  }
});

// src/memory/index-load.ts
import { lstatSync as lstatSync2, readFileSync as readFileSync3, statSync as statSync2 } from "node:fs";
import { join as join6 } from "node:path";
function loadIndex(directory, options) {
  const text = readIndexText(directory) ?? (options.generate ? generateIndex(directory) : "");
  const overflowText = findBytes(directory, OVERFLOW_FILE)?.toString("utf8") ?? "";
  const inIndex = linkedFiles(text);
  const overflow = [...linkedFiles(overflowText)].filter((file) => !inIndex.has(file));
  return { dir: directory.path, ...cutIndex(text, directory.limits), overflow };
}
function readIndexText(directory) {
  const path14 = join6(directory.path, INDEX_FILE);
  const stat = lstatSync2(path14, { throwIfNoEntry: false });
  if (!stat) return null;
  try {
    return readFileSync3(path14, "utf8");
  } catch (error) {
    const code = error.code;
    if (code === "ENOENT" || code === "ELOOP" || code === "EISDIR") return "";
    throw diskError(error, "read", path14);
  }
}
function cutIndex(text, limits) {
  const whole = stripForClient(text).trim();
  const all = whole === "" ? [] : whole.split("\n");
  const size = { lines: all.length, chars: whole.length };
  if (!isOver(size, limits)) {
    return { index: toLf(whole), ...size, truncated: false, warning: null };
  }
  let kept = all.slice(0, limits.maxLines).join("\n");
  let insideLine = false;
  if (kept.length > limits.maxChars) {
    const newline = kept.lastIndexOf("\n", limits.maxChars);
    insideLine = newline <= 0;
    kept = insideLine ? cutCodePoints(kept, limits.maxChars) : kept.slice(0, newline);
  }
  const keptLines = kept.split("\n").length;
  const cut = insideLine && all.length === 1 ? null : all.length - keptLines;
  const warning = {
    lines: size.lines > limits.maxLines ? size.lines : null,
    chars: size.chars > limits.maxChars ? size.chars : null,
    cutLines: cut,
    firstCutLine: cut === null ? null : keptLines + 1
  };
  const first = (cut === null ? kept.slice(-40) : all[keptLines] ?? "").trim();
  return {
    index: toLf(kept),
    ...size,
    truncated: true,
    warning: { ...warning, message: inWords(warning, first, limits) }
  };
}
function inWords(warning, first, limits) {
  const over = [
    warning.lines === null ? "" : `${warning.lines} lines (limit ${limits.maxLines})`,
    warning.chars === null ? "" : `${warning.chars} characters (limit ${limits.maxChars})`
  ].filter((part) => part !== "");
  const excerpt = JSON.stringify(first.length > 60 ? `${cutCodePoints(first, 60)}…` : first);
  const lost = warning.cutLines === null ? `the line is cut after ${excerpt}` : `${warning.cutLines} line${warning.cutLines === 1 ? "" : "s"} from line ${warning.firstCutLine} on (${excerpt}) are not loaded`;
  return `MEMORY.md has ${over.join(" and ")}: ${lost}. Keep one line per memory, under 200 characters; \`memdir index --rebuild\` moves the least valuable lines to an overflow page.`;
}
function cutCodePoints(text, length) {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 55296 && last <= 56319 ? length - 1 : length);
}
function toLf(text) {
  return text.replaceAll("\r\n", "\n");
}
function generateIndex(directory) {
  const { files } = walk(directory.path, directory.recursive);
  const usable = files.filter((file) => !/[[\]()]/.test(file)).map((file) => ({ file, mtimeMs: statSync2(join6(directory.path, file), { throwIfNoEntry: false })?.mtimeMs ?? 0 })).sort((a, b) => b.mtimeMs - a.mtimeMs || (a.file < b.file ? -1 : 1));
  const lines = [];
  let chars = 0;
  for (const { file } of usable) {
    const line = generatedLine(directory, file);
    if (lines.length >= GENERATED.lines || chars + line.length + 1 > GENERATED.chars) break;
    lines.push(line);
    chars += line.length + 1;
  }
  if (lines.length === 0) return "";
  const text = `${lines.join("\n")}
`;
  if (!directory.readOnly) writeGenerated(directory, text);
  return text;
}
function generatedLine(directory, file) {
  const { fields, problems } = parseDocument(findBytes(directory, file)?.toString("utf8") ?? "");
  const field = fields.find((f) => f.key === "description");
  const isText2 = field && typeof field.value === "string" && !(field.style === "plain" && isOtherScalar(field.value));
  const description = isText2 && problems.length === 0 ? field.value.replace(/\s+/g, " ").trim() : "";
  const link = `- [${stemOf(file)}](${file})`;
  const line = `${link} — ${description}`;
  if (description === "" || link.length >= GENERATED.lineChars - 4) return link;
  return line.length > GENERATED.lineChars ? `${cutCodePoints(line, GENERATED.lineChars - 1)}…` : line;
}
function isOtherScalar(value) {
  return /^(true|false|null|~|[-+]?(\d[\d_]*)?\.?\d+(e[-+]?\d+)?|0x[0-9a-f]+|0o[0-7]+|[-+]?\.inf|\.nan)$/i.test(
    value.trim()
  );
}
function writeGenerated(directory, text) {
  try {
    prepareDirectory(directory);
    const temporary = writeTemporary(statePath(directory, "tmp"), text, fileMode(directory));
    const result = exchange(temporary, join6(directory.path, INDEX_FILE), () => false, null);
    if (result === "changed") removeQuietly(temporary);
  } catch (error) {
    directory.log(`MEMORY.md was not written: ${error.message}`);
  }
}
var GENERATED;
var init_index_load = __esm({
  "src/memory/index-load.ts"() {
    "use strict";
    init_atomic();
    init_errors();
    init_client_markdown();
    init_frontmatter();
    init_directory();
    init_index_limits();
    init_index_text();
    init_memory();
    init_read();
    init_walk();
    GENERATED = { lineChars: 150, lines: 140, chars: 17500 };
  }
});

// src/context/start.ts
import { statSync as statSync3 } from "node:fs";
function buildStartContext(directory, location, config, warnings, touched) {
  const on = config.disabled === null;
  const view = on && !config.claudeMdsDisabled ? loadIndex(directory, { generate: true }) : null;
  return {
    instructions: discoverInstructions(location.project.cwd, config),
    nested: [],
    memory: {
      dir: on ? directory.path : null,
      index: view && view.index !== "" ? view.index : null,
      truncated: view?.truncated ?? false,
      warning: view?.warning ?? null
    },
    recallAge: touched.filter((path14) => isWithin(directory.path, path14)).map((path14) => ({ path: path14, days: on ? staleDays(path14, directory.now().getTime()) : null })),
    environment: { cwd: location.project.cwd, root: location.project.root, platform: process.platform },
    warnings: [...warnings]
  };
}
function staleDays(path14, nowMs) {
  const stat = statSync3(path14, { throwIfNoEntry: false });
  const days = stat ? ageInDays(stat.mtimeMs, nowMs) : 0;
  return days >= STALE_DAYS ? days : null;
}
var STALE_DAYS;
var init_start = __esm({
  "src/context/start.ts"() {
    "use strict";
    init_real_path();
    init_discover();
    init_age();
    init_index_load();
    STALE_DAYS = 2;
  }
});

// src/disk/fence.ts
import { lstatSync as lstatSync3, readlinkSync, realpathSync as realpathSync2 } from "node:fs";
import { dirname as dirname3, isAbsolute, resolve } from "node:path";
function resolveInside(root, relative) {
  const reason = findNameProblem(relative);
  if (reason) throw outside(relative, reason);
  const path14 = resolve(root, relative);
  if (!isWithin(root, path14)) throw outside(relative, "it leads out of the directory");
  checkLinks(root, path14, relative);
  return path14;
}
function findNameProblem(name) {
  if (name === "") return "it is empty";
  if (name.includes("\0")) return "it holds a NUL character";
  if (name.includes("\\")) return "it holds a backslash";
  if (isAbsolute(name) || /^[A-Za-z]:/.test(name)) return "it is an absolute path";
  const decoded = decode(name);
  if (decoded !== name && /\.\.|[/\\\0]/.test(decoded)) return "it hides a path in percent-encoding";
  const folded = name.normalize("NFKC");
  if (folded !== name && /\.\.|[/\\\0]/.test(folded) && !/\.\.|\//.test(name)) {
    return "it hides a path in look-alike characters";
  }
  if (name.split("/").some((part) => part === ".." || part === "." || part === "")) return "it holds `..`, `.` or `//`";
  return null;
}
function checkLinks(root, path14, shown) {
  const realRoot = realPath(root);
  const leaf = lstatSync3(path14, { throwIfNoEntry: false });
  if (leaf?.isSymbolicLink()) throw outside(shown, `it is a symbolic link to ${readlinkSync(path14)}`);
  let ancestor = leaf ? path14 : dirname3(path14);
  while (ancestor !== dirname3(ancestor)) {
    const stat = lstatSync3(ancestor, { throwIfNoEntry: false });
    if (stat) break;
    ancestor = dirname3(ancestor);
  }
  let real;
  try {
    real = realpathSync2(ancestor);
  } catch (cause) {
    throw outside(shown, "a link on the way to it cannot be followed", cause);
  }
  if (!isWithin(realRoot, real) && !isWithin(real, realRoot)) throw outside(shown, "a link leads out of the directory");
  if (isWithin(root, ancestor) && !isWithin(realRoot, real)) throw outside(shown, "a link leads out of the directory");
}
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.replace(/%([0-7][0-9a-fA-F])/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  }
}
function outside(name, reason, cause) {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  return new MemdirError("outside", `the path ${shown} is refused: ${reason}; give a plain file name`, { cause });
}
var init_fence = __esm({
  "src/disk/fence.ts"() {
    "use strict";
    init_errors();
    init_real_path();
  }
});

// src/memory/name.ts
import { createHash } from "node:crypto";
function cleanName(name) {
  const clean = name.normalize("NFC").replace(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
  if (clean === "") throw new MemdirError("usage", 'the name is empty: give one with --name, such as "prefers tabs"');
  if (clean.length > MAX_NAME_LENGTH) {
    throw new MemdirError(
      "usage",
      `the name has ${clean.length} characters, the limit is ${MAX_NAME_LENGTH}: put the details into the body`
    );
  }
  return clean;
}
function oneLine(text) {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}
function slugify(name) {
  const words = name.normalize("NFKC").toLowerCase().normalize("NFC").replace(/[^\p{L}\p{N}\p{M}]+/gu, "_");
  const slug = [...words.replace(/^_+|_+$/g, "")].slice(0, MAX_SLUG_LENGTH).join("").replace(/_+$/, "");
  return slug === "" ? `memory_${createHash("sha256").update(name).digest("hex").slice(0, 8)}` : slug;
}
function fileNameFor(type, name, number = 1) {
  return `${type}_${slugify(name)}${number > 1 ? `_${number}` : ""}.md`;
}
function otherFileNames(type, name) {
  const slug = slugify(name);
  const kebab = slug.replaceAll("_", "-");
  return [.../* @__PURE__ */ new Set([`${type}-${kebab}.md`, `${type}_${kebab}.md`, `${slug}.md`, `${kebab}.md`])];
}
function sameName(a, b) {
  return oneLine(a) === oneLine(b);
}
var MAX_NAME_LENGTH, MAX_SLUG_LENGTH;
var init_name = __esm({
  "src/memory/name.ts"() {
    "use strict";
    init_errors();
    MAX_NAME_LENGTH = 200;
    MAX_SLUG_LENGTH = 40;
  }
});

// src/memory/scan.ts
import { readFileSync as readFileSync4, statSync as statSync4 } from "node:fs";
import { join as join7 } from "node:path";
function scan(directory) {
  const walked = walk(directory.path, directory.recursive);
  const cache = walked.files.length > 0 ? readCache(directory) : {};
  const fresh = {};
  let changed = 0;
  const memories = [];
  for (const file of walked.files) {
    let stat;
    try {
      stat = statSync4(join7(directory.path, file), { throwIfNoEntry: false });
    } catch (error) {
      memories.push({ header: unreadable(file, error.code ?? ""), mtimeMs: 0, bytes: 0 });
      continue;
    }
    if (!stat) continue;
    const row = cache[file];
    let header;
    if (row && row[0] === stat.mtimeMs && row[1] === stat.ctimeMs && row[2] === stat.size && row[3] === stat.ino) {
      header = { file, ...row[4] };
      fresh[file] = row;
    } else {
      header = readHeader(directory, file);
      changed++;
      const { file: _, ...rest } = header;
      if (directory.now().getTime() - stat.ctimeMs > TICK_MS) {
        fresh[file] = [stat.mtimeMs, stat.ctimeMs, stat.size, stat.ino, rest];
      }
    }
    memories.push({ header, mtimeMs: stat.mtimeMs, bytes: stat.size });
  }
  for (const file of walked.links) memories.push({ header: unreadable(file, "ELOOP"), mtimeMs: 0, bytes: 0 });
  if (changed >= Math.max(WORTH_WRITING, memories.length / 50)) writeCache(directory, fresh);
  return { memories, skipped: walked.skipped };
}
function readCache(directory) {
  try {
    const cache = JSON.parse(readFileSync4(statePath(directory, "headers.json"), "utf8"));
    return cache.version === VERSION ? cache.rows : {};
  } catch {
    return {};
  }
}
function writeCache(directory, rows) {
  if (directory.readOnly) return;
  try {
    const cache = { version: VERSION, rows };
    writeCacheFile(statePath(directory, "tmp"), statePath(directory, "headers.json"), JSON.stringify(cache));
  } catch (error) {
    directory.log(`the header cache of ${directory.path} was not written: ${error.message}`);
  }
}
var VERSION, TICK_MS, WORTH_WRITING;
var init_scan = __esm({
  "src/memory/scan.ts"() {
    "use strict";
    init_atomic();
    init_directory();
    init_read();
    init_walk();
    VERSION = 1;
    TICK_MS = 50;
    WORTH_WRITING = 20;
  }
});

// src/memory/find.ts
function findMemory(directories, name) {
  const wanted = oneLine(name);
  if (wanted === "") throw new MemdirError("usage", "give the name of a memory; `memdir list` shows them");
  const problem = /[/\\\0%]|^\.\.?$/.test(wanted) || wanted.normalize("NFKC") !== wanted ? findNameProblem(wanted) : null;
  const all = directories.flatMap((directory) => scan(directory).memories.map(({ header }) => ({ directory, header })));
  for (const rule of RULES) {
    const found = all.filter(({ header }) => rule(header, wanted));
    if (found.length === 1) return toFound(found[0]);
    if (found.length > 1) throw ambiguous(wanted, found);
  }
  if (problem)
    throw new MemdirError("outside", `the name ${JSON.stringify(wanted.slice(0, 80))} is refused: ${problem}`);
  throw missing(wanted, all);
}
function toFound({ directory, header }) {
  return { directory, file: header.file };
}
function ambiguous(name, found) {
  const list = found.slice(0, 6).map(({ directory, header }) => `${header.file} (${directory.scope})`).join(", ");
  return new MemdirError(
    "ambiguous",
    `"${name}" is the name of ${found.length} memories: ${list}; give the file name, or --scope`
  );
}
function missing(name, all) {
  const words = name.toLowerCase().split(/[\s_.-]+/).filter((w) => w.length > 2);
  const near = all.map(({ header }) => ({
    header,
    hits: words.filter((w) => `${header.name} ${header.file}`.toLowerCase().includes(w)).length
  })).filter(({ hits }) => hits > 0).sort((a, b) => b.hits - a.hits).slice(0, 3).map(({ header }) => header.file);
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "`memdir list` shows what there is";
  return new MemdirError("not-found", `no memory is called "${name.slice(0, 80)}": ${hint}`);
}
var RULES;
var init_find = __esm({
  "src/memory/find.ts"() {
    "use strict";
    init_fence();
    init_errors();
    init_memory();
    init_name();
    init_scan();
    RULES = [
      (header, wanted) => header.file.normalize("NFC") === wanted,
      (header, wanted) => header.file.replace(/\.md$/, "").normalize("NFC") === wanted || oneLine(header.name) === wanted,
      (header, wanted) => stemOf(header.file).normalize("NFC") === wanted,
      (header, wanted) => oneLine(header.name).toLowerCase() === wanted.toLowerCase(),
      (header, wanted) => stemOf(header.file).toLowerCase() === wanted.toLowerCase()
    ];
  }
});

// src/memory/journal.ts
import { createHash as createHash2 } from "node:crypto";
import {
  closeSync as closeSync3,
  existsSync,
  fstatSync as fstatSync2,
  fsyncSync as fsyncSync2,
  ftruncateSync,
  openSync as openSync3,
  readFileSync as readFileSync5,
  readSync as readSync2,
  writeSync as writeSync2
} from "node:fs";
function hashOf(data) {
  return createHash2("sha256").update(data).digest("hex");
}
function beginEntry(directory, entry, images) {
  for (const [hash, data] of images) {
    const path14 = imagePath(directory, hash);
    if (!existsSync(path14)) moveInto(writeTemporary(statePath(directory, "tmp"), data, 384), path14);
  }
  const id = String(Number(readTail(directory).lastId) + 1);
  const full = { id, at: directory.now().toISOString(), by: directory.by, ...entry };
  append(directory, full, true);
  return full;
}
function endEntry(directory, id, end) {
  append(directory, { id, end }, false);
}
function readJournal(directory) {
  const entries = /* @__PURE__ */ new Map();
  for (const line of readLines(directory)) {
    if ("end" in line) {
      if (line.end === "dropped") entries.delete(line.id);
    } else entries.set(line.id, line);
  }
  return [...entries.values()];
}
function lastUndoable(entries) {
  const undone = new Set(entries.flatMap((e) => e.undoes ? [e.undoes] : []));
  return entries.findLast((e) => e.action !== "undo" && !undone.has(e.id) && !e.purged) ?? null;
}
function findUnfinished(directory) {
  return readTail(directory).unfinished;
}
function readImage(directory, hash) {
  try {
    const data = readFileSync5(imagePath(directory, hash));
    return hashOf(data) === hash ? data : null;
  } catch {
    return null;
  }
}
function imagePath(directory, hash) {
  return statePath(directory, "images", hash);
}
function journalPath(directory) {
  return statePath(directory, "journal.jsonl");
}
function append(directory, line, flush) {
  const path14 = journalPath(directory);
  let fd;
  try {
    fd = openSync3(path14, "a+", 384);
    const size = fstatSync2(fd).size;
    const last = Buffer.alloc(1);
    if (size > 0) readSync2(fd, last, 0, 1, size - 1);
    const start = size > 0 && last[0] !== 10 ? "\n" : "";
    const data = Buffer.from(`${start}${JSON.stringify(line)}
`);
    try {
      if (writeSync2(fd, data) < data.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
      if (flush) fsyncSync2(fd);
    } catch (error) {
      ftruncateSync(fd, size);
      throw error;
    }
  } catch (error) {
    throw diskError(error, "write the journal", path14);
  } finally {
    if (fd !== void 0) closeSync3(fd);
  }
}
function readLines(directory) {
  let text;
  try {
    text = readFileSync5(journalPath(directory), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return [];
    throw diskError(error, "read the journal", journalPath(directory));
  }
  return parseLines(text);
}
function readTail(directory) {
  let lastId = "0";
  let unfinished = null;
  for (const line of parseLines(tailText(directory))) {
    if ("end" in line) {
      if (unfinished?.id === line.id) unfinished = null;
    } else {
      unfinished = line;
    }
    lastId = line.id;
  }
  return { lastId, unfinished };
}
function tailText(directory) {
  let fd;
  try {
    fd = openSync3(journalPath(directory), "r");
  } catch (error) {
    if (error.code === "ENOENT") return "";
    throw diskError(error, "read the journal", journalPath(directory));
  }
  try {
    const size = fstatSync2(fd).size;
    for (let want = TAIL_BYTES; ; want *= 4) {
      const length = Math.min(size, want);
      const data = Buffer.alloc(length);
      readSync2(fd, data, 0, length, size - length);
      const text = data.toString("utf8");
      if (length === size) return text;
      const whole = text.slice(text.indexOf("\n") + 1);
      if (parseLines(whole).some((line) => !("end" in line))) return whole;
    }
  } finally {
    closeSync3(fd);
  }
}
function parseLines(text) {
  const lines = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    try {
      const value = JSON.parse(line);
      if (typeof value?.id === "string") lines.push(value);
    } catch {
    }
  }
  return lines;
}
var TAIL_BYTES;
var init_journal = __esm({
  "src/memory/journal.ts"() {
    "use strict";
    init_atomic();
    init_errors();
    init_directory();
    TAIL_BYTES = 64 * 1024;
  }
});

// src/project/commits.ts
import { execFile } from "node:child_process";
async function lastCommitTimes(dir) {
  const args = ["-C", dir, "log", "--format=%x00%ct", "--name-only", "--relative", "--no-renames", "-z", "--", "."];
  const options = { timeout: 3e3, maxBuffer: 64 << 20, windowsHide: true };
  const output = await new Promise((done) => {
    execFile("git", args, options, (error, stdout) => done(error ? "" : stdout));
  });
  const times = /* @__PURE__ */ new Map();
  let time = 0;
  for (const part of output.split(/\0|\n/)) {
    if (/^\d{9,}$/.test(part)) time = Number(part) * 1e3;
    else if (part !== "" && !times.has(part)) times.set(part, time);
  }
  return times;
}
var init_commits = __esm({
  "src/project/commits.ts"() {
    "use strict";
  }
});

// src/memory/list.ts
import { join as join8 } from "node:path";
async function listMemories(directory) {
  const { memories, skipped } = scan(directory);
  const times = await commitTimes(directory, memories);
  const now2 = directory.now().getTime();
  return { rows: memories.map((memory) => rowOf(directory, memory, times, now2)), skipped };
}
async function showMemory(directory, file) {
  const memory = readMemory(directory, file);
  const scanned = scan(directory).memories.filter(({ header }) => header.file === file);
  const times = await commitTimes(directory, scanned);
  const stamp2 = scanned[0] ?? { header: memory, mtimeMs: directory.now().getTime(), bytes: 0 };
  const row = rowOf(directory, { ...stamp2, header: memory }, times, directory.now().getTime());
  return { ...row, body: memory.body, metadata: memory.metadata };
}
function rowOf(directory, memory, times, nowMs) {
  const { header, mtimeMs, bytes } = memory;
  const stamp2 = stampOf(directory, header, mtimeMs, times);
  const ageDays = ageInDays(stamp2, nowMs);
  return {
    file: header.file,
    path: join8(directory.path, header.file),
    scope: directory.scope,
    type: header.type,
    typeExplicit: header.typeExplicit,
    name: header.name,
    description: header.description,
    modified: new Date(stamp2).toISOString(),
    ageDays,
    age: ageName(ageDays, directory.ageDays),
    bytes,
    pinned: header.pinned,
    when: header.when,
    problems: header.problems,
    unreadable: header.unreadable
  };
}
function stampOf(directory, header, mtimeMs, times) {
  const stamps = [header.modified, header.verified].flatMap((iso) => iso ? [Date.parse(iso)] : []);
  if (!directory.inRepository) return Math.max(mtimeMs, ...stamps);
  if (stamps.length > 0) return Math.max(...stamps);
  return times.get(header.file) ?? (header.created ? Date.parse(header.created) : mtimeMs);
}
async function commitTimes(directory, memories) {
  const needed = directory.inRepository && memories.some(({ header }) => !header.modified && !header.verified);
  return needed ? lastCommitTimes(directory.path) : /* @__PURE__ */ new Map();
}
var init_list = __esm({
  "src/memory/list.ts"() {
    "use strict";
    init_commits();
    init_age();
    init_read();
    init_scan();
  }
});

// src/disk/lock.ts
import {
  closeSync as closeSync4,
  constants as constants2,
  fstatSync as fstatSync3,
  openSync as openSync4,
  readFileSync as readFileSync6,
  renameSync as renameSync2,
  statSync as statSync5,
  unlinkSync as unlinkSync2,
  writeSync as writeSync3
} from "node:fs";
import { join as join9 } from "node:path";
async function acquireLock(directory, options = {}) {
  const path14 = join9(directory, "lock");
  const before = queues.get(path14) ?? Promise.resolve();
  let leave = () => {
  };
  const mine = new Promise((done) => {
    leave = done;
  });
  const tail = before.then(() => mine);
  queues.set(path14, tail);
  await before;
  const finish2 = () => {
    if (queues.get(path14) === tail) queues.delete(path14);
    leave();
  };
  try {
    const lock = await poll(path14, options);
    return {
      release: () => {
        lock.release();
        finish2();
      }
    };
  } catch (error) {
    finish2();
    throw error;
  }
}
async function poll(path14, options) {
  const native = options.native === void 0 ? loadNative() : options.native;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  const started = performance.now();
  for (let round = 0; ; round++) {
    options.signal?.throwIfAborted();
    const lock = tryLock(path14, native);
    if (lock) return lock;
    if (performance.now() - started > timeoutMs) throw busy(path14, timeoutMs);
    const ceiling = Math.min(12, 1 + round);
    await new Promise((done) => setTimeout(done, 1 + Math.random() * ceiling));
  }
}
function tryLock(path14, native) {
  const fd = open(path14);
  try {
    if (native && !native.tryLock(fd)) {
      closeSync4(fd);
      return null;
    }
    const there = statSync5(path14, { throwIfNoEntry: false });
    const held = fstatSync3(fd);
    const owned = there && there.ino === held.ino && there.dev === held.dev && takePidFile(`${path14}.pid`, native !== null);
    if (!owned) {
      closeSync4(fd);
      return null;
    }
  } catch (error) {
    closeSync4(fd);
    throw diskError(error, "lock", path14);
  }
  return {
    release: () => {
      removeQuietly(`${path14}.pid`);
      closeSync4(fd);
    }
  };
}
function open(path14) {
  try {
    return openSync4(path14, constants2.O_RDWR | constants2.O_CREAT | (constants2.O_NOFOLLOW ?? 0), 384);
  } catch (error) {
    throw diskError(error, "open the lock", path14);
  }
}
function takePidFile(path14, kernelLocked) {
  if (createPidFile(path14, kernelLocked)) return true;
  const holder = readHolder(path14);
  if (holder === null) return createPidFile(path14, kernelLocked);
  const dead = kernelLocked && holder.kernelLocked ? true : isDead(holder);
  if (!dead) return false;
  const aside = `${path14}.${process.pid}`;
  try {
    renameSync2(path14, aside);
    unlinkSync2(aside);
  } catch {
    return false;
  }
  return createPidFile(path14, kernelLocked);
}
function createPidFile(path14, kernelLocked) {
  let fd;
  try {
    fd = openSync4(path14, "wx", 384);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
  try {
    writeSync3(fd, `${process.pid} ${kernelLocked ? "kernel" : "pid"}
`);
  } catch (error) {
    removeQuietly(path14);
    throw error;
  } finally {
    closeSync4(fd);
  }
  return true;
}
function readHolder(path14) {
  try {
    const [pid, kind] = readFileSync6(path14, "utf8").trim().split(" ");
    const ageMs = performance.timeOrigin + performance.now() - statSync5(path14).mtimeMs;
    return { pid: Number(pid), kernelLocked: kind === "kernel", ageMs };
  } catch {
    return null;
  }
}
function isDead(holder) {
  if (holder.ageMs > TOO_OLD_MS) return true;
  if (!Number.isInteger(holder.pid) || holder.pid <= 0) return holder.ageMs > 1e3;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}
function busy(path14, timeoutMs) {
  const holder = readHolder(`${path14}.pid`);
  const who = holder ? `process ${holder.pid}` : "another process";
  return new MemdirError(
    "lock",
    `${who} has been writing in ${path14.replace(/[/\\]\.memdir[/\\]lock$/, "")} for over ${timeoutMs / 1e3} s: end it, or wait and try again`
  );
}
var TIMEOUT_MS, TOO_OLD_MS, queues;
var init_lock = __esm({
  "src/disk/lock.ts"() {
    "use strict";
    init_errors();
    init_atomic();
    init_native();
    TIMEOUT_MS = 3e4;
    TOO_OLD_MS = 5 * 6e4;
    queues = /* @__PURE__ */ new Map();
  }
});

// src/memory/index-fit.ts
function fitIndex(text, readOverflow2, limits, tellValue, saved) {
  const size = measureIndex(text);
  if (!isOver(size, limits)) return { text, overflow: null, moved: [], stillOver: false };
  const overflowText = readOverflow2();
  const lines = splitLines(text);
  const movable = lines.map((line, at) => ({ at, line, file: parseIndexLine(line)?.file ?? "" })).filter(({ file }) => file !== "" && file !== OVERFLOW_FILE).flatMap((entry) => {
    const value = tellValue(entry.file, entry.line.trimEnd());
    return value ? [{ ...entry, rank: rankOf(value, entry.file === saved) }] : [];
  }).sort((a, b) => compareRanks(a.rank, b.rank));
  const target = {
    maxLines: Math.floor(limits.maxLines * KEEP_SHARE),
    maxChars: Math.floor(limits.maxChars * KEEP_SHARE)
  };
  const gone = /* @__PURE__ */ new Set();
  const left = { ...size };
  const link = { lines: 1, chars: 90 };
  for (const { at, line } of movable) {
    if (!isOver({ lines: left.lines + link.lines, chars: left.chars + link.chars }, target)) break;
    gone.add(at);
    left.lines -= 1;
    left.chars -= line.length;
  }
  const movedLines = movable.filter(({ at }) => gone.has(at));
  const moved = movedLines.map(({ file }) => file);
  const overflow = addToOverflow(overflowText, movedLines);
  const kept = lines.filter((_, at) => !gone.has(at)).join("");
  const count = splitLines(overflow).filter((line) => parseIndexLine(line)).length;
  const next = putOverflowLink(kept, count);
  return { text: next, overflow, moved, stillOver: isOver(measureIndex(next), limits) };
}
function addToOverflow(overflow, moved) {
  const files = new Set(moved.map(({ file }) => file));
  const kept = splitLines(overflow === "" ? OVERFLOW_HEAD : overflow).filter(
    (l) => !files.has(parseIndexLine(l)?.file ?? "")
  );
  const body = kept.join("");
  const gap = body === "" || body.endsWith("\n") ? "" : "\n";
  return body + gap + moved.map(({ line }) => `${line.trimEnd()}
`).join("");
}
function putOverflowLink(text, count) {
  const plural = count === 1 ? "y" : "ies";
  const line = formatIndexLine({
    file: OVERFLOW_FILE,
    name: "More memories",
    description: `${count} further memor${plural}; look here when nothing above fits`
  });
  const lines = splitLines(text);
  const at = lines.findIndex((l) => parseIndexLine(l)?.file === OVERFLOW_FILE);
  if (count === 0) return lines.filter((_, i) => i !== at).join("");
  if (at >= 0) lines[at] = `${line}
`;
  else {
    const last = lines.at(-1);
    if (last !== void 0 && !last.endsWith("\n")) lines[lines.length - 1] = `${last}
`;
    lines.push(`${line}
`);
  }
  return lines.join("");
}
function rankOf(value, justSaved) {
  const kind = justSaved ? 6 : value.pinned ? 5 : value.type === "project" && value.ageDays <= FRESH_PROJECT_DAYS ? 2 : KINDS[value.type];
  return [kind, value.own ? 0 : 1, -value.ageDays];
}
function compareRanks(a, b) {
  for (let i = 0; i < a.length; i++) {
    const difference = a[i] - b[i];
    if (difference !== 0) return difference;
  }
  return 0;
}
var KEEP_SHARE, OVERFLOW_HEAD, FRESH_PROJECT_DAYS, KINDS;
var init_index_fit = __esm({
  "src/memory/index-fit.ts"() {
    "use strict";
    init_directory();
    init_index_limits();
    init_index_line();
    init_index_text();
    KEEP_SHARE = 0.85;
    OVERFLOW_HEAD = `# More memories

Lines that no longer fit into MEMORY.md. The memories themselves are unchanged and recall still finds them.

`;
    FRESH_PROJECT_DAYS = 7;
    KINDS = { project: 0, reference: 1, user: 3, feedback: 4 };
  }
});

// src/memory/index-sync.ts
import { lstatSync as lstatSync4, readFileSync as readFileSync7, statSync as statSync6 } from "node:fs";
import { join as join10 } from "node:path";
function syncIndex(directory, request, commit = () => {
}) {
  const path14 = join10(directory.path, INDEX_FILE);
  const base = readBase(directory);
  const current = readCurrent(path14, base);
  const newcomers = findNewcomers(directory, base, request.everything === true, current === null);
  let source = current ?? base.text ?? "";
  let expected = current;
  let known = base.text ?? "";
  let commitOnce = commit;
  for (let attempt3 = 0; attempt3 < MAX_ATTEMPTS; attempt3++) {
    const restored2 = source === known ? source : restoreLines(directory, source, known);
    const complete = addNewcomers(directory, restored2, newcomers.files);
    const fitted = fitText(directory, request.change(complete), request.saved ?? null);
    const same2 = fitted.text === expected;
    const temporary = same2 ? null : writeTemporary(statePath(directory, "tmp"), fitted.text, modeOf(path14, directory), "index");
    try {
      commitOnce?.();
    } catch (error) {
      if (temporary) removeQuietly(temporary);
      throw error;
    }
    commitOnce = null;
    const theirs = temporary === null ? null : replaceIndex(temporary, path14, expected);
    if (theirs === null) {
      writeBase(directory, fitted.text, newcomers.waiting);
      return { moved: fitted.moved, notices: fitted.notices };
    }
    source = theirs.text;
    expected = theirs.inPlace ? theirs.text : fitted.text;
    if (!theirs.inPlace) known = fitted.text;
  }
  throw new MemdirError(
    "disk",
    `${path14} is being rewritten all the time by another program: close it and run \`memdir index --rebuild\``
  );
}
function replaceIndex(temporary, path14, expected) {
  const result = exchange(temporary, path14, () => readText(path14) === expected);
  if (result === "changed") {
    removeQuietly(temporary);
    return { text: readText(path14) ?? "", inPlace: true };
  }
  const { replaced } = result;
  if (replaced === null) return null;
  const isLink = lstatSync4(replaced).isSymbolicLink();
  const text = isLink ? expected : readText(replaced);
  const theirs = text === expected ? null : settle(replaced);
  removeQuietly(replaced);
  return theirs === null ? null : { text: theirs, inPlace: false };
}
function restoreLines(directory, text, known) {
  const linked = linkedFiles(text);
  let overflow = null;
  let out = text;
  const lines = splitLines(known);
  for (const [at, line] of lines.entries()) {
    const file = parseIndexLine(line)?.file;
    if (file === void 0 || linked.has(file) || !isFile(directory, file)) continue;
    overflow ??= linkedFiles(readOverflow(directory));
    if (overflow.has(file)) continue;
    const header = readHeader(directory, file);
    out = putLine(out, header, null, {
      text: line.trimEnd(),
      after: at === 0 ? null : lines[at - 1].trimEnd()
    });
    linked.add(file);
  }
  return out;
}
function findNewcomers(directory, base, everything, missing2) {
  if (!everything && !missing2 && base.dirMtimeMs !== null && base.dirMtimeMs === dirMtime(directory))
    return { files: [], waiting: false };
  const now2 = directory.now().getTime();
  const linked = linkedFiles(base.text ?? "");
  const overflow = linkedFiles(readOverflow(directory));
  let waiting = false;
  const files = walk(directory.path, directory.recursive).files.filter((file) => {
    if (linked.has(file.normalize("NFC")) || overflow.has(file.normalize("NFC"))) return false;
    const young = now2 - (statSync6(join10(directory.path, file), { throwIfNoEntry: false })?.mtimeMs ?? 0) < GRACE_MS;
    if (young && !everything && !missing2) waiting = true;
    return everything || missing2 || !young;
  });
  return { files, waiting };
}
function addNewcomers(directory, text, files) {
  if (files.length === 0) return text;
  const linked = linkedFiles(text);
  const lines = files.filter((file) => !linked.has(file.normalize("NFC"))).map((file) => readHeader(directory, file));
  if (lines.length <= 200) return lines.reduce((out, header) => putLine(out, header, null), text);
  const gap = text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text}${gap}${lines.map((header) => `${formatIndexLine(header)}
`).join("")}`;
}
function fitText(directory, text, saved) {
  const now2 = directory.now().getTime();
  const fitted = fitIndex(
    text,
    () => readOverflow(directory),
    directory.limits,
    (file, line) => {
      if (!isFile(directory, file)) return null;
      const header = readHeader(directory, file);
      const stamp2 = header.modified ? Date.parse(header.modified) : statSync6(join10(directory.path, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
      return {
        type: header.type,
        pinned: header.pinned,
        ageDays: ageInDays(stamp2, now2),
        own: line === formatIndexLine(header)
      };
    },
    saved
  );
  const notices = [];
  if (fitted.overflow !== null) writeOverflow(directory, fitted.overflow);
  if (fitted.moved.length > 0) {
    const some = fitted.moved.slice(0, 3).join(", ");
    const more = fitted.moved.length > 3 ? ` and ${fitted.moved.length - 3} more` : "";
    notices.push(`MEMORY.md was full: the lines of ${some}${more} moved to ${OVERFLOW_FILE}`);
  }
  if (fitted.stillOver)
    notices.push("MEMORY.md is over the client's limit by hand-written text alone: shorten it, its end is not loaded");
  return { text: fitted.text, moved: fitted.moved, notices };
}
function removeFromOverflow(directory, file) {
  const text = readOverflow(directory);
  if (text === "") return false;
  const lines = splitLines(text);
  const kept = lines.filter((line) => parseIndexLine(line)?.file !== file.normalize("NFC"));
  if (kept.length === lines.length) return false;
  writeOverflow(directory, kept.join(""));
  return true;
}
function recountOverflow(directory, text) {
  return putOverflowLink(text, linkedFiles(readOverflow(directory)).size);
}
function readOverflow(directory) {
  return findBytes(directory, OVERFLOW_FILE)?.toString("utf8") ?? "";
}
function writeOverflow(directory, text) {
  const path14 = join10(directory.path, OVERFLOW_FILE);
  moveInto(writeTemporary(statePath(directory, "tmp"), text, modeOf(path14, directory)), path14);
}
function readBase(directory) {
  try {
    const data = readFileSync7(statePath(directory, "index.base"), "utf8");
    const newline = data.indexOf("\n");
    const { ino, dirMtimeMs } = JSON.parse(data.slice(0, newline));
    return { text: data.slice(newline + 1), ino, dirMtimeMs };
  } catch {
    return { text: null, ino: null, dirMtimeMs: null };
  }
}
function writeBase(directory, text, waiting) {
  const ino = statSync6(join10(directory.path, INDEX_FILE), { throwIfNoEntry: false })?.ino ?? null;
  const head = JSON.stringify({ ino, dirMtimeMs: waiting ? null : dirMtime(directory) });
  writeCacheFile(statePath(directory, "tmp"), statePath(directory, "index.base"), `${head}
${text}`);
}
function dirMtime(directory) {
  return statSync6(directory.path).mtimeMs;
}
function readCurrent(path14, base) {
  const stat = lstatSync4(path14, { throwIfNoEntry: false });
  if (!stat) return null;
  if (stat.isDirectory())
    throw new MemdirError("disk", `${path14} is a directory: move it away, the index belongs there`);
  if (stat.isSymbolicLink()) return null;
  const text = readText(path14);
  if (text === base.text) return text;
  return stat.ino === base.ino ? settle(path14) : text;
}
function settle(path14) {
  let text = readText(path14);
  for (let i = 0; i < 20; i++) {
    pause(text === "" ? 20 : 5);
    const again = readText(path14);
    if (again === text && (text !== "" || i > 4)) break;
    text = again;
  }
  return text;
}
function readText(path14) {
  try {
    return readFileSync7(path14, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw diskError(error, "read", path14);
  }
}
function pause(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
function isFile(directory, file) {
  return lstatSync4(join10(directory.path, file), { throwIfNoEntry: false })?.isFile() === true;
}
function modeOf(path14, directory) {
  const stat = lstatSync4(path14, { throwIfNoEntry: false });
  return stat?.isFile() ? stat.mode & 511 : fileMode(directory);
}
var MAX_ATTEMPTS, GRACE_MS;
var init_index_sync = __esm({
  "src/memory/index-sync.ts"() {
    "use strict";
    init_atomic();
    init_errors();
    init_age();
    init_directory();
    init_index_fit();
    init_index_line();
    init_index_text();
    init_read();
    init_walk();
    MAX_ATTEMPTS = 50;
    GRACE_MS = 6e4;
  }
});

// src/memory/recover.ts
import { existsSync as existsSync2, lstatSync as lstatSync5, readdirSync as readdirSync2, readFileSync as readFileSync8 } from "node:fs";
import { join as join11 } from "node:path";
function needsRecovery(directory) {
  return existsSync2(statePath(directory)) && (findUnfinished(directory) !== null || indexLostLines(directory) || leftovers(directory).length > 0);
}
function recover(directory) {
  const unfinished = findUnfinished(directory);
  if (unfinished) finish(directory, unfinished);
  sweep(directory);
  if (indexLostLines(directory)) syncIndex(directory, { change: (text) => text });
}
function finish(directory, entry) {
  const happened = entry.files.filter(({ file, before }) => currentHash(directory, file) !== before);
  const complete = happened.length === entry.files.length || entry.purged === true;
  if (happened.length > 0)
    directory.log(`${complete ? "finishing" : "taking back"} the interrupted ${entry.action} ${entry.id}`);
  if (!complete) for (const change of happened) moveBack(directory, change);
  for (const { file } of happened) if (!isFile2(directory, file)) removeFromOverflow(directory, file);
  if (happened.length > 0)
    syncIndex(directory, {
      change: (text) => happened.reduce((out, change) => followFile(directory, out, change), text)
    });
  endEntry(directory, entry.id, complete && happened.length > 0 ? "done" : "dropped");
}
function moveBack(directory, { file, before, after }) {
  if (currentHash(directory, file) !== after) return;
  const path14 = resolveInside(directory.path, file);
  const image = before === null ? null : readImage(directory, before);
  if (before === null) removeQuietly(path14);
  else if (image) moveInto(writeTemporary(statePath(directory, "tmp"), image, fileMode(directory)), path14);
}
function followFile(directory, index, { file, before }) {
  if (!isFile2(directory, file)) return removeLines(index, file).text;
  const image = before === null ? null : readImage(directory, before);
  return putLine(index, readHeader(directory, file), image ? parseHeader(file, image) : null);
}
function currentHash(directory, file) {
  const data = findBytes(directory, file);
  return data ? hashOf(data) : null;
}
function isFile2(directory, file) {
  return lstatSync5(join11(directory.path, file), { throwIfNoEntry: false })?.isFile() === true;
}
function indexLostLines(directory) {
  const base = readBase(directory).text;
  if (base === null) return false;
  let current;
  try {
    current = readFileSync8(join11(directory.path, INDEX_FILE), "utf8");
  } catch {
    return false;
  }
  if (current === base) return false;
  const linked = new Set(splitLines(current).map((line) => parseIndexLine(line)?.file));
  return splitLines(base).some((line) => {
    const file = parseIndexLine(line)?.file;
    return file !== void 0 && !linked.has(file) && existsSync2(join11(directory.path, file));
  });
}
function sweep(directory) {
  for (const name of leftovers(directory)) {
    const path14 = statePath(directory, "tmp", name);
    if (name.startsWith("index-")) rescueLines(directory, path14);
    removeQuietly(path14);
  }
}
function leftovers(directory) {
  let names3;
  try {
    names3 = readdirSync2(statePath(directory, "tmp"));
  } catch {
    return [];
  }
  return names3.filter((name) => {
    const pid = Number(/^[a-z]+-(\d+)-/.exec(name)?.[1]);
    if (pid === process.pid) return false;
    if (Number.isInteger(pid) && !isAlive(pid)) return true;
    const stat = lstatSync5(statePath(directory, "tmp", name), { throwIfNoEntry: false });
    return stat !== void 0 && directory.now().getTime() - stat.mtimeMs > TEMPORARY_MS;
  });
}
function rescueLines(directory, path14) {
  let text;
  try {
    text = readFileSync8(path14, "utf8");
  } catch {
    return;
  }
  const known = new Set(splitLines(readBase(directory).text ?? "").map((line) => line.trimEnd()));
  const own = splitLines(text).filter(
    (line) => line.trim() !== "" && !known.has(line.trimEnd()) && parseIndexLine(line) === null
  );
  if (own.length === 0) return;
  syncIndex(directory, {
    change: (current) => {
      const there = new Set(splitLines(current).map((line) => line.trimEnd()));
      const missing2 = own.map((line) => line.trimEnd()).filter((line) => !there.has(line));
      const gap = current === "" || current.endsWith("\n") ? "" : "\n";
      return missing2.length === 0 ? current : `${current}${gap}${missing2.join("\n")}
`;
    }
  });
}
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
var TEMPORARY_MS;
var init_recover = __esm({
  "src/memory/recover.ts"() {
    "use strict";
    init_atomic();
    init_fence();
    init_directory();
    init_index_line();
    init_index_sync();
    init_index_text();
    init_journal();
    init_memory();
    init_read();
    TEMPORARY_MS = 6e4;
  }
});

// src/memory/repair.ts
function repairDirectory(directory) {
  if (directory.readOnly) return;
  try {
    if (!needsRecovery(directory)) return;
    const lock = tryLock(statePath(directory, "lock"), loadNative());
    if (!lock) return;
    try {
      recover(directory);
    } finally {
      lock.release();
    }
  } catch (error) {
    directory.log(`${directory.path} was not repaired: ${error.message}`);
  }
}
var init_repair = __esm({
  "src/memory/repair.ts"() {
    "use strict";
    init_lock();
    init_native();
    init_directory();
    init_recover();
  }
});

// src/memory/search.ts
function searchWords(query) {
  return [
    ...new Set(
      fold2(query).split(/\s+/).filter((word) => word !== "")
    )
  ];
}
function matchMemory(memory, words) {
  const fields = [
    ["name", fold2(memory.name)],
    ["description", fold2(memory.description)],
    ["when", fold2(memory.when.join("\n"))],
    ["file", fold2(memory.file)],
    ["body", fold2(memory.body)]
  ];
  let score = 0;
  for (const word of words) {
    const best = Math.max(...fields.map(([field, text]) => text.includes(word) ? WEIGHTS[field] : 0));
    if (best > 0) score += 10 + best;
  }
  return score === 0 ? null : { score: score / (13 * words.length), line: bestLine(memory, words) };
}
function bestLine(memory, words) {
  const lines = [...memory.body.split("\n"), memory.description, ...memory.when, memory.name, memory.file];
  let best = "";
  let most = 0;
  for (const line of lines) {
    const folded = fold2(line);
    const hits = words.filter((word) => folded.includes(word)).length;
    if (hits > most) {
      best = line.trim();
      most = hits;
    }
  }
  return best;
}
function fold2(text) {
  return text.normalize("NFKC").toLowerCase();
}
var WEIGHTS;
var init_search = __esm({
  "src/memory/search.ts"() {
    "use strict";
    WEIGHTS = { name: 3, description: 2, when: 2, file: 1, body: 1 };
  }
});

// src/project/directory-path.ts
import path4 from "node:path";
function checkDirectoryPath(value, home, options = {}) {
  const { platform = process.platform, repository = null } = options;
  const paths = platform === "win32" ? path4.win32 : path4.posix;
  if (value.trim() === "") return { reason: "it is empty" };
  if (value.includes("\0")) return { reason: "it holds a NUL byte" };
  if (/^[\\/]{2}/.test(value)) return { reason: "it is a network (UNC) path" };
  let candidate = value;
  if (value.startsWith("~")) {
    const rest = /^~[/\\]?(.*)$/s.exec(value)?.[1] ?? "";
    const named = value.length > 1 && !(value[1] === "/" || platform === "win32" && value[1] === "\\");
    if (named) return { reason: "it must be absolute or start with ~/" };
    const below = paths.normalize(rest || ".").replace(/[/\\]+$/, "");
    if (below === "." || below === "..")
      return { reason: "it names the home directory or its parent, not one below it" };
    if (/^\.\.[/\\]/.test(below)) return { reason: "it leaves the home directory with .." };
    candidate = paths.join(home, rest);
  }
  if (!paths.isAbsolute(candidate)) return { reason: "it is relative; it must be absolute or start with ~/" };
  if (platform === "win32" && !/^[a-zA-Z]:[\\/]/.test(candidate)) return { reason: "it names no drive" };
  const normal = paths.normalize(candidate).replace(/(?<=.)[/\\]+$/, "").normalize("NFC");
  if (platform === "win32" && /^[a-zA-Z]:\\?$/.test(normal)) return { reason: "it is the root of a drive" };
  if (normal.length < 3) return { reason: "it is the root of the file system or too close to it" };
  const reason = refusedPlace(normal, home, { platform, repository });
  return reason === null ? { path: normal } : { reason };
}
function refusedPlace(dir, home, options = {}) {
  const { platform = process.platform, repository = null } = options;
  const paths = platform === "win32" ? path4.win32 : path4.posix;
  const toHome = paths.relative(dir, home);
  if (toHome === "") return "it is the home directory itself";
  if (!paths.isAbsolute(toHome) && toHome.split(paths.sep)[0] !== "..") return "the home directory lies inside it";
  if (repository !== null && paths.relative(dir, repository) === "") {
    return "it is the top of the repository itself; choose a folder below it, such as .claude/memory";
  }
  return null;
}
function refusedName(name) {
  if (name.trim() === "") return "it is empty";
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return "it is too long for a file name";
  for (const form of [name, name.normalize("NFKC"), percentDecoded(name)]) {
    if (/[/\\]/.test(form)) return "it holds a path separator";
    if (form.includes("..") || form === ".") return "it holds ..";
    if (/[\0-\x1f\x7f]/.test(form)) return "it holds a control character";
  }
  return null;
}
function percentDecoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
var MAX_NAME_BYTES;
var init_directory_path = __esm({
  "src/project/directory-path.ts"() {
    "use strict";
    MAX_NAME_BYTES = 255;
  }
});

// src/project/root.ts
import fs3 from "node:fs";
import path5 from "node:path";
function findProject(cwd, options = {}) {
  const real = realPath(cwd);
  const worktreeRoot = findWorktreeRoot(real);
  const gitRoot = worktreeRoot && (findMainRoot(worktreeRoot) ?? worktreeRoot);
  const roots = { repository: gitRoot, worktree: worktreeRoot, cwd: real };
  const root = roots[options.projectScope ?? "repository"] ?? real;
  return { cwd: real, root, gitRoot, worktreeRoot, insideGit: worktreeRoot !== null };
}
function findWorktreeRoot(cwd) {
  for (let at = cwd; ; at = path5.dirname(at)) {
    if (kindOf(path5.join(at, ".git")) !== null) return at;
    if (path5.dirname(at) === at) return null;
  }
}
function findMainRoot(worktreeRoot) {
  const gitFile = path5.join(worktreeRoot, ".git");
  const gitDir = readGitFile(gitFile);
  if (gitDir === null) return null;
  const commonText = readLine(path5.join(gitDir, "commondir"));
  if (commonText === null) return null;
  const common = realPath(path5.resolve(gitDir, commonText));
  if (path5.dirname(realPath(gitDir)) !== path5.join(common, "worktrees")) return null;
  const backLink = readLine(path5.join(gitDir, "gitdir"));
  if (backLink === null || realPath(path5.resolve(gitDir, backLink)) !== realPath(gitFile)) return null;
  return checkoutOf(common);
}
function checkoutOf(common) {
  if (path5.basename(common) === ".git") return path5.dirname(common);
  const worktree = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/m.exec(readSmall(path5.join(common, "config")) ?? "")?.[1];
  if (worktree === void 0) return common;
  const checkout = realPath(path5.resolve(common, worktree));
  const back = readGitFile(path5.join(checkout, ".git"));
  return back !== null && realPath(back) === common ? checkout : common;
}
function readGitFile(file) {
  const target = kindOf(file) === "file" ? /^gitdir:\s*(.+)$/.exec(readLine(file) ?? "")?.[1] : void 0;
  return target === void 0 ? null : path5.resolve(path5.dirname(file), target);
}
function readLine(file) {
  const line = readSmall(file)?.split(/\r?\n/, 1)[0]?.trim();
  return line || null;
}
function readSmall(file) {
  try {
    const stat = fs3.statSync(file);
    return stat.isFile() && stat.size <= MAX_BYTES2 ? fs3.readFileSync(file, "utf8") : null;
  } catch {
    return null;
  }
}
function kindOf(file) {
  try {
    const stat = fs3.statSync(file);
    return stat.isFile() ? "file" : stat.isDirectory() ? "directory" : null;
  } catch {
    return null;
  }
}
var MAX_BYTES2;
var init_root = __esm({
  "src/project/root.ts"() {
    "use strict";
    init_real_path();
    MAX_BYTES2 = 64 * 1024;
  }
});

// src/project/slug.ts
import { createHash as createHash3 } from "node:crypto";
function slugOf(path14) {
  const slug = path14.replace(/[^a-zA-Z0-9]/g, "-");
  return slug.length <= MAX_SLUG_CHARS ? slug : `${slug.slice(0, MAX_SLUG_CHARS)}-${hash36(path14)}`;
}
function separatorSlug(path14) {
  return path14.replace(/[/\\]/g, "-");
}
function sha256Key(path14) {
  return createHash3("sha256").update(path14).digest("hex").slice(0, 16);
}
function hash36(text) {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = Math.imul(31, hash) + text.charCodeAt(at) | 0;
  return Math.abs(hash).toString(36);
}
var MAX_SLUG_CHARS;
var init_slug = __esm({
  "src/project/slug.ts"() {
    "use strict";
    MAX_SLUG_CHARS = 200;
  }
});

// src/project/locate.ts
import fs4 from "node:fs";
import path6 from "node:path";
function locate(options) {
  const { config, memoryDir } = options;
  const project = findProject(options.cwd, config);
  const location = { dir: "", source: "computed", via: "", rejected: [], untrusted: null, project };
  if (memoryDir !== void 0) {
    const checked = check(isWhole(memoryDir) ? memoryDir : path6.resolve(options.cwd, memoryDir), config, project);
    if ("path" in checked) return { ...location, dir: checked.path, source: "option", via: "--memory-dir" };
    const advice = "give a directory of its own, such as ~/my-memories";
    throw new MemdirError("usage", `--memory-dir ${JSON.stringify(memoryDir)}: ${checked.reason}; ${advice}`);
  }
  for (const candidate of candidatesOf(config)) {
    const { via: via2, value } = candidate;
    const checked = check(value, config, project);
    if ("reason" in checked) {
      location.rejected.push({ via: via2, value, reason: checked.reason });
    } else if (candidate.fromRepository && !isAllowed(checked.path, config, project)) {
      location.untrusted ??= { via: via2, dir: checked.path, root: trustKey(project) };
    } else {
      const untrusted = location.untrusted?.dir === checked.path ? null : location.untrusted;
      return { ...location, dir: checked.path, source: candidate.source, via: via2, untrusted };
    }
  }
  const base = findBase(config, project, location.rejected);
  const { name, via } = findName(config, project, location.rejected);
  return { ...location, dir: path6.join(base, "projects", name, config.memoryFolder), via };
}
function trustKey(project) {
  return project.gitRoot ?? project.root;
}
function candidatesOf(config) {
  const candidates = [];
  for (const name of VARIABLES) {
    const value = config.env[name];
    if (value) candidates.push({ source: "env", via: name, value, fromRepository: false });
  }
  for (const key of ["autoMemoryDirectory", "memoryDir"]) {
    for (const source of SETTING_SOURCES) {
      const { file, [key]: value } = config.settings[source];
      const fromRepository = REPOSITORY_SOURCES.has(source);
      if (value) candidates.push({ source: "settings", via: `${key} in ${file}`, value, fromRepository });
    }
  }
  return candidates;
}
function check(value, config, project) {
  const checked = checkDirectoryPath(value, config.home);
  if ("reason" in checked) return checked;
  const isMemories = fs4.existsSync(path6.join(checked.path, "MEMORY.md"));
  const repository = isMemories ? null : project.worktreeRoot;
  const reason = refusedPlace(checked.path, config.home, { repository }) ?? refusedPlace(realPath(checked.path), realPath(config.home), { repository });
  return reason === null ? checked : { reason };
}
function isWhole(value) {
  return value === "" || value.startsWith("~") || value.startsWith("\\\\") || path6.isAbsolute(value);
}
function isAllowed(dir, config, project) {
  const key = trustKey(project);
  const approved = Object.hasOwn(config.trusted, key) ? config.trusted[key] : void 0;
  if (approved !== void 0 && path6.resolve(approved) === dir) return true;
  const real = realPath(dir);
  const inGit = real.split(path6.sep).some((part) => part.toLowerCase() === ".git");
  if (inGit) return false;
  const tops = [project.worktreeRoot, project.gitRoot ?? project.root].filter((top) => top !== null);
  const home = realPath(config.home);
  return tops.some((top) => isWithin(top, real) && !isWithin(top, home));
}
function findBase(config, project, rejected) {
  const via = "CLAUDE_CODE_REMOTE_MEMORY_DIR";
  const value = config.env[via];
  if (!value) return config.claudeDir;
  const checked = check(value, config, project);
  if ("path" in checked) return checked.path;
  rejected.push({ via, value, reason: checked.reason });
  return config.claudeDir;
}
function findName(config, project, rejected) {
  const { directories, keying } = config;
  const key = project.root;
  const asked = [
    { via: "CLAUDE_CODE_PROJECT_DIR_NAME", name: config.env.CLAUDE_CODE_PROJECT_DIR_NAME || void 0 },
    { via: `directories in ${config.userFile}`, name: Object.hasOwn(directories, key) ? directories[key] : void 0 },
    { via: `keying in ${config.userFile}`, name: typeof keying === "object" ? keying.name : void 0 }
  ];
  for (const { via, name } of asked) {
    if (name === void 0) continue;
    const reason = refusedName(name);
    if (reason === null) return { name, via };
    rejected.push({ via, value: name, reason });
  }
  if (keying === "sha256-16") return { name: sha256Key(project.root), via: "sha256-16" };
  const rule = config.profile === "code-assist" ? separatorSlug : slugOf;
  return { name: rule(project.root), via: "slug" };
}
var VARIABLES, REPOSITORY_SOURCES;
var init_locate = __esm({
  "src/project/locate.ts"() {
    "use strict";
    init_config();
    init_real_path();
    init_errors();
    init_directory_path();
    init_root();
    init_slug();
    VARIABLES = ["MEMDIR_MEMORY_DIR", "CLAUDE_MEMORY_DIR", "CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"];
    REPOSITORY_SOURCES = /* @__PURE__ */ new Set(["project", "local"]);
  }
});

// src/project/owner.ts
import fs5 from "node:fs";
import path7 from "node:path";
function ownerFile(dir) {
  return path7.join(dir, ".memdir", "project.json");
}
function readOwner(dir) {
  try {
    const { roots, rootCommit, remote, shared, at } = JSON.parse(fs5.readFileSync(ownerFile(dir), "utf8"));
    if (!Array.isArray(roots)) return null;
    return {
      roots: roots.filter((root) => typeof root === "string"),
      rootCommit: textOrNull(rootCommit),
      remote: textOrNull(remote),
      shared: shared === true,
      at: textOrNull(at) ?? ""
    };
  } catch {
    return null;
  }
}
function compareOwner(owner, identity, exists) {
  if (owner === null || owner.roots.length === 0) return "unknown";
  if (owner.shared || owner.roots.includes(identity.root)) return "same";
  const agrees = agreement(owner, identity) !== null;
  if (owner.roots.some(exists)) return agrees ? "same" : "collision";
  return agrees ? "moved" : "abandoned";
}
function agreement(a, b) {
  if (a.rootCommit !== null && a.rootCommit === b.rootCommit) return "root-commit";
  if (a.remote !== null && b.remote !== null && remoteKey(a.remote) === remoteKey(b.remote)) return "remote";
  return null;
}
function mergeOwner(owner, identity, options) {
  const others = (owner?.roots ?? []).filter((root) => root !== identity.root && (options.exists?.(root) ?? true));
  return {
    roots: [identity.root, ...others].slice(0, MAX_ROOTS),
    rootCommit: identity.rootCommit ?? owner?.rootCommit ?? null,
    remote: identity.remote ?? owner?.remote ?? null,
    shared: options.shared ?? owner?.shared ?? false,
    at: options.at
  };
}
function formatOwner(owner) {
  return `${JSON.stringify(owner, null, 2)}
`;
}
async function identifyProject(project, env) {
  const top = project.worktreeRoot;
  if (top === null) return { root: project.root, rootCommit: null, remote: null };
  const [shallow, commits, remotes] = await Promise.all([
    runGit(top, env, ["rev-parse", "--is-shallow-repository"]),
    runGit(top, env, ["rev-list", "--max-parents=0", "HEAD"]),
    runGit(top, env, ["config", "--get-regexp", "^remote\\..*\\.url$"])
  ]);
  const rootCommit = shallow === "false" ? commits?.split("\n").at(-1) ?? null : null;
  return { root: project.root, rootCommit, remote: pickRemote(remotes ?? "") };
}
function cleanRemote(url) {
  const withScheme = /^([a-z][a-z0-9+.-]*:\/\/)(?:[^/?#]*@)?([^?#]*)/i.exec(url);
  if (withScheme) return `${withScheme[1]}${withScheme[2]}`;
  return /^[^/\\]*@/.test(url) ? url.replace(/^[^/\\]*@/, "") : url;
}
function remoteKey(url) {
  const cleaned = cleanRemote(url).replace(/\/+$/, "").replace(/\.git$/, "");
  const parts = /^[a-z][a-z0-9+.-]*:\/\/([^/:]+)(?::\d+)?\/(.*)$/i.exec(cleaned) ?? /^([^/\\:]{2,}):(?!\/\/)(.*)$/.exec(cleaned);
  return parts ? `${parts[1]?.toLowerCase()}/${parts[2]?.replace(/^\/+/, "")}` : cleaned;
}
function pickRemote(lines) {
  const remotes = lines.split("\n").map((line) => /^remote\.(.*)\.url (.+)$/.exec(line));
  const chosen = remotes.find((match) => match?.[1] === "origin") ?? remotes.find((match) => match !== null);
  return chosen?.[2] ? cleanRemote(chosen[2]) : null;
}
async function runGit(cwd, env, args) {
  const { execFile: execFile3 } = await import("node:child_process");
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("GIT_")));
  const own = { GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0", GIT_NO_LAZY_FETCH: "1", LC_ALL: "C" };
  const options = {
    cwd,
    env: { ...inherited, ...own, GIT_CEILING_DIRECTORIES: path7.dirname(cwd) },
    timeout: GIT_TIMEOUT_MS,
    windowsHide: true
  };
  return new Promise((resolve5) => {
    execFile3("git", args, options, (error, stdout) => resolve5(error ? null : stdout.trim() || null));
  });
}
function textOrNull(value) {
  return typeof value === "string" && value !== "" ? value : null;
}
var MAX_ROOTS, GIT_TIMEOUT_MS;
var init_owner = __esm({
  "src/project/owner.ts"() {
    "use strict";
    MAX_ROOTS = 20;
    GIT_TIMEOUT_MS = 1500;
  }
});

// src/project/user-file.ts
import { mkdirSync as mkdirSync2, readFileSync as readFileSync9 } from "node:fs";
import { dirname as dirname4 } from "node:path";
function setUserEntry(config, map, key, value) {
  const file = config.userFile;
  const content = readObject(file);
  const entries = { ...content[map] };
  if (value === null) delete entries[key];
  else entries[key] = value;
  try {
    mkdirSync2(dirname4(file), { recursive: true, mode: 448 });
    const text = `${JSON.stringify({ ...content, [map]: entries }, null, 2)}
`;
    moveInto(writeTemporary(dirname4(file), text, PRIVATE_MODE, ".memdir"), file);
  } catch (error) {
    throw diskError(error, "write", file);
  }
}
function readObject(file) {
  let text;
  try {
    text = readFileSync9(file, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw diskError(error, "read", file);
  }
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, ""));
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {
  }
  throw new MemdirError("broken", `${file} is not valid JSON and is not rewritten: mend it by hand first`);
}
var init_user_file = __esm({
  "src/project/user-file.ts"() {
    "use strict";
    init_atomic();
    init_errors();
  }
});

// src/project/claim.ts
import { existsSync as existsSync3, mkdirSync as mkdirSync3 } from "node:fs";
import { join as join12 } from "node:path";
async function checkOwner(location, env) {
  const owner = readOwner(location.dir);
  if (owner === null) return "unknown";
  if (owner.shared || owner.roots.includes(location.project.root)) return "same";
  return compareOwner(owner, await identifyProject(location.project, env), existsSync3);
}
async function findOwnerWarning(location, env) {
  if (location.source !== "computed") return null;
  const other = readOwner(location.dir)?.roots[0];
  const ownership = await checkOwner(location, env);
  if (ownership === "collision") {
    return `this memory directory is also used by ${other}, because both paths make the same name: \`memdir adopt --separate\` gives this project its own, \`memdir adopt --share\` keeps one for both`;
  }
  if (ownership === "abandoned") {
    return `this memory directory belonged to ${other}, which is gone: \`memdir adopt --keep\` takes it over, \`memdir adopt --separate\` starts a new one`;
  }
  return null;
}
async function settleOwner(way, location, config, env, now2) {
  const { root } = location.project;
  if (way === "separate") {
    const name = `${slugOf(root).slice(0, 180)}-${sha256Key(root).slice(0, 8)}`;
    setUserEntry(config, "directories", root, name);
    const dir = locate({ cwd: root, config: { ...config, directories: { ...config.directories, [root]: name } } }).dir;
    return {
      dir,
      message: `${root} now has its own directory, ${dir}; for Claude Code to use it too, set "autoMemoryDirectory" to it in .claude/settings.local.json`
    };
  }
  if (!existsSync3(location.dir))
    throw new MemdirError("usage", `${location.dir} does not exist yet: nobody else uses it`);
  mkdirSync3(join12(location.dir, ".memdir", "tmp"), { recursive: true, mode: 448 });
  await claimDirectory(location, env, { now: now2, force: true, shared: way === "share" });
  const what = way === "share" ? "is shared by all projects that lead to it" : `belongs to ${root}`;
  return { dir: location.dir, message: `${location.dir} ${what}` };
}
function trustDirectory(location, config, revoke) {
  const key = trustKey(location.project);
  if (revoke) {
    setUserEntry(config, "trusted", key, null);
    return { dir: null, message: `${key} may no longer choose a memory directory outside itself` };
  }
  if (!location.untrusted) {
    throw new MemdirError(
      "usage",
      "this repository's settings ask for no memory directory outside it: there is nothing to allow"
    );
  }
  const { dir } = location.untrusted;
  setUserEntry(config, "trusted", key, dir);
  return { dir, message: `${dir} is now the memory directory of ${key}` };
}
async function claimDirectory(location, env, options) {
  if (location.source !== "computed") return;
  const owner = readOwner(location.dir);
  if (!options.force && owner?.roots.includes(location.project.root)) return;
  const identity = await identifyProject(location.project, env);
  const ownership = compareOwner(owner, identity, existsSync3);
  if (!options.force && (ownership === "collision" || ownership === "abandoned")) return;
  const shared = options.shared === void 0 ? {} : { shared: options.shared };
  const next = mergeOwner(owner, identity, { at: options.now().toISOString(), ...shared });
  writeCacheFile(join12(location.dir, ".memdir", "tmp"), ownerFile(location.dir), formatOwner(next));
}
var init_claim = __esm({
  "src/project/claim.ts"() {
    "use strict";
    init_atomic();
    init_errors();
    init_locate();
    init_owner();
    init_slug();
    init_user_file();
  }
});

// src/project/memory-count.ts
import fs6 from "node:fs";
import path8 from "node:path";
function countMemories(dir, options) {
  const { recursive, limit = MAX_ENTRIES } = options;
  let left = MAX_ENTRIES;
  let count = 0;
  const visit2 = (folder, depth) => {
    for (const entry of listEntries(folder)) {
      if (count >= limit || left-- <= 0) return;
      if (entry.name.startsWith(".")) continue;
      if (entry.isFile() && entry.name.endsWith(".md") && !NOT_MEMORIES.has(entry.name)) count++;
      else if (recursive && depth < MAX_DEPTH2 && entry.isDirectory()) visit2(path8.join(folder, entry.name), depth + 1);
    }
  };
  visit2(dir, 1);
  return count;
}
function listEntries(folder) {
  try {
    return fs6.readdirSync(folder, { withFileTypes: true }).sort((a, b) => a.name < b.name ? -1 : 1);
  } catch {
    return [];
  }
}
var MAX_DEPTH2, MAX_ENTRIES, NOT_MEMORIES;
var init_memory_count = __esm({
  "src/project/memory-count.ts"() {
    "use strict";
    MAX_DEPTH2 = 4;
    MAX_ENTRIES = 2e4;
    NOT_MEMORIES = /* @__PURE__ */ new Set(["MEMORY.md", "MEMORY.more.md"]);
  }
});

// src/project/older.ts
import path9 from "node:path";
function findOlderDirectories(options) {
  const seen = /* @__PURE__ */ new Set([realPath(options.dir)]);
  const found = [];
  for (const older of candidatesOf2(options.config, options.project)) {
    const real = realPath(older.dir);
    if (seen.has(real)) continue;
    seen.add(real);
    if (countMemories(older.dir, { recursive: older.recursive, limit: 1 }) > 0) found.push(older);
  }
  return found;
}
function candidatesOf2(config, project) {
  const { cwd, root, worktreeRoot } = project;
  const projects = path9.join(config.claudeDir, "projects");
  const mini = path9.join(config.home, ".mini-claude", "projects");
  const nested = (layout, base, name) => ({
    dir: path9.join(base, name, "memory"),
    layout,
    recursive: true
  });
  const flat = (name) => ({
    dir: path9.join(projects, name),
    layout: "flat-000",
    recursive: false
  });
  return [
    nested("slug", projects, slugOf(root)),
    flat(separatorSlug(root)),
    flat(slugOf(root)),
    nested("worktree-slug", projects, slugOf(worktreeRoot ?? root)),
    nested("cwd-slug", projects, slugOf(cwd)),
    nested("sha256-16", projects, sha256Key(root)),
    nested("sha256-16", projects, sha256Key(cwd)),
    nested("mini-claude", mini, sha256Key(root)),
    nested("mini-claude", mini, sha256Key(cwd))
  ];
}
var init_older = __esm({
  "src/project/older.ts"() {
    "use strict";
    init_real_path();
    init_memory_count();
    init_slug();
  }
});

// src/project/orphans.ts
import fs7 from "node:fs";
import path10 from "node:path";
function findOrphans(options) {
  const projects = path10.join(options.config.claudeDir, "projects");
  const ours = realPath(options.dir);
  const orphans = [];
  for (const entry of listEntries(projects).slice(0, MAX_FOLDERS)) {
    if (!entry.isDirectory()) continue;
    const folder = path10.join(projects, entry.name);
    for (const [dir, recursive] of [[path10.join(folder, "memory"), true], [folder, false]]) {
      if (realPath(dir) === ours) continue;
      const orphan = examine(dir, folder, recursive, options.identity);
      if (orphan) orphans.push(orphan);
    }
  }
  return orphans.sort((a, b) => Number(b.sure) - Number(a.sure) || b.memories - a.memories);
}
function examine(dir, folder, recursive, identity) {
  if (countMemories(dir, { recursive, limit: 1 }) === 0) return null;
  const owner = readOwner(dir);
  const transcriptRoot = owner && owner.roots.length > 0 ? null : findTranscriptRoot(folder);
  const roots = transcriptRoot === null ? owner?.roots ?? [] : [transcriptRoot];
  if (roots.some((root) => fs7.existsSync(root))) return null;
  const recordedRoot = roots[0] ?? null;
  const agreed = owner ? agreement(owner, identity) : null;
  const named = recordedRoot !== null && lastPart(recordedRoot) === lastPart(identity.root);
  const reason = agreed ?? (named ? "name" : null);
  if (reason === null) return null;
  return { dir, memories: countMemories(dir, { recursive }), recordedRoot, reason, sure: reason !== "name" };
}
function lastPart(root) {
  return root.split(/[/\\]/).filter(Boolean).at(-1) ?? "";
}
function findTranscriptRoot(folder) {
  const transcripts = listEntries(folder).filter((entry) => entry.isFile() && entry.name.endsWith(".jsonl")).map((entry) => path10.join(folder, entry.name)).map((file) => ({ file, mtimeMs: mtimeOf(file) })).sort((a, b) => b.mtimeMs - a.mtimeMs);
  const newest = transcripts[0];
  return newest ? findCwd(readHead(newest.file)) : null;
}
function mtimeOf(file) {
  try {
    return fs7.statSync(file).mtimeMs;
  } catch {
    return 0;
  }
}
function findCwd(text) {
  for (const line of text.split("\n")) {
    try {
      const { cwd } = JSON.parse(line);
      if (typeof cwd === "string" && cwd !== "") return cwd;
    } catch {
    }
  }
  return null;
}
function readHead(file) {
  let handle = null;
  try {
    handle = fs7.openSync(file, "r");
    const buffer = Buffer.alloc(HEAD_BYTES2);
    return buffer.toString("utf8", 0, fs7.readSync(handle, buffer, 0, HEAD_BYTES2, 0));
  } catch {
    return "";
  } finally {
    if (handle !== null) fs7.closeSync(handle);
  }
}
var MAX_FOLDERS, HEAD_BYTES2;
var init_orphans = __esm({
  "src/project/orphans.ts"() {
    "use strict";
    init_real_path();
    init_memory_count();
    init_owner();
    MAX_FOLDERS = 2e3;
    HEAD_BYTES2 = 64 * 1024;
  }
});

// src/project/agents.ts
import fs8 from "node:fs";
import path11 from "node:path";
function agentName(text) {
  const name = text.replaceAll(":", "-");
  const reason = refusedName(name);
  if (reason === null) return name;
  throw new MemdirError("usage", `the agent name ${JSON.stringify(text)} cannot be used: ${reason}; write agent:NAME`);
}
function agentDirectories(name, config, repository) {
  return {
    project: path11.join(repository, ".claude", "agent-memory", name),
    local: path11.join(repository, ".claude", "agent-memory-local", name),
    user: path11.join(config.claudeDir, "agent-memory", name)
  };
}
function findAgentScope(name, config, repository) {
  for (const folder of [path11.join(repository, ".claude"), config.claudeDir]) {
    const declared = readMemoryLine(path11.join(folder, "agents", `${name}.md`));
    if (declared) return declared;
  }
  const directories = agentDirectories(name, config, repository);
  const existing = ["project", "local", "user"].find((scope) => fs8.existsSync(directories[scope]));
  return existing ?? "project";
}
function readMemoryLine(file) {
  let head;
  try {
    head = fs8.readFileSync(file, "utf8").slice(0, HEAD_CHARS);
  } catch {
    return null;
  }
  const frontmatter = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(head)?.[1] ?? "";
  const value = /^memory:[ \t]*["']?(user|project|local)["']?[ \t]*(?:#.*)?\r?$/m.exec(frontmatter)?.[1];
  return value ?? null;
}
var HEAD_CHARS;
var init_agents = __esm({
  "src/project/agents.ts"() {
    "use strict";
    init_errors();
    init_directory_path();
    HEAD_CHARS = 16 * 1024;
  }
});

// src/project/scopes.ts
import fs9 from "node:fs";
import path12 from "node:path";
function scopeDirectory(scope, context) {
  const { config, project } = context;
  if (scope === "project") return projectDirectory(context);
  if (scope === "user") return { scope, dir: userMemoryDir(config), insideRepository: false, committable: false };
  if (scope === "team") return inRepository(scope, getTeamMemDir(repositoryOf(project)), project, true);
  if (scope.startsWith("agent:")) return agentDirectory(scope.slice("agent:".length), context);
  throw new MemdirError("usage", `there is no scope ${JSON.stringify(scope)}; choose one of ${SCOPE_NAMES}`);
}
function listScopes(context) {
  const names3 = ["project", "user", ...context.config.team ? ["team"] : [], ...listAgentScopes(context)];
  const seen = /* @__PURE__ */ new Set();
  const found = [];
  for (const name of names3) {
    const scope = attempt2(() => scopeDirectory(name, context));
    if (scope === null || !isDirectory(scope.dir)) continue;
    const real = realPath(scope.dir);
    if (!seen.has(real)) found.push(scope);
    seen.add(real);
  }
  return found;
}
function getTeamMemDir(projectRoot) {
  return path12.join(projectRoot, ".claude", "memory");
}
function repositoryOf(project) {
  return project.worktreeRoot ?? project.root;
}
function userMemoryDir(config) {
  return path12.join(config.claudeDir, "memory");
}
function projectDirectory({ config, project, dir }) {
  const isPrivate = isWithin(realPath(config.claudeDir), realPath(dir));
  const inside = project.insideGit && !isPrivate && isWithin(repositoryOf(project), realPath(dir));
  return { scope: "project", dir, insideRepository: inside, committable: inside };
}
function agentDirectory(text, context) {
  const { config, project } = context;
  const at = text.lastIndexOf("@");
  const name = agentName(at === -1 ? text : text.slice(0, at));
  const asked = at === -1 ? null : text.slice(at + 1);
  if (asked !== null && asked !== "user" && asked !== "project" && asked !== "local") {
    const valid = "agent:NAME@user, agent:NAME@project or agent:NAME@local";
    throw new MemdirError("usage", `there is no agent scope ${JSON.stringify(asked)}; write ${valid}`);
  }
  const repository = repositoryOf(project);
  const agentScope = asked ?? findAgentScope(name, config, repository);
  const scope = `agent:${name}@${agentScope}`;
  if (config.scopeLayout === "shared") return { ...sharedDirectory(agentScope, context), scope };
  const dir = agentDirectories(name, config, repository)[agentScope];
  if (agentScope === "user") return { scope, dir, insideRepository: false, committable: false };
  return inRepository(scope, dir, project, agentScope === "project");
}
function sharedDirectory(agentScope, context) {
  return scopeDirectory({ user: "user", project: "project", local: "team" }[agentScope], context);
}
function inRepository(scope, dir, project, committable) {
  const repository = repositoryOf(project);
  if (!isWithin(realPath(repository), realPath(dir))) {
    const remedy = "replace the link by a directory, or name the target with --memory-dir";
    throw new MemdirError("outside", `${dir} is a link that leads out of ${repository}; ${remedy}`);
  }
  return { scope, dir, insideRepository: project.insideGit, committable: project.insideGit && committable };
}
function listAgentScopes({ config, project }) {
  if (config.scopeLayout === "shared") return [];
  const parents = Object.entries(agentDirectories("", config, repositoryOf(project)));
  const scopes = parents.flatMap(
    ([agentScope, parent]) => listEntries(parent).filter((entry) => !entry.name.startsWith(".") && isDirectory(path12.join(parent, entry.name))).map((entry) => `agent:${entry.name}@${agentScope}`)
  );
  return scopes.sort();
}
function isDirectory(dir) {
  return attempt2(() => fs9.statSync(dir).isDirectory()) ?? false;
}
function attempt2(read) {
  try {
    return read();
  } catch {
    return null;
  }
}
var SCOPE_NAMES;
var init_scopes = __esm({
  "src/project/scopes.ts"() {
    "use strict";
    init_real_path();
    init_errors();
    init_agents();
    init_memory_count();
    SCOPE_NAMES = "user, project, team, agent:NAME, agent:NAME@user, agent:NAME@project, agent:NAME@local";
  }
});

// src/text/frontmatter-edit.ts
function formatDocument(metadata, body) {
  const fields = Object.entries(metadata).filter(([, value]) => value !== void 0 && value.length > 0).map(([key, value]) => formatField(key, value, 0, "\n")).join("");
  const text = body.trim();
  return `---
${fields}---
${text === "" ? "" : `
${text}
`}`;
}
function editFields(text, changes) {
  let out = text;
  for (const [key, value] of Object.entries(changes)) out = editField(parseDocument(out), key, value);
  return out;
}
function editField(document, key, value) {
  const { text, eol } = document;
  const field = findField(document.fields, [key]) ?? findField(document.fields, ["metadata", key]);
  if (field) {
    if (value === null) return text.slice(0, field.start) + text.slice(field.end);
    if (sameValue(field.value, value)) return text;
    const line = formatField(key, value, field.indent, eol, field.comment);
    return text.slice(0, field.start) + line + text.slice(field.end);
  }
  if (value === null) return text;
  const metadata = findField(document.fields, ["metadata"]);
  const last = metadata?.fields.at(-1);
  const nested = last !== void 0 && !TOP_LEVEL.has(key) && findField(document.fields, ["type"]) === null;
  const at = nested ? last.end : document.fenceStart;
  return text.slice(0, at) + formatField(key, value, nested ? last.indent : 0, eol) + text.slice(at);
}
function editBody(text, body) {
  const document = parseDocument(text);
  const next = body.trim().replaceAll("\r\n", "\n").replaceAll("\n", document.eol);
  const region = text.slice(document.bodyStart);
  if (region.trim() === next) return text;
  if (region.trim() === "") {
    const gap = document.hasFrontmatter ? document.eol : "";
    return text.slice(0, document.bodyStart) + gap + next + document.eol;
  }
  const lead = region.length - region.trimStart().length;
  const tail = region.slice(region.trimEnd().length);
  return text.slice(0, document.bodyStart) + region.slice(0, lead) + next + tail;
}
function sameValue(a, b) {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return Array.isArray(a) && a.length === b.length && a.every((item, i) => item === b[i]);
}
function formatField(key, value, indent, eol, comment = "") {
  const pad = " ".repeat(indent);
  if (typeof value === "string") return `${pad}${key}: ${formatScalar(value)}${comment}${eol}`;
  return `${pad}${key}:${comment}${eol}${value.map((item) => `${pad}  - ${formatScalar(item)}${eol}`).join("")}`;
}
function formatScalar(value) {
  return isPlain(value) ? value : quote(value);
}
function isPlain(value) {
  if (TIMESTAMP.test(value)) return true;
  if (!/^[\p{L}\p{N}_(/.]/u.test(value) || value !== value.trim()) return false;
  if (/[\p{Cc}\u2028\u2029\ufeff]|: | #|:$/u.test(value) || !value.isWellFormed()) return false;
  if (/^(true|false|null|yes|no|on|off|y|n|nan|inf)$/i.test(value)) return false;
  return !/^[-+.]?[0-9]/.test(value) && !/^\.(inf|nan)$/i.test(value) && !/^(---|\.\.\.)/.test(value);
}
function quote(value) {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`
  );
}
var TOP_LEVEL, TIMESTAMP;
var init_frontmatter_edit = __esm({
  "src/text/frontmatter-edit.ts"() {
    "use strict";
    init_frontmatter();
    TOP_LEVEL = /* @__PURE__ */ new Set(["name", "description"]);
    TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
  }
});

// node_modules/chrono-node/dist/esm/types.js
var Meridiem, Weekday, Month;
var init_types = __esm({
  "node_modules/chrono-node/dist/esm/types.js"() {
    (function(Meridiem2) {
      Meridiem2[Meridiem2["AM"] = 0] = "AM";
      Meridiem2[Meridiem2["PM"] = 1] = "PM";
    })(Meridiem || (Meridiem = {}));
    (function(Weekday2) {
      Weekday2[Weekday2["SUNDAY"] = 0] = "SUNDAY";
      Weekday2[Weekday2["MONDAY"] = 1] = "MONDAY";
      Weekday2[Weekday2["TUESDAY"] = 2] = "TUESDAY";
      Weekday2[Weekday2["WEDNESDAY"] = 3] = "WEDNESDAY";
      Weekday2[Weekday2["THURSDAY"] = 4] = "THURSDAY";
      Weekday2[Weekday2["FRIDAY"] = 5] = "FRIDAY";
      Weekday2[Weekday2["SATURDAY"] = 6] = "SATURDAY";
    })(Weekday || (Weekday = {}));
    (function(Month2) {
      Month2[Month2["JANUARY"] = 1] = "JANUARY";
      Month2[Month2["FEBRUARY"] = 2] = "FEBRUARY";
      Month2[Month2["MARCH"] = 3] = "MARCH";
      Month2[Month2["APRIL"] = 4] = "APRIL";
      Month2[Month2["MAY"] = 5] = "MAY";
      Month2[Month2["JUNE"] = 6] = "JUNE";
      Month2[Month2["JULY"] = 7] = "JULY";
      Month2[Month2["AUGUST"] = 8] = "AUGUST";
      Month2[Month2["SEPTEMBER"] = 9] = "SEPTEMBER";
      Month2[Month2["OCTOBER"] = 10] = "OCTOBER";
      Month2[Month2["NOVEMBER"] = 11] = "NOVEMBER";
      Month2[Month2["DECEMBER"] = 12] = "DECEMBER";
    })(Month || (Month = {}));
  }
});

// node_modules/chrono-node/dist/esm/utils/dates.js
function assignSimilarDate(component, target) {
  component.assign("day", target.getDate());
  component.assign("month", target.getMonth() + 1);
  component.assign("year", target.getFullYear());
}
function assignSimilarTime(component, target) {
  component.assign("hour", target.getHours());
  component.assign("minute", target.getMinutes());
  component.assign("second", target.getSeconds());
  component.assign("millisecond", target.getMilliseconds());
  component.assign("meridiem", target.getHours() < 12 ? Meridiem.AM : Meridiem.PM);
}
function implySimilarDate(component, target) {
  component.imply("day", target.getDate());
  component.imply("month", target.getMonth() + 1);
  component.imply("year", target.getFullYear());
}
function implySimilarTime(component, target) {
  component.imply("hour", target.getHours());
  component.imply("minute", target.getMinutes());
  component.imply("second", target.getSeconds());
  component.imply("millisecond", target.getMilliseconds());
  component.imply("meridiem", target.getHours() < 12 ? Meridiem.AM : Meridiem.PM);
}
var init_dates = __esm({
  "node_modules/chrono-node/dist/esm/utils/dates.js"() {
    init_types();
  }
});

// node_modules/chrono-node/dist/esm/timezone.js
function getNthWeekdayOfMonth(year, month, weekday, n, hour = 0) {
  let dayOfMonth = 0;
  let i = 0;
  while (i < n) {
    dayOfMonth++;
    const date = new Date(year, month - 1, dayOfMonth);
    if (date.getDay() === weekday)
      i++;
  }
  return new Date(year, month - 1, dayOfMonth, hour);
}
function getLastWeekdayOfMonth(year, month, weekday, hour = 0) {
  const oneIndexedWeekday = weekday === 0 ? 7 : weekday;
  const date = new Date(year, month - 1 + 1, 1, 12);
  const firstWeekdayNextMonth = date.getDay() === 0 ? 7 : date.getDay();
  let dayDiff;
  if (firstWeekdayNextMonth === oneIndexedWeekday)
    dayDiff = 7;
  else if (firstWeekdayNextMonth < oneIndexedWeekday)
    dayDiff = 7 + firstWeekdayNextMonth - oneIndexedWeekday;
  else
    dayDiff = firstWeekdayNextMonth - oneIndexedWeekday;
  date.setDate(date.getDate() - dayDiff);
  return new Date(year, month - 1, date.getDate(), hour);
}
function toTimezoneOffset(timezoneInput, date, timezoneOverrides = {}) {
  if (timezoneInput == null) {
    return null;
  }
  if (typeof timezoneInput === "number") {
    return timezoneInput;
  }
  const matchedTimezone = timezoneOverrides[timezoneInput] ?? TIMEZONE_ABBR_MAP[timezoneInput];
  if (matchedTimezone == null) {
    return null;
  }
  if (typeof matchedTimezone == "number") {
    return matchedTimezone;
  }
  if (date == null) {
    return null;
  }
  if (date > matchedTimezone.dstStart(date.getFullYear()) && !(date > matchedTimezone.dstEnd(date.getFullYear()))) {
    return matchedTimezone.timezoneOffsetDuringDst;
  }
  return matchedTimezone.timezoneOffsetNonDst;
}
var TIMEZONE_ABBR_MAP;
var init_timezone = __esm({
  "node_modules/chrono-node/dist/esm/timezone.js"() {
    init_types();
    TIMEZONE_ABBR_MAP = {
      ACDT: 630,
      ACST: 570,
      ADT: -180,
      AEDT: 660,
      AEST: 600,
      AFT: 270,
      AKDT: -480,
      AKST: -540,
      ALMT: 360,
      AMST: -180,
      AMT: -240,
      ANAST: 720,
      ANAT: 720,
      AQTT: 300,
      ART: -180,
      AST: -240,
      AWDT: 540,
      AWST: 480,
      AZOST: 0,
      AZOT: -60,
      AZST: 300,
      AZT: 240,
      BNT: 480,
      BOT: -240,
      BRST: -120,
      BRT: -180,
      BST: 60,
      BTT: 360,
      CAST: 480,
      CAT: 120,
      CCT: 390,
      CDT: -300,
      CEST: 120,
      CET: {
        timezoneOffsetDuringDst: 2 * 60,
        timezoneOffsetNonDst: 60,
        dstStart: (year) => getLastWeekdayOfMonth(year, Month.MARCH, Weekday.SUNDAY, 2),
        dstEnd: (year) => getLastWeekdayOfMonth(year, Month.OCTOBER, Weekday.SUNDAY, 3)
      },
      CHADT: 825,
      CHAST: 765,
      CKT: -600,
      CLST: -180,
      CLT: -240,
      COT: -300,
      CST: -360,
      CT: {
        timezoneOffsetDuringDst: -5 * 60,
        timezoneOffsetNonDst: -6 * 60,
        dstStart: (year) => getNthWeekdayOfMonth(year, Month.MARCH, Weekday.SUNDAY, 2, 2),
        dstEnd: (year) => getNthWeekdayOfMonth(year, Month.NOVEMBER, Weekday.SUNDAY, 1, 2)
      },
      CVT: -60,
      CXT: 420,
      ChST: 600,
      DAVT: 420,
      EASST: -300,
      EAST: -360,
      EAT: 180,
      ECT: -300,
      EDT: -240,
      EEST: 180,
      EET: 120,
      EGST: 0,
      EGT: -60,
      EST: -300,
      ET: {
        timezoneOffsetDuringDst: -4 * 60,
        timezoneOffsetNonDst: -5 * 60,
        dstStart: (year) => getNthWeekdayOfMonth(year, Month.MARCH, Weekday.SUNDAY, 2, 2),
        dstEnd: (year) => getNthWeekdayOfMonth(year, Month.NOVEMBER, Weekday.SUNDAY, 1, 2)
      },
      FJST: 780,
      FJT: 720,
      FKST: -180,
      FKT: -240,
      FNT: -120,
      GALT: -360,
      GAMT: -540,
      GET: 240,
      GFT: -180,
      GILT: 720,
      GMT: 0,
      GST: 240,
      GYT: -240,
      HAA: -180,
      HAC: -300,
      HADT: -540,
      HAE: -240,
      HAP: -420,
      HAR: -360,
      HAST: -600,
      HAT: -90,
      HAY: -480,
      HKT: 480,
      HLV: -210,
      HNA: -240,
      HNC: -360,
      HNE: -300,
      HNP: -480,
      HNR: -420,
      HNT: -150,
      HNY: -540,
      HOVT: 420,
      ICT: 420,
      IDT: 180,
      IOT: 360,
      IRDT: 270,
      IRKST: 540,
      IRKT: 540,
      IRST: 210,
      IST: 330,
      JST: 540,
      KGT: 360,
      KRAST: 480,
      KRAT: 480,
      KST: 540,
      KUYT: 240,
      LHDT: 660,
      LHST: 630,
      LINT: 840,
      MAGST: 720,
      MAGT: 720,
      MART: -510,
      MAWT: 300,
      MDT: -360,
      MESZ: 120,
      MEZ: 60,
      MHT: 720,
      MMT: 390,
      MSD: 240,
      MSK: 180,
      MST: -420,
      MT: {
        timezoneOffsetDuringDst: -6 * 60,
        timezoneOffsetNonDst: -7 * 60,
        dstStart: (year) => getNthWeekdayOfMonth(year, Month.MARCH, Weekday.SUNDAY, 2, 2),
        dstEnd: (year) => getNthWeekdayOfMonth(year, Month.NOVEMBER, Weekday.SUNDAY, 1, 2)
      },
      MUT: 240,
      MVT: 300,
      MYT: 480,
      NCT: 660,
      NDT: -90,
      NFT: 690,
      NOVST: 420,
      NOVT: 360,
      NPT: 345,
      NST: -150,
      NUT: -660,
      NZDT: 780,
      NZST: 720,
      OMSST: 420,
      OMST: 420,
      PDT: -420,
      PET: -300,
      PETST: 720,
      PETT: 720,
      PGT: 600,
      PHOT: 780,
      PHT: 480,
      PKT: 300,
      PMDT: -120,
      PMST: -180,
      PONT: 660,
      PST: -480,
      PT: {
        timezoneOffsetDuringDst: -7 * 60,
        timezoneOffsetNonDst: -8 * 60,
        dstStart: (year) => getNthWeekdayOfMonth(year, Month.MARCH, Weekday.SUNDAY, 2, 2),
        dstEnd: (year) => getNthWeekdayOfMonth(year, Month.NOVEMBER, Weekday.SUNDAY, 1, 2)
      },
      PWT: 540,
      PYST: -180,
      PYT: -240,
      RET: 240,
      SAMT: 240,
      SAST: 120,
      SBT: 660,
      SCT: 240,
      SGT: 480,
      SRT: -180,
      SST: -660,
      TAHT: -600,
      TFT: 300,
      TJT: 300,
      TKT: 780,
      TLT: 540,
      TMT: 300,
      TVT: 720,
      ULAT: 480,
      UTC: 0,
      UYST: -120,
      UYT: -180,
      UZT: 300,
      VET: -210,
      VLAST: 660,
      VLAT: 660,
      VUT: 660,
      WAST: 120,
      WAT: 60,
      WEST: 60,
      WESZ: 60,
      WET: 0,
      WEZ: 0,
      WFT: 720,
      WGST: -120,
      WGT: -180,
      WIB: 420,
      WIT: 540,
      WITA: 480,
      WST: 780,
      WT: 0,
      YAKST: 600,
      YAKT: 600,
      YAPT: 600,
      YEKST: 360,
      YEKT: 360
    };
  }
});

// node_modules/chrono-node/dist/esm/calculation/duration.js
function addDuration(ref, duration) {
  let date = new Date(ref);
  if (duration["y"]) {
    duration["year"] = duration["y"];
    delete duration["y"];
  }
  if (duration["mo"]) {
    duration["month"] = duration["mo"];
    delete duration["mo"];
  }
  if (duration["M"]) {
    duration["month"] = duration["M"];
    delete duration["M"];
  }
  if (duration["w"]) {
    duration["week"] = duration["w"];
    delete duration["w"];
  }
  if (duration["d"]) {
    duration["day"] = duration["d"];
    delete duration["d"];
  }
  if (duration["h"]) {
    duration["hour"] = duration["h"];
    delete duration["h"];
  }
  if (duration["m"]) {
    duration["minute"] = duration["m"];
    delete duration["m"];
  }
  if (duration["s"]) {
    duration["second"] = duration["s"];
    delete duration["s"];
  }
  if (duration["ms"]) {
    duration["millisecond"] = duration["ms"];
    delete duration["ms"];
  }
  if ("year" in duration) {
    const floor = Math.floor(duration["year"]);
    date.setFullYear(date.getFullYear() + floor);
    const remainingFraction = duration["year"] - floor;
    if (remainingFraction > 0) {
      duration.month = duration?.month ?? 0;
      duration.month += remainingFraction * 12;
    }
  }
  if ("quarter" in duration) {
    const floor = Math.floor(duration["quarter"]);
    date.setMonth(date.getMonth() + floor * 3);
    const remainingFraction = duration["quarter"] - floor;
    if (remainingFraction > 0) {
      duration.month = duration?.month ?? 0;
      duration.month += remainingFraction * 3;
    }
  }
  if ("month" in duration) {
    const floor = Math.floor(duration["month"]);
    date.setMonth(date.getMonth() + floor);
    const remainingFraction = duration["month"] - floor;
    if (remainingFraction > 0) {
      duration.week = duration?.week ?? 0;
      duration.week += remainingFraction * 4;
    }
  }
  if ("week" in duration) {
    const floor = Math.floor(duration["week"]);
    date.setDate(date.getDate() + floor * 7);
    const remainingFraction = duration["week"] - floor;
    if (remainingFraction > 0) {
      duration.day = duration?.day ?? 0;
      duration.day += Math.round(remainingFraction * 7);
    }
  }
  if ("day" in duration) {
    const floor = Math.floor(duration["day"]);
    date.setDate(date.getDate() + floor);
    const remainingFraction = duration["day"] - floor;
    if (remainingFraction > 0) {
      duration.hour = duration?.hour ?? 0;
      duration.hour += Math.round(remainingFraction * 24);
    }
  }
  if ("hour" in duration) {
    const floor = Math.floor(duration["hour"]);
    date.setHours(date.getHours() + floor);
    const remainingFraction = duration["hour"] - floor;
    if (remainingFraction > 0) {
      duration.minute = duration?.minute ?? 0;
      duration.minute += Math.round(remainingFraction * 60);
    }
  }
  if ("minute" in duration) {
    const floor = Math.floor(duration["minute"]);
    date.setMinutes(date.getMinutes() + floor);
    const remainingFraction = duration["minute"] - floor;
    if (remainingFraction > 0) {
      duration.second = duration?.second ?? 0;
      duration.second += Math.round(remainingFraction * 60);
    }
  }
  if ("second" in duration) {
    const floor = Math.floor(duration["second"]);
    date.setSeconds(date.getSeconds() + floor);
    const remainingFraction = duration["second"] - floor;
    if (remainingFraction > 0) {
      duration.millisecond = duration?.millisecond ?? 0;
      duration.millisecond += Math.round(remainingFraction * 1e3);
    }
  }
  if ("millisecond" in duration) {
    const floor = Math.floor(duration["millisecond"]);
    date.setMilliseconds(date.getMilliseconds() + floor);
  }
  return date;
}
function reverseDuration(duration) {
  const reversed = {};
  for (const key in duration) {
    reversed[key] = -duration[key];
  }
  return reversed;
}
var EmptyDuration;
var init_duration = __esm({
  "node_modules/chrono-node/dist/esm/calculation/duration.js"() {
    EmptyDuration = {
      day: 0,
      second: 0,
      millisecond: 0
    };
  }
});

// node_modules/chrono-node/dist/esm/results.js
var ReferenceWithTimezone, ParsingComponents, ParsingResult;
var init_results = __esm({
  "node_modules/chrono-node/dist/esm/results.js"() {
    init_dates();
    init_timezone();
    init_duration();
    ReferenceWithTimezone = class _ReferenceWithTimezone {
      instant;
      timezoneOffset;
      constructor(instant, timezoneOffset) {
        this.instant = instant ?? /* @__PURE__ */ new Date();
        this.timezoneOffset = timezoneOffset ?? null;
      }
      static fromDate(date) {
        return new _ReferenceWithTimezone(date);
      }
      static fromInput(input, timezoneOverrides) {
        if (input instanceof Date) {
          return _ReferenceWithTimezone.fromDate(input);
        }
        const instant = input?.instant ?? /* @__PURE__ */ new Date();
        const timezoneOffset = toTimezoneOffset(input?.timezone, instant, timezoneOverrides);
        return new _ReferenceWithTimezone(instant, timezoneOffset);
      }
      getDateWithAdjustedTimezone() {
        const date = new Date(this.instant);
        if (this.timezoneOffset !== null) {
          date.setMinutes(date.getMinutes() - this.getSystemTimezoneAdjustmentMinute(this.instant));
        }
        return date;
      }
      getSystemTimezoneAdjustmentMinute(date, overrideTimezoneOffset) {
        if (!date) {
          date = /* @__PURE__ */ new Date();
        }
        const currentTimezoneOffset = -date.getTimezoneOffset();
        const targetTimezoneOffset = overrideTimezoneOffset ?? this.timezoneOffset ?? currentTimezoneOffset;
        return currentTimezoneOffset - targetTimezoneOffset;
      }
      getTimezoneOffset() {
        return this.timezoneOffset ?? -this.instant.getTimezoneOffset();
      }
    };
    ParsingComponents = class _ParsingComponents {
      knownValues;
      impliedValues;
      reference;
      _tags = /* @__PURE__ */ new Set();
      constructor(reference, knownComponents) {
        this.reference = reference;
        this.knownValues = {};
        this.impliedValues = {};
        if (knownComponents) {
          for (const key in knownComponents) {
            this.knownValues[key] = knownComponents[key];
          }
        }
        const date = reference.getDateWithAdjustedTimezone();
        this.imply("day", date.getDate());
        this.imply("month", date.getMonth() + 1);
        this.imply("year", date.getFullYear());
        this.imply("hour", 12);
        this.imply("minute", 0);
        this.imply("second", 0);
        this.imply("millisecond", 0);
      }
      static createRelativeFromReference(reference, duration = EmptyDuration) {
        let date = addDuration(reference.getDateWithAdjustedTimezone(), duration);
        const components = new _ParsingComponents(reference);
        components.addTag("result/relativeDate");
        if ("hour" in duration || "minute" in duration || "second" in duration || "millisecond" in duration) {
          components.addTag("result/relativeDateAndTime");
          assignSimilarTime(components, date);
          assignSimilarDate(components, date);
          components.assign("timezoneOffset", reference.getTimezoneOffset());
        } else {
          implySimilarTime(components, date);
          components.imply("timezoneOffset", reference.getTimezoneOffset());
          if ("day" in duration) {
            components.assign("day", date.getDate());
            components.assign("month", date.getMonth() + 1);
            components.assign("year", date.getFullYear());
            components.assign("weekday", date.getDay());
          } else if ("week" in duration) {
            components.assign("day", date.getDate());
            components.assign("month", date.getMonth() + 1);
            components.assign("year", date.getFullYear());
            components.imply("weekday", date.getDay());
          } else {
            components.imply("day", date.getDate());
            if ("month" in duration) {
              components.assign("month", date.getMonth() + 1);
              components.assign("year", date.getFullYear());
            } else {
              components.imply("month", date.getMonth() + 1);
              if ("year" in duration) {
                components.assign("year", date.getFullYear());
              } else {
                components.imply("year", date.getFullYear());
              }
            }
          }
        }
        return components;
      }
      get(component) {
        if (component in this.knownValues) {
          return this.knownValues[component];
        }
        if (component in this.impliedValues) {
          return this.impliedValues[component];
        }
        return null;
      }
      isCertain(component) {
        return component in this.knownValues;
      }
      getCertainComponents() {
        return Object.keys(this.knownValues);
      }
      imply(component, value) {
        if (component in this.knownValues) {
          return this;
        }
        this.impliedValues[component] = value;
        return this;
      }
      assign(component, value) {
        this.knownValues[component] = value;
        delete this.impliedValues[component];
        return this;
      }
      addDurationAsImplied(duration) {
        const currentDate = this.dateWithoutTimezoneAdjustment();
        const date = addDuration(currentDate, duration);
        if ("day" in duration || "week" in duration || "month" in duration || "year" in duration) {
          this.delete(["day", "weekday", "month", "year"]);
          this.imply("day", date.getDate());
          this.imply("weekday", date.getDay());
          this.imply("month", date.getMonth() + 1);
          this.imply("year", date.getFullYear());
        }
        if ("second" in duration || "minute" in duration || "hour" in duration) {
          this.delete(["second", "minute", "hour"]);
          this.imply("second", date.getSeconds());
          this.imply("minute", date.getMinutes());
          this.imply("hour", date.getHours());
        }
        return this;
      }
      delete(components) {
        if (typeof components === "string") {
          components = [components];
        }
        for (const component of components) {
          delete this.knownValues[component];
          delete this.impliedValues[component];
        }
      }
      clone() {
        const component = new _ParsingComponents(this.reference);
        component.knownValues = {};
        component.impliedValues = {};
        for (const key in this.knownValues) {
          component.knownValues[key] = this.knownValues[key];
        }
        for (const key in this.impliedValues) {
          component.impliedValues[key] = this.impliedValues[key];
        }
        return component;
      }
      isOnlyDate() {
        return !this.isCertain("hour") && !this.isCertain("minute") && !this.isCertain("second");
      }
      isOnlyTime() {
        return !this.isCertain("weekday") && !this.isCertain("day") && !this.isCertain("month") && !this.isCertain("year");
      }
      isOnlyWeekdayComponent() {
        return this.isCertain("weekday") && !this.isCertain("day") && !this.isCertain("month");
      }
      isDateWithUnknownYear() {
        return this.isCertain("month") && !this.isCertain("year");
      }
      isValidDate() {
        const date = new Date(Date.UTC(this.get("year"), this.get("month") - 1, this.get("day"), this.get("hour"), this.get("minute"), this.get("second"), this.get("millisecond")));
        date.setUTCFullYear(this.get("year"));
        if (date.getUTCFullYear() !== this.get("year"))
          return false;
        if (date.getUTCMonth() !== this.get("month") - 1)
          return false;
        if (date.getUTCDate() !== this.get("day"))
          return false;
        if (this.get("hour") != null && date.getUTCHours() != this.get("hour"))
          return false;
        if (this.get("minute") != null && date.getUTCMinutes() != this.get("minute"))
          return false;
        return true;
      }
      toString() {
        return `[ParsingComponents {
            tags: ${JSON.stringify(Array.from(this._tags).sort())}, 
            knownValues: ${JSON.stringify(this.knownValues)}, 
            impliedValues: ${JSON.stringify(this.impliedValues)}}, 
            reference: ${JSON.stringify(this.reference)}]`;
      }
      date() {
        const timezoneOffset = this.get("timezoneOffset") ?? this.reference.timezoneOffset;
        if (timezoneOffset === null || timezoneOffset === void 0) {
          return this.dateWithoutTimezoneAdjustment();
        }
        const date = new Date(Date.UTC(this.get("year"), this.get("month") - 1, this.get("day"), this.get("hour"), this.get("minute"), this.get("second"), this.get("millisecond")));
        date.setUTCFullYear(this.get("year"));
        return new Date(date.getTime() - timezoneOffset * 6e4);
      }
      addTag(tag) {
        this._tags.add(tag);
        return this;
      }
      addTags(tags) {
        for (const tag of tags) {
          this._tags.add(tag);
        }
        return this;
      }
      tags() {
        return new Set(this._tags);
      }
      dateWithoutTimezoneAdjustment() {
        const date = new Date(this.get("year"), this.get("month") - 1, this.get("day"), this.get("hour"), this.get("minute"), this.get("second"), this.get("millisecond"));
        date.setFullYear(this.get("year"));
        return date;
      }
    };
    ParsingResult = class _ParsingResult {
      refDate;
      index;
      text;
      reference;
      start;
      end;
      constructor(reference, index, text, start, end) {
        this.reference = reference;
        this.refDate = reference.instant;
        this.index = index;
        this.text = text;
        this.start = start || new ParsingComponents(reference);
        this.end = end;
      }
      clone() {
        const result = new _ParsingResult(this.reference, this.index, this.text);
        result.start = this.start ? this.start.clone() : null;
        result.end = this.end ? this.end.clone() : null;
        return result;
      }
      date() {
        return this.start.date();
      }
      addTag(tag) {
        this.start.addTag(tag);
        if (this.end) {
          this.end.addTag(tag);
        }
        return this;
      }
      addTags(tags) {
        this.start.addTags(tags);
        if (this.end) {
          this.end.addTags(tags);
        }
        return this;
      }
      tags() {
        const combinedTags = new Set(this.start.tags());
        if (this.end) {
          for (const tag of this.end.tags()) {
            combinedTags.add(tag);
          }
        }
        return combinedTags;
      }
      toString() {
        const tags = Array.from(this.tags()).sort();
        return `[ParsingResult {index: ${this.index}, text: '${this.text}', tags: ${JSON.stringify(tags)} ...}]`;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/utils/pattern.js
function repeatedTimeunitPattern(prefix, singleTimeunitPattern, connectorPattern = "\\s{0,5},?\\s{0,5}") {
  const singleTimeunitPatternNoCapture = singleTimeunitPattern.replace(/\((?!\?)/g, "(?:");
  return `${prefix}${singleTimeunitPatternNoCapture}(?:${connectorPattern}${singleTimeunitPatternNoCapture}){0,10}`;
}
function extractTerms(dictionary) {
  let keys;
  if (dictionary instanceof Array) {
    keys = [...dictionary];
  } else if (dictionary instanceof Map) {
    keys = Array.from(dictionary.keys());
  } else {
    keys = Object.keys(dictionary);
  }
  return keys;
}
function matchAnyPattern(dictionary) {
  const joinedTerms = extractTerms(dictionary).sort((a, b) => b.length - a.length).join("|").replace(/\./g, "\\.");
  return `(?:${joinedTerms})`;
}
var init_pattern = __esm({
  "node_modules/chrono-node/dist/esm/utils/pattern.js"() {
  }
});

// node_modules/chrono-node/dist/esm/calculation/years.js
function findMostLikelyADYear(yearNumber) {
  if (yearNumber < 100) {
    if (yearNumber > 50) {
      yearNumber = yearNumber + 1900;
    } else {
      yearNumber = yearNumber + 2e3;
    }
  }
  return yearNumber;
}
function findYearClosestToRef(refDate, day, month) {
  let date = new Date(refDate);
  date.setMonth(month - 1);
  date.setDate(day);
  const nextYear = addDuration(date, { "year": 1 });
  const lastYear = addDuration(date, { "year": -1 });
  if (Math.abs(nextYear.getTime() - refDate.getTime()) < Math.abs(date.getTime() - refDate.getTime())) {
    date = nextYear;
  } else if (Math.abs(lastYear.getTime() - refDate.getTime()) < Math.abs(date.getTime() - refDate.getTime())) {
    date = lastYear;
  }
  return date.getFullYear();
}
var init_years = __esm({
  "node_modules/chrono-node/dist/esm/calculation/years.js"() {
    init_duration();
  }
});

// node_modules/chrono-node/dist/esm/locales/en/constants.js
function parseNumberPattern(match) {
  const num = match.toLowerCase();
  if (INTEGER_WORD_DICTIONARY[num] !== void 0) {
    return INTEGER_WORD_DICTIONARY[num];
  } else if (num === "a" || num === "an" || num == "the") {
    return 1;
  } else if (num.match(/few/)) {
    return 3;
  } else if (num.match(/half/)) {
    return 0.5;
  } else if (num.match(/couple/)) {
    return 2;
  } else if (num.match(/several/)) {
    return 7;
  }
  return parseFloat(num);
}
function parseOrdinalNumberPattern(match) {
  let num = match.toLowerCase();
  if (ORDINAL_WORD_DICTIONARY[num] !== void 0) {
    return ORDINAL_WORD_DICTIONARY[num];
  }
  num = num.replace(/(?:st|nd|rd|th)$/i, "");
  return parseInt(num);
}
function parseYear(match) {
  if (/BE/i.test(match)) {
    match = match.replace(/BE/i, "");
    return parseInt(match) - 543;
  }
  if (/BCE?/i.test(match)) {
    match = match.replace(/BCE?/i, "");
    return -parseInt(match);
  }
  if (/(AD|CE)/i.test(match)) {
    match = match.replace(/(AD|CE)/i, "");
    return parseInt(match);
  }
  const rawYearNumber = parseInt(match);
  return findMostLikelyADYear(rawYearNumber);
}
function parseDuration(timeunitText) {
  const fragments = {};
  let remainingText = timeunitText;
  let match = SINGLE_TIME_UNIT_REGEX.exec(remainingText);
  while (match) {
    collectDateTimeFragment(fragments, match);
    remainingText = remainingText.substring(match[0].length).trim();
    match = SINGLE_TIME_UNIT_REGEX.exec(remainingText);
  }
  if (Object.keys(fragments).length == 0) {
    return null;
  }
  return fragments;
}
function collectDateTimeFragment(fragments, match) {
  if (match[0].match(/^[a-zA-Z]+$/)) {
    return;
  }
  const num = parseNumberPattern(match[1]);
  const unit = TIME_UNIT_DICTIONARY[match[2].toLowerCase()];
  fragments[unit] = num;
}
var WEEKDAY_DICTIONARY, FULL_MONTH_NAME_DICTIONARY, MONTH_DICTIONARY, INTEGER_WORD_DICTIONARY, ORDINAL_WORD_DICTIONARY, TIME_UNIT_DICTIONARY_NO_ABBR, TIME_UNIT_DICTIONARY, NUMBER_PATTERN, ORDINAL_NUMBER_PATTERN, YEAR_PATTERN, SINGLE_TIME_UNIT_PATTERN, SINGLE_TIME_UNIT_REGEX, SINGLE_TIME_UNIT_NO_ABBR_PATTERN, TIME_UNIT_CONNECTOR_PATTERN, TIME_UNITS_PATTERN, TIME_UNITS_NO_ABBR_PATTERN;
var init_constants = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/constants.js"() {
    init_pattern();
    init_years();
    WEEKDAY_DICTIONARY = {
      sunday: 0,
      sun: 0,
      "sun.": 0,
      monday: 1,
      mon: 1,
      "mon.": 1,
      tuesday: 2,
      tue: 2,
      "tue.": 2,
      wednesday: 3,
      wed: 3,
      "wed.": 3,
      thursday: 4,
      thurs: 4,
      "thurs.": 4,
      thur: 4,
      "thur.": 4,
      thu: 4,
      "thu.": 4,
      friday: 5,
      fri: 5,
      "fri.": 5,
      saturday: 6,
      sat: 6,
      "sat.": 6
    };
    FULL_MONTH_NAME_DICTIONARY = {
      january: 1,
      february: 2,
      march: 3,
      april: 4,
      may: 5,
      june: 6,
      july: 7,
      august: 8,
      september: 9,
      october: 10,
      november: 11,
      december: 12
    };
    MONTH_DICTIONARY = {
      ...FULL_MONTH_NAME_DICTIONARY,
      jan: 1,
      "jan.": 1,
      feb: 2,
      "feb.": 2,
      mar: 3,
      "mar.": 3,
      apr: 4,
      "apr.": 4,
      jun: 6,
      "jun.": 6,
      jul: 7,
      "jul.": 7,
      aug: 8,
      "aug.": 8,
      sep: 9,
      "sep.": 9,
      sept: 9,
      "sept.": 9,
      oct: 10,
      "oct.": 10,
      nov: 11,
      "nov.": 11,
      dec: 12,
      "dec.": 12
    };
    INTEGER_WORD_DICTIONARY = {
      one: 1,
      two: 2,
      three: 3,
      four: 4,
      five: 5,
      six: 6,
      seven: 7,
      eight: 8,
      nine: 9,
      ten: 10,
      eleven: 11,
      twelve: 12
    };
    ORDINAL_WORD_DICTIONARY = {
      first: 1,
      second: 2,
      third: 3,
      fourth: 4,
      fifth: 5,
      sixth: 6,
      seventh: 7,
      eighth: 8,
      ninth: 9,
      tenth: 10,
      eleventh: 11,
      twelfth: 12,
      thirteenth: 13,
      fourteenth: 14,
      fifteenth: 15,
      sixteenth: 16,
      seventeenth: 17,
      eighteenth: 18,
      nineteenth: 19,
      twentieth: 20,
      "twenty first": 21,
      "twenty-first": 21,
      "twenty second": 22,
      "twenty-second": 22,
      "twenty third": 23,
      "twenty-third": 23,
      "twenty fourth": 24,
      "twenty-fourth": 24,
      "twenty fifth": 25,
      "twenty-fifth": 25,
      "twenty sixth": 26,
      "twenty-sixth": 26,
      "twenty seventh": 27,
      "twenty-seventh": 27,
      "twenty eighth": 28,
      "twenty-eighth": 28,
      "twenty ninth": 29,
      "twenty-ninth": 29,
      "thirtieth": 30,
      "thirty first": 31,
      "thirty-first": 31
    };
    TIME_UNIT_DICTIONARY_NO_ABBR = {
      second: "second",
      seconds: "second",
      minute: "minute",
      minutes: "minute",
      hour: "hour",
      hours: "hour",
      day: "day",
      days: "day",
      week: "week",
      weeks: "week",
      month: "month",
      months: "month",
      quarter: "quarter",
      quarters: "quarter",
      year: "year",
      years: "year"
    };
    TIME_UNIT_DICTIONARY = {
      s: "second",
      sec: "second",
      second: "second",
      seconds: "second",
      m: "minute",
      min: "minute",
      mins: "minute",
      minute: "minute",
      minutes: "minute",
      h: "hour",
      hr: "hour",
      hrs: "hour",
      hour: "hour",
      hours: "hour",
      d: "day",
      day: "day",
      days: "day",
      w: "week",
      week: "week",
      weeks: "week",
      mo: "month",
      mon: "month",
      mos: "month",
      month: "month",
      months: "month",
      qtr: "quarter",
      quarter: "quarter",
      quarters: "quarter",
      y: "year",
      yr: "year",
      year: "year",
      years: "year",
      ...TIME_UNIT_DICTIONARY_NO_ABBR
    };
    NUMBER_PATTERN = `(?:${matchAnyPattern(INTEGER_WORD_DICTIONARY)}|[0-9]+|[0-9]+\\.[0-9]+|half(?:\\s{0,2}an?)?|an?\\b(?:\\s{0,2}few)?|few|several|the|a?\\s{0,2}couple\\s{0,2}(?:of)?)`;
    ORDINAL_NUMBER_PATTERN = `(?:${matchAnyPattern(ORDINAL_WORD_DICTIONARY)}|[0-9]{1,2}(?:st|nd|rd|th)?)`;
    YEAR_PATTERN = `(?:[1-9][0-9]{0,3}\\s{0,2}(?:BE|AD|BC|BCE|CE)|[1-9][0-9]{3}|[0-9]{2}(?!\\w|:\\d|\\s+(?:am|pm|o\\s*clock|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)))`;
    SINGLE_TIME_UNIT_PATTERN = `(${NUMBER_PATTERN})\\s{0,3}(${matchAnyPattern(TIME_UNIT_DICTIONARY)})`;
    SINGLE_TIME_UNIT_REGEX = new RegExp(SINGLE_TIME_UNIT_PATTERN, "i");
    SINGLE_TIME_UNIT_NO_ABBR_PATTERN = `(${NUMBER_PATTERN})\\s{0,3}(${matchAnyPattern(TIME_UNIT_DICTIONARY_NO_ABBR)})`;
    TIME_UNIT_CONNECTOR_PATTERN = `\\s{0,5},?(?:\\s*and)?\\s{0,5}`;
    TIME_UNITS_PATTERN = repeatedTimeunitPattern(`(?:(?:about|around)\\s{0,3})?`, SINGLE_TIME_UNIT_PATTERN, TIME_UNIT_CONNECTOR_PATTERN);
    TIME_UNITS_NO_ABBR_PATTERN = repeatedTimeunitPattern(`(?:(?:about|around)\\s{0,3})?`, SINGLE_TIME_UNIT_NO_ABBR_PATTERN, TIME_UNIT_CONNECTOR_PATTERN);
  }
});

// node_modules/chrono-node/dist/esm/common/parsers/AbstractParserWithWordBoundary.js
var AbstractParserWithWordBoundaryChecking;
var init_AbstractParserWithWordBoundary = __esm({
  "node_modules/chrono-node/dist/esm/common/parsers/AbstractParserWithWordBoundary.js"() {
    AbstractParserWithWordBoundaryChecking = class {
      innerPatternHasChange(context, currentInnerPattern) {
        return this.innerPattern(context) !== currentInnerPattern;
      }
      patternLeftBoundary() {
        return `(\\W|^)`;
      }
      cachedInnerPattern = null;
      cachedPattern = null;
      pattern(context) {
        if (this.cachedInnerPattern) {
          if (!this.innerPatternHasChange(context, this.cachedInnerPattern)) {
            return this.cachedPattern;
          }
        }
        this.cachedInnerPattern = this.innerPattern(context);
        this.cachedPattern = new RegExp(`${this.patternLeftBoundary()}${this.cachedInnerPattern.source}`, this.cachedInnerPattern.flags);
        return this.cachedPattern;
      }
      extract(context, match) {
        const header = match[1] ?? "";
        match.index = match.index + header.length;
        match[0] = match[0].substring(header.length);
        for (let i = 2; i < match.length; i++) {
          match[i - 1] = match[i];
        }
        return this.innerExtract(context, match);
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeUnitWithinFormatParser.js
var PATTERN_WITH_OPTIONAL_PREFIX, PATTERN_WITH_PREFIX, PATTERN_WITH_PREFIX_STRICT, ENTimeUnitWithinFormatParser;
var init_ENTimeUnitWithinFormatParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeUnitWithinFormatParser.js"() {
    init_constants();
    init_results();
    init_AbstractParserWithWordBoundary();
    PATTERN_WITH_OPTIONAL_PREFIX = new RegExp(`(?:(?:within|in|for)\\s*)?(?:(?:about|around|roughly|approximately|just)\\s*(?:~\\s*)?)?(${TIME_UNITS_PATTERN})(?=\\W|$)`, "i");
    PATTERN_WITH_PREFIX = new RegExp(`(?:within|in|for)\\s*(?:(?:about|around|roughly|approximately|just)\\s*(?:~\\s*)?)?(${TIME_UNITS_PATTERN})(?=\\W|$)`, "i");
    PATTERN_WITH_PREFIX_STRICT = new RegExp(`(?:within|in|for)\\s*(?:(?:about|around|roughly|approximately|just)\\s*(?:~\\s*)?)?(${TIME_UNITS_NO_ABBR_PATTERN})(?=\\W|$)`, "i");
    ENTimeUnitWithinFormatParser = class extends AbstractParserWithWordBoundaryChecking {
      strictMode;
      constructor(strictMode) {
        super();
        this.strictMode = strictMode;
      }
      innerPattern(context) {
        if (this.strictMode) {
          return PATTERN_WITH_PREFIX_STRICT;
        }
        return context.option.forwardDate ? PATTERN_WITH_OPTIONAL_PREFIX : PATTERN_WITH_PREFIX;
      }
      innerExtract(context, match) {
        if (match[0].match(/^for\s*the\s*\w+/i)) {
          return null;
        }
        const timeUnits = parseDuration(match[1]);
        if (!timeUnits) {
          return null;
        }
        return ParsingComponents.createRelativeFromReference(context.reference, timeUnits);
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENMonthNameLittleEndianParser.js
var PATTERN, DATE_GROUP, DATE_TO_GROUP, MONTH_NAME_GROUP, YEAR_GROUP, ENMonthNameLittleEndianParser;
var init_ENMonthNameLittleEndianParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENMonthNameLittleEndianParser.js"() {
    init_years();
    init_constants();
    init_constants();
    init_constants();
    init_pattern();
    init_AbstractParserWithWordBoundary();
    PATTERN = new RegExp(`(?:on\\s{0,3})?(${ORDINAL_NUMBER_PATTERN})(?:\\s{0,3}(?:to|\\-|\\–|until|through|till)\\s{0,3}(${ORDINAL_NUMBER_PATTERN}))?(?:-|/|\\s{0,3}(?:of)?\\s{0,3})(${matchAnyPattern(MONTH_DICTIONARY)})(?:(?:-|/|,?\\s{0,3})(${YEAR_PATTERN}(?!\\w)))?(?=\\W|$)`, "i");
    DATE_GROUP = 1;
    DATE_TO_GROUP = 2;
    MONTH_NAME_GROUP = 3;
    YEAR_GROUP = 4;
    ENMonthNameLittleEndianParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN;
      }
      innerExtract(context, match) {
        const result = context.createParsingResult(match.index, match[0]);
        const month = MONTH_DICTIONARY[match[MONTH_NAME_GROUP].toLowerCase()];
        const day = parseOrdinalNumberPattern(match[DATE_GROUP]);
        if (day > 31) {
          match.index = match.index + match[DATE_GROUP].length;
          return null;
        }
        result.start.assign("month", month);
        result.start.assign("day", day);
        if (match[YEAR_GROUP]) {
          const yearNumber = parseYear(match[YEAR_GROUP]);
          result.start.assign("year", yearNumber);
        } else {
          const year = findYearClosestToRef(context.refDate, day, month);
          result.start.imply("year", year);
        }
        if (match[DATE_TO_GROUP]) {
          const endDate = parseOrdinalNumberPattern(match[DATE_TO_GROUP]);
          result.end = result.start.clone();
          result.end.assign("day", endDate);
        }
        return result;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENMonthNameMiddleEndianParser.js
var PATTERN2, MONTH_NAME_GROUP2, DATE_GROUP2, DATE_TO_GROUP2, YEAR_GROUP2, ENMonthNameMiddleEndianParser;
var init_ENMonthNameMiddleEndianParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENMonthNameMiddleEndianParser.js"() {
    init_years();
    init_constants();
    init_constants();
    init_constants();
    init_pattern();
    init_AbstractParserWithWordBoundary();
    PATTERN2 = new RegExp(`(${matchAnyPattern(MONTH_DICTIONARY)})(?:-|/|\\s*,?\\s*)(${ORDINAL_NUMBER_PATTERN})(?!\\s*(?:am|pm))\\s*(?:(?:to|\\-)\\s*(${ORDINAL_NUMBER_PATTERN})\\s*)?(?:(?:-|/|\\s*,\\s*|\\s+)(${YEAR_PATTERN}))?(?=\\W|$)(?!\\:\\d)`, "i");
    MONTH_NAME_GROUP2 = 1;
    DATE_GROUP2 = 2;
    DATE_TO_GROUP2 = 3;
    YEAR_GROUP2 = 4;
    ENMonthNameMiddleEndianParser = class extends AbstractParserWithWordBoundaryChecking {
      shouldSkipYearLikeDate;
      constructor(shouldSkipYearLikeDate) {
        super();
        this.shouldSkipYearLikeDate = shouldSkipYearLikeDate;
      }
      innerPattern() {
        return PATTERN2;
      }
      innerExtract(context, match) {
        const month = MONTH_DICTIONARY[match[MONTH_NAME_GROUP2].toLowerCase()];
        const day = parseOrdinalNumberPattern(match[DATE_GROUP2]);
        if (day > 31) {
          return null;
        }
        if (this.shouldSkipYearLikeDate) {
          if (!match[DATE_TO_GROUP2] && !match[YEAR_GROUP2] && match[DATE_GROUP2].match(/^\d{2}$/)) {
            return null;
          }
        }
        const components = context.createParsingComponents({
          day,
          month
        }).addTag("parser/ENMonthNameMiddleEndianParser");
        if (match[YEAR_GROUP2]) {
          const year = parseYear(match[YEAR_GROUP2]);
          components.assign("year", year);
        } else {
          const year = findYearClosestToRef(context.refDate, day, month);
          components.imply("year", year);
        }
        if (!match[DATE_TO_GROUP2]) {
          return components;
        }
        const endDate = parseOrdinalNumberPattern(match[DATE_TO_GROUP2]);
        const result = context.createParsingResult(match.index, match[0]);
        result.start = components;
        result.end = components.clone();
        result.end.assign("day", endDate);
        return result;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENMonthNameParser.js
var PATTERN3, PREFIX_GROUP, MONTH_NAME_GROUP3, YEAR_GROUP3, ENMonthNameParser;
var init_ENMonthNameParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENMonthNameParser.js"() {
    init_constants();
    init_years();
    init_pattern();
    init_constants();
    init_AbstractParserWithWordBoundary();
    PATTERN3 = new RegExp(`((?:in)\\s*)?(${matchAnyPattern(MONTH_DICTIONARY)})\\s*(?:(?:,|-|of)?\\s*(${YEAR_PATTERN})?)?(?=[^\\s\\w]|\\s+[^0-9]|\\s+$|$)`, "i");
    PREFIX_GROUP = 1;
    MONTH_NAME_GROUP3 = 2;
    YEAR_GROUP3 = 3;
    ENMonthNameParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN3;
      }
      innerExtract(context, match) {
        const monthName = match[MONTH_NAME_GROUP3].toLowerCase();
        if (match[0].length <= 3 && !FULL_MONTH_NAME_DICTIONARY[monthName]) {
          return null;
        }
        const result = context.createParsingResult(match.index + (match[PREFIX_GROUP] || "").length, match.index + match[0].length);
        result.start.imply("day", 1);
        result.start.addTag("parser/ENMonthNameParser");
        const month = MONTH_DICTIONARY[monthName];
        result.start.assign("month", month);
        if (match[YEAR_GROUP3]) {
          const year = parseYear(match[YEAR_GROUP3]);
          result.start.assign("year", year);
        } else {
          const year = findYearClosestToRef(context.refDate, 1, month);
          result.start.imply("year", year);
        }
        return result;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENYearMonthDayParser.js
var PATTERN4, YEAR_NUMBER_GROUP, MONTH_NAME_GROUP4, MONTH_NUMBER_GROUP, DATE_NUMBER_GROUP, ENYearMonthDayParser;
var init_ENYearMonthDayParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENYearMonthDayParser.js"() {
    init_constants();
    init_pattern();
    init_AbstractParserWithWordBoundary();
    PATTERN4 = new RegExp(`([0-9]{4})[-\\.\\/\\s](?:(${matchAnyPattern(MONTH_DICTIONARY)})|([0-9]{1,2}))[-\\.\\/\\s]([0-9]{1,2})(?=\\W|$)`, "i");
    YEAR_NUMBER_GROUP = 1;
    MONTH_NAME_GROUP4 = 2;
    MONTH_NUMBER_GROUP = 3;
    DATE_NUMBER_GROUP = 4;
    ENYearMonthDayParser = class extends AbstractParserWithWordBoundaryChecking {
      strictMonthDateOrder;
      constructor(strictMonthDateOrder) {
        super();
        this.strictMonthDateOrder = strictMonthDateOrder;
      }
      innerPattern() {
        return PATTERN4;
      }
      innerExtract(context, match) {
        const year = parseInt(match[YEAR_NUMBER_GROUP]);
        let day = parseInt(match[DATE_NUMBER_GROUP]);
        let month = match[MONTH_NUMBER_GROUP] ? parseInt(match[MONTH_NUMBER_GROUP]) : MONTH_DICTIONARY[match[MONTH_NAME_GROUP4].toLowerCase()];
        if (month < 1 || month > 12) {
          if (this.strictMonthDateOrder) {
            return null;
          }
          if (day >= 1 && day <= 12) {
            [month, day] = [day, month];
          }
        }
        if (day < 1 || day > 31) {
          return null;
        }
        return {
          day,
          month,
          year
        };
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENYearMonthNameParser.js
var YEAR_PATTERN2, PATTERN5, YEAR_GROUP4, MONTH_NAME_GROUP5, ENYearMonthNameParser;
var init_ENYearMonthNameParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENYearMonthNameParser.js"() {
    init_constants();
    init_pattern();
    init_constants();
    init_AbstractParserWithWordBoundary();
    YEAR_PATTERN2 = `(?:[1-9][0-9]{0,3}\\s{0,2}(?:BE|AD|BC|BCE|CE)|[1-9][0-9]{3})`;
    PATTERN5 = new RegExp(`(${YEAR_PATTERN2})(?:\\s*[-.\\/,]?\\s*|\\s+of\\s+)(${matchAnyPattern(MONTH_DICTIONARY)})(?=[^\\s\\w]|\\s+[^0-9]|\\s+$|$)`, "i");
    YEAR_GROUP4 = 1;
    MONTH_NAME_GROUP5 = 2;
    ENYearMonthNameParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN5;
      }
      innerExtract(context, match) {
        const year = parseYear(match[YEAR_GROUP4]);
        const monthName = match[MONTH_NAME_GROUP5].toLowerCase();
        const month = MONTH_DICTIONARY[monthName];
        const result = context.createParsingResult(match.index, match[0]);
        result.start.imply("day", 1);
        result.start.assign("month", month);
        result.start.assign("year", year);
        result.start.addTag("parser/ENYearMonthNameParser");
        return result;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENSlashMonthFormatParser.js
var PATTERN6, MONTH_GROUP, YEAR_GROUP5, ENSlashMonthFormatParser;
var init_ENSlashMonthFormatParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENSlashMonthFormatParser.js"() {
    init_AbstractParserWithWordBoundary();
    PATTERN6 = new RegExp("([0-9]|0[1-9]|1[012])/([0-9]{4})", "i");
    MONTH_GROUP = 1;
    YEAR_GROUP5 = 2;
    ENSlashMonthFormatParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN6;
      }
      innerExtract(context, match) {
        if (/\d\/?$/.test(context.text.substring(0, match.index))) {
          return null;
        }
        const year = parseInt(match[YEAR_GROUP5]);
        const month = parseInt(match[MONTH_GROUP]);
        return context.createParsingComponents().imply("day", 1).assign("month", month).assign("year", year);
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/parsers/AbstractTimeExpressionParser.js
function primaryTimePattern(leftBoundary, primaryPrefix, primarySuffix, flags) {
  return new RegExp(`${leftBoundary}${primaryPrefix}(\\d{1,4})(?:(?:\\.|:|：)(\\d{1,2})(?:(?::|：)(\\d{2})(?:\\.(\\d{1,6}))?)?)?(?:\\s*(a\\.m\\.|p\\.m\\.|am?|pm?))?${primarySuffix}`, flags);
}
function followingTimePatten(followingPhase, followingSuffix) {
  return new RegExp(`^(${followingPhase})(\\d{1,4})(?:(?:\\.|\\:|\\：)(\\d{1,2})(?:(?:\\.|\\:|\\：)(\\d{1,2})(?:\\.(\\d{1,6}))?)?)?(?:\\s*(a\\.m\\.|p\\.m\\.|am?|pm?))?${followingSuffix}`, "i");
}
var HOUR_GROUP, MINUTE_GROUP, SECOND_GROUP, MILLI_SECOND_GROUP, AM_PM_HOUR_GROUP, AbstractTimeExpressionParser;
var init_AbstractTimeExpressionParser = __esm({
  "node_modules/chrono-node/dist/esm/common/parsers/AbstractTimeExpressionParser.js"() {
    init_types();
    HOUR_GROUP = 2;
    MINUTE_GROUP = 3;
    SECOND_GROUP = 4;
    MILLI_SECOND_GROUP = 5;
    AM_PM_HOUR_GROUP = 6;
    AbstractTimeExpressionParser = class {
      strictMode;
      constructor(strictMode = false) {
        this.strictMode = strictMode;
      }
      patternFlags() {
        return "i";
      }
      primaryPatternLeftBoundary() {
        return `(^|\\s|T|\\b)`;
      }
      primarySuffix() {
        return `(?!/)(?=\\W|$)`;
      }
      followingSuffix() {
        return `(?!/)(?=\\W|$)`;
      }
      pattern(context) {
        return this.getPrimaryTimePatternThroughCache();
      }
      extract(context, match) {
        const startComponents = this.extractPrimaryTimeComponents(context, match);
        if (!startComponents) {
          if (match[0].match(/^\d{4}/)) {
            match.index += 4;
            return null;
          }
          match.index += match[0].length;
          return null;
        }
        const index = match.index + match[1].length;
        const text = match[0].substring(match[1].length);
        const result = context.createParsingResult(index, text, startComponents);
        match.index += match[0].length;
        const remainingText = context.text.substring(match.index);
        const followingPattern = this.getFollowingTimePatternThroughCache();
        const followingMatch = followingPattern.exec(remainingText);
        if (text.match(/^\d{3,4}/) && followingMatch) {
          if (followingMatch[0].match(/^\s*([+-])\s*\d{2,4}$/)) {
            return null;
          }
          if (followingMatch[0].match(/^\s*([+-])\s*\d{2}\W\d{2}/)) {
            return null;
          }
        }
        if (!followingMatch || followingMatch[0].match(/^\s*([+-])\s*\d{3,4}$/)) {
          return this.checkAndReturnWithoutFollowingPattern(result);
        }
        result.end = this.extractFollowingTimeComponents(context, followingMatch, result);
        if (result.end) {
          result.text += followingMatch[0];
        }
        return this.checkAndReturnWithFollowingPattern(result);
      }
      extractPrimaryTimeComponents(context, match, strict2 = false) {
        const components = context.createParsingComponents();
        let minute = 0;
        let meridiem = null;
        let hour = parseInt(match[HOUR_GROUP]);
        if (hour > 100) {
          if (match[HOUR_GROUP].length == 4 && match[MINUTE_GROUP] == null && !match[AM_PM_HOUR_GROUP]) {
            return null;
          }
          if (this.strictMode || match[MINUTE_GROUP] != null) {
            return null;
          }
          minute = hour % 100;
          hour = Math.floor(hour / 100);
        }
        if (hour > 24) {
          return null;
        }
        if (match[MINUTE_GROUP] != null) {
          if (match[MINUTE_GROUP].length == 1 && !match[AM_PM_HOUR_GROUP]) {
            return null;
          }
          minute = parseInt(match[MINUTE_GROUP]);
        }
        if (minute >= 60) {
          return null;
        }
        if (hour > 12) {
          meridiem = Meridiem.PM;
        }
        if (match[AM_PM_HOUR_GROUP] != null) {
          if (hour > 12)
            return null;
          const ampm = match[AM_PM_HOUR_GROUP][0].toLowerCase();
          if (ampm == "a") {
            meridiem = Meridiem.AM;
            if (hour == 12) {
              hour = 0;
            }
          }
          if (ampm == "p") {
            meridiem = Meridiem.PM;
            if (hour != 12) {
              hour += 12;
            }
          }
        }
        components.assign("hour", hour);
        components.assign("minute", minute);
        if (meridiem !== null) {
          components.assign("meridiem", meridiem);
        } else {
          if (hour < 12) {
            components.imply("meridiem", Meridiem.AM);
          } else {
            components.imply("meridiem", Meridiem.PM);
          }
        }
        if (match[MILLI_SECOND_GROUP] != null) {
          const millisecond = parseInt(match[MILLI_SECOND_GROUP].substring(0, 3));
          if (millisecond >= 1e3)
            return null;
          components.assign("millisecond", millisecond);
        }
        if (match[SECOND_GROUP] != null) {
          const second = parseInt(match[SECOND_GROUP]);
          if (second >= 60)
            return null;
          components.assign("second", second);
        }
        return components;
      }
      extractFollowingTimeComponents(context, match, result) {
        const components = context.createParsingComponents();
        if (match[MILLI_SECOND_GROUP] != null) {
          const millisecond = parseInt(match[MILLI_SECOND_GROUP].substring(0, 3));
          if (millisecond >= 1e3)
            return null;
          components.assign("millisecond", millisecond);
        }
        if (match[SECOND_GROUP] != null) {
          const second = parseInt(match[SECOND_GROUP]);
          if (second >= 60)
            return null;
          components.assign("second", second);
        }
        let hour = parseInt(match[HOUR_GROUP]);
        let minute = 0;
        let meridiem = -1;
        if (match[MINUTE_GROUP] != null) {
          minute = parseInt(match[MINUTE_GROUP]);
        } else if (hour > 100) {
          minute = hour % 100;
          hour = Math.floor(hour / 100);
        }
        if (minute >= 60 || hour > 24) {
          return null;
        }
        if (hour >= 12) {
          meridiem = Meridiem.PM;
        }
        if (match[AM_PM_HOUR_GROUP] != null) {
          if (hour > 12) {
            return null;
          }
          const ampm = match[AM_PM_HOUR_GROUP][0].toLowerCase();
          if (ampm == "a") {
            meridiem = Meridiem.AM;
            if (hour == 12) {
              hour = 0;
              if (!components.isCertain("day")) {
                components.addDurationAsImplied({ day: 1 });
              }
            }
          }
          if (ampm == "p") {
            meridiem = Meridiem.PM;
            if (hour != 12)
              hour += 12;
          }
          if (!result.start.isCertain("meridiem")) {
            if (meridiem == Meridiem.AM) {
              result.start.imply("meridiem", Meridiem.AM);
              if (result.start.get("hour") == 12) {
                result.start.assign("hour", 0);
              }
            } else {
              result.start.imply("meridiem", Meridiem.PM);
              if (result.start.get("hour") != 12) {
                result.start.assign("hour", result.start.get("hour") + 12);
              }
            }
          }
        }
        components.assign("hour", hour);
        components.assign("minute", minute);
        if (meridiem >= 0) {
          components.assign("meridiem", meridiem);
        } else {
          const startAtPM = result.start.isCertain("meridiem") && result.start.get("hour") > 12;
          if (startAtPM) {
            if (result.start.get("hour") - 12 > hour) {
              components.imply("meridiem", Meridiem.AM);
            } else if (hour <= 12) {
              components.assign("hour", hour + 12);
              components.assign("meridiem", Meridiem.PM);
            }
          } else if (hour > 12) {
            components.imply("meridiem", Meridiem.PM);
          } else if (hour <= 12) {
            components.imply("meridiem", Meridiem.AM);
          }
        }
        if (components.date().getTime() < result.start.date().getTime()) {
          components.addDurationAsImplied({ day: 1 });
        }
        return components;
      }
      checkAndReturnWithoutFollowingPattern(result) {
        if (result.text.match(/^\d$/)) {
          return null;
        }
        if (result.text.match(/^\d\d\d+$/)) {
          return null;
        }
        if (result.text.match(/\d[apAP]$/)) {
          return null;
        }
        const endingWithNumbers = result.text.match(/[^\d:.](\d[\d.]+)$/);
        if (endingWithNumbers) {
          const endingNumbers = endingWithNumbers[1];
          if (this.strictMode) {
            return null;
          }
          if (endingNumbers.includes(".") && !endingNumbers.match(/\d(\.\d{2})+$/)) {
            return null;
          }
          const endingNumberVal = parseInt(endingNumbers);
          if (endingNumberVal > 24) {
            return null;
          }
        }
        return result;
      }
      checkAndReturnWithFollowingPattern(result) {
        if (result.text.match(/^\d+-\d+$/)) {
          return null;
        }
        const endingWithNumbers = result.text.match(/[^\d:.](\d[\d.]+)\s*-\s*(\d[\d.]+)$/);
        if (endingWithNumbers) {
          if (this.strictMode) {
            return null;
          }
          const startingNumbers = endingWithNumbers[1];
          const endingNumbers = endingWithNumbers[2];
          if (endingNumbers.includes(".") && !endingNumbers.match(/\d(\.\d{2})+$/)) {
            return null;
          }
          const endingNumberVal = parseInt(endingNumbers);
          const startingNumberVal = parseInt(startingNumbers);
          if (endingNumberVal > 24 || startingNumberVal > 24) {
            return null;
          }
        }
        return result;
      }
      cachedPrimaryPrefix = null;
      cachedPrimarySuffix = null;
      cachedPrimaryTimePattern = null;
      getPrimaryTimePatternThroughCache() {
        const primaryPrefix = this.primaryPrefix();
        const primarySuffix = this.primarySuffix();
        if (this.cachedPrimaryPrefix === primaryPrefix && this.cachedPrimarySuffix === primarySuffix) {
          return this.cachedPrimaryTimePattern;
        }
        this.cachedPrimaryTimePattern = primaryTimePattern(this.primaryPatternLeftBoundary(), primaryPrefix, primarySuffix, this.patternFlags());
        this.cachedPrimaryPrefix = primaryPrefix;
        this.cachedPrimarySuffix = primarySuffix;
        return this.cachedPrimaryTimePattern;
      }
      cachedFollowingPhase = null;
      cachedFollowingSuffix = null;
      cachedFollowingTimePatten = null;
      getFollowingTimePatternThroughCache() {
        const followingPhase = this.followingPhase();
        const followingSuffix = this.followingSuffix();
        if (this.cachedFollowingPhase === followingPhase && this.cachedFollowingSuffix === followingSuffix) {
          return this.cachedFollowingTimePatten;
        }
        this.cachedFollowingTimePatten = followingTimePatten(followingPhase, followingSuffix);
        this.cachedFollowingPhase = followingPhase;
        this.cachedFollowingSuffix = followingSuffix;
        return this.cachedFollowingTimePatten;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeExpressionParser.js
var ENTimeExpressionParser;
var init_ENTimeExpressionParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeExpressionParser.js"() {
    init_types();
    init_AbstractTimeExpressionParser();
    ENTimeExpressionParser = class extends AbstractTimeExpressionParser {
      constructor(strictMode) {
        super(strictMode);
      }
      followingPhase() {
        return "\\s*(?:\\-|\\–|\\~|\\〜|to|until|through|till|\\?)\\s*";
      }
      primaryPrefix() {
        return "(?:(?:at|from)\\s*)??";
      }
      primarySuffix() {
        return "(?:\\s*(?:o\\W*clock|at\\s*night|in\\s*the\\s*(?:morning|afternoon)))?(?!/)(?=\\W|$)";
      }
      extractPrimaryTimeComponents(context, match) {
        const components = super.extractPrimaryTimeComponents(context, match);
        if (!components) {
          return components;
        }
        if (match[0].endsWith("night")) {
          const hour = components.get("hour");
          if (hour >= 6 && hour < 12) {
            components.assign("hour", components.get("hour") + 12);
            components.assign("meridiem", Meridiem.PM);
          } else if (hour < 6) {
            components.assign("meridiem", Meridiem.AM);
          }
        }
        if (match[0].endsWith("afternoon")) {
          components.assign("meridiem", Meridiem.PM);
          const hour = components.get("hour");
          if (hour >= 0 && hour <= 6) {
            components.assign("hour", components.get("hour") + 12);
          }
        }
        if (match[0].endsWith("morning")) {
          components.assign("meridiem", Meridiem.AM);
          const hour = components.get("hour");
          if (hour < 12) {
            components.assign("hour", components.get("hour"));
          }
        }
        return components.addTag("parser/ENTimeExpressionParser");
      }
      extractFollowingTimeComponents(context, match, result) {
        const followingComponents = super.extractFollowingTimeComponents(context, match, result);
        if (followingComponents) {
          followingComponents.addTag("parser/ENTimeExpressionParser");
        }
        return followingComponents;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeUnitAgoFormatParser.js
var PATTERN7, STRICT_PATTERN, ENTimeUnitAgoFormatParser;
var init_ENTimeUnitAgoFormatParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeUnitAgoFormatParser.js"() {
    init_constants();
    init_results();
    init_AbstractParserWithWordBoundary();
    init_duration();
    PATTERN7 = new RegExp(`(${TIME_UNITS_PATTERN})\\s{0,5}(?:ago|before|earlier)(?=\\W|$)`, "i");
    STRICT_PATTERN = new RegExp(`(${TIME_UNITS_NO_ABBR_PATTERN})\\s{0,5}(?:ago|before|earlier)(?=\\W|$)`, "i");
    ENTimeUnitAgoFormatParser = class extends AbstractParserWithWordBoundaryChecking {
      strictMode;
      constructor(strictMode) {
        super();
        this.strictMode = strictMode;
      }
      innerPattern() {
        return this.strictMode ? STRICT_PATTERN : PATTERN7;
      }
      innerExtract(context, match) {
        const duration = parseDuration(match[1]);
        if (!duration) {
          return null;
        }
        return ParsingComponents.createRelativeFromReference(context.reference, reverseDuration(duration));
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeUnitLaterFormatParser.js
var PATTERN8, STRICT_PATTERN2, GROUP_NUM_TIMEUNITS, ENTimeUnitLaterFormatParser;
var init_ENTimeUnitLaterFormatParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeUnitLaterFormatParser.js"() {
    init_constants();
    init_results();
    init_AbstractParserWithWordBoundary();
    PATTERN8 = new RegExp(`(${TIME_UNITS_PATTERN})\\s{0,5}(?:later|after|from now|henceforth|forward|out)(?=(?:\\W|$))`, "i");
    STRICT_PATTERN2 = new RegExp(`(${TIME_UNITS_NO_ABBR_PATTERN})\\s{0,5}(later|after|from now)(?=\\W|$)`, "i");
    GROUP_NUM_TIMEUNITS = 1;
    ENTimeUnitLaterFormatParser = class extends AbstractParserWithWordBoundaryChecking {
      strictMode;
      constructor(strictMode) {
        super();
        this.strictMode = strictMode;
      }
      innerPattern() {
        return this.strictMode ? STRICT_PATTERN2 : PATTERN8;
      }
      innerExtract(context, match) {
        const timeUnits = parseDuration(match[GROUP_NUM_TIMEUNITS]);
        if (!timeUnits) {
          return null;
        }
        return ParsingComponents.createRelativeFromReference(context.reference, timeUnits);
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/abstractRefiners.js
var Filter, MergingRefiner;
var init_abstractRefiners = __esm({
  "node_modules/chrono-node/dist/esm/common/abstractRefiners.js"() {
    Filter = class {
      refine(context, results) {
        return results.filter((r) => this.isValid(context, r));
      }
    };
    MergingRefiner = class {
      refine(context, results) {
        if (results.length < 2) {
          return results;
        }
        const mergedResults = [];
        let curResult = results[0];
        let nextResult = null;
        for (let i = 1; i < results.length; i++) {
          nextResult = results[i];
          const textBetween = context.text.substring(curResult.index + curResult.text.length, nextResult.index);
          if (!this.shouldMergeResults(textBetween, curResult, nextResult, context)) {
            mergedResults.push(curResult);
            curResult = nextResult;
          } else {
            const left = curResult;
            const right = nextResult;
            const mergedResult = this.mergeResults(textBetween, left, right, context);
            context.debug(() => {
              console.log(`${this.constructor.name} merged ${left} and ${right} into ${mergedResult}`);
            });
            curResult = mergedResult;
          }
        }
        if (curResult != null) {
          mergedResults.push(curResult);
        }
        return mergedResults;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/refiners/AbstractMergeDateRangeRefiner.js
var AbstractMergeDateRangeRefiner;
var init_AbstractMergeDateRangeRefiner = __esm({
  "node_modules/chrono-node/dist/esm/common/refiners/AbstractMergeDateRangeRefiner.js"() {
    init_abstractRefiners();
    init_duration();
    AbstractMergeDateRangeRefiner = class extends MergingRefiner {
      shouldMergeResults(textBetween, currentResult, nextResult) {
        return !currentResult.end && !nextResult.end && textBetween.match(this.patternBetween()) != null;
      }
      mergeResults(textBetween, fromResult, toResult) {
        if (!fromResult.start.isOnlyWeekdayComponent() && !toResult.start.isOnlyWeekdayComponent()) {
          toResult.start.getCertainComponents().forEach((key) => {
            if (!fromResult.start.isCertain(key)) {
              fromResult.start.imply(key, toResult.start.get(key));
            }
          });
          fromResult.start.getCertainComponents().forEach((key) => {
            if (!toResult.start.isCertain(key)) {
              toResult.start.imply(key, fromResult.start.get(key));
            }
          });
        }
        if (fromResult.start.date() > toResult.start.date()) {
          let fromDate = fromResult.start.date();
          let toDate = toResult.start.date();
          if (toResult.start.isOnlyWeekdayComponent() && addDuration(toDate, { day: 7 }) > fromDate) {
            toDate = addDuration(toDate, { day: 7 });
            toResult.start.imply("day", toDate.getDate());
            toResult.start.imply("month", toDate.getMonth() + 1);
            toResult.start.imply("year", toDate.getFullYear());
          } else if (fromResult.start.isOnlyWeekdayComponent() && addDuration(fromDate, { day: -7 }) < toDate) {
            fromDate = addDuration(fromDate, { day: -7 });
            fromResult.start.imply("day", fromDate.getDate());
            fromResult.start.imply("month", fromDate.getMonth() + 1);
            fromResult.start.imply("year", fromDate.getFullYear());
          } else if (toResult.start.isDateWithUnknownYear() && addDuration(toDate, { year: 1 }) > fromDate) {
            toDate = addDuration(toDate, { year: 1 });
            toResult.start.imply("year", toDate.getFullYear());
          } else if (fromResult.start.isDateWithUnknownYear() && addDuration(fromDate, { year: -1 }) < toDate) {
            fromDate = addDuration(fromDate, { year: -1 });
            fromResult.start.imply("year", fromDate.getFullYear());
          } else {
            [toResult, fromResult] = [fromResult, toResult];
          }
        }
        const result = fromResult.clone();
        result.start = fromResult.start;
        result.end = toResult.start;
        result.index = Math.min(fromResult.index, toResult.index);
        if (fromResult.index < toResult.index) {
          result.text = fromResult.text + textBetween + toResult.text;
        } else {
          result.text = toResult.text + textBetween + fromResult.text;
        }
        return result;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/refiners/ENMergeDateRangeRefiner.js
var ENMergeDateRangeRefiner;
var init_ENMergeDateRangeRefiner = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/refiners/ENMergeDateRangeRefiner.js"() {
    init_AbstractMergeDateRangeRefiner();
    ENMergeDateRangeRefiner = class extends AbstractMergeDateRangeRefiner {
      patternBetween() {
        return /^\s*(to|-|–|until|through|till)\s*$/i;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/calculation/mergingCalculation.js
function mergeDateTimeResult(dateResult, timeResult) {
  const result = dateResult.clone();
  const beginDate = dateResult.start;
  const beginTime = timeResult.start;
  result.start = mergeDateTimeComponent(beginDate, beginTime);
  if (dateResult.end != null || timeResult.end != null) {
    const endDate = dateResult.end == null ? dateResult.start : dateResult.end;
    const endTime = timeResult.end == null ? timeResult.start : timeResult.end;
    const endDateTime = mergeDateTimeComponent(endDate, endTime);
    if (dateResult.end == null && endDateTime.date().getTime() < result.start.date().getTime()) {
      const nextDay = new Date(endDateTime.date().getTime());
      nextDay.setDate(nextDay.getDate() + 1);
      if (endDateTime.isCertain("day")) {
        assignSimilarDate(endDateTime, nextDay);
      } else {
        implySimilarDate(endDateTime, nextDay);
      }
    }
    result.end = endDateTime;
  }
  return result;
}
function mergeDateTimeComponent(dateComponent, timeComponent) {
  const dateTimeComponent = dateComponent.clone();
  if (timeComponent.isCertain("hour")) {
    dateTimeComponent.assign("hour", timeComponent.get("hour"));
    dateTimeComponent.assign("minute", timeComponent.get("minute"));
    if (timeComponent.isCertain("second")) {
      dateTimeComponent.assign("second", timeComponent.get("second"));
      if (timeComponent.isCertain("millisecond")) {
        dateTimeComponent.assign("millisecond", timeComponent.get("millisecond"));
      } else {
        dateTimeComponent.imply("millisecond", timeComponent.get("millisecond"));
      }
    } else {
      dateTimeComponent.imply("second", timeComponent.get("second"));
      dateTimeComponent.imply("millisecond", timeComponent.get("millisecond"));
    }
  } else {
    dateTimeComponent.imply("hour", timeComponent.get("hour"));
    dateTimeComponent.imply("minute", timeComponent.get("minute"));
    dateTimeComponent.imply("second", timeComponent.get("second"));
    dateTimeComponent.imply("millisecond", timeComponent.get("millisecond"));
  }
  if (timeComponent.isCertain("timezoneOffset")) {
    dateTimeComponent.assign("timezoneOffset", timeComponent.get("timezoneOffset"));
  }
  const dateHasMeaningfulMeridiem = dateComponent.get("meridiem") != null && (dateComponent.isCertain("meridiem") || Array.from(dateComponent.tags()).some((t) => t.startsWith("casualReference/")));
  if (timeComponent.isCertain("meridiem")) {
    dateTimeComponent.assign("meridiem", timeComponent.get("meridiem"));
  } else if (timeComponent.get("meridiem") != null && !dateHasMeaningfulMeridiem) {
    dateTimeComponent.imply("meridiem", timeComponent.get("meridiem"));
  }
  if (dateTimeComponent.get("meridiem") == Meridiem.PM && dateTimeComponent.get("hour") < 12) {
    if (timeComponent.isCertain("hour")) {
      dateTimeComponent.assign("hour", dateTimeComponent.get("hour") + 12);
    } else {
      dateTimeComponent.imply("hour", dateTimeComponent.get("hour") + 12);
    }
  }
  dateTimeComponent.addTags(dateComponent.tags());
  dateTimeComponent.addTags(timeComponent.tags());
  return dateTimeComponent;
}
var init_mergingCalculation = __esm({
  "node_modules/chrono-node/dist/esm/calculation/mergingCalculation.js"() {
    init_types();
    init_dates();
  }
});

// node_modules/chrono-node/dist/esm/common/refiners/AbstractMergeDateTimeRefiner.js
var AbstractMergeDateTimeRefiner;
var init_AbstractMergeDateTimeRefiner = __esm({
  "node_modules/chrono-node/dist/esm/common/refiners/AbstractMergeDateTimeRefiner.js"() {
    init_abstractRefiners();
    init_mergingCalculation();
    AbstractMergeDateTimeRefiner = class extends MergingRefiner {
      shouldMergeResults(textBetween, currentResult, nextResult) {
        const isDateThenTime = currentResult.start.isOnlyDate() && nextResult.start.isOnlyTime();
        const isTimeThenDate = currentResult.start.isOnlyTime() && nextResult.start.isOnlyDate();
        if (isTimeThenDate && textBetween.trim() === ":") {
          return false;
        }
        return (isDateThenTime || isTimeThenDate) && textBetween.match(this.patternBetween()) != null;
      }
      mergeResults(textBetween, currentResult, nextResult) {
        const result = currentResult.start.isOnlyDate() ? mergeDateTimeResult(currentResult, nextResult) : mergeDateTimeResult(nextResult, currentResult);
        result.index = currentResult.index;
        result.text = currentResult.text + textBetween + nextResult.text;
        return result;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/refiners/ENMergeDateTimeRefiner.js
var ENMergeDateTimeRefiner;
var init_ENMergeDateTimeRefiner = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/refiners/ENMergeDateTimeRefiner.js"() {
    init_AbstractMergeDateTimeRefiner();
    ENMergeDateTimeRefiner = class extends AbstractMergeDateTimeRefiner {
      patternBetween() {
        return new RegExp("^\\s*(T|at|after|before|on|of|,|-|\\.|∙|:)?\\s*$");
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/refiners/ExtractTimezoneAbbrRefiner.js
var TIMEZONE_NAME_PATTERN, ExtractTimezoneAbbrRefiner;
var init_ExtractTimezoneAbbrRefiner = __esm({
  "node_modules/chrono-node/dist/esm/common/refiners/ExtractTimezoneAbbrRefiner.js"() {
    init_timezone();
    TIMEZONE_NAME_PATTERN = new RegExp("^\\s*,?\\s*\\(?([A-Z]{2,4})\\)?(?=\\W|$)", "i");
    ExtractTimezoneAbbrRefiner = class {
      timezoneOverrides;
      constructor(timezoneOverrides) {
        this.timezoneOverrides = timezoneOverrides;
      }
      refine(context, results) {
        const timezoneOverrides = context.option.timezones ?? {};
        results.forEach((result) => {
          const suffix = context.text.substring(result.index + result.text.length);
          const match = TIMEZONE_NAME_PATTERN.exec(suffix);
          if (!match) {
            return;
          }
          const timezoneAbbr = match[1].toUpperCase();
          const refDate = result.start.date() ?? result.refDate ?? /* @__PURE__ */ new Date();
          const tzOverrides = { ...this.timezoneOverrides, ...timezoneOverrides };
          const extractedTimezoneOffset = toTimezoneOffset(timezoneAbbr, refDate, tzOverrides);
          if (extractedTimezoneOffset == null) {
            return;
          }
          context.debug(() => {
            console.log(`Extracting timezone: '${timezoneAbbr}' into: ${extractedTimezoneOffset} for: ${result.start}`);
          });
          const currentTimezoneOffset = result.start.get("timezoneOffset");
          if (currentTimezoneOffset !== null && extractedTimezoneOffset != currentTimezoneOffset) {
            if (result.start.isCertain("timezoneOffset")) {
              return;
            }
            if (timezoneAbbr != match[1]) {
              return;
            }
          }
          if (result.start.isOnlyDate()) {
            if (timezoneAbbr != match[1]) {
              return;
            }
          }
          result.text += match[0];
          if (!result.start.isCertain("timezoneOffset")) {
            result.start.assign("timezoneOffset", extractedTimezoneOffset);
          }
          if (result.end != null && !result.end.isCertain("timezoneOffset")) {
            result.end.assign("timezoneOffset", extractedTimezoneOffset);
          }
        });
        return results;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/refiners/ExtractTimezoneOffsetRefiner.js
var TIMEZONE_OFFSET_PATTERN, TIMEZONE_OFFSET_SIGN_GROUP, TIMEZONE_OFFSET_HOUR_OFFSET_GROUP, TIMEZONE_OFFSET_MINUTE_OFFSET_GROUP, ExtractTimezoneOffsetRefiner;
var init_ExtractTimezoneOffsetRefiner = __esm({
  "node_modules/chrono-node/dist/esm/common/refiners/ExtractTimezoneOffsetRefiner.js"() {
    TIMEZONE_OFFSET_PATTERN = new RegExp("^\\s*(?:\\(?(?:GMT|UTC)\\s?)?([+-])(\\d{1,2})(?::?(\\d{2}))?\\)?", "i");
    TIMEZONE_OFFSET_SIGN_GROUP = 1;
    TIMEZONE_OFFSET_HOUR_OFFSET_GROUP = 2;
    TIMEZONE_OFFSET_MINUTE_OFFSET_GROUP = 3;
    ExtractTimezoneOffsetRefiner = class {
      refine(context, results) {
        results.forEach(function(result) {
          if (result.start.isCertain("timezoneOffset")) {
            return;
          }
          const suffix = context.text.substring(result.index + result.text.length);
          const match = TIMEZONE_OFFSET_PATTERN.exec(suffix);
          if (!match) {
            return;
          }
          context.debug(() => {
            console.log(`Extracting timezone: '${match[0]}' into : ${result}`);
          });
          const hourOffset = parseInt(match[TIMEZONE_OFFSET_HOUR_OFFSET_GROUP]);
          const minuteOffset = parseInt(match[TIMEZONE_OFFSET_MINUTE_OFFSET_GROUP] || "0");
          let timezoneOffset = hourOffset * 60 + minuteOffset;
          if (timezoneOffset > 14 * 60) {
            return;
          }
          if (match[TIMEZONE_OFFSET_SIGN_GROUP] === "-") {
            timezoneOffset = -timezoneOffset;
          }
          if (result.end != null) {
            result.end.assign("timezoneOffset", timezoneOffset);
          }
          result.start.assign("timezoneOffset", timezoneOffset);
          result.text += match[0];
        });
        return results;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/refiners/OverlapRemovalRefiner.js
var OverlapRemovalRefiner;
var init_OverlapRemovalRefiner = __esm({
  "node_modules/chrono-node/dist/esm/common/refiners/OverlapRemovalRefiner.js"() {
    OverlapRemovalRefiner = class {
      refine(context, results) {
        if (results.length < 2) {
          return results;
        }
        const filteredResults = [];
        let prevResult = results[0];
        for (let i = 1; i < results.length; i++) {
          const result = results[i];
          if (result.index >= prevResult.index + prevResult.text.length) {
            filteredResults.push(prevResult);
            prevResult = result;
            continue;
          }
          let kept = null;
          let removed = null;
          if (result.text.length > prevResult.text.length) {
            kept = result;
            removed = prevResult;
          } else {
            kept = prevResult;
            removed = result;
          }
          context.debug(() => {
            console.log(`${this.constructor.name} remove ${removed} by ${kept}`);
          });
          prevResult = kept;
        }
        if (prevResult != null) {
          filteredResults.push(prevResult);
        }
        return filteredResults;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/calculation/weekdays.js
function createParsingComponentsAtWeekday(reference, weekday, modifier) {
  const refDate = reference.getDateWithAdjustedTimezone();
  const daysToWeekday = getDaysToWeekday(refDate, weekday, modifier);
  let components = new ParsingComponents(reference);
  components = components.addDurationAsImplied({ day: daysToWeekday });
  components.assign("weekday", weekday);
  return components;
}
function getDaysToWeekday(refDate, weekday, modifier) {
  const refWeekday = refDate.getDay();
  switch (modifier) {
    case "this":
      return getDaysForwardToWeekday(refDate, weekday);
    case "last":
      return getBackwardDaysToWeekday(refDate, weekday);
    case "next":
      if (refWeekday == Weekday.SUNDAY) {
        return weekday == Weekday.SUNDAY ? 7 : weekday;
      }
      if (refWeekday == Weekday.SATURDAY) {
        if (weekday == Weekday.SATURDAY)
          return 7;
        if (weekday == Weekday.SUNDAY)
          return 8;
        return 1 + weekday;
      }
      if (weekday < refWeekday && weekday != Weekday.SUNDAY) {
        return getDaysForwardToWeekday(refDate, weekday);
      } else {
        return getDaysForwardToWeekday(refDate, weekday) + 7;
      }
  }
  return getDaysToWeekdayClosest(refDate, weekday);
}
function getDaysToWeekdayClosest(refDate, weekday) {
  const backward = getBackwardDaysToWeekday(refDate, weekday);
  const forward = getDaysForwardToWeekday(refDate, weekday);
  return forward < -backward ? forward : backward;
}
function getDaysForwardToWeekday(refDate, weekday) {
  const refWeekday = refDate.getDay();
  let forwardCount = weekday - refWeekday;
  if (forwardCount < 0) {
    forwardCount += 7;
  }
  return forwardCount;
}
function getBackwardDaysToWeekday(refDate, weekday) {
  const refWeekday = refDate.getDay();
  let backwardCount = weekday - refWeekday;
  if (backwardCount >= 0) {
    backwardCount -= 7;
  }
  return backwardCount;
}
var init_weekdays = __esm({
  "node_modules/chrono-node/dist/esm/calculation/weekdays.js"() {
    init_types();
    init_results();
  }
});

// node_modules/chrono-node/dist/esm/common/refiners/ForwardDateRefiner.js
var ForwardDateRefiner;
var init_ForwardDateRefiner = __esm({
  "node_modules/chrono-node/dist/esm/common/refiners/ForwardDateRefiner.js"() {
    init_dates();
    init_dates();
    init_duration();
    init_weekdays();
    ForwardDateRefiner = class {
      refine(context, results) {
        if (!context.option.forwardDate) {
          return results;
        }
        results.forEach((result) => {
          let refDate = context.reference.getDateWithAdjustedTimezone();
          if (result.start.isOnlyTime() && context.reference.instant > result.start.date()) {
            const refDate2 = context.reference.getDateWithAdjustedTimezone();
            const refFollowingDay = new Date(refDate2);
            refFollowingDay.setDate(refFollowingDay.getDate() + 1);
            implySimilarDate(result.start, refFollowingDay);
            context.debug(() => {
              console.log(`${this.constructor.name} adjusted ${result} time from the ref date (${refDate2}) to the following day (${refFollowingDay})`);
            });
            if (result.end && result.end.isOnlyTime()) {
              implySimilarDate(result.end, refFollowingDay);
              if (result.start.date() > result.end.date()) {
                refFollowingDay.setDate(refFollowingDay.getDate() + 1);
                implySimilarDate(result.end, refFollowingDay);
              }
            }
          }
          if (result.start.isOnlyWeekdayComponent() && refDate > result.start.date()) {
            let daysToAdd = getDaysForwardToWeekday(refDate, result.start.get("weekday")) || 7;
            const forwardedWeekday = addDuration(refDate, { day: daysToAdd });
            implySimilarDate(result.start, forwardedWeekday);
            context.debug(() => {
              console.log(`${this.constructor.name} adjusted ${result} weekday (${result.start})`);
            });
            if (result.end && result.start.date() > result.end.date()) {
              let daysToAdd2 = getDaysForwardToWeekday(refDate, result.start.get("weekday")) || 7;
              const forwardedWeekday2 = addDuration(refDate, { day: daysToAdd2 });
              implySimilarDate(result.end, forwardedWeekday2);
              context.debug(() => {
                console.log(`${this.constructor.name} adjusted ${result} weekday (${result.end})`);
              });
            }
          }
          if (result.start.isDateWithUnknownYear() && refDate > result.start.date()) {
            for (let i = 0; i < 3 && refDate > result.start.date(); i++) {
              result.start.imply("year", result.start.get("year") + 1);
              context.debug(() => {
                console.log(`${this.constructor.name} adjusted ${result} year (${result.start})`);
              });
              if (result.end && !result.end.isCertain("year")) {
                result.end.imply("year", result.end.get("year") + 1);
                context.debug(() => {
                  console.log(`${this.constructor.name} adjusted ${result} month (${result.start})`);
                });
              }
            }
          }
        });
        return results;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/refiners/UnlikelyFormatFilter.js
var UnlikelyFormatFilter;
var init_UnlikelyFormatFilter = __esm({
  "node_modules/chrono-node/dist/esm/common/refiners/UnlikelyFormatFilter.js"() {
    init_abstractRefiners();
    UnlikelyFormatFilter = class extends Filter {
      strictMode;
      constructor(strictMode) {
        super();
        this.strictMode = strictMode;
      }
      isValid(context, result) {
        if (result.text.replace(" ", "").match(/^\d*(\.\d*)?$/)) {
          context.debug(() => {
            console.log(`Removing unlikely result '${result.text}'`);
          });
          return false;
        }
        if (!result.start.isValidDate()) {
          context.debug(() => {
            console.log(`Removing invalid result: ${result} (${result.start})`);
          });
          return false;
        }
        if (result.end && !result.end.isValidDate()) {
          context.debug(() => {
            console.log(`Removing invalid result: ${result} (${result.end})`);
          });
          return false;
        }
        if (this.strictMode) {
          return this.isStrictModeValid(context, result);
        }
        return true;
      }
      isStrictModeValid(context, result) {
        if (result.start.isOnlyWeekdayComponent()) {
          context.debug(() => {
            console.log(`(Strict) Removing weekday only component: ${result} (${result.end})`);
          });
          return false;
        }
        return true;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/parsers/ISOFormatParser.js
var PATTERN9, YEAR_NUMBER_GROUP2, MONTH_NUMBER_GROUP2, DATE_NUMBER_GROUP2, HOUR_NUMBER_GROUP, MINUTE_NUMBER_GROUP, SECOND_NUMBER_GROUP, MILLISECOND_NUMBER_GROUP, TZD_GROUP, TZD_HOUR_OFFSET_GROUP, TZD_MINUTE_OFFSET_GROUP, ISOFormatParser;
var init_ISOFormatParser = __esm({
  "node_modules/chrono-node/dist/esm/common/parsers/ISOFormatParser.js"() {
    init_AbstractParserWithWordBoundary();
    PATTERN9 = new RegExp("([0-9]{4})\\-([0-9]{1,2})\\-([0-9]{1,2})(?:T([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\\.(\\d{1,4}))?)?(Z|([+-]\\d{2}):?(\\d{2})?)?)?(?=\\W|$)", "i");
    YEAR_NUMBER_GROUP2 = 1;
    MONTH_NUMBER_GROUP2 = 2;
    DATE_NUMBER_GROUP2 = 3;
    HOUR_NUMBER_GROUP = 4;
    MINUTE_NUMBER_GROUP = 5;
    SECOND_NUMBER_GROUP = 6;
    MILLISECOND_NUMBER_GROUP = 7;
    TZD_GROUP = 8;
    TZD_HOUR_OFFSET_GROUP = 9;
    TZD_MINUTE_OFFSET_GROUP = 10;
    ISOFormatParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN9;
      }
      innerExtract(context, match) {
        const components = context.createParsingComponents({
          "year": parseInt(match[YEAR_NUMBER_GROUP2]),
          "month": parseInt(match[MONTH_NUMBER_GROUP2]),
          "day": parseInt(match[DATE_NUMBER_GROUP2])
        });
        if (match[HOUR_NUMBER_GROUP] != null) {
          components.assign("hour", parseInt(match[HOUR_NUMBER_GROUP]));
          components.assign("minute", parseInt(match[MINUTE_NUMBER_GROUP]));
          if (match[SECOND_NUMBER_GROUP] != null) {
            components.assign("second", parseInt(match[SECOND_NUMBER_GROUP]));
          }
          if (match[MILLISECOND_NUMBER_GROUP] != null) {
            components.assign("millisecond", parseInt(match[MILLISECOND_NUMBER_GROUP]));
          }
          if (match[TZD_GROUP] != null) {
            let offset = 0;
            if (match[TZD_HOUR_OFFSET_GROUP]) {
              const hourOffset = parseInt(match[TZD_HOUR_OFFSET_GROUP]);
              let minuteOffset = 0;
              if (match[TZD_MINUTE_OFFSET_GROUP] != null) {
                minuteOffset = parseInt(match[TZD_MINUTE_OFFSET_GROUP]);
              }
              offset = hourOffset * 60;
              if (offset < 0) {
                offset -= minuteOffset;
              } else {
                offset += minuteOffset;
              }
            }
            components.assign("timezoneOffset", offset);
          }
        }
        return components.addTag("parser/ISOFormatParser");
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/refiners/MergeWeekdayComponentRefiner.js
var MergeWeekdayComponentRefiner;
var init_MergeWeekdayComponentRefiner = __esm({
  "node_modules/chrono-node/dist/esm/common/refiners/MergeWeekdayComponentRefiner.js"() {
    init_abstractRefiners();
    MergeWeekdayComponentRefiner = class extends MergingRefiner {
      mergeResults(textBetween, currentResult, nextResult) {
        const newResult = nextResult.clone();
        newResult.index = currentResult.index;
        newResult.text = currentResult.text + textBetween + newResult.text;
        newResult.start.assign("weekday", currentResult.start.get("weekday"));
        if (newResult.end) {
          newResult.end.assign("weekday", currentResult.start.get("weekday"));
        }
        return newResult;
      }
      shouldMergeResults(textBetween, currentResult, nextResult) {
        const weekdayThenNormalDate = currentResult.start.isOnlyWeekdayComponent() && !currentResult.start.isCertain("hour") && nextResult.start.isCertain("day") && !nextResult.start.tags().has("result/relativeDate");
        return weekdayThenNormalDate && textBetween.match(/^,?\s*$/) != null;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/configurations.js
function includeCommonConfiguration(configuration2, strictMode = false) {
  configuration2.parsers.unshift(new ISOFormatParser());
  configuration2.refiners.unshift(new MergeWeekdayComponentRefiner());
  configuration2.refiners.unshift(new ExtractTimezoneOffsetRefiner());
  configuration2.refiners.unshift(new OverlapRemovalRefiner());
  configuration2.refiners.push(new ExtractTimezoneAbbrRefiner());
  configuration2.refiners.push(new OverlapRemovalRefiner());
  configuration2.refiners.push(new ForwardDateRefiner());
  configuration2.refiners.push(new UnlikelyFormatFilter(strictMode));
  return configuration2;
}
var init_configurations = __esm({
  "node_modules/chrono-node/dist/esm/configurations.js"() {
    init_ExtractTimezoneAbbrRefiner();
    init_ExtractTimezoneOffsetRefiner();
    init_OverlapRemovalRefiner();
    init_ForwardDateRefiner();
    init_UnlikelyFormatFilter();
    init_ISOFormatParser();
    init_MergeWeekdayComponentRefiner();
  }
});

// node_modules/chrono-node/dist/esm/common/casualReferences.js
function now(reference) {
  const targetDate = reference.getDateWithAdjustedTimezone();
  const component = new ParsingComponents(reference, {});
  assignSimilarDate(component, targetDate);
  assignSimilarTime(component, targetDate);
  component.assign("timezoneOffset", reference.getTimezoneOffset());
  component.addTag("casualReference/now");
  return component;
}
function today(reference) {
  const targetDate = reference.getDateWithAdjustedTimezone();
  const component = new ParsingComponents(reference, {});
  assignSimilarDate(component, targetDate);
  implySimilarTime(component, targetDate);
  component.delete("meridiem");
  component.addTag("casualReference/today");
  return component;
}
function yesterday(reference) {
  return theDayBefore(reference, 1).addTag("casualReference/yesterday");
}
function tomorrow(reference) {
  return theDayAfter(reference, 1).addTag("casualReference/tomorrow");
}
function theDayBefore(reference, numDay) {
  return theDayAfter(reference, -numDay);
}
function theDayAfter(reference, nDays) {
  const targetDate = reference.getDateWithAdjustedTimezone();
  const component = new ParsingComponents(reference, {});
  const newDate = new Date(targetDate.getTime());
  newDate.setDate(newDate.getDate() + nDays);
  assignSimilarDate(component, newDate);
  implySimilarTime(component, newDate);
  component.delete("meridiem");
  return component;
}
function tonight(reference, implyHour = 22) {
  const targetDate = reference.getDateWithAdjustedTimezone();
  const component = new ParsingComponents(reference, {});
  assignSimilarDate(component, targetDate);
  component.imply("hour", implyHour);
  component.imply("meridiem", Meridiem.PM);
  component.addTag("casualReference/tonight");
  return component;
}
function evening(reference, implyHour = 20) {
  const component = new ParsingComponents(reference, {});
  component.imply("meridiem", Meridiem.PM);
  component.imply("hour", implyHour);
  component.addTag("casualReference/evening");
  return component;
}
function midnight(reference) {
  const component = new ParsingComponents(reference, {});
  if (reference.getDateWithAdjustedTimezone().getHours() > 2) {
    component.addDurationAsImplied({ day: 1 });
  }
  component.assign("hour", 0);
  component.imply("minute", 0);
  component.imply("second", 0);
  component.imply("millisecond", 0);
  component.addTag("casualReference/midnight");
  return component;
}
function morning(reference, implyHour = 6) {
  const component = new ParsingComponents(reference, {});
  component.imply("meridiem", Meridiem.AM);
  component.imply("hour", implyHour);
  component.imply("minute", 0);
  component.imply("second", 0);
  component.imply("millisecond", 0);
  component.addTag("casualReference/morning");
  return component;
}
function afternoon(reference, implyHour = 15) {
  const component = new ParsingComponents(reference, {});
  component.imply("meridiem", Meridiem.PM);
  component.imply("hour", implyHour);
  component.imply("minute", 0);
  component.imply("second", 0);
  component.imply("millisecond", 0);
  component.addTag("casualReference/afternoon");
  return component;
}
function noon(reference) {
  const component = new ParsingComponents(reference, {});
  component.imply("meridiem", Meridiem.AM);
  component.assign("hour", 12);
  component.imply("minute", 0);
  component.imply("second", 0);
  component.imply("millisecond", 0);
  component.addTag("casualReference/noon");
  return component;
}
var init_casualReferences = __esm({
  "node_modules/chrono-node/dist/esm/common/casualReferences.js"() {
    init_results();
    init_dates();
    init_types();
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENCasualDateParser.js
var PATTERN10, ENCasualDateParser;
var init_ENCasualDateParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENCasualDateParser.js"() {
    init_AbstractParserWithWordBoundary();
    init_dates();
    init_casualReferences();
    PATTERN10 = /(now|today|tonight|tomorrow|overmorrow|tmr|tmrw|yesterday|last\s*night)(?=\W|$)/i;
    ENCasualDateParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern(context) {
        return PATTERN10;
      }
      innerExtract(context, match) {
        let targetDate = context.refDate;
        const lowerText = match[0].toLowerCase();
        let component = context.createParsingComponents();
        switch (lowerText) {
          case "now":
            component = now(context.reference);
            break;
          case "today":
            component = today(context.reference);
            break;
          case "yesterday":
            component = yesterday(context.reference);
            break;
          case "tomorrow":
          case "tmr":
          case "tmrw":
            component = tomorrow(context.reference);
            break;
          case "tonight":
            component = tonight(context.reference);
            break;
          case "overmorrow":
            component = theDayAfter(context.reference, 2);
            break;
          default:
            if (lowerText.match(/last\s*night/)) {
              if (targetDate.getHours() > 6) {
                const previousDay = new Date(targetDate.getTime());
                previousDay.setDate(previousDay.getDate() - 1);
                targetDate = previousDay;
              }
              assignSimilarDate(component, targetDate);
              component.imply("hour", 0);
            }
            break;
        }
        component.addTag("parser/ENCasualDateParser");
        return component;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENCasualTimeParser.js
var PATTERN11, ENCasualTimeParser;
var init_ENCasualTimeParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENCasualTimeParser.js"() {
    init_AbstractParserWithWordBoundary();
    init_casualReferences();
    PATTERN11 = /(?:this)?\s{0,3}(morning|afternoon|evening|night|midnight|midday|noon)(?=\W|$)/i;
    ENCasualTimeParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN11;
      }
      innerExtract(context, match) {
        let component = null;
        switch (match[1].toLowerCase()) {
          case "afternoon":
            component = afternoon(context.reference);
            break;
          case "evening":
          case "night":
            component = evening(context.reference);
            break;
          case "midnight":
            component = midnight(context.reference);
            break;
          case "morning":
            component = morning(context.reference);
            break;
          case "noon":
          case "midday":
            component = noon(context.reference);
            break;
        }
        if (component) {
          component.addTag("parser/ENCasualTimeParser");
        }
        return component;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENWeekdayParser.js
var PATTERN12, PREFIX_GROUP2, WEEKDAY_GROUP, POSTFIX_GROUP, ENWeekdayParser;
var init_ENWeekdayParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENWeekdayParser.js"() {
    init_constants();
    init_pattern();
    init_AbstractParserWithWordBoundary();
    init_weekdays();
    init_types();
    PATTERN12 = new RegExp(`(?:(?:\\,|\\(|\\（)\\s*)?(?:on\\s*?)?(?:(this|last|past|next)\\s*)?(${matchAnyPattern(WEEKDAY_DICTIONARY)}|weekend|weekday)(?:\\s*(?:\\,|\\)|\\）))?(?:\\s*(?:of\\s*)?(this|last|past|next)\\s*week)?(?=\\W|$)`, "i");
    PREFIX_GROUP2 = 1;
    WEEKDAY_GROUP = 2;
    POSTFIX_GROUP = 3;
    ENWeekdayParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN12;
      }
      innerExtract(context, match) {
        const prefix = match[PREFIX_GROUP2];
        const postfix = match[POSTFIX_GROUP];
        let modifierWord = prefix || postfix;
        modifierWord = modifierWord || "";
        modifierWord = modifierWord.toLowerCase();
        let modifier = null;
        if (modifierWord == "last" || modifierWord == "past") {
          modifier = "last";
        } else if (modifierWord == "next") {
          modifier = "next";
        } else if (modifierWord == "this") {
          modifier = "this";
        }
        const weekday_word = match[WEEKDAY_GROUP].toLowerCase();
        let weekday;
        if (WEEKDAY_DICTIONARY[weekday_word] !== void 0) {
          weekday = WEEKDAY_DICTIONARY[weekday_word];
        } else if (weekday_word == "weekend") {
          weekday = modifier == "last" ? Weekday.SUNDAY : Weekday.SATURDAY;
        } else if (weekday_word == "weekday") {
          const refWeekday = context.reference.getDateWithAdjustedTimezone().getDay();
          if (refWeekday == Weekday.SUNDAY || refWeekday == Weekday.SATURDAY) {
            weekday = modifier == "last" ? Weekday.FRIDAY : Weekday.MONDAY;
          } else {
            weekday = refWeekday - 1;
            weekday = modifier == "last" ? weekday - 1 : weekday + 1;
            weekday = weekday % 5 + 1;
          }
        } else {
          return null;
        }
        return createParsingComponentsAtWeekday(context.reference, weekday, modifier);
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENRelativeDateFormatParser.js
var PATTERN13, MODIFIER_WORD_GROUP, RELATIVE_WORD_GROUP, ENRelativeDateFormatParser;
var init_ENRelativeDateFormatParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENRelativeDateFormatParser.js"() {
    init_constants();
    init_results();
    init_AbstractParserWithWordBoundary();
    init_pattern();
    PATTERN13 = new RegExp(`(this|last|past|next|after\\s*this)\\s*(${matchAnyPattern(TIME_UNIT_DICTIONARY)})(?=\\s*)(?=\\W|$)`, "i");
    MODIFIER_WORD_GROUP = 1;
    RELATIVE_WORD_GROUP = 2;
    ENRelativeDateFormatParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN13;
      }
      innerExtract(context, match) {
        const modifier = match[MODIFIER_WORD_GROUP].toLowerCase();
        const unitWord = match[RELATIVE_WORD_GROUP].toLowerCase();
        const timeunit = TIME_UNIT_DICTIONARY[unitWord];
        if (modifier == "next" || modifier.startsWith("after")) {
          const timeUnits = {};
          timeUnits[timeunit] = 1;
          return ParsingComponents.createRelativeFromReference(context.reference, timeUnits);
        }
        if (modifier == "last" || modifier == "past") {
          const timeUnits = {};
          timeUnits[timeunit] = -1;
          return ParsingComponents.createRelativeFromReference(context.reference, timeUnits);
        }
        const components = context.createParsingComponents();
        let date = new Date(context.reference.instant.getTime());
        if (unitWord.match(/week/i)) {
          date.setDate(date.getDate() - date.getDay());
          components.imply("day", date.getDate());
          components.imply("month", date.getMonth() + 1);
          components.imply("year", date.getFullYear());
        } else if (unitWord.match(/month/i)) {
          date.setDate(1);
          components.imply("day", date.getDate());
          components.assign("year", date.getFullYear());
          components.assign("month", date.getMonth() + 1);
        } else if (unitWord.match(/year/i)) {
          date.setDate(1);
          date.setMonth(0);
          components.imply("day", date.getDate());
          components.imply("month", date.getMonth() + 1);
          components.assign("year", date.getFullYear());
        }
        return components;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/common/parsers/SlashDateFormatParser.js
var PATTERN14, OPENING_GROUP, ENDING_GROUP, FIRST_NUMBERS_GROUP, SECOND_NUMBERS_GROUP, YEAR_GROUP6, SlashDateFormatParser;
var init_SlashDateFormatParser = __esm({
  "node_modules/chrono-node/dist/esm/common/parsers/SlashDateFormatParser.js"() {
    init_years();
    PATTERN14 = new RegExp("([^\\d]|^)([0-3]{0,1}[0-9]{1})[\\/\\.\\-]([0-3]{0,1}[0-9]{1})(?:[\\/\\.\\-]([0-9]{4}|[0-9]{2}))?(\\W|$)", "i");
    OPENING_GROUP = 1;
    ENDING_GROUP = 5;
    FIRST_NUMBERS_GROUP = 2;
    SECOND_NUMBERS_GROUP = 3;
    YEAR_GROUP6 = 4;
    SlashDateFormatParser = class {
      groupNumberMonth;
      groupNumberDay;
      constructor(littleEndian) {
        this.groupNumberMonth = littleEndian ? SECOND_NUMBERS_GROUP : FIRST_NUMBERS_GROUP;
        this.groupNumberDay = littleEndian ? FIRST_NUMBERS_GROUP : SECOND_NUMBERS_GROUP;
      }
      pattern() {
        return PATTERN14;
      }
      extract(context, match) {
        const index = match.index + match[OPENING_GROUP].length;
        const indexEnd = match.index + match[0].length - match[ENDING_GROUP].length;
        if (index > 0) {
          const textBefore = context.text.substring(0, index);
          if (textBefore.match("\\d/?$")) {
            return;
          }
        }
        if (indexEnd < context.text.length) {
          const textAfter = context.text.substring(indexEnd);
          if (textAfter.match("^/?\\d")) {
            return;
          }
        }
        const text = context.text.substring(index, indexEnd);
        if (text.match(/^\d\.\d$/) || text.match(/^\d\.\d{1,2}\.\d{1,2}\s*$/)) {
          return;
        }
        if (!match[YEAR_GROUP6] && text.indexOf("/") < 0) {
          return;
        }
        const result = context.createParsingResult(index, text);
        let month = parseInt(match[this.groupNumberMonth]);
        let day = parseInt(match[this.groupNumberDay]);
        if (month < 1 || month > 12) {
          if (month > 12) {
            if (day >= 1 && day <= 12 && month <= 31) {
              [day, month] = [month, day];
            } else {
              return null;
            }
          }
        }
        if (day < 1 || day > 31) {
          return null;
        }
        result.start.assign("day", day);
        result.start.assign("month", month);
        if (match[YEAR_GROUP6]) {
          const rawYearNumber = parseInt(match[YEAR_GROUP6]);
          const year = findMostLikelyADYear(rawYearNumber);
          result.start.assign("year", year);
        } else {
          const year = findYearClosestToRef(context.refDate, day, month);
          result.start.imply("year", year);
        }
        return result.addTag("parser/SlashDateFormatParser");
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeUnitCasualRelativeFormatParser.js
var PATTERN15, PATTERN_NO_ABBR, ENTimeUnitCasualRelativeFormatParser;
var init_ENTimeUnitCasualRelativeFormatParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENTimeUnitCasualRelativeFormatParser.js"() {
    init_constants();
    init_results();
    init_AbstractParserWithWordBoundary();
    init_duration();
    PATTERN15 = new RegExp(`(this|last|past|next|after|\\+|-)\\s*(${TIME_UNITS_PATTERN})(?=\\W|$)`, "i");
    PATTERN_NO_ABBR = new RegExp(`(this|last|past|next|after|\\+|-)\\s*(${TIME_UNITS_NO_ABBR_PATTERN})(?=\\W|$)`, "i");
    ENTimeUnitCasualRelativeFormatParser = class extends AbstractParserWithWordBoundaryChecking {
      allowAbbreviations;
      constructor(allowAbbreviations = true) {
        super();
        this.allowAbbreviations = allowAbbreviations;
      }
      innerPattern() {
        return this.allowAbbreviations ? PATTERN15 : PATTERN_NO_ABBR;
      }
      innerExtract(context, match) {
        const prefix = match[1].toLowerCase();
        let duration = parseDuration(match[2]);
        if (!duration) {
          return null;
        }
        switch (prefix) {
          case "last":
          case "past":
          case "-":
            duration = reverseDuration(duration);
            break;
        }
        return ParsingComponents.createRelativeFromReference(context.reference, duration);
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/refiners/ENMergeRelativeAfterDateRefiner.js
function IsPositiveFollowingReference(result) {
  return result.text.match(/^[+-]/i) != null;
}
function IsNegativeFollowingReference(result) {
  return result.text.match(/^-/i) != null;
}
var ENMergeRelativeAfterDateRefiner;
var init_ENMergeRelativeAfterDateRefiner = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/refiners/ENMergeRelativeAfterDateRefiner.js"() {
    init_abstractRefiners();
    init_results();
    init_constants();
    init_duration();
    ENMergeRelativeAfterDateRefiner = class extends MergingRefiner {
      shouldMergeResults(textBetween, currentResult, nextResult) {
        if (!textBetween.match(/^\s*$/i)) {
          return false;
        }
        return IsPositiveFollowingReference(nextResult) || IsNegativeFollowingReference(nextResult);
      }
      mergeResults(textBetween, currentResult, nextResult, context) {
        let timeUnits = parseDuration(nextResult.text);
        if (IsNegativeFollowingReference(nextResult)) {
          timeUnits = reverseDuration(timeUnits);
        }
        const components = ParsingComponents.createRelativeFromReference(ReferenceWithTimezone.fromDate(currentResult.start.date()), timeUnits);
        return new ParsingResult(currentResult.reference, currentResult.index, `${currentResult.text}${textBetween}${nextResult.text}`, components);
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/refiners/ENMergeRelativeFollowByDateRefiner.js
function hasImpliedEarlierReferenceDate(result) {
  return result.text.match(/\s+(before|from)$/i) != null;
}
function hasImpliedLaterReferenceDate(result) {
  return result.text.match(/\s+(after|since)$/i) != null;
}
var ENMergeRelativeFollowByDateRefiner;
var init_ENMergeRelativeFollowByDateRefiner = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/refiners/ENMergeRelativeFollowByDateRefiner.js"() {
    init_abstractRefiners();
    init_results();
    init_constants();
    init_duration();
    ENMergeRelativeFollowByDateRefiner = class extends MergingRefiner {
      patternBetween() {
        return /^\s*$/i;
      }
      shouldMergeResults(textBetween, currentResult, nextResult) {
        if (!textBetween.match(this.patternBetween())) {
          return false;
        }
        if (!hasImpliedEarlierReferenceDate(currentResult) && !hasImpliedLaterReferenceDate(currentResult)) {
          return false;
        }
        return !!nextResult.start.get("day") && !!nextResult.start.get("month") && !!nextResult.start.get("year");
      }
      mergeResults(textBetween, currentResult, nextResult) {
        let duration = parseDuration(currentResult.text);
        if (hasImpliedEarlierReferenceDate(currentResult)) {
          duration = reverseDuration(duration);
        }
        const components = ParsingComponents.createRelativeFromReference(ReferenceWithTimezone.fromDate(nextResult.start.date()), duration);
        return new ParsingResult(nextResult.reference, currentResult.index, `${currentResult.text}${textBetween}${nextResult.text}`, components);
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/refiners/ENExtractYearSuffixRefiner.js
var YEAR_SUFFIX_PATTERN, YEAR_GROUP7, ENExtractYearSuffixRefiner;
var init_ENExtractYearSuffixRefiner = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/refiners/ENExtractYearSuffixRefiner.js"() {
    init_constants();
    YEAR_SUFFIX_PATTERN = new RegExp(`^\\s*(${YEAR_PATTERN})`, "i");
    YEAR_GROUP7 = 1;
    ENExtractYearSuffixRefiner = class {
      refine(context, results) {
        results.forEach(function(result) {
          if (!result.start.isDateWithUnknownYear()) {
            return;
          }
          const suffix = context.text.substring(result.index + result.text.length);
          const match = YEAR_SUFFIX_PATTERN.exec(suffix);
          if (!match) {
            return;
          }
          if (match[0].trim().length <= 3) {
            return;
          }
          context.debug(() => {
            console.log(`Extracting year: '${match[0]}' into : ${result}`);
          });
          const year = parseYear(match[YEAR_GROUP7]);
          if (result.end != null) {
            result.end.assign("year", year);
          }
          result.start.assign("year", year);
          result.text += match[0];
        });
        return results;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/refiners/ENUnlikelyFormatFilter.js
var ENUnlikelyFormatFilter;
var init_ENUnlikelyFormatFilter = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/refiners/ENUnlikelyFormatFilter.js"() {
    init_abstractRefiners();
    ENUnlikelyFormatFilter = class extends Filter {
      constructor() {
        super();
      }
      isValid(context, result) {
        const text = result.text.trim();
        if (text === context.text.trim()) {
          return true;
        }
        if (text.toLowerCase() === "may") {
          const textBefore = context.text.substring(0, result.index).trim();
          if (!textBefore.match(/\b(in)$/i)) {
            context.debug(() => {
              console.log(`Removing unlikely result: ${result}`);
            });
            return false;
          }
        }
        if (text.toLowerCase().endsWith("the second")) {
          const textAfter = context.text.substring(result.index + result.text.length).trim();
          if (textAfter.length > 0) {
            context.debug(() => {
              console.log(`Removing unlikely result: ${result}`);
            });
          }
          return false;
        }
        return true;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/refiners/ENEndOfPeriodRefiner.js
function modifierOffset(modifier) {
  return modifier === "next" ? 1 : modifier === "last" || modifier === "past" ? -1 : 0;
}
var PREFIX_PATTERN, RELATIVE_PERIOD_PATTERN, RELATIVE_YEAR_SUFFIX_PATTERN, ENEndOfPeriodRefiner;
var init_ENEndOfPeriodRefiner = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/refiners/ENEndOfPeriodRefiner.js"() {
    init_years();
    PREFIX_PATTERN = /\b(?:last\s+day|end)\s+of\s+(?:the\s+)?$/i;
    RELATIVE_PERIOD_PATTERN = /^(this|last|past|next)\s*(week|month|year)$/i;
    RELATIVE_YEAR_SUFFIX_PATTERN = /^\s+(this|last|past|next)\s+year(?=\W|$)/i;
    ENEndOfPeriodRefiner = class {
      refine(context, results) {
        results.forEach((result) => {
          const prefix = context.text.substring(0, result.index).match(PREFIX_PATTERN);
          if (!prefix) {
            return;
          }
          const relativePeriod = result.text.match(RELATIVE_PERIOD_PATTERN);
          if (relativePeriod) {
            const modifier = relativePeriod[1].toLowerCase();
            this.moveToEndOfRelativePeriod(context, result, modifier, relativePeriod[2].toLowerCase());
          } else if (result.start.isCertain("month") && !result.start.isCertain("day")) {
            this.moveToEndOfMonth(context, result);
          } else {
            return;
          }
          result.start.imply("hour", 12);
          result.start.imply("minute", 0);
          result.start.imply("second", 0);
          result.start.imply("millisecond", 0);
          if (!result.start.isCertain("timezoneOffset")) {
            result.start.delete("timezoneOffset");
          }
          result.index -= prefix[0].length;
          result.text = prefix[0] + result.text;
          result.addTag("refiner/ENEndOfPeriodRefiner");
        });
        return results;
      }
      moveToEndOfRelativePeriod(context, result, modifier, period) {
        const offset = modifierOffset(modifier);
        const referenceDate = context.reference.getDateWithAdjustedTimezone();
        let lastDay;
        if (period === "week") {
          lastDay = new Date(referenceDate.getTime());
          lastDay.setDate(referenceDate.getDate() + (6 - referenceDate.getDay()) + offset * 7);
        } else if (period === "month") {
          lastDay = new Date(referenceDate.getFullYear(), referenceDate.getMonth() + offset + 1, 0);
        } else {
          lastDay = new Date(referenceDate.getFullYear() + offset, 11, 31);
        }
        result.start.assign("day", lastDay.getDate());
        result.start.assign("month", lastDay.getMonth() + 1);
        result.start.assign("year", lastDay.getFullYear());
        result.start.delete("weekday");
        result.start.imply("weekday", lastDay.getDay());
      }
      moveToEndOfMonth(context, result) {
        let year = result.start.get("year");
        const month = result.start.get("month");
        const suffix = context.text.substring(result.index + result.text.length).match(RELATIVE_YEAR_SUFFIX_PATTERN);
        if (suffix) {
          const modifier = suffix[1].toLowerCase();
          const referenceYear = context.reference.getDateWithAdjustedTimezone().getFullYear();
          year = referenceYear + modifierOffset(modifier);
          result.start.assign("year", year);
          result.text += suffix[0];
        }
        if (!result.start.isCertain("year")) {
          const lastDayInReferenceYear = new Date(year, month, 0).getDate();
          year = findYearClosestToRef(context.reference.getDateWithAdjustedTimezone(), lastDayInReferenceYear, month);
          result.start.imply("year", year);
        }
        result.start.assign("day", new Date(year, month, 0).getDate());
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/parsers/ENEndOfCurrentMonthParser.js
var PATTERN16, ENEndOfCurrentMonthParser;
var init_ENEndOfCurrentMonthParser = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/parsers/ENEndOfCurrentMonthParser.js"() {
    init_AbstractParserWithWordBoundary();
    PATTERN16 = /(?:last\s+day|end)\s+of\s+(?:the\s+)?month(?=\W|$)/i;
    ENEndOfCurrentMonthParser = class extends AbstractParserWithWordBoundaryChecking {
      innerPattern() {
        return PATTERN16;
      }
      innerExtract(context) {
        const targetDate = context.reference.getDateWithAdjustedTimezone();
        const year = targetDate.getFullYear();
        const month = targetDate.getMonth() + 1;
        const lastDay = new Date(year, month, 0).getDate();
        const components = context.createParsingComponents();
        components.assign("day", lastDay);
        components.assign("month", month);
        components.assign("year", year);
        components.addTag("parser/ENEndOfCurrentMonthParser");
        return components;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/configuration.js
var ENDefaultConfiguration;
var init_configuration = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/configuration.js"() {
    init_ENTimeUnitWithinFormatParser();
    init_ENMonthNameLittleEndianParser();
    init_ENMonthNameMiddleEndianParser();
    init_ENMonthNameParser();
    init_ENYearMonthDayParser();
    init_ENYearMonthNameParser();
    init_ENSlashMonthFormatParser();
    init_ENTimeExpressionParser();
    init_ENTimeUnitAgoFormatParser();
    init_ENTimeUnitLaterFormatParser();
    init_ENMergeDateRangeRefiner();
    init_ENMergeDateTimeRefiner();
    init_configurations();
    init_ENCasualDateParser();
    init_ENCasualTimeParser();
    init_ENWeekdayParser();
    init_ENRelativeDateFormatParser();
    init_SlashDateFormatParser();
    init_ENTimeUnitCasualRelativeFormatParser();
    init_ENMergeRelativeAfterDateRefiner();
    init_ENMergeRelativeFollowByDateRefiner();
    init_OverlapRemovalRefiner();
    init_ENExtractYearSuffixRefiner();
    init_ENUnlikelyFormatFilter();
    init_ENEndOfPeriodRefiner();
    init_ENEndOfCurrentMonthParser();
    ENDefaultConfiguration = class {
      createCasualConfiguration(littleEndian = false) {
        const option = this.createConfiguration(false, littleEndian);
        option.parsers.push(new ENCasualDateParser());
        option.parsers.push(new ENCasualTimeParser());
        option.parsers.push(new ENEndOfCurrentMonthParser());
        option.parsers.push(new ENMonthNameParser());
        option.parsers.push(new ENRelativeDateFormatParser());
        option.parsers.push(new ENTimeUnitCasualRelativeFormatParser());
        option.refiners.unshift(new ENEndOfPeriodRefiner());
        option.refiners.push(new ENUnlikelyFormatFilter());
        return option;
      }
      createConfiguration(strictMode = true, littleEndian = false) {
        const options = includeCommonConfiguration({
          parsers: [
            new SlashDateFormatParser(littleEndian),
            new ENTimeUnitWithinFormatParser(strictMode),
            new ENMonthNameLittleEndianParser(),
            new ENMonthNameMiddleEndianParser(littleEndian),
            new ENWeekdayParser(),
            new ENSlashMonthFormatParser(),
            new ENTimeExpressionParser(strictMode),
            new ENTimeUnitAgoFormatParser(strictMode),
            new ENTimeUnitLaterFormatParser(strictMode),
            new ENYearMonthNameParser()
          ],
          refiners: [new ENMergeDateTimeRefiner()]
        }, strictMode);
        options.parsers.unshift(new ENYearMonthDayParser(strictMode));
        options.refiners.unshift(new ENMergeRelativeFollowByDateRefiner());
        options.refiners.unshift(new ENMergeRelativeAfterDateRefiner());
        options.refiners.unshift(new OverlapRemovalRefiner());
        options.refiners.push(new ENMergeDateTimeRefiner());
        options.refiners.push(new ENExtractYearSuffixRefiner());
        options.refiners.push(new ENMergeDateRangeRefiner());
        return options;
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/chrono.js
var Chrono, ParsingContext;
var init_chrono = __esm({
  "node_modules/chrono-node/dist/esm/chrono.js"() {
    init_results();
    init_configuration();
    Chrono = class _Chrono {
      parsers;
      refiners;
      defaultConfig = new ENDefaultConfiguration();
      constructor(configuration2) {
        configuration2 = configuration2 || this.defaultConfig.createCasualConfiguration();
        this.parsers = [...configuration2.parsers];
        this.refiners = [...configuration2.refiners];
      }
      clone() {
        return new _Chrono({
          parsers: [...this.parsers],
          refiners: [...this.refiners]
        });
      }
      parseDate(text, referenceDate, option) {
        const results = this.parse(text, referenceDate, option);
        return results.length > 0 ? results[0].start.date() : null;
      }
      parse(text, referenceDate, option) {
        const context = new ParsingContext(text, referenceDate, option);
        let results = [];
        this.parsers.forEach((parser2) => {
          const parsedResults = _Chrono.executeParser(context, parser2);
          results = results.concat(parsedResults);
        });
        results.sort((a, b) => {
          return a.index - b.index;
        });
        this.refiners.forEach(function(refiner) {
          results = refiner.refine(context, results);
        });
        return results;
      }
      static executeParser(context, parser2) {
        const results = [];
        const pattern = parser2.pattern(context);
        const originalText = context.text;
        let remainingText = context.text;
        let match = pattern.exec(remainingText);
        while (match) {
          const index = match.index + originalText.length - remainingText.length;
          match.index = index;
          const result = parser2.extract(context, match);
          if (!result) {
            remainingText = originalText.substring(match.index + 1);
            match = pattern.exec(remainingText);
            continue;
          }
          let parsedResult = null;
          if (result instanceof ParsingResult) {
            parsedResult = result;
          } else if (result instanceof ParsingComponents) {
            parsedResult = context.createParsingResult(match.index, match[0]);
            parsedResult.start = result;
          } else {
            parsedResult = context.createParsingResult(match.index, match[0], result);
          }
          const parsedIndex = parsedResult.index;
          const parsedText = parsedResult.text;
          context.debug(() => console.log(`${parser2.constructor.name} extracted (at index=${parsedIndex}) '${parsedText}'`));
          results.push(parsedResult);
          remainingText = originalText.substring(parsedIndex + parsedText.length);
          match = pattern.exec(remainingText);
        }
        return results;
      }
    };
    ParsingContext = class {
      text;
      option;
      reference;
      refDate;
      constructor(text, refDate, option) {
        this.text = text;
        this.option = option ?? {};
        this.reference = ReferenceWithTimezone.fromInput(refDate, this.option.timezones);
        this.refDate = this.reference.instant;
      }
      createParsingComponents(components) {
        if (components instanceof ParsingComponents) {
          return components;
        }
        return new ParsingComponents(this.reference, components);
      }
      createParsingResult(index, textOrEndIndex, startComponents, endComponents) {
        const text = typeof textOrEndIndex === "string" ? textOrEndIndex : this.text.substring(index, textOrEndIndex);
        const start = startComponents ? this.createParsingComponents(startComponents) : null;
        const end = endComponents ? this.createParsingComponents(endComponents) : null;
        return new ParsingResult(this.reference, index, text, start, end);
      }
      debug(block) {
        if (this.option.debug) {
          if (this.option.debug instanceof Function) {
            this.option.debug(block);
          } else {
            const handler = this.option.debug;
            handler.debug(block);
          }
        }
      }
    };
  }
});

// node_modules/chrono-node/dist/esm/locales/en/index.js
var en_exports = {};
__export(en_exports, {
  Chrono: () => Chrono,
  GB: () => GB,
  Meridiem: () => Meridiem,
  ParsingComponents: () => ParsingComponents,
  ParsingResult: () => ParsingResult,
  ReferenceWithTimezone: () => ReferenceWithTimezone,
  Weekday: () => Weekday,
  casual: () => casual,
  configuration: () => configuration,
  parse: () => parse,
  parseDate: () => parseDate,
  strict: () => strict
});
function parse(text, ref, option) {
  return casual.parse(text, ref, option);
}
function parseDate(text, ref, option) {
  return casual.parseDate(text, ref, option);
}
var configuration, casual, strict, GB;
var init_en = __esm({
  "node_modules/chrono-node/dist/esm/locales/en/index.js"() {
    init_chrono();
    init_results();
    init_types();
    init_configuration();
    configuration = new ENDefaultConfiguration();
    casual = new Chrono(configuration.createCasualConfiguration(false));
    strict = new Chrono(configuration.createConfiguration(true, false));
    GB = new Chrono(configuration.createCasualConfiguration(true));
  }
});

// src/text/relative-dates.ts
async function findRelativeDates(text, now2) {
  const found = [];
  let line = 1;
  for (const block of blankFences(text).split(/(?<=\n)(?=[ \t]*\r?\n)/)) {
    const paragraph = block.includes("`") ? blankSpans(block) : block;
    if (HINT.test(paragraph)) {
      parser ??= await loadParser();
      for (const result of parser.parse(paragraph, now2, { forwardDate: true })) {
        const words = relativeWords(paragraph, result);
        if (!words) continue;
        const at = result.index + result.text.indexOf(words);
        found.push({
          line: line + countLines(paragraph.slice(0, at)),
          words: words.replace(/\s+/g, " "),
          date: isoDay(result)
        });
      }
    }
    line += countLines(paragraph);
  }
  return found;
}
function relativeWords(text, result) {
  const words = result.text.replace(/^[\s,(（]+|[\s,)）]+$/g, "");
  const match = WHOLE.exec(words);
  if (!match) return null;
  const start = result.index + result.text.indexOf(words);
  const before = text.slice(Math.max(0, start - 40), start);
  const after = text.slice(start + words.length, start + words.length + 40);
  if (CALENDAR_DAY.test(words.slice(match[0].length)) || /^\s*[,(（:=–-]?\s*(?:on\s+)?\d{4}-\d\d/.test(after))
    return null;
  if (/\d{4}-\d\d-\d\d\s*[,(（]?\s*$/.test(before)) return null;
  if (REPEATED.test(before) || /^\s+(?:mornings|afternoons|evenings|nights)\b|^\s+(?:of|in)\s+(?:the|each|every|a)\s+(?:month|quarter|year|sprint)/i.test(
    after
  ))
    return null;
  if (isWeekdayRange(before, words, after)) return null;
  if (/^today$/i.test(words) && /^['’]s\b/.test(after)) return null;
  if (/[\w/\\.@#-]$/.test(before) || /^[\w/\\@-]|^\.\w/.test(after)) return null;
  if (/\n[ \t]*(?:[-*+#>|]|\d+[.)])/.test(words)) return null;
  return words;
}
function isWeekdayRange(before, words, after) {
  const day = "(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|satu?r?|sun)(?:day)?";
  const join21 = "\\s*(?:-|–|—|to|through|thru)\\s*";
  if (/\b(?:this|next|last|coming|past)\b/i.test(words)) return false;
  return new RegExp(`^${day}${join21}${day}\\b`, "i").test(words.replace(/^on\s+/i, "") + after) || new RegExp(`\\b${day}${join21}$`, "i").test(before);
}
function isoDay({ start }) {
  const [year, month, day] = [start.get("year"), start.get("month"), start.get("day")];
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`;
}
async function loadParser() {
  const { casual: casual2 } = await Promise.resolve().then(() => (init_en(), en_exports));
  const extended = casual2.clone();
  extended.parsers.unshift(
    {
      pattern: () => /\b(?:end\s+of\s+(?:(?:the|this)\s+)?(week|month|quarter|year)|eo([dwmqy]))\b/i,
      extract: ({ reference }, match) => endOfPeriod(reference.getDateWithAdjustedTimezone(), (match[1] ?? match[2] ?? "")[0])
    },
    {
      pattern: () => new RegExp(`\\b(this|next|last)\\s+(${MONTH})\\b(?!\\s+\\d)`, "i"),
      extract: ({ reference }, match) => monthNamed(reference.getDateWithAdjustedTimezone(), match[1] ?? "", match[2] ?? "")
    }
  );
  return extended;
}
function endOfPeriod(from, period) {
  const [year, month, day] = [from.getFullYear(), from.getMonth(), from.getDate()];
  switch (period.toLowerCase()) {
    case "w":
      return toDay(new Date(year, month, day + (7 - from.getDay()) % 7));
    case "m":
      return toDay(new Date(year, month + 1, 0));
    case "q":
      return toDay(new Date(year, month - month % 3 + 3, 0));
    case "y":
      return { year, month: 12, day: 31 };
    default:
      return toDay(from);
  }
}
function monthNamed(from, which, name) {
  const month = MONTH.slice(3, -1).split("|").indexOf(name.toLowerCase()) + 1;
  const current = from.getMonth() + 1;
  const shift = /next/i.test(which) ? Number(month <= current) : /last/i.test(which) ? -Number(month >= current) : 0;
  return { year: from.getFullYear() + shift, month, day: 1 };
}
function toDay(date) {
  return { year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate() };
}
function blankFences(text) {
  return text.replace(
    /^[ \t>]*(`{3,}|~{3,})[^`\n]*(?:\n[\s\S]*?(?:\n[ \t>]*\1[`~]*[ \t]*\r?(?=\n|$(?![\s\S]))|$(?![\s\S]))|$(?![\s\S]))/gm,
    blank
  ).replace(/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s)>]+/gi, blank);
}
function blankSpans(paragraph) {
  const runs = [...paragraph.matchAll(/`+/g)].map((run19) => ({ start: run19.index, end: run19.index + run19[0].length }));
  const nextOfLength = /* @__PURE__ */ new Map();
  const partners = runs.map(() => -1);
  for (let i = runs.length - 1; i >= 0; i--) {
    const length = runs[i].end - runs[i].start;
    partners[i] = nextOfLength.get(length) ?? -1;
    nextOfLength.set(length, i);
  }
  let blanked = "";
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const partner = partners[i];
    if (partner === -1) continue;
    blanked += paragraph.slice(from, runs[i].start) + blank(paragraph.slice(runs[i].start, runs[partner].end));
    from = runs[partner].end;
    i = partner;
  }
  return blanked + paragraph.slice(from);
}
function blank(code) {
  return code.replace(/[^\r\n]/g, BLANK);
}
function countLines(text) {
  return text.split("\n").length - 1;
}
var WEEKDAY, MONTH, UNIT, COUNT2, RELATIVE, HINT, WHOLE, REPEATED, CALENDAR_DAY, parser, BLANK;
var init_relative_dates = __esm({
  "src/text/relative-dates.ts"() {
    "use strict";
    WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day";
    MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)";
    UNIT = "(?:day|week|month|quarter|year)s?";
    COUNT2 = "(?:(?:about|around|roughly|approximately|just)\\s+)?(?:\\d+|[a-z]+|an?\\s+few|a\\s+couple(?:\\s+of)?|half\\s+an?)";
    RELATIVE = [
      "today|tonight|tomorrow|tmrw|overmorrow|yesterday|last\\s+night|this\\s+(?:morning|afternoon|evening)",
      `(?:on\\s+)?(?:(?:this|next|last|past|coming)\\s+)?${WEEKDAY}(?:\\s+(?:of\\s+)?(?:this|next|last)\\s+week)?`,
      // Short names only with a word before them, and never `sat` and `sun`, which are words of their own.
      "(?:on|this|next|last)\\s+(?:tues?|wed|thurs?|fri)\\.?",
      "(?:this|next|last)\\s+(?:week|weekend|month|quarter|year)",
      `(?:this|next|last)\\s+${MONTH}`,
      `in\\s+(?!the\\b)${COUNT2}\\s+${UNIT}`,
      `${COUNT2}\\s+${UNIT}\\s+(?:ago|from\\s+now)`,
      "(?:end|last\\s+day)\\s+of\\s+(?:(?:the|this|next|last)\\s+)?(?:week|month|quarter|year)",
      "eod|eow|eom|eoq|eoy"
    ].join("|");
    HINT = new RegExp(
      `\\b(?:to(?:day|night|morrow)|tmrw|overmorrow|yesterday|last\\s+night|this\\s+(?:morning|afternoon|evening)|${WEEKDAY}|${UNIT}|weekend|tues?|wed|thurs?|fri|(?:this|next|last)\\s+${MONTH}|eo[dwmqy])\\b`,
      "i"
    );
    WHOLE = new RegExp(`^(?:${RELATIVE})(?![\\w-])`, "i");
    REPEATED = /\b(?:every|each|other|weekly|monthly|first|second|third|fourth|[1-5](?:st|nd|rd|th)|black|good|cyber|patch|casual)\s+(?:on\s+)?$/i;
    CALENDAR_DAY = new RegExp(
      `\\d{4}|\\d[/.-]\\d|\\b${MONTH.replace("may|", "")}\\b|\\bmay\\s+\\d|\\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\b`,
      "i"
    );
    BLANK = "￼";
  }
});

// src/text/secret-rules.ts
function findByOwnRules(text) {
  return [
    ...findFormats(text),
    ...findPrivateKeys(text),
    ...findUrlPasswords(text),
    ...findAuthorizations(text),
    ...findNamedValues(text)
  ];
}
function isFiller(value) {
  return /x{6,}|\*{4,}|\.{3,}|example(?:key)?$|your[_-]/i.test(value) || new Set(value.slice(-12)).size <= 2;
}
function* findFormats(text) {
  for (const [rule, hint, pattern] of FORMATS) {
    if (!text.includes(hint)) continue;
    for (const match of text.matchAll(new RegExp(`(?<![A-Za-z0-9])(?:${pattern.source})`, "g"))) {
      const value = match[0].replace(/\.+$/, "");
      if (!isFiller(value)) yield span(rule, match.index, value);
    }
  }
}
function* findPrivateKeys(text) {
  let done = 0;
  for (const match of text.matchAll(/-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g)) {
    if (match.index < done) continue;
    const from = match.index + match[0].length;
    const rest = text.slice(from, from + MAX_PEM);
    const body = PEM_LINES.exec(rest)?.[0] ?? "";
    if (!/[A-Za-z0-9+/]{32}/.test(body)) continue;
    const tail = /^[A-Za-z0-9+/=\s\\>|"',#]{0,100}-----END[A-Z0-9 ]{0,40}-----/.exec(rest.slice(body.length))?.[0] ?? "";
    done = from + body.length + tail.length;
    yield { rule: "private-key", start: match.index, end: done };
  }
}
function* findUrlPasswords(text) {
  for (const match of text.matchAll(/:\/\//g)) {
    const scheme = /[a-z][a-z0-9+.-]*$/i.exec(text.slice(Math.max(0, match.index - 20), match.index))?.[0];
    if (!scheme) continue;
    const from = match.index + 3;
    const authority = text.slice(from, from + 400);
    const pair = /^([^\s:/@?#"'`<>()[\]]{0,128}):([^\s/?"'`<>()[\]]{1,256})@(?=[\w[])/.exec(authority);
    if (pair) {
      const [, user = "", password = ""] = pair;
      if (password === "x-oauth-basic") yield span("github-token", from, user);
      else if (password.length >= 4 && password !== user && !isPlaceholder(password)) {
        yield span(DATABASES.test(scheme) ? "database-password" : "url-password", from + user.length + 1, password);
      }
      continue;
    }
    const token = /^([\w-]{20,256})@(?![\w.]*sentry)\w/.exec(authority)?.[1];
    if (token && isMixed(token) && !isFiller(token)) yield span("url-password", from, token);
  }
}
function* findAuthorizations(text) {
  const header = /\b(authorization["'`*\]]{0,4}[ \t]{0,4}[:=][ \t"'`*]{0,4})?\b(bearer|basic|token)[ \t]{1,4}([\w.~+/=-]{8,})/gi;
  for (const match of text.matchAll(header)) {
    const [whole, named, scheme = "", value = ""] = match;
    if (isPlaceholder(value) || isReference(value) || isFiller(value)) continue;
    const start = match.index + whole.length - value.length;
    if (/basic/i.test(scheme)) {
      if (/^[ -~]+:[ -~]+$/.test(Buffer.from(value, "base64").toString("latin1")))
        yield span("basic-auth", start, value);
    } else if (isMixed(value) && (named || /bearer/i.test(scheme) && value.length >= 16)) {
      yield span("bearer-token", start, value);
    }
  }
  for (const match of text.matchAll(
    /\bcurl\b[^\n]{0,300}?[ \t](?:-u|--user)[ =]["']?([^\s:"']{1,64}):([^\s"']{4,})/g
  )) {
    const [whole, user, password = ""] = match;
    if (password === user || isPlaceholder(password)) continue;
    yield span("password", match.index + whole.lastIndexOf(password), password);
  }
  for (const match of text.matchAll(/\blogin[ \t]{1,4}\S{1,64}\s{1,8}password[ \t]{1,4}["']?([^\s"']{4,})/g)) {
    const [whole, password = ""] = match;
    if (!isPlaceholder(password)) yield span("password", match.index + whole.length - password.length, password);
  }
}
function* findNamedValues(text) {
  let done = 0;
  for (const match of text.matchAll(NAMES)) {
    if (match.index < done) continue;
    const from = match.index + match[0].length;
    const after = AFTER.exec(text.slice(from, from + REACH));
    if (!after?.groups) continue;
    const before = text.slice(Math.max(0, match.index - 64), match.index);
    const { close = "", sign, quote: quote3, run: run19 = "", comma, flag } = after.groups;
    if (/:$/.test(before)) continue;
    if (match[0].toLowerCase() === "pass" && (/[a-z]$/.test(before) || !sign)) continue;
    if (comma && !/\b(?:define|set\w*|put)[ \t]*\([ \t]*["'][\w.-]*$/i.test(before)) continue;
    if (flag && !/(?:^|\s)--?[\w-]*$/.test(before)) continue;
    if (sign === ">" && !/<[\w:.-]*$/.test(before)) continue;
    const value = quote3 ? cutQuoted(run19, quote3) : cutBare(run19);
    const start = from + after[0].length - run19.length;
    const shell = sign === "=" && close === "" && text[start - 1] === "=" && match[0] === match[0].toUpperCase();
    const rule = nameRule(match[0], value);
    if (!isCredible(value, rule, quote3 ? quote3 !== "`" : shell)) continue;
    done = start + value.length;
    if (value.length === 256) done += /^[^\s"'`<>|]*/.exec(text.slice(done))?.[0].length ?? 0;
    yield { rule, start, end: done };
  }
}
function nameRule(name, value) {
  if (/secret[ _-]?access[ _-]?key/i.test(name) && /^[A-Za-z0-9/+=]{40}$/.test(value)) return "aws-secret-key";
  if (/^secret/i.test(name)) return "secret";
  if (/key$/i.test(name)) return "api-key";
  return /^token$/i.test(name) ? "token" : "password";
}
function cutQuoted(run19, quote3) {
  const end = run19.indexOf(quote3);
  if (end === -1) return run19.length === 256 ? run19 : "";
  return run19.slice(0, end).replace(/\\$/, "");
}
function cutBare(bare) {
  const plain = /^[^"'`<>|]*/.exec(bare)?.[0] ?? "";
  const alone = /^[^;,&]*(?:[;,&](?![\w-]+[=:])[^;,&]*)*/.exec(plain)?.[0] ?? "";
  return alone.replace(/[.,;:)\]}*_\\]+$/, "");
}
function isCredible(value, rule, literal) {
  const password = rule === "password";
  if (/\s/.test(value) || value.length < (password ? 6 : 8) || isPlaceholder(value)) return false;
  if (rule === "aws-secret-key") return !isFiller(value);
  if (isReference(value) && !(password && literal && /\d/.test(value) && !/[/(]|\.env/.test(value))) return false;
  if (password && /^\d+$/.test(value)) return true;
  if (password && literal && /^[A-Za-z_-]{8,}$/.test(value))
    return !/^[A-Z]?[a-z]*(?:password|passwort)$|^[A-Z][a-z]+$/.test(value);
  return isMixed(value) && !(literal ? isTechnical(value) : isWordy(value, password));
}
function isMixed(value) {
  return /[A-Za-z]/.test(value) && (/\d/.test(value) || /^[^A-Za-z]*[A-Za-z][^!@#$%^*~]*[!@#$%^*~].*[A-Za-z]/.test(value));
}
function isPlaceholder(value) {
  return /^[<[{(]|\$\{|\{\{|\$\(|<%|^\$[a-z_]+(?:$|->|[:[.])|^\$[a-z_]*_[a-z0-9_]*$|^%\w+%$|^\{?[a-z_]+\}$|\.\.\.|…|\*{3}|•|x{4,}/i.test(
    value
  ) || new Set(value).size <= 2 || PLACEHOLDER_WORDS.test(value) || PLACEHOLDER_VALUES.test(value);
}
function isReference(value) {
  return /^[A-Za-z_$][\w$]*\??(?:\.[A-Za-z_$]|\(|\[|::|->)/.test(value) || /^[A-Z]{2}[A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) || /^[a-z][\w+.-]*:\/\//i.test(value) || isPath(value) || /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value) || /^v?\d+\.\d[\w.+-]*$|^\d{4}-\d\d(?:-\d\d)?(?:T[\d:.]+Z?)?$|^\d+[a-z]{1,6}$/i.test(value) || /^(?:sha\d{1,3}|md5)[:-]|^0x[0-9a-f]{40}$/i.test(value) || /^[A-Z]{2,10}-?\d{1,6}$/.test(value);
}
function isPath(value) {
  if (/^(?:\.{0,2}|~|[A-Za-z]:)[/\\]\w/.test(value)) return true;
  const parts = value.split("/");
  return parts.length > 1 && parts.every((part) => /^[@\w.-]*$/.test(part) && !(/\d/.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part)));
}
function isTechnical(value) {
  return value.split(/[-_./:+]/).every((part) => isTechnicalWord(part) || /^[A-Za-z]*$/.test(part));
}
function isTechnicalWord(word) {
  return TECHNICAL.test(word) || /^[A-Z]{2,6}\d{1,5}$/.test(word);
}
function isWordy(value, password) {
  const parts = value.split(/[-_./:+]/);
  if (parts.length === 1) return isTechnicalWord(value);
  const resource = password ? /^\d{1,2}[a-z]{1,2}$/ : /^(?:\d{1,2}[a-z]{1,2}|[a-z]{1,5}\d{1,2})$/;
  return parts.every((part) => /^(?:[A-Za-z]*|\d{1,3})$/.test(part) || isTechnicalWord(part) || resource.test(part));
}
function span(rule, start, value) {
  return { rule, start, end: start + value.length };
}
var GENERIC_RULES, FORMATS, MAX_PEM, PEM_LINES, DATABASES, NAMES, SUFFIX, CLOSE, ASSIGN, IS, FOR, VALUE, AFTER, REACH, PLACEHOLDER_WORDS, PLACEHOLDER_VALUES, TECHNICAL;
var init_secret_rules = __esm({
  "src/text/secret-rules.ts"() {
    "use strict";
    GENERIC_RULES = /* @__PURE__ */ new Set(["password", "secret", "token", "api-key", "bearer-token"]);
    FORMATS = [
      ["1password-token", "ops_eyJ", /ops_eyJ[\w+/=-]{80,}/],
      ["age-secret-key", "AGE-SECRET-KEY-", /AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,}/],
      ["airtable-token", "pat", /pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/],
      ["anthropic-key", "sk-ant-", /sk-ant-[\w-]{20,}/],
      ["atlassian-token", "ATATT3", /ATATT3[\w=-]{60,}/],
      ["aws-secret-key", "IA", /(?:AKIA|ASIA)[A-Z0-9]{16}[^A-Za-z0-9/+\n]{1,20}[A-Za-z0-9/+]{40}(?![\w/+=])/],
      ["aws-bedrock-key", "ABSK", /ABSK[A-Za-z0-9+/]{80,}={0,2}/],
      ["azure-client-secret", "Q~", /(?<![\w~.-])[A-Za-z0-9_~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])/],
      ["azure-key", "Key=", /(?<=(?:Account|SharedAccess)Key=)[A-Za-z0-9+/]{40,}={0,2}/],
      ["azure-sas", "sig=", /(?<=[?&]sig=)[A-Za-z0-9%+/]{40,}={0,2}/],
      ["brevo-key", "xkeysib-", /xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}/],
      ["buildkite-token", "bkua_", /bkua_[0-9a-f]{40}/],
      ["crates-token", "cio", /cio[A-Za-z0-9]{32}(?!\w)/],
      ["digitalocean-token", "_v1_", /do[opr]_v1_[0-9a-f]{64}/],
      ["discord-token", ".", /[MNO](?=[\w-]{0,24}\d)[\w-]{23,25}\.[\w-]{6}\.(?=[\w-]{0,38}\d)[\w-]{27,40}(?![\w-])/],
      ["discord-webhook", "/api/webhooks/", /discord(?:app)?\.com\/api\/webhooks\/\d{16,20}\/[\w-]{30,}/],
      ["doppler-token", "dp.", /dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}/],
      ["flyio-token", "fm2_", /fm2_[\w+/=-]{40,}/],
      ["github-token", "gh", /gh[pousr]_[\w.-]{36,}/],
      ["github-token", "github_pat_", /github_pat_\w{22,}/],
      ["gitlab-token", "gl", /gl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|imt|oas|agent)-[\w.-]{20,}/],
      ["google-api-key", "AIza", /AIza[\w-]{35}(?![\w-])/],
      ["google-api-key", "AQ.Ab", /AQ\.Ab[\w-]{40,}/],
      ["google-oauth-secret", "GOCSPX-", /GOCSPX-[\w-]{28}/],
      ["google-oauth-token", "ya29.", /ya29\.[\w-]{30,}/],
      ["google-oauth-token", "1//0", /1\/\/0[\w-]{40,}/],
      ["groq-key", "gsk_", /gsk_[A-Za-z0-9]{40,}/],
      ["heroku-key", "HRKU-", /HRKU-[\w-]{36,}/],
      ["huggingface-token", "hf_", /hf_[A-Za-z0-9]{30,}/],
      ["jfrog-token", "AKCp", /AKCp[A-Za-z0-9]{60,}/],
      // The look-behind keeps one long run without dots from being scanned again at each of its `-eyJ`.
      ["jwt", "eyJ", /(?<![_-])eyJ[\w-]{10,}\.[\w-]*\.[\w-]{10,}(?:\.[\w-]+)*/],
      ["langsmith-key", "lsv2_", /lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}/],
      ["linear-token", "lin_", /lin_(?:api|oauth)_[A-Za-z0-9]{32,}/],
      ["mailchimp-key", "-us", /[0-9a-f]{32}-us\d{1,2}(?!\w)/],
      ["mailgun-key", "key-", /key-[0-9a-f]{32}(?!\w)/],
      ["mailgun-key", "-", /[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])/],
      ["neon-key", "napi_", /napi_[a-z0-9]{50,}/],
      ["netlify-token", "nfp_", /nfp_[A-Za-z0-9]{36,}/],
      ["newrelic-key", "NRAK-", /NRAK-[A-Z0-9]{27}/],
      ["notion-token", "secret_", /secret_[A-Za-z0-9]{43}(?!\w)/],
      ["npm-token", "_authToken=", /(?<=:_authToken=)[^\s"'$<{[][^\s"']{7,}/],
      ["nvidia-key", "nvapi-", /nvapi-[\w-]{50,}/],
      ["openai-key", "sk-", /sk-(?:proj|svcacct|admin|None)-[\w-]{20,}/],
      ["openai-key", "sk-", /sk-[A-Za-z0-9]{32,}(?![\w-])/],
      ["openrouter-key", "sk-or-", /sk-or-v1-[0-9a-f]{40,}/],
      ["perplexity-key", "pplx-", /pplx-[A-Za-z0-9]{40,}/],
      ["pinecone-key", "pcsk_", /pcsk_\w{40,}/],
      ["planetscale-token", "pscale_", /pscale_(?:tkn|pw|oauth)_[\w.-]{32,}/],
      ["posthog-key", "phx_", /phx_[A-Za-z0-9]{40,}/],
      ["postman-key", "PMAK-", /PMAK-[0-9a-f]{24}-[0-9a-f]{34}/],
      [
        "private-key",
        "LS0tLS1CRUdJTiB",
        /LS0tLS1CRUdJTiB(?:[A-Za-z0-9+/]{0,16})(?:QUklWQVRF|UFJJVkFUR|BSSVZBVEU)[A-Za-z0-9+/=]{40,}/
      ],
      ["pulumi-token", "pul-", /pul-[0-9a-f]{40}/],
      ["pypi-token", "pypi-", /pypi-AgE[\w-]{40,}/],
      ["replicate-token", "r8_", /r8_[A-Za-z0-9]{37,}/],
      ["resend-key", "re_", /re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}/],
      ["rubygems-key", "rubygems_", /rubygems_[0-9a-f]{48}/],
      ["sendgrid-key", "SG.", /SG\.[\w-]{20,24}\.[\w-]{39,50}/],
      ["sentry-token", "sntry", /sntry[su]_[\w+/=-]{40,}/],
      ["slack-token", "xox", /xox[a-z][.-][\w.%-]{16,}/],
      ["slack-token", "xapp-", /xapp-\d-[\w-]{16,}/],
      [
        "slack-webhook",
        "hooks.slack.com/",
        /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Z]\w{5,}\/[\w/-]{16,}/
      ],
      ["square-token", "sq0", /sq0[a-z]{3}-[\w-]{22,}/],
      ["stripe-key", "k_", /[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}/],
      ["stripe-webhook-secret", "whsec_", /whsec_[A-Za-z0-9+/=]{24,}/],
      ["supabase-key", "sbp_", /sbp_[0-9a-f]{40,}/],
      ["supabase-key", "sb_secret_", /sb_secret_[\w-]{20,}/],
      ["tailscale-key", "tskey-", /tskey-[a-z]+-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]+)?/],
      ["tavily-key", "tvly-", /tvly-[A-Za-z0-9-]{24,}/],
      ["teams-webhook", "webhook.office.com/", /webhook\.office\.com\/webhookb2\/[\w@-]{36,}\/[\w/-]{32,}/],
      ["telegram-token", ":AA", /\d{8,10}:AA[\w-]{32,34}(?![\w-])/],
      ["terraform-token", ".atlasv1.", /[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}/],
      ["twilio-key", "SK", /SK[0-9a-f]{32}(?!\w)/],
      ["vault-token", "hv", /hv[sbr]\.[\w-]{24,}/],
      ["vercel-token", "vercel_blob_rw_", /vercel_blob_rw_\w{30,}/],
      ["xai-key", "xai-", /xai-[A-Za-z0-9]{60,}/]
    ];
    MAX_PEM = 2e4;
    PEM_LINES = /^(?:[ \t>|"',+#]*(?:\\[nrt]|\r?\n)[\s\\>|"',+#nrt]{0,20}?(?:[A-Z][\w-]{2,20}: [^\n\\]{0,100}|[A-Za-z0-9+/=]{32,}|[A-Za-z0-9+/=]{4,}(?=[ \t]*(?:[\r\n\\"',|]|$)))|[ \t]*[A-Za-z0-9+/=]{32,})*/;
    DATABASES = /^(?:postgres|mysql|mariadb|mongo|redis|valkey|mssql|sqlserver|oracle|clickhouse|cockroach|neo4j|cassandra)/i;
    NAMES = /pass(?:wor[dt]|wd|phrase|code|ord)?|pwd|kennwort|wachtwoord|contraseña|senha|mot de passe|пароль|パスワード|密码|secret(?:[ _-]?(?:access[ _-]?)?key)?|token|(?:api|access|auth|account|private|signing|encryption|master|service[ _-]?role)[ _-]?key/gi;
    SUFFIX = String.raw`(?:[_-]?(?:value|base|prod(?:uction)?|staging|live|dev|test|local|ci|\d{1,3})(?![A-Za-z0-9]))?`;
    CLOSE = String.raw`(?<close>(?:\\?["'\x60]\]?|\*{1,2}|_{1,2})*)`;
    ASSIGN = String.raw`[ \t]{0,8}(?<sign>:[ \t]*[&\w<>[\]| ]{1,24}=|:=|={1,3}>?|[:：]|(?<=[ \t])\|(?=[ \t])|>)[ \t]{0,8}\*{0,2}[ \t]{0,8}`;
    IS = String.raw`[ \t]{1,4}(?:is|was|ist|est|es|er)(?:[ \t]now)?:?[ \t]{1,4}`;
    FOR = String.raw`[ \t]{1,4}(?:for|of|to|on|in)[ \t][^\n:=|]{1,40}?(?::|=|[ \t](?:is|was))[ \t]{1,4}`;
    VALUE = String.raw`(?:[bru]?\\?(?<quote>["'\x60]))?(?<run>\S{1,256})`;
    AFTER = new RegExp(
      `^${SUFFIX}(?:${CLOSE}(?:${ASSIGN}|${IS}|${FOR})|(?<comma>["'],[ \\t]*(?=["']))|(?<flag>[ \\t]+))${VALUE}`,
      "i"
    );
    REACH = 400;
    PLACEHOLDER_WORDS = /(?:^|[^a-z])(?:examples?|samples?|placeholder|change[-_ ]?(?:me|this|it)|redacted|removed|masked|dummy|fake|todo|tbd|fixme|replace[-_]?(?:me|with|this)?|insert|your)(?:[^a-z]|$)/i;
    PLACEHOLDER_VALUES = /^(?:(?:my|the|some|any|a|an|test|new|old)[-_]?)?(?:user|pass|password|passwd|passphrase|pwd|secret|token|key|api[-_]?key|apikey|credentials?|postgres|mysql|redis|root|admin|guest|test|testing|string|text|number|boolean|bool|object|varchar|hidden|required|optional|none|null|nil|undefined|true|false|empty|unset|default|foobar|foo|bar|value)$/i;
    TECHNICAL = /^(?:argon2(?:id?|d)?|bcrypt|scrypt|pbkdf2|sha\d+|md5|hmac|oauth2?|base(?:16|32|58|64)(?:url)?|utf8?|aes\d*|rsa\d*|ed25519|x25519|secp\d+[kr]1|[hrep]s\d{3}|x509|pkcs\d*|k8s|s3|ec2|1password|http2|uuid(?:v\d)?|auth0|varchar\d*|int\d+|v\d+)$/i;
  }
});

// node_modules/@secretlint/secretlint-rule-preset-recommend/module/index.js
var module_exports = {};
__export(module_exports, {
  creator: () => creator,
  rules: () => rules
});
import path13 from "node:path";
function requireLodash_uniq() {
  if (hasRequiredLodash_uniq) return lodash_uniq;
  hasRequiredLodash_uniq = 1;
  var LARGE_ARRAY_SIZE = 200;
  var HASH_UNDEFINED = "__lodash_hash_undefined__";
  var INFINITY = 1 / 0;
  var funcTag = "[object Function]", genTag = "[object GeneratorFunction]";
  var reRegExpChar = /[\\^$.*+?()[\]{}|]/g;
  var reIsHostCtor = /^\[object .+?Constructor\]$/;
  var freeGlobal = typeof commonjsGlobal == "object" && commonjsGlobal && commonjsGlobal.Object === Object && commonjsGlobal;
  var freeSelf = typeof self == "object" && self && self.Object === Object && self;
  var root = freeGlobal || freeSelf || Function("return this")();
  function arrayIncludes(array, value) {
    var length = array ? array.length : 0;
    return !!length && baseIndexOf(array, value, 0) > -1;
  }
  function baseFindIndex(array, predicate, fromIndex, fromRight) {
    var length = array.length, index = fromIndex + -1;
    while (++index < length) {
      if (predicate(array[index], index, array)) {
        return index;
      }
    }
    return -1;
  }
  function baseIndexOf(array, value, fromIndex) {
    if (value !== value) {
      return baseFindIndex(array, baseIsNaN, fromIndex);
    }
    var index = fromIndex - 1, length = array.length;
    while (++index < length) {
      if (array[index] === value) {
        return index;
      }
    }
    return -1;
  }
  function baseIsNaN(value) {
    return value !== value;
  }
  function cacheHas(cache, key) {
    return cache.has(key);
  }
  function getValue(object, key) {
    return object == null ? void 0 : object[key];
  }
  function isHostObject(value) {
    var result = false;
    if (value != null && typeof value.toString != "function") {
      try {
        result = !!(value + "");
      } catch (e) {
      }
    }
    return result;
  }
  function setToArray(set) {
    var index = -1, result = Array(set.size);
    set.forEach(function(value) {
      result[++index] = value;
    });
    return result;
  }
  var arrayProto = Array.prototype, funcProto = Function.prototype, objectProto = Object.prototype;
  var coreJsData = root["__core-js_shared__"];
  var maskSrcKey = (function() {
    var uid = /[^.]+$/.exec(coreJsData && coreJsData.keys && coreJsData.keys.IE_PROTO || "");
    return uid ? "Symbol(src)_1." + uid : "";
  })();
  var funcToString = funcProto.toString;
  var hasOwnProperty = objectProto.hasOwnProperty;
  var objectToString = objectProto.toString;
  var reIsNative = RegExp(
    "^" + funcToString.call(hasOwnProperty).replace(reRegExpChar, "\\$&").replace(/hasOwnProperty|(function).*?(?=\\\()| for .+?(?=\\\])/g, "$1.*?") + "$"
  );
  var splice = arrayProto.splice;
  var Map2 = getNative(root, "Map"), Set2 = getNative(root, "Set"), nativeCreate = getNative(Object, "create");
  function Hash(entries) {
    var index = -1, length = entries ? entries.length : 0;
    this.clear();
    while (++index < length) {
      var entry = entries[index];
      this.set(entry[0], entry[1]);
    }
  }
  function hashClear() {
    this.__data__ = nativeCreate ? nativeCreate(null) : {};
  }
  function hashDelete(key) {
    return this.has(key) && delete this.__data__[key];
  }
  function hashGet(key) {
    var data = this.__data__;
    if (nativeCreate) {
      var result = data[key];
      return result === HASH_UNDEFINED ? void 0 : result;
    }
    return hasOwnProperty.call(data, key) ? data[key] : void 0;
  }
  function hashHas(key) {
    var data = this.__data__;
    return nativeCreate ? data[key] !== void 0 : hasOwnProperty.call(data, key);
  }
  function hashSet(key, value) {
    var data = this.__data__;
    data[key] = nativeCreate && value === void 0 ? HASH_UNDEFINED : value;
    return this;
  }
  Hash.prototype.clear = hashClear;
  Hash.prototype["delete"] = hashDelete;
  Hash.prototype.get = hashGet;
  Hash.prototype.has = hashHas;
  Hash.prototype.set = hashSet;
  function ListCache(entries) {
    var index = -1, length = entries ? entries.length : 0;
    this.clear();
    while (++index < length) {
      var entry = entries[index];
      this.set(entry[0], entry[1]);
    }
  }
  function listCacheClear() {
    this.__data__ = [];
  }
  function listCacheDelete(key) {
    var data = this.__data__, index = assocIndexOf(data, key);
    if (index < 0) {
      return false;
    }
    var lastIndex = data.length - 1;
    if (index == lastIndex) {
      data.pop();
    } else {
      splice.call(data, index, 1);
    }
    return true;
  }
  function listCacheGet(key) {
    var data = this.__data__, index = assocIndexOf(data, key);
    return index < 0 ? void 0 : data[index][1];
  }
  function listCacheHas(key) {
    return assocIndexOf(this.__data__, key) > -1;
  }
  function listCacheSet(key, value) {
    var data = this.__data__, index = assocIndexOf(data, key);
    if (index < 0) {
      data.push([key, value]);
    } else {
      data[index][1] = value;
    }
    return this;
  }
  ListCache.prototype.clear = listCacheClear;
  ListCache.prototype["delete"] = listCacheDelete;
  ListCache.prototype.get = listCacheGet;
  ListCache.prototype.has = listCacheHas;
  ListCache.prototype.set = listCacheSet;
  function MapCache(entries) {
    var index = -1, length = entries ? entries.length : 0;
    this.clear();
    while (++index < length) {
      var entry = entries[index];
      this.set(entry[0], entry[1]);
    }
  }
  function mapCacheClear() {
    this.__data__ = {
      "hash": new Hash(),
      "map": new (Map2 || ListCache)(),
      "string": new Hash()
    };
  }
  function mapCacheDelete(key) {
    return getMapData(this, key)["delete"](key);
  }
  function mapCacheGet(key) {
    return getMapData(this, key).get(key);
  }
  function mapCacheHas(key) {
    return getMapData(this, key).has(key);
  }
  function mapCacheSet(key, value) {
    getMapData(this, key).set(key, value);
    return this;
  }
  MapCache.prototype.clear = mapCacheClear;
  MapCache.prototype["delete"] = mapCacheDelete;
  MapCache.prototype.get = mapCacheGet;
  MapCache.prototype.has = mapCacheHas;
  MapCache.prototype.set = mapCacheSet;
  function SetCache(values) {
    var index = -1, length = values ? values.length : 0;
    this.__data__ = new MapCache();
    while (++index < length) {
      this.add(values[index]);
    }
  }
  function setCacheAdd(value) {
    this.__data__.set(value, HASH_UNDEFINED);
    return this;
  }
  function setCacheHas(value) {
    return this.__data__.has(value);
  }
  SetCache.prototype.add = SetCache.prototype.push = setCacheAdd;
  SetCache.prototype.has = setCacheHas;
  function assocIndexOf(array, key) {
    var length = array.length;
    while (length--) {
      if (eq(array[length][0], key)) {
        return length;
      }
    }
    return -1;
  }
  function baseIsNative(value) {
    if (!isObject(value) || isMasked(value)) {
      return false;
    }
    var pattern = isFunction(value) || isHostObject(value) ? reIsNative : reIsHostCtor;
    return pattern.test(toSource(value));
  }
  function baseUniq(array, iteratee, comparator) {
    var index = -1, includes = arrayIncludes, length = array.length, isCommon = true, result = [], seen = result;
    if (length >= LARGE_ARRAY_SIZE) {
      var set = createSet(array);
      if (set) {
        return setToArray(set);
      }
      isCommon = false;
      includes = cacheHas;
      seen = new SetCache();
    } else {
      seen = result;
    }
    outer:
      while (++index < length) {
        var value = array[index], computed = value;
        value = value !== 0 ? value : 0;
        if (isCommon && computed === computed) {
          var seenIndex = seen.length;
          while (seenIndex--) {
            if (seen[seenIndex] === computed) {
              continue outer;
            }
          }
          result.push(value);
        } else if (!includes(seen, computed, comparator)) {
          if (seen !== result) {
            seen.push(computed);
          }
          result.push(value);
        }
      }
    return result;
  }
  var createSet = !(Set2 && 1 / setToArray(new Set2([, -0]))[1] == INFINITY) ? noop : function(values) {
    return new Set2(values);
  };
  function getMapData(map, key) {
    var data = map.__data__;
    return isKeyable(key) ? data[typeof key == "string" ? "string" : "hash"] : data.map;
  }
  function getNative(object, key) {
    var value = getValue(object, key);
    return baseIsNative(value) ? value : void 0;
  }
  function isKeyable(value) {
    var type = typeof value;
    return type == "string" || type == "number" || type == "symbol" || type == "boolean" ? value !== "__proto__" : value === null;
  }
  function isMasked(func) {
    return !!maskSrcKey && maskSrcKey in func;
  }
  function toSource(func) {
    if (func != null) {
      try {
        return funcToString.call(func);
      } catch (e) {
      }
      try {
        return func + "";
      } catch (e) {
      }
    }
    return "";
  }
  function uniq(array) {
    return array && array.length ? baseUniq(array) : [];
  }
  function eq(value, other) {
    return value === other || value !== value && other !== other;
  }
  function isFunction(value) {
    var tag = isObject(value) ? objectToString.call(value) : "";
    return tag == funcTag || tag == genTag;
  }
  function isObject(value) {
    var type = typeof value;
    return !!value && (type == "object" || type == "function");
  }
  function noop() {
  }
  lodash_uniq = uniq;
  return lodash_uniq;
}
function requireLodash_uniqwith() {
  if (hasRequiredLodash_uniqwith) return lodash_uniqwith;
  hasRequiredLodash_uniqwith = 1;
  var LARGE_ARRAY_SIZE = 200;
  var HASH_UNDEFINED = "__lodash_hash_undefined__";
  var INFINITY = 1 / 0;
  var funcTag = "[object Function]", genTag = "[object GeneratorFunction]";
  var reRegExpChar = /[\\^$.*+?()[\]{}|]/g;
  var reIsHostCtor = /^\[object .+?Constructor\]$/;
  var freeGlobal = typeof commonjsGlobal == "object" && commonjsGlobal && commonjsGlobal.Object === Object && commonjsGlobal;
  var freeSelf = typeof self == "object" && self && self.Object === Object && self;
  var root = freeGlobal || freeSelf || Function("return this")();
  function arrayIncludes(array, value) {
    var length = array ? array.length : 0;
    return !!length && baseIndexOf(array, value, 0) > -1;
  }
  function arrayIncludesWith(array, value, comparator) {
    var index = -1, length = array ? array.length : 0;
    while (++index < length) {
      if (comparator(value, array[index])) {
        return true;
      }
    }
    return false;
  }
  function baseFindIndex(array, predicate, fromIndex, fromRight) {
    var length = array.length, index = fromIndex + -1;
    while (++index < length) {
      if (predicate(array[index], index, array)) {
        return index;
      }
    }
    return -1;
  }
  function baseIndexOf(array, value, fromIndex) {
    if (value !== value) {
      return baseFindIndex(array, baseIsNaN, fromIndex);
    }
    var index = fromIndex - 1, length = array.length;
    while (++index < length) {
      if (array[index] === value) {
        return index;
      }
    }
    return -1;
  }
  function baseIsNaN(value) {
    return value !== value;
  }
  function cacheHas(cache, key) {
    return cache.has(key);
  }
  function getValue(object, key) {
    return object == null ? void 0 : object[key];
  }
  function isHostObject(value) {
    var result = false;
    if (value != null && typeof value.toString != "function") {
      try {
        result = !!(value + "");
      } catch (e) {
      }
    }
    return result;
  }
  function setToArray(set) {
    var index = -1, result = Array(set.size);
    set.forEach(function(value) {
      result[++index] = value;
    });
    return result;
  }
  var arrayProto = Array.prototype, funcProto = Function.prototype, objectProto = Object.prototype;
  var coreJsData = root["__core-js_shared__"];
  var maskSrcKey = (function() {
    var uid = /[^.]+$/.exec(coreJsData && coreJsData.keys && coreJsData.keys.IE_PROTO || "");
    return uid ? "Symbol(src)_1." + uid : "";
  })();
  var funcToString = funcProto.toString;
  var hasOwnProperty = objectProto.hasOwnProperty;
  var objectToString = objectProto.toString;
  var reIsNative = RegExp(
    "^" + funcToString.call(hasOwnProperty).replace(reRegExpChar, "\\$&").replace(/hasOwnProperty|(function).*?(?=\\\()| for .+?(?=\\\])/g, "$1.*?") + "$"
  );
  var splice = arrayProto.splice;
  var Map2 = getNative(root, "Map"), Set2 = getNative(root, "Set"), nativeCreate = getNative(Object, "create");
  function Hash(entries) {
    var index = -1, length = entries ? entries.length : 0;
    this.clear();
    while (++index < length) {
      var entry = entries[index];
      this.set(entry[0], entry[1]);
    }
  }
  function hashClear() {
    this.__data__ = nativeCreate ? nativeCreate(null) : {};
  }
  function hashDelete(key) {
    return this.has(key) && delete this.__data__[key];
  }
  function hashGet(key) {
    var data = this.__data__;
    if (nativeCreate) {
      var result = data[key];
      return result === HASH_UNDEFINED ? void 0 : result;
    }
    return hasOwnProperty.call(data, key) ? data[key] : void 0;
  }
  function hashHas(key) {
    var data = this.__data__;
    return nativeCreate ? data[key] !== void 0 : hasOwnProperty.call(data, key);
  }
  function hashSet(key, value) {
    var data = this.__data__;
    data[key] = nativeCreate && value === void 0 ? HASH_UNDEFINED : value;
    return this;
  }
  Hash.prototype.clear = hashClear;
  Hash.prototype["delete"] = hashDelete;
  Hash.prototype.get = hashGet;
  Hash.prototype.has = hashHas;
  Hash.prototype.set = hashSet;
  function ListCache(entries) {
    var index = -1, length = entries ? entries.length : 0;
    this.clear();
    while (++index < length) {
      var entry = entries[index];
      this.set(entry[0], entry[1]);
    }
  }
  function listCacheClear() {
    this.__data__ = [];
  }
  function listCacheDelete(key) {
    var data = this.__data__, index = assocIndexOf(data, key);
    if (index < 0) {
      return false;
    }
    var lastIndex = data.length - 1;
    if (index == lastIndex) {
      data.pop();
    } else {
      splice.call(data, index, 1);
    }
    return true;
  }
  function listCacheGet(key) {
    var data = this.__data__, index = assocIndexOf(data, key);
    return index < 0 ? void 0 : data[index][1];
  }
  function listCacheHas(key) {
    return assocIndexOf(this.__data__, key) > -1;
  }
  function listCacheSet(key, value) {
    var data = this.__data__, index = assocIndexOf(data, key);
    if (index < 0) {
      data.push([key, value]);
    } else {
      data[index][1] = value;
    }
    return this;
  }
  ListCache.prototype.clear = listCacheClear;
  ListCache.prototype["delete"] = listCacheDelete;
  ListCache.prototype.get = listCacheGet;
  ListCache.prototype.has = listCacheHas;
  ListCache.prototype.set = listCacheSet;
  function MapCache(entries) {
    var index = -1, length = entries ? entries.length : 0;
    this.clear();
    while (++index < length) {
      var entry = entries[index];
      this.set(entry[0], entry[1]);
    }
  }
  function mapCacheClear() {
    this.__data__ = {
      "hash": new Hash(),
      "map": new (Map2 || ListCache)(),
      "string": new Hash()
    };
  }
  function mapCacheDelete(key) {
    return getMapData(this, key)["delete"](key);
  }
  function mapCacheGet(key) {
    return getMapData(this, key).get(key);
  }
  function mapCacheHas(key) {
    return getMapData(this, key).has(key);
  }
  function mapCacheSet(key, value) {
    getMapData(this, key).set(key, value);
    return this;
  }
  MapCache.prototype.clear = mapCacheClear;
  MapCache.prototype["delete"] = mapCacheDelete;
  MapCache.prototype.get = mapCacheGet;
  MapCache.prototype.has = mapCacheHas;
  MapCache.prototype.set = mapCacheSet;
  function SetCache(values) {
    var index = -1, length = values ? values.length : 0;
    this.__data__ = new MapCache();
    while (++index < length) {
      this.add(values[index]);
    }
  }
  function setCacheAdd(value) {
    this.__data__.set(value, HASH_UNDEFINED);
    return this;
  }
  function setCacheHas(value) {
    return this.__data__.has(value);
  }
  SetCache.prototype.add = SetCache.prototype.push = setCacheAdd;
  SetCache.prototype.has = setCacheHas;
  function assocIndexOf(array, key) {
    var length = array.length;
    while (length--) {
      if (eq(array[length][0], key)) {
        return length;
      }
    }
    return -1;
  }
  function baseIsNative(value) {
    if (!isObject(value) || isMasked(value)) {
      return false;
    }
    var pattern = isFunction(value) || isHostObject(value) ? reIsNative : reIsHostCtor;
    return pattern.test(toSource(value));
  }
  function baseUniq(array, iteratee, comparator) {
    var index = -1, includes = arrayIncludes, length = array.length, isCommon = true, result = [], seen = result;
    if (comparator) {
      isCommon = false;
      includes = arrayIncludesWith;
    } else if (length >= LARGE_ARRAY_SIZE) {
      var set = createSet(array);
      if (set) {
        return setToArray(set);
      }
      isCommon = false;
      includes = cacheHas;
      seen = new SetCache();
    } else {
      seen = result;
    }
    outer:
      while (++index < length) {
        var value = array[index], computed = value;
        value = comparator || value !== 0 ? value : 0;
        if (isCommon && computed === computed) {
          var seenIndex = seen.length;
          while (seenIndex--) {
            if (seen[seenIndex] === computed) {
              continue outer;
            }
          }
          result.push(value);
        } else if (!includes(seen, computed, comparator)) {
          if (seen !== result) {
            seen.push(computed);
          }
          result.push(value);
        }
      }
    return result;
  }
  var createSet = !(Set2 && 1 / setToArray(new Set2([, -0]))[1] == INFINITY) ? noop : function(values) {
    return new Set2(values);
  };
  function getMapData(map, key) {
    var data = map.__data__;
    return isKeyable(key) ? data[typeof key == "string" ? "string" : "hash"] : data.map;
  }
  function getNative(object, key) {
    var value = getValue(object, key);
    return baseIsNative(value) ? value : void 0;
  }
  function isKeyable(value) {
    var type = typeof value;
    return type == "string" || type == "number" || type == "symbol" || type == "boolean" ? value !== "__proto__" : value === null;
  }
  function isMasked(func) {
    return !!maskSrcKey && maskSrcKey in func;
  }
  function toSource(func) {
    if (func != null) {
      try {
        return funcToString.call(func);
      } catch (e) {
      }
      try {
        return func + "";
      } catch (e) {
      }
    }
    return "";
  }
  function uniqWith(array, comparator) {
    return array && array.length ? baseUniq(array, void 0, comparator) : [];
  }
  function eq(value, other) {
    return value === other || value !== value && other !== other;
  }
  function isFunction(value) {
    var tag = isObject(value) ? objectToString.call(value) : "";
    return tag == funcTag || tag == genTag;
  }
  function isObject(value) {
    var type = typeof value;
    return !!value && (type == "object" || type == "function");
  }
  function noop() {
  }
  lodash_uniqwith = uniqWith;
  return lodash_uniqwith;
}
function requireLodash_sortby() {
  if (hasRequiredLodash_sortby) return lodash_sortby.exports;
  hasRequiredLodash_sortby = 1;
  (function(module, exports$1) {
    var LARGE_ARRAY_SIZE = 200;
    var FUNC_ERROR_TEXT = "Expected a function";
    var HASH_UNDEFINED = "__lodash_hash_undefined__";
    var UNORDERED_COMPARE_FLAG = 1, PARTIAL_COMPARE_FLAG = 2;
    var MAX_SAFE_INTEGER = 9007199254740991;
    var argsTag = "[object Arguments]", arrayTag = "[object Array]", boolTag = "[object Boolean]", dateTag = "[object Date]", errorTag = "[object Error]", funcTag = "[object Function]", genTag = "[object GeneratorFunction]", mapTag = "[object Map]", numberTag = "[object Number]", objectTag = "[object Object]", promiseTag = "[object Promise]", regexpTag = "[object RegExp]", setTag = "[object Set]", stringTag = "[object String]", symbolTag = "[object Symbol]", weakMapTag = "[object WeakMap]";
    var arrayBufferTag = "[object ArrayBuffer]", dataViewTag = "[object DataView]", float32Tag = "[object Float32Array]", float64Tag = "[object Float64Array]", int8Tag = "[object Int8Array]", int16Tag = "[object Int16Array]", int32Tag = "[object Int32Array]", uint8Tag = "[object Uint8Array]", uint8ClampedTag = "[object Uint8ClampedArray]", uint16Tag = "[object Uint16Array]", uint32Tag = "[object Uint32Array]";
    var reIsDeepProp = /\.|\[(?:[^[\]]*|(["'])(?:(?!\1)[^\\]|\\.)*?\1)\]/, reIsPlainProp = /^\w*$/, reLeadingDot = /^\./, rePropName = /[^.[\]]+|\[(?:(-?\d+(?:\.\d+)?)|(["'])((?:(?!\2)[^\\]|\\.)*?)\2)\]|(?=(?:\.|\[\])(?:\.|\[\]|$))/g;
    var reRegExpChar = /[\\^$.*+?()[\]{}|]/g;
    var reEscapeChar = /\\(\\)?/g;
    var reIsHostCtor = /^\[object .+?Constructor\]$/;
    var reIsUint = /^(?:0|[1-9]\d*)$/;
    var typedArrayTags = {};
    typedArrayTags[float32Tag] = typedArrayTags[float64Tag] = typedArrayTags[int8Tag] = typedArrayTags[int16Tag] = typedArrayTags[int32Tag] = typedArrayTags[uint8Tag] = typedArrayTags[uint8ClampedTag] = typedArrayTags[uint16Tag] = typedArrayTags[uint32Tag] = true;
    typedArrayTags[argsTag] = typedArrayTags[arrayTag] = typedArrayTags[arrayBufferTag] = typedArrayTags[boolTag] = typedArrayTags[dataViewTag] = typedArrayTags[dateTag] = typedArrayTags[errorTag] = typedArrayTags[funcTag] = typedArrayTags[mapTag] = typedArrayTags[numberTag] = typedArrayTags[objectTag] = typedArrayTags[regexpTag] = typedArrayTags[setTag] = typedArrayTags[stringTag] = typedArrayTags[weakMapTag] = false;
    var freeGlobal = typeof commonjsGlobal == "object" && commonjsGlobal && commonjsGlobal.Object === Object && commonjsGlobal;
    var freeSelf = typeof self == "object" && self && self.Object === Object && self;
    var root = freeGlobal || freeSelf || Function("return this")();
    var freeExports = exports$1 && !exports$1.nodeType && exports$1;
    var freeModule = freeExports && true && module && !module.nodeType && module;
    var moduleExports = freeModule && freeModule.exports === freeExports;
    var freeProcess = moduleExports && freeGlobal.process;
    var nodeUtil = (function() {
      try {
        return freeProcess && freeProcess.binding("util");
      } catch (e) {
      }
    })();
    var nodeIsTypedArray = nodeUtil && nodeUtil.isTypedArray;
    function apply(func, thisArg, args) {
      switch (args.length) {
        case 0:
          return func.call(thisArg);
        case 1:
          return func.call(thisArg, args[0]);
        case 2:
          return func.call(thisArg, args[0], args[1]);
        case 3:
          return func.call(thisArg, args[0], args[1], args[2]);
      }
      return func.apply(thisArg, args);
    }
    function arrayMap(array, iteratee) {
      var index = -1, length = array ? array.length : 0, result = Array(length);
      while (++index < length) {
        result[index] = iteratee(array[index], index, array);
      }
      return result;
    }
    function arrayPush(array, values) {
      var index = -1, length = values.length, offset = array.length;
      while (++index < length) {
        array[offset + index] = values[index];
      }
      return array;
    }
    function arraySome(array, predicate) {
      var index = -1, length = array ? array.length : 0;
      while (++index < length) {
        if (predicate(array[index], index, array)) {
          return true;
        }
      }
      return false;
    }
    function baseProperty(key) {
      return function(object) {
        return object == null ? void 0 : object[key];
      };
    }
    function baseSortBy(array, comparer) {
      var length = array.length;
      array.sort(comparer);
      while (length--) {
        array[length] = array[length].value;
      }
      return array;
    }
    function baseTimes(n, iteratee) {
      var index = -1, result = Array(n);
      while (++index < n) {
        result[index] = iteratee(index);
      }
      return result;
    }
    function baseUnary(func) {
      return function(value) {
        return func(value);
      };
    }
    function getValue(object, key) {
      return object == null ? void 0 : object[key];
    }
    function isHostObject(value) {
      var result = false;
      if (value != null && typeof value.toString != "function") {
        try {
          result = !!(value + "");
        } catch (e) {
        }
      }
      return result;
    }
    function mapToArray(map) {
      var index = -1, result = Array(map.size);
      map.forEach(function(value, key) {
        result[++index] = [key, value];
      });
      return result;
    }
    function overArg(func, transform) {
      return function(arg) {
        return func(transform(arg));
      };
    }
    function setToArray(set) {
      var index = -1, result = Array(set.size);
      set.forEach(function(value) {
        result[++index] = value;
      });
      return result;
    }
    var arrayProto = Array.prototype, funcProto = Function.prototype, objectProto = Object.prototype;
    var coreJsData = root["__core-js_shared__"];
    var maskSrcKey = (function() {
      var uid = /[^.]+$/.exec(coreJsData && coreJsData.keys && coreJsData.keys.IE_PROTO || "");
      return uid ? "Symbol(src)_1." + uid : "";
    })();
    var funcToString = funcProto.toString;
    var hasOwnProperty = objectProto.hasOwnProperty;
    var objectToString = objectProto.toString;
    var reIsNative = RegExp(
      "^" + funcToString.call(hasOwnProperty).replace(reRegExpChar, "\\$&").replace(/hasOwnProperty|(function).*?(?=\\\()| for .+?(?=\\\])/g, "$1.*?") + "$"
    );
    var Symbol2 = root.Symbol, Uint8Array2 = root.Uint8Array, propertyIsEnumerable = objectProto.propertyIsEnumerable, splice = arrayProto.splice, spreadableSymbol = Symbol2 ? Symbol2.isConcatSpreadable : void 0;
    var nativeKeys = overArg(Object.keys, Object), nativeMax = Math.max;
    var DataView = getNative(root, "DataView"), Map2 = getNative(root, "Map"), Promise2 = getNative(root, "Promise"), Set2 = getNative(root, "Set"), WeakMap = getNative(root, "WeakMap"), nativeCreate = getNative(Object, "create");
    var dataViewCtorString = toSource(DataView), mapCtorString = toSource(Map2), promiseCtorString = toSource(Promise2), setCtorString = toSource(Set2), weakMapCtorString = toSource(WeakMap);
    var symbolProto = Symbol2 ? Symbol2.prototype : void 0, symbolValueOf = symbolProto ? symbolProto.valueOf : void 0, symbolToString = symbolProto ? symbolProto.toString : void 0;
    function Hash(entries) {
      var index = -1, length = entries ? entries.length : 0;
      this.clear();
      while (++index < length) {
        var entry = entries[index];
        this.set(entry[0], entry[1]);
      }
    }
    function hashClear() {
      this.__data__ = nativeCreate ? nativeCreate(null) : {};
    }
    function hashDelete(key) {
      return this.has(key) && delete this.__data__[key];
    }
    function hashGet(key) {
      var data = this.__data__;
      if (nativeCreate) {
        var result = data[key];
        return result === HASH_UNDEFINED ? void 0 : result;
      }
      return hasOwnProperty.call(data, key) ? data[key] : void 0;
    }
    function hashHas(key) {
      var data = this.__data__;
      return nativeCreate ? data[key] !== void 0 : hasOwnProperty.call(data, key);
    }
    function hashSet(key, value) {
      var data = this.__data__;
      data[key] = nativeCreate && value === void 0 ? HASH_UNDEFINED : value;
      return this;
    }
    Hash.prototype.clear = hashClear;
    Hash.prototype["delete"] = hashDelete;
    Hash.prototype.get = hashGet;
    Hash.prototype.has = hashHas;
    Hash.prototype.set = hashSet;
    function ListCache(entries) {
      var index = -1, length = entries ? entries.length : 0;
      this.clear();
      while (++index < length) {
        var entry = entries[index];
        this.set(entry[0], entry[1]);
      }
    }
    function listCacheClear() {
      this.__data__ = [];
    }
    function listCacheDelete(key) {
      var data = this.__data__, index = assocIndexOf(data, key);
      if (index < 0) {
        return false;
      }
      var lastIndex = data.length - 1;
      if (index == lastIndex) {
        data.pop();
      } else {
        splice.call(data, index, 1);
      }
      return true;
    }
    function listCacheGet(key) {
      var data = this.__data__, index = assocIndexOf(data, key);
      return index < 0 ? void 0 : data[index][1];
    }
    function listCacheHas(key) {
      return assocIndexOf(this.__data__, key) > -1;
    }
    function listCacheSet(key, value) {
      var data = this.__data__, index = assocIndexOf(data, key);
      if (index < 0) {
        data.push([key, value]);
      } else {
        data[index][1] = value;
      }
      return this;
    }
    ListCache.prototype.clear = listCacheClear;
    ListCache.prototype["delete"] = listCacheDelete;
    ListCache.prototype.get = listCacheGet;
    ListCache.prototype.has = listCacheHas;
    ListCache.prototype.set = listCacheSet;
    function MapCache(entries) {
      var index = -1, length = entries ? entries.length : 0;
      this.clear();
      while (++index < length) {
        var entry = entries[index];
        this.set(entry[0], entry[1]);
      }
    }
    function mapCacheClear() {
      this.__data__ = {
        "hash": new Hash(),
        "map": new (Map2 || ListCache)(),
        "string": new Hash()
      };
    }
    function mapCacheDelete(key) {
      return getMapData(this, key)["delete"](key);
    }
    function mapCacheGet(key) {
      return getMapData(this, key).get(key);
    }
    function mapCacheHas(key) {
      return getMapData(this, key).has(key);
    }
    function mapCacheSet(key, value) {
      getMapData(this, key).set(key, value);
      return this;
    }
    MapCache.prototype.clear = mapCacheClear;
    MapCache.prototype["delete"] = mapCacheDelete;
    MapCache.prototype.get = mapCacheGet;
    MapCache.prototype.has = mapCacheHas;
    MapCache.prototype.set = mapCacheSet;
    function SetCache(values) {
      var index = -1, length = values ? values.length : 0;
      this.__data__ = new MapCache();
      while (++index < length) {
        this.add(values[index]);
      }
    }
    function setCacheAdd(value) {
      this.__data__.set(value, HASH_UNDEFINED);
      return this;
    }
    function setCacheHas(value) {
      return this.__data__.has(value);
    }
    SetCache.prototype.add = SetCache.prototype.push = setCacheAdd;
    SetCache.prototype.has = setCacheHas;
    function Stack(entries) {
      this.__data__ = new ListCache(entries);
    }
    function stackClear() {
      this.__data__ = new ListCache();
    }
    function stackDelete(key) {
      return this.__data__["delete"](key);
    }
    function stackGet(key) {
      return this.__data__.get(key);
    }
    function stackHas(key) {
      return this.__data__.has(key);
    }
    function stackSet(key, value) {
      var cache = this.__data__;
      if (cache instanceof ListCache) {
        var pairs = cache.__data__;
        if (!Map2 || pairs.length < LARGE_ARRAY_SIZE - 1) {
          pairs.push([key, value]);
          return this;
        }
        cache = this.__data__ = new MapCache(pairs);
      }
      cache.set(key, value);
      return this;
    }
    Stack.prototype.clear = stackClear;
    Stack.prototype["delete"] = stackDelete;
    Stack.prototype.get = stackGet;
    Stack.prototype.has = stackHas;
    Stack.prototype.set = stackSet;
    function arrayLikeKeys(value, inherited) {
      var result = isArray(value) || isArguments(value) ? baseTimes(value.length, String) : [];
      var length = result.length, skipIndexes = !!length;
      for (var key in value) {
        if (hasOwnProperty.call(value, key) && !(skipIndexes && (key == "length" || isIndex(key, length)))) {
          result.push(key);
        }
      }
      return result;
    }
    function assocIndexOf(array, key) {
      var length = array.length;
      while (length--) {
        if (eq(array[length][0], key)) {
          return length;
        }
      }
      return -1;
    }
    var baseEach = createBaseEach(baseForOwn);
    function baseFlatten(array, depth, predicate, isStrict, result) {
      var index = -1, length = array.length;
      predicate || (predicate = isFlattenable);
      result || (result = []);
      while (++index < length) {
        var value = array[index];
        if (predicate(value)) {
          {
            arrayPush(result, value);
          }
        } else {
          result[result.length] = value;
        }
      }
      return result;
    }
    var baseFor = createBaseFor();
    function baseForOwn(object, iteratee) {
      return object && baseFor(object, iteratee, keys);
    }
    function baseGet(object, path14) {
      path14 = isKey(path14, object) ? [path14] : castPath(path14);
      var index = 0, length = path14.length;
      while (object != null && index < length) {
        object = object[toKey(path14[index++])];
      }
      return index && index == length ? object : void 0;
    }
    function baseGetTag(value) {
      return objectToString.call(value);
    }
    function baseHasIn(object, key) {
      return object != null && key in Object(object);
    }
    function baseIsEqual(value, other, customizer, bitmask, stack) {
      if (value === other) {
        return true;
      }
      if (value == null || other == null || !isObject(value) && !isObjectLike(other)) {
        return value !== value && other !== other;
      }
      return baseIsEqualDeep(value, other, baseIsEqual, customizer, bitmask, stack);
    }
    function baseIsEqualDeep(object, other, equalFunc, customizer, bitmask, stack) {
      var objIsArr = isArray(object), othIsArr = isArray(other), objTag = arrayTag, othTag = arrayTag;
      if (!objIsArr) {
        objTag = getTag(object);
        objTag = objTag == argsTag ? objectTag : objTag;
      }
      if (!othIsArr) {
        othTag = getTag(other);
        othTag = othTag == argsTag ? objectTag : othTag;
      }
      var objIsObj = objTag == objectTag && !isHostObject(object), othIsObj = othTag == objectTag && !isHostObject(other), isSameTag = objTag == othTag;
      if (isSameTag && !objIsObj) {
        stack || (stack = new Stack());
        return objIsArr || isTypedArray(object) ? equalArrays(object, other, equalFunc, customizer, bitmask, stack) : equalByTag(object, other, objTag, equalFunc, customizer, bitmask, stack);
      }
      if (!(bitmask & PARTIAL_COMPARE_FLAG)) {
        var objIsWrapped = objIsObj && hasOwnProperty.call(object, "__wrapped__"), othIsWrapped = othIsObj && hasOwnProperty.call(other, "__wrapped__");
        if (objIsWrapped || othIsWrapped) {
          var objUnwrapped = objIsWrapped ? object.value() : object, othUnwrapped = othIsWrapped ? other.value() : other;
          stack || (stack = new Stack());
          return equalFunc(objUnwrapped, othUnwrapped, customizer, bitmask, stack);
        }
      }
      if (!isSameTag) {
        return false;
      }
      stack || (stack = new Stack());
      return equalObjects(object, other, equalFunc, customizer, bitmask, stack);
    }
    function baseIsMatch(object, source, matchData, customizer) {
      var index = matchData.length, length = index;
      if (object == null) {
        return !length;
      }
      object = Object(object);
      while (index--) {
        var data = matchData[index];
        if (data[2] ? data[1] !== object[data[0]] : !(data[0] in object)) {
          return false;
        }
      }
      while (++index < length) {
        data = matchData[index];
        var key = data[0], objValue = object[key], srcValue = data[1];
        if (data[2]) {
          if (objValue === void 0 && !(key in object)) {
            return false;
          }
        } else {
          var stack = new Stack();
          var result;
          if (!(result === void 0 ? baseIsEqual(srcValue, objValue, customizer, UNORDERED_COMPARE_FLAG | PARTIAL_COMPARE_FLAG, stack) : result)) {
            return false;
          }
        }
      }
      return true;
    }
    function baseIsNative(value) {
      if (!isObject(value) || isMasked(value)) {
        return false;
      }
      var pattern = isFunction(value) || isHostObject(value) ? reIsNative : reIsHostCtor;
      return pattern.test(toSource(value));
    }
    function baseIsTypedArray(value) {
      return isObjectLike(value) && isLength(value.length) && !!typedArrayTags[objectToString.call(value)];
    }
    function baseIteratee(value) {
      if (typeof value == "function") {
        return value;
      }
      if (value == null) {
        return identity;
      }
      if (typeof value == "object") {
        return isArray(value) ? baseMatchesProperty(value[0], value[1]) : baseMatches(value);
      }
      return property(value);
    }
    function baseKeys(object) {
      if (!isPrototype(object)) {
        return nativeKeys(object);
      }
      var result = [];
      for (var key in Object(object)) {
        if (hasOwnProperty.call(object, key) && key != "constructor") {
          result.push(key);
        }
      }
      return result;
    }
    function baseMap(collection, iteratee) {
      var index = -1, result = isArrayLike(collection) ? Array(collection.length) : [];
      baseEach(collection, function(value, key, collection2) {
        result[++index] = iteratee(value, key, collection2);
      });
      return result;
    }
    function baseMatches(source) {
      var matchData = getMatchData(source);
      if (matchData.length == 1 && matchData[0][2]) {
        return matchesStrictComparable(matchData[0][0], matchData[0][1]);
      }
      return function(object) {
        return object === source || baseIsMatch(object, source, matchData);
      };
    }
    function baseMatchesProperty(path14, srcValue) {
      if (isKey(path14) && isStrictComparable(srcValue)) {
        return matchesStrictComparable(toKey(path14), srcValue);
      }
      return function(object) {
        var objValue = get(object, path14);
        return objValue === void 0 && objValue === srcValue ? hasIn(object, path14) : baseIsEqual(srcValue, objValue, void 0, UNORDERED_COMPARE_FLAG | PARTIAL_COMPARE_FLAG);
      };
    }
    function baseOrderBy(collection, iteratees, orders) {
      var index = -1;
      iteratees = arrayMap(iteratees.length ? iteratees : [identity], baseUnary(baseIteratee));
      var result = baseMap(collection, function(value, key, collection2) {
        var criteria = arrayMap(iteratees, function(iteratee) {
          return iteratee(value);
        });
        return { "criteria": criteria, "index": ++index, "value": value };
      });
      return baseSortBy(result, function(object, other) {
        return compareMultiple(object, other, orders);
      });
    }
    function basePropertyDeep(path14) {
      return function(object) {
        return baseGet(object, path14);
      };
    }
    function baseRest(func, start) {
      start = nativeMax(start === void 0 ? func.length - 1 : start, 0);
      return function() {
        var args = arguments, index = -1, length = nativeMax(args.length - start, 0), array = Array(length);
        while (++index < length) {
          array[index] = args[start + index];
        }
        index = -1;
        var otherArgs = Array(start + 1);
        while (++index < start) {
          otherArgs[index] = args[index];
        }
        otherArgs[start] = array;
        return apply(func, this, otherArgs);
      };
    }
    function baseToString(value) {
      if (typeof value == "string") {
        return value;
      }
      if (isSymbol(value)) {
        return symbolToString ? symbolToString.call(value) : "";
      }
      var result = value + "";
      return result == "0" && 1 / value == -Infinity ? "-0" : result;
    }
    function castPath(value) {
      return isArray(value) ? value : stringToPath(value);
    }
    function compareAscending(value, other) {
      if (value !== other) {
        var valIsDefined = value !== void 0, valIsNull = value === null, valIsReflexive = value === value, valIsSymbol = isSymbol(value);
        var othIsDefined = other !== void 0, othIsNull = other === null, othIsReflexive = other === other, othIsSymbol = isSymbol(other);
        if (!othIsNull && !othIsSymbol && !valIsSymbol && value > other || valIsSymbol && othIsDefined && othIsReflexive && !othIsNull && !othIsSymbol || valIsNull && othIsDefined && othIsReflexive || !valIsDefined && othIsReflexive || !valIsReflexive) {
          return 1;
        }
        if (!valIsNull && !valIsSymbol && !othIsSymbol && value < other || othIsSymbol && valIsDefined && valIsReflexive && !valIsNull && !valIsSymbol || othIsNull && valIsDefined && valIsReflexive || !othIsDefined && valIsReflexive || !othIsReflexive) {
          return -1;
        }
      }
      return 0;
    }
    function compareMultiple(object, other, orders) {
      var index = -1, objCriteria = object.criteria, othCriteria = other.criteria, length = objCriteria.length, ordersLength = orders.length;
      while (++index < length) {
        var result = compareAscending(objCriteria[index], othCriteria[index]);
        if (result) {
          if (index >= ordersLength) {
            return result;
          }
          var order = orders[index];
          return result * (order == "desc" ? -1 : 1);
        }
      }
      return object.index - other.index;
    }
    function createBaseEach(eachFunc, fromRight) {
      return function(collection, iteratee) {
        if (collection == null) {
          return collection;
        }
        if (!isArrayLike(collection)) {
          return eachFunc(collection, iteratee);
        }
        var length = collection.length, index = -1, iterable = Object(collection);
        while (++index < length) {
          if (iteratee(iterable[index], index, iterable) === false) {
            break;
          }
        }
        return collection;
      };
    }
    function createBaseFor(fromRight) {
      return function(object, iteratee, keysFunc) {
        var index = -1, iterable = Object(object), props = keysFunc(object), length = props.length;
        while (length--) {
          var key = props[++index];
          if (iteratee(iterable[key], key, iterable) === false) {
            break;
          }
        }
        return object;
      };
    }
    function equalArrays(array, other, equalFunc, customizer, bitmask, stack) {
      var isPartial = bitmask & PARTIAL_COMPARE_FLAG, arrLength = array.length, othLength = other.length;
      if (arrLength != othLength && !(isPartial && othLength > arrLength)) {
        return false;
      }
      var stacked = stack.get(array);
      if (stacked && stack.get(other)) {
        return stacked == other;
      }
      var index = -1, result = true, seen = bitmask & UNORDERED_COMPARE_FLAG ? new SetCache() : void 0;
      stack.set(array, other);
      stack.set(other, array);
      while (++index < arrLength) {
        var arrValue = array[index], othValue = other[index];
        if (customizer) {
          var compared = isPartial ? customizer(othValue, arrValue, index, other, array, stack) : customizer(arrValue, othValue, index, array, other, stack);
        }
        if (compared !== void 0) {
          if (compared) {
            continue;
          }
          result = false;
          break;
        }
        if (seen) {
          if (!arraySome(other, function(othValue2, othIndex) {
            if (!seen.has(othIndex) && (arrValue === othValue2 || equalFunc(arrValue, othValue2, customizer, bitmask, stack))) {
              return seen.add(othIndex);
            }
          })) {
            result = false;
            break;
          }
        } else if (!(arrValue === othValue || equalFunc(arrValue, othValue, customizer, bitmask, stack))) {
          result = false;
          break;
        }
      }
      stack["delete"](array);
      stack["delete"](other);
      return result;
    }
    function equalByTag(object, other, tag, equalFunc, customizer, bitmask, stack) {
      switch (tag) {
        case dataViewTag:
          if (object.byteLength != other.byteLength || object.byteOffset != other.byteOffset) {
            return false;
          }
          object = object.buffer;
          other = other.buffer;
        case arrayBufferTag:
          if (object.byteLength != other.byteLength || !equalFunc(new Uint8Array2(object), new Uint8Array2(other))) {
            return false;
          }
          return true;
        case boolTag:
        case dateTag:
        case numberTag:
          return eq(+object, +other);
        case errorTag:
          return object.name == other.name && object.message == other.message;
        case regexpTag:
        case stringTag:
          return object == other + "";
        case mapTag:
          var convert = mapToArray;
        case setTag:
          var isPartial = bitmask & PARTIAL_COMPARE_FLAG;
          convert || (convert = setToArray);
          if (object.size != other.size && !isPartial) {
            return false;
          }
          var stacked = stack.get(object);
          if (stacked) {
            return stacked == other;
          }
          bitmask |= UNORDERED_COMPARE_FLAG;
          stack.set(object, other);
          var result = equalArrays(convert(object), convert(other), equalFunc, customizer, bitmask, stack);
          stack["delete"](object);
          return result;
        case symbolTag:
          if (symbolValueOf) {
            return symbolValueOf.call(object) == symbolValueOf.call(other);
          }
      }
      return false;
    }
    function equalObjects(object, other, equalFunc, customizer, bitmask, stack) {
      var isPartial = bitmask & PARTIAL_COMPARE_FLAG, objProps = keys(object), objLength = objProps.length, othProps = keys(other), othLength = othProps.length;
      if (objLength != othLength && !isPartial) {
        return false;
      }
      var index = objLength;
      while (index--) {
        var key = objProps[index];
        if (!(isPartial ? key in other : hasOwnProperty.call(other, key))) {
          return false;
        }
      }
      var stacked = stack.get(object);
      if (stacked && stack.get(other)) {
        return stacked == other;
      }
      var result = true;
      stack.set(object, other);
      stack.set(other, object);
      var skipCtor = isPartial;
      while (++index < objLength) {
        key = objProps[index];
        var objValue = object[key], othValue = other[key];
        if (customizer) {
          var compared = isPartial ? customizer(othValue, objValue, key, other, object, stack) : customizer(objValue, othValue, key, object, other, stack);
        }
        if (!(compared === void 0 ? objValue === othValue || equalFunc(objValue, othValue, customizer, bitmask, stack) : compared)) {
          result = false;
          break;
        }
        skipCtor || (skipCtor = key == "constructor");
      }
      if (result && !skipCtor) {
        var objCtor = object.constructor, othCtor = other.constructor;
        if (objCtor != othCtor && ("constructor" in object && "constructor" in other) && !(typeof objCtor == "function" && objCtor instanceof objCtor && typeof othCtor == "function" && othCtor instanceof othCtor)) {
          result = false;
        }
      }
      stack["delete"](object);
      stack["delete"](other);
      return result;
    }
    function getMapData(map, key) {
      var data = map.__data__;
      return isKeyable(key) ? data[typeof key == "string" ? "string" : "hash"] : data.map;
    }
    function getMatchData(object) {
      var result = keys(object), length = result.length;
      while (length--) {
        var key = result[length], value = object[key];
        result[length] = [key, value, isStrictComparable(value)];
      }
      return result;
    }
    function getNative(object, key) {
      var value = getValue(object, key);
      return baseIsNative(value) ? value : void 0;
    }
    var getTag = baseGetTag;
    if (DataView && getTag(new DataView(new ArrayBuffer(1))) != dataViewTag || Map2 && getTag(new Map2()) != mapTag || Promise2 && getTag(Promise2.resolve()) != promiseTag || Set2 && getTag(new Set2()) != setTag || WeakMap && getTag(new WeakMap()) != weakMapTag) {
      getTag = function(value) {
        var result = objectToString.call(value), Ctor = result == objectTag ? value.constructor : void 0, ctorString = Ctor ? toSource(Ctor) : void 0;
        if (ctorString) {
          switch (ctorString) {
            case dataViewCtorString:
              return dataViewTag;
            case mapCtorString:
              return mapTag;
            case promiseCtorString:
              return promiseTag;
            case setCtorString:
              return setTag;
            case weakMapCtorString:
              return weakMapTag;
          }
        }
        return result;
      };
    }
    function hasPath(object, path14, hasFunc) {
      path14 = isKey(path14, object) ? [path14] : castPath(path14);
      var result, index = -1, length = path14.length;
      while (++index < length) {
        var key = toKey(path14[index]);
        if (!(result = object != null && hasFunc(object, key))) {
          break;
        }
        object = object[key];
      }
      if (result) {
        return result;
      }
      var length = object ? object.length : 0;
      return !!length && isLength(length) && isIndex(key, length) && (isArray(object) || isArguments(object));
    }
    function isFlattenable(value) {
      return isArray(value) || isArguments(value) || !!(spreadableSymbol && value && value[spreadableSymbol]);
    }
    function isIndex(value, length) {
      length = length == null ? MAX_SAFE_INTEGER : length;
      return !!length && (typeof value == "number" || reIsUint.test(value)) && (value > -1 && value % 1 == 0 && value < length);
    }
    function isIterateeCall(value, index, object) {
      if (!isObject(object)) {
        return false;
      }
      var type = typeof index;
      if (type == "number" ? isArrayLike(object) && isIndex(index, object.length) : type == "string" && index in object) {
        return eq(object[index], value);
      }
      return false;
    }
    function isKey(value, object) {
      if (isArray(value)) {
        return false;
      }
      var type = typeof value;
      if (type == "number" || type == "symbol" || type == "boolean" || value == null || isSymbol(value)) {
        return true;
      }
      return reIsPlainProp.test(value) || !reIsDeepProp.test(value) || object != null && value in Object(object);
    }
    function isKeyable(value) {
      var type = typeof value;
      return type == "string" || type == "number" || type == "symbol" || type == "boolean" ? value !== "__proto__" : value === null;
    }
    function isMasked(func) {
      return !!maskSrcKey && maskSrcKey in func;
    }
    function isPrototype(value) {
      var Ctor = value && value.constructor, proto = typeof Ctor == "function" && Ctor.prototype || objectProto;
      return value === proto;
    }
    function isStrictComparable(value) {
      return value === value && !isObject(value);
    }
    function matchesStrictComparable(key, srcValue) {
      return function(object) {
        if (object == null) {
          return false;
        }
        return object[key] === srcValue && (srcValue !== void 0 || key in Object(object));
      };
    }
    var stringToPath = memoize(function(string) {
      string = toString(string);
      var result = [];
      if (reLeadingDot.test(string)) {
        result.push("");
      }
      string.replace(rePropName, function(match, number, quote3, string2) {
        result.push(quote3 ? string2.replace(reEscapeChar, "$1") : number || match);
      });
      return result;
    });
    function toKey(value) {
      if (typeof value == "string" || isSymbol(value)) {
        return value;
      }
      var result = value + "";
      return result == "0" && 1 / value == -Infinity ? "-0" : result;
    }
    function toSource(func) {
      if (func != null) {
        try {
          return funcToString.call(func);
        } catch (e) {
        }
        try {
          return func + "";
        } catch (e) {
        }
      }
      return "";
    }
    var sortBy = baseRest(function(collection, iteratees) {
      if (collection == null) {
        return [];
      }
      var length = iteratees.length;
      if (length > 1 && isIterateeCall(collection, iteratees[0], iteratees[1])) {
        iteratees = [];
      } else if (length > 2 && isIterateeCall(iteratees[0], iteratees[1], iteratees[2])) {
        iteratees = [iteratees[0]];
      }
      return baseOrderBy(collection, baseFlatten(iteratees), []);
    });
    function memoize(func, resolver) {
      if (typeof func != "function" || resolver && typeof resolver != "function") {
        throw new TypeError(FUNC_ERROR_TEXT);
      }
      var memoized = function() {
        var args = arguments, key = resolver ? resolver.apply(this, args) : args[0], cache = memoized.cache;
        if (cache.has(key)) {
          return cache.get(key);
        }
        var result = func.apply(this, args);
        memoized.cache = cache.set(key, result);
        return result;
      };
      memoized.cache = new (memoize.Cache || MapCache)();
      return memoized;
    }
    memoize.Cache = MapCache;
    function eq(value, other) {
      return value === other || value !== value && other !== other;
    }
    function isArguments(value) {
      return isArrayLikeObject(value) && hasOwnProperty.call(value, "callee") && (!propertyIsEnumerable.call(value, "callee") || objectToString.call(value) == argsTag);
    }
    var isArray = Array.isArray;
    function isArrayLike(value) {
      return value != null && isLength(value.length) && !isFunction(value);
    }
    function isArrayLikeObject(value) {
      return isObjectLike(value) && isArrayLike(value);
    }
    function isFunction(value) {
      var tag = isObject(value) ? objectToString.call(value) : "";
      return tag == funcTag || tag == genTag;
    }
    function isLength(value) {
      return typeof value == "number" && value > -1 && value % 1 == 0 && value <= MAX_SAFE_INTEGER;
    }
    function isObject(value) {
      var type = typeof value;
      return !!value && (type == "object" || type == "function");
    }
    function isObjectLike(value) {
      return !!value && typeof value == "object";
    }
    function isSymbol(value) {
      return typeof value == "symbol" || isObjectLike(value) && objectToString.call(value) == symbolTag;
    }
    var isTypedArray = nodeIsTypedArray ? baseUnary(nodeIsTypedArray) : baseIsTypedArray;
    function toString(value) {
      return value == null ? "" : baseToString(value);
    }
    function get(object, path14, defaultValue) {
      var result = object == null ? void 0 : baseGet(object, path14);
      return result === void 0 ? defaultValue : result;
    }
    function hasIn(object, path14) {
      return object != null && hasPath(object, path14, baseHasIn);
    }
    function keys(object) {
      return isArrayLike(object) ? arrayLikeKeys(object) : baseKeys(object);
    }
    function identity(value) {
      return value;
    }
    function property(path14) {
      return isKey(path14) ? baseProperty(toKey(path14)) : basePropertyDeep(path14);
    }
    module.exports = sortBy;
  })(lodash_sortby, lodash_sortby.exports);
  return lodash_sortby.exports;
}
function requireEscapeStringRegexp() {
  if (hasRequiredEscapeStringRegexp) return escapeStringRegexp;
  hasRequiredEscapeStringRegexp = 1;
  escapeStringRegexp = (string) => {
    if (typeof string !== "string") {
      throw new TypeError("Expected a string");
    }
    return string.replace(/[|\\{}()[\]^$+*?.]/g, "\\$&").replace(/-/g, "\\x2d");
  };
  return escapeStringRegexp;
}
function requireRegexpParse() {
  if (hasRequiredRegexpParse) return regexpParse;
  hasRequiredRegexpParse = 1;
  Object.defineProperty(regexpParse, "__esModule", { value: true });
  regexpParse.isRegExpString = regexpParse.parseRegExpString = void 0;
  var REGEXP_LITERAL_PATTERN = /^\/(.+)\/([guimysd]*)$/;
  var parseRegExpString = function(str) {
    var result = str.match(REGEXP_LITERAL_PATTERN);
    if (!result) {
      return null;
    }
    return {
      source: result[1],
      flagString: result[2]
    };
  };
  regexpParse.parseRegExpString = parseRegExpString;
  var isRegExpString = function(str) {
    return REGEXP_LITERAL_PATTERN.test(str);
  };
  regexpParse.isRegExpString = isRegExpString;
  return regexpParse;
}
function requireRegexpStringMatcher() {
  if (hasRequiredRegexpStringMatcher) return regexpStringMatcher;
  hasRequiredRegexpStringMatcher = 1;
  (function(exports$1) {
    var __importDefault = regexpStringMatcher && regexpStringMatcher.__importDefault || function(mod) {
      return mod && mod.__esModule ? mod : { "default": mod };
    };
    Object.defineProperty(exports$1, "__esModule", { value: true });
    exports$1.matchPatterns = exports$1.createRegExp = void 0;
    var lodash_uniq_1 = __importDefault(requireLodash_uniq());
    var lodash_uniqwith_1 = __importDefault(requireLodash_uniqwith());
    var lodash_sortby_1 = __importDefault(requireLodash_sortby());
    var escape_string_regexp_1 = __importDefault(requireEscapeStringRegexp());
    var regexp_parse_1 = requireRegexpParse();
    var DEFAULT_FLAGS = "ug";
    var defaultFlags = function(flagsString) {
      if (flagsString.length === 0) {
        return DEFAULT_FLAGS;
      }
      return (0, lodash_uniq_1.default)((flagsString + DEFAULT_FLAGS).split("")).join("");
    };
    var createRegExp = function(patternString, defaultFlag) {
      if (defaultFlag === void 0) {
        defaultFlag = DEFAULT_FLAGS;
      }
      if (patternString.length === 0) {
        throw new Error("Empty string can not handled");
      }
      if ((0, regexp_parse_1.isRegExpString)(patternString)) {
        var regExpStructure = (0, regexp_parse_1.parseRegExpString)(patternString);
        if (regExpStructure) {
          return new RegExp(regExpStructure.source, defaultFlags(regExpStructure.flagString));
        }
        throw new Error('"'.concat(patternString, '" can not parse as RegExp.'));
      } else {
        return new RegExp((0, escape_string_regexp_1.default)(patternString), defaultFlag);
      }
    };
    exports$1.createRegExp = createRegExp;
    var isEqualMatchPatternResult = function(a, b) {
      return a.startIndex === b.startIndex && a.endIndex === b.endIndex && a.match === b.match;
    };
    var matchPatterns = function(text, regExpLikeStrings) {
      var matchPatternResults = [];
      regExpLikeStrings.map(function(patternString) {
        return (0, exports$1.createRegExp)(patternString);
      }).forEach(function(regExp) {
        var results = text.matchAll(regExp);
        Array.from(results).forEach(function(result) {
          if (result.index === void 0) {
            return;
          }
          var match = result[0];
          var index = result.index;
          matchPatternResults.push({
            match,
            captures: result.slice(1),
            startIndex: index,
            endIndex: index + match.length
          });
        });
      });
      var uniqResults = (0, lodash_uniqwith_1.default)(matchPatternResults, isEqualMatchPatternResult);
      return (0, lodash_sortby_1.default)(uniqResults, ["startIndex", "endIndex"]);
    };
    exports$1.matchPatterns = matchPatterns;
  })(regexpStringMatcher);
  return regexpStringMatcher;
}
function readTlv(buf, offset) {
  if (offset + 2 > buf.length) {
    throw new Error("PKCS12: truncated TLV header");
  }
  const tag = buf[offset];
  const lenByte = buf[offset + 1];
  let length;
  let contentStart;
  if (lenByte < 128) {
    length = lenByte;
    contentStart = offset + 2;
  } else {
    const lenBytes = lenByte & 127;
    if (lenBytes === 0 || lenBytes > 4) {
      throw new Error("PKCS12: unsupported ASN.1 length encoding");
    }
    if (offset + 2 + lenBytes > buf.length) {
      throw new Error("PKCS12: truncated ASN.1 length");
    }
    length = 0;
    for (let i = 0; i < lenBytes; i++) {
      length = length * 256 + buf[offset + 2 + i];
    }
    contentStart = offset + 2 + lenBytes;
  }
  const end = contentStart + length;
  if (end > buf.length) {
    throw new Error("PKCS12: TLV extends past buffer");
  }
  return { tag, content: buf.subarray(contentStart, end), end };
}
function expectTag(tlv, tag, label) {
  if (tlv.tag !== tag) {
    throw new Error(`PKCS12: expected ${label} tag 0x${tag.toString(16)} but got 0x${tlv.tag.toString(16)}`);
  }
}
function readInteger(tlv) {
  expectTag(tlv, TAG_INTEGER, "INTEGER");
  let value = 0;
  for (const byte of tlv.content) {
    value = value * 256 + byte;
  }
  return value;
}
function bytesEqual(a, b) {
  if (a.length !== b.length)
    return false;
  let diff = 0;
  for (let i = 0; i < a.length; i++) {
    diff |= a[i] ^ b[i];
  }
  return diff === 0;
}
function matchHash(oidBytes) {
  for (const { oid, hash } of MAC_HASHES) {
    if (bytesEqual(oidBytes, oid))
      return hash;
  }
  return void 0;
}
function parsePkcs12(buf) {
  const pfx = readTlv(buf, 0);
  expectTag(pfx, TAG_SEQUENCE, "PFX SEQUENCE");
  const version = readTlv(pfx.content, 0);
  if (readInteger(version) !== 3) {
    throw new Error("PKCS12: unsupported version");
  }
  const authSafeInfo = readTlv(pfx.content, version.end);
  expectTag(authSafeInfo, TAG_SEQUENCE, "ContentInfo SEQUENCE");
  const contentType = readTlv(authSafeInfo.content, 0);
  expectTag(contentType, TAG_OID, "contentType OID");
  if (!bytesEqual(contentType.content, OID_DATA)) {
    throw new Error("PKCS12: unsupported authSafe contentType");
  }
  const explicit0 = readTlv(authSafeInfo.content, contentType.end);
  expectTag(explicit0, TAG_CONTEXT_0, "[0] EXPLICIT");
  const authSafeOctet = readTlv(explicit0.content, 0);
  expectTag(authSafeOctet, TAG_OCTET_STRING, "authSafe OCTET STRING");
  const macData = readTlv(pfx.content, authSafeInfo.end);
  expectTag(macData, TAG_SEQUENCE, "MacData SEQUENCE");
  const digestInfo = readTlv(macData.content, 0);
  expectTag(digestInfo, TAG_SEQUENCE, "DigestInfo SEQUENCE");
  const alg = readTlv(digestInfo.content, 0);
  expectTag(alg, TAG_SEQUENCE, "AlgorithmIdentifier SEQUENCE");
  const algOid = readTlv(alg.content, 0);
  expectTag(algOid, TAG_OID, "algorithm OID");
  const macHash = matchHash(algOid.content);
  if (!macHash) {
    throw new Error("PKCS12: unsupported MAC digest algorithm");
  }
  if (algOid.end < alg.content.length) {
    const params = readTlv(alg.content, algOid.end);
    if (params.tag !== TAG_NULL) {
      throw new Error("PKCS12: unexpected MAC algorithm parameters");
    }
  }
  const digest2 = readTlv(digestInfo.content, alg.end);
  expectTag(digest2, TAG_OCTET_STRING, "digest OCTET STRING");
  const salt = readTlv(macData.content, digestInfo.end);
  expectTag(salt, TAG_OCTET_STRING, "macSalt OCTET STRING");
  let iterations = 1;
  if (salt.end < macData.content.length) {
    const iter = readTlv(macData.content, salt.end);
    iterations = readInteger(iter);
  }
  if (iterations < 1 || iterations > MAX_MAC_ITERATIONS) {
    throw new Error("PKCS12: MAC iteration count out of range");
  }
  return {
    authSafe: authSafeOctet.content,
    macHash,
    macSalt: salt.content,
    macDigest: digest2.content,
    iterations
  };
}
function toBufferSource(data) {
  const copy = new Uint8Array(data.length);
  copy.set(data);
  return copy;
}
async function digest(hash, data) {
  return new Uint8Array(await globalThis.crypto.subtle.digest(hash.name, toBufferSource(data)));
}
function padToMultipleOf(src, blockSize) {
  if (src.length === 0)
    return new Uint8Array(0);
  const padded = new Uint8Array(Math.ceil(src.length / blockSize) * blockSize);
  for (let i = 0; i < padded.length; i++) {
    padded[i] = src[i % src.length];
  }
  return padded;
}
function encodePasswordAsBmpString(password) {
  if (password.length === 0)
    return new Uint8Array(0);
  const bytes = new Uint8Array(password.length * 2 + 2);
  for (let i = 0; i < password.length; i++) {
    const code = password.charCodeAt(i);
    bytes[i * 2] = code >> 8 & 255;
    bytes[i * 2 + 1] = code & 255;
  }
  return bytes;
}
async function deriveMacKey(hash, password, salt, iterations) {
  const v = hash.blockSize;
  const u = hash.outputSize;
  const ID_MAC = 3;
  const D = new Uint8Array(v).fill(ID_MAC);
  const P = padToMultipleOf(encodePasswordAsBmpString(password), v);
  const S = padToMultipleOf(salt, v);
  const DI = new Uint8Array(D.length + S.length + P.length);
  DI.set(D, 0);
  DI.set(S, D.length);
  DI.set(P, D.length + S.length);
  let A = await digest(hash, DI);
  for (let i = 1; i < iterations; i++) {
    A = await digest(hash, A);
  }
  return A.subarray(0, u);
}
async function verifyPkcs12Mac(pfxBytes, password) {
  let parsed;
  try {
    parsed = parsePkcs12(pfxBytes);
  } catch {
    return false;
  }
  try {
    const key = await deriveMacKey(parsed.macHash, password, parsed.macSalt, parsed.iterations);
    const cryptoKey = await globalThis.crypto.subtle.importKey("raw", toBufferSource(key), { name: "HMAC", hash: parsed.macHash.name }, false, ["sign"]);
    const mac = new Uint8Array(await globalThis.crypto.subtle.sign("HMAC", cryptoKey, toBufferSource(parsed.authSafe)));
    return bytesEqual(mac, parsed.macDigest);
  } catch {
    return false;
  }
}
async function reportIfFoundPrivateKeyP12Format({ source, context, t }) {
  if (!source.filePath) {
    return;
  }
  try {
    const fs10 = await import("node:fs");
    const path14 = await import("node:path");
    const pfxBytes = new Uint8Array(fs10.readFileSync(source.filePath));
    const isGcpServiceAccountP12 = await verifyPkcs12Mac(pfxBytes, GCP_SERVICE_ACCOUNT_P12_PASSWORD);
    if (!isGcpServiceAccountP12) {
      return;
    }
    context.report({
      message: t("PrivateKeyP12", {
        FILE_NAME: path14.basename(source.filePath)
      }),
      range: [0, source.content.length]
    });
  } catch {
  }
}
function reportIfFoundPrivateKeyJSONFormat({ source, context, t }) {
  try {
    const credentialObject = JSON.parse(source.content);
    const PRIVATE_KEY_PATTERN = /-----BEGIN\s?(DSA|RSA|EC|PGP|OPENSSH)?\s?PRIVATE KEY/gm;
    const isGCPServiceAccountPrivateKeyJSON = "private_key_id" in credentialObject && "private_key" in credentialObject && PRIVATE_KEY_PATTERN.test(credentialObject["private_key"]);
    if (!isGCPServiceAccountPrivateKeyJSON) {
      return;
    }
    context.report({
      message: t("PrivateKeyJSON", {
        FILE_NAME: source.filePath ? path13.basename(source.filePath) : ""
      }),
      range: [0, source.content.length]
    });
  } catch {
  }
}
function reportIfFoundXOauthGitHubToken({ source, options, context, t }) {
  const XOAuthPattern = /https?:\/\/(.{1,256}):x-oauth-basic@github.com\//g;
  const results = source.content.matchAll(XOAuthPattern);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[1] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("PackageJSON_xOauthToken", {
        TOKEN: match
      }),
      range
    });
  }
}
function reportIfFound_AuthTokenInNpmrc({ source, options, context, t }) {
  const AuthTokenPattern = /_authToken=([^$].*)/g;
  const results = source.content.matchAll(AuthTokenPattern);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[1] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("Npmrc_authToken", {
        TOKEN: match
      }),
      range
    });
  }
}
function reportIfFound_NPM_ACCESS_TOKEN({ source, options, context, t }) {
  const NPM_ACCESS_TOKEN_PATTERN = new RegExp("(?<!\\p{L})npm_[A-Za-z0-9_]{36}(?![A-Za-z0-9_])", "gu");
  const results = source.content.matchAll(NPM_ACCESS_TOKEN_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("NPM_ACCESS_TOKEN", {
        TOKEN: match
      }),
      range
    });
  }
}
function reportIfFoundRawPrivateKey$1({ source, options, context, t }) {
  const SLACK_TOKEN_PATTERN = /\b(?:xoxb|xoxp|xapp|xoxa|xoxo|xoxr)-(?:\d-)?(?:[a-zA-Z0-9]{1,40}-)+[a-zA-Z0-9]{1,40}\b/g;
  const results = source.content.matchAll(SLACK_TOKEN_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("SLACK_TOKEN", {
        TOKEN: match
      }),
      range
    });
  }
}
function reportIfFoundIncomingWebhook({ source, options, context, t }) {
  const IncomingWebhooksPattern = /https:\/\/hooks\.slack\.com\/services\/T[a-zA-Z0-9]{1,40}\/B[a-zA-Z0-9]{1,40}\/[a-zA-Z0-9]{1,40}/gi;
  const results = source.content.matchAll(IncomingWebhooksPattern);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("IncomingWebhook", {
        URL: match
      }),
      range
    });
  }
}
function isVariableLikeString$1(str) {
  const variablePatterns = [
    /\$\{[^}]{1,50}\}/,
    // ${var}
    /\{\{[^}]{1,50}\}\}/,
    // {{var}}
    /\{[^}]{1,50}\}/,
    // {var}
    /%[A-Z_]{1,30}%/,
    // %VAR%
    /\$[A-Z_]{1,30}/
    // $VAR
  ];
  return variablePatterns.some((pattern) => pattern.test(str));
}
function isLikelyRealUsername(username) {
  if (username.length < 2)
    return false;
  if (isVariableLikeString$1(username))
    return false;
  if (BUILTIN_IGNORED_PATTERNS$1.some((pattern) => username.toLowerCase().includes(pattern.toLowerCase()))) {
    return false;
  }
  return true;
}
function isLikelyRealPassword$1(password) {
  if (password.length < 4)
    return false;
  if (isVariableLikeString$1(password))
    return false;
  if (BUILTIN_IGNORED_PATTERNS$1.some((pattern) => password.toLowerCase().includes(pattern.toLowerCase()))) {
    return false;
  }
  if (/^(.)\1{3,}$/.test(password))
    return false;
  return true;
}
function reportIfFoundBasicAuth({ source, options, context, t }) {
  const URL_PATTERN = /(?<protocol>(?:https?|ftp|ftps)):\/\/(?<user>[-a-zA-Z0-9_]{1,256}):(?<password>[-a-zA-Z0-9_]{1,256})@[-a-zA-Z0-9%._+~#=]{1,256}\.[a-zA-Z0-9()]{1,6}\b/g;
  const results = source.content.matchAll(URL_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const username = result.groups?.user;
    const password = result.groups?.password;
    if (!username || !password)
      continue;
    if (!isLikelyRealUsername(username))
      continue;
    if (!isLikelyRealPassword$1(password))
      continue;
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("BasicAuth", {
        CREDENTIAL: match
      }),
      range
    });
  }
}
function reportIfFoundToken({ source, options, context, t }) {
  const NOTION_INTEGRATION_TOKEN_PATTERN = new RegExp("(?<!\\p{L})ntn_[0-9]{11}[A-Za-z0-9]{35}(?![A-Za-z0-9])", "gu");
  const results = source.content.matchAll(NOTION_INTEGRATION_TOKEN_PATTERN);
  for (const result of results) {
    const index = result.index ?? 0;
    const match = result[0] ?? "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("NOTION_INTEGRATION_TOKEN", {
        TOKEN: match
      }),
      range
    });
  }
}
function validateBase64KeyContent(base64Content) {
  if (!/^[A-Za-z0-9+/]+=*$/.test(base64Content)) {
    return false;
  }
  if (base64Content.length < 100) {
    return false;
  }
  const validMagicBytes = /^(MI|b3BlbnNzaC1rZXktdjE)/;
  if (!validMagicBytes.test(base64Content)) {
    return false;
  }
  return true;
}
function reportIfFoundRawPrivateKey({ source, options, context, t }) {
  const results = source.content.matchAll(PEM_CONTENT_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const base64Raw = result[1] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    const base64Content = base64Raw.replace(/\s|\\n/g, "");
    if (!validateBase64KeyContent(base64Content)) {
      continue;
    }
    context.report({
      message: t("PrivateKey", {
        KEY: match
      }),
      range
    });
  }
}
function reportIfFoundKey$3({ source, options, context, t }) {
  const SENDGRID_KEY_PATTERN = new RegExp("(?<!\\p{L})SG\\.\\w{1,128}\\.\\w{1,128}([-_]?)\\w{1,128}(?!\\w)", "gu");
  const results = source.content.matchAll(SENDGRID_KEY_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    if (match.length !== 69) {
      continue;
    }
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("SENDGRID_KEY", {
        KEY: match
      }),
      range
    });
  }
}
function reportIfFoundKey$2({ source, options, context, t }) {
  const SHOPIFY_KEY_PATTERN = new RegExp("(?<!\\p{L})(shppa|shpca|shpat|shpss)_[a-zA-Z0-9]{32,64}(?![a-zA-Z0-9])", "gu");
  const results = source.content.matchAll(SHOPIFY_KEY_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("SHOPIFY_KEY", {
        KEY: match
      }),
      range
    });
  }
}
function reportIfFoundKey$1({ pattern, source, options, context, t }) {
  const results = source.content.matchAll(pattern);
  for (const result of results) {
    const index = result.index || 0;
    const type = result.groups?.type;
    const typeName = typeMap.get(type);
    if (!typeName) {
      throw new Error("Unknown type:" + typeName);
    }
    const match = result[0] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("GITHUB_TOKEN", {
        KEY: match,
        typeName
      }),
      range
    });
  }
}
function reportIfFoundKey({ pattern, source, options, context, t }) {
  const results = source.content.matchAll(pattern);
  for (const result of results) {
    const index = result.index ?? 0;
    const match = result[0] ?? "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("GITLAB_PERSONAL_ACCESS_TOKEN", {
        KEY: match
      }),
      range
    });
  }
}
function reportIfFound({ pattern, messageId, source, options, context, t }) {
  const results = source.content.matchAll(pattern);
  for (const result of results) {
    const index = result.index ?? 0;
    const match = result[0] ?? "";
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    const range = [index, index + match.length];
    context.report({
      message: t(messageId, {
        TOKEN: match
      }),
      range
    });
  }
}
function isVariableLikeString(str) {
  const variablePatterns = [
    /\$\{[^}]{1,50}\}/,
    // ${var}
    /\{\{[^}]{1,50}\}\}/,
    // {{var}}
    /\{[^}]{1,50}\}/,
    // {var}
    /%[A-Z_]{1,30}%/,
    // %VAR%
    /\$[A-Z_]{1,30}/,
    // $VAR
    /\$\([^)]{1,50}\)/
    // $(var)
  ];
  return variablePatterns.some((pattern) => pattern.test(str));
}
function isLikelyRealPassword(password) {
  if (password.length < 4)
    return false;
  if (isVariableLikeString(password))
    return false;
  const passwordLower = password.toLowerCase();
  if (BUILTIN_IGNORED_PATTERNS.some((pattern) => passwordLower === pattern.toLowerCase())) {
    return false;
  }
  if (/^(.)\1{3,}$/.test(password))
    return false;
  return true;
}
function reportMongoDBConnectionString({ source, options, context, t }) {
  const MONGODB_PATTERN = /mongodb(?:\+srv)?:\/\/(?:(?<username>[^:\/\s]{1,100}):(?<password>[^@\/\s]{1,200})@)?(?<host>[^\/\s?]{1,100})(?:\/(?<database>[^?\s]{0,100}))?(?:\?(?<options>[^\s]{0,500}))?/gi;
  const results = source.content.matchAll(MONGODB_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const username = result.groups?.username;
    const password = result.groups?.password;
    if (!username || !password)
      continue;
    if (!isLikelyRealPassword(password))
      continue;
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("MongoDBConnection", {
        URI: match
      }),
      range
    });
  }
}
function reportMySQLConnectionString({ source, options, context, t }) {
  const MYSQL_URI_PATTERN = /(?:jdbc:)?mysql(?:x)?:\/\/(?:(?<username>[^:\/\s]{1,100}):(?<password>[^@\/\s]{1,200})@)?(?<host>[^\/\s?]{1,100})(?:\/(?<database>[^?\s]{0,100}))?(?:\?(?<options>[^\s]{0,500}))?/gi;
  const results = source.content.matchAll(MYSQL_URI_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const username = result.groups?.username;
    const password = result.groups?.password;
    if (!username || !password)
      continue;
    if (!isLikelyRealPassword(password))
      continue;
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("MySQLConnection", {
        URI: match
      }),
      range
    });
  }
}
function reportPostgreSQLConnectionString({ source, options, context, t }) {
  const POSTGRESQL_URI_PATTERN = /postgres(?:ql)?:\/\/(?:(?<username>[^:\/\s]{1,100}):(?<password>[^@\/\s]{1,200})@)?(?<host>[^\/\s?]{1,100})(?:\/(?<database>[^?\s]{0,100}))?(?:\?(?<options>[^\s]{0,500}))?/gi;
  const results = source.content.matchAll(POSTGRESQL_URI_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const username = result.groups?.username;
    const password = result.groups?.password;
    if (!username || !password)
      continue;
    if (!isLikelyRealPassword(password))
      continue;
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("PostgreSQLConnection", {
        URI: match
      }),
      range
    });
  }
}
function reportIfFoundDockerPAT({ source, options, context, t }) {
  const DOCKER_PAT_PATTERN = new RegExp("(?<!\\p{L})dckr_pat_[a-zA-Z0-9_-]{27}(?![a-zA-Z0-9_-])", "gu");
  const results = source.content.matchAll(DOCKER_PAT_PATTERN);
  for (const result of results) {
    const index = result.index || 0;
    const match = result[0] || "";
    const range = [index, index + match.length];
    const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
    if (allowedResults.length > 0) {
      continue;
    }
    context.report({
      message: t("DOCKER_PERSONAL_ACCESS_TOKEN", {
        TOKEN: match
      }),
      range
    });
  }
}
function parseComment(options) {
  if (!options) {
    return [];
  }
  const commentStart = options.indexOf("--");
  const ruleIdString = commentStart === -1 ? options : options.slice(0, commentStart);
  return ruleIdString.split(/,/).map((arg) => arg.trim()).filter((arg) => arg !== "") ?? [];
}
var commonjsGlobal, regexpStringMatcher, lodash_uniq, hasRequiredLodash_uniq, lodash_uniqwith, hasRequiredLodash_uniqwith, lodash_sortby, hasRequiredLodash_sortby, escapeStringRegexp, hasRequiredEscapeStringRegexp, regexpParse, hasRequiredRegexpParse, hasRequiredRegexpStringMatcher, regexpStringMatcherExports, BUILTIN_IGNORED, messages$o, reportAWSAccessKey, reportAWSSecretAccessKey, reportAWSAccountID, creator$p, TAG_INTEGER, TAG_OCTET_STRING, TAG_NULL, TAG_OID, TAG_SEQUENCE, TAG_CONTEXT_0, OID_DATA, OID_SHA1, OID_SHA256, OID_SHA384, OID_SHA512, MAC_HASHES, MAX_MAC_ITERATIONS, GCP_SERVICE_ACCOUNT_P12_PASSWORD, messages$n, creator$o, messages$m, isPackageFile, isNpmrc, creator$n, messages$l, creator$m, messages$k, BUILTIN_IGNORED_PATTERNS$1, creator$l, messages$j, creator$k, messages$i, creator$j, messages$h, creator$i, messages$g, creator$h, messages$f, creator$g, messages$e, creator$f, messages$d, PEM_CONTENT_PATTERN, creator$e, messages$c, creator$d, messages$b, creator$c, messages$a, typeMap, creator$b, messages$9, creator$a, messages$8, creator$9, messages$7, is1PasswordServiceAccountToken, creator$8, messages$6, BUILTIN_IGNORED_PATTERNS, creator$7, messages$5, serviceTokenPattern, batchTokenPattern, recoveryTokenPattern, creator$6, messages$4, prefixToMessageId, creator$5, messages$3, creator$4, messages$2, creator$3, messages$1, creator$2, HTML_COMMENT_REGEXP, parseComments, CommentState, messages, creator$1, rules, creator;
var init_module = __esm({
  "node_modules/@secretlint/secretlint-rule-preset-recommend/module/index.js"() {
    commonjsGlobal = typeof globalThis !== "undefined" ? globalThis : typeof window !== "undefined" ? window : typeof global !== "undefined" ? global : typeof self !== "undefined" ? self : {};
    regexpStringMatcher = {};
    lodash_sortby = { exports: {} };
    lodash_sortby.exports;
    regexpParse = {};
    regexpStringMatcherExports = requireRegexpStringMatcher();
    BUILTIN_IGNORED = {
      AWSAccountID: ["AKIAIOSFODNN7EXAMPLE"],
      AWSSecretAccessKey: ["wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"]
    };
    messages$o = {
      AWSAccountID: {
        en: (props) => `found AWS Account ID: ${props.ID}`,
        ja: (props) => `AWS Account ID: ${props.ID} がみつかりました`
      },
      AWSSecretAccessKey: {
        en: (props) => `found AWS Secret Access Key: ${props.KEY}`,
        ja: (props) => `AWS Secret Access Key: ${props.KEY} がみつかりました`
      },
      AWSAccessKeyID: {
        en: (props) => `found AWS Access Key ID: ${props.ID}`,
        ja: (props) => `AWS Access Key Id: ${props.ID} がみつかりました`
      }
    };
    reportAWSAccessKey = ({ t, source, context, options }) => {
      const AWSAccessKeyIDPattern = /\b(A3T[A-Z0-9]|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA)[A-Z0-9]{16}\b/g;
      const results = source.content.matchAll(AWSAccessKeyIDPattern);
      for (const result of results) {
        const index = result.index || 0;
        const match = result[0] || "";
        const range = [index, index + match.length];
        if (BUILTIN_IGNORED.AWSAccountID.includes(match)) {
          continue;
        }
        const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
        if (allowedResults.length > 0) {
          continue;
        }
        context.report({
          message: t("AWSAccessKeyID", {
            ID: match
          }),
          range
        });
      }
    };
    reportAWSSecretAccessKey = ({ t, source, context, options }) => {
      const AWS = "(?:AWS|aws|Aws)?_?";
      const QUOTE = `["']?`;
      const CONNECT = "\\s*(?::|=>|=)\\s*";
      const AWSSecretPatten = new RegExp(String.raw`${QUOTE}${AWS}(?:SECRET|secret|Secret)_?(?:ACCESS|access|Access)_?(?:KEY|key|Key)${QUOTE}${CONNECT}${QUOTE}([A-Za-z0-9/\+=]{40})${QUOTE}\b`, "g");
      const results = source.content.matchAll(AWSSecretPatten);
      for (const result of results) {
        const index = result.index || 0;
        const match = result[1] || "";
        const range = [index, index + match.length];
        if (BUILTIN_IGNORED.AWSSecretAccessKey.includes(match)) {
          continue;
        }
        const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
        if (allowedResults.length > 0) {
          continue;
        }
        context.report({
          message: t("AWSSecretAccessKey", {
            KEY: match
          }),
          range
        });
      }
    };
    reportAWSAccountID = ({ t, source, context, options }) => {
      const AWS = "(AWS|aws|Aws)?_?";
      const QUOTE = `("|')?`;
      const CONNECT = "\\s*(:|=>|=)\\s*";
      const AWSSecretPatten = new RegExp(String.raw`${QUOTE}${AWS}(ACCOUNT|account|Account)_?(ID|id|Id)?${QUOTE}${CONNECT}${QUOTE}[0-9]{4}\-?[0-9]{4}\-?[0-9]{4}${QUOTE}\b`, "g");
      const results = source.content.matchAll(AWSSecretPatten);
      for (const result of results) {
        const index = result.index || 0;
        const match = result[0] || "";
        const range = [index, index + match.length];
        const allowedResults = regexpStringMatcherExports.matchPatterns(match, options.allows);
        if (allowedResults.length > 0) {
          continue;
        }
        context.report({
          message: t("AWSAccountID", {
            ID: match
          }),
          range
        });
      }
    };
    creator$p = {
      messages: messages$o,
      meta: {
        id: "@secretlint/secretlint-rule-aws",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-aws/README.md"
        }
      },
      create(context, options) {
        const normalizedOptions = {
          allows: options.allows || [],
          enableIDScanRule: options.enableIDScanRule ?? false
        };
        const t = context.createTranslator(messages$o);
        return {
          file(source) {
            if (normalizedOptions.enableIDScanRule) {
              reportAWSAccessKey({ t, source, context, options: normalizedOptions });
              reportAWSAccountID({ t, source, context, options: normalizedOptions });
            }
            reportAWSSecretAccessKey({ t, source, context, options: normalizedOptions });
          }
        };
      }
    };
    TAG_INTEGER = 2;
    TAG_OCTET_STRING = 4;
    TAG_NULL = 5;
    TAG_OID = 6;
    TAG_SEQUENCE = 48;
    TAG_CONTEXT_0 = 160;
    OID_DATA = new Uint8Array([42, 134, 72, 134, 247, 13, 1, 7, 1]);
    OID_SHA1 = new Uint8Array([43, 14, 3, 2, 26]);
    OID_SHA256 = new Uint8Array([96, 134, 72, 1, 101, 3, 4, 2, 1]);
    OID_SHA384 = new Uint8Array([96, 134, 72, 1, 101, 3, 4, 2, 2]);
    OID_SHA512 = new Uint8Array([96, 134, 72, 1, 101, 3, 4, 2, 3]);
    MAC_HASHES = [
      { oid: OID_SHA1, hash: { name: "SHA-1", outputSize: 20, blockSize: 64 } },
      { oid: OID_SHA256, hash: { name: "SHA-256", outputSize: 32, blockSize: 64 } },
      { oid: OID_SHA384, hash: { name: "SHA-384", outputSize: 48, blockSize: 128 } },
      { oid: OID_SHA512, hash: { name: "SHA-512", outputSize: 64, blockSize: 128 } }
    ];
    MAX_MAC_ITERATIONS = 1e6;
    GCP_SERVICE_ACCOUNT_P12_PASSWORD = "notasecret";
    messages$n = {
      PrivateKeyP12: {
        en: (props) => `found GCP Service Account's private key(p12): ${props.FILE_NAME}`,
        ja: (props) => `GCPサービスアカウントの秘密鍵(p12) ${props.FILE_NAME} がみつかりました`
      },
      PrivateKeyJSON: {
        en: (props) => `found GCP Service Account's private key(json): ${props.FILE_NAME}`,
        ja: (props) => `GCPサービスアカウントの秘密鍵(json): ${props.FILE_NAME} がみつかりました`
      }
    };
    creator$o = {
      messages: messages$n,
      meta: {
        id: "@secretlint/secretlint-rule-gcp",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["all"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-gcp/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$n);
        ({
          allows: options.allows || []
        });
        return {
          file(source) {
            if (source.ext === ".p12") {
              return reportIfFoundPrivateKeyP12Format({ source, context, t });
            } else if (source.ext === ".json") {
              return reportIfFoundPrivateKeyJSONFormat({ source, context, t });
            }
          }
        };
      }
    };
    messages$m = {
      PackageJSON_xOauthToken: {
        en: (props) => `found GitHub Token: ${props.TOKEN}`,
        ja: (props) => `GitHub Token: ${props.TOKEN} がみつかりました`
      },
      Npmrc_authToken: {
        en: (props) => `found npmrc authToken: ${props.TOKEN}`,
        ja: (props) => `npmrc authToken: ${props.TOKEN} がみつかりました`
      },
      NPM_ACCESS_TOKEN: {
        en: (props) => `found npm access token: ${props.TOKEN}`,
        ja: (props) => `npm access token: ${props.TOKEN} がみつかりました`
      }
    };
    isPackageFile = (filePath) => {
      if (!filePath) {
        return true;
      }
      return filePath.endsWith("package.json") || filePath.endsWith("package-lock.json");
    };
    isNpmrc = (filePath) => {
      if (!filePath) {
        return true;
      }
      return filePath.endsWith(".npmrc");
    };
    creator$n = {
      messages: messages$m,
      meta: {
        id: "@secretlint/secretlint-rule-npm",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-npm/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$m);
        const normalizedOptions = {
          allows: options.allows || []
        };
        return {
          file(source) {
            if (isPackageFile(source.filePath)) {
              reportIfFoundXOauthGitHubToken({ source, options: normalizedOptions, context, t });
            } else if (isNpmrc(source.filePath)) {
              reportIfFound_AuthTokenInNpmrc({ source, options: normalizedOptions, context, t });
            }
            reportIfFound_NPM_ACCESS_TOKEN({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$l = {
      SLACK_TOKEN: {
        en: (props) => `found slack token: ${props.TOKEN}`,
        ja: (props) => `Slackトークン: ${props.TOKEN} がみつかりました`
      },
      IncomingWebhook: {
        en: (props) => `found Slack Incoming Webhook: ${props.URL}`,
        ja: (props) => `SlackのIncoming Webhooks: ${props.TOKEN} がみつかりました`
      }
    };
    creator$m = {
      messages: messages$l,
      meta: {
        id: "@secretlint/secretlint-rule-slack",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-slack/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$l);
        const normalizedOptions = {
          allows: options.allows || []
        };
        return {
          file(source) {
            reportIfFoundRawPrivateKey$1({ source, options: normalizedOptions, context, t });
            reportIfFoundIncomingWebhook({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$k = {
      BasicAuth: {
        en: (props) => `found basic auth credential: ${props.CREDENTIAL}`,
        ja: (props) => `ベーシック認証情報: ${props.CREDENTIAL} がみつかりました`
      }
    };
    BUILTIN_IGNORED_PATTERNS$1 = [
      "localhost",
      "127.0.0.1",
      "password",
      "mypassword",
      "myusername",
      "{password}",
      "${password}",
      "{{password}}",
      "{username}",
      "${username}",
      "{{username}}",
      "YOUR_PASSWORD",
      "YOUR_USERNAME",
      "REPLACE_WITH_PASSWORD",
      "REPLACE_WITH_USERNAME"
    ];
    creator$l = {
      messages: messages$k,
      meta: {
        id: "@secretlint/secretlint-rule-basicauth",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-basicauth/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$k);
        const normalizedOptions = {
          allows: options.allows || []
        };
        return {
          file(source) {
            reportIfFoundBasicAuth({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$j = {
      OPENAI_TOKEN: {
        en: (props) => `found OpenAI API token: ${props.TOKEN}`,
        ja: (props) => `OpenAI API トークン: ${props.TOKEN} がみつかりました`
      }
    };
    creator$k = {
      messages: messages$j,
      meta: {
        id: "@secretlint/secretlint-rule-openai",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-openai/README.md"
        }
      },
      create(context) {
        const t = context.createTranslator(messages$j);
        return {
          file(source) {
            const pattern = /sk-(?:proj|svcacct|admin)-(?:[A-Za-z0-9_-]{74}|[A-Za-z0-9_-]{58})T3BlbkFJ(?:[A-Za-z0-9_-]{74}|[A-Za-z0-9_-]{58})\b|sk-[a-zA-Z0-9]{20}T3BlbkFJ[a-zA-Z0-9]{20}/g;
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const range = [index, index + matchString.length];
              context.report({
                message: t("OPENAI_TOKEN", {
                  TOKEN: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    messages$i = {
      ANTHROPIC_API_KEY: {
        en: (props) => `found Anthropic Claude API key: ${props.KEY}`,
        ja: (props) => `Anthropic Claude API キー: ${props.KEY} がみつかりました`
      }
    };
    creator$j = {
      messages: messages$i,
      meta: {
        id: "@secretlint/secretlint-rule-anthropic",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-anthropic/README.md"
        }
      },
      create(context) {
        const t = context.createTranslator(messages$i);
        return {
          file(source) {
            const pattern = new RegExp("(?<!\\p{L})sk-ant-api0\\d-[A-Za-z0-9_-]{90,128}AA(?![A-Za-z0-9_-])", "gu");
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const range = [index, index + matchString.length];
              context.report({
                message: t("ANTHROPIC_API_KEY", {
                  KEY: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    messages$h = {
      GROQ_API_KEY: {
        en: (props) => `found Groq API key: ${props.KEY}`,
        ja: (props) => `Groq API キー: ${props.KEY} がみつかりました`
      }
    };
    creator$i = {
      messages: messages$h,
      meta: {
        id: "@secretlint/secretlint-rule-groq",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-groq/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$h);
        const normalizedOptions = {
          allows: options?.allows ?? []
        };
        return {
          file(source) {
            const pattern = new RegExp("(?<!\\p{L})gsk_[a-zA-Z0-9]{52}(?![a-zA-Z0-9])", "gu");
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const allowedResults = regexpStringMatcherExports.matchPatterns(matchString, normalizedOptions.allows);
              if (allowedResults.length > 0) {
                continue;
              }
              const range = [index, index + matchString.length];
              context.report({
                message: t("GROQ_API_KEY", {
                  KEY: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    messages$g = {
      HUGGINGFACE_USER_ACCESS_TOKEN: {
        en: (props) => `found Hugging Face User Access Token: ${props.TOKEN}`,
        ja: (props) => `Hugging Face User Access Token: ${props.TOKEN} がみつかりました`
      }
    };
    creator$h = {
      messages: messages$g,
      meta: {
        id: "@secretlint/secretlint-rule-huggingface",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-huggingface/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$g);
        const normalizedOptions = {
          allows: options?.allows ?? []
        };
        return {
          file(source) {
            const pattern = new RegExp("(?<!\\p{L})hf_[a-zA-Z]{34}(?![a-zA-Z])", "gu");
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const allowedResults = regexpStringMatcherExports.matchPatterns(matchString, normalizedOptions.allows);
              if (allowedResults.length > 0) {
                continue;
              }
              const range = [index, index + matchString.length];
              context.report({
                message: t("HUGGINGFACE_USER_ACCESS_TOKEN", {
                  TOKEN: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    messages$f = {
      LINEAR_API_TOKEN: {
        en: (props) => `found linear api token: ${props.ID}`,
        ja: (props) => `linear api token: ${props.ID} がみつかりました`
      }
    };
    creator$g = {
      messages: messages$f,
      meta: {
        id: "@secretlint/secretlint-rule-linear",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-linear/README.md"
        }
      },
      create(context) {
        const t = context.createTranslator(messages$f);
        return {
          file(source) {
            const pattern = new RegExp("(?<!\\p{L})lin_api_[a-zA-Z0-9_]{32,128}(?![a-zA-Z0-9_])", "gu");
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const range = [index, index + matchString.length];
              context.report({
                message: t("LINEAR_API_TOKEN", {
                  ID: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    messages$e = {
      NOTION_INTEGRATION_TOKEN: {
        en: (props) => `found Notion integration token: ${props.TOKEN}`,
        ja: (props) => `Notion integration トークン: ${props.TOKEN} がみつかりました`
      }
    };
    creator$f = {
      messages: messages$e,
      meta: {
        id: "@secretlint/secretlint-rule-notion",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-notion/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$e);
        const normalizedOptions = {
          allows: options.allows ?? []
        };
        return {
          file(source) {
            reportIfFoundToken({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$d = {
      PrivateKey: {
        en: (props) => `found private key: ${props.KEY}`,
        ja: (props) => `秘密鍵: ${props.KEY} がみつかりました`
      }
    };
    PEM_CONTENT_PATTERN = /-----BEGIN[ ]?(?:(?:RSA|DSA|EC|OPENSSH|PGP) )?PRIVATE KEY(?: BLOCK)?-----\n?([A-Za-z0-9+/=\s\\]{100,10000})\n?-----END[ ]?(?:(?:RSA|DSA|EC|OPENSSH|PGP) )?PRIVATE KEY(?: BLOCK)?-----/gm;
    creator$e = {
      messages: messages$d,
      meta: {
        id: "@secretlint/secretlint-rule-privatekey",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-privatekey/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$d);
        const normalizedOptions = {
          allows: options.allows || []
        };
        return {
          file(source) {
            reportIfFoundRawPrivateKey({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$c = {
      SENDGRID_KEY: {
        en: (props) => `found Sendgrid api key: ${props.KEY}`,
        ja: (props) => `Sendgrid APIキーが見つかりました： ${props.KEY}`
      }
    };
    creator$d = {
      messages: messages$c,
      meta: {
        id: "@secretlint/secretlint-rule-sendgrid",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-sendgrid/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$c);
        const normalizedOptions = {
          allows: options.allows || []
        };
        return {
          file(source) {
            reportIfFoundKey$3({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$b = {
      SHOPIFY_KEY: {
        en: (props) => `found Shopify api key: ${props.KEY}`,
        ja: (props) => `Shopify APIキーが見つかりました： ${props.KEY}`
      }
    };
    creator$c = {
      messages: messages$b,
      meta: {
        id: "@secretlint/secretlint-rule-shopify",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-shopify/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$b);
        const normalizedOptions = {
          allows: options.allows || []
        };
        return {
          file(source) {
            reportIfFoundKey$2({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$a = {
      GITHUB_TOKEN: {
        en: (props) => `found GitHub Token(${props.typeName}): ${props.KEY}`,
        ja: (props) => `GitHub Token(${props.typeName})が見つかりました： ${props.KEY}`
      }
    };
    typeMap = /* @__PURE__ */ new Map([
      ["ghp", "GitHub personal access tokens"],
      ["gho", "OAuth access tokens"],
      ["ghu", "GitHub user-to-server tokens"],
      ["ghs", "GitHub server-to-server tokens"],
      ["ghr", "refresh tokens"],
      ["github_pat", "fine-grained personal access tokens"]
    ]);
    creator$b = {
      messages: messages$a,
      meta: {
        id: "@secretlint/secretlint-rule-github",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-github/README.md"
        }
      },
      create(context, options) {
        const CLASSIC_GITHUB_TOKEN_PATTERN = new RegExp("(?<!\\p{L})(?<type>ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9_]{36}(?![A-Za-z0-9_])", "gu");
        const FINE_GRAINED_GITHUB_TOKEN_PATTERN = new RegExp("(?<!\\p{L})(?<type>github_pat)_[A-Za-z0-9_]{82}(?![A-Za-z0-9_])", "gu");
        const patterns = [CLASSIC_GITHUB_TOKEN_PATTERN, FINE_GRAINED_GITHUB_TOKEN_PATTERN];
        const t = context.createTranslator(messages$a);
        const normalizedOptions = {
          allows: options.allows || []
        };
        return {
          file(source) {
            for (const pattern of patterns) {
              reportIfFoundKey$1({ pattern, source, options: normalizedOptions, context, t });
            }
          }
        };
      }
    };
    messages$9 = {
      GITLAB_PERSONAL_ACCESS_TOKEN: {
        en: (props) => `found GitLab Personal Access Token: ${props.KEY}`,
        ja: (props) => `GitLab Personal Access Tokenが見つかりました: ${props.KEY}`
      }
    };
    creator$a = {
      messages: messages$9,
      meta: {
        id: "@secretlint/secretlint-rule-gitlab",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-gitlab/README.md"
        }
      },
      create(context, options) {
        const GITLAB_PERSONAL_ACCESS_TOKEN_PATTERN = new RegExp("(?<!\\p{L})glpat-[A-Za-z0-9_-]{20,128}(?![A-Za-z0-9_-])", "gu");
        const patterns = [GITLAB_PERSONAL_ACCESS_TOKEN_PATTERN];
        const t = context.createTranslator(messages$9);
        const normalizedOptions = {
          allows: options.allows ?? []
        };
        return {
          file(source) {
            for (const pattern of patterns) {
              reportIfFoundKey({ pattern, source, options: normalizedOptions, context, t });
            }
          }
        };
      }
    };
    messages$8 = {
      GRAFANA_CLOUD_API_TOKEN: {
        en: (props) => `found Grafana Cloud API token: ${props.TOKEN}`,
        ja: (props) => `Grafana Cloud API トークン: ${props.TOKEN} がみつかりました`
      },
      GRAFANA_SERVICE_ACCOUNT_TOKEN: {
        en: (props) => `found Grafana Service Account token: ${props.TOKEN}`,
        ja: (props) => `Grafana Service Account トークン: ${props.TOKEN} がみつかりました`
      }
    };
    creator$9 = {
      messages: messages$8,
      meta: {
        id: "@secretlint/secretlint-rule-grafana",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-grafana/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$8);
        const normalizedOptions = {
          allows: options?.allows ?? []
        };
        const GRAFANA_CLOUD_API_TOKEN_PATTERN = new RegExp("(?<!\\p{L})glc_[A-Za-z0-9+/]{32,400}={0,2}(?![A-Za-z0-9+/=])", "gu");
        const GRAFANA_SERVICE_ACCOUNT_TOKEN_PATTERN = new RegExp("(?<!\\p{L})glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}(?![A-Fa-f0-9])", "gu");
        return {
          file(source) {
            reportIfFound({
              pattern: GRAFANA_CLOUD_API_TOKEN_PATTERN,
              messageId: "GRAFANA_CLOUD_API_TOKEN",
              source,
              options: normalizedOptions,
              context,
              t
            });
            reportIfFound({
              pattern: GRAFANA_SERVICE_ACCOUNT_TOKEN_PATTERN,
              messageId: "GRAFANA_SERVICE_ACCOUNT_TOKEN",
              source,
              options: normalizedOptions,
              context,
              t
            });
          }
        };
      }
    };
    messages$7 = {
      OPS_TOKEN: {
        en: (props) => `found 1Password Service Account token: ${props.TOKEN}`,
        ja: (props) => `1Password Service Account: ${props.TOKEN} がみつかりました`
      }
    };
    is1PasswordServiceAccountToken = (base64String) => {
      try {
        const jsonString = atob(base64String.replace(/-/g, "+").replace(/_/g, "/"));
        const json = JSON.parse(jsonString);
        return typeof json === "object" && json !== null;
      } catch (error) {
        return false;
      }
    };
    creator$8 = {
      messages: messages$7,
      meta: {
        id: "@secretlint/secretlint-rule-1password",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-1password/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$7);
        const normalizedOptions = {
          allows: options?.allows ?? []
        };
        return {
          file(source) {
            const pattern = new RegExp("(?<!\\p{L})ops_(ey[A-Za-z0-9+/=]{100,1280}fQ={0,2})(?![A-Za-z0-9+/=])", "gu");
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const base64String = match[1] ?? "";
              if (!is1PasswordServiceAccountToken(base64String)) {
                continue;
              }
              const allowedResults = regexpStringMatcherExports.matchPatterns(matchString, normalizedOptions.allows);
              if (allowedResults.length > 0) {
                continue;
              }
              const range = [index, index + matchString.length];
              context.report({
                message: t("OPS_TOKEN", {
                  TOKEN: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    messages$6 = {
      MongoDBConnection: {
        en: (props) => `found MongoDB connection string: ${props.URI}`,
        ja: (props) => `MongoDB接続文字列: ${props.URI} がみつかりました`
      },
      MySQLConnection: {
        en: (props) => `found MySQL connection string: ${props.URI}`,
        ja: (props) => `MySQL接続文字列: ${props.URI} がみつかりました`
      },
      PostgreSQLConnection: {
        en: (props) => `found PostgreSQL connection string: ${props.URI}`,
        ja: (props) => `PostgreSQL接続文字列: ${props.URI} がみつかりました`
      }
    };
    BUILTIN_IGNORED_PATTERNS = [
      "localhost",
      "127.0.0.1",
      "example.com",
      "example.org",
      "test.com",
      "password",
      "username",
      "secret",
      "mypassword",
      "myusername",
      "root",
      "admin",
      "user",
      "pass",
      "{password}",
      "${password}",
      "{{password}}",
      "{username}",
      "${username}",
      "{{username}}",
      "YOUR_PASSWORD",
      "YOUR_USERNAME",
      "REPLACE_WITH_PASSWORD"
    ];
    creator$7 = {
      messages: messages$6,
      meta: {
        id: "@secretlint/secretlint-rule-database-connection-string",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-database-connection-string/README.md"
        }
      },
      create(context, options) {
        const normalizedOptions = {
          allows: options.allows || []
        };
        const t = context.createTranslator(messages$6);
        return {
          file(source) {
            reportMongoDBConnectionString({ source, options: normalizedOptions, context, t });
            reportMySQLConnectionString({ source, options: normalizedOptions, context, t });
            reportPostgreSQLConnectionString({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$5 = {
      HASHICORP_VAULT_SERVICE_TOKEN: {
        en: (props) => `found HashiCorp Vault service token: ${props.TOKEN}`,
        ja: (props) => `HashiCorp Vault service token: ${props.TOKEN} がみつかりました`
      },
      HASHICORP_VAULT_BATCH_TOKEN: {
        en: (props) => `found HashiCorp Vault batch token: ${props.TOKEN}`,
        ja: (props) => `HashiCorp Vault batch token: ${props.TOKEN} がみつかりました`
      },
      HASHICORP_VAULT_RECOVERY_TOKEN: {
        en: (props) => `found HashiCorp Vault recovery token: ${props.TOKEN}`,
        ja: (props) => `HashiCorp Vault recovery token: ${props.TOKEN} がみつかりました`
      }
    };
    serviceTokenPattern = new RegExp("(?<!\\p{L})hvs\\.[A-Za-z0-9_-]{90,120}(?![A-Za-z0-9_-])", "gu");
    batchTokenPattern = new RegExp("(?<!\\p{L})hvb\\.[A-Za-z0-9_-]{138,300}(?![A-Za-z0-9_-])", "gu");
    recoveryTokenPattern = new RegExp("(?<!\\p{L})hvr\\.[A-Za-z0-9_-]{90,120}(?![A-Za-z0-9_-])", "gu");
    creator$6 = {
      messages: messages$5,
      meta: {
        id: "@secretlint/secretlint-rule-hashicorp-vault",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-hashicorp-vault/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$5);
        const normalizedOptions = {
          allows: options?.allows ?? []
        };
        const reportMatches = (source, pattern, messageId) => {
          const matches = source.content.matchAll(pattern);
          for (const match of matches) {
            const index = match.index ?? 0;
            const matchString = match[0] ?? "";
            const allowedResults = regexpStringMatcherExports.matchPatterns(matchString, normalizedOptions.allows);
            if (allowedResults.length > 0) {
              continue;
            }
            const range = [index, index + matchString.length];
            context.report({
              message: t(messageId, {
                TOKEN: matchString
              }),
              range
            });
          }
        };
        return {
          file(source) {
            reportMatches(source, serviceTokenPattern, "HASHICORP_VAULT_SERVICE_TOKEN");
            reportMatches(source, batchTokenPattern, "HASHICORP_VAULT_BATCH_TOKEN");
            reportMatches(source, recoveryTokenPattern, "HASHICORP_VAULT_RECOVERY_TOKEN");
          }
        };
      }
    };
    messages$4 = {
      VERCEL_PERSONAL_ACCESS_TOKEN: {
        en: (props) => `found Vercel personal access token: ${props.ID}`,
        ja: (props) => `Vercel personal access token: ${props.ID} がみつかりました`
      },
      VERCEL_INTEGRATION_TOKEN: {
        en: (props) => `found Vercel integration token: ${props.ID}`,
        ja: (props) => `Vercel integration token: ${props.ID} がみつかりました`
      },
      VERCEL_APP_ACCESS_TOKEN: {
        en: (props) => `found Vercel app access token: ${props.ID}`,
        ja: (props) => `Vercel app access token: ${props.ID} がみつかりました`
      },
      VERCEL_APP_REFRESH_TOKEN: {
        en: (props) => `found Vercel app refresh token: ${props.ID}`,
        ja: (props) => `Vercel app refresh token: ${props.ID} がみつかりました`
      },
      VERCEL_AI_GATEWAY_API_KEY: {
        en: (props) => `found Vercel AI Gateway API key: ${props.ID}`,
        ja: (props) => `Vercel AI Gateway API key: ${props.ID} がみつかりました`
      }
    };
    prefixToMessageId = {
      vcp: "VERCEL_PERSONAL_ACCESS_TOKEN",
      vci: "VERCEL_INTEGRATION_TOKEN",
      vca: "VERCEL_APP_ACCESS_TOKEN",
      vcr: "VERCEL_APP_REFRESH_TOKEN",
      vck: "VERCEL_AI_GATEWAY_API_KEY"
    };
    creator$5 = {
      messages: messages$4,
      meta: {
        id: "@secretlint/secretlint-rule-vercel",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-vercel/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$4);
        const normalizedOptions = {
          allows: options?.allows ?? []
        };
        return {
          file(source) {
            const pattern = new RegExp("(?<!\\p{L})(?<prefix>vcp|vci|vca|vcr|vck)_[A-Za-z0-9]{20,60}(?![A-Za-z0-9])", "gu");
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const prefix = match.groups?.prefix;
              const messageId = prefixToMessageId[prefix];
              const allowedResults = regexpStringMatcherExports.matchPatterns(matchString, normalizedOptions.allows);
              if (allowedResults.length > 0) {
                continue;
              }
              const range = [index, index + matchString.length];
              context.report({
                message: t(messageId, {
                  ID: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    messages$3 = {
      DATABRICKS_PERSONAL_ACCESS_TOKEN: {
        en: (props) => `found Databricks personal access token: ${props.ID}`,
        ja: (props) => `Databricks personal access token: ${props.ID} がみつかりました`
      }
    };
    creator$4 = {
      messages: messages$3,
      meta: {
        id: "@secretlint/secretlint-rule-databricks",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-databricks/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$3);
        const normalizedOptions = {
          allows: options?.allows ?? []
        };
        return {
          file(source) {
            const pattern = new RegExp("(?<!\\p{L})dapi[A-Fa-f0-9]{32}(?:-[0-9])?(?![A-Fa-f0-9])", "gu");
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const allowedResults = regexpStringMatcherExports.matchPatterns(matchString, normalizedOptions.allows);
              if (allowedResults.length > 0) {
                continue;
              }
              const range = [index, index + matchString.length];
              context.report({
                message: t("DATABRICKS_PERSONAL_ACCESS_TOKEN", {
                  ID: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    messages$2 = {
      DOCKER_PERSONAL_ACCESS_TOKEN: {
        en: (props) => `found Docker Personal Access Token: ${props.TOKEN}`,
        ja: (props) => `Docker Personal Access Token: ${props.TOKEN} がみつかりました`
      }
    };
    creator$3 = {
      messages: messages$2,
      meta: {
        id: "@secretlint/secretlint-rule-docker",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-docker/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$2);
        const normalizedOptions = {
          allows: options.allows || []
        };
        return {
          file(source) {
            reportIfFoundDockerPAT({ source, options: normalizedOptions, context, t });
          }
        };
      }
    };
    messages$1 = {
      FIGMA_PERSONAL_ACCESS_TOKEN: {
        en: (props) => `found Figma Personal Access Token: ${props.ID}`,
        ja: (props) => `Figma Personal Access Token: ${props.ID} がみつかりました`
      }
    };
    creator$2 = {
      messages: messages$1,
      meta: {
        id: "@secretlint/secretlint-rule-figma",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-figma/README.md"
        }
      },
      create(context, options) {
        const t = context.createTranslator(messages$1);
        const normalizedOptions = {
          allows: options?.allows ?? []
        };
        return {
          file(source) {
            const pattern = new RegExp("(?<!\\p{L})figd_[A-Za-z0-9_-]{40,200}(?![A-Za-z0-9_-])", "gu");
            const matches = source.content.matchAll(pattern);
            for (const match of matches) {
              const index = match.index ?? 0;
              const matchString = match[0] ?? "";
              const allowedResults = regexpStringMatcherExports.matchPatterns(matchString, normalizedOptions.allows);
              if (allowedResults.length > 0) {
                continue;
              }
              const range = [index, index + matchString.length];
              context.report({
                message: t("FIGMA_PERSONAL_ACCESS_TOKEN", {
                  ID: matchString
                }),
                range
              });
            }
          }
        };
      }
    };
    HTML_COMMENT_REGEXP = /(?<type>secretlint-(?:disable-next-line|disable-line|disable|enable))(?<options>.*)/g;
    parseComments = (source) => {
      const matches = source.content.matchAll(HTML_COMMENT_REGEXP);
      return Array.from(matches).map((match) => {
        const type = match.groups?.type;
        const index = match.index;
        if (type === "secretlint-disable-line") {
          return {
            type,
            options: parseComment(match.groups?.options),
            line: source.indexToPosition(index).line
          };
        }
        if (type === "secretlint-disable-next-line") {
          return {
            type,
            options: parseComment(match.groups?.options),
            line: source.indexToPosition(index).line + 1
          };
        }
        return {
          type,
          options: parseComment(match.groups?.options),
          index
        };
      });
    };
    CommentState = class {
      source;
      reportingConfig;
      endIndex;
      constructor(source) {
        this.source = source;
        this.reportingConfig = [];
        this.endIndex = source.content.length;
      }
      getIgnoringMessages() {
        const isFilledMessage = (message) => {
          return message.startIndex !== null && message.endIndex !== null && message.ruleId !== null;
        };
        return this.reportingConfig.map((reporting) => {
          if (reporting.endIndex === null) {
            reporting.endIndex = this.endIndex;
          }
          return reporting;
        }).filter(isFilledMessage);
      }
      disableLine(lineNumber, rulesToDisable) {
        const reportingConfig = this.reportingConfig;
        const range = this.source.locationToRange({
          start: {
            line: lineNumber,
            column: 0
          },
          end: {
            line: lineNumber + 1,
            column: 0
          }
        });
        if (rulesToDisable.length) {
          rulesToDisable.forEach((ruleId) => {
            reportingConfig.push({
              startIndex: range[0],
              endIndex: range[1] - 1,
              ruleId
            });
          });
        } else {
          reportingConfig.push({
            startIndex: range[0],
            endIndex: range[1] - 1,
            ruleId: "*"
          });
        }
      }
      /**
       * Add data to reporting configuration to disable reporting for list of rules
       * starting from start location
       * @returns {void}
       */
      disableReporting(startIndex, rulesToDisable) {
        const reportingConfig = this.reportingConfig;
        if (rulesToDisable.length) {
          rulesToDisable.forEach(function(ruleId) {
            reportingConfig.push({
              startIndex,
              endIndex: null,
              ruleId
            });
          });
        } else {
          reportingConfig.push({
            startIndex,
            endIndex: null,
            ruleId: "*"
          });
        }
      }
      /**
       * Add data to reporting configuration to enable reporting for list of rules
       * starting from start location
       */
      enableReporting(endIndex, rulesToEnable) {
        const reportingConfig = this.reportingConfig;
        if (rulesToEnable.length) {
          rulesToEnable.forEach(function(ruleId) {
            for (let i = reportingConfig.length - 1; i >= 0; i--) {
              if (!reportingConfig[i].endIndex && reportingConfig[i].ruleId === ruleId) {
                reportingConfig[i].endIndex = endIndex;
                break;
              }
            }
          });
        } else {
          let prevStart;
          for (let i = reportingConfig.length - 1; i >= 0; i--) {
            if (prevStart && prevStart !== reportingConfig[i].startIndex) {
              break;
            }
            if (!reportingConfig[i].endIndex) {
              reportingConfig[i].endIndex = endIndex;
              prevStart = reportingConfig[i].startIndex;
            }
          }
        }
      }
    };
    messages = {
      IGNORE_MESSAGE: {
        en: () => `disable by secretlint-disable comment`
      }
    };
    creator$1 = {
      messages,
      meta: {
        id: "@secretlint/secretlint-rule-filter-comments",
        recommended: true,
        type: "scanner",
        supportedContentTypes: ["text"],
        docs: {
          url: "https://github.com/secretlint/secretlint/blob/master/packages/%40secretlint/secretlint-rule-filter-comments/README.md"
        }
      },
      create(context) {
        const t = context.createTranslator(messages);
        return {
          file(source) {
            const state = new CommentState(source);
            const comments = parseComments(source);
            for (const comment of comments) {
              if (comment.type === "secretlint-disable") {
                state.disableReporting(comment.index, comment.options);
              } else if (comment.type === "secretlint-enable") {
                state.enableReporting(comment.index, comment.options);
              } else if (comment.type === "secretlint-disable-line") {
                state.disableLine(comment.line, comment.options);
              } else if (comment.type === "secretlint-disable-next-line") {
                state.disableLine(comment.line, comment.options);
              }
            }
            state.getIgnoringMessages().forEach((message) => {
              context.ignore({
                message: t("IGNORE_MESSAGE"),
                range: [message.startIndex, message.endIndex],
                targetRuleId: message.ruleId
              });
            });
          }
        };
      }
    };
    rules = [
      creator$p,
      creator$o,
      creator$e,
      creator$n,
      creator$l,
      creator$m,
      creator$d,
      creator$c,
      creator$b,
      creator$a,
      creator$9,
      creator$k,
      creator$j,
      creator$i,
      creator$h,
      creator$g,
      creator$f,
      creator$8,
      creator$7,
      creator$6,
      creator$5,
      creator$4,
      creator$3,
      creator$2,
      creator$1
    ];
    creator = {
      meta: {
        id: "@secretlint/secretlint-rule-preset-recommend",
        recommended: true,
        type: "preset"
      },
      rules,
      create(context, _options) {
        rules.forEach((rule) => {
          context.registerRule(rule);
        });
      }
    };
  }
});

// src/text/secrets.ts
async function findSecrets(text, load = loadSecretlint) {
  const own = findByOwnRules(text);
  if (!needsSecretlint(text)) return toFindings(text, own);
  try {
    return toFindings(text, [...own, ...await runSecretlint(text, await load())]);
  } catch (error) {
    const kind = error instanceof Error ? error.code ?? error.name : typeof error;
    throw new MemdirError(
      "disk",
      `cannot check the text for secrets: the rules of secretlint did not load or failed (${kind}); reinstall memdir`,
      { details: { findings: toFindings(text, own) } }
    );
  }
}
function redactSecrets(text, findings) {
  let redacted = "";
  let from = 0;
  for (const finding of mergeSpans(findings)) {
    redacted += `${text.slice(from, finding.start)}[redacted: ${finding.rule}]`;
    from = finding.end;
  }
  return redacted + text.slice(from);
}
function needsSecretlint(text) {
  return /\S{20}|xox|xapp-/.test(text);
}
function loadSecretlint() {
  return Promise.resolve().then(() => (init_module(), module_exports));
}
async function runSecretlint(text, { rules: rules2 }) {
  if (rules2.length === 0) throw new Error("no rules");
  const spans = [];
  for (const creator2 of rules2) {
    const name = creator2.meta.id.slice(RULE_PREFIX.length);
    if (LEFT_OUT.has(name)) continue;
    const context = {
      sharedOptions: {},
      createTranslator: () => (messageId) => ({ messageId }),
      ignore() {
      },
      report({ message, range: [start, end] }) {
        if (IGNORED_MESSAGES.has(message.messageId) || isFiller(text.slice(start, end))) return;
        spans.push({ rule: RULE_NAMES[name] ?? name, start, end });
      }
    };
    await creator2.create(context, { enableIDScanRule: true }).file?.(sourceOf2(text));
  }
  return spans;
}
function sourceOf2(content) {
  return { content, filePath: "memory.md", ext: ".md", contentType: "text" };
}
function toFindings(text, spans) {
  let line = 1;
  let from = 0;
  return mergeSpans(spans).map(({ rule, start, end }) => {
    for (let at = text.indexOf("\n", from); at !== -1 && at < start; at = text.indexOf("\n", from)) {
      line++;
      from = at + 1;
    }
    return { rule, line, start, end };
  });
}
function mergeSpans(spans) {
  const merged = [];
  for (const next of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (!last || next.start >= last.end) {
      merged.push({ ...next });
      continue;
    }
    last.end = Math.max(last.end, next.end);
    if (GENERIC_RULES.has(last.rule)) last.rule = next.rule;
  }
  return merged;
}
var RULE_PREFIX, RULE_NAMES, LEFT_OUT, IGNORED_MESSAGES;
var init_secrets = __esm({
  "src/text/secrets.ts"() {
    "use strict";
    init_errors();
    init_secret_rules();
    RULE_PREFIX = "@secretlint/secretlint-rule-";
    RULE_NAMES = {
      "1password": "1password-token",
      anthropic: "anthropic-key",
      aws: "aws-access-key-id",
      databricks: "databricks-token",
      docker: "docker-token",
      figma: "figma-token",
      github: "github-token",
      gitlab: "gitlab-token",
      grafana: "grafana-token",
      groq: "groq-key",
      "hashicorp-vault": "vault-token",
      huggingface: "huggingface-token",
      linear: "linear-token",
      notion: "notion-token",
      npm: "npm-token",
      openai: "openai-key",
      privatekey: "private-key",
      sendgrid: "sendgrid-key",
      shopify: "shopify-token",
      slack: "slack-token",
      vercel: "vercel-token"
    };
    LEFT_OUT = /* @__PURE__ */ new Set(["filter-comments", "gcp", "basicauth", "database-connection-string"]);
    IGNORED_MESSAGES = /* @__PURE__ */ new Set(["AWSAccountID", "AWSSecretAccessKey"]);
  }
});

// src/memory/change.ts
import { lstatSync as lstatSync6, mkdirSync as mkdirSync4 } from "node:fs";
import { dirname as dirname5, join as join13 } from "node:path";
async function withDirectory(directory, work) {
  prepareDirectory(directory);
  const lock = await acquireLock(statePath(directory));
  try {
    checkState(directory);
    recover(directory);
    return await work();
  } catch (error) {
    throw diskError(error, "write in", directory.path);
  } finally {
    lock.release();
  }
}
function applyChange(directory, change) {
  const images = /* @__PURE__ */ new Map();
  const files = [];
  for (const [file, content] of change.writes) {
    resolveInside(directory.path, file);
    const before = findBytes(directory, file);
    if (before && !change.purge) images.set(hashOf(before), before);
    files.push({ file, before: before ? hashOf(before) : null, after: content ? hashOf(content) : null });
  }
  const entry = beginEntry(
    directory,
    {
      action: change.action,
      reason: change.reason,
      files,
      ...change.lines ? { lines: change.lines } : {},
      ...change.undoes ? { undoes: change.undoes } : {},
      ...change.purge ? { purged: true } : {}
    },
    images
  );
  const temporaries = /* @__PURE__ */ new Map();
  let committed = false;
  try {
    for (const [file, content] of change.writes) {
      if (content)
        temporaries.set(file, writeTemporary(statePath(directory, "tmp"), content, modeFor(directory, file)));
    }
    const sync = syncIndex(directory, change.index, () => {
      checkUnchanged(directory, files);
      committed = true;
      moveAll(directory, change.writes, temporaries);
    });
    endEntry(directory, entry.id, "done");
    return { ...sync, entry };
  } catch (error) {
    for (const path14 of temporaries.values()) removeQuietly(path14);
    if (!committed) endEntry(directory, entry.id, "dropped");
    throw error;
  }
}
function checkUnchanged(directory, files) {
  for (const { file, before } of files) {
    const now2 = findBytes(directory, file);
    if ((now2 ? hashOf(now2) : null) !== before) {
      throw new MemdirError(
        "conflict",
        `${file} was changed by another program just now; nothing was written, run the command again`
      );
    }
  }
}
function moveAll(directory, writes, temporaries) {
  const folders = /* @__PURE__ */ new Set();
  for (const [file, content] of writes) {
    const path14 = resolveInside(directory.path, file);
    folders.add(dirname5(path14));
    if (content) {
      mkdirSync4(dirname5(path14), { recursive: true });
      moveInto(temporaries.get(file), path14, false);
    } else removeQuietly(path14);
  }
  for (const folder of folders) syncDirectory(folder);
}
function modeFor(directory, file) {
  const stat = lstatSync6(join13(directory.path, file), { throwIfNoEntry: false });
  return stat?.isFile() ? stat.mode & 511 : fileMode(directory);
}
var init_change = __esm({
  "src/memory/change.ts"() {
    "use strict";
    init_atomic();
    init_fence();
    init_lock();
    init_errors();
    init_directory();
    init_index_sync();
    init_journal();
    init_read();
    init_recover();
  }
});

// src/memory/save.ts
var save_exports = {};
__export(save_exports, {
  saveMemory: () => saveMemory,
  secretError: () => secretError,
  writeMemory: () => writeMemory
});
import { lstatSync as lstatSync7 } from "node:fs";
import { join as join14 } from "node:path";
async function saveMemory(directory, request) {
  if (!isMemoryType(request.type)) {
    throw new MemdirError("usage", `the type "${request.type}" is none of ${MEMORY_TYPES.join(", ")}`);
  }
  const asked = await checkSecrets({
    ...request,
    name: cleanName(request.name),
    description: oneLine(request.description ?? ""),
    body: request.body.replaceAll("\r\n", "\n").trim(),
    when: (request.when ?? []).map(oneLine).filter((cue) => cue !== "")
  });
  if (asked.clean.body === "" && asked.clean.description === "") {
    throw new MemdirError(
      "usage",
      "there is nothing to save: give a body on standard input or with --file, or a --description"
    );
  }
  const notices = [...asked.notices, ...await dateNotices(directory, asked.clean)];
  return withDirectory(directory, () => {
    const place = findPlace(directory, asked.clean.type, asked.clean.name);
    const text = place.old === null ? newText(directory, asked.clean) : updatedText(directory, place.file, place.old, asked.clean);
    const result = writeMemory(directory, place.file, text, { action: "save", reason: request.reason ?? "" });
    return { ...result, notices: [...notices, ...place.notices, ...result.notices] };
  });
}
function writeMemory(directory, file, text, entry) {
  const path14 = join14(directory.path, file);
  const before = findBytes(directory, file)?.toString("utf8") ?? null;
  if (before === text) return { file, path: path14, action: "unchanged", notices: [], undo: null };
  const header = parseMemory(file, text);
  const previous = before === null ? null : parseMemory(file, before);
  const promoted = previous !== null && removeFromOverflow(directory, file);
  const applied = applyChange(directory, {
    ...entry,
    writes: /* @__PURE__ */ new Map([[file, Buffer.from(text)]]),
    index: {
      saved: file,
      change: (index) => putLine(promoted ? recountOverflow(directory, index) : index, header, previous)
    }
  });
  const notices = [...applied.notices, ...lineNotices(directory, header)];
  return { file, path: path14, action: before === null ? "created" : "updated", notices, undo: applied.entry.id };
}
function lineNotices(directory, header) {
  const length = formatIndexLine(header).length;
  if (length <= LONG_LINE) return [];
  directory.log(`${header.file}: index line of ${length} characters`);
  return [`the index line has ${length} characters: a description under 150 leaves room for other memories`];
}
function findPlace(directory, type, name) {
  const notices = sameNameElsewhere(directory, type, name);
  for (const file of otherFileNames(type, name)) {
    const old = readIfSame(directory, file, type, name);
    if (old) return { file, old, notices };
  }
  for (let number = 1; ; number++) {
    const file = fileNameFor(type, name, number);
    if (!lstatSync7(join14(directory.path, file), { throwIfNoEntry: false })) return { file, old: null, notices };
    const old = readIfSame(directory, file, type, name);
    if (old) return { file, old, notices };
  }
}
function readIfSame(directory, file, type, name) {
  if (!lstatSync7(join14(directory.path, file), { throwIfNoEntry: false })?.isFile()) return null;
  const data = findBytes(directory, file);
  if (!data) return null;
  const memory = parseMemory(file, data);
  return sameName(memory.name, name) && (!memory.typeExplicit || memory.type === type) ? data : null;
}
function sameNameElsewhere(directory, type, name) {
  return MEMORY_TYPES.filter((other) => other !== type).flatMap((other) => {
    const file = fileNameFor(other, name);
    return readIfSame(directory, file, other, name) === null ? [] : [`${file} has the same name and the type ${other}: a memory is known by both, so this is another one`];
  });
}
function newText(directory, request) {
  const now2 = directory.now().toISOString();
  const metadata = {
    name: request.name,
    description: request.description,
    type: request.type,
    created: now2,
    modified: now2,
    ...optionalFields(request)
  };
  return formatDocument(metadata, request.body);
}
function optionalFields(request) {
  return {
    ...request.when?.length ? { when: request.when } : {},
    ...request.links?.length ? { links: request.links } : {},
    ...request.pinned === void 0 ? {} : { pinned: String(request.pinned) },
    ...request.source ? { source: formatSource(request.source) } : {}
  };
}
function updatedText(directory, file, old, request) {
  refuseBroken(parseMemory(file, old));
  const text = old.toString("utf8");
  const document = parseDocument(text);
  const fields = { ...request.description ? { description: request.description } : {}, ...optionalFields(request) };
  const edited = editBody(
    document.hasFrontmatter ? editFields(text, fields) : text,
    request.body || document.body
  );
  return edited === text || !document.hasFrontmatter ? edited : editFields(edited, { modified: directory.now().toISOString() });
}
async function checkSecrets(request) {
  const clean = { ...request };
  const found = [];
  const scan2 = async (where, text) => {
    const findings = await findSecrets(text);
    for (const { rule, line } of findings)
      found.push(where === "body" ? `${rule} in line ${line}` : `${rule} in the ${where}`);
    return redactSecrets(text, findings);
  };
  clean.name = await scan2("name", request.name);
  clean.description = await scan2("description", request.description ?? "");
  clean.body = await scan2("body", request.body);
  clean.when = await Promise.all((request.when ?? []).map((cue) => scan2("cues", cue)));
  if (found.length === 0) return { clean: request, notices: [] };
  if (!request.redact) throw secretError(found);
  return { clean, notices: found.map((what) => `masked: ${what}`) };
}
function secretError(found) {
  const what = found.slice(0, 5).join(", ") + (found.length > 5 ? ` and ${found.length - 5} more` : "");
  return new MemdirError(
    "secret",
    `not saved, it holds what looks like a secret: ${what}; take it out, or save with --redact to mask it`,
    {
      details: found
    }
  );
}
async function dateNotices(directory, request) {
  if (request.type !== "project") return [];
  const dates = await findRelativeDates(`${request.body}`, directory.now());
  const inDescription = await findRelativeDates(request.description ?? "", directory.now());
  return [
    ...inDescription.map(
      ({ words, date }) => `description: "${words}" means ${date}; write the date, it is read later`
    ),
    ...dates.map(({ line, words, date }) => `line ${line}: "${words}" means ${date}; write the date, it is read later`)
  ];
}
var LONG_LINE;
var init_save = __esm({
  "src/memory/save.ts"() {
    "use strict";
    init_errors();
    init_frontmatter();
    init_frontmatter_edit();
    init_relative_dates();
    init_secrets();
    init_change();
    init_index_line();
    init_index_sync();
    init_index_text();
    init_memory();
    init_name();
    init_read();
    init_type();
    LONG_LINE = 200;
  }
});

// src/memory/edit.ts
var edit_exports = {};
__export(edit_exports, {
  editMemory: () => editMemory
});
async function editMemory(directory, file, base, text, options = {}) {
  const checked = await checkEdit(file, base, text, options.redact === true);
  return withDirectory(directory, () => {
    const current = findBytes(directory, file);
    if (!current || hashOf(current) !== hashOf(base)) {
      throw new MemdirError(
        "conflict",
        `${file} changed while it was edited: nothing was overwritten; look at it again and repeat the edit`
      );
    }
    const stamped = stamp(directory, base, checked.text);
    const result = writeMemory(directory, file, stamped, { action: "edit", reason: "" });
    return { ...result, notices: [...checked.notices, ...result.notices] };
  });
}
async function checkEdit(file, base, text, redact) {
  const document = parseDocument(text);
  const broken = document.problems[0];
  if (broken && parseDocument(base).problems.length === 0)
    throw new MemdirError("broken", `${file} was not saved, its frontmatter cannot be read: ${broken}`);
  const findings = await findSecrets(text);
  const notices = parseMemory(file, text).problems;
  if (findings.length === 0) return { text, notices };
  const found = findings.map(({ rule, line }) => `${rule} in line ${line}`);
  if (!redact) throw secretError(found);
  return { text: redactSecrets(text, findings), notices: [...notices, ...found.map((what) => `masked: ${what}`)] };
}
function stamp(directory, base, text) {
  const before = parseMemory("x.md", base).modified;
  const unchanged = text === base || parseMemory("x.md", text).modified !== before || before === null;
  return unchanged ? text : editFields(text, { modified: directory.now().toISOString() });
}
var init_edit = __esm({
  "src/memory/edit.ts"() {
    "use strict";
    init_errors();
    init_frontmatter();
    init_frontmatter_edit();
    init_secrets();
    init_change();
    init_journal();
    init_memory();
    init_read();
    init_save();
  }
});

// src/memory/forget.ts
var forget_exports = {};
__export(forget_exports, {
  forgetMemory: () => forgetMemory
});
import { lstatSync as lstatSync8, unlinkSync as unlinkSync3 } from "node:fs";
import { join as join15 } from "node:path";
async function forgetMemory(directory, file, options = {}) {
  return withDirectory(directory, () => {
    const path14 = join15(directory.path, file);
    const stat = lstatSync8(path14, { throwIfNoEntry: false });
    if (!stat) throw new MemdirError("not-found", `${file} is gone already`);
    if (stat.isSymbolicLink()) unlinkSync3(path14);
    const line = removeLines(findBytes(directory, INDEX_FILE)?.toString("utf8") ?? "", file).removed;
    const wasInOverflow = removeFromOverflow(directory, file);
    const applied = applyChange(directory, {
      action: "forget",
      reason: options.reason ?? "",
      writes: new Map(stat.isSymbolicLink() ? [] : [[file, null]]),
      ...line ? { lines: { [file]: line } } : {},
      ...options.purge ? { purge: true } : {},
      index: {
        change: (index) => {
          const { text } = removeLines(index, file);
          return wasInOverflow ? recountOverflow(directory, text) : text;
        }
      }
    });
    if (options.purge) purgeImages(directory, file);
    return { file, action: "removed", undo: options.purge || stat.isSymbolicLink() ? null : applied.entry.id };
  });
}
function purgeImages(directory, file) {
  const entries = readJournal(directory);
  const hashes = (mine) => new Set(
    entries.flatMap(
      (e) => e.files.filter((f) => f.file === file === mine).flatMap((f) => f.before ? [f.before] : [])
    )
  );
  const others = hashes(false);
  for (const hash of hashes(true)) {
    if (others.has(hash)) continue;
    try {
      unlinkSync3(imagePath(directory, hash));
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }
}
var init_forget = __esm({
  "src/memory/forget.ts"() {
    "use strict";
    init_errors();
    init_change();
    init_directory();
    init_index_sync();
    init_index_text();
    init_journal();
    init_read();
  }
});

// src/memory/rename.ts
var rename_exports = {};
__export(rename_exports, {
  renameMemory: () => renameMemory
});
import { lstatSync as lstatSync9 } from "node:fs";
import { join as join16 } from "node:path";
async function renameMemory(directory, file, newName) {
  const name = cleanName(newName);
  const secrets = await findSecrets(name);
  if (secrets.length > 0) throw secretError(secrets.map(({ rule }) => `${rule} in the name`));
  return withDirectory(directory, () => {
    const data = readBytes(directory, file);
    const memory = parseMemory(file, data);
    refuseBroken(memory);
    const text = data.toString("utf8");
    const document = parseDocument(text);
    const folder = file.includes("/") ? file.slice(0, file.lastIndexOf("/") + 1) : "";
    const target = folder + fileNameFor(memory.type, name);
    const path14 = join16(directory.path, target);
    if (target !== file && lstatSync9(path14, { throwIfNoEntry: false })) {
      throw new MemdirError("conflict", `${target} exists already: forget it first, or choose another name`);
    }
    if (target === file && sameName(memory.name, name))
      return { file, path: path14, action: "unchanged", notices: [], undo: null };
    const renamed = document.hasFrontmatter ? editFields(text, { name, modified: directory.now().toISOString() }) : text;
    const next = parseMemory(target, renamed);
    const writes = /* @__PURE__ */ new Map([[target, Buffer.from(renamed)]]);
    if (target !== file) writes.set(file, null);
    const overflow = readOverflow(directory);
    const moved = moveLine(overflow, memory, next);
    if (moved !== overflow) writeOverflow(directory, moved);
    const applied = applyChange(directory, {
      action: "rename",
      reason: "",
      writes,
      index: { saved: target, change: (index) => moveLine(index, memory, next) }
    });
    return {
      file: target,
      path: path14,
      action: "updated",
      notices: [...applied.notices, ...linkNotices(directory, memory.name, file)],
      undo: applied.entry.id
    };
  });
}
function linkNotices(directory, oldName, oldFile) {
  const marks = [`[[${oldName}]]`, `[[${oldFile.replace(/\.md$/, "")}]]`, `](${oldFile})`];
  const linking = scan(directory).memories.map(({ header }) => header.file).filter((file) => {
    try {
      const text = readBytes(directory, file).toString("utf8");
      return marks.some((mark) => text.includes(mark));
    } catch {
      return false;
    }
  });
  return linking.length === 0 ? [] : [`${linking.join(", ")} still link${linking.length === 1 ? "s" : ""} to the old name`];
}
var init_rename = __esm({
  "src/memory/rename.ts"() {
    "use strict";
    init_errors();
    init_frontmatter();
    init_frontmatter_edit();
    init_secrets();
    init_change();
    init_index_sync();
    init_index_text();
    init_memory();
    init_name();
    init_read();
    init_save();
    init_scan();
  }
});

// src/memory/undo.ts
var undo_exports = {};
__export(undo_exports, {
  undoEntry: () => undoEntry
});
async function undoEntry(directory, id) {
  return withDirectory(directory, () => {
    const entry = findEntry(readJournal(directory), id);
    const writes = new Map(
      entry.files.map(({ file, before, after }) => [file, restored(directory, entry.id, file, before, after)])
    );
    const headers = [...writes].map(([file, data]) => ({
      file,
      next: data ? parseHeader(file, data.toString("utf8")) : null,
      previous: currentHeader(directory, file)
    }));
    const dropped = headers.filter(({ next, file }) => next === null && removeFromOverflow(directory, file)).length > 0;
    const applied = applyChange(directory, {
      action: "undo",
      reason: `undo of ${entry.action} ${entry.id}`,
      undoes: entry.id,
      writes,
      index: {
        change: (index) => headers.reduce(
          (text, { file, next, previous }) => next ? putLine(text, next, previous, entry.lines?.[file]) : removeLines(text, file).text,
          dropped ? recountOverflow(directory, index) : index
        )
      }
    });
    return {
      undone: entry.id,
      action: entry.action,
      files: [...writes.keys()],
      undo: applied.entry.id,
      notices: applied.notices
    };
  });
}
function findEntry(entries, id) {
  const entry = id === void 0 ? lastUndoable(entries) : entries.find((e) => e.id === id);
  if (!entry) {
    throw new MemdirError(
      "not-found",
      id === void 0 ? "there is nothing to undo" : `the journal has no entry ${id}: \`memdir history\` lists them`
    );
  }
  if (entry.purged) throw new MemdirError("conflict", `entry ${entry.id} was purged: its content was removed for good`);
  return entry;
}
function restored(directory, id, file, before, after) {
  const current = findBytes(directory, file);
  if ((current ? hashOf(current) : null) !== after) {
    throw new MemdirError(
      "conflict",
      `entry ${id} is not undone: ${file} changed since; undo the later change first, or edit the file by hand`
    );
  }
  if (before === null) return null;
  const data = readImage(directory, before);
  if (!data)
    throw new MemdirError(
      "conflict",
      `entry ${id} cannot be undone: the earlier content of ${file} is no longer in the journal`
    );
  return data;
}
function currentHeader(directory, file) {
  const data = findBytes(directory, file);
  return data ? parseHeader(file, data.toString("utf8")) : null;
}
var init_undo = __esm({
  "src/memory/undo.ts"() {
    "use strict";
    init_errors();
    init_change();
    init_index_sync();
    init_index_text();
    init_journal();
    init_memory();
    init_read();
  }
});

// src/memory/prune.ts
var prune_exports = {};
__export(prune_exports, {
  pruneMemories: () => pruneMemories
});
async function pruneMemories(directory, request) {
  const { rows } = await listMemories(directory);
  const memories = rows.filter(
    (row) => row.type === request.type && row.type !== "feedback" && !row.pinned && row.problems.length === 0 && row.ageDays > request.olderThanDays
  );
  if (request.dryRun || memories.length === 0) return { memories, undo: null };
  return withDirectory(directory, () => {
    const files = memories.map((row) => row.file);
    for (const file of files) removeFromOverflow(directory, file);
    const applied = applyChange(directory, {
      action: "prune",
      reason: `${request.type} memories older than ${request.olderThanDays} days`,
      writes: new Map(files.map((file) => [file, null])),
      index: {
        change: (index) => recountOverflow(
          directory,
          files.reduce((text, file) => removeLines(text, file).text, index)
        )
      }
    });
    return { memories, undo: applied.entry.id };
  });
}
var init_prune = __esm({
  "src/memory/prune.ts"() {
    "use strict";
    init_change();
    init_index_sync();
    init_index_text();
    init_list();
  }
});

// src/memory/index-rebuild.ts
var index_rebuild_exports = {};
__export(index_rebuild_exports, {
  rebuildIndex: () => rebuildIndex
});
import { lstatSync as lstatSync10 } from "node:fs";
import { join as join17 } from "node:path";
async function rebuildIndex(directory) {
  return withDirectory(directory, () => {
    const overflow = readOverflow(directory);
    const kept = withoutDead(directory, overflow);
    if (kept !== overflow) writeOverflow(directory, kept);
    return syncIndex(directory, {
      everything: true,
      change: (text) => recountOverflow(directory, withoutDead(directory, text))
    });
  });
}
function withoutDead(directory, text) {
  const seen = /* @__PURE__ */ new Set();
  return splitLines(text).filter((line) => {
    const file = parseIndexLine(line)?.file;
    if (file === void 0 || file === OVERFLOW_FILE) return true;
    if (!lstatSync10(join17(directory.path, file), { throwIfNoEntry: false })) return false;
    const twice = seen.has(line.trimEnd());
    seen.add(line.trimEnd());
    return !twice;
  }).join("");
}
var init_index_rebuild = __esm({
  "src/memory/index-rebuild.ts"() {
    "use strict";
    init_change();
    init_directory();
    init_index_line();
    init_index_sync();
    init_index_text();
  }
});

// src/memory/lint.ts
var lint_exports = {};
__export(lint_exports, {
  lintDirectory: () => lintDirectory
});
async function lintDirectory(directory) {
  const problems = [];
  for (const { header } of scan(directory).memories) {
    problems.push(...await lintMemory(directory, header.file));
  }
  return [...problems, ...lintIndex(directory)];
}
async function lintMemory(directory, file) {
  const found = [];
  const add = (rule, message, line = null) => found.push({ file, line, rule, message });
  let memory;
  try {
    memory = readMemory(directory, file);
  } catch (error) {
    return [{ file, line: null, rule: "unreadable", message: error.message }];
  }
  for (const problem of memory.problems) add("format", problem);
  if (memory.metadata.name === void 0) add("name", "no name: the file's stem is used");
  else if (memory.name !== stemOf(file) && !isDerived(memory.name, file))
    add("name", `the name does not match the file name ${stemOf(file)}`);
  if (memory.description === "")
    add("description", "no description: the index line says nothing, and recall finds it harder");
  if (memory.typeExplicit && (memory.type === "feedback" || memory.type === "project")) {
    if (!/\*\*why:?\*\*|^#+\s*why\b/im.test(memory.body))
      add("why", "no **Why:** line: without the reason nobody can judge an edge case");
    if (!/\*\*how to apply:?\*\*|^#+\s*how to apply\b/im.test(memory.body)) add("how", "no **How to apply:** line");
  }
  if (memory.body.length > MAX_BODY_CHARS)
    add("size", `${memory.body.length} characters: one memory per file, split it`);
  if (memory.type === "project") {
    const said = memory.modified ?? memory.created;
    for (const { line, words, date } of await findRelativeDates(memory.body, said ? new Date(said) : directory.now())) {
      add("relative-date", `"${words}" meant ${date}: write the date`, line);
    }
  }
  for (const { rule, line } of await findSecrets(memory.body))
    add("secret", `looks like a secret (${rule}): take it out`, line);
  return found;
}
function isDerived(name, file) {
  const words = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  const stem = words(stemOf(file).replace(/^(user|feedback|project|reference)[-_]/, "")).replace(/\d+$/, "");
  return stem !== "" && words(name).startsWith(stem);
}
function lintIndex(directory) {
  const text = findBytes(directory, INDEX_FILE)?.toString("utf8") ?? "";
  const found = [];
  let prose = 0;
  for (const [at, line] of splitLines(text).entries()) {
    const add = (rule, message) => found.push({ file: INDEX_FILE, line: at + 1, rule, message });
    const parsed = parseIndexLine(line);
    if (line.trimEnd().length > MAX_LINE_CHARS)
      add("index-line-length", `${line.trimEnd().length} characters, keep it under ${MAX_LINE_CHARS}`);
    if (parsed && findBytes(directory, parsed.file) === null)
      add("index-dangling", `points to ${parsed.file}, which does not exist`);
    if (!parsed && line.trim() !== "" && !/^(#{1,6}\s|<!--|---)/.test(line.trim()) && ++prose === 4) {
      add("index-prose", "the index holds text of its own: it is a list of pointers, put the text into a memory");
    }
  }
  return found;
}
var MAX_BODY_CHARS, MAX_LINE_CHARS;
var init_lint = __esm({
  "src/memory/lint.ts"() {
    "use strict";
    init_relative_dates();
    init_secrets();
    init_directory();
    init_index_line();
    init_index_text();
    init_memory();
    init_read();
    init_scan();
    MAX_BODY_CHARS = 8e3;
    MAX_LINE_CHARS = 200;
  }
});

// src/memory/doctor.ts
var doctor_exports = {};
__export(doctor_exports, {
  examine: () => examine2
});
import { execFile as execFile2 } from "node:child_process";
import { accessSync, constants as constants3, existsSync as existsSync4 } from "node:fs";
async function examine2(directories, surroundings) {
  const own = directories.filter((directory) => !directory.readOnly);
  const perDirectory = await Promise.all(own.map(examineDirectory));
  return [...examineProject(surroundings), examineLocks(), ...perDirectory.flat()];
}
function examineProject({ warnings, older, orphans }) {
  const checks = warnings.map((warning) => check2("settings", false, warning, "follow the advice in the message"));
  if (warnings.length === 0) checks.push(check2("settings", true, "nothing was refused", null));
  for (const { dir, layout } of older) {
    checks.push(check2("older-layout", false, `memories in ${dir} (${layout}) are only read`, `memdir adopt ${dir}`));
  }
  for (const { dir, memories, recordedRoot, reason, sure } of orphans) {
    const whose = recordedRoot ? `of ${recordedRoot}, which is gone` : "of an unknown project";
    const why = {
      "root-commit": "the same first commit",
      remote: "the same remote",
      name: "only the same folder name"
    }[reason];
    checks.push(
      check2(
        "orphan",
        false,
        `${memories} memories ${whose}, in ${dir} (${why}${sure ? "" : ", not certain"})`,
        `memdir adopt ${dir}`
      )
    );
  }
  if (orphans.length === 0) checks.push(check2("orphan", true, "no memories of a moved project were found", null));
  return checks;
}
function examineLocks() {
  return loadNative() ? check2("locks", true, "kernel locks are available", null) : check2(
    "locks",
    false,
    "the native module did not load: slower pid files are used",
    "reinstall memdir on this platform"
  );
}
async function examineDirectory(directory) {
  const at = `${directory.scope}: `;
  if (!existsSync4(directory.path))
    return [check2("directory", true, `${at}${directory.path} is made with the first save`, null)];
  const checks = [examineAccess(directory, at)];
  const { rows, skipped } = await listMemories(directory);
  const broken = rows.filter((row) => row.problems.length > 0);
  checks.push(
    check2(
      "memories",
      broken.length === 0,
      `${at}${rows.length} memories${broken.length ? `, ${broken.length} with problems: ${names(broken.map((row) => row.file))}` : ""}`,
      "memdir lint"
    )
  );
  if (skipped.length > 0)
    checks.push(
      check2("skipped", false, `${at}${names(skipped.map((s) => `${s.path} (${s.reason})`))}`, "move it elsewhere")
    );
  const view = loadIndex(directory, { generate: false });
  checks.push(
    check2(
      "index",
      view.warning === null,
      `${at}${view.lines} lines, ${view.chars} characters`,
      "memdir index --rebuild"
    )
  );
  const dangling = (await lintDirectory(directory)).filter(
    (problem) => problem.rule === "index-dangling" || problem.rule === "secret"
  );
  for (const { rule, file, line, message } of dangling) {
    checks.push(
      check2(
        rule,
        false,
        `${at}${file}:${line}: ${message}`,
        rule === "secret" ? `memdir edit ${file}` : "memdir index --rebuild"
      )
    );
  }
  checks.push(
    check2("recovery", !needsRecovery(directory), `${at}no interrupted change is left`, "run any memdir command again")
  );
  if (directory.inRepository && await isIgnored(directory.path)) {
    checks.push(
      check2(
        "ignored",
        false,
        `${at}${directory.path} is ignored by git: nobody else will see these memories`,
        "take it out of .gitignore"
      )
    );
  }
  return checks;
}
function examineAccess(directory, at) {
  try {
    accessSync(directory.path, constants3.R_OK | constants3.W_OK | constants3.X_OK);
    return check2("directory", true, `${at}${directory.path}`, null);
  } catch {
    return check2(
      "directory",
      false,
      `${at}${directory.path} cannot be written`,
      "check its owner and mode, or choose another with --memory-dir"
    );
  }
}
function isIgnored(path14) {
  return new Promise((done) => {
    execFile2(
      "git",
      ["-C", path14, "check-ignore", "-q", "--no-index", "x.md"],
      { timeout: 2e3, windowsHide: true },
      (error) => done(error === null)
    );
  });
}
function check2(name, ok, detail, fix) {
  return { name, ok, detail, fix: ok ? null : fix };
}
function names(all) {
  return all.length > 5 ? `${all.slice(0, 5).join(", ")} and ${all.length - 5} more` : all.join(", ");
}
var init_doctor = __esm({
  "src/memory/doctor.ts"() {
    "use strict";
    init_native();
    init_index_load();
    init_lint();
    init_list();
    init_recover();
  }
});

// src/memory/adopt.ts
var adopt_exports = {};
__export(adopt_exports, {
  adoptMemories: () => adoptMemories
});
import { existsSync as existsSync5 } from "node:fs";
import { join as join18 } from "node:path";
async function adoptMemories(directory, from) {
  return withDirectory(directory, () => {
    const writes = /* @__PURE__ */ new Map();
    const present = [];
    const names3 = /* @__PURE__ */ new Map();
    for (const file of walk(from.path, from.recursive).files) {
      const data = readBytes(from, file);
      const name = freeName(directory, file, data, writes);
      if (name === null) present.push(file);
      else {
        writes.set(name, data);
        names3.set(file, name);
      }
    }
    const theirs = findBytes(from, INDEX_FILE)?.toString("utf8") ?? "";
    const applied = writes.size === 0 ? null : applyChange(directory, {
      action: "adopt",
      reason: `from ${from.path}`,
      writes,
      index: { change: (index) => mergeIndex(index, theirs, names3, writes) }
    });
    return {
      from: from.path,
      adopted: [...writes.keys()],
      present,
      undo: applied?.entry.id ?? null,
      notices: applied?.notices ?? []
    };
  });
}
function freeName(directory, file, data, taken) {
  for (let number = 1; ; number++) {
    const name = number === 1 ? file : file.replace(/\.md$/, `_${number}.md`);
    const there = taken.get(name) ?? findBytes(directory, name);
    if (!there) {
      if (!existsSync5(join18(directory.path, name))) return name;
    } else if (hashOf(there) === hashOf(data)) return null;
  }
}
function mergeIndex(index, theirs, names3, writes) {
  const lines = splitLines(theirs).map((line) => line.trimEnd());
  let out = index;
  for (const [file, name] of names3) {
    const header = parseHeader(name, writes.get(name));
    const line = file === name ? lines.find((l) => parseIndexLine(l)?.file === file) : void 0;
    out = putLine(out, header, null, { text: line ?? formatIndexLine(header), after: "" });
  }
  const there = new Set(splitLines(out).map((line) => line.trimEnd()));
  const own = lines.filter((line) => line !== "" && parseIndexLine(line) === null && !there.has(line));
  return own.length === 0 ? out : `${out}${out === "" || out.endsWith("\n") ? "" : "\n"}${own.join("\n")}
`;
}
var init_adopt = __esm({
  "src/memory/adopt.ts"() {
    "use strict";
    init_change();
    init_directory();
    init_index_line();
    init_index_text();
    init_journal();
    init_memory();
    init_read();
    init_walk();
  }
});

// src/open.ts
import { join as join19 } from "node:path";
async function openMemdir(options) {
  const env = options.env ?? processEnv();
  const { config, location } = findPlace2(options, env);
  const { main, directories, older } = findDirectories(options, config, location);
  for (const directory of directories) repairDirectory(directory);
  const isProject = main.path === location.dir;
  const ownerWarning = isProject ? await findOwnerWarning(location, env) : null;
  const warnings = [...config.problems, ...locationWarnings(location), ...ownerWarning ? [ownerWarning] : []];
  const find = (name) => findMemory(directories, name);
  const survey = async () => {
    const listings = await Promise.all(directories.map(listMemories));
    return { rows: listings.flatMap((l) => l.rows), skipped: listings.flatMap((l) => l.skipped) };
  };
  const signed = (directory, result) => directory === main || result.undo === null ? result : { ...result, undo: `${directory.scope}:${result.undo}` };
  const claimed = async (result) => {
    const done = await result;
    if (isProject) await claimDirectory(location, env, main);
    return done;
  };
  const findAdoptable = async () => {
    const identity = await identifyProject(location.project, env);
    return { orphans: findOrphans({ config, identity, dir: location.dir }), older };
  };
  return {
    location,
    config,
    directories,
    warnings,
    save: async (request) => claimed((await Promise.resolve().then(() => (init_save(), save_exports))).saveMemory(main, request)),
    list: async (filter = {}) => (await survey()).rows.filter((row) => !filter.type || row.type === filter.type),
    survey,
    show: async (name) => {
      const { directory, file } = find(name);
      return showMemory(directory, file);
    },
    text: async (name) => {
      const { directory, file } = find(name);
      return { file, path: join19(directory.path, file), text: readBytes(directory, file).toString("utf8") };
    },
    edit: async (name, base, text, edits) => {
      const { directory, file } = find(name);
      const { editMemory: editMemory2 } = await Promise.resolve().then(() => (init_edit(), edit_exports));
      return signed(directory, await editMemory2(directory, file, base, text, edits));
    },
    forget: async (name, forgets) => {
      const { directory, file } = find(name);
      const { forgetMemory: forgetMemory2 } = await Promise.resolve().then(() => (init_forget(), forget_exports));
      return signed(directory, await forgetMemory2(directory, file, forgets));
    },
    rename: async (name, newName) => {
      const { directory, file } = find(name);
      const { renameMemory: renameMemory2 } = await Promise.resolve().then(() => (init_rename(), rename_exports));
      return signed(directory, await renameMemory2(directory, file, newName));
    },
    search: (query) => search(directories, query),
    history: async (name) => {
      const isNamed = (file) => file === name || file.replace(/\.md$/, "") === name;
      return journalOf(directories).filter(
        ({ files }) => name === void 0 || files.some(({ file }) => isNamed(file))
      );
    },
    undo: async (id) => {
      const { undoEntry: undoEntry2 } = await Promise.resolve().then(() => (init_undo(), undo_exports));
      const { directory, entry } = findJournal(directories, id);
      return signed(directory, await undoEntry2(directory, entry));
    },
    prune: async (request) => (await Promise.resolve().then(() => (init_prune(), prune_exports))).pruneMemories(main, request),
    index: async () => loadIndex(main, { generate: true }),
    rebuildIndex: async () => {
      const { rebuildIndex: rebuildIndex2 } = await Promise.resolve().then(() => (init_index_rebuild(), index_rebuild_exports));
      const { notices } = await rebuildIndex2(main);
      return { ...loadIndex(main, { generate: false }), notices };
    },
    context: async (touched) => buildStartContext(main, location, config, warnings, touched),
    lint: async () => {
      const { lintDirectory: lintDirectory2 } = await Promise.resolve().then(() => (init_lint(), lint_exports));
      const lintOne = async (d) => (await lintDirectory2(d)).map((problem) => ({ ...problem, scope: d.scope }));
      return (await Promise.all(directories.map(lintOne))).flat();
    },
    doctor: async () => {
      const { examine: examine3 } = await Promise.resolve().then(() => (init_doctor(), doctor_exports));
      return examine3(directories, { warnings, ...await findAdoptable() });
    },
    findAdoptable,
    adopt: async (from) => {
      const { adoptMemories: adoptMemories2 } = await Promise.resolve().then(() => (init_adopt(), adopt_exports));
      const recursive = older.find(({ dir }) => dir === from)?.recursive ?? !from.endsWith("projects");
      return claimed(adoptMemories2(main, { ...main, path: from, readOnly: true, recursive }));
    },
    settle: (way) => settleOwner(way, location, config, env, main.now),
    trust: ({ revoke }) => trustDirectory(location, config, revoke)
  };
}
function findPlace2(options, env) {
  const here = findProject(options.cwd);
  const sources = options.settingSources ? { settingSources: options.settingSources } : {};
  const config = readConfig({ cwd: options.cwd, env, projectRoot: here.worktreeRoot ?? here.cwd, ...sources });
  return { config, location: locate({ cwd: options.cwd, config, memoryDir: options.memoryDir }) };
}
function findDirectories(options, config, location) {
  const context = { config, project: location.project, dir: location.dir };
  const open2 = (scope, readOnly = false, recursive = true) => ({
    path: scope.dir,
    scope: scope.scope,
    inRepository: scope.committable,
    readOnly,
    recursive,
    limits: config.index,
    ageDays: config.ageDays,
    now: options.now ?? (() => /* @__PURE__ */ new Date()),
    by: options.by ?? "library",
    log: options.log ?? (() => {
    })
  });
  const main = open2(scopeDirectory(options.scope ?? "project", context));
  const others = options.scope ? [] : listScopes(context).map((scope) => open2(scope));
  const older = main.path === location.dir && location.source === "computed" ? findOlderDirectories({ config, project: location.project, dir: location.dir }) : [];
  const olderScope = { scope: "project", insideRepository: false, committable: false };
  const directories = [
    main,
    ...others.filter((directory) => directory.path !== main.path),
    ...older.map(({ dir, recursive }) => open2({ ...olderScope, dir }, true, recursive))
  ];
  return { main, directories, older };
}
async function search(directories, query) {
  const words = searchWords(query);
  if (words.length === 0) throw new MemdirError("usage", "give at least one word to search for");
  const found = await Promise.all(
    directories.map(async (directory) => {
      const { rows } = await listMemories(directory);
      return rows.flatMap((row) => {
        const hit = row.unreadable ? null : matchMemory(readMemory(directory, row.file), words);
        return hit ? [{ ...row, ...hit }] : [];
      });
    })
  );
  return found.flat().sort((a, b) => b.score - a.score || a.ageDays - b.ageDays || (a.file < b.file ? -1 : 1));
}
function journalOf(directories) {
  const all = directories.flatMap(
    (directory, at) => readJournal(directory).map((entry) => at === 0 ? entry : { ...entry, id: `${directory.scope}:${entry.id}` })
  );
  return all.sort((a, b) => a.at < b.at ? -1 : a.at > b.at ? 1 : 0);
}
function findJournal(directories, id) {
  const [main] = directories;
  if (id === void 0) {
    const lasts = directories.map((directory2) => ({ directory: directory2, at: lastUndoable(readJournal(directory2))?.at ?? "" }));
    const latest = lasts.reduce((a, b) => b.at > a.at ? b : a);
    return { directory: latest.directory, entry: void 0 };
  }
  const colon = id.lastIndexOf(":");
  const scope = id.slice(0, Math.max(0, colon));
  const directory = scope === "" ? main : directories.find((d) => d.scope === scope);
  if (!directory) throw new MemdirError("not-found", `the journal has no entry ${id}: \`memdir history\` lists them`);
  return { directory, entry: id.slice(colon + 1) };
}
function locationWarnings({ rejected, untrusted }) {
  const warnings = rejected.map(({ via, value, reason }) => `${via} (${JSON.stringify(value)}) is not used: ${reason}`);
  if (untrusted) {
    warnings.push(
      `${untrusted.via} asks for the memory directory ${untrusted.dir}, outside the repository; it is not used until you run \`memdir trust\``
    );
  }
  return warnings;
}
var init_open = __esm({
  "src/open.ts"() {
    "use strict";
    init_config();
    init_start();
    init_errors();
    init_find();
    init_index_load();
    init_journal();
    init_list();
    init_read();
    init_repair();
    init_search();
    init_claim();
    init_locate();
    init_older();
    init_orphans();
    init_owner();
    init_root();
    init_scopes();
  }
});

// src/cli/commands.ts
var COMMON_OPTIONS, TYPE, REDACT, COMMANDS;
var init_commands = __esm({
  "src/cli/commands.ts"() {
    "use strict";
    COMMON_OPTIONS = {
      cwd: { value: "DIR", help: "the project to work on (default: here)" },
      "memory-dir": { value: "DIR", help: "use this memory directory instead of the project's" },
      scope: { value: "SCOPE", help: "user, project, team or agent:NAME (default: all for reading, project for writing)" },
      json: { help: "one JSON value on standard output, nothing else" },
      help: { short: "h", help: "this text" }
    };
    TYPE = { value: "TYPE", help: "user, feedback, project or reference" };
    REDACT = { help: "mask secrets instead of refusing" };
    COMMANDS = [
      {
        name: "console",
        usage: "",
        summary: "a console on this project's memory; on a pipe it reads lines and ends with the input",
        options: {},
        arguments: { min: 0, max: 0 },
        example: 'echo "remember that releases are cut on Tuesdays" | memdir'
      },
      {
        name: "save",
        usage: "--type TYPE --name NAME [-]",
        summary: "saves a memory; the same name again updates it",
        options: {
          type: TYPE,
          name: { value: "NAME", help: "a short title" },
          description: { value: "TEXT", help: "one line for the index: what it is about" },
          when: {
            value: "CUE",
            multiple: true,
            help: "a situation in which it should come to mind; may be given several times"
          },
          file: { value: "FILE", help: "read the body from this file; - is standard input" },
          pin: { help: "keep its line in the index when others must go" },
          source: { value: "WHO", help: "who said it: user, inferred, tool or document" },
          reason: { value: "TEXT", help: "a note for the journal" },
          redact: REDACT
        },
        arguments: { min: 0, max: 1 },
        example: 'echo "Use pnpm, never npm." | memdir save --type feedback --name "use pnpm" --description "Package manager"'
      },
      {
        name: "list",
        usage: "",
        summary: "lists memories of all scopes",
        options: { type: TYPE },
        arguments: { min: 0, max: 0 },
        example: "memdir list --type feedback"
      },
      {
        name: "show",
        usage: "NAME",
        summary: "shows one memory; NAME is a file name, a stem or a name",
        options: {},
        arguments: { min: 1, max: 1 },
        example: 'memdir show "use pnpm"'
      },
      {
        name: "edit",
        usage: "NAME",
        summary: "opens a memory in $VISUAL or $EDITOR and checks it on close",
        options: { redact: REDACT },
        arguments: { min: 1, max: 1 },
        example: 'EDITOR=nano memdir edit "use pnpm"'
      },
      {
        name: "forget",
        usage: "NAME",
        summary: "removes a memory and its index line; undo brings it back",
        options: {
          reason: { value: "TEXT", help: "a note for the journal" },
          purge: { help: "for good: also removes its earlier versions from the journal" }
        },
        arguments: { min: 1, max: 1 },
        example: 'memdir forget "use pnpm"'
      },
      {
        name: "rename",
        usage: "NAME NEW",
        summary: "gives a memory a new name",
        options: {},
        arguments: { min: 2, max: 2 },
        example: 'memdir rename "use pnpm" "package manager is pnpm"'
      },
      {
        name: "search",
        usage: "WORDS",
        summary: "finds every memory that holds the words, best first",
        options: {},
        arguments: { min: 1, max: 64 },
        example: "memdir search deploy staging"
      },
      {
        name: "index",
        usage: "",
        summary: "shows what the model sees of MEMORY.md",
        options: { rebuild: { help: "give every memory its line again, take out dead ones" } },
        arguments: { min: 0, max: 0 },
        example: "memdir index --rebuild"
      },
      {
        name: "context",
        usage: "",
        summary: "shows what a host loads at start: instructions and the index",
        options: {
          touch: { value: "FILE", multiple: true, help: "a file that is read or written then" },
          "add-dir": { value: "DIR", multiple: true, help: "a further directory, as for Claude Code" },
          "setting-sources": { value: "LIST", help: "which settings count: user,project,local" }
        },
        arguments: { min: 0, max: 0 },
        example: "memdir context --json"
      },
      {
        name: "history",
        usage: "[NAME]",
        summary: "lists changes, newest last",
        options: {},
        arguments: { min: 0, max: 1 },
        example: "memdir history"
      },
      {
        name: "undo",
        usage: "[ID]",
        summary: "takes one change back, whole; without ID the last one",
        options: {},
        arguments: { min: 0, max: 1 },
        example: "memdir undo 17"
      },
      {
        name: "prune",
        usage: "",
        summary: "forgets old memories as one change that undo takes back; never feedback or pinned ones",
        options: {
          "older-than": { value: "DAYS", help: "how old (default: 90)" },
          type: { value: "TYPE", help: "only this type: project (default), reference or user" },
          suggest: { help: "only say what would go" }
        },
        arguments: { min: 0, max: 0 },
        example: "memdir prune --suggest"
      },
      {
        name: "lint",
        usage: "",
        summary: "checks form and wording of memories and index; exit code 1 if there is something to mend",
        options: {},
        arguments: { min: 0, max: 0 },
        example: "memdir lint"
      },
      {
        name: "doctor",
        usage: "",
        summary: "checks the installation and the directory: permissions, index, older layouts, moved projects",
        options: {},
        arguments: { min: 0, max: 0 },
        example: "memdir doctor"
      },
      {
        name: "adopt",
        usage: "[DIR]",
        summary: "takes over the memories of a moved or renamed project, or settles who owns a directory",
        options: {
          separate: { help: "two projects share this directory by accident: give this one its own" },
          share: { help: "two projects share this directory: that is fine" },
          keep: { help: "the directory's former project is gone: it belongs to this one now" }
        },
        arguments: { min: 0, max: 1 },
        example: "memdir adopt"
      },
      {
        name: "trust",
        usage: "",
        summary: "allows this repository's settings to use a memory directory outside it",
        options: { revoke: { help: "take the permission back" } },
        arguments: { min: 0, max: 0 },
        example: "memdir trust"
      },
      {
        name: "completion",
        usage: "SHELL",
        summary: "prints a completion script for bash, zsh or fish",
        options: {},
        arguments: { min: 1, max: 1 },
        example: 'eval "$(memdir completion bash)"'
      }
    ];
  }
});

// src/cli/list.ts
var list_exports = {};
__export(list_exports, {
  plainRow: () => plainRow,
  run: () => run
});
function plainRow(row) {
  const type = row.typeExplicit ? `[${row.type}] ` : "";
  return `    ${type}${row.name}${row.description === "" ? "" : ` — ${row.description}`}`;
}
function rowLine(row, color) {
  const scope = row.scope === "project" ? "" : `${row.scope}, `;
  const line = `${plainRow(row)} ${color.dim(`(${scope}${ageInWords(row.ageDays)})`)}`;
  return row.problems.length === 0 ? line : `${line}
        ${color.yellow(`${row.file}: ${row.problems.join("; ")}`)}`;
}
var run;
var init_list2 = __esm({
  "src/cli/list.ts"() {
    "use strict";
    init_errors();
    init_age();
    init_type();
    run = async (call) => {
      const type = call.value("type");
      if (type !== void 0 && !isMemoryType(type)) {
        throw new MemdirError("usage", `the type "${type}" is none of ${MEMORY_TYPES.join(", ")}`);
      }
      const memdir = await call.open();
      const { rows, skipped } = await memdir.survey();
      const shown = rows.filter((row) => type === void 0 || row.type === type);
      if (call.json) {
        call.terminal.json(shown);
        return 0;
      }
      if (shown.length === 0) {
        call.terminal.print("No memories saved yet.");
        call.terminal.print(
          call.terminal.color.dim('Save one: echo "Use pnpm." | memdir save --type feedback --name "use pnpm"')
        );
      } else {
        call.terminal.print(`${shown.length} ${shown.length === 1 ? "memory" : "memories"}:`);
        for (const row of shown) call.terminal.print(rowLine(row, call.terminal.color));
      }
      for (const { path: path14, reason } of skipped) call.terminal.warn(`memdir: note: ${path14} is passed over: ${reason}`);
      return 0;
    };
  }
});

// src/cli/save.ts
var save_exports2 = {};
__export(save_exports2, {
  printSaved: () => printSaved,
  run: () => run2
});
import { readFileSync as readFileSync10 } from "node:fs";
import { resolve as resolve2 } from "node:path";
async function readBody(call) {
  const file = call.value("file");
  if (file !== void 0 && file !== "-") {
    const path14 = resolve2(call.cwd, file);
    try {
      return readFileSync10(path14, "utf8");
    } catch (error) {
      throw new MemdirError("usage", `--file: ${diskError(error, "read", path14).message}`, { cause: error });
    }
  }
  const asked = file === "-" || call.args[0] === "-";
  return asked || !process.stdin.isTTY ? call.terminal.readInput() : "";
}
function printSaved(call, result) {
  if (call.json) {
    call.terminal.json(result);
    return;
  }
  const undo = result.undo === null ? "" : call.terminal.color.dim(`   (memdir undo ${result.undo})`);
  call.terminal.print(`${result.action} ${result.file}${undo}`);
  for (const notice of result.notices) call.terminal.warn(`memdir: note: ${notice}`);
}
var run2;
var init_save2 = __esm({
  "src/cli/save.ts"() {
    "use strict";
    init_errors();
    run2 = async (call) => {
      const type = call.value("type");
      const name = call.value("name");
      if (type === void 0 || name === void 0) {
        throw new MemdirError("usage", `--${type === void 0 ? "type" : "name"} is missing; see memdir save --help`);
      }
      if (call.args[0] !== void 0 && call.args[0] !== "-") {
        throw new MemdirError(
          "usage",
          `"${call.args[0]}" is not understood: the body comes from standard input or with --file`
        );
      }
      const memdir = await call.open();
      const result = await memdir.save({
        type,
        name,
        body: await readBody(call),
        when: call.values("when"),
        redact: call.flag("redact"),
        ...call.value("description") === void 0 ? {} : { description: call.value("description") },
        ...call.flag("pin") ? { pinned: true } : {},
        ...call.value("source") === void 0 ? {} : { source: { by: call.value("source"), session: null, message: null } },
        ...call.value("reason") === void 0 ? {} : { reason: call.value("reason") }
      });
      printSaved(call, result);
      return 0;
    };
  }
});

// src/cli/show.ts
var show_exports = {};
__export(show_exports, {
  printMemory: () => printMemory,
  run: () => run3
});
function printMemory(memory, terminal) {
  const { bold, dim, yellow } = terminal.color;
  const type = memory.typeExplicit ? `[${memory.type}] ` : "";
  terminal.print(`${type}${bold(memory.name)}${memory.description === "" ? "" : ` — ${memory.description}`}`);
  terminal.print(dim(`${memory.path}, ${memory.scope}, ${ageInWords(memory.ageDays)}`));
  for (const cue of memory.when) terminal.print(dim(`when: ${cue}`));
  for (const problem of memory.problems) terminal.print(yellow(`problem: ${problem}`));
  terminal.print(`
${memory.body}`);
}
var run3;
var init_show = __esm({
  "src/cli/show.ts"() {
    "use strict";
    init_age();
    run3 = async (call) => {
      const memdir = await call.open();
      const memory = await memdir.show(call.args[0]);
      if (call.json) call.terminal.json(memory);
      else printMemory(memory, call.terminal);
      return 0;
    };
  }
});

// src/cli/console-line.ts
async function answerLine(line, memdir, terminal) {
  const text = line.trim();
  const [, command = "", rest = ""] = /^(\/?\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  if (text === "") return "stay";
  if (/^\/(exit|quit)$/.test(command)) return "leave";
  const answer = ANSWERS[command.toLowerCase()];
  if (answer) await answer(rest.trim(), memdir, terminal);
  else if (command.startsWith("/"))
    throw new MemdirError("usage", `there is no ${command} here; /help lists what you can type`);
  else terminal.print("This console only keeps memories for now: type remember …, forget … or /help.");
  return "stay";
}
async function answerMemory(rest, memdir, terminal) {
  const [verb = "", ...words] = rest.split(/\s+/);
  if (verb === "") return listMemories2(memdir, terminal);
  const text = words.join(" ");
  if (verb === "list") return listMemories2(memdir, terminal);
  if (verb === "show" && text === "") {
    const { index } = await memdir.index();
    terminal.print(index === "" ? "MEMORY.md is empty." : index);
  } else if (verb === "show") printMemory(await memdir.show(text), terminal);
  else if (verb === "save") {
    const [first = "", ...more] = words;
    const named = isMemoryType(first);
    const body = named ? more.join(" ") : text;
    if (body === "")
      throw new MemdirError(
        "usage",
        "the call is /memory save TYPE TEXT, such as: /memory save feedback never commit to main"
      );
    await saveText(named ? first : guessType(body), body, memdir, terminal);
  } else
    throw new MemdirError("usage", `/memory ${verb} is not known: there are /memory, /memory show and /memory save`);
}
async function listMemories2(memdir, terminal) {
  const rows = await memdir.list();
  if (rows.length === 0) {
    terminal.print("No memories saved yet.");
    return;
  }
  terminal.print(`${rows.length} ${rows.length === 1 ? "memory" : "memories"}:`);
  for (const row of rows) terminal.print(plainRow(row));
}
async function saveText(type, text, memdir, terminal) {
  const name = text.split(/\s+/).slice(0, 8).join(" ").replace(/[.,;:!?]+$/, "").slice(0, 80);
  const source = { by: "user", session: null, message: null };
  const result = await memdir.save({ type, name, description: text.slice(0, 140), body: text, source });
  printSaved({ json: false, terminal }, result);
  terminal.print(terminal.color.dim(`    saved as ${type}; memdir edit ${result.file} changes it`));
}
async function answerForget(rest, memdir, terminal) {
  const said = rest.replace(/^(that|about|the memory)\s+/i, "").trim();
  if (said === "") throw new MemdirError("usage", "say which memory to forget; /memory lists them");
  const file = await findForgettable(said, memdir);
  const { undo } = await memdir.forget(file);
  terminal.print(`removed ${file}; /undo brings it back${undo === null ? "" : ` (entry ${undo})`}`);
}
async function findForgettable(said, memdir) {
  try {
    return (await memdir.show(said)).file;
  } catch (error) {
    if (!(error instanceof MemdirError) || error.code !== "not-found") throw error;
    const hits = await memdir.search(said);
    const best = hits.filter((hit) => hit.score === hits[0]?.score);
    if (best.length === 1 && best[0]) return best[0].file;
    if (best.length === 0) throw error;
    const list = best.slice(0, 5).map((hit) => hit.file).join(", ");
    throw new MemdirError("ambiguous", `several memories could be meant: ${list}; say forget and one of these names`);
  }
}
function guessType(text) {
  if (/https?:\/\/|\b(tracked|documented|found|lives?|dashboards?|runbooks?|wiki|channel)\b.*\b(in|at|on)\b/i.test(text))
    return "reference";
  if (/\b(never|always|don'?t|do not|stop|avoid|prefer to|use\b.*\b(instead|not)|instead of|must|should)\b/i.test(text))
    return "feedback";
  if (/^(i\b|i'm|my\b|me\b|we call me|the user\b)/i.test(text)) return "user";
  return "project";
}
var HELP, ANSWERS;
var init_console_line = __esm({
  "src/cli/console-line.ts"() {
    "use strict";
    init_errors();
    init_type();
    init_list2();
    init_save2();
    init_show();
    HELP = `/memory                   lists what is remembered
/memory show [NAME]       one memory, or MEMORY.md as the model sees it
/memory save TYPE TEXT    saves a memory (${MEMORY_TYPES.join(", ")})
remember TEXT             saves a memory, the type is guessed
forget NAME               removes a memory
/search WORDS             finds memories
/undo                     takes the last change back
/exit                     leaves; so does Ctrl-D`;
    ANSWERS = {
      "/help": async (_, __, terminal) => terminal.print(HELP),
      "/memory": answerMemory,
      "/search": async (rest, memdir, terminal) => {
        const hits = await memdir.search(rest);
        for (const hit of hits) terminal.print(`    ${hit.name}: ${hit.line}`);
        if (hits.length === 0) terminal.print("Nothing found.");
      },
      "/undo": async (rest, memdir, terminal) => {
        const { action, files } = await memdir.undo(rest === "" ? void 0 : rest);
        terminal.print(`undid ${action}: ${files.join(", ")}`);
      },
      remember: async (rest, memdir, terminal) => {
        const said = rest.replace(/^(that|to|:)\s*/i, "").trim();
        if (said === "")
          throw new MemdirError("usage", "say what to remember, such as: remember that releases are cut on Tuesdays");
        await saveText(guessType(said), said, memdir, terminal);
      },
      forget: answerForget
    };
  }
});

// src/cli/console.ts
var console_exports = {};
__export(console_exports, {
  run: () => run4
});
import { createInterface } from "node:readline";
async function greet(memdir, terminal) {
  const { bold, dim, yellow } = terminal.color;
  const { rows, skipped } = await memdir.survey();
  const view = await memdir.index();
  const { maxLines, maxChars } = memdir.config.index;
  terminal.print(`${bold("memdir")} on ${memdir.location.project.root}`);
  terminal.print(dim(`  directory  ${memdir.location.dir}`));
  if (rows.length === 0) {
    terminal.print("No memories saved yet.");
    terminal.print(`Type ${bold("remember that …")} to save the first one, or ${bold("/help")}.`);
  } else {
    terminal.print(dim(`  memories   ${countByType(rows, terminal.color)}`));
    terminal.print(dim(`  index      ${view.lines} of ${maxLines} lines, ${view.chars} of ${maxChars} characters`));
  }
  const broken = rows.filter((row) => row.problems.length > 0).length;
  if (broken > 0) terminal.print(yellow(`  ${broken} with problems: memdir lint`));
  if (skipped.length > 0) terminal.print(yellow(`  ${skipped.length} entries passed over: memdir doctor`));
  if (view.warning) terminal.print(yellow(`  ${view.warning.message}`));
  if (rows.length > 0) terminal.print(dim("  /help lists what you can type"));
}
function countByType(rows, color) {
  const parts = MEMORY_TYPES.map((type) => ({ type, count: rows.filter((row) => row.type === type).length })).filter(({ count }) => count > 0).map(({ type, count }) => `${count} ${type}`);
  return `${color.bold(String(rows.length))}: ${parts.join(", ")}`;
}
var run4;
var init_console = __esm({
  "src/cli/console.ts"() {
    "use strict";
    init_errors();
    init_type();
    init_console_line();
    run4 = async (call) => {
      const memdir = await call.open();
      await greet(memdir, call.terminal);
      const interactive = call.terminal.interactive;
      const lines = createInterface({
        input: process.stdin,
        output: interactive ? process.stdout : void 0,
        terminal: interactive,
        prompt: "> "
      });
      let code = 0;
      if (interactive) lines.prompt();
      for await (const line of lines) {
        try {
          if (await answerLine(line, memdir, call.terminal) === "leave") break;
        } catch (error) {
          if (!(error instanceof MemdirError)) throw error;
          call.terminal.warn(`memdir: ${error.message}`);
          code = interactive ? 0 : 2;
        }
        if (interactive) lines.prompt();
      }
      lines.close();
      if (interactive) call.terminal.print("");
      return code;
    };
  }
});

// src/cli/edit.ts
var edit_exports2 = {};
__export(edit_exports2, {
  run: () => run5
});
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync as readFileSync11, rmSync, writeFileSync as writeFileSync2 } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join as join20 } from "node:path";
function runEditor(path14) {
  const env = processEnv();
  const editor = env.VISUAL || env.EDITOR;
  if (!editor) throw new MemdirError("usage", "no editor is set: run it as EDITOR=nano memdir edit NAME");
  const [program = "", ...args] = editor.match(/"[^"]*"|\S+/g)?.map((word) => word.replace(/^"|"$/g, "")) ?? [];
  const result = spawnSync(program, [...args, path14], { stdio: "inherit" });
  if (result.error)
    throw new MemdirError("usage", `the editor "${editor}" could not be started: set EDITOR to another one`, {
      cause: result.error
    });
  if (result.status !== 0)
    throw new MemdirError("usage", `the editor ended with code ${result.status}: nothing was changed`);
}
var run5;
var init_edit2 = __esm({
  "src/cli/edit.ts"() {
    "use strict";
    init_config();
    init_errors();
    init_save2();
    run5 = async (call) => {
      const name = call.args[0];
      const memdir = await call.open();
      const { file, text } = await memdir.text(name);
      const folder = mkdtempSync(join20(tmpdir(), "memdir-edit-"));
      const copy = join20(folder, basename(file));
      writeFileSync2(copy, text, { mode: 384 });
      runEditor(copy);
      const edited = readFileSync11(copy, "utf8");
      try {
        printSaved(call, await memdir.edit(file, text, edited, { redact: call.flag("redact") }));
      } catch (error) {
        if (error instanceof MemdirError && error.code !== "secret") {
          throw new MemdirError(error.code, `${error.message}; your text is in ${copy}`, { cause: error });
        }
        rmSync(folder, { recursive: true, force: true });
        throw error;
      }
      rmSync(folder, { recursive: true, force: true });
      return 0;
    };
  }
});

// src/cli/forget.ts
var forget_exports2 = {};
__export(forget_exports2, {
  run: () => run6
});
var run6;
var init_forget2 = __esm({
  "src/cli/forget.ts"() {
    "use strict";
    run6 = async (call) => {
      const memdir = await call.open();
      const reason = call.value("reason");
      const result = await memdir.forget(call.args[0], {
        purge: call.flag("purge"),
        ...reason === void 0 ? {} : { reason }
      });
      if (call.json) call.terminal.json(result);
      else
        call.terminal.print(
          `removed ${result.file}${result.undo === null ? "" : `; memdir undo ${result.undo} brings it back`}`
        );
      return 0;
    };
  }
});

// src/cli/rename.ts
var rename_exports2 = {};
__export(rename_exports2, {
  run: () => run7
});
var run7;
var init_rename2 = __esm({
  "src/cli/rename.ts"() {
    "use strict";
    init_save2();
    run7 = async (call) => {
      const memdir = await call.open();
      printSaved(call, await memdir.rename(call.args[0], call.args[1]));
      return 0;
    };
  }
});

// src/cli/search.ts
var search_exports = {};
__export(search_exports, {
  run: () => run8
});
var run8;
var init_search2 = __esm({
  "src/cli/search.ts"() {
    "use strict";
    run8 = async (call) => {
      const memdir = await call.open();
      const hits = await memdir.search(call.args.join(" "));
      if (call.json) {
        call.terminal.json(hits);
        return 0;
      }
      if (hits.length === 0) call.terminal.print("Nothing found.");
      for (const hit of hits) {
        call.terminal.print(`[${hit.type}] ${call.terminal.color.bold(hit.name)} ${call.terminal.color.dim(hit.file)}`);
        call.terminal.print(`    ${hit.line}`);
      }
      return 0;
    };
  }
});

// src/cli/index-command.ts
var index_command_exports = {};
__export(index_command_exports, {
  run: () => run9
});
var run9;
var init_index_command = __esm({
  "src/cli/index-command.ts"() {
    "use strict";
    run9 = async (call) => {
      const memdir = await call.open();
      const rebuilt = call.flag("rebuild") ? await memdir.rebuildIndex() : null;
      const view = rebuilt ?? await memdir.index();
      if (call.json) {
        call.terminal.json(view);
        return 0;
      }
      const { maxLines, maxChars } = memdir.config.index;
      call.terminal.print(view.index === "" ? "MEMORY.md is empty." : view.index);
      if (view.warning) call.terminal.print(`
> ${view.warning.message}`);
      const overflow = view.overflow.length === 0 ? "" : `, ${view.overflow.length} more on the overflow page`;
      call.terminal.warn(
        call.terminal.color.dim(`${view.lines} of ${maxLines} lines, ${view.chars} of ${maxChars} characters${overflow}`)
      );
      for (const notice of rebuilt?.notices ?? []) call.terminal.warn(`memdir: note: ${notice}`);
      return 0;
    };
  }
});

// src/cli/context.ts
var context_exports = {};
__export(context_exports, {
  run: () => run10
});
import { resolve as resolve3 } from "node:path";
function readSources(call) {
  const list = call.value("setting-sources");
  if (list === void 0) return {};
  const names3 = list.split(",").map((name) => name.trim()).filter((name) => name !== "");
  const bad = names3.find((name) => !SOURCES.some((source) => source === name));
  if (bad !== void 0) throw new MemdirError("usage", `--setting-sources: "${bad}" is none of ${SOURCES.join(", ")}`);
  return { settingSources: SOURCES.filter((source) => names3.includes(source)) };
}
var run10, SOURCES;
var init_context = __esm({
  "src/cli/context.ts"() {
    "use strict";
    init_config();
    init_errors();
    init_open();
    run10 = async (call) => {
      const memdir = await openMemdir({
        cwd: call.cwd,
        env: processEnv(),
        by: "cli",
        memoryDir: call.value("memory-dir"),
        scope: call.value("scope"),
        ...readSources(call)
      });
      const touched = call.values("touch").map((file) => resolve3(call.cwd, file));
      const context = await memdir.context(touched);
      if (call.json) {
        call.terminal.json(context);
        return 0;
      }
      for (const warning2 of context.warnings) call.terminal.warn(`memdir: warning: ${warning2}`);
      for (const { path: path14, label, size } of context.instructions)
        call.terminal.print(`${path14} (${label}): ${size} characters`);
      const { dir, index, warning } = context.memory;
      if (dir === null) call.terminal.print(`memory is off: ${memdir.config.disabled}`);
      else call.terminal.print(`${dir}/MEMORY.md: ${index === null ? "no index" : `${index.split("\n").length} lines`}`);
      if (warning) call.terminal.print(`> ${warning.message}`);
      return 0;
    };
    SOURCES = ["user", "project", "local"];
  }
});

// src/cli/history.ts
var history_exports = {};
__export(history_exports, {
  run: () => run11
});
var run11;
var init_history = __esm({
  "src/cli/history.ts"() {
    "use strict";
    run11 = async (call) => {
      const memdir = await call.open();
      const entries = await memdir.history(call.args[0]);
      if (call.json) {
        call.terminal.json(
          entries.map(({ id, at, action, files, by, reason, undoes }) => ({
            id,
            at,
            action,
            files: files.map((f) => f.file),
            by,
            reason,
            ...undoes ? { undoes } : {}
          }))
        );
        return 0;
      }
      if (entries.length === 0) call.terminal.print("No changes yet.");
      for (const { id, at, action, files, by, reason } of entries) {
        const names3 = files.slice(0, 3).map((f) => f.file).join(", ") + (files.length > 3 ? ` and ${files.length - 3} more` : "");
        call.terminal.print(
          `${id.padStart(5)}  ${at.slice(0, 16).replace("T", " ")}  ${action.padEnd(6)}  ${names3}  ${call.terminal.color.dim(`${by}${reason === "" ? "" : `: ${reason}`}`)}`
        );
      }
      return 0;
    };
  }
});

// src/cli/undo.ts
var undo_exports2 = {};
__export(undo_exports2, {
  run: () => run12
});
var run12;
var init_undo2 = __esm({
  "src/cli/undo.ts"() {
    "use strict";
    run12 = async (call) => {
      const memdir = await call.open();
      const result = await memdir.undo(call.args[0]);
      if (call.json) call.terminal.json(result);
      else {
        call.terminal.print(`undid ${result.action} ${result.undone}: ${result.files.join(", ")}`);
        for (const notice of result.notices) call.terminal.warn(`memdir: note: ${notice}`);
      }
      return 0;
    };
  }
});

// src/cli/prune.ts
var prune_exports2 = {};
__export(prune_exports2, {
  run: () => run13
});
var DEFAULT_DAYS, run13;
var init_prune2 = __esm({
  "src/cli/prune.ts"() {
    "use strict";
    init_errors();
    init_type();
    DEFAULT_DAYS = 90;
    run13 = async (call) => {
      const days = Number(call.value("older-than") ?? DEFAULT_DAYS);
      if (!Number.isInteger(days) || days < 1)
        throw new MemdirError("usage", "--older-than takes a whole number of days, from 1");
      const type = call.value("type") ?? "project";
      if (!isMemoryType(type) || type === "feedback")
        throw new MemdirError("usage", "--type takes project, reference or user: feedback is never pruned");
      const memdir = await call.open();
      const result = await memdir.prune({ type, olderThanDays: days, dryRun: call.flag("suggest") });
      if (call.json) {
        call.terminal.json(result);
        return 0;
      }
      for (const { file, ageDays } of result.memories)
        call.terminal.print(`${call.flag("suggest") ? "would forget" : "forgot"} ${file} (${ageDays} days old)`);
      if (result.memories.length === 0) call.terminal.print(`No ${type} memory is older than ${days} days.`);
      if (result.undo !== null) call.terminal.print(`memdir undo ${result.undo} brings them back`);
      return 0;
    };
  }
});

// src/cli/lint.ts
var lint_exports2 = {};
__export(lint_exports2, {
  run: () => run14
});
var run14;
var init_lint2 = __esm({
  "src/cli/lint.ts"() {
    "use strict";
    run14 = async (call) => {
      const memdir = await call.open();
      const problems = await memdir.lint();
      if (call.json) call.terminal.json({ problems });
      else {
        for (const { file, line, rule, message } of problems)
          call.terminal.print(
            `${file}${line === null ? "" : `:${line}`}: ${message} ${call.terminal.color.dim(`(${rule})`)}`
          );
        call.terminal.print(problems.length === 0 ? "Nothing to mend." : `${problems.length} to mend`);
      }
      return problems.length === 0 ? 0 : 1;
    };
  }
});

// src/cli/doctor.ts
var doctor_exports2 = {};
__export(doctor_exports2, {
  run: () => run15
});
var run15;
var init_doctor2 = __esm({
  "src/cli/doctor.ts"() {
    "use strict";
    run15 = async (call) => {
      const memdir = await call.open();
      const checks = await memdir.doctor();
      const failed = checks.filter((check3) => !check3.ok);
      if (call.json) call.terminal.json({ checks });
      else {
        const { green, yellow, dim } = call.terminal.color;
        for (const { name, ok, detail, fix } of checks) {
          call.terminal.print(`${ok ? green("ok ") : yellow("!! ")} ${name}: ${detail}`);
          if (fix) call.terminal.print(dim(`    ${fix}`));
        }
        call.terminal.print(failed.length === 0 ? "All is well." : `${failed.length} to look at`);
      }
      return failed.length === 0 ? 0 : 1;
    };
  }
});

// src/cli/adopt.ts
var adopt_exports2 = {};
__export(adopt_exports2, {
  run: () => run16
});
import { resolve as resolve4 } from "node:path";
async function findSources(memdir) {
  const { orphans, older } = await memdir.findAdoptable();
  const unsure = orphans.filter((orphan) => !orphan.sure);
  const sure = [...orphans.filter((orphan) => orphan.sure), ...older].map(({ dir }) => dir);
  if (sure.length === 0 && unsure.length > 0) {
    const list = unsure.map(({ dir, recordedRoot }) => `${dir} (${recordedRoot ?? "unknown project"})`).join(", ");
    throw new MemdirError(
      "ambiguous",
      `only directories that might be this project's were found: ${list}; name the right one: memdir adopt DIR`
    );
  }
  return sure;
}
var run16;
var init_adopt2 = __esm({
  "src/cli/adopt.ts"() {
    "use strict";
    init_errors();
    run16 = async (call) => {
      const ways = ["separate", "share", "keep"].filter((way2) => call.flag(way2));
      if (ways.length > 1 || ways.length === 1 && call.args.length > 0) {
        throw new MemdirError("usage", "give one of --separate, --share, --keep, or a directory");
      }
      const memdir = await call.open();
      const way = ways[0];
      if (way) {
        const settled = await memdir.settle(way);
        if (call.json) call.terminal.json(settled);
        else call.terminal.print(settled.message);
        return 0;
      }
      const named = call.args[0];
      const sources = named === void 0 ? await findSources(memdir) : [resolve4(call.cwd, named)];
      const results = [];
      for (const source of sources) results.push(await memdir.adopt(source));
      if (call.json) {
        call.terminal.json(results);
        return 0;
      }
      for (const { from, adopted, present, undo, notices } of results) {
        const already = present.length === 0 ? "" : `, ${present.length} were here already`;
        call.terminal.print(
          `took over ${adopted.length} memories from ${from}${already}${undo === null ? "" : `; memdir undo ${undo} takes it back`}`
        );
        for (const notice of notices) call.terminal.warn(`memdir: note: ${notice}`);
      }
      if (results.length === 0)
        call.terminal.print("There is nothing to adopt: no moved project and no older directory was found.");
      return 0;
    };
  }
});

// src/cli/trust.ts
var trust_exports = {};
__export(trust_exports, {
  run: () => run17
});
var run17;
var init_trust = __esm({
  "src/cli/trust.ts"() {
    "use strict";
    run17 = async (call) => {
      const memdir = await call.open();
      const result = memdir.trust({ revoke: call.flag("revoke") });
      if (call.json) call.terminal.json(result);
      else call.terminal.print(result.message);
      return 0;
    };
  }
});

// src/cli/completion.ts
var completion_exports = {};
__export(completion_exports, {
  run: () => run18
});
function quote2(text) {
  return `'${text.replaceAll("'", "\\'")}'`;
}
var run18, names2, optionsOf, SCRIPTS;
var init_completion = __esm({
  "src/cli/completion.ts"() {
    "use strict";
    init_errors();
    init_commands();
    run18 = async (call) => {
      const shell = call.args[0];
      const script = SCRIPTS[shell];
      if (!script) throw new MemdirError("usage", `no completion for "${shell}": choose bash, zsh or fish`);
      call.terminal.print(script());
      return 0;
    };
    names2 = () => COMMANDS.map((c) => c.name).join(" ");
    optionsOf = (options) => Object.keys({ ...options, ...COMMON_OPTIONS }).map((name) => `--${name}`).join(" ");
    SCRIPTS = {
      bash: () => `_memdir() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${names2()}" -- "$word")); return; fi
  case "\${COMP_WORDS[1]}" in
${COMMANDS.map((c) => `    ${c.name}) COMPREPLY=($(compgen -W "${optionsOf(c.options)}" -- "$word")) ;;`).join("\n")}
  esac
}
complete -o default -F _memdir memdir`,
      zsh: () => `autoload -U +X bashcompinit && bashcompinit
${SCRIPTS.bash?.() ?? ""}`,
      fish: () => COMMANDS.flatMap((c) => [
        `complete -c memdir -n __fish_use_subcommand -a ${c.name} -d ${quote2(c.summary)}`,
        ...Object.entries({ ...c.options, ...COMMON_OPTIONS }).map(
          ([name, { help }]) => `complete -c memdir -n "__fish_seen_subcommand_from ${c.name}" -l ${name} -d ${quote2(help)}`
        )
      ]).join("\n")
    };
  }
});

// src/cli/run.ts
init_config();
init_errors();
init_open();
init_commands();
import { parseArgs } from "node:util";

// src/cli/help.ts
init_commands();
function generalHelp(color) {
  const width = Math.max(...COMMANDS.map((c) => c.name.length));
  const lines = COMMANDS.map((c) => `  ${c.name.padEnd(width)}  ${c.summary}`);
  return [
    "memdir: a memory for coding agents, in plain Markdown files",
    "",
    `${color.bold("usage")}: memdir [command] [options]     without a command: the console`,
    "",
    ...lines,
    "",
    optionLines(COMMON_OPTIONS),
    "  --version          the version",
    "",
    "memdir COMMAND --help tells more. Exit codes: 0 done, 1 a check found problems, 2 bad input, 3 disk or lock failed."
  ].join("\n");
}
function commandHelp(command, color) {
  const name = command.name === "console" ? "memdir" : `memdir ${command.name}`;
  const own = Object.keys(command.options).length > 0 ? [optionLines(command.options), ""] : [];
  return [
    command.summary,
    "",
    `${color.bold("usage")}: ${`${name} ${command.usage}`.trim()} [options]`,
    "",
    ...own,
    optionLines(COMMON_OPTIONS),
    "",
    `${color.bold("example")}: ${command.example}`
  ].join("\n");
}
function optionLines(options) {
  const heads = Object.entries(options).map(([name, { value, short }]) => {
    const shortForm = short ? `-${short}, ` : "";
    return `${shortForm}--${name}${value ? ` ${value}` : ""}`;
  });
  const width = Math.max(17, ...heads.map((head) => head.length));
  return Object.values(options).map(({ help }, i) => `  ${heads[i].padEnd(width)}  ${help}`).join("\n");
}

// src/cli/load.ts
var LOADERS = {
  console: () => Promise.resolve().then(() => (init_console(), console_exports)),
  save: () => Promise.resolve().then(() => (init_save2(), save_exports2)),
  list: () => Promise.resolve().then(() => (init_list2(), list_exports)),
  show: () => Promise.resolve().then(() => (init_show(), show_exports)),
  edit: () => Promise.resolve().then(() => (init_edit2(), edit_exports2)),
  forget: () => Promise.resolve().then(() => (init_forget2(), forget_exports2)),
  rename: () => Promise.resolve().then(() => (init_rename2(), rename_exports2)),
  search: () => Promise.resolve().then(() => (init_search2(), search_exports)),
  index: () => Promise.resolve().then(() => (init_index_command(), index_command_exports)),
  context: () => Promise.resolve().then(() => (init_context(), context_exports)),
  history: () => Promise.resolve().then(() => (init_history(), history_exports)),
  undo: () => Promise.resolve().then(() => (init_undo2(), undo_exports2)),
  prune: () => Promise.resolve().then(() => (init_prune2(), prune_exports2)),
  lint: () => Promise.resolve().then(() => (init_lint2(), lint_exports2)),
  doctor: () => Promise.resolve().then(() => (init_doctor2(), doctor_exports2)),
  adopt: () => Promise.resolve().then(() => (init_adopt2(), adopt_exports2)),
  trust: () => Promise.resolve().then(() => (init_trust(), trust_exports)),
  completion: () => Promise.resolve().then(() => (init_completion(), completion_exports))
};

// src/cli/terminal.ts
function openTerminal(env) {
  const colored = process.stdout.isTTY === true && !env.NO_COLOR;
  return {
    print: (text) => void process.stdout.write(`${text}
`),
    warn: (text) => void process.stderr.write(`${text}
`),
    json: (value) => void process.stdout.write(`${JSON.stringify(value, null, 2)}
`),
    readInput: readStandardInput,
    interactive: process.stdin.isTTY === true && process.stdout.isTTY === true,
    color: colored ? ANSI : PLAIN
  };
}
async function readStandardInput() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
var paint = (open2, close) => (text) => `\x1B[${open2}m${text}\x1B[${close}m`;
var same = (text) => text;
var ANSI = { bold: paint(1, 22), dim: paint(2, 22), yellow: paint(33, 39), green: paint(32, 39) };
var PLAIN = { bold: same, dim: same, yellow: same, green: same };

// src/cli/run.ts
async function runCommandLine(argv) {
  const env = processEnv();
  const terminal = openTerminal(env);
  const json = argv.includes("--json");
  process.stdout.on("error", (error) => process.exit(error.code === "EPIPE" ? 0 : 3));
  try {
    return await dispatch(argv, env, terminal);
  } catch (error) {
    return report(error, { json, debug: Boolean(env.MEMDIR_DEBUG) }, terminal);
  }
}
async function dispatch(argv, env, terminal) {
  const { command, rest } = findCommand(argv);
  if (!command) {
    terminal.print(argv[0] === "--version" ? "0.1.0" : generalHelp(terminal.color));
    return 0;
  }
  const { values, positionals } = readOptions(command, rest);
  if (values.help) {
    terminal.print(commandHelp(command, terminal.color));
    return 0;
  }
  const { min, max } = command.arguments;
  if (positionals.length < min || positionals.length > max) {
    const problem = positionals.length < min ? "an argument is missing" : `"${positionals[max]}" is one argument too many`;
    throw new MemdirError(
      "usage",
      `${problem}: the call is \`memdir ${command.name} ${command.usage}\`; see memdir ${command.name} --help`
    );
  }
  const text = (name) => typeof values[name] === "string" ? values[name] : void 0;
  const cwd = resolveCwd(text("cwd"));
  const call = {
    args: positionals,
    flag: (name) => values[name] === true,
    value: text,
    values: (name) => Array.isArray(values[name]) ? values[name] : [],
    json: values.json === true,
    cwd,
    terminal,
    open: async () => {
      const memdir = await openMemdir({
        cwd,
        env,
        by: "cli",
        memoryDir: text("memory-dir"),
        scope: text("scope"),
        log: (message) => {
          if (env.MEMDIR_DEBUG) terminal.warn(`memdir: debug: ${message}`);
        }
      });
      for (const warning of memdir.warnings) terminal.warn(`memdir: warning: ${warning}`);
      return memdir;
    }
  };
  const load = LOADERS[command.name];
  if (!load) throw new Error(`the command ${command.name} has no code`);
  return (await load()).run(call);
}
function findCommand(argv) {
  const first = argv[0];
  if (first === "--help" || first === "-h" || first === "--version" || first === "help") {
    const named = COMMANDS.find((c) => c.name === argv[1]);
    return { command: first === "help" && named ? named : null, rest: ["--help"] };
  }
  if (first === void 0 || first.startsWith("-")) {
    return { command: COMMANDS.find((c) => c.name === "console") ?? null, rest: argv };
  }
  const command = COMMANDS.find((c) => c.name === first);
  if (!command)
    throw new MemdirError("usage", `there is no command "${first}"${nearest(first)}; memdir --help lists them`);
  return { command, rest: argv.slice(1) };
}
function nearest(word) {
  const close = COMMANDS.find((c) => c.name.startsWith(word.slice(0, 3)) || word.startsWith(c.name));
  return close ? `, did you mean "${close.name}"?` : "";
}
function readOptions(command, argv) {
  const options = Object.fromEntries(
    Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([name, { value, multiple, short }]) => [
      name,
      {
        type: value === void 0 ? "boolean" : "string",
        ...multiple ? { multiple } : {},
        ...short ? { short } : {}
      }
    ])
  );
  try {
    return parseArgs({ args: argv, options, allowPositionals: true });
  } catch (error) {
    const message = error.message.split(". ")[0];
    throw new MemdirError("usage", `${message}; see memdir ${command.name} --help`, { cause: error });
  }
}
function resolveCwd(given) {
  if (given === void 0) return process.cwd();
  if (given === "" || given.includes("\0")) throw new MemdirError("usage", "--cwd needs a directory");
  return given;
}
function report(error, options, terminal) {
  const known = error instanceof MemdirError;
  const message = known ? error.message : `unexpected failure: ${error?.message ?? error}; run it again with MEMDIR_DEBUG=1 and report it`;
  if (options.json) terminal.warn(JSON.stringify({ error: { code: known ? error.code : "internal", message } }));
  else terminal.warn(`memdir: ${message.replaceAll("\n", " ")}`);
  if (options.debug && error instanceof Error) {
    terminal.warn(error.stack ?? "");
    if (error.cause) terminal.warn(`caused by: ${error.cause.stack ?? error.cause}`);
  }
  return exitCodeOf(error);
}
export {
  runCommandLine
};
