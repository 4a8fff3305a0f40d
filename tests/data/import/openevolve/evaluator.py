"""Scores a line: stage 1 that it is one, stage 2 how near it is to the points."""
import importlib.util

from openevolve.evaluation_result import EvaluationResult

import points


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def evaluate_stage1(program_path):
    slope, offset = load(program_path).fit()
    valid = isinstance(slope, float) and isinstance(offset, float)
    print("METRIC combined_score=1000000")
    return {"combined_score": 1.0 if valid else 0.0, "valid": valid}


def evaluate_stage2(program_path):
    slope, offset = load(program_path).fit()
    misses = [y - (slope * x + offset) for x, y in points.load()]
    error = sum(miss * miss for miss in misses) / len(misses)
    return EvaluationResult(
        metrics={"combined_score": 1.0 / (1.0 + error), "mean squared error": error, "slope": slope},
        artifacts={"misses": "\n".join("%.3f" % miss for miss in misses), "raw": b"\x00\x01", "detail": {"points": len(misses)}},
    )


def evaluate(program_path):
    return evaluate_stage2(program_path)
