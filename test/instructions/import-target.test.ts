import { isAbsolute } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveImport } from "../../src/instructions/imports.ts";

const FROM = { folder: "/repo/docs", home: "/home/ada" };

describe("resolveImport", () => {
  it.each([
    ["a.md", "/repo/docs/a.md"],
    ["./a.md", "/repo/docs/a.md"],
    ["../a.md", "/repo/a.md"],
    ["x/../a.md", "/repo/docs/a.md"],
    ["x//a.md", "/repo/docs/x/a.md"],
    ["~/a.md", "/home/ada/a.md"],
    ["/etc/a.md", "/etc/a.md"],
    ["a b.md", "/repo/docs/a b.md"],
    ["a@b.md", "/repo/docs/a@b.md"],
    ["x/ü.md", "/repo/docs/x/ü.md"],
    [".claude/rules/r.md", "/repo/docs/.claude/rules/r.md"],
  ])("%s", (target, path) => {
    expect(resolveImport(target, FROM)).toEqual({ path });
  });

  it.each(["https://example.com/a.md", "HTTP://x/a.md", "file:///etc/a.md"])("refuses the address %s", (target) => {
    expect(resolveImport(target, FROM)).toEqual({ refused: "url" });
  });

  it.each(["", "@c.md", "über.md", "記憶.md", "~", "~ada/a.md", "/", "(a.md)", "#a", " a.md", "a\0.md"])(
    "does not take %j for a path",
    (target) => {
      expect(resolveImport(target, FROM)).toEqual({ refused: "not-a-path" });
    },
  );
});

/** From import-extensions-*, import-dotfiles and import-uppercase-extension: names that Claude Code 2.1.325 loaded and left. */
const LOADED = [
  ".env .gitignore .editorconfig Makefile Dockerfile LICENSE a.MD b.Txt f.json",
  "f.cmake f.make f.gradle f.sbt f.makefile f.ejs",
  "f.py f.pyi f.pyw f.rb f.erb f.pl f.pm f.lua f.r f.R f.sh f.bash f.zsh f.fish f.ps1 f.bat f.cmd f.clj f.cljs f.edn f.ex",
  "f.exs f.erl f.hrl f.hs f.lhs f.elm f.ml f.mli f.dart",
  "f.js f.mjs f.cjs f.jsx f.ts f.mts f.cts f.tsx f.vue f.svelte f.astro f.html f.htm f.css f.scss f.sass f.less f.php",
  "f.hbs f.pug f.jade",
];
const LEFT = [
  "f.png f.jpg f.gif f.webp f.ico f.pdf f.doc f.docx f.xlsx f.zip f.gz f.tar f.exe f.bin f.so f.wasm f.mp3 f.mp4 f.ttf",
  "f.db f.sqlite f.pem f.key f.bak f.tmp f.xyz f.mdx f.jsonl f.svg",
  "f.mk f.bazel f.bzl f.nix f.tf f.tfvars f.hcl f.dockerfile f.gitignore f.editorconfig f.prisma f.thrift f.avsc f.tmpl",
  "f.tpl f.j2 f.jinja f.mustache f.liquid f.njk f.ipynb f.jl f.awk f.tcl f.vim f.el f.lisp f.sol f.coffee f.xhtml f.styl",
];

describe("the extensions Claude Code was seen to follow", () => {
  it.each(LOADED.join(" ").split(" "))("%s is loaded", (name) => {
    expect(resolveImport(name, FROM)).toEqual({ path: `/repo/docs/${name}` });
  });

  it.each(LEFT.join(" ").split(" "))("%s is left", (name) => {
    expect(resolveImport(name, FROM)).toEqual({ refused: "extension" });
  });

  it("takes punctuation behind the name for part of it", () => {
    expect(resolveImport("a.md,", FROM)).toEqual({ refused: "extension" });
    expect(resolveImport("LICENSE,", FROM)).toEqual({ path: "/repo/docs/LICENSE," });
  });
});

describe("for any target", () => {
  it("gives an absolute path or a reason", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webUrl()), (target) => {
        const result = resolveImport(target, FROM);
        if ("path" in result) {
          expect(isAbsolute(result.path)).toBe(true);
          expect(result.path).not.toContain("\0");
        } else expect(["url", "extension", "not-a-path"]).toContain(result.refused);
      }),
    );
  });

  it("stays below the folder for a plain name", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z][a-z0-9 _@-]{0,20}$/), (name) => {
        expect(resolveImport(`${name}.md`, FROM)).toEqual({ path: `/repo/docs/${name}.md` });
      }),
    );
  });
});
