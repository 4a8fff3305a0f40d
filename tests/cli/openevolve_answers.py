# What the model of openevolve.t answers: the first parent's slope a step on; now and then something that is no line, prose, or a
# SEARCH that is not there, both twice, so that asking again does not help.
import re

STEPS = [0.3, -0.2, 0.4, 0.25, -0.1]


def answer(request, number):
    text = request["text"]
    parent = text[text.index("\n## The "):]
    old = re.search(r"slope = (.*)", parent).group(1)
    if number % 9 in (4, 5):
        return {"prose": True}
    if number % 9 in (7, 8):
        return {"content": "initial_program.py\n<<<<<<< SEARCH\n    slope = 999.0\n=======\n    slope = 2.0\n>>>>>>> REPLACE\n"}
    try:
        value = float(old)
    except ValueError:
        value = 1.0
    new = '"steep"' if number % 9 == 2 else "%.4f" % (value + STEPS[number % len(STEPS)] + number / 1000)
    return {
        "content": "A step.\n\nASI hypothesis=slope %s\nASI learned=the slope decides\n\ninitial_program.py\n<<<<<<< SEARCH\n    slope = %s\n"
        "=======\n    slope = %s\n>>>>>>> REPLACE\n" % (new, old, new),
        "usage": {"prompt_tokens": 1000, "completion_tokens": 50},
    }
