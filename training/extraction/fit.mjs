// A network with one hidden layer, and a weight for each part of a word and class; both learnt by Adam with decaying weights.
import { makeRandom } from "./samples.mjs";

const BATCH = 64;

/**
 * @param {{ label: number, accepted: number[], weight: number, dense: Float32Array }[]} samples
 * @returns the rows of weights of both layers; each ends with what is added
 */
export function learnNetwork(samples, { classes, hidden, epochs, rate = 0.003, decay = 0.05, drop = 0.2, seed = 1 }) {
  const random = makeRandom(seed);
  const width = samples[0].dense.length;
  const makeRows = (rows, columns, spread) => Array.from({ length: rows }, () => makeRow(columns, spread));
  const makeRow = (columns, spread) =>
    makeState(Float32Array.from({ length: columns + 1 }, () => (random() - 0.5) * 2 * spread));
  const inner = makeRows(hidden, width, 0.05);
  const outer = makeRows(classes, hidden, 0.2);
  const order = samples.map((_, i) => i);
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, random);
    for (let from = 0; from < order.length; from += BATCH) {
      for (const i of order.slice(from, from + BATCH)) learn(samples[i]);
      step++;
      const lr = rate * Math.min(1, step / 50) * (1 - (0.95 * epoch) / epochs);
      for (const row of [...inner, ...outer]) adam(row, lr, step, decay);
    }
  }
  return { inner: inner.map(({ value }) => value), outer: outer.map(({ value }) => value) };

  function learn({ dense, label, accepted, weight }) {
    const held = inner.map(() => (random() < drop ? 0 : 1 / (1 - drop)));
    const tanh = inner.map(({ value }) => Math.tanh(dot(dense, value)));
    const h = tanh.map((x, o) => x * held[o]);
    const errors = errorsOf(softmax(outer.map(({ value }) => dot(h, value))), label, accepted, weight);
    const back = new Float32Array(hidden);
    outer.forEach(({ value, grad }, c) => {
      for (let o = 0; o < hidden; o++) {
        back[o] += errors[c] * value[o];
        grad[o] += (errors[c] * h[o]) / BATCH;
      }
      grad[hidden] += errors[c] / BATCH;
    });
    inner.forEach(({ grad }, o) => {
      const error = (back[o] * held[o] * (1 - tanh[o] ** 2)) / BATCH;
      if (error === 0) return;
      addTo(grad, dense, error);
    });
  }
}

/**
 * Apart from the network: learnt together, the two would make the same errors.
 * @param {{ label: number, accepted: number[], weight: number, buckets: number[] }[]} samples
 * @returns a row for each class; each ends with what is added
 */
export function learnWords(samples, { classes, buckets, epochs = 20, rate = 0.02, decay = 0.05, seed = 1 }) {
  const random = makeRandom(seed);
  const rows = Array.from({ length: classes }, () => makeState(new Float32Array(buckets + 1)));
  const order = samples.map((_, i) => i);
  let step = 0;
  for (let epoch = 0; epoch < epochs; epoch++) {
    shuffle(order, random);
    for (let from = 0; from < order.length; from += WORDS_BATCH) {
      for (const i of order.slice(from, from + WORDS_BATCH)) {
        const { buckets: own, label, accepted, weight } = samples[i];
        const share = 1 / Math.sqrt(own.length || 1);
        const scores = rows.map(({ value }) => own.reduce((sum, b) => sum + value[b], 0) * share + value[buckets]);
        const errors = errorsOf(softmax(scores), label, accepted, weight);
        rows.forEach(({ grad }, c) => {
          for (const b of own) grad[b] += (errors[c] * share) / WORDS_BATCH;
          grad[buckets] += errors[c] / WORDS_BATCH;
        });
      }
      step++;
      for (const row of rows) adam(row, rate * (1 - (0.9 * epoch) / epochs), step, decay);
    }
  }
  return rows.map(({ value }) => value);
}

const WORDS_BATCH = 256;

/** Part of what is to be learnt is the label; the rest is any of the classes that a reader would accept as well, as the model has it. */
const OWN = 0.3;

function errorsOf(shares, label, accepted, weight) {
  const sum = accepted.reduce((all, c) => all + shares[c], 0) || 1;
  return shares.map((share, c) => {
    const wanted = (c === label ? OWN : 0) + (accepted.includes(c) ? ((1 - OWN) * share) / sum : 0);
    return (share - wanted) * weight;
  });
}

const makeState = (value) => ({
  value,
  grad: new Float32Array(value.length),
  m: new Float32Array(value.length),
  v: new Float32Array(value.length),
});

/** Four sums side by side are three times as fast as one. */
function dot(x, row) {
  const { length } = x;
  let a = row[length];
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < length; i += 4) {
    a += x[i] * row[i];
    b += x[i + 1] * row[i + 1];
    c += x[i + 2] * row[i + 2];
    d += x[i + 3] * row[i + 3];
  }
  for (; i < length; i++) a += x[i] * row[i];
  return a + b + c + d;
}

/** The last one is what is always added. */
function addTo(row, x, factor) {
  for (let i = 0; i < x.length; i++) row[i] += factor * x[i];
  row[x.length] += factor;
}

function adam({ value, grad, m, v }, lr, step, decay) {
  const [b1, b2] = [1 - 0.9 ** step, 1 - 0.999 ** step];
  for (let i = 0; i < value.length; i++) {
    m[i] = 0.9 * m[i] + 0.1 * grad[i];
    v[i] = 0.999 * v[i] + 0.001 * grad[i] * grad[i];
    value[i] -= lr * (m[i] / b1 / (Math.sqrt(v[i] / b2) + 1e-8) + decay * value[i]);
    grad[i] = 0;
  }
}

function softmax(scores) {
  const max = Math.max(...scores);
  const all = scores.map((x) => Math.exp(x - max));
  const sum = all.reduce((a, b) => a + b, 0);
  return all.map((x) => x / sum);
}

function shuffle(list, random) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
}
