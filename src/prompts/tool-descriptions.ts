/** The words that describe each tool to the model, and each of its inputs. No clock, no paths: the same bytes in every session. */

interface ToolWords {
  description: string;
  inputs: Readonly<Record<string, string>>;
}

export const TOOL_WORDS = {
  Read: {
    description: `Reads a text file and returns its lines, each with its number and an arrow in front, which are not part of the file.

- A file of up to 2,000 lines is returned at once; for longer ones ask for parts with offset and limit. Lines over 2,000 characters are cut.
- Read a file before you change it. After a partial read only the lines that you were shown can be edited.
- Files outside the working directory may need the user's permission. For directories use Glob.
- Files that do not depend on each other are best read in one turn.`,
    inputs: {
      file_path: "The file; relative paths start at the working directory",
      offset: "The first line to show, counted from 1",
      limit: "How many lines to show",
    },
  },
  Write: {
    description: `Writes a whole file: a new one, with the folders it needs, or in place of an existing one.

- An existing file must have been read completely and be unchanged since; otherwise this is refused, and you read it again.
- To change parts of a file prefer Edit.
- The user may be asked for permission and may deny it. Then do not try to write it another way.`,
    inputs: {
      file_path: "The file; relative paths start at the working directory",
      content: "All of the new content",
    },
  },
  Edit: {
    description: `Replaces one piece of text in a file with another.

- Read the file first; an edit of what you have not read, or what has changed since, is refused.
- old_string must match the file exactly, with its indentation and without the line numbers that Read shows, and occur only once: include neighbouring lines until it is unique, or set replace_all to change every place.
- An empty old_string creates a new file.
- Line endings stay as they are in the file. The user may be asked for permission and may deny it.`,
    inputs: {
      file_path: "The file; relative paths start at the working directory",
      old_string: "The text to replace",
      new_string: "What comes in its place",
      replace_all: "Change every place where old_string occurs (default false)",
    },
  },
  Glob: {
    description: `Finds files by their names, newest first.

- Patterns: * within a name, ** across folders, ? one character, [abc], {a,b}. "*.ts" looks in one folder only, "**/*.ts" in all below it.
- .git and node_modules are skipped unless the pattern or path names them. At most 100 names are shown.
- To search in the files' contents use Grep.`,
    inputs: {
      pattern: "The pattern, e.g. src/**/*.{ts,tsx}",
      path: "The folder to look in (default: the working directory)",
    },
  },
  Grep: {
    description: `Searches the contents of files with a regular expression (JavaScript's syntax; escape { } ( ) [ ] . when they are meant literally).

- Use this rather than grep, rg or find in Bash: it needs no permission in the working directory and its output is bounded.
- output_mode: "files_with_matches" (default) names files, newest first; "content" shows the lines; "count" counts them per file.
- Binary files, files over 10 MB, .git, node_modules and what .gitignore names are skipped; name a file in path to search it anyway.
- Patterns match within one line, unless multiline is set.`,
    inputs: {
      pattern: "The regular expression",
      path: "The file or folder to search (default: the working directory)",
      glob: "Only files that match, e.g. *.ts or src/**/*.{js,jsx}; with ! in front, all others",
      output_mode: "What to show",
      "-i": "Ignore case",
      "-n": "Show line numbers with content (default true)",
      "-A": "Lines to show after each match, with content",
      "-B": "Lines to show before each match, with content",
      "-C": "Lines to show before and after each match, with content",
      head_limit: "Show at most this many lines or files (default 250)",
      multiline: "Let the pattern span lines; the dot matches line breaks, too",
    },
  },
  Bash: {
    description: `Runs a command in a shell in the working directory and returns what it printed, standard output and errors together, and its exit code.

- For tests, builds, git and the like. To read, search or change files use Read, Grep, Glob and Edit instead.
- Each call starts in the working directory: cd and variables do not persist, and nothing keeps running after the command ends. There is no input to answer questions with.
- It is stopped after 120 seconds unless timeout says otherwise. The middle of very long output is omitted.
- Each program may need the user's permission. When it is denied, do not try another way. Plain commands, without substitutions and redirections, are asked about less often.
- API keys, tokens and passwords in the environment are not passed on.`,
    inputs: {
      command: "The command",
      timeout: "Milliseconds after which it is stopped (default 120000, at most 600000)",
      description: "What it does, in a few words, for the user who is asked",
    },
  },
} as const satisfies Record<string, ToolWords>;
