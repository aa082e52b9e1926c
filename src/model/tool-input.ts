/** A tool's input as a model streams it: JSON in pieces, which weak models get wrong. */

import type { ToolUse } from "./ask.ts";

/** No text at all is an empty input. What is no JSON object becomes a problem that the model can be told. */
export function parseToolInput(json: string): Pick<ToolUse, "input" | "problem"> {
  if (json.trim() === "") return { input: {} };
  try {
    const value: unknown = JSON.parse(json);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return { input: value as Record<string, unknown> };
    }
    return { input: {}, problem: "the input is not a JSON object" };
  } catch {
    return { input: {}, problem: "the input is not valid JSON" };
  }
}
