/** The word pieces of an uncased BERT model: a text in, the numbers of its pieces out. */
import { MemdirError } from "../errors.ts";
import { VOCABULARY_BYTES } from "./kernel-bytes.ts";
import { openWasm } from "./wasm.ts";
import { eachWord, MAX_WORD_LETTERS } from "./word-split.ts";

/** A letter takes up to 4 bytes of UTF-8. */
const WORD_BYTES = 4 * MAX_WORD_LETTERS;
const TABLE_BYTES = 65536 * 8;
const PIECES_BYTES = WORD_BYTES * 4;
const KEY = '"vocab":';

/**
 * @param json the bytes of a Hugging Face `tokenizer.json`; only its vocabulary is read.
 * @throws MemdirError when there is none
 */
export function openWordPieces(json: Buffer) {
  const split = openVocabulary(json);
  const [cls, sep, unknown] = ["[CLS]", "[SEP]", "[UNK]"].map((name) => {
    const pieces = split(name);
    if (pieces.length !== 1) throw broken(`${name} is missing`);
    return pieces[0] as number;
  }) as [number, number, number];
  return {
    /** From [CLS] to [SEP], at most `maxTokens`, which is 2 or more. Must not throw, whatever the text. */
    encode(text: string, maxTokens: number): number[] {
      const ids = [cls];
      eachWord(text, (word) => {
        const pieces = word === null ? [] : split(word);
        if (pieces.length === 0) ids.push(unknown);
        else ids.push(...pieces);
        return ids.length < maxTokens - 1;
      });
      ids.length = Math.min(ids.length, maxTokens - 1);
      ids.push(sep);
      return ids;
    },
  };
}

/** A function that splits a word; its result is overwritten by the next call, and empty if a part is unknown. */
function openVocabulary(json: Buffer): (word: string) => Int32Array {
  const start = json.indexOf(KEY);
  if (start < 0) throw broken("it has no vocabulary");
  const [out, word, table] = [0, PIECES_BYTES, PIECES_BYTES + WORD_BYTES];
  const from = table + TABLE_BYTES;
  const vocabulary = openWasm<"indexWords" | "splitWord">(VOCABULARY_BYTES, from + json.length);
  const { memory } = vocabulary;
  memory.set(json.subarray(start + KEY.length), from);
  if (vocabulary.indexWords(from, from + json.length - start - KEY.length, table) < 0)
    throw broken("its vocabulary cannot be read");
  const encoder = new TextEncoder();
  const place = memory.subarray(word, word + WORD_BYTES);
  return (text) => {
    const { written } = encoder.encodeInto(text, place);
    return new Int32Array(memory.buffer, out, vocabulary.splitWord(word, written, table, out));
  };
}

function broken(what: string): MemdirError {
  return new MemdirError("broken", `tokenizer.json of the sentence model cannot be used: ${what}; reinstall the model`);
}
