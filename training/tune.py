"""
Tunes MiniLM's upper layers so that a prompt comes near the memory that helps with it, in fourteen languages.

Three losses: a prompt, its memory and its cues against those of other topics (InfoNCE; misleading prompts are negatives), a sentence of
another language against its English original, and English sentences against what they were, so that little else changes. Half of a
batch are topics that share words with the other half's prompts and mean something else.
"""
import argparse, collections, json, math, random, re, time
from pathlib import Path
import torch, torch.nn.functional as F
from minilm import MiniLm
from situations import is_held_out, pair_of, read_topics, text_of

ap = argparse.ArgumentParser()
ap.add_argument("--situations", default=str(Path(__file__).parent / "situations")); ap.add_argument("--pairs"); ap.add_argument("--glossary"); ap.add_argument("--out")
ap.add_argument("--steps", type=int, default=500); ap.add_argument("--lr", type=float, default=4e-5); ap.add_argument("--seed", type=int, default=1)
ap.add_argument("--frozen", type=int, default=2); ap.add_argument("--topics", type=int, default=40); ap.add_argument("--parallel", type=int, default=24)
ap.add_argument("--start", help="minilm-tuning.bin to go on from"); ap.add_argument("--scale", type=float, default=20); ap.add_argument("--dev", nargs="*", default=[])
A = ap.parse_args()
rng = random.Random(A.seed); torch.manual_seed(A.seed); torch.set_num_threads(1)

topics = read_topics(A.situations)
train = [t for t in topics if not is_held_out(t)]; held = [t for t in topics if is_held_out(t)]
pairs = {}
for path in sorted(Path(A.pairs).glob("*.tsv")):
    rows = [line.rstrip("\n").split("\t") for line in path.open()]
    pairs[path.stem] = [row for row in rows if 3 <= len(row[1].split()) <= 14]
written = [line.rstrip("\n").split("\t")[1:] for p in Path(A.situations).glob("parallel*.txt") for line in p.open()]
written = [w for w in written if len(w) == 2]
print(len(train), "topics,", len(held), "held out,", sum(map(len, pairs.values())), "pairs,", len(written), "written pairs", flush=True)

model = MiniLm(A.glossary); first = MiniLm(A.glossary)
if A.start: model.load_tuning(A.start)
for layer in model.layers[: A.frozen]: layer.requires_grad_(False)
params = [p for p in model.parameters() if p.requires_grad]
opt = torch.optim.AdamW(params, lr=A.lr, weight_decay=0.01)

def sets():
    for path in A.dev:
        data = json.loads(Path(path).read_text()); yield Path(path).stem, data

@torch.no_grad()
def evaluate(tag):
    memories = [m for t in held for m in t["memories"][:1]]
    docs = model.embed([text_of(m) for m in memories])
    hits = collections.Counter(); n = collections.Counter()
    for i, t in enumerate(held):
        top = (model.embed(t["prompts"]) @ docs.T).topk(3, 1).indices
        lang = t["id"].split("/")[1][:2] if t["id"].startswith(("w4", "w5", "w7")) else "en"
        hits[lang] += (top == i).any(1).sum().item(); n[lang] += len(t["prompts"])
    of = lambda langs: f"{sum(hits[l] for l in langs) / max(1, sum(n[l] for l in langs)):.3f} of {sum(n[l] for l in langs)}"
    lines = [f"held-out R@3 {of(list(n))} en {of(['en'])} ko, zh {of(['ko', 'zh'])} others {of([l for l in n if l not in ('en', 'ko', 'zh')])}"]
    for name, data in sets():
        docs = model.embed([text_of(m) for m in data["memories"]]); files = [m["filename"] for m in data["memories"]]
        by = collections.defaultdict(list)
        for q in data["queries"]:
            if not q["relevant"]: continue
            top = (model.embed([q["q"]]) @ docs.T)[0].topk(5).indices.tolist()
            by[q.get("kind", "all")].append(sum(files[i] in q["relevant"] for i in top) / len(q["relevant"]))
        lines.append(name + " " + " ".join(f"{k} {100 * sum(v) / len(v):.1f}" for k, v in by.items()))
    print(tag, " | ".join(lines), flush=True)

def words_of(texts):
    """Words; of scripts without spaces, pairs of characters."""
    text = " ".join(texts).lower()
    dense = re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+", text)
    return {w[:6] for w in re.findall(r"[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3,}", text)} | {run[i : i + 2] for run in dense for i in range(len(run) - 1)}

@torch.no_grad()
def find_rivals(most=4, nearest=0.45):
    """For each topic those whose memories share its prompts' rarer words, and are about something else as far as the untuned model sees."""
    asked = [words_of(t["prompts"] + t["overlapping"]) for t in train]; told = [words_of(text_of(m) for m in t["memories"]) for t in train]
    having = collections.Counter(w for words in told for w in words)
    middle = F.normalize(torch.stack([first.embed([text_of(m) for m in t["memories"]], 72).mean(0) for t in train]), dim=-1)
    near = middle @ middle.T; out = []
    for i in range(len(train)):
        shared = [(sum(math.log(len(train) / having[w]) ** 2 for w in asked[i] & told[j]) / (20 + len(told[j])), j) for j in range(len(train)) if j != i and near[i, j] < nearest]
        out.append([j for score, j in sorted(shared, reverse=True)[:most] if score > 0])
    at = {t["id"]: i for i, t in enumerate(train)}
    for i, t in enumerate(train):
        if pair_of(t) == "1" and i + 1 < len(train) and pair_of(train[i + 1]) == "2": out[i] = [i + 1] * most; out[i + 1] = [i] * most
    return out

def batch():
    prompts, docs, extra = [], [], []
    chosen = []
    for i in rng.sample(range(len(train)), len(train)):
        if len(chosen) >= A.topics: break
        for j in [i, *rng.sample(rivals[i], min(1, len(rivals[i])))]:
            if j not in chosen: chosen.append(j)
    for t in (train[i] for i in chosen[: A.topics]):
        prompts.append(rng.choice(t["prompts"] + t["overlapping"]))
        memory = rng.choice(t["memories"])
        docs.append(rng.choice(memory["cues"]) if memory["cues"] and rng.random() < 0.2 else text_of(memory) if rng.random() < 0.7 else f"{memory['name']}. {memory['description']}")
        if t["misleading"] and rng.random() < 0.5: extra.append(rng.choice(t["misleading"]))
    return prompts, docs, extra

def parallel():
    rows = [rng.choice(pairs[rng.choice(list(pairs))]) for _ in range(A.parallel - A.parallel // 4)]
    return rows + [rng.choice(written) for _ in range(A.parallel - len(rows))]

rivals = find_rivals()
print(sum(map(len, rivals)), "rivals, such as", [(train[i]["id"], train[rivals[i][0]]["id"]) for i in range(0, len(train), 97) if rivals[i]], flush=True)
evaluate("start")
started = time.time(); sums = collections.Counter()
for step in range(1, A.steps + 1):
    lr = A.lr * min(1, step / 25) * (0.1 + 0.9 * (1 - step / A.steps))
    for group in opt.param_groups: group["lr"] = lr
    prompts, docs, extra = batch()
    p = model.together(prompts + extra, 48); d = model.together(docs, 72)
    logits = d @ p.T * A.scale; y = torch.arange(len(docs))
    contrast = (F.cross_entropy(logits[:, : len(docs)].T, y) + F.cross_entropy(logits, y)) / 2
    rows = parallel()
    other = model(model.encode([o for o, _ in rows], 40)); en_ids = model.encode([e for _, e in rows], 40)
    en = model(en_ids)
    with torch.no_grad(): was = first(en_ids)
    same = (1 - (other * en.detach()).sum(1)).mean() + (1 - (other * was).sum(1)).mean() * 0.5
    kept = (1 - (en * was).sum(1)).mean()
    loss = contrast + 1.5 * same + 1.0 * kept
    loss.backward(); torch.nn.utils.clip_grad_norm_(params, 1.0); opt.step(); opt.zero_grad()
    sums.update({"contrast": contrast.item(), "same": same.item(), "kept": kept.item()})
    if step % 25 == 0:
        print(step, {k: round(v / 25, 4) for k, v in sums.items()}, f"{time.time() - started:.0f} s", flush=True); sums.clear()
    if step % 50 == 0 or step == A.steps:
        evaluate(str(step)); torch.save(model.state_dict(), A.out)
