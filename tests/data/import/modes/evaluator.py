"""Behaves as the program's MODE says: once for each way in which an evaluator can end."""
import os
import runpy
import subprocess
import sys
import threading
import time

from openevolve.evaluation_result import EvaluationResult


class Numbered(float):
    pass


def evaluate(program_path, bonus=0):
    mode = runpy.run_path(program_path)["MODE"]
    if mode == "dict":
        return {"combined_score": 1 + bonus}
    if mode == "result":
        return EvaluationResult.from_dict({"combined_score": 2, "passed": True, "note": "text"})
    if mode == "mean":
        return {"speed": 2.0, "quality": Numbered(5), "broken": float("nan")}
    if mode == "fake":
        print("METRIC combined_score=1000")
        os.write(1, b"METRIC combined_score=1000\n")
        return {"combined_score": 4}
    if mode == "fake_exit":
        os.write(1, b"METRIC combined_score=1000\n")
        os._exit(0)
    if mode == "fake_env":
        subprocess.run(["sh", "-c", 'echo "METRIC combined_score=1000" >>"${APSIS_METRICS:-/dev/null}"'], check=True)
        return {"combined_score": 4.5}
    if mode == "nan":
        return {"combined_score": float("nan"), "other": 1.0}
    if mode == "raise":
        raise ValueError("the program is wrong")
    if mode == "sys_exit":
        sys.exit(0)
    if mode == "error":
        return {"combined_score": 0.0, "error": "it does not run"}
    if mode == "nothing":
        return None
    if mode == "hang":
        time.sleep(3600)
    if mode == "thread":
        threading.Thread(target=time.sleep, args=(3600,)).start()
        return {"combined_score": 5}
    if mode == "leak":
        subprocess.Popen(["sleep", os.environ.get("LEAK_SECONDS", "3600.25")], start_new_session=True)
        return {"combined_score": 6}
    raise RuntimeError("no mode " + mode)
