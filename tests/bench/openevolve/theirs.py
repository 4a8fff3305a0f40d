"""One run of OpenEvolve's own code: theirs.py CHECKOUT PROJECT URL ITERATIONS SEED WORKERS OUT. Prints its best values
so far as JSON: [[evaluation, value]...]."""
import asyncio
import json
import multiprocessing
import os
import sys
from unittest.mock import MagicMock

CHECKOUT, PROJECT, URL, ITERATIONS, SEED, WORKERS, OUT = sys.argv[1:8]
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "standins"), CHECKOUT]
for name in ("flask", "tqdm", "tqdm.asyncio"):
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = MagicMock()
multiprocessing.set_start_method("fork")

from openevolve import OpenEvolve  # noqa: E402
from openevolve.config import LLMModelConfig, load_config  # noqa: E402
from openevolve.utils.metrics_utils import get_fitness_score  # noqa: E402


async def main():
    os.chdir(PROJECT)
    config = load_config("config.yaml")
    model = LLMModelConfig(name="scripted", weight=1.0, api_base=URL, api_key="none", temperature=0.7, max_tokens=4096,
                           timeout=60, retries=1, retry_delay=1)
    config.llm.models = config.llm.evaluator_models = [model]
    config.random_seed = config.database.random_seed = int(SEED)
    config.evaluator.parallel_evaluations, config.max_iterations = int(WORKERS), int(ITERATIONS)
    config.checkpoint_interval = 10 ** 6
    evolution = OpenEvolve("initial_program.py", "evaluator.py", config=config, output_dir=OUT)
    curve, add, seen = [], evolution.database.add, [0]

    def adding(program, *args, **kwargs):  # every candidate, those too that the population drops later
        value = get_fitness_score(program.metrics, config.database.feature_dimensions)
        if not program.metadata.get("migrant"):
            if not curve or value > curve[-1][1]:
                curve.append([seen[0], value])
            seen[0] += 1
        return add(program, *args, **kwargs)

    evolution.database.add = adding
    await evolution.run(iterations=int(ITERATIONS))
    print("%d candidates" % (seen[0] - 1), file=sys.stderr)
    with open(os.path.join(OUT, "best.py"), "w") as file:
        file.write(evolution.database.get_best_program().code)
    print("CURVE " + json.dumps(curve))


asyncio.run(main())
