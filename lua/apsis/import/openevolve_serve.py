"""Keeps one Python process ready for an evaluator of OpenEvolve (`evaluator: {serve: true}`), so that its libraries are
imported once and not for every candidate.

    python3 serve RUNNER EVALUATOR PROGRAM...     with APSIS_SERVE=FOLDER

RUNNER is the project's openevolve_evaluate.py. The process imports what evaluator and program import from outside the
project, and nothing of the project itself. Each command then runs in a fork, which imports evaluator and program
afresh; when it ends, all that it has started is ended. lua/apsis/live/executor/README.md describes the folder.
"""
import ast
import ctypes
import gc
import importlib
import importlib.util
import json
import os
import signal
import sys
import traceback

SET_DUMPABLE, SET_CHILD_SUBREAPER = 4, 36
LIBC = ctypes.CDLL(None, use_errno=True)


def imported_by(path):
    """The full names of the modules that a Python file imports; none if it is not one."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module)
    return names


def local_names(folders):
    """The names of the project's own modules."""
    names = set()
    for folder in folders:
        for name in os.listdir(folder):
            if name.endswith(".py"):
                names.add(name[:-3])
            elif os.path.exists(os.path.join(folder, name, "__init__.py")):
                names.add(name)
    return names


def preload(paths, folders):
    own = local_names(folders) | {"openevolve"}
    for name in sorted(set().union(*map(imported_by, paths))):
        if name.split(".")[0] not in own:
            try:
                importlib.import_module(name)
            except Exception:  # noqa: B902 (the candidate's own import shows what is wrong)
                pass


def forget_local(folders):
    """A candidate may have added a module with the name of one that is loaded."""
    own = local_names(folders)
    for name in [name for name in sys.modules if name.split(".")[0] in own]:
        del sys.modules[name]


def reseed():
    """Python's random draws new numbers in a fork; these libraries do not."""
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    if "torch" in sys.modules:
        sys.modules["torch"].seed()


def measure(runner, request, streams, folders):
    """In the fork: one command."""
    LIBC.prctl(SET_DUMPABLE, 1, 0, 0, 0)
    os.setsid()
    for number, stream in enumerate(streams, 1):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    forget_local(folders)
    reseed()
    sys.path[0] = os.path.dirname(os.path.abspath(runner))
    sys.argv = [runner] + request["argv"]
    spec = importlib.util.spec_from_file_location("openevolve_evaluate", runner)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()


def end_all():
    """Ends whatever the command has left running; all of it is, or becomes, a child of this process."""
    own = str(os.getpid())
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] != 0:
                continue
        except ChildProcessError:
            return
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % name) as file:
                    parent = file.read().rpartition(")")[2].split()[1]
                if parent == own:
                    os.kill(int(name), signal.SIGKILL)
                    os.waitpid(int(name), 0)
            except (OSError, IndexError):
                pass


def answer(folder, runner, folders):
    with open(os.path.join(folder, "ask")):
        pass  # a client waits
    end, err, out = [os.open(os.path.join(folder, name), os.O_WRONLY) for name in ("end", "err", "out")]
    with open(os.path.join(folder, "request.json")) as file:
        request = json.load(file)
    child = os.fork()
    if child == 0:
        os.close(end)
        try:
            measure(runner, request, (out, err), folders)
        except SystemExit as ending:
            os._exit(ending.code if isinstance(ending.code, int) else 1)
        except BaseException:  # noqa: B902 (nothing of the fork may go on here)
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(out), os.close(err)
    _, status = os.waitpid(child, 0)
    end_all()
    os.write(end, b"%d\n" % (os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)))
    os.close(end)


def main():
    folder, (runner, evaluator, *programs) = os.environ.pop("APSIS_SERVE"), sys.argv[1:]
    folders = [os.path.dirname(os.path.abspath(path)) for path in (runner, evaluator, *programs[:1])]
    LIBC.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    LIBC.prctl(SET_DUMPABLE, 0, 0, 0, 0)
    sys.dont_write_bytecode = True
    preload([evaluator, *programs[:1]], folders)
    gc.freeze()
    for name in ("end", "err", "out", "ask"):  # the last one: it is ready
        os.mkfifo(os.path.join(folder, name))
    while True:
        answer(folder, runner, folders)


if __name__ == "__main__":
    main()
