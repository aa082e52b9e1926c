/** Every relative link of the documentation leads to a file that exists, and to a heading of it where it names one. */
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TEXTS = [
  ...fs.readdirSync(ROOT).filter((name) => name.endsWith(".md")),
  ...fs.readdirSync(path.join(ROOT, "docs")).flatMap((name) => (name.endsWith(".md") ? [`docs/${name}`] : [])),
  "plugin/README.md",
];

it.each(TEXTS)("%s", (file) => {
  const dead = linksOf(file).filter((link) => {
    const [name = "", anchor] = link.split("#");
    const target = name === "" ? file : path.join(path.dirname(file), name);
    if (!fs.existsSync(path.join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
  expect(dead).toEqual([]);
});

function linksOf(file: string): string[] {
  const text = readProse(file);
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link).filter((link) => !/^[a-z]+:/.test(link));
}

/** As GitHub makes them of headings. */
function anchorsOf(file: string): string[] {
  const headings = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Without any code, whose brackets are no links. */
function readProse(file: string): string {
  return read(file).replace(/`[^`\n]+`/g, "");
}

/** Without blocks of code. */
function read(file: string): string {
  return fs.readFileSync(path.join(ROOT, file), "utf8").replace(/^```.*?^```/gms, "");
}
