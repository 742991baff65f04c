"""Counts user instructions of norrisd per request and of a complete norrisctl prompt.

Unlike times, instruction counts do not depend on the load of the machine.
"""

import json
import os
import re
import statistics
import subprocess
import sys

from harness import FACT_RANDOM, HERE, PROGRAMS, Failure, compared, daemon, exchange, value

RECORDED = HERE / "instructions.tsv"
REQUESTS = 10_000
WARM_UP = 1_000
GOALS = {"fact.random": 4800, "fact.random, pipeline 16": 3000}
# --check fails above this multiple of the recorded count.
TOLERANCE = 1.10
VALGRIND = ["valgrind", "-q", "--tool=callgrind"]


def instructions(folder, options):
    "instructions for each request and of norrisctl prompt; --record and --check (see instructions.tsv)"
    versions = toolchain()
    if options.check:
        recorded_versions, recorded = read()
        if versions[0] != recorded_versions[0]:
            print(f"instructions: recorded with {recorded_versions[0]}, this is {versions[0]}", file=sys.stderr)
            sys.exit(77)
        if versions != recorded_versions:
            print(f"instructions: recorded with {recorded_versions[1]}, this is {versions[1]}", file=sys.stderr)
    figures = {**requests(folder), "norrisctl prompt": prompt(folder)}
    if options.check:
        if missing := set(figures) ^ set(recorded):
            raise Failure(f"{RECORDED.name} and this program differ in: {', '.join(sorted(missing))}")
        return [compared(f"instructions, {name} / recorded", [figure], [recorded[name]], "", at_most=TOLERANCE)
                for name, figure in figures.items()]
    if options.record:
        lines = [f"# {', '.join(versions)}", *(f"{name}\t{figure}" for name, figure in figures.items())]
        RECORDED.write_text("\n".join(lines) + "\n")
    return [value(f"instructions, {name}", [figure], "", at_most=GOALS.get(name)) for name, figure in figures.items()]


def toolchain():
    """Returns the versions of Swift and the C library."""
    try:
        text = subprocess.run(["swift", "--version"], capture_output=True, text=True, timeout=60).stdout
    except FileNotFoundError:
        text = ""
    found = re.search(r"Swift version (\S+)", text)
    return [f"Swift {found[1]}" if found else "no Swift", os.confstr("CS_GNU_LIBC_VERSION")]


def read():
    if not RECORDED.exists():
        raise Failure("nothing is recorded yet; run: Scripts/bench instructions --record")
    comment, *lines = RECORDED.read_text().splitlines()
    return comment.removeprefix("# ").split(", "), {
        name: int(figure) for name, figure in (line.split("\t") for line in lines)}


def total(path):
    return int(re.search(r"^(?:totals|summary): (\d+)", path.read_text(), re.MULTILINE)[1])


def requests(folder):
    """Counts instructions on the server's thread, which is the thread with the most instructions."""
    output = folder / "requests"
    callgrind = [*VALGRIND, "--separate-threads=yes", f"--callgrind-out-file={output}"]
    with daemon(folder / "counted", under=callgrind, timeout=300, SWIFT_DETERMINISTIC_HASHING="1") as server:
        fact = server.call("fact.random")["items"][0]["id"]
        get = '{"jsonrpc":"2.0","id":1,"method":"fact.get","params":{"id":%s}}' % json.dumps(fact)
        measured = {
            "fact.random": (FACT_RANDOM, 1), "fact.random, pipeline 16": (FACT_RANDOM, 16), "fact.get": (get, 1),
            "server.info": ('{"jsonrpc":"2.0","id":1,"method":"server.info"}', 1),
        }
        figures = {}
        for name, (line, pipeline) in measured.items():
            with server.connect() as connection:
                exchange(connection, line, WARM_UP, pipeline)
                control("--zero", server.process.pid)
                exchange(connection, line, REQUESTS, pipeline)
                control("--dump", server.process.pid)
            dumps = list(folder.glob("requests.*"))
            figures[name] = round(max(total(dump) for dump in dumps) / REQUESTS)
            for dump in dumps:
                dump.unlink()
    return figures


def control(action, pid):
    subprocess.run(["callgrind_control", action, str(pid)], check=True, timeout=60, capture_output=True)


def prompt(folder):
    """Returns a median, because the facts differ in length."""
    figures, output = [], folder / "callgrind"
    with daemon(folder / "ordinary") as server:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NORRISD_SOCKET": str(server.path),
                       "SWIFT_DETERMINISTIC_HASHING": "1"}
        for _ in range(9):
            subprocess.run([*VALGRIND, f"--callgrind-out-file={output}", PROGRAMS / "norrisctl", "prompt"],
                           env=environment, check=True, timeout=60, capture_output=True)
            figures.append(total(output))
    return statistics.median(figures)
