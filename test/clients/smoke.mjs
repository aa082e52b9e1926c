// What runtimes.test.ts runs on each of them: smoke.mjs smoke | many PREFIX.
import process from "node:process";
import { openMemdir } from "../../dist/index.js";

const [what, prefix] = process.argv.slice(2);
const memdir = await openMemdir();
const note = { type: "feedback", name: "use pnpm", description: "Package manager", body: "Use pnpm, never npm." };
if (what === "many") {
  for (let i = 0; i < 20; i++) await memdir.save({ ...note, name: `${prefix} ${i}` });
} else {
  const { file: saved, undo } = await memdir.save(note);
  const listed = (await memdir.list()).length;
  const recalled = (await memdir.recall("do I install a package with npm or pnpm?")).memories.map(({ name }) => name);
  const token = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
  const refused = await memdir.save({ ...note, name: "token", body: token }).catch(({ code }) => code);
  await memdir.undo(undo ?? undefined);
  const afterUndo = (await memdir.list()).length;
  process.stdout.write(JSON.stringify({ saved, listed, recalled, refused, afterUndo }));
}
