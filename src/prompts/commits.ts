/** How the agent commits, and what it adds to what it writes there. */

/** The suffix of a commit message and of a pull request; null for none. */
export interface Attribution {
  commit: string | null;
  pr: string | null;
}

/** Equal input gives equal bytes. */
export function buildCommitSection({ commit, pr }: Attribution): string {
  return [RULES, suffixOf("commit message", commit), suffixOf("description of a pull request", pr)]
    .filter((part) => part !== "")
    .join("\n\n");
}

const RULES = `## Commits

- Commit only when the user asks for it; push, open a pull request or rewrite history only when they ask for exactly that.
- Look first: status, the full diff, and a few earlier messages, whose style you follow.
- Add files by name, and only those that belong to the change. Nothing that may hold a secret, such as keys, tokens or \`.env\` files: if one is in the way, say so.
- The message says why the change was made; what was changed shows in the diff.
- Leave hooks and signing on. When a hook refuses, mend the cause and commit again; do not go around it.
- Do not touch git's configuration.`;

function suffixOf(where: string, text: string | null): string {
  if (text === null) return "";
  // Indented, so that nothing in it is read as a heading or a list of ours.
  const lines = text.split("\n").map((line) => (line === "" ? "" : `    ${line}`));
  return `End the ${where} with an empty line and then exactly this, not indented:\n\n${lines.join("\n")}`;
}
