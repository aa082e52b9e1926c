// Real memory directories: prompts in the format of a list of { repo, prompts: [{ prompt, expected, kind? }] }, stores from fetched repositories.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { measureStore } from "./recall-coding.mjs";

/** All stores' answers together, and a row for each. `mirror` holds owner+name/… as git directories, or owner+name/ with the memories themselves. */
export async function measureReal(world, promptsFile, mirror) {
  const reposFile = path.join(path.dirname(promptsFile), "repos.json");
  const places = fs.existsSync(reposFile) ? JSON.parse(fs.readFileSync(reposFile, "utf8")) : [];
  const stores = [];
  for (const { repo, prompts, ...place } of JSON.parse(fs.readFileSync(promptsFile, "utf8"))) {
    const dir = path.join(world.root, "real", repo.replace("/", "+"));
    const files = copyMemories({ ...places.find((each) => each.repo === repo), ...place, repo }, mirror, dir);
    const queries = prompts.map(({ prompt, expected, kind }) => ({
      q: prompt,
      // A name that is expected stands for the files that begin with it.
      relevant: [...new Set(expected.map((name) => files.find((file) => plain(file).startsWith(plain(name))) ?? name))],
      kind: kind ?? (expected.length > 0 ? "all" : "none"),
    }));
    stores.push({ repo, count: files.length, paths: await measureStore(world, dir, queries) });
  }
  const names = stores[0].paths.map(({ name }) => name);
  const together = names.map((name, i) => ({ name, answers: stores.flatMap(({ paths }) => paths[i].answers) }));
  return { stores, together };
}

function copyMemories({ repo, commit = "HEAD", memory }, mirror, to) {
  const from = path.join(mirror, repo.replace("/", "+"));
  const inFolder = (folder) => [folder, ...fs.readdirSync(folder).map((name) => path.join(folder, name))];
  const git = inFolder(from).find((folder) => fs.existsSync(path.join(folder, "HEAD")));
  const run = (...args) => execFileSync("git", ["-C", git, ...args], { maxBuffer: 1 << 28 });
  const all = git
    ? run("ls-tree", "-r", "-z", "--name-only", commit).toString().split("\0")
    : fs.readdirSync(from, { recursive: true }).map(String);
  const under = memory && memory !== "." ? `${memory}/` : "";
  const files = all.filter(
    (file) => file.startsWith(under) && /\.md$/.test(file) && path.basename(file) !== "MEMORY.md",
  );
  return files.map((file) => {
    const name = file.slice(under.length);
    const bytes = git ? run("show", `${commit}:${file}`) : fs.readFileSync(path.join(from, file));
    fs.mkdirSync(path.dirname(path.join(to, name)), { recursive: true });
    fs.writeFileSync(path.join(to, name), bytes);
    return name;
  });
}

const plain = (file) => path.basename(file).replaceAll("-", "_").toLowerCase().replace(/\.md$/, "");
