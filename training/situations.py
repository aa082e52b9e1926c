"""The written situations: topics with their memories, cues and prompts, and prompts that need no memory."""
import glob, re
from pathlib import Path

def read_topics(folder):
    topics = []
    for file in sorted(Path(folder).glob("*.txt")):
        if file.name.startswith(("none", "parallel", "own")): continue
        for line in file.open():
            kind, _, text = line.rstrip("\n").partition(" ")
            text = text.strip()
            if kind == "#":
                topics.append({"id": f"{file.stem}/{text.replace(' *', '')}", "memories": [], "prompts": [], "overlapping": [], "misleading": []})
            elif not topics: continue
            elif kind == "M":
                name, _, description = text.partition("|")
                topics[-1]["memories"].append({"name": name.strip(), "description": description.strip(), "body": "", "cues": []})
            elif kind == "B": topics[-1]["memories"][-1]["body"] = text
            elif kind == "C": topics[-1]["memories"][-1]["cues"] = [cue.strip() for cue in text.split(";") if cue.strip()]
            elif kind == "P": topics[-1]["prompts"].append(text)
            elif kind == "O": topics[-1]["overlapping"].append(text)
            elif kind == "X": topics[-1]["misleading"].append(text)
    return [t for t in topics if t["memories"] and t["prompts"]]

def text_of(memory):
    """As store/digest.ts embeds it: name, description, then the body, about as much as the model reads at once."""
    head = ". ".join(part for part in (memory["name"], memory["description"]) if part)
    return f"{head}\n{memory['body']}".strip()[:1000]

def is_held_out(topic):
    """What MiniLM is not tuned on: every twelfth topic, and these writers'; the confidence network learns from them."""
    return topic["id"].startswith(("w3", "w6", "w7")) or sum(topic["id"].encode()) % 12 == 0

def pair_of(topic):
    """Topics `name ~1` and the one behind it are written against each other: a prompt of one uses words of the other."""
    stem, _, text = topic["id"].partition("/")
    return text[-1] if text[-3:-1] == " ~" else None
