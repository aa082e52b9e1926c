/** English words cut to their stem (Porter's second algorithm), so that deploy, deploys and deploying are one term. */

// @ts-expect-error: the package brings no types.
import porter2 from "wink-porter2-stemmer";

/** `word` in lower case; anything but a–z and apostrophes is given back as it is, and so is what is too long for a word. */
export function stem(word: string): string {
  // The package's expressions take time that grows with the square of the length.
  return /^[a-z']{3,45}$/.test(word) ? porter2(word) : word;
}
