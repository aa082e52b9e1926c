/** Values that a memory gives for a named setting or constant, and values as a line of code states them. */

import type { Claim } from "./claim.ts";
import { ENV_NAME, isCodeShaped } from "./claims-tokens.ts";

type ValueClaim = Pick<Claim, "kind" | "text" | "at" | "loose" | "value">;

const LITERAL = "-?\\d[\\d_,]*(?:\\.\\d+)*(?:[a-zA-Z%]{0,3}\\b)?|\"[^\"\\n]{1,80}\"|'[^'\\n]{1,80}'|true\\b|false\\b";
/** `poolSize` is 10 · poolSize = 10 · `poolSize` (10) · poolSize 10 in src/db.ts */
const SAID = new RegExp(
  `([\`"'*]*)([A-Za-z_$][\\w$]*(?:[.-][A-Za-z_$][\\w$]*){0,4})\\1(?:\\s*(?:=(?!=)|:)\\s*|\\s+(?:is|of|set to|is set to|defaults? to|equals)\\s+|\\s*\\(|\\s+(?=\\S+\\s+in\\s))\`?(${LITERAL})(?=[\`"'*).,;:\\s]|$)`,
  "g",
);

/** Loose: a value counts only if the code states that name's value, and once stated this one. */
export function findValues(text: string): ValueClaim[] {
  // Most numbers are part of a name.
  if (!/[\s=:(`](?:-?\d|["']|true\b|false\b)/.test(text)) return [];
  return [...text.matchAll(SAID)].flatMap(({ 0: whole, 2: said = "", 3: value = "", index }) => {
    const name = said.slice(said.search(/[^.-]+$/));
    if (!ENV_NAME.test(name) && !isCodeShaped(name)) return [];
    const at = index + whole.indexOf(said) + said.length - name.length;
    return [{ kind: "value" as const, text: name, at, value: normalValue(value), loose: true }];
  });
}

const STATED = new RegExp(
  `^["'\`\\]]?\\s*(?:\\??:\\s*[A-Za-z_][\\w<>[\\]|. ]{0,40}?\\s*(?==))?(?::=|=(?![=>])|:(?!:))\\s*(${LITERAL})\\s*[,;})\\]]*\\s*(?:(?:\\/\\/|#|--|\\/\\*).*)?$`,
);

/** The literal that a line gives to the name which ends at `end`; null where it is not plain. */
export function statedValue(line: string, end: number): string | null {
  const literal = STATED.exec(line.slice(end, end + 200).trimEnd())?.[1];
  return literal === undefined ? null : normalValue(literal);
}

/** `10_000`, `10,000` and `10000` are one value, as are `"a"` and `'a'`, and `2.0f` and `2.0`. */
function normalValue(literal: string): string {
  const bare = literal.replace(/^["']|["']$/g, "");
  return /^-?\d/.test(literal) ? bare.replace(/[_,]/g, "").replace(/(?<=\d)[fFlLuUdm]$/, "") : bare;
}
