/** What a memory's text says about files: paths, and names that stand beside them. */

export interface Claims {
  /** Of the text, from 1. */
  line: number;
  paths: string[];
  /** Identifiers in backticks on the same line. */
  symbols: string[];
}

const FENCE = /^\s*(?:```|~~~)/;
/** What is longer is no sentence. */
const MAX_LINE_CHARS = 2_000;
const CODE = /`([^`\n]{1,200})`/g;
/** With a folder and an ending nobody writes by chance; at a line's number the path ends. */
const PLAIN_PATH = /(?<![\w:/.@~+-])(?:\.\/)?((?:[\w@.+-]+\/)+[\w@+-][\w@.+-]*\.[A-Za-z][A-Za-z0-9]{0,7})(?![\w/])/g;
const CODE_PATH = /^(?:\.\/)?(\/?(?:[\w@.+-]+\/)*[\w@.+-]+\/?)(?:[:#]L?\d+(?:-L?\d+)?)?$/;
/** Below three letters it occurs in every file. */
const SYMBOL = /^(?:[A-Za-z_$][\w$]*(?:\.|::|#))*([A-Za-z_$][\w$]{2,})(?:\(\))?$/;
/** Written as only code is: a plain word in backticks may be a program or a setting. */
const CODED = /[a-z0-9][A-Z]|_|\(\)|[.:#]/;
/** A word with a dot is a file, and not a member, if it ends so. */
const FILE_ENDING =
  /\.(?:[cm]?[jt]sx?|json[c5]?|md|mdx|ya?ml|toml|py|go|rs|rb|java|kts?|swift|php|cs|c|h|cc|cpp|hpp|m|sh|sql|css|scss|html?|xml|txt|env|ini|cfg|conf|lock|proto|graphql|vue|svelte|gradle|tf)$/i;

/** Lines in fenced blocks are examples, and say nothing. */
export function findClaims(text: string): Claims[] {
  const claims: Claims[] = [];
  let fenced = false;
  for (const [at, line] of text.split("\n").entries()) {
    if (FENCE.test(line)) fenced = !fenced;
    else if (!fenced) {
      const { paths, symbols } = findInLine(line.slice(0, MAX_LINE_CHARS));
      if (paths.length > 0) claims.push({ line: at + 1, paths, symbols });
    }
  }
  return claims;
}

function findInLine(line: string): Pick<Claims, "paths" | "symbols"> {
  const paths = new Set<string>();
  const symbols = new Set<string>();
  const rest = line.replace(CODE, (_, code: string) => {
    const path = CODE_PATH.exec(code.trim())?.[1];
    if (path && !path.includes("//") && (path.includes("/") || FILE_ENDING.test(path))) {
      paths.add(path.replace(/\/$/, ""));
    } else {
      const symbol = CODED.test(code) ? SYMBOL.exec(code.trim())?.[1] : undefined;
      if (symbol) symbols.add(symbol);
    }
    return " ";
  });
  for (const [, path] of rest.matchAll(PLAIN_PATH)) if (path) paths.add(path);
  return { paths: [...paths], symbols: [...symbols] };
}
