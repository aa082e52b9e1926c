// The documentation as a site: `npm run site` writes README, docs and the texts beside them to site/ as plain pages that need no
// server. Ends with 1 if a link leads nowhere. marked is here already; VitePress would bring 75 packages and 100 MB for the same pages.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Marked } from "marked";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Every page has its place here; a document that is missing is a dead link of whoever refers to it. */
const GROUPS = {
  Start: {
    "README.md": "Overview",
    "docs/install.md": "Install and first day",
    "docs/how-it-works.md": "How it works",
    "docs/guides.md": "Guides by agent",
    "docs/connect.md": "Connect your agents",
    "docs/comparison.md": "Comparison",
    "docs/faq.md": "Questions and trouble",
  },
  Use: {
    "docs/learning.md": "Learning",
    "docs/recall.md": "Recall",
    "docs/truth.md": "Is it still true?",
    "docs/page.md": "The page",
    "docs/console.md": "The console",
    "docs/team.md": "Team memory",
    "docs/operations.md": "Running a team server",
    "docs/instructions.md": "Instructions",
  },
  Reference: {
    "docs/commands.md": "Command line",
    "docs/configuration.md": "Settings",
    "docs/format.md": "File format",
    "docs/library.md": "Library",
    "docs/api.md": "API",
    "docs/mcp.md": "MCP server",
  },
  Background: {
    "docs/security.md": "Security and privacy",
    "docs/performance.md": "Performance",
    "docs/field-report.md": "2,900 real memories",
    "ARCHITECTURE.md": "Architecture",
    "CONTRIBUTING.md": "Contributing",
    "SECURITY.md": "Reporting a vulnerability",
    "CHANGELOG.md": "Changes",
  },
};
const TITLES = Object.assign({}, ...Object.values(GROUPS));

/** Returns the links that lead nowhere, as "page: link". */
export function buildSite(to) {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  cpSync(path.join(ROOT, "docs/images"), path.join(to, "images"), { recursive: true });
  const pages = new Map(Object.keys(TITLES).map((file) => [file, render(file)]));
  const isDead = ({ target, anchor }) =>
    pages.has(target) ? anchor && !pages.get(target).ids.has(anchor) : !existsSync(path.join(ROOT, target));
  const index = [...pages.values()].flatMap(({ sections }) => sections);
  writeFileSync(path.join(to, "search.js"), `const INDEX = ${JSON.stringify(index)};\n${SEARCH}`);
  writeFileSync(path.join(to, "style.css"), STYLE);
  for (const [file, { html }] of pages) writeFileSync(path.join(to, pageOf(file)), frame(file, html));
  return [...pages].flatMap(([file, { links }]) => links.filter(isDead).map(({ href }) => `${file}: ${href}`));
}

function pageOf(file) {
  if (file === "README.md") return "index.html";
  return `${file
    .replace(/^docs\//, "")
    .replace(/\.md$/, "")
    .replace("SECURITY", "report")
    .toLowerCase()}.html`;
}

function render(file) {
  const ids = new Set();
  const links = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = idOf(text);
        ids.add(id);
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        if (/^[a-z]+:/.test(href)) return `<a href="${escapeHtml(href)}">${text}</a>`;
        const [name, anchor] = href.split("#");
        const target = name === "" ? file : path.posix.join(path.posix.dirname(file), name);
        links.push({ href, target, anchor });
        // Other files of the repository have no page.
        return target in TITLES ? `<a href="${pageOf(target)}${anchor ? `#${anchor}` : ""}">${text}</a>` : text;
      },
      image: ({ href, text }) => `<img src="images/${path.basename(href)}" alt="${escapeHtml(text)}" loading="lazy">`,
    },
  });
  const text = readFileSync(path.join(ROOT, file), "utf8");
  const sections = [];
  for (const token of marked.lexer(text)) {
    if (token.type === "heading") sections.push([pageOf(file), idOf(token.text), TITLES[file], token.text, ""]);
    else if (sections.length > 0) sections.at(-1)[4] += token.raw.replace(/\s+/g, " ");
  }
  const html = marked
    .parse(text)
    .replaceAll("<table>", '<div class="wide"><table>')
    .replaceAll("</table>", "</table></div>");
  return { html, ids, links, sections };
}

/** As GitHub makes them, so that a link works in both places. */
function idOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function escapeHtml(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function frame(file, html) {
  const item = ([each, title]) =>
    `<li><a href="${pageOf(each)}"${each === file ? ' aria-current="page"' : ""}>${title}</a></li>`;
  const menu = Object.entries(GROUPS).map(
    ([group, items]) => `<h2>${group}</h2><ul>${Object.entries(items).map(item).join("")}</ul>`,
  );
  const title = file === "README.md" ? "memdir: a memory for coding agents" : `${TITLES[file]} - memdir`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<nav aria-label="Pages">
<a class="home" href="index.html">memdir</a>
<label for="search">Search</label>
<input id="search" type="search" autocomplete="off">
<ol id="found" aria-live="polite"></ol>
${menu.join("\n")}
</nav>
<main id="main">
${html}</main>
<script src="search.js"></script>
</body>
</html>
`;
}

/** Sections that have all words, those with a word in the heading first. */
const SEARCH = `const field = document.getElementById("search");
const found = document.getElementById("found");
field.addEventListener("input", () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const hits = words.length === 0 ? [] : INDEX.map((section) => {
    const heading = (section[2] + " " + section[3]).toLowerCase();
    const all = heading + " " + section[4].toLowerCase();
    const fits = words.every((word) => all.includes(word));
    return { section, rank: fits ? 1 + words.filter((word) => heading.includes(word)).length : 0 };
  }).filter(({ rank }) => rank > 0).sort((a, b) => b.rank - a.rank).slice(0, 12);
  found.replaceChildren(...hits.map(({ section: [page, id, title, heading] }) => {
    const link = document.createElement("a");
    link.href = page + "#" + id;
    link.textContent = title + ": " + heading.replaceAll("\`", "");
    const item = document.createElement("li");
    item.append(link);
    return item;
  }));
});
`;

const STYLE = `:root { color-scheme: light dark; --line: #8884; --soft: #8882; --accent: light-dark(#0b57d0, #8ab4f8); }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 16rem minmax(0, 1fr); font: 16px/1.6 system-ui, sans-serif; }
nav { padding: 1.5rem; border-right: 1px solid var(--line); height: 100vh; position: sticky; top: 0; overflow: auto; font-size: 0.92rem; }
nav h2 { font-size: 0.8rem; margin: 1.2rem 0 0.2rem; opacity: 0.75; }
nav ul, nav ol { list-style: none; margin: 0; padding: 0; }
nav li a { display: block; padding: 0.15rem 0; color: inherit; text-decoration: none; }
nav a[aria-current] { font-weight: 600; color: var(--accent); }
nav label { display: block; margin-top: 1rem; }
nav input { width: 100%; font: inherit; padding: 0.3rem; }
.home { font-weight: 700; font-size: 1.2rem; color: inherit; text-decoration: none; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; background: Canvas; padding: 0.5rem; z-index: 1; }
main { padding: 1.5rem clamp(1rem, 4vw, 4rem); max-width: 62rem; }
a { color: var(--accent); }
main :is(h1, h2, h3) > a { color: inherit; text-decoration: none; }
pre, code { font: 0.88em/1.5 ui-monospace, monospace; }
pre { overflow: auto; padding: 0.8rem 1rem; background: var(--soft); border-radius: 6px; }
:not(pre) > code { background: var(--soft); padding: 0.1em 0.3em; border-radius: 4px; overflow-wrap: anywhere; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 6px; }
.wide { overflow: auto; }
table { border-collapse: collapse; font-size: 0.92rem; }
td, th { border: 1px solid var(--line); padding: 0.35rem 0.6rem; text-align: left; vertical-align: top; }
@media (max-width: 50rem) {
  body { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; height: auto; border: 0; border-bottom: 1px solid var(--line); }
}
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const to = path.resolve(process.argv[2] ?? "site");
  const dead = buildSite(to);
  for (const link of dead) console.error(`dead link in ${link}`);
  if (dead.length > 0) process.exit(1);
  console.log(`${Object.keys(TITLES).length} pages in ${path.relative(".", to) || "."}: open index.html`);
}
