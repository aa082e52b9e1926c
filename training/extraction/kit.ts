/** The parts of the product that measuring uses. */

export { findEmbed } from "../../src/meaning/meaning.ts";
export { formatFigures, measure, measureTalk, readLabelled, readLines } from "../../test/learn/measure.ts";
