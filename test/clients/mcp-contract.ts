/** What every client does with our MCP server: it starts it in the project, shows its tools to the model and calls them. */

import fs from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { BINARY } from "../cli/run.ts";
import { countIn, type Desk, describeClient, openDesk } from "./client.ts";
import type { Host } from "./host.ts";

export const MCP_COMMAND: readonly string[] = [process.execPath, BINARY, "mcp"];

/** What the server tells every model begins with this. */
const INSTRUCTIONS = "memdir is this project's long-term memory";
const BODY = "Releases are cut on Tuesdays, by the heron script.";
export const NOTE = {
  type: "project",
  name: "release day",
  description: "When releases are cut",
  body: BODY,
  when: ["planning a release"],
};

export function describeMcp(host: Host): void {
  describeClient(host.name, () => {
    it("lists our tools and tells the model what they are for", async () => {
      const desk = await openWired(host);
      desk.server.queue({ text: "Hello." });
      await host.start(desk, "hello");
      const shown = host.shown(desk.asked()[0]!);
      expect(shown).toEqual(expect.arrayContaining(host.always.map((name) => spelled(host, name))));
      expect(countIn(desk.asked()[0], INSTRUCTIONS)).toBe(1);
    });

    it("calls each of them: saved is on disk, and recalled, read, listed, verified, forgotten", async () => {
      const desk = await openWired(host);
      let saved: Saved = { rows: [], text: "" };
      const forgetting = async () => {
        saved = await readSaved(desk);
        return callOf(host, "forget", { name: NOTE.name });
      };
      desk.server.queue(
        callOf(host, "save", NOTE),
        callOf(host, "recall", { prompt: "on which day are releases cut?" }),
        callOf(host, "read", { name: NOTE.name }),
        callOf(host, "list"),
        callOf(host, "verify"),
        forgetting,
        { text: "That is all." },
      );
      const { out } = await host.start(desk, "use your memory");
      expect(out).toContain("That is all.");
      const asked = desk.asked();
      const answered = ANSWERS.map((text, i) => countIn(asked[i + 1], text) > countIn(asked[i], text));
      expect(answered).toEqual(ANSWERS.map(() => true));

      expect(saved.rows).toEqual([expect.objectContaining({ name: NOTE.name, type: "project", problems: [] })]);
      expect(saved.text).toContain(BODY);
      expect(saved.text).toContain(`source: ${host.by}\n`);
      expect(await desk.json(["list"])).toEqual([]);
    });

    it("is told when a memory is refused, and nothing is written", async () => {
      const desk = await openWired(host);
      // A key that nobody ever had, in pieces: what looks for keys in this repository must not find it.
      const body = `The key is ${["ghp", "r7Kq2ZpX9vLm4TnB8wYc3HdJ6sFg1QaE5uRk"].join("_")}.`;
      desk.server.queue(callOf(host, "save", { ...NOTE, body }), { text: "It was refused." });
      await host.start(desk, "remember the key");
      expect(countIn(desk.asked().at(-1), "secret")).toBeGreaterThan(0);
      expect(await desk.json(["list"])).toEqual([]);
    });
  });
}

async function openWired(host: Host): Promise<Desk> {
  const desk = await openDesk(host.name);
  host.prepare(desk, { server: MCP_COMMAND });
  return desk;
}

/** As `shown` spells it. */
export function spelled(host: Host, tool: string): string {
  const { name, namespace } = host.tool(tool);
  return namespace ? `${namespace}.${name}` : name;
}

function callOf(host: Host, tool: string, input: object = {}) {
  return { tools: [{ ...host.tool(tool), input }] };
}

/** What each answer holds; where there is structured output, Codex shows its model only that. */
const ANSWERS = ["created", BODY, BODY, NOTE.description, "checked", "remove"];

interface Saved {
  rows: { file: string }[];
  text: string;
}

async function readSaved(desk: Desk): Promise<Saved> {
  const rows = await desk.json(["list"]);
  return {
    rows,
    text: rows.map(({ file }: { file: string }) => fs.readFileSync(path.join(desk.dir(), file), "utf8")).join(""),
  };
}
