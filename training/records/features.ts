/** The parts of the product that training uses. */

export { findEmbed } from "../../src/meaning/meaning.ts";
export { featuresOf } from "../../src/truth/past-work.ts";
