/** What a command printed, bounded: its start and its end are kept, as errors come first or last. */

/** 1 MB in all; a conversation is shown less, but the file that the rest goes to may have it. */
const MAX_HALF_BYTES = 512 * 1024;

interface Output {
  add: (chunk: Buffer) => void;
  text(): string;
}

export function openOutput(maxHalf = MAX_HALF_BYTES): Output {
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;
  return {
    add(chunk) {
      total += chunk.length;
      const taken = chunk.subarray(0, Math.max(0, maxHalf - headBytes));
      head.push(taken);
      headBytes += taken.length;
      const rest = chunk.subarray(taken.length);
      if (rest.length === 0) return;
      tail.push(rest);
      tailBytes += rest.length;
      // Joined only when there is twice as much as needed, so that each byte is copied a few times at most.
      if (tailBytes < 2 * maxHalf) return;
      tail = [Buffer.from(Buffer.concat(tail).subarray(-maxHalf))];
      tailBytes = maxHalf;
    },
    text() {
      const end = Buffer.concat(tail).subarray(-maxHalf);
      const left = total - headBytes - end.length;
      const start = Buffer.concat(head);
      if (left === 0) return Buffer.concat([start, end]).toString();
      const note = `\n[… ${left.toLocaleString("en-US")} bytes left out …]\n`;
      return withoutHalves(start.toString()) + note + withoutHalves(end.toString());
    },
  };
}

/** Where it was cut, a character may be in halves. */
function withoutHalves(text: string): string {
  return text.replace(/^\ufffd{1,3}|\ufffd{1,3}$/g, "");
}
