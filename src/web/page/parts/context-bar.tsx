/** What fills the model's context: one bar of all parts, and its legend as a table with bytes and tokens. */
import type { VNode } from "preact";
import type { Overview } from "../../api.ts";
import { formatBytes } from "./format.ts";

/** As many colours as the style has. */
const COLOURS = 6;

export function ContextBar({ parts }: { parts: Overview["context"] }): VNode {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const tokens = parts.reduce((sum, part) => sum + part.tokens, 0);
  if (bytes === 0)
    return (
      <p class="soft">Nothing yet. Instructions, the index, rules and what is recalled will stand here by size.</p>
    );
  const widthOf = (part: { bytes: number }) => `${((part.bytes / bytes) * 100).toFixed(2)}%`;
  return (
    <div class="context-bar">
      <div
        class="stacked-bar"
        role="img"
        aria-label={`${formatBytes(bytes)} in ${parts.length} parts; the table has the sizes`}
      >
        {parts.map((part, at) =>
          part.bytes === 0 ? null : (
            <span
              key={part.part}
              class={`chart-${(at % COLOURS) + 1}`}
              style={{ width: widthOf(part) }}
              title={`${part.part} ${formatBytes(part.bytes)}`}
            />
          ),
        )}
      </div>
      <table class="counts legend-table">
        <caption class="hidden">Parts of the context with bytes and tokens</caption>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col" class="number">
              Size
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part, at) => (
            <tr key={part.part}>
              <th scope="row">
                <span class={`swatch chart-${(at % COLOURS) + 1}`} aria-hidden="true" />
                {part.part}
              </th>
              <td class="number">{formatBytes(part.bytes)}</td>
              <td class="number">≈ {part.tokens.toLocaleString()}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">In all</th>
            <td class="number">{formatBytes(bytes)}</td>
            <td class="number">≈ {tokens.toLocaleString()}</td>
          </tr>
        </tfoot>
      </table>
    </div>
  );
}
