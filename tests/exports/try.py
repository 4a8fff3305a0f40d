"""The lab's exports, read by the own code of the programs they are for: try.py --iohanalyzer CHECKOUT --coco CHECKOUT

Runs strategies on worlds, exports the runs in both formats, and lets IOHanalyzer's and cocopp's readers print what they
make of them (iohanalyzer.R, coco.py). Then it compares each figure with `apsis lab --json` and `--csv` of the same
runs. Equal is within a relative 1e-9, because IOHanalyzer keeps 15 digits. Prints the counts, and figures that differ;
exit 1 if one differs or is missing. APSIS names the program."""
import argparse
import csv
import glob
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
APSIS = os.path.abspath(os.environ.get("APSIS", os.path.join(ROOT, "build/apsis")))
WORLDS = ["onemax:n=40", "onemax:n=40,noise=gaussian", "leadingones:n=15", "sphere:d=3,precision=0.01", "nk:n=14,k=3",
          "kmodule:modules=4", "tour", "mixed", "flags:n=12", "proposer", "lotz", "blocks:kind=trap,width=3"]
# A name, the budget, the seeds, and what the lab is given.
CAMPAIGNS = [
    ("runs that end at the target or the budget", 300, 15,
     ["annealing", "hillclimb", "openevolve", "--set", "hillclimb.patience=300", "--set", "annealing.steps=299"]),
    ("runs that also halt early", 400, 10, ["annealing", "hillclimb", "gepa", "--seed", "7"]),
]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("%s: exit %d" % (command[0], done.returncode))
    return done.stdout


def number(text):
    """A runtime that does not exist is infinite."""
    return math.inf if text in (None, "", "NA", "nan") else float(text)


def ours(results, lines):
    """The lab's figures by (strategy, world, name, seed)."""
    found, longest = {}, {}
    for row in csv.DictReader(lines.splitlines()):
        key = (row["strategy"], row["world"])
        for name in ("aocc", "hit", "evaluations"):
            found[key + (name, row["seed"])] = number(row[name])
        longest[key] = max(longest.get(key, 0), number(row["evaluations"]))
    for row in results["results"]:
        key = (row["strategy"], row["world"])
        for time in row["times"]:
            way = " %g%%" % (100 * time["way"])
            for name in ("reached", "mean", "ert"):
                found[key + (name + way, "-")] = number(time.get(name))
            # IOHanalyzer's ERT counts an unsolved run as the longest run: this is what that makes of the lab's figures.
            seeds, budget, reached = results["seeds"], results["evaluations"], time["reached"]
            hits = time["mean"] * seeds - (seeds - reached) * budget
            found[key + ("longest ert" + way, "-")] = (hits + (seeds - reached) * longest[key]) / reached if reached \
                else math.inf
        for name in ("aocc", "aocc_log"):
            found[key + (name, "-")] = number(row[name])
    return found


def equal(one, other):
    return other is not None and math.isclose(one, other, rel_tol=1e-9)


def compare(program, text, found, per_set):
    """Prints the counts; whether all figures are there and equal."""
    rows = [line.split("\t") for line in text.splitlines()]
    same, other, nothing, different = 0, 0, 0, []
    for strategy, world, name, seed, value in rows:
        key, value = (strategy, world, name.removeprefix("5 "), seed), number(value)
        if equal(value, found.get(key)):
            same += 1
            nothing += math.isinf(value)
        elif program == "IOHanalyzer" and equal(value, found.get(key[:2] + ("longest " + name, seed))):
            other += 1
        else:
            different.append("  %s: %s, %s: %s, seed %s: %r, the lab has %r" % (
                program, strategy, world, name, seed, value, found.get(key)))
    sets = len({key[:2] for key in found})
    runs = len({(key[0], key[1], key[3]) for key in found if key[3] != "-"})
    missing = per_set[0] * sets + per_set[1] * runs - len(rows)
    print("  %s: %d figures of %d runs, %d equal (%d of them: never reached)" % (
        program, len(rows), runs, same, nothing) + (
        ", %d ERT equal if unsolved runs count as the longest" % other if other else "") + (
        ", %d different" % len(different) if different else "") + (", %d missing" % missing if missing else ""))
    print("\n".join(different[:20]), end="\n" if different else "", flush=True)
    return not different and not missing


def pages(checkout, coco, folder):
    """Lets cocopp write its whole report; whether it did."""
    out, log = os.path.join(folder, "pages"), os.path.join(folder, "pages.log")
    with open(log, "w") as file:
        done = subprocess.run([sys.executable, os.path.join(HERE, "coco.py"), checkout, coco, "0", folder, out],
                              stdout=file, stderr=file)
    found = glob.glob(os.path.join(out, "*", "pptables.html"))
    if done.returncode or not found:
        with open(log) as file:
            print("  cocopp's report failed:\n" + file.read()[-2000:])
        return False
    print("  cocopp: its whole report, %d files" % sum(len(names) for _, _, names in os.walk(out)), flush=True)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iohanalyzer", required=True, type=os.path.abspath)
    parser.add_argument("--coco", required=True, type=os.path.abspath)
    options, good = parser.parse_args(), True
    for checkout, name in ((options.iohanalyzer, "R/readFiles.R"), (options.coco, "src/cocopp/pproc.py")):
        if not os.path.exists(os.path.join(checkout, name)):
            parser.error("%s has no %s: give a checkout of IOHprofiler/IOHanalyzer, and of numbbo/coco-postprocess" % (
                checkout, name))
    with tempfile.TemporaryDirectory() as folder:
        cocopp = os.path.join(folder, "cocopp")  # a copy, because cocopp writes beside its code
        shutil.copytree(os.path.join(options.coco, "src"), os.path.join(cocopp, "src"))
        for index, (title, budget, seeds, given) in enumerate(CAMPAIGNS):
            ioh, coco, table = (os.path.join(folder, "%s%d" % (name, index)) for name in ("ioh", "coco", "csv"))
            worlds = [word for world in WORLDS for word in ("--world", world)]
            limits = ["--seeds", str(seeds), "--evaluations", str(budget)]
            results = json.loads(run([APSIS, "lab", *given, *worlds, *limits, "--iohprofiler", ioh, "--coco", coco,
                                      "--csv", table, "--json", "-q"]))
            with open(table) as file:
                found = ours(results, file.read())
            print("%s: %d worlds, %d evaluations, %d seeds" % (title, len(WORLDS), budget, seeds), flush=True)
            reader = os.path.join(HERE, "iohanalyzer.R")
            theirs = run(["Rscript", reader, options.iohanalyzer, ioh, str(budget), folder])
            good = compare("IOHanalyzer", theirs, found, (11, 3)) and good
            theirs = run([sys.executable, os.path.join(HERE, "coco.py"), cocopp, coco, str(budget), folder])
            good = compare("cocopp", theirs, found, (14, 3)) and good
            if index == 0:
                good = pages(cocopp, coco, folder) and good
    sys.exit(not good)


if __name__ == "__main__":
    main()
