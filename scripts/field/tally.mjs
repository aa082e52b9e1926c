/** A figure is a value and its base `n`: a number, a share, or how often each word occurs. */

export function sum(numbers) {
  return numbers.reduce((all, each) => all + each, 0);
}

export function value(what, n = null) {
  return { value: what, n };
}

export function share(count, n) {
  return { value: count, n, percent: n === 0 ? null : Math.round((1000 * count) / n) / 10 };
}

/** The most frequent first. */
export function tally(words) {
  const counts = new Map();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { value: Object.fromEntries([...counts].sort((a, b) => b[1] - a[1])), n: words.length };
}
