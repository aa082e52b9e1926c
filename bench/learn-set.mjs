// What the offline extractor keeps of labelled conversations: learn.mjs --set FILE [--set FILE …] [--talk FILE].
// FILE is a set as training/extraction/FORMAT.md describes it; --talk is a text file with one message a line and nothing to keep.
import path from "node:path";
import { loadSource } from "../training/bundle.mjs";

/** @param {{ set?: string[], talk?: string[] }} files */
export async function measureSets({ set = [], talk = [] }) {
  const kit = await loadSource(path.join(import.meta.dirname, "../training/extraction/kit.ts"));
  const embed = kit.findEmbed();
  const parts = embed ? [] : ["The sentence model is not installed: only explicit requests are kept."];
  for (const file of set) {
    const all = kit.readLabelled(path.resolve(file));
    const figures = await kit.measure(all, embed);
    const both = await kit.measure(all, embed, true);
    parts.push(`# ${path.basename(file)}: ${all.length} conversations`, kit.formatFigures(figures));
    parts.push(`with the inbox: precision ${both.precision.toFixed(3)}, recall ${both.recall.toFixed(3)}`);
  }
  for (const file of talk) {
    const lines = kit.readLines(path.resolve(file));
    const { kept, unsure } = await kit.measureTalk(lines, embed);
    parts.push(
      `# ${path.basename(file)}: ${kept.length} of ${lines.length} lines kept, ${unsure.length} in the inbox`,
      ...kept,
      "in the inbox:",
      ...unsure,
    );
  }
  return parts.join("\n");
}
