import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { buildSite } from "../../scripts/site.mjs";
import { makeTemporary } from "../temporary.ts";

it("every document has a page, every link leads somewhere, and what is written cannot become markup of the frame", () => {
  const to = path.join(makeTemporary("site"), "site");
  expect(buildSite(to)).toEqual([]);
  const pages = fs.readdirSync(to).filter((name) => name.endsWith(".html"));
  const documents = fs.readdirSync("docs").filter((name) => name.endsWith(".md"));
  expect(documents.map((name) => name.replace(/md$/, "html")).filter((name) => !pages.includes(name))).toEqual([]);
  const commands = fs.readFileSync(path.join(to, "commands.html"), "utf8");
  expect(commands).toContain('<h3 id="save"><a href="#save">save</a></h3>');
  expect(commands).toContain('<a href="commands.html" aria-current="page">Command line</a>');
  expect(fs.readFileSync(path.join(to, "index.html"), "utf8")).toContain('<a href="recall.html">recall</a>');
  expect(fs.existsSync(path.join(to, "images/review.png"))).toBe(true);
});
