/** Light or dark: as the system says, until a person says otherwise. */
import { makeStore } from "./store.ts";

export type Theme = "system" | "light" | "dark";

const KEPT = "memdir-theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export const theme = makeStore<Theme>("system");

export function startTheme(): void {
  const kept = localStorage.getItem(KEPT);
  if (kept === "light" || kept === "dark") apply(kept);
}

export function turnTheme(): void {
  apply(NEXT[theme.get()]);
  localStorage.setItem(KEPT, theme.get());
}

function apply(to: Theme): void {
  theme.set(to);
  if (to === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = to;
}
