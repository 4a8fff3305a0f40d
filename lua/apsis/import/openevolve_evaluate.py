#!/usr/bin/env python3
"""Runs an evaluator written for OpenEvolve, unchanged, as a command that apsis measures with.

    python3 openevolve_evaluate.py evaluator.py initial_program.py [--stage N]

Calls evaluate(path), or with --stage N evaluate_stageN(path), and writes what it returns as METRIC lines and artifacts.
`apsis import openevolve` puts this file into a project. It needs Python 3.8 and nothing else; the modules
`openevolve` and `openevolve.evaluation_result`, which evaluators import, are made here. It never turns a failure into a
score: after an exception, or a result without a usable number, it exits with code 1 and prints no metric. The output of
the evaluator and the program goes to stderr, so that it cannot pass for METRIC lines; the metrics are printed last.

    python3 openevolve_evaluate.py --inspect evaluator.py

prints an evaluator's function names as JSON, without running it.
"""
import argparse
import ast
import asyncio
import atexit
import importlib.machinery
import importlib.util
import inspect
import json
import math
import numbers
import os
import re
import sys
import traceback
import types
from dataclasses import dataclass, field
from typing import Any, Dict, List, Union

FAILED_METRIC = "__evaluation_failed__"
PRIMARY = "combined_score"
MEAN_OF, THRESHOLD = "mean_of", "threshold_score"
DEFAULT_ARTIFACT_BYTES = 100 * 1024 * 1024


@dataclass
class EvaluationResult:
    """An evaluator may return this instead of a dict: numbers, and texts or bytes for the next prompt."""

    metrics: Dict[str, float]
    artifacts: Dict[str, Union[str, bytes]] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, metrics: Dict[str, float]) -> "EvaluationResult":
        return cls(metrics=metrics)

    def to_dict(self) -> Dict[str, float]:
        return self.metrics

    def has_artifacts(self) -> bool:
        return len(self.artifacts) > 0

    def get_artifact_keys(self) -> List[str]:
        return [key for key in self.artifacts]

    def get_artifact_size(self, key: str) -> int:
        return len(as_bytes(self.artifacts[key])[0]) if key in self.artifacts else 0

    def get_total_artifact_size(self) -> int:
        return sum(self.get_artifact_size(key) for key in self.artifacts)


class Failure(Exception):
    """The evaluator ran, but its result is not a measurement."""


def note(text):
    sys.stderr.write("openevolve_evaluate: %s\n" % text)


def supply_modules():
    """Makes `import openevolve.evaluation_result` work; other modules of an installed openevolve stay importable."""
    try:
        real = importlib.machinery.PathFinder.find_spec("openevolve")
    except (ImportError, ValueError):
        real = None
    package = types.ModuleType("openevolve")
    package.__path__ = list(real.submodule_search_locations or []) if real else []
    result = types.ModuleType("openevolve.evaluation_result")
    result.EvaluationResult = package.EvaluationResult = EvaluationResult
    result.EVALUATION_FAILED_METRIC = FAILED_METRIC
    package.evaluation_result = result
    sys.modules["openevolve"], sys.modules["openevolve.evaluation_result"] = package, result


def load_evaluator(path):
    folder = os.path.dirname(path)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("evaluation_module", path)
    if spec is None or spec.loader is None:
        raise Failure("%s cannot be imported as Python" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["evaluation_module"] = module
    spec.loader.exec_module(module)
    return module


def call_evaluator(arguments):
    module = load_evaluator(os.path.abspath(arguments.evaluator))
    name = "evaluate" if arguments.stage == 0 else "evaluate_stage%d" % arguments.stage
    function = getattr(module, name, None)
    if not callable(function):
        raise Failure("%s has no function %s" % (arguments.evaluator, name))
    more = json.loads(arguments.args) if arguments.stage == 0 else {}
    result = function(os.path.abspath(arguments.program), **more)
    return asyncio.run(result) if inspect.iscoroutine(result) else result


def split_dict(result):
    """The metrics of a dict; its artifacts are under that name, and whatever is neither a number nor a truth value."""
    metrics, artifacts = dict(result), {}
    if isinstance(metrics.get("artifacts"), dict):
        artifacts.update(metrics.pop("artifacts"))
    for name in [name for name, value in metrics.items() if isinstance(value, (str, bytes, dict, list, tuple))]:
        if name not in ("error", PRIMARY):
            artifacts.setdefault(name, metrics.pop(name))
    return metrics, artifacts


def parts_of(result):
    """The metrics and artifacts of a dict, or of anything shaped like an EvaluationResult."""
    if isinstance(result, dict):
        return split_dict(result)
    metrics, artifacts = getattr(result, "metrics", None), getattr(result, "artifacts", None)
    if not isinstance(metrics, dict):
        raise Failure("the evaluator returned %s, not a dict or an EvaluationResult" % type(result).__name__)
    return metrics, artifacts if isinstance(artifacts, dict) else {}


def number_of(value, text_too=False):
    """The value as a finite float, or None and the reason. text_too: also of what only float() takes for one."""
    if not (isinstance(value, numbers.Real) or type(value).__name__ in ("bool_", "bool") or text_too):
        return None, "%s, not a number" % type(value).__name__
    try:
        number = float(value)
    except (OverflowError, ValueError, TypeError) as error:
        return None, str(error)
    return (number, None) if math.isfinite(number) else (None, repr(number))


def numbers_of(metrics):
    """The finite numbers among the metrics, by name; notes the others."""
    found = {}
    for name, value in metrics.items():
        number, problem = number_of(value, str(name) == PRIMARY)
        if problem is None:
            found[str(name)] = number
        elif str(name) == PRIMARY:
            raise Failure("%s is %s" % (PRIMARY, problem))
        elif not (name == "error" and isinstance(value, (str, bytes, type(None)))):  # an artifact, if it says anything
            note("metric %r is left out: it is %s" % (name, problem))
    return found


def text_of(value):
    """An artifact or metric as text, empty if it has none."""
    value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return value.strip() if isinstance(value, str) else ""


def crash_text(metrics, artifacts):
    """The crash message of an evaluator that reports a crash as a score of 0, or an empty text."""
    for said in (metrics, artifacts):
        text = text_of(said.get("error"))
        if text:
            return text
    text = text_of(artifacts.get("traceback"))
    if text:
        return text.splitlines()[-1]
    text = text_of(artifacts.get("stderr"))
    if text and ("error" in metrics or re.search(r"(?m)^\s*[\w.]*(Error|Exception|error)\b:", text)):
        return text.splitlines()[-1]
    return ""


def measured_before():
    """What earlier stages measured, by name; without the mean that this file made of it."""
    before = json.loads(os.environ.get("APSIS_MEASURED") or "{}")
    before.pop(THRESHOLD, None)
    if before.pop(MEAN_OF, None) is not None:
        before.pop(PRIMARY, None)
    return {name: float(value) for name, value in before.items() if name != "error"}


def with_primary(metrics, artifacts, features, before, staged):
    """Merges the stages, as OpenEvolve does. Adds a missing combined_score: the mean of the metrics that are not
    features of the grid (of all, if there are no others); mean_of is how many. Then a stage's threshold is about
    another number, as there: the mean of them all. Truth values count, numpy's numbers other than float64 do not."""
    found = numbers_of(metrics)
    said = metrics.get("error")
    if found.pop(FAILED_METRIC, 0.0):
        raise Failure("the evaluator says that the evaluation failed%s" % (": %s" % said if said else ""))
    if not any(name not in ("error", "timeout") for name in found):
        raise Failure("the evaluator returned no number%s" % (": error: %s" % said if said else ""))
    uncounted = [str(name) for name, value in metrics.items() if not isinstance(value, (int, float))]
    if before:
        found.pop("error", None)
        found = {**before, **found}
    if PRIMARY not in found:
        counted = {name: value for name, value in found.items() if name not in uncounted} or found
        for name in set(found) - set(counted):
            note("metric %r is left out of the mean, as in OpenEvolve; float() makes it count" % name)
        found = counted
        values = [value for name, value in found.items() if name not in features] or list(found.values())
        whole = [value for name, value in found.items() if name != "error"]
        found[PRIMARY] = math.fsum(values) / len(values)
        found[MEAN_OF] = float(len(values))
        if staged:
            found[THRESHOLD] = math.fsum(whole) / len(whole)
    crash = crash_text(metrics, artifacts) if found[PRIMARY] == 0.0 else ""
    if crash:
        raise Failure("the evaluator returned an error: %s" % crash)
    return found


def metric_names(found):
    """Each metric's unique name in a METRIC line: only letters, digits, _ and . stay."""
    names = {name: name for name in found if re.fullmatch(r"[A-Za-z0-9_.]+", name)}
    taken = set(names)
    for name in found:
        if name not in names:
            plain = re.sub(r"[^A-Za-z0-9_.]", "_", name) or "_"
            made, count = plain, 1
            while made in taken:
                count += 1
                made = "%s_%d" % (plain, count)
            taken.add(made)
            names[name] = made
            note("metric %r is written as %s" % (name, made))
    return names


def as_bytes(value):
    """An artifact's bytes, and its file's extension."""
    if isinstance(value, bytes):
        return value, ".bin"
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace"), ".txt"
    return json.dumps(value, indent=2, default=str).encode("utf-8"), ".json"


def file_name(key, ending, taken):
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", str(key)).lstrip(".")[:100] or "artifact"
    if not re.search(r"\.[A-Za-z0-9]{1,8}$", plain):
        plain += ending
    stem, dot, last = plain.rpartition(".")
    name, count = plain, 1
    while name in taken:
        count += 1
        name = "%s-%d%s%s" % (stem, count, dot, last)
    taken.add(name)
    return name


def write_artifacts(folder, artifacts, limit):
    taken = {"stderr.txt"}  # apsis's own
    for key, value in artifacts.items():
        try:
            data, ending = as_bytes(value)
        except (TypeError, ValueError) as error:
            note("artifact %r is left out: %s" % (key, error))
            continue
        if len(data) > limit:
            note("artifact %r is cut: %d of its %d bytes fit" % (key, limit, len(data)))
            data = data[:limit]
        limit -= len(data)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, file_name(key, ending, taken)), "wb") as file:
            file.write(data)


def leave(code, end=os._exit):
    """Ends the process even if threads of the evaluator still run; cleans up temporary files first."""
    try:
        atexit._run_exitfuncs()
    except BaseException:  # noqa: B902 (ignored)
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass
    end(code)


def watch_exit():
    """Reports a program that ended this process by os._exit, which is a failure."""
    own, end = os.getpid(), os._exit

    def ended(status):
        if os.getpid() == own:  # not a forked child, which may exit this way
            line = "openevolve_evaluate: the evaluator ended the process before it returned (os._exit(%r))\n"
            line = line % (status,)
            try:
                os.write(2, line.encode("utf-8", "replace"))  # sys.stderr may have been replaced
            except OSError:
                pass
            status = status or 1
        end(status)

    os._exit = ended


def evaluate(arguments):
    metrics_path, folder = os.environ.get("APSIS_METRICS"), os.environ.get("APSIS_ARTIFACTS")
    before = measured_before()
    for name in ("APSIS_METRICS", "APSIS_ARTIFACTS", "APSIS_MEASURED", "APSIS_RUN_DIR", "GOALSEEK_RUN_DIR"):
        os.environ.pop(name, None)
    out = os.open(metrics_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if metrics_path else os.dup(1)
    os.dup2(2, 1)
    sys.dont_write_bytecode, os.environ["PYTHONDONTWRITEBYTECODE"] = True, "1"
    sys.argv = [arguments.evaluator]
    try:
        supply_modules()
        watch_exit()
        metrics, artifacts = parts_of(call_evaluator(arguments))
        if text_of(metrics.get("error")) and str(artifacts.get("error", "")) == "":
            artifacts["error"] = metrics["error"]
        if folder and not arguments.no_artifacts:
            write_artifacts(folder, artifacts, arguments.max_artifact_bytes)
        features = arguments.feature or ["complexity", "diversity"]
        found = with_primary(metrics, artifacts, features, before if arguments.stage > 1 else {}, arguments.stage > 0)
        names = metric_names(found)
        renamed = {names[name]: name for name in found if names[name] != name}
        if renamed and folder and not arguments.no_artifacts:
            write_artifacts(folder, {"metric_names": renamed}, DEFAULT_ARTIFACT_BYTES)
        lines = "".join("METRIC %s=%r\n" % (names[name], value) for name, value in found.items())
    except Failure as failure:
        note(str(failure))
        leave(1)
    except SystemExit as ending:
        note("the evaluator called sys.exit(%r)" % (ending.code,))
        leave(1)
    except BaseException:  # noqa: B902 (whatever the evaluator raises is its failure)
        traceback.print_exc()
        leave(1)
    with os.fdopen(out, "wb") as file:
        file.write(lines.encode("ascii"))
    leave(0)


def bound_names(body, found):
    """The names that a module binds, as far as they are visible without running it."""
    for item in body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(item.name)
        elif isinstance(item, (ast.Import, ast.ImportFrom)):
            found.update((alias.asname or alias.name).split(".")[0] for alias in item.names)
        elif isinstance(item, (ast.Assign, ast.AnnAssign)):
            for target in getattr(item, "targets", None) or [item.target]:
                found.update(node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        else:
            for part in ("body", "orelse", "finalbody"):
                bound_names(getattr(item, part, None) or [], found)
            for handler in getattr(item, "handlers", None) or []:
                bound_names(handler.body, found)


def inspect_evaluator(path):
    answer: Dict[str, Any] = {}
    try:
        with open(path, "rb") as file:
            found = set()
            bound_names(ast.parse(file.read(), path).body, found)
        answer["names"] = sorted(name for name in found if name == "*" or name.startswith("evaluate"))
    except SyntaxError as error:
        answer["error"], answer["line"] = str(error.msg), error.lineno or 1
    except (ValueError, RecursionError, MemoryError) as error:
        answer["error"], answer["line"] = str(error) or type(error).__name__, 1
    print(json.dumps(answer))


def main():
    parser = argparse.ArgumentParser(description="measure a program with an evaluator of OpenEvolve")
    parser.add_argument("evaluator")
    parser.add_argument("program", nargs="?")
    parser.add_argument("--stage", type=int, default=0, help="call evaluate_stageN (default: evaluate)")
    parser.add_argument("--feature", action="append", default=[], metavar="NAME",
                        help="a metric that is not part of the mean (default: complexity and diversity)")
    parser.add_argument("--args", default="{}", metavar="JSON", help="more arguments of evaluate, by name")
    parser.add_argument("--max-artifact-bytes", type=int, default=DEFAULT_ARTIFACT_BYTES)
    parser.add_argument("--no-artifacts", action="store_true")
    parser.add_argument("--inspect", action="store_true", help="say which functions the evaluator has; run nothing")
    arguments = parser.parse_args()
    if arguments.inspect:
        inspect_evaluator(arguments.evaluator)
    elif arguments.program is None:
        parser.error("the program's path is missing")
    else:
        evaluate(arguments)


if __name__ == "__main__":
    main()
