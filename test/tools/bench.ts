/** A workbench for tests: real files in a fresh project, permissions that are answered by the test, and everything told is kept. */

import fs from "node:fs";
import path from "node:path";
import type { ToolOutcome } from "../../src/model/tool.ts";
import { openFileState } from "../../src/session/file-state.ts";
import { openPermissions, type PermissionRequest } from "../../src/tools/permission.ts";
import { openTools } from "../../src/tools/tools.ts";
import type { ToolName, Workbench } from "../../src/tools/workbench.ts";
import { makeWorld } from "../world.ts";

export interface Bench extends Workbench {
  /** Beside the project: outside of it, but ours. */
  outside: string;
  asked: PermissionRequest[];
  touched: ({ path: string } | { command: string })[];
  /** What the history was told, as "before a.txt". */
  kept: string[];
  at(...names: string[]): string;
  put(name: string, content: string | Uint8Array): string;
  get(name: string): string;
  /** What the model would get; throws what the tool throws. */
  run(tool: ToolName, input: Record<string, unknown>, signal?: AbortSignal): Promise<string>;
  /** The message of the error, or of an error result. */
  fail(tool: ToolName, input: Record<string, unknown>, signal?: AbortSignal): Promise<string>;
}

export interface BenchOptions extends Partial<Omit<Workbench, "fence">> {
  /** Below the project. */
  fence?: string;
  answer?: (request: PermissionRequest) => "allow" | "deny" | "always";
  allowed?: string[];
}

export function makeBench({ fence, answer = () => "allow", allowed = [], ...more }: BenchOptions = {}): Bench {
  const world = makeWorld();
  const cwd = world.project;
  const outside = path.join(world.top, "outside");
  fs.mkdirSync(outside);
  if (fence) fs.mkdirSync(path.join(cwd, fence), { recursive: true });
  const root = fence ? path.join(cwd, fence) : cwd;
  const asked: PermissionRequest[] = [];
  const ask = async (request: PermissionRequest) => {
    asked.push(request);
    return answer(request);
  };
  const kept: string[] = [];
  const touched: Bench["touched"] = [];
  const bench: Workbench = {
    cwd,
    fence: fence ? root : null,
    readable: [cwd],
    files: openFileState(),
    history: {
      before: (file) => kept.push(`before ${path.basename(file)}`),
      after: (file) => kept.push(`after ${path.basename(file)}`),
    },
    permit: openPermissions({ ask, allowed }).permit,
    env: { PATH: process.env.PATH, HOME: world.home },
    onTouch: (touch) => touched.push(touch),
    store: null,
    ...more,
  };
  const tools = openTools(bench);
  const call = async (name: ToolName, input: Record<string, unknown>, signal = new AbortController().signal) => {
    const tool = tools.find((each) => each.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    const outcome: ToolOutcome = await tool.run(input, { id: "call", signal });
    return typeof outcome === "string" ? { content: outcome } : outcome;
  };
  const at = (...names: string[]) => path.join(root, ...names);
  return {
    ...bench,
    outside,
    asked,
    touched,
    kept,
    at,
    put(name, content) {
      fs.mkdirSync(path.dirname(at(name)), { recursive: true });
      fs.writeFileSync(at(name), content);
      return at(name);
    },
    get: (name) => fs.readFileSync(at(name), "utf8"),
    run: async (name, input, signal) => (await call(name, input, signal)).content,
    async fail(name, input, signal) {
      let content: string;
      try {
        const outcome = await call(name, input, signal);
        if (!outcome.isError) throw new Error(`did not fail: ${outcome.content}`);
        content = outcome.content;
      } catch (error) {
        content = (error as Error).message;
        if (content.startsWith("did not fail")) throw error;
      }
      return content;
    },
  };
}
