"""Every project and configuration of OpenEvolve's examples: does it import, and what is its baseline here and there?

    baselines.py CHECKOUT [--only TEXT] [--seconds 300]

Prints a row for each folder of CHECKOUT/examples that has an evaluator: the value of `apsis baseline`, the score that
OpenEvolve's own evaluator gives the same program, and what is missing on this machine; a row for each example without
an evaluator; then a row for each configuration, with what `apsis import` answers. APSIS names the program. It writes in temporary folders only."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
APSIS = os.path.abspath(os.environ.get("APSIS", os.path.join(ROOT, "build/apsis")))

THEIRS = """
import asyncio, json, os, sys
from unittest.mock import MagicMock
checkout, evaluator, program, config = sys.argv[1:5]
sys.path[:0] = [os.path.join(%r, "standins"), checkout]
for name in ("flask", "tqdm", "tqdm.asyncio"):
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = MagicMock()
from openevolve.config import Config, load_config
from openevolve.evaluator import Evaluator
from openevolve.utils.metrics_utils import get_fitness_score
settings = load_config(config) if config else Config()
settings.evaluator.max_retries = 0
made = Evaluator(settings.evaluator, evaluator, suffix=os.path.splitext(program)[1])
assert os.path.isfile(program), "the program is a folder"
metrics = asyncio.run(made.evaluate_program(open(program).read(), "baseline"))
print("SCORE " + json.dumps([get_fitness_score(metrics, settings.database.feature_dimensions), str(metrics)[:300]]))
""" % HERE


def run(command, folder, seconds, env=None):
    """The exit code and output of a command; None if it takes longer."""
    child = subprocess.Popen(command, cwd=folder, env=dict(os.environ, **(env or {})), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    try:
        out, err = child.communicate(timeout=seconds)
        return child.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, 9)
        child.communicate()
        return None, "", "longer than %d s" % seconds


def projects(examples):
    """Each folder with an evaluator; one inside a folder `evaluator` belongs to the folder above."""
    for at, folders, names in sorted(os.walk(examples)):
        folders[:] = [name for name in folders if name not in ("tests", "legacy", "data")]
        evaluators = [name for name in names if re.fullmatch(r"evaluator\w*\.py", name)]
        if evaluators and os.path.basename(at) != "evaluator":
            yield at, min(evaluators, key=len)


def configurations(checkout):
    for top in ("configs", "examples"):
        for at, _, names in sorted(os.walk(os.path.join(checkout, top))):
            for name in sorted(names):
                if re.search(r"config[^/]*(/[^/]*)?\.ya?ml$", os.path.join(os.path.basename(at), name)):
                    yield os.path.join(at, name)


def program_of(folder):
    names = [name for name in sorted(os.listdir(folder)) if re.match(r"init(ial)?_", name)]
    return next((name for name in names if name.startswith("initial_program.")), names[0] if names else None)


NEEDED = {"not found in TASK_REGISTRY": "AlgoTune", "create Cargo project": "cargo"}


def missing(text):
    """What a failure says is not there."""
    found = re.findall(r"(?:No module named|[Cc]ommand not found:?|No such file or directory:?|tool not found:) *'?([\w./-]+)",
                       text)
    found += [name for words, name in NEEDED.items() if words in text]
    return ", ".join(sorted(set(found)))


def left_behind(project):
    """What the evaluation of the baseline has written as text."""
    texts = []
    for at, _, names in os.walk(os.path.join(project, "runs/0000_baseline/artifacts")):
        for name in names:
            with open(os.path.join(at, name), errors="replace") as file:
                texts.append(file.read())
    return "\n".join(texts)


def last_line(text):
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return lines[-1].partition("; see ")[0][:200] if lines else ""


def imported(source, into, options, env):
    return run([APSIS, "import", "openevolve", source, "--into", into, "--python", sys.executable, "--model", "none",
                *options], None, 60, env)


def project_row(checkout, folder, evaluator, seconds):
    name, program = os.path.relpath(folder, os.path.join(checkout, "examples")), program_of(folder)
    config = next((os.path.join(folder, one) for one in ("config.yaml", "config.yml")
                   if os.path.exists(os.path.join(folder, one))), "")
    with tempfile.TemporaryDirectory(prefix="apsis-baselines-") as scratch:
        env = {"HOME": scratch, "XDG_CACHE_HOME": scratch + "/cache", "XDG_CONFIG_HOME": scratch + "/config"}
        options = (["--program", program] if program else []) + ["--evaluator", evaluator]
        code, _, said = imported(folder, scratch + "/ours", options, env)
        if code != 0:
            return "%-46s import: %s" % (name, last_line(said))
        code, out, said = run([APSIS, "baseline", "--repeats", "1", "-q"], scratch + "/ours", seconds, env)
        found = re.search(r"= (\S+)", out) if code == 0 else None
        shutil.copytree(folder, scratch + "/theirs")
        _, out, theirs = run([sys.executable, "-c", THEIRS, checkout, evaluator, program, config], scratch + "/theirs", seconds)
        score = re.search(r"SCORE (.*)", out)
        value, metrics = json.loads(score.group(1)) if score else (None, theirs)
        lacks = missing("\n".join((said, theirs, str(metrics), left_behind(scratch + "/ours"))))
        return "%-46s here %-12s there %-12s %s" % (
            name, found.group(1) if found else "-", "-" if value is None else "%.10g" % value,
            "missing: " + lacks if lacks else "" if found else last_line(said))


def configuration_row(checkout, path):
    folder, name = os.path.dirname(path), os.path.relpath(path, checkout)
    while not any(re.fullmatch(r"evaluator\w*\.py", one) for one in os.listdir(folder)) and folder != checkout:
        folder = os.path.dirname(folder)
    if folder == checkout:
        folder = os.path.join(checkout, "examples/function_minimization")
    program = program_of(folder)
    evaluator = min((one for one in os.listdir(folder) if re.fullmatch(r"evaluator\w*\.py", one)), key=len)
    with tempfile.TemporaryDirectory(prefix="apsis-baselines-") as scratch:
        env = {"HOME": scratch, "XDG_CACHE_HOME": scratch + "/cache", "XDG_CONFIG_HOME": scratch + "/config"}
        code, out, said = imported(folder, scratch + "/ours", ["--config", path, "--evaluator", evaluator]
                                   + (["--program", program] if program else []), env)
        unknown = re.findall(r"(?m)^  (\S+)", (re.search(r"(?m)^unknown .*\n((?:  .*\n)*)", out) or ["", ""])[1])
        return "%-66s %s" % (name, last_line(said) if code else "imported" + (", unknown: " + ", ".join(unknown)
                                                                              if unknown else ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=os.path.abspath)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    examples = os.path.join(options.checkout, "examples")
    found = list(projects(examples))
    for folder, evaluator in found:
        if options.only in folder:
            print(project_row(options.checkout, folder, evaluator, options.seconds).rstrip(), flush=True)
    for name in sorted(os.listdir(examples)):
        folder = os.path.join(examples, name)
        if os.path.isdir(folder) and options.only in folder and not any(at.startswith(folder) for at, _ in found):
            print("%-46s missing: an evaluator (the example's own scripts make its projects)" % name, flush=True)
    for path in configurations(options.checkout):
        if options.only in path:
            print(configuration_row(options.checkout, path), flush=True)


main()
