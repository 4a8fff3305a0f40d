"""What COCO's own post-processing reads out of an export: coco.py CHECKOUT FOLDER BUDGET CACHE [PAGES].

Prints a line for each figure: strategy, world, name, seed (or -), value. A name that begins with `5 ` was read with
cocopp's own number of targets for each power of ten; the others with 25, which has all targets of AOCC. With PAGES it
writes its whole report into that folder instead.

Stand-ins: for platformdirs, of which Debian's is too old: CACHE is where cocopp may keep files; for the version, which
only an installed cocopp has; and for downloads, because cocopp looks for its archives on the network when it is loaded.
"""
import glob
import os
import sys
import types
import urllib.request
import warnings

CHECKOUT, FOLDER, BUDGET, CACHE = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
os.environ.update(MPLBACKEND="Agg", MPLCONFIGDIR=CACHE)
warnings.simplefilter("ignore")
sys.modules["platformdirs"] = types.SimpleNamespace(user_cache_dir=lambda *_, **__: CACHE)
sys.modules["cocopp._version"] = types.SimpleNamespace(__version__="checkout")
sys.path.insert(0, os.path.join(CHECKOUT, "src"))


def refuse(*_, **__):
    raise OSError("no downloads here")


urllib.request.urlretrieve = refuse

import cocopp  # noqa: E402
import numpy  # noqa: E402
from cocopp import pproc, testbedsettings  # noqa: E402

# A hair above each target: cocopp's own is numpy's power, which on some processors is the next number below or above.
HAIR = 1 + 1e-12
MANY = [10 ** (-k / 25) * HAIR for k in range(1, 51)] + [1e-8 * HAIR]
# cocopp prints, too.
OUT, sys.stdout = sys.stdout, sys.stderr if len(sys.argv) > 5 else open(os.devnull, "w")


def areas(data):
    """Of each run the AOCC by evaluations and by their logarithm."""
    hits = numpy.array(data.detEvals(MANY)).reshape(len(MANY), -1)
    reached = numpy.isfinite(hits) & (hits <= BUDGET)
    return (numpy.where(reached, (BUDGET + 1 - hits) / BUDGET, 0).mean(0),
            numpy.where(reached, 1 - numpy.log(numpy.where(reached, hits, 1)) / numpy.log(BUDGET), 0).mean(0))


def show(data, name, seed, value):
    print(data.algId, data.comment[2:], name, seed, repr(float(value)), sep="\t", file=OUT)


def figures(data, points):
    prefix = "" if points == 25 else "%d " % points
    for way, left in (("90%", 0.1 * HAIR), ("100%", 1e-8 * HAIR)):
        hits = numpy.array(data.detEvals([left])[0])
        show(data, prefix + "ert " + way, "-", data.detERT([left])[0])
        show(data, prefix + "reached " + way, "-", round(data.detSuccessRates([left])[0] * len(hits)))
        show(data, prefix + "mean " + way, "-", numpy.where(numpy.isfinite(hits), hits, BUDGET).mean())
    if points == 25:
        area, by_log = areas(data)
        show(data, "aocc", "-", area.mean())
        show(data, "aocc_log", "-", by_log.mean())
        for seed, run, spent, hit in zip(data.instancenumbers, area, data.maxevals, data.detEvals([1e-8])[0]):
            show(data, "aocc", seed, run)
            show(data, "evaluations", seed, spent)
            show(data, "hit", seed, hit)


strategies = sorted(os.listdir(FOLDER))
numpy.random.seed(1)
if len(sys.argv) > 5:
    cocopp.main(" ".join(["-o", sys.argv[5]] + [os.path.join(FOLDER, strategy) for strategy in strategies]))
    sys.exit()
for points in (5, 25):
    testbedsettings.GECCOBBOBTestbed.settings["number_of_points"] = points
    testbedsettings.current_testbed = None
    for strategy in strategies:
        for data in pproc.DataSetList(sorted(glob.glob(os.path.join(FOLDER, strategy, "*.info")))):
            figures(data, points)
