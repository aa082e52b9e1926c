/** The editor for a memory's file: CodeMirror with line numbers, findings, names after `[[`, and a comparison with another text. */
import { autocompletion, type CompletionSource, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { getChunks, unifiedMergeView } from "@codemirror/merge";
import { Compartment, EditorState, type Range, Text } from "@codemirror/state";
import { Decoration, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { commonEnds } from "../../../text/diff.ts";

export interface Finding {
  /** From 1. */
  line: number;
  message: string;
  isError: boolean;
}

interface EditorOptions {
  text: string;
  label: string;
  onChange: (text: string) => void;
  /** Names of memories that contain these letters. */
  findNames: (letters: string) => Promise<string[]>;
}

export type Editor = ReturnType<typeof openEditor>;

/** In a shadow tree, because the page allows no style elements: there CodeMirror uses sheets that are made by code. */
export function openEditor(host: HTMLElement, options: EditorOptions) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const comparing = new Compartment();
  const view = new EditorView({
    ...{ parent: root, root },
    state: EditorState.create({
      doc: options.text,
      extensions: [
        ...[lineNumbers(), history(), highlightActiveLine(), lintGutter(), EditorView.lineWrapping, markdown, THEME],
        autocompletion({ override: [openNames(options.findNames)], icons: false }),
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) options.onChange(state.doc.toString());
        }),
        comparing.of([]),
      ],
    }),
  });
  view.focus();
  return {
    /** Keeps the cursor where the text around it stays. */
    setText(text: string): void {
      const now = view.state.doc.toString();
      if (text === now) return;
      const { head, tail } = commonEnds(now.split(""), text.split(""));
      view.dispatch({ changes: { from: head, to: now.length - tail, insert: text.slice(head, text.length - tail) } });
    },
    setFindings(findings: readonly Finding[]): void {
      const { doc } = view.state;
      const placed = findings.map(({ line, message, isError }) => {
        const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
        return { from, to, message, severity: isError ? ("error" as const) : ("warning" as const) };
      });
      view.dispatch(setDiagnostics(view.state, placed));
    },
    /** Marks what differs from this text, with a button for each place; null ends that. */
    compareWith(text: string | null): void {
      const compared =
        text === null
          ? []
          : unifiedMergeView({
              original: Text.of(text.split("\n")),
              mergeControls: makeControl,
              highlightChanges: true,
            });
      view.dispatch({ effects: comparing.reconfigure(compared) });
      const [first] = getChunks(view.state)?.chunks ?? [];
      if (first) view.dispatch({ effects: EditorView.scrollIntoView(first.fromB, { y: "center" }) });
    },
    close: () => view.destroy(),
  };
}

function makeControl(kind: "accept" | "reject", act: (event: MouseEvent) => void): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = kind === "accept" ? "Keep mine" : "Take theirs";
  button.addEventListener("mousedown", act);
  // A press of Enter is a click, without a press of the mouse.
  button.addEventListener("click", (event) => {
    if (event.detail === 0) act(event);
  });
  return button;
}

function openNames(findNames: EditorOptions["findNames"]): CompletionSource {
  return async (context) => {
    const found = context.matchBefore(/\[\[[^\]\n]*$/);
    if (!found) return null;
    const names = await findNames(found.text.slice(2));
    return { from: found.from + 2, options: names.map((label) => ({ label, apply: `${label}]]` })), filter: false };
  };
}

// --- Colours for the head's fields and for Markdown, by line: a memory is a page, and a grammar would be larger than the editor.

const MARKS: [RegExp, Decoration][] = [
  [/^#{1,6} .*$/g, Decoration.mark({ class: "md-heading" })],
  [/\*\*[^*\n]+\*\*/g, Decoration.mark({ class: "md-strong" })],
  [/`[^`\n]+`/g, Decoration.mark({ class: "md-code" })],
  [/\[\[[^\]\n]+\]\]|\[[^\]\n]+\]\([^)\n]+\)/g, Decoration.mark({ class: "md-link" })],
];
const FIELD: [RegExp, Decoration][] = [[/^\s*(?:- )?[\w-]+:(?=\s|$)/g, Decoration.mark({ class: "md-field" })]];
const FENCE: [RegExp, Decoration][] = [[/^---\s*$/g, Decoration.mark({ class: "md-field" })]];

/** What is visible is coloured anew with every update: a screen of lines. */
const markdown = EditorView.decorations.of(({ state: { doc }, visibleRanges }) => {
  const end = headEnd(doc);
  const found: Range<Decoration>[] = [];
  for (const { from, to } of visibleRanges) {
    for (let line = doc.lineAt(from); ; line = doc.line(line.number + 1)) {
      const marks = line.number === 1 || line.number === end ? FENCE : line.number < end ? FIELD : MARKS;
      for (const [pattern, mark] of marks)
        for (const match of line.text.matchAll(pattern))
          found.push(mark.range(line.from + match.index, line.from + match.index + match[0].length));
      if (line.to >= to || line.number === doc.lines) break;
    }
  }
  return Decoration.set(found, true);
});

/** A longer head is none. */
const MAX_HEAD_LINES = 200;

/** The line of the second fence; 0 if there is no head. */
function headEnd(doc: Text): number {
  if (doc.line(1).text.trim() !== "---") return 0;
  for (let number = 2; number <= Math.min(doc.lines, MAX_HEAD_LINES); number++)
    if (doc.line(number).text.trim() === "---") return number;
  return 0;
}

const THEME = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--raised)", fontSize: "0.875rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", minHeight: "24rem" },
  ".cm-content": { caretColor: "var(--ink)", padding: "0.5rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--soft)", backgroundColor: "var(--sunken)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  "&.cm-focused .cm-selectionBackground, ::selection": { backgroundColor: "var(--accent-wash)" },
  ".cm-tooltip": { color: "var(--ink)", backgroundColor: "var(--raised)", border: "1px solid var(--line-strong)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { color: "var(--accent-ink)", backgroundColor: "var(--accent)" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-wash)", color: "var(--bad)" },
  ".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--good-wash)" },
  ".cm-changedText": { background: "color-mix(in srgb, var(--good) 25%, transparent)" },
  ".cm-chunkButtons": { insetInlineEnd: "0.5rem" },
  ".cm-chunkButtons button": {
    ...{ marginInlineStart: "0.25rem", padding: "0 0.5rem", border: "1px solid var(--line-strong)" },
    ...{
      borderRadius: "0.25rem",
      background: "var(--raised)",
      color: "var(--ink)",
      font: "inherit",
      cursor: "pointer",
    },
  },
  ".md-heading, .md-strong": { fontWeight: "650" },
  ".md-code": { color: "var(--warn)" },
  ".md-link, .md-field": { color: "var(--accent)" },
});
