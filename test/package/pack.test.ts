/** What `npm pack` would publish: everything a user needs, nothing of the workshop. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
let files: { path: string; mode: number }[];

beforeAll(() => {
  // A dry run still runs `prepack`, which builds with types.
  const out = execFileSync("npm", ["pack", "--dry-run", "--json"], {
    cwd: root,
    encoding: "utf8",
    shell: process.platform === "win32",
    stdio: ["ignore", "pipe", "pipe"],
  });
  files = JSON.parse(out.slice(out.indexOf("[")))[0].files;
});

describe("the package", () => {
  it.each([
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "dist/cli.js",
    "dist/index.js",
    "dist/compat.js",
    "dist/THIRD-PARTY.txt",
    "dist/types/index.d.ts",
    "dist/types/compat.d.ts",
    "dist/memory-tool.js",
    "dist/types/memory-tool/memory-tool.d.ts",
    "dist/hook.cjs",
    "dist/web/index.html",
    "dist/web/page.js",
    "dist/web/page.css",
    "plugin/.claude-plugin/plugin.json",
    "plugin/hooks/hooks.json",
    ".claude-plugin/marketplace.json",
  ])("holds %s", (file) => {
    expect(files.map((each) => each.path)).toContain(file);
  });

  it("holds nothing else than dist, the plugin, deploy files, examples, docs and the texts about it", () => {
    const allowed =
      /^(dist\/(vendor\/)?[\w.-]+\.js|dist\/hook(-[a-z]+)?\.cjs|dist\/web\/[\w.-]+\.(html|css|js)(\.br|\.gz)?|dist\/(minilm-tuning\.bin|glossary\.txt)|dist\/types\/.+\.d\.ts|dist\/THIRD-PARTY\.txt|deploy\/[\w.]+|docs\/.+|examples\/[\w-]+\.mjs|plugin\/.+|\.claude-plugin\/marketplace\.json|[A-Z]+(\.md)?|package\.json)$/;
    expect(files.map((each) => each.path).filter((file) => !allowed.test(file))).toEqual([]);
  });

  it("has a command line that can be run", () => {
    expect((files.find((file) => file.path === "dist/cli.js")?.mode ?? 0) & 0o111).toBe(0o111);
    expect(readFileSync(path.join(root, "dist/cli.js"), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it("imports only Node and its dependencies, in code and in types", () => {
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    const known = new Set([
      ...builtinModules,
      ...builtinModules.map((name) => `node:${name}`),
      ...Object.keys({ ...dependencies, ...peerDependencies }),
    ]);
    const strangers = files
      .filter((file) => /^dist\/(index|compat|cli)\.js$|\.d\.ts$/.test(file.path))
      .flatMap((file) =>
        [
          ...readFileSync(path.join(root, file.path), "utf8").matchAll(/(?:from|import\()\s*["']([@\w][^"']*)["']/g),
        ].map((match) => `${file.path}: ${match[1]}`),
      )
      .filter((line) => !known.has(packageOf(line.split(": ")[1] ?? "")));
    expect(strangers).toEqual([]);
  });

  it("holds no source map, and refers to none", () => {
    const scripts = files.filter((file) => /\.(c?js|css|d\.ts)$/.test(file.path));
    const mapped = scripts.filter((file) =>
      readFileSync(path.join(root, file.path), "utf8").includes("# sourceMappingURL="),
    );
    expect([files.filter((file) => file.path.endsWith(".map")), mapped]).toEqual([[], []]);
  });

  it("is one version everywhere", () => {
    const versionOf = (file: string) => JSON.parse(readFileSync(path.join(root, file), "utf8")).version;
    const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    expect([versionOf("package-lock.json"), versionOf("plugin/.claude-plugin/plugin.json")]).toEqual([
      version,
      version,
    ]);
    const [, latest] = /^## (\S+)/m.exec(readFileSync(path.join(root, "CHANGELOG.md"), "utf8")) ?? [];
    expect(["Unreleased", version]).toContain(latest);
  });

  it("names no path of the machine that built it", () => {
    const texts = files.filter((file) => /^dist\/.*\.(js|ts|txt)$/.test(file.path));
    expect(texts.filter((file) => readFileSync(path.join(root, file.path), "utf8").includes(root))).toEqual([]);
  });
});

/** Of "@anthropic-ai/sdk/resources/beta" the first two parts. */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
