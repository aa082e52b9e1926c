import fc from "fast-check";
import picomatch from "picomatch";
import { expect, it } from "vitest";
import { compilePattern } from "../../src/tools/glob.ts";

function matches(pattern: string, file: string): boolean {
  return compilePattern(pattern).matches(file.split("/"));
}

it.each([
  ["*.ts", "a.ts", true],
  ["*.ts", "src/a.ts", false],
  ["**/*.ts", "a.ts", true],
  ["**/*.ts", "src/deep/a.ts", true],
  ["src/**", "src/a/b", true],
  ["src/**", "src", false],
  ["src/**/*.ts", "src/a.ts", true],
  ["./src/*.ts", "src/a.ts", true],
  ["src//a.ts", "src/a.ts", true],
  ["?.ts", "a.ts", true],
  ["?.ts", "😀.ts", true],
  ["?.ts", "ab.ts", false],
  ["[ab].ts", "b.ts", true],
  ["[!ab].ts", "b.ts", false],
  ["[^ab].ts", "c.ts", true],
  ["[a-c]x", "bx", true],
  ["[a-c]x", "dx", false],
  ["[]", "[]", true],
  ["[a", "[a", true],
  ["*.{ts,tsx}", "a.tsx", true],
  ["*.{ts,js}", "a.css", false],
  ["{src,test}/**/*.{ts,{js,jsx}}", "test/a/b.jsx", true],
  ["{a}", "{a}", true],
  ["{a,b", "{a,b", true],
  ["a{,b}", "a", true],
  ["\\*.ts", "*.ts", true],
  ["\\*.ts", "a.ts", false],
  [".*", ".hidden", true],
  ["*", ".hidden", true],
  ["A.ts", "a.ts", false],
  ["*a*a*a*", "banana", true],
  ["caf\u00e9", "cafe\u0301", true],
  ["", "a", false],
])("%j on %j: %s", (pattern, file, expected) => {
  expect(matches(pattern, file)).toBe(expected);
});

it("agrees with picomatch where both mean the same", () => {
  const part = fc.constantFrom("a", "b", "ab", "*", "a*", "*b", "?", "**", "[ab]", "{a,b}", "a{b,}");
  const name = fc.constantFrom("a", "b", "ab", "abb", "ba");
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.array(name, { minLength: 1, maxLength: 4 }),
      (parts, names) => {
        // At the end picomatch takes `a/**` for `a`, too.
        fc.pre(parts.at(-1) !== "**");
        const pattern = parts.join("/");
        const file = names.join("/");
        expect(matches(pattern, file), `${pattern} on ${file}`).toBe(picomatch(pattern, { dot: true })(file));
      },
    ),
  );
});

it("knows which folders can hold a match", () => {
  const pattern = compilePattern("src/**/x/*.ts");
  expect(pattern.mayHold([])).toBe(true);
  expect(pattern.mayHold(["src", "a"])).toBe(true);
  expect(pattern.mayHold(["test"])).toBe(false);
  expect(compilePattern("a/*").mayHold(["a", "b"])).toBe(false);
});

it("nothing keeps it busy", () => {
  expect(() => compilePattern("{a,b}".repeat(30))).toThrow("too many alternatives");
  expect(matches(`${"*a".repeat(50)}b`, "a".repeat(5000))).toBe(false);
  expect(matches(`${"**/".repeat(50)}b`, `${"a/".repeat(500)}c`)).toBe(false);
  expect(matches("{".repeat(2000), "x")).toBe(false);
  expect(() => compilePattern("{a,".repeat(500))).not.toThrow();
});
