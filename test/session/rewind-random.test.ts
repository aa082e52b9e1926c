import fs from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type FileHistory, openFileHistory, planRewind, rewindFiles } from "../../src/session/file-history.ts";
import { makeWorld } from "../world.ts";

/** A link leads to the last one, and it is written to by that name. */
const NAMES = ["a.ts", "b.ts", "sub/c.ts", "sub/deep/d.ts", "target.ts"] as const;
type Name = (typeof NAMES)[number];
type Disk = Map<Name, string | null>;
type Line = { type: string } & Record<string, unknown>;

type Command =
  | { do: "checkpoint" }
  | { do: "change"; by: "us" | "them"; name: Name; content: string | null }
  | { do: "rewind"; pick: number; back: boolean }
  | { do: "resume" };

const name = fc.constantFrom(...NAMES);
const content = fc.option(fc.constantFrom("", "x", "y", "zz\r\n"), { freq: 3 });
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Command>({ do: "checkpoint" }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("change" as const), by: fc.constantFrom("us", "them"), name, content }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("rewind" as const), pick: fc.nat(99), back: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("resume" as const) }) },
);

/** What should be, without any disk. */
interface Model {
  disk: Disk;
  /** What we last left, for every tracked file. */
  written: Disk;
  checkpoints: { id: string; files: Disk }[];
}

interface Subject {
  history: FileHistory;
  lines: Line[];
  open: (from: readonly Line[]) => FileHistory;
  at: (name: Name) => string;
}

const world = makeWorld();
let runs = 0;

it("B10.4, B11.12 goes back to every checkpoint and forth again, whatever happened, also after resumes", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30, size: "max" }), (commands) => {
      const subject = makeSubject();
      const model: Model = { disk: new Map(NAMES.map((each) => [each, null])), written: new Map(), checkpoints: [] };
      for (const each of commands) {
        run(each, subject, model);
        expect(readDisk(subject)).toEqual(model.disk);
        expect(subject.history.checkpoints().map(({ id, files }) => [id, files])).toEqual(
          model.checkpoints.map(({ id, files }) => [id, NAMES.filter((file) => isChanged(model, files, file)).length]),
        );
      }
    }),
    { numRuns: 60 },
  );
});

function run(each: Command, subject: Subject, model: Model): void {
  const { history } = subject;
  if (each.do === "checkpoint") {
    const id = `m${model.checkpoints.length}`;
    history.checkpoint(id, "");
    pushCheckpoint(model, id);
  } else if (each.do === "change") {
    if (each.by === "us") history.before(subject.at(each.name));
    if (each.by === "us") modelBefore(model, each.name);
    change(subject, each);
    model.disk.set(each.name, each.content);
    if (each.by === "us") history.after(subject.at(each.name));
    if (each.by === "us") model.written.set(each.name, each.content);
  } else if (each.do === "resume") {
    subject.history = subject.open(subject.lines);
  } else if (model.checkpoints.length > 0) {
    const undo = rewind(subject, model, model.checkpoints[each.pick % model.checkpoints.length]?.id as string);
    if (undo && each.back) rewind(subject, model, undo);
  }
}

function rewind(subject: Subject, model: Model, id: string): string | null {
  const target = model.checkpoints.find((checkpoint) => checkpoint.id === id)?.files as Disk;
  const plan = planRewind(subject.history, id);
  for (const [file, expected] of target) {
    const step = plan.find((one) => one.path === realOf(subject, file));
    const action = expected === model.disk.get(file) ? "none" : expected === null ? "remove" : "restore";
    expect(step).toMatchObject({ action, outside: model.disk.get(file) !== model.written.get(file) });
  }
  const report = rewindFiles(subject.history, id);
  expect(report.steps).toEqual(plan);
  if (report.undo === null) return null;
  pushCheckpoint(model, report.undo);
  for (const [file, expected] of target) {
    if (model.disk.get(file) === expected) continue;
    model.disk.set(file, expected);
    model.written.set(file, expected);
  }
  expect(readDisk(subject)).toEqual(model.disk);
  return report.undo;
}

/** A file first changed later counts as unchanged between an older checkpoint and that change. */
function modelBefore(model: Model, file: Name): void {
  if (model.checkpoints.length === 0) pushCheckpoint(model, "start");
  const now = model.disk.get(file) ?? null;
  for (const { files } of model.checkpoints) if (!files.has(file)) files.set(file, now);
  if (!model.written.has(file)) model.written.set(file, now);
}

function pushCheckpoint({ checkpoints, disk, written }: Model, id: string): void {
  checkpoints.push({ id, files: new Map([...disk].filter(([file]) => written.has(file))) });
}

function isChanged({ disk }: Model, files: Disk, file: Name): boolean {
  return files.has(file) && files.get(file) !== disk.get(file);
}

function makeSubject(): Subject {
  const folder = path.join(world.top, `run-${runs++}`);
  const lines: Line[] = [];
  const open = (from: readonly Line[]) =>
    openFileHistory(
      {
        dir: path.join(folder, "history"),
        cwd: path.join(folder, "work"),
        note: (line) => lines.push(JSON.parse(JSON.stringify(line))),
      },
      { now: () => world.now, log: () => {} },
      from,
    );
  fs.mkdirSync(path.join(folder, "work"), { recursive: true });
  fs.symlinkSync("target.ts", path.join(folder, "work", "link"));
  const at = (file: Name) => path.join(folder, "work", file === "target.ts" ? "link" : file);
  return { history: open([]), lines, open, at };
}

function change(subject: Subject, { name: file, content: text }: { name: Name; content: string | null }): void {
  if (text === null) {
    fs.rmSync(realOf(subject, file), { force: true });
    return;
  }
  fs.mkdirSync(path.dirname(subject.at(file)), { recursive: true });
  fs.writeFileSync(subject.at(file), text);
}

function realOf({ at }: Subject, file: Name): string {
  return at(file).replace(/link$/, "target.ts");
}

function readDisk({ at }: Subject): Disk {
  return new Map(NAMES.map((file) => [file, fs.existsSync(at(file)) ? fs.readFileSync(at(file), "utf8") : null]));
}
