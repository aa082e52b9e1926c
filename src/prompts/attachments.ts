/** What is told to a model in the course of a conversation, kind by kind; the fence around it is the queue's. */

interface Listed {
  name: string;
  description: string;
}

/** As hosts introduce a file that comes with a folder: its path and its text, nothing else. */
export function buildNestedInstructions(path: string, content: string): string {
  return `Contents of ${path}:\n\n${content}`;
}

/** "" for none, as with the lists below. */
export function buildAgentList(agents: readonly Listed[]): string {
  return buildList("Sub-agents that you can hand work to, by name:", agents);
}

export function buildSkillList(skills: readonly (Listed & { path: string })[]): string {
  // The path comes first: it must not be cut off with a long description.
  const rows = skills.map(({ name, description, path }) => ({ name: `${name} (${path})`, description }));
  return buildList(
    "Skills that may help with this. Read the file of one before you use it; ignore what does not fit:",
    rows,
  );
}

/** Names only: what a tool takes is sent when it is asked for. */
export function buildDeferredTools(names: readonly string[]): string {
  if (names.length === 0) return "";
  const rows = names.map((name) => `- ${oneLine(name)}`);
  return `These tools exist too, but are not loaded. Ask for one by its name before you call it:\n\n${rows.join("\n")}`;
}

/** What a connected server says about its use; null for a server that is gone. "" when it says nothing. */
export function buildServerInstructions(server: string, instructions: string | null): string {
  const name = oneLine(server);
  if (instructions === null)
    return `The MCP server "${name}" is disconnected: its tools and what it said no longer count.`;
  const text = instructions.trim();
  return text === "" ? "" : `The MCP server "${name}" is connected. It says about its tools:\n\n${text}`;
}

/** The same thing told again because it is different now. */
export function buildChange(text: string): string {
  return `This has changed; what was said of it earlier no longer counts.\n\n${text}`;
}

/** A list that was shown and has nothing in it any more. */
export function buildWithdrawal(kind: string, key: string): string {
  return `There is nothing left under "${oneLine(kind)}: ${oneLine(key)}"; what was said of it earlier no longer counts.`;
}

/** Enough to choose by; a description may be a page. */
const MAX_DESCRIPTION_CHARS = 300;

function buildList(title: string, rows: readonly Listed[]): string {
  if (rows.length === 0) return "";
  const lines = rows.map(({ name, description }) => {
    const words = clip(oneLine(description));
    return words === "" ? `- ${oneLine(name)}` : `- ${oneLine(name)}: ${words}`;
  });
  return `${title}\n\n${lines.join("\n")}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function clip(text: string): string {
  if (text.length <= MAX_DESCRIPTION_CHARS) return text;
  return `${text.slice(0, MAX_DESCRIPTION_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
