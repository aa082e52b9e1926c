/** The parts of the product that training uses. */

export { BUCKETS, bucketsOf, featuresOf } from "../../src/learn/said-classifier.ts";
export { splitSpeech } from "../../src/learn/said-speech.ts";
export { findEmbed } from "../../src/meaning/meaning.ts";
