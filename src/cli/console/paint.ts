/** Colours and weights of the console: every function leaves the text as it is when colour is off. */

export interface Paint {
  /** Whether anything is painted: without it, texts say with characters what colour would have said. */
  on: boolean;
  bold(text: string): string;
  dim(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  strike(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  blue(text: string): string;
  magenta(text: string): string;
  cyan(text: string): string;
}

export function openPaint(color: boolean): Paint {
  const paint = (open: number, close: number) => (text: string) =>
    color && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return {
    on: color,
    bold: paint(1, 22),
    dim: paint(2, 22),
    italic: paint(3, 23),
    underline: paint(4, 24),
    strike: paint(9, 29),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    blue: paint(34, 39),
    magenta: paint(35, 39),
    cyan: paint(36, 39),
  };
}
