/**
 * Recall's look at the row cache in AssemblyScript: a fresh process runs JavaScript step by step at first, and ten thousand
 * steps are milliseconds; compiled code is quick from its first step on, and in a long-lived process it is no slower.
 *
 * scripts/build-kernel.mjs compiles this file and what it imports into scan-bytes.ts. The caller lays out the memory. Wherever a
 * list of entries is taken, some of them may be records, which stand for entries that are on disk.
 */

export { listRecords, listEntries, dropEarlier, findFile, matchNames, listNewest, summarise } from "./scan-rows";
export { matchTerms, listLengths, takePostings, addTerm } from "./scan-words";
export { matchVectors, matchEntry, matchCues, compareSigns, nearestText, summariseMeaning } from "./scan-meaning";
export { scoreAll, scoreSigns, floorOf, listAbove } from "./scan-scores";
