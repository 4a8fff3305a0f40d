"""OpenEvolve's own code and apsis on its examples, with the same scripted model, budget and seeds.

    compare.py CHECKOUT [--examples A,B] [--seeds 5] [--experiments 100] [--workers 1,2]

CHECKOUT is a checkout of OpenEvolve, whose evaluators need numpy (and scipy). APSIS names the program. It writes in a
temporary folder and prints a line for each run, and medians: the best value, the evaluations until it, wall and
processor seconds, the largest memory of a process, and the disk that the run took. A best value is counted as
OpenEvolve counts it: of a candidate that was stopped at a stage, what that stage measured."""
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
    """The output of a command, and what it took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    done = subprocess.run(command, cwd=folder, env=dict(os.environ, **(env or {})), capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, {"wall": time.time() - began, "memory_mb": after.ru_maxrss / 1024,
                  "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def theirs(options, example, seed, workers, folder):
    project, out = os.path.join(folder, "project"), os.path.join(folder, "out")
    shutil.copytree(os.path.join(options.checkout, "examples", example), project)
    with Server(folder, seed) as url:
        done, took = run([sys.executable, os.path.join(HERE, "theirs.py"), options.checkout, project, url,
                          str(options.experiments), str(seed), str(workers), out], folder)
    found = re.search(r"CURVE (.*)", done.stdout)
    if not found:
        sys.exit("OpenEvolve failed on %s:\n%s" % (example, (done.stderr or done.stdout)[-1000:]))
    return json.loads(found.group(1)), dict(took, disk=size_of(out))


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
    return curve, dict(took, disk=size_of(os.path.join(project, "logs")) + size_of(os.path.join(project, "runs"))
                       + size_of(os.path.join(project, ".git")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=os.path.abspath)
    parser.add_argument("--examples", default="circle_packing_with_artifacts,function_minimization,r_robust_regression")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--experiments", type=int, default=100)
    parser.add_argument("--workers", default="1,2")
    options = parser.parse_args()
    print("%-32s %-10s %4s %7s %12s %12s %6s %7s %7s %7s %8s" % ("example", "program", "seed", "workers", "baseline", "best",
                                                                "at", "wall s", "cpu s", "MB", "disk MB"))
    for example in options.examples.split(","):
        for workers in map(int, options.workers.split(",")):
            bests = {"apsis": [], "openevolve": []}
            for seed in range(1, options.seeds + 1):
                for name, do in (("openevolve", theirs), ("apsis", ours)):
                    with tempfile.TemporaryDirectory(prefix="apsis-compare-") as folder:
                        curve, took = do(options, example, seed, workers, os.path.realpath(folder))
                    bests[name].append(curve[-1][1])
                    print("%-32s %-10s %4d %7d %12.6g %12.6g %6d %7.1f %7.1f %7.0f %8.1f" % (
                        example, name, seed, workers, curve[0][1], curve[-1][1], curve[-1][0], took["wall"], took["cpu"],
                        took["memory_mb"], took["disk"] / 2 ** 20), flush=True)
            for name, values in bests.items():
                print("%-32s %-10s median best %.6g" % (example, name, statistics.median(values)), flush=True)


main()
