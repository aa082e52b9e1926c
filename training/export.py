"""Writes what memdir ships: assets/minilm-tuning.bin (what training changed, four bits a number) and assets/glossary.txt."""
import struct, sys
from pathlib import Path
import numpy as np, torch
from minilm import MiniLm, LAYERS

def quantised(change):
    """Rows of a scale and of steps between -7 and 7; the scale that loses least."""
    rows, back = [], torch.zeros_like(change)
    peaks = change.abs().amax(1).clamp(min=1e-12)
    best = torch.full_like(peaks, float("inf")); scales = peaks / 7
    for share in (1.0, 0.85, 0.7, 0.6, 0.5, 0.42):
        scale = peaks * share / 7
        steps = (change / scale[:, None]).round().clamp(-7, 7)
        error = ((steps * scale[:, None] - change) ** 2).sum(1)
        scales = torch.where(error < best, scale, scales); best = torch.minimum(best, error)
    steps = (change / scales[:, None]).round().clamp(-7, 7)
    nibbles = (steps.to(torch.int8).numpy() & 15).astype(np.uint8)
    packed = nibbles[:, 0::2] | (nibbles[:, 1::2] << 4)
    data = b"".join(struct.pack("<f", s) + row.tobytes() for s, row in zip(scales.tolist(), packed))
    return data, steps * scales[:, None]

def main(weights, glossary, frozen, assets, share="1.0"):
    share = float(share); first_layer = int(frozen)
    base = MiniLm(); tuned = MiniLm(); state = torch.load(weights)
    tuned.load_state_dict({k: v for k, v in state.items() if k in tuned.state_dict()})
    out = [struct.pack("<III", 0x5754444D, 1, first_layer)]
    with torch.no_grad():
        for layer in range(first_layer, LAYERS):
            a, b = base.layers[layer], tuned.layers[layer]
            def linear(name, parts=1):
                was, now = getattr(a, name), getattr(b, name)
                size = was.weight.shape[0] // parts
                for part in range(parts):
                    at = slice(part * size, (part + 1) * size)
                    data, back = quantised((now.weight[at] - was.weight[at]) * share)
                    out.append(data); now.weight[at] = was.weight[at] + back
                    bias = was.bias[at] + (now.bias[at] - was.bias[at]) * share
                    now.bias[at] = bias; out.append(bias.numpy().astype("<f4").tobytes())
            def norm(name):
                was, now = getattr(a, name), getattr(b, name)
                for kind in ("weight", "bias"):
                    value = getattr(was, kind) + (getattr(now, kind) - getattr(was, kind)) * share
                    getattr(now, kind).copy_(value); out.append(value.numpy().astype("<f4").tobytes())
            linear("attention", 3); linear("out"); norm("attention_norm"); linear("up"); linear("down"); norm("norm")
    folder = Path(assets); folder.mkdir(exist_ok=True)
    (folder / "minilm-tuning.bin").write_bytes(b"".join(out))
    rows = [line.rstrip("\n").split("\t") for line in open(glossary)]
    markers = sorted(unit for unit, _, mark in rows if mark)
    lines = sorted((f"{unit}\t{mix}" for unit, mix, _ in rows), key=lambda line: line.split("\t")[0].encode())
    (folder / "glossary.txt").write_text(" ".join(markers) + "\n" + "\n".join(lines) + "\n")
    print("empty text:", [round(x, 4) for x in tuned.embed([""])[0, :8].tolist()])
    with_glossary = MiniLm(glossary); with_glossary.load_state_dict(tuned.state_dict())
    for text in sys.stdin.read().split("\n"):
        if text: print(text, [round(x, 4) for x in with_glossary.embed([text])[0, :4].tolist()])

main(*sys.argv[1:])
