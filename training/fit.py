"""Fits the prompt head and the confidence network on what features.mjs wrote, and writes src/recall/confidence-weights.ts."""
import argparse, collections, json
from pathlib import Path
import torch, torch.nn.functional as F

ap = argparse.ArgumentParser()
ap.add_argument("features"); ap.add_argument("--out", default=str(Path(__file__).parent / "../src/recall/confidence-weights.ts"))
ap.add_argument("--hidden", type=int, default=8); ap.add_argument("--decay", type=float, default=3e-3)
ap.add_argument("--others", type=float, default=0.1, help="how much a candidate counts that is not the first of its prompt: whether to speak at all depends on the first")
ap.add_argument("--stores", type=float, default=3.0, help="how much more a prompt of a written store counts than one of a made store")
ap.add_argument("--own", type=float, default=1.0, help="how much prompts about own services count for the head")
A = ap.parse_args(); torch.set_num_threads(1)
NEED = 11   # where featuresOf puts it

lines = [json.loads(line) for line in open(A.features)]
head_rows = [l for l in lines if l["kind"] == "head"]; prompts = [l for l in lines if l["kind"] != "head"]

def fit_head():
    x = torch.tensor([l["vector"] for l in head_rows]); y = torch.tensor([float(l["needs"]) for l in head_rows])
    seen = torch.tensor([l["split"] == "seen" for l in head_rows])
    w = torch.zeros(x.shape[1], requires_grad=True); b = torch.zeros(1, requires_grad=True)
    # Both kinds weigh the same, and so do prompts about the developer's own services and all others.
    own = torch.tensor([l.get("isOwn", False) for l in head_rows]); weight = torch.zeros(len(y))
    for some, share in ((seen & ~own, 1.0), (own, A.own)):
        if some.any(): weight[some] = share * seen.sum() / some.sum() * torch.where(y[some] > 0, 0.5 / y[some].mean(), 0.5 / (1 - y[some].mean()))
    opt = torch.optim.LBFGS([w, b], max_iter=200, line_search_fn="strong_wolfe")
    def loss():
        opt.zero_grad()
        z = x[seen] @ w + b
        value = F.binary_cross_entropy_with_logits(z, y[seen], weight=weight[seen]) + 2e-4 * (w ** 2).sum()
        value.backward(); return value
    opt.step(loss)
    z = (x @ w + b).detach()
    print(f"head AUC seen {auc(z[seen], y[seen]):.3f} unseen {auc(z[~seen], y[~seen]):.3f}")
    return w.detach(), b.item()

def auc(z, y):
    order = z.argsort(); ranks = torch.empty(len(z)); ranks[order] = torch.arange(1, len(z) + 1, dtype=torch.float)
    positive = y > 0
    return ((ranks[positive].sum() - positive.sum() * (positive.sum() + 1) / 2) / (positive.sum() * (~positive).sum())).item()

class Net(torch.nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__(); self.a = torch.nn.Linear(inputs, hidden); self.b = torch.nn.Linear(hidden, 1)
    def forward(self, x): return self.b(torch.tanh(self.a(x))).squeeze(-1)

def tensors(rows, others):
    x = [c["features"] for l in rows for c in l["candidates"]]; y = [float(c["helps"]) for l in rows for c in l["candidates"]]
    w = [(A.stores if l["kind"] == "store" else 1.0) * (others if i else 1.0) for l in rows for i, _ in enumerate(l["candidates"])]
    return torch.tensor(x), torch.tensor(y), torch.tensor(w)

def train(rows, others=A.others, seed=1):
    torch.manual_seed(seed)
    x, y, w = tensors(rows, others)
    net = Net(x.shape[1], A.hidden); opt = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0)
    n = len(x); steps = 1500
    for step in range(steps):
        for g in opt.param_groups: g["lr"] = 0.01 * (1 - step / steps)
        at = torch.randint(0, n, (2048,))
        z = net(x[at])
        loss = (F.binary_cross_entropy_with_logits(z, y[at], reduction="none") * w[at]).sum() / w[at].sum() + A.decay * sum((p ** 2).sum() for p in (net.a.weight, net.b.weight)) / 10
        opt.zero_grad(); loss.backward(); opt.step()
    return net

def scored(net, rows):
    with torch.no_grad():
        return [(l, torch.sigmoid(net(torch.tensor([c["features"] for c in l["candidates"]]))).tolist() if l["candidates"] else []) for l in rows]

def shown(probabilities, floor, share, most=3):
    order = sorted(range(len(probabilities)), key=lambda i: -probabilities[i])
    if not order or probabilities[order[0]] < floor: return []
    return [i for i in order[:most] if probabilities[i] >= max(floor, probabilities[order[0]] * share)]

def figures(answers, floor, share):
    silent = asked_none = hit = asked = right = all_shown = 0
    for l, p in answers:
        chosen = shown(p, floor, share); helps = [l["candidates"][i]["helps"] for i in chosen]
        all_shown += len(chosen); right += sum(helps)
        if l["relevant"] == 0: asked_none += 1; silent += not chosen
        else: asked += 1; hit += sum(helps) / min(l["relevant"], 3)
    return silent / max(1, asked_none), hit / max(1, asked), right / max(1, all_shown), all_shown / max(1, len(answers))

def ranking(rows, key, k=5):
    total = 0; n = 0
    for l, p in rows:
        if not l["relevant"]: continue
        order = sorted(range(len(l["candidates"])), key=lambda i: -(p[i] if key == "p" else l["candidates"][i]["score"]))
        total += sum(l["candidates"][i]["helps"] for i in order[:k]) / min(l["relevant"], k); n += 1
    return 100 * total / max(1, n)

def at_silence(answers, wanted, share):
    rows = (figures(answers, f / 100, share) + (f / 100,) for f in range(2, 98, 2))
    return next((row for row in rows if row[0] >= wanted), None)

w, b = fit_head()
def foreign(text):
    letters = [c for c in text[:2000] if c.isalpha()]
    return min(1, 10 * sum(c > "\x7f" for c in letters) / max(1, len(letters)))
# The head was not known when the features were written.
for l in prompts:
    for c in l["candidates"]: c["features"][15] = foreign(l["prompt"])
    if not l["hasMeaning"]: continue
    need = max(-2, min(2, (sum(x * y for x, y in zip(l["vector"], w.tolist())) + b) / 3))
    for c in l["candidates"]: c["features"][NEED] = need
nets = {}
for name, has in (("hybrid", True), ("lexical", False)):
    rows = [l for l in prompts if l["kind"] in ("made", "store") and l["hasMeaning"] == has and l["candidates"]]
    sets = sorted({l["set"] for l in rows})
    # Cross-validated by store: what is printed was not trained on.
    if has:
        groups = [[s for i, s in enumerate(sets) if i % 4 == g] for g in range(4)]
        out = []
        for group in groups: out += scored(train([l for l in rows if l["set"] not in group]), [l for l in rows if l["set"] in group])
        for label, pick in (("made", lambda l: l["kind"] == "made"), ("stores, cues", lambda l: l["kind"] == "store" and l["cues"]), ("stores, no cues", lambda l: l["kind"] == "store" and not l["cues"]), ("other languages", lambda l: l["kind"] == "store" and l["set"] in ("b2", "b3", "b4", "b5"))):
            some = [(l, p) for l, p in out if pick(l)]
            for share in (0.6, 0.7, 0.8) if label != "made" else ():
                best = at_silence(some, 0.82, share)
                if best: print(f"   {label} at 82 % silence, share {share}: found {best[1]:.3f} precision {best[2]:.3f} floor {best[4]:.2f}")
            print(label, len(some), f"R@5 by score {ranking(some, 's'):.1f} by probability {ranking(some, 'p'):.1f} R@1 {ranking(some, 's', 1):.1f} {ranking(some, 'p', 1):.1f}",
                  " | ".join(f"floor {f:.2f}: silent {s:.2f} found {h:.2f} precision {p:.2f} shown {m:.2f}" for f in (0.2, 0.3, 0.4, 0.5) for s, h, p, m in [figures(some, f, 0.7)]))
    # By words alone the order itself is to be learnt: all count.
    nets[name] = train(rows, A.others if has else 1.0)
    dev = [l for l in prompts if l["kind"] == "dev" and l["hasMeaning"] == has]
    for key in sorted({(l["set"], l["cues"]) for l in dev}):
        some = scored(nets[name], [l for l in dev if (l["set"], l["cues"]) == key])
        print(name, key, f"R@5 by score {ranking(some, 's'):.1f} by probability {ranking(some, 'p'):.1f}",
              " | ".join(f"floor {f:.2f}: silent {s:.2f} found {h:.2f} precision {p:.2f} shown {m:.2f}" for f in (0.2, 0.3, 0.4, 0.5) for s, h, p, m in [figures(some, f, 0.7)]))
        best = at_silence(some, 0.8, 0.7)
        if best: print(f"   at 80 % silence: found {best[1]:.2f} precision {best[2]:.2f} floor {best[4]:.2f}")
        kinds = collections.defaultdict(list)
        for l, p in some: kinds[l.get("asked")].append((l, p))
        print("   R@5 by kind:", {k: round(ranking(v, "p"), 1) for k, v in kinds.items() if k != "none"})

def numbers(values): return "[" + ", ".join(f"{v if abs(v) > 1e-9 else 0:.4g}" for v in values) + "]"
text = '/** The weights of confidence.ts; written by training/fit.py. */\n\n// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: these numbers were learnt\n'
text += "export const CONFIDENCE = {\n"
for name, net in nets.items():
    hidden = ",\n      ".join(numbers(row) for row in net.a.weight.tolist())
    text += f"  {name}: {{\n    hidden: [\n      {hidden},\n    ],\n    bias: {numbers(net.a.bias.tolist())},\n    out: {numbers(net.b.weight[0].tolist())},\n    last: {net.b.bias.item():.4g},\n  }},\n"
text += "} as const;\n\nexport const PROMPT_HEAD = {\n  weights: " + numbers(w.tolist()) + f",\n  bias: {b:.4g},\n}};\n"
Path(A.out).write_text(text)
