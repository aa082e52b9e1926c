/** Where the target of an `@path` import leads, and which targets the client never follows. Pure: nothing is looked up. */

import { extname, join, resolve } from "node:path";

type ImportTarget = { path: string } | { refused: "url" | "extension" | "not-a-path" };

/**
 * `~/` is the home, an absolute path stays, anything else starts at `folder`: that of the importing file, and if the file
 * is a link, that of the file it leads to. Must not throw.
 */
export function resolveImport(target: string, from: { folder: string; home: string }): ImportTarget {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) return { refused: "url" };
  if (!PATH_START.test(target) || target.includes("\0")) return { refused: "not-a-path" };
  const path = target.startsWith("~/") ? join(from.home, target.slice(2)) : resolve(from.folder, target);
  // Of the target as written: `.env` and `Makefile` have no extension, `site.env` has one.
  const extension = extname(target).slice(1).toLowerCase();
  return extension === "" || FOLLOWED.has(extension) ? { path } : { refused: "extension" };
}

/** `@über.md` is not followed, `@docs/ü.md` is; `@@c.md` is not, `@a@b.md` is. A lone `/` or `~` is no path. */
const PATH_START = /^(?:[A-Za-z0-9._-]|~\/|\/.)/s;

/** Extensions that Claude Code 2.1.325 was seen to follow. Others, such as mdx, jsonl, svg, tf, nix and jl, it left. */
const SEEN = [
  "md txt json",
  "html htm css scss sass less js mjs cjs jsx ts mts cts tsx vue svelte astro ejs hbs pug jade php",
  "py pyi pyw rb erb pl pm lua r sh bash zsh fish ps1 bat cmd",
  "clj cljs edn ex exs erl hrl hs lhs elm ml mli dart",
  "cmake make makefile gradle sbt",
];

/** Not in the recordings; kinds of text as common as those that were followed. */
const ASSUMED = [
  "text rst adoc asciidoc org tex latex log diff patch lock",
  "yaml yml toml xml csv ini cfg conf config env properties sql graphql gql proto",
  "go rs java kt kts scala swift c h cc cpp cxx hpp hxx cs",
];

const FOLLOWED = new Set([...SEEN, ...ASSUMED].flatMap((names) => names.split(" ")));
