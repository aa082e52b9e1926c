/** A long document in pieces: its sections by heading, its list items. Code fences are looked through. */

interface Section {
  /** Headings from the outermost, the section's own last; none for what stands before the first. */
  path: string[];
  body: string;
}

/** Sections of headings up to `depth`; deeper ones stay in the text of theirs. */
export function splitSections(text: string, depth = 2): Section[] {
  const sections: Section[] = [];
  let path: { level: number; title: string }[] = [];
  let lines: string[] = [];
  const end = () => {
    const body = lines.join("\n").trim();
    if (body !== "") sections.push({ path: path.map(({ title }) => title), body });
    lines = [];
  };
  for (const { line, isCode } of linesOf(text)) {
    const heading = isCode ? null : headingOf(line);
    if (heading && heading.level <= depth) {
      end();
      path = [...path.filter(({ level }) => level < heading.level), heading];
    } else lines.push(line);
  }
  end();
  return sections;
}

/** `## Title ##` as its level and title; null for any other line. */
export function headingOf(line: string): { level: number; title: string } | null {
  const marks = /^ {0,3}(#{1,6})(?=[ \t])/.exec(line);
  if (!marks) return null;
  const title = line.slice(marks[0].length).trim();
  // Marks behind it close it, if a space stands before them; by hand, as a pattern would take the square of a long line.
  let end = title.length;
  while (title[end - 1] === "#") end--;
  const isClosed = end === 0 || /[ \t]/.test(title[end - 1] as string);
  return { level: (marks[1] as string).length, title: isClosed ? title.slice(0, end).trimEnd() : title };
}

/** The items of the outermost list, each with the lines that belong to it. */
export function splitItems(text: string): string[] {
  const items: string[][] = [];
  for (const { line, isCode } of linesOf(text)) {
    const item = isCode ? null : /^ {0,1}(?:[-*+]|\d{1,9}[.)])[ \t]+(.*)$/.exec(line);
    if (item) items.push([item[1] as string]);
    else items.at(-1)?.push(line);
  }
  return items.map((lines) => outdent(lines).trim()).filter((item) => item !== "");
}

function outdent(lines: readonly string[]): string {
  return lines.map((line, at) => (at === 0 ? line : line.replace(/^ {1,4}|^\t/, ""))).join("\n");
}

/** Every line, and whether it belongs to a code block; the fences themselves do. */
function linesOf(text: string): { line: string; isCode: boolean }[] {
  let fence: string | null = null;
  return text.split("\n").map((line) => {
    const mark = /^\s*(`{3,}|~{3,})(.*)$/.exec(line);
    if (fence === null && mark) {
      fence = mark[1] as string;
      return { line, isCode: true };
    }
    const isCode = fence !== null;
    if (fence !== null && mark?.[1]?.startsWith(fence) && mark[2]?.trim() === "") fence = null;
    return { line, isCode };
  });
}
