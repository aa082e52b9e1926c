/** What is said to the console about memories. */

import { expect, it } from "vitest";
import { answerLine } from "../../../src/cli/console/line.ts";
import { type Seat, sitDown } from "./seat.ts";

async function openSeat(): Promise<Seat> {
  const seat = await sitDown();
  const body = "We pin the Rust compiler to 1.82.";
  await seat.memdir.save({ type: "project", name: "toolchain", description: "Which compiler", body });
  return seat;
}

const say = (seat: Seat, line: string) => answerLine(line, seat.console, async () => {});

it.each([
  [true, false],
  [false, true],
])("what is forgotten by a word in it is shown first: after %s it is there: %s", async (answer, isThere) => {
  const seat = await openSeat();
  const asked: string[] = [];
  const ask = async (question: string) => {
    asked.push(question);
    return answer;
  };
  seat.console.terminal = { ...seat.console.terminal, ask };
  await say(seat, "forget the compiler");
  expect(asked).toEqual(["Forget project_toolchain.md (Which compiler)?"]);
  expect(seat.world.exists("project_toolchain.md")).toBe(isThere);
});

it("a name needs no question, and where nobody can be asked a word is not enough", async () => {
  const seat = await openSeat();
  const piped = { ...seat.console, terminal: { ...seat.console.terminal, interactive: false } };
  expect(await answerLine("forget the compiler", piped, async () => {})).toBe("failed");
  expect(seat.world.exists("project_toolchain.md")).toBe(true);
  await say(seat, "forget toolchain");
  expect(seat.world.exists("project_toolchain.md")).toBe(false);
});

it.each([
  ["/rot", "there is no /rot here (did you mean /health?)"],
  ["/doctor", "there is no /doctor here: run `memdir doctor` in a shell"],
])("%s says where it is", async (line, message) => {
  const seat = await sitDown();
  await expect(seat.type(line)).rejects.toThrow(message);
});

it("an error names calls as they are typed here", async () => {
  const seat = await sitDown();
  const warned: string[] = [];
  seat.console.terminal = { ...seat.console.terminal, warn: (text) => void warned.push(text) };
  await say(seat, "remember !");
  expect(warned.join(" ")).toMatch(/as in \/save "Use pnpm/);
});

it("/model names the model that was typed, not a variable", async () => {
  const seat = await sitDown();
  await expect(seat.type("/model foo")).rejects.toThrow(/^the model is "foo"; name the provider/);
});

it("remember writes the day, as save does", async () => {
  const seat = await sitDown();
  await say(seat, "remember we ship the beta on Friday");
  const [{ file = "" } = {}] = await seat.memdir.list();
  expect((await seat.memdir.show(file)).body.trim()).toBe("we ship the beta on Friday (2026-03-13)");
});
