/** Two optional sections for hosts that clear old tool results to save room. */

/** `keepRecent`: how many of the newest results the host never clears. */
export function buildResultClearingSection(keepRecent: number): string {
  return `## Old tool results

When the conversation grows long, the contents of older tool results may be removed from it automatically. ${keptOf(keepRecent)} Do not count on scrolling back: what you will need later must stand in your own words, or be fetched again.`;
}

function keptOf(keepRecent: number): string {
  if (keepRecent <= 0) return "None is certain to stay.";
  return keepRecent === 1 ? "Only the newest one is sure to stay." : `Only the newest ${keepRecent} are sure to stay.`;
}

export const SUMMARIZE_TOOL_RESULTS_SECTION = `## Noting what tools found

When a tool result holds something you will need later (a number, a name, a line of code, an error text), write it down in your answer while the result is still in front of you. Of long output, state the gist and quote the few lines that matter; do not repeat it whole.`;
