import fs from "node:fs"; import path from "node:path"; import { it } from "vitest";
import { findEmbed } from "../src/meaning/meaning.ts"; import { parseMemory } from "../src/store/store.ts";
it("x", () => {
  const embed = findEmbed()!; const lines: string[] = [];
  const repos = JSON.parse(fs.readFileSync("/work/shared/real/repos.json", "utf8")); const out: any[] = [];
  for (const r of repos) { const dir = path.join("/work/scratch/base/co", r.repo.replace("/", "+"), r.memory); if (!fs.existsSync(dir)) continue;
    const mem = fs.readdirSync(dir).filter((f) => f.endsWith(".md") && !/^MEMORY|README/.test(f)).map((f) => parseMemory(f, fs.readFileSync(path.join(dir, f)))).filter((x) => x.description);
    const vs = mem.map((x) => embed(`${x.name.replace(/[-_]/g, " ")}. ${x.description}`.slice(0, 300)));
    const bs = mem.map((x) => embed(x.body.slice(0, 400)));
    const cos = (a: any, b: any) => { let s = 0; for (let i = 0; i < a.length; i++) s += a[i] * b[i]; return s; };
    for (let i = 0; i < mem.length; i++) for (let j = 0; j < i; j++) { if (mem[i]!.type !== mem[j]!.type) continue; const a = cos(vs[i], vs[j]), b = cos(bs[i], bs[j]); out.push({ s: Math.min(a, b), a, b, r: r.repo, i: mem[i], j: mem[j] }); } }
  out.sort((x, y) => y.s - x.s);
  for (const o of out.slice(0, 60)) lines.push([o.s.toFixed(2), o.a.toFixed(2), o.b.toFixed(2), o.r.split("/")[1], "|", o.i.type, o.i.file, ":", o.i.description.slice(0, 110), "|", o.j.file, ":", o.j.description.slice(0, 110)].join(" "));
  fs.writeFileSync("/work/scratch/dup/out.txt", lines.join("\n"));
});
