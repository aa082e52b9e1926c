/** The parts of the product that training uses. */

export { BUCKETS, bucketsOf, DENSE, featuresOf } from "../../src/learn/said-classifier.ts";
export { findEmbed } from "../../src/meaning/meaning.ts";
export { splitSpeech } from "../../src/text/speech.ts";
