/** Which file a sentence says a name is in: "`run` in src/a.ts", "src/a.ts exports `run`". */

const NAME = "[`\"'*]*([A-Za-z_$][\\w$.:#]*)(?:\\([^()]{0,40}\\))?[`\"'*]*";
const KIND =
  "(?:(?:the|a|an|our)\\s+)?(?:(?:function|method|class|type|struct|hook|component|helper|constant|interface|module)\\s+)?";
const PATH = "[`\"'(*]*((?:\\.\\/)?[\\w@.+-]+(?:\\/[\\w@.+-]+)+|[\\w-]+\\.[a-z]{1,5}\\b)";
const IN =
  "(?:\\(|,?\\s*(?:which |that )?(?:lives?|sits|is|are|defined|found|comes|kept|declared|implemented|declared)?\\s*(?:defined |found |declared |implemented )?(?:in|from|at|inside|under|of)\\s+)(?:the\\s+)?(?:file\\s+)?";
const NAME_FIRST = new RegExp(`(?<![\\w$.\`])${NAME}\\s*${IN}${PATH}`, "g");
const PATH_FIRST = new RegExp(
  `(?<![\\w/])${PATH}[\`"')*]*(?:\\s+(?:has|holds|defines|exports|contains|provides|declares|implements|keeps)|\\s*[:—–])\\s+${KIND}${NAME}`,
  "g",
);

const IN_FIRST = new RegExp(`\\b[Ii]n\\s+(?:the\\s+file\\s+)?${PATH}[\`"')*]*,?\\s+${KIND}${NAME}`, "g");

/** Offset of the name in the sentence -> the path. */
export function findTies(text: string): ReadonlyMap<number, string> {
  const ties = new Map<number, string>();
  if (!/[/.]\w/.test(text)) return ties;
  for (const { 0: whole, 1: name = "", 2: path = "", index } of text.matchAll(NAME_FIRST)) {
    ties.set(index + whole.indexOf(name), clean(path));
  }
  for (const pattern of [PATH_FIRST, IN_FIRST]) {
    for (const { 0: whole, 1: path = "", 2: name = "", index } of text.matchAll(pattern)) {
      const at = index + whole.lastIndexOf(name);
      if (!ties.has(at)) ties.set(at, clean(path));
    }
  }
  return ties;
}

function clean(path: string): string {
  return path.replace(/^\.\//, "").replace(/[.,;:]+$/, "");
}
