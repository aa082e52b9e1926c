/** An instruction file as a host loads it, and one that it does not load with the reason. */

export type InstructionSource = "managed" | "user" | "project" | "local";

export interface InstructionFile {
  path: string;
  /** How the host introduces it. */
  label: string;
  source: InstructionSource;
  /** Frontmatter and block comments are gone; at start also the blank space around it. */
  content: string;
  /** Characters of the content. */
  size: number;
  /** The file that imported it, or null. */
  importedBy: string | null;
}

export interface SkippedFile {
  path: string;
  reason: string;
}

export const LABELS: Readonly<Record<InstructionSource, string>> = {
  managed: "organization-managed policy instructions",
  user: "user's private global instructions for all projects",
  project: "project instructions, checked into the codebase",
  local: "user's private project instructions, not checked in",
};
