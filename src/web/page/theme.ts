/** Light or dark: the system's setting, until the person chooses. */
import { makeStore } from "./store.ts";

type Theme = "system" | "light" | "dark";

const THEME_KEY = "memdir-theme";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export const theme = makeStore<Theme>("system");

export function startTheme(): void {
  const kept = localStorage.getItem(THEME_KEY);
  if (kept === "light" || kept === "dark") applyTheme(kept);
}

export function turnTheme(): void {
  applyTheme(NEXT[theme.get()]);
  localStorage.setItem(THEME_KEY, theme.get());
}

function applyTheme(to: Theme): void {
  theme.set(to);
  document.documentElement.style.colorScheme = to === "system" ? "" : to;
}
