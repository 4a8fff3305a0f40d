"""A scripted model for both: it changes one or two constants of the program that it is shown, by MODEL_SEED and the number
of the request: its numbers, or its words if a comment lists which there are. tests/cli/chat_server.py calls answer()."""
import os
import random
import re

NUMBER = re.compile(r"(?<![\w.\[])\d+\.?\d*(?![\w.\]])")
LIST, WORD = re.compile(r"\[('\w+'(?:, '\w+')+)\]"), re.compile(r"(?<=')\w+(?=')")
PLACES = "# Current Program", "## The parent", "## The first parent", "## The recipient"
WHOLE = "whole new text", "complete new program"


def program_of(prompt):
    found = re.compile(r"```+(?:python|py)\n(.*?)\n```+", re.S).search(prompt, max(0, *map(prompt.rfind, PLACES)))
    return found.group(1).split("\n") if found else None


def region_of(lines):
    starts = [index for index, line in enumerate(lines) if "EVOLVE-BLOCK-START" in line]
    ends = [index for index, line in enumerate(lines) if "EVOLVE-BLOCK-END" in line]
    return (starts[0] + 1, ends[0]) if starts and ends else (0, len(lines))


def alternatives(lines):
    """For each word that a list in a comment has, the words of that list."""
    lists = [WORD.findall(found.group(1)) for line in lines for found in LIST.finditer(line.partition("#")[2])]
    return {word: words for words in lists for word in words}


def changed(rng, text, words):
    if text in words:
        return rng.choice([word for word in words[text] if word != text])
    value = float(text) * rng.choice([0.5, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 2])
    return repr(round(value, 4)) if "." in text or value < 1 else str(max(1, round(value)))


def answer(request, number):
    asked = [message["content"] for message in request["body"]["messages"] if message["role"] == "user"]
    prompt = next((text for text in asked if program_of(text)), asked[-1])  # what was wrong with an answer comes later
    rng, lines = random.Random("%s %d" % (os.environ.get("MODEL_SEED"), number)), program_of(prompt)
    if lines is None:
        return {"content": "I see no program."}
    first, last = region_of(lines)
    words = alternatives(lines)
    places = [(index, found) for index in range(first, last)
              for found in (WORD if words else NUMBER).finditer(lines[index].split("#")[0])
              if '"""' not in lines[index] and (not words or found.group(0) in words)]
    new, tries = lines[:], 0
    while places and (tries == 0 or new == lines) and tries < 50:  # rounding may leave a number as it is
        tries += 1
        for _ in range(rng.choice([1, 1, 2])):
            index, found = rng.choice(places)
            new[index] = lines[index][:found.start()] + changed(rng, found.group(0), words) + lines[index][found.end():]
    differing = [index for index in range(len(lines)) if new[index] != lines[index]]
    if not differing:
        return {"content": "There is nothing to change."}
    path = "initial_program.py\n" if "initial_program.py" in prompt else ""
    if any(word in prompt for word in WHOLE):
        return {"content": "Another constant.\n\n%s```python\n%s\n```\n" % (path, "\n".join(new))}
    low, high = max(first, differing[0] - 3), min(last - 1, differing[-1] + 3) + 1
    return {"content": "Another constant.\n\n%s<<<<<<< SEARCH\n%s\n=======\n%s\n>>>>>>> REPLACE\n" % (
        path, "\n".join(lines[low:high]), "\n".join(new[low:high]))}
