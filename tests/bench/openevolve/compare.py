"""OpenEvolve's own code and apsis on its examples, with the same scripted model, budget and seeds.

    compare.py CHECKOUT [--examples A,B] [--seeds 5] [--first 1] [--experiments 100] [--workers 1,2]

CHECKOUT is a checkout of OpenEvolve, whose evaluators need numpy (and scipy). APSIS names the program. It writes in a
temporary folder and prints a line for each run: the best value, the evaluations until it, the best program measured
again 20 times (its median), wall and processor seconds, the largest memory of a process, and the disk that the run took.
Then the medians of the seeds, how many of them ended at the baseline, and the evaluations until each threshold (a
median, and how many seeds reached it). A best value is counted as OpenEvolve counts it: of a candidate that was stopped
at a stage, what that stage measured."""
import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
APSIS = os.path.abspath(os.environ.get("APSIS", os.path.join(ROOT, "build/apsis")))
THRESHOLDS = {"circle_packing_with_artifacts": [0.4, 0.45, 0.5, 0.55], "function_minimization": [1.3, 1.4, 1.45, 1.48],
              "k_module_problem": [0.25, 0.5, 0.75, 1]}
AGAIN = 20


class Server:
    """The scripted model, anew for each run."""

    def __init__(self, folder, seed):
        shutil.copy(os.path.join(HERE, "model.py"), folder)
        script, self.port = os.path.join(folder, "script.jsonl"), os.path.join(folder, "port")
        with open(script, "w") as file:
            file.write('{"program": "model.py", "default": true}\n')
        self.process = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/cli/chat_server.py"), self.port, script],
                                        env=dict(os.environ, MODEL_SEED=str(seed), CHAT_SERVER_IDLE_S="600"),
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        while not (os.path.exists(self.port) and os.path.getsize(self.port)):
            time.sleep(0.05)
        with open(self.port) as file:
            return "http://127.0.0.1:%s/v1" % file.read().strip()

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def size_of(folder):
    return sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(folder) for name in names)


def run(command, folder, env=None):
    """The output of a command, and what it and the processes that it waited for took."""
    began = time.time()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, cwd=folder, env=dict(os.environ, **(env or {})), stdout=out, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        done = subprocess.CompletedProcess(command, child.returncode, out.read(), err.read())
    return done, {"wall": time.time() - began, "memory_mb": used.ru_maxrss / 1024, "cpu": used.ru_utime + used.ru_stime}


def again(project, program):
    """The median of what the project's evaluator gives a program, measured again and again."""
    runner, values = os.path.join(ROOT, "lua/apsis/import/openevolve_evaluate.py"), []
    for _ in range(AGAIN):
        done, _ = run([sys.executable, runner, "evaluator.py", program], project)
        found = re.search(r"(?m)^METRIC combined_score=(\S+)", done.stdout)
        if found:
            values.append(float(found.group(1)))
    return statistics.median(values) if values else float("nan")


def theirs(options, example, seed, workers, folder):
    project, out = os.path.join(folder, "project"), os.path.join(folder, "out")
    shutil.copytree(os.path.join(options.checkout, "examples", example), project)
    with Server(folder, seed) as url:
        done, took = run([sys.executable, os.path.join(HERE, "theirs.py"), options.checkout, project, url,
                          str(options.experiments), str(seed), str(workers), out], folder)
    found = re.search(r"CURVE (.*)", done.stdout)
    if not found:
        sys.exit("OpenEvolve failed on %s:\n%s" % (example, (done.stderr or done.stdout)[-1000:]))
    return json.loads(found.group(1)), dict(took, disk=size_of(out), again=again(project, os.path.join(out, "best.py")))


def ours(options, example, seed, workers, folder):
    env = {"HOME": folder, "XDG_CACHE_HOME": os.path.join(folder, "cache"), "XDG_CONFIG_HOME": os.path.join(folder, "config")}
    project, source = os.path.join(folder, "project"), os.path.join(options.checkout, "examples", example)
    with Server(folder, seed) as url:
        done, _ = run([APSIS, "import", "openevolve", source, "--into", project, "--python", sys.executable, "--base-url", url,
                       "--model", "scripted"], folder, env)
        if done.returncode:
            sys.exit("import %s: %s" % (example, done.stderr))
        path = os.path.join(project, "manifest.yaml")
        with open(path) as file:
            text = re.sub(r"(?m)^(execution:.*|  api_key_env:.*)\n", "", file.read())
        with open(path, "w") as file:
            file.write(re.sub(r"(?m)^seed:.*", "seed: %d" % seed, text) + "execution: {workers: %d}\n" % workers)
        run(["git", "-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-qam", "seed"], project, env)
        run([APSIS, "baseline", "--repeats", "1", "-q"], project, env)
        _, took = run([APSIS, "run", "-q", "--iterations", str(options.experiments)], project, env)
    curve = []
    with open(os.path.join(project, "logs/results.jsonl")) as file:
        for line in map(json.loads, file):
            value = line["primary_metric"]
            if value is None:
                value = (line.get("stopped") or {}).get("value")
            if value is not None and (not curve or value > curve[-1][1]):
                curve.append([line["experiment"], value])
    best, _ = run([APSIS, "best", "--json"], project, env)
    best, _ = run(["git", "show", json.loads(best.stdout)["commit"] + ":initial_program.py"], project)
    with open(os.path.join(folder, "best.py"), "w") as file:
        file.write(best.stdout)
    return curve, dict(took, again=again(source, os.path.join(folder, "best.py")), disk=size_of(os.path.join(project, "logs")) + size_of(os.path.join(project, "runs"))
                       + size_of(os.path.join(project, ".git")))


def reached(curve, threshold):
    return next((evaluation for evaluation, value in curve if value >= threshold), None)


def summary(example, name, workers, runs):
    """The medians of one program's runs."""
    curves = [curve for curve, _ in runs]
    print("%-30s %-10s %7d median best %.6g, measured again %.6g; %d of %d seeds at the baseline" % (
        example, name, workers, statistics.median(curve[-1][1] for curve in curves),
        statistics.median(took["again"] for _, took in runs), sum(len(curve) == 1 for curve in curves), len(runs)))
    texts = []
    for threshold in THRESHOLDS.get(example, []):
        found = [at for at in (reached(curve, threshold) for curve in curves) if at is not None]
        texts.append("%g: %s (%d)" % (threshold, "%g" % statistics.median(found) if found else "-", len(found)))
    print("%-30s %-10s %7d wall %.1f s, cpu %.1f s, %.0f MB, disk %.1f MB; evaluations until %s" % (
        example, name, workers, *(statistics.median(took[key] for _, took in runs) for key in ("wall", "cpu", "memory_mb")),
        statistics.median(took["disk"] for _, took in runs) / 2 ** 20, ", ".join(texts)), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=os.path.abspath)
    parser.add_argument("--examples", default=",".join(THRESHOLDS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--experiments", type=int, default=100)
    parser.add_argument("--workers", default="1,2")
    options = parser.parse_args()
    print("%-30s %-10s %7s %4s %9s %9s %4s %9s %7s %7s %5s %7s" % ("example", "program", "workers", "seed", "baseline",
                                                                    "best", "at", "again", "wall s", "cpu s", "MB", "disk MB"))
    for workers in map(int, options.workers.split(",")):
        for example in options.examples.split(","):
            runs = {"openevolve": [], "apsis": []}
            for seed in range(options.first, options.first + options.seeds):
                for name, do in (("openevolve", theirs), ("apsis", ours)):
                    with tempfile.TemporaryDirectory(prefix="apsis-compare-") as folder:
                        curve, took = do(options, example, seed, workers, os.path.realpath(folder))
                    runs[name].append((curve, took))
                    print("%-30s %-10s %7d %4d %9.6g %9.6g %4d %9.6g %7.1f %7.1f %5.0f %7.1f" % (
                        example, name, workers, seed, curve[0][1], curve[-1][1], curve[-1][0], took["again"], took["wall"],
                        took["cpu"], took["memory_mb"], took["disk"] / 2 ** 20), flush=True)
            for name, one in runs.items():
                summary(example, name, workers, one)


main()
