/** Values that the tests of state keep. */

export interface Value {
  name?: string;
  n: number;
  filler?: string;
}

export function any(value: unknown): Value | null {
  return typeof (value as Value)?.n === "number" ? (value as Value) : null;
}
