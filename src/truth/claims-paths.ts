/** Files and folders that a sentence names. */

import { isAbsolute, relative, sep } from "node:path";
import { isFileName, isPlaceholder } from "./claims-words.ts";
import type { Token } from "./tokens.ts";

export interface PathClaim {
  text: string;
  /** Offset of the text in the token. */
  shift: number;
  loose: boolean;
  lineNumber?: number;
}

const LINE = /(?::(\d+)(?:[:-]\d+)*|#L(\d+)(?:-L?\d+)?)$/;
const HOST =
  /^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|app|ai|co|internal|local|invalid|cloud|eu|de|uk|us|edu|gov|sh)(?::\d+)?$/i;
const NAME = /^[\w@.+\-()[\]~ ]+$/;

export function findPath(token: Token, root: string): PathClaim | null {
  let text = token.text.replaceAll("\\", "/");
  if (text.includes("://") || text.startsWith("~") || text.startsWith("--") || /[=,]/.test(text)) return null;
  const line = LINE.exec(text);
  if (line) text = text.slice(0, line.index);
  if (isPlaceholder(text) || text.includes("//") || text.includes(":") || text.length > 250) return null;
  let shift = 0;
  if (isAbsolute(token.text) || text.startsWith("/")) {
    const inside = relative(root, text).split(sep).join("/");
    if (inside === "" || inside.startsWith("..") || isAbsolute(inside)) return null;
    shift = text.length - inside.length;
    text = inside;
  }
  const lead = /^(?:\.{1,2}\/|@\/|~\/)+/.exec(text)?.[0] ?? "";
  const isRelative = lead.includes("..") || lead.startsWith("@");
  text = text.slice(lead.length);
  shift += lead.length;
  const found = shapeOf(text, token.code);
  if (!found) return null;
  const lineNumber = Number(line?.[1] ?? line?.[2] ?? 0);
  return { text, shift, loose: found === "loose" || isRelative, ...(lineNumber > 0 ? { lineNumber } : {}) };
}

/** With an ending, or with two slashes in code, nobody means anything else. */
function shapeOf(text: string, code: boolean): "sure" | "loose" | null {
  const parts = text.replace(/\/$/, "").split("/");
  if (parts.some((part) => part === "" || !NAME.test(part) || part.length > 120)) return null;
  if (!text.includes("/")) return isFileName(text) ? "sure" : null;
  if (HOST.test(parts[0] ?? "") || !/[A-Za-z]/.test(text)) return null;
  const last = parts.at(-1) ?? "";
  if (isFileName(last) || /\.[A-Za-z][A-Za-z0-9]{0,9}$/.test(last)) return "sure";
  return code && parts.length > 2 ? "sure" : "loose";
}
