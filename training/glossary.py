"""
A glossary from parallel sentences: what a word of another language means, as a mixture of up to three pieces of MiniLM's own vocabulary.
Words are aligned by IBM's first model (expectation maximisation over co-occurrence), each language by itself, then merged.
"""
import collections, math, re, sys
from pathlib import Path
import numpy as np
from minilm import Tokenizer, split_words, DENSE, dense_runs

MIN_COUNT = {"ko": 6, "ja": 10, "zh_CN": 10}
MOST = {"ko": 9000, "ja": 8000, "zh_CN": 8000}
ROUNDS = 6
STOP = set("the a an of to in on for is are be and or it its this that with as at by from was were has have had not no do does did can could will would should you your i we they he she them there here if then than but so such into about all any each which what when where who how also been being more most other only own same very just may must shall per via let please s t . , : ; ! ? - _ / ( ) [ ] { } \" ' ` = + * & % # @ < > | ~ ^ \\ ## 0 1 2 3 4 5 6 7 8 9".split())

def sentences(path):
    for line in open(path):
        other, en = line.rstrip("\n").split("\t")
        yield other, en

def pieces_of_dense(texts, least):
    """Strings of up to four characters that occur often enough, and not only inside a longer one."""
    counts = collections.Counter()
    for text in texts:
        for run in dense_runs(text):
            for at in range(len(run)):
                for size in range(1, 6):
                    if at + size <= len(run): counts[run[at : at + size]] += 1
    kept = {}
    for piece, n in counts.items():
        if n < least: continue
        if len(piece) > 1:
            chance = counts[piece[:-1]] * counts[piece[1:]] ** 0.5
            if n < 0.06 * min(counts[piece[:-1]], counts[piece[1:]]): continue
        kept[piece] = n
    return kept

def segment(run, known, longest):
    out, at = [], 0
    while at < len(run):
        for end in range(min(len(run), at + longest), at, -1):
            if run[at:end] in known: break
        else: end = at + 1
        out.append(run[at:end]); at = end
    return out

def units(text, known):
    """Words; of scripts without spaces, and of Korean, known strings."""
    out = []
    for word in split_words(text):
        if DENSE.match(word[0]): out += segment(word, known, 5)
        elif any(c.isalpha() for c in word): out.append(word)
    return out

def align(pairs, known, tokenizer):
    foreign, english = {}, {}
    rows = []
    for other, en in pairs:
        f = sorted({foreign.setdefault(u, len(foreign)) for u in units(other, known)})
        e = sorted({english.setdefault(w, len(english)) for w in split_words(en) if len(tokenizer.pieces(w)) <= 2})
        if f and e and len(f) <= 30 and len(e) <= 30: rows.append((f, e + [-1]))
    counts = np.zeros(len(foreign)); 
    fs, es, sent = [], [], []
    for i, (f, e) in enumerate(rows):
        for x in f:
            counts[x] += 1
            fs += [x] * len(e); es += e; sent += [i * 64 + f.index(x)] * len(e)
    fs = np.array(fs); es = np.array(es) % (len(english) + 1)   # the last one stands for nothing
    _, group = np.unique(np.array(sent), return_inverse=True)
    keys, pair = np.unique(fs.astype(np.int64) * (len(english) + 1) + es, return_inverse=True)
    kf, ke = keys // (len(english) + 1), keys % (len(english) + 1)
    # P(foreign | english), so that an English word explains what it is there for.
    p = np.ones(len(keys))
    for _ in range(ROUNDS):
        p /= np.bincount(ke, p, len(english) + 1)[ke] + 1e-12
        share = p[pair]; share /= np.bincount(group, share)[group] + 1e-12
        p = np.bincount(pair, share, len(keys))
    # Expected counts: of a foreign unit's occurrences, how many each English word explains.
    names_f = list(foreign); names_e = list(english) + [None]
    found = collections.defaultdict(list)
    for k in np.flatnonzero(p >= 1.0):
        found[names_f[kf[k]]].append((p[k], names_e[ke[k]]))
    return {u: (counts[foreign[u]], sorted(l, key=lambda x: -x[0])) for u, l in found.items()}

def main(pairs_dir, more_dir, out):
    tokenizer = Tokenizer(); base = tokenizer.ids
    more = collections.defaultdict(list)
    for path in sorted(Path(more_dir).glob("parallel*.txt")):
        for line in path.open():
            cells = line.rstrip("\n").split("\t")
            if len(cells) == 3: more[{"zh": "zh_CN", "pt": "pt_BR"}.get(cells[0], cells[0])] += [(cells[1], cells[2])] * 4
    english = collections.Counter(w for p in Path(pairs_dir).glob("*.tsv") for _, en in sentences(p) for w in split_words(en))
    written = collections.Counter(w for p in Path(more_dir).glob("*.txt") if p.name[:2] in ("sy", "w1", "w2", "w3") for w in split_words(p.read_text()))
    prefixes = {w[:n] for w, c in (english + written).items() if c >= 5 for n in range(4, len(w) + 1)}
    merged = collections.defaultdict(collections.Counter)
    weight = collections.Counter()
    markers = set()
    for path in sorted(Path(pairs_dir).glob("*.tsv")):
        lang = path.stem
        pairs = list(sentences(path)) + more[lang]
        known = pieces_of_dense((o for o, _ in pairs), MIN_COUNT[lang]) if lang in MIN_COUNT else {}
        aligned = align(pairs, known, tokenizer)
        entries = {}
        stems = collections.defaultdict(list)
        for unit, (n, glosses) in aligned.items():
            if n < 4: continue
            is_dense = bool(DENSE.match(unit[0]))
            if not is_dense:
                if len(unit) < 3 or english[unit] > 0.1 * n or (unit in base and len(unit) < 4): continue
            entries[unit] = (n, glosses)
            if not is_dense and len(unit) >= 6:
                for cut in (1, 2):
                    if len(unit) - cut >= 5: stems[unit[:-cut]].append((n, glosses))
        for stem, members in stems.items():
            if stem in entries or len(members) < 2 or stem in prefixes: continue
            total = collections.Counter()
            for _, glosses in members:
                for c, e in glosses: total[e] += c
            n = sum(m[0] for m in members)
            entries[stem] = (n, sorted(((c, e) for e, c in total.items()), key=lambda x: -x[0]))
        if lang not in MIN_COUNT and lang not in ("ru", "uk"):
            # The commonest words of a language tell it from English.
            common = collections.Counter(w for o, _ in pairs for w in split_words(o) if len(w) > 1 and w.isalpha())
            markers |= {w for w, n in common.most_common(120) if english[w] + 20 * written[w] < 0.02 * n}
        kept = 0
        for unit, (n, glosses) in sorted(entries.items(), key=lambda x: -x[1][0])[: MOST.get(lang, 6000)]:
            share = [(c / n, e) for c, e in glosses if e is not None and e not in STOP][:3]
            share = [(s, e) for s, e in share if s >= 0.12 and s >= 0.3 * share[0][0]]
            if share and unit not in (e for _, e in share):
                for s, e in share: merged[unit][e] += s * n
                weight[unit] += n; kept += 1
            elif not share and glosses and n >= 30: weight[unit] += n; merged[unit]; kept += 1     # a function word
        print(lang, len(pairs), "pairs", len(aligned), "units", kept, "kept", flush=True)
    with open(out, "w") as file:
        for unit in sorted(merged, key=lambda u: (-weight[u], u)):
            top = merged[unit].most_common(3); total = sum(c for _, c in top)
            ids = [i for e, _ in top for i in tokenizer.pieces(e)]
            if top and base["[UNK]"] in ids: continue
            mix = " ".join(f"{e}:{c / total:.2f}" for e, c in top if c / total >= 0.1)
            file.write(f"{unit}\t{mix}\t{'!' if unit in markers else ''}\n")
        for unit in sorted(markers - set(merged)): file.write(f"{unit}\t\t!\n")
    print(sum(1 for _ in open(out)), "entries")

main(*sys.argv[1:])
