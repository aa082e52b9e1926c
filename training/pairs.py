"""Parallel sentences from the message catalogues (.mo) of Debian packages: English and 13 other languages, as TSV."""
import re, struct, sys, random, collections
from pathlib import Path

LANGS = "de es fr it pt_BR pl nl cs ru uk ja ko zh_CN".split()
MAX_PER_LANG = int(sys.argv[3]) if len(sys.argv) > 3 else 40_000

def messages(path):
    data = path.read_bytes()
    if len(data) < 28: return
    order = "<" if data[:4] == b"\xde\x12\x04\x95" else ">"
    _, _, count, ids, texts = struct.unpack(order + "5I", data[:20])
    def text(at, i):
        length, offset = struct.unpack(order + "2I", data[at + 8 * i : at + 8 * i + 8])
        return data[offset : offset + length].decode("utf-8", "ignore")
    for i in range(count):
        source, target = text(ids, i), text(texts, i)
        yield source.split("\4")[-1].split("\0")[0], target.split("\0")[0]

def clean(text):
    text = re.sub(r"<[^<>]{1,60}>", " ", text)
    text = re.sub(r"\((?:_|&)?[A-Z]\)", "", text)              # a mnemonic of its own, as in CJK
    text = re.sub(r"(?<!\w)[_&~](?=\w)|(?<=\w)[&~](?=\w)", "", text)
    text = re.sub(r"%[-+ #0]*\d*(?:\$[-+ #0]*\d*)?(?:\.\d+)?[a-zA-Z%]|%\(\w+\)s|%\d|\{\w*\}|\$\(?\w+\)?", " ", text)
    text = text.replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    return re.sub(r"\s+", " ", text).strip(" .:…")

rng = random.Random(1)
found = {lang: {} for lang in LANGS}
for path in sorted(Path(sys.argv[1]).rglob("*.mo")):
    lang = next((p for p in path.parts if p in found or (p in ("pt-BR", "zh-CN")) or p == "pt-br"), None)
    lang = {"pt-BR": "pt_BR", "zh-CN": "zh_CN"}.get(lang, lang)
    if lang not in found: continue
    for source, target in messages(path):
        en, other = clean(source), clean(target)
        words = en.split()
        if not (1 <= len(words) <= 24) or len(en) < 4 or len(other) < 2 or len(other) > 220 or en == other: continue
        letters = sum(c.isalpha() for c in en)
        if letters < 0.6 * len(en) or not re.search(r"[a-z]{3}", en): continue
        found[lang].setdefault(en, other)
out = Path(sys.argv[2]); out.mkdir(exist_ok=True)
for lang, pairs in found.items():
    items = sorted(pairs.items()); rng.shuffle(items)
    # Sentences first: single menu entries are many and say little.
    items.sort(key=lambda p: 0 if 3 <= len(p[0].split()) <= 18 else 1)
    head = items[:MAX_PER_LANG]
    rng.shuffle(head)
    with open(out / f"{lang}.tsv", "w") as file:
        for en, other in head: file.write(f"{other}\t{en}\n")
    print(lang, len(items), len(head))
