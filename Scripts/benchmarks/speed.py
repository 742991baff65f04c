"""Rates and times of complete processes beside their peers, in turn, and instructions. Compare ratios, not figures: a
busy or slow machine affects both members of a pair alike."""

import itertools
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

from harness import (FACT_RANDOM, OFFLINE, SCRIPTS, Failure, Row, Upstream, accepts, compared, compiled, content,
                     daemon, feed, in_turn, key_file, loaded, program, request, running, value, wait_for, wall)

# The pairs of processes in a run, because processes are short.
PAIRS, WARM_UP = 10, 3

# Connections, pipeline, and the minimum ratio of norrisd to Redis.
LOADS = [(1, 1, 1.0), (50, 1, 1.0), (50, 16, 1.5)]

# The goal of each command, as a multiple of the time of norrisctl fact.
COMMANDS = {
    "--help": 1.2, "fact --help": 1.2, "completion bash": 1.2, "---complete norrisctl fact -": 1.2,
    "call server.info": 1.6, "status": 1.6, "categories": 1.6, "favorite list": 1.6,
    "search kick": 1.25, "gif kick": 2, "feed": 2,
}

CARD_SIZE, CARD_PAIRS = "1080", 4

RECORDED = SCRIPTS / "benchmarks" / "instructions.tsv"
REQUESTS, REQUESTS_BEFORE = 10_000, 1_000
INSTRUCTION_GOALS = {"fact.random": 4800, "fact.random, pipeline 16": 3000}
TOLERANCE = 1.10  # --check fails above this multiple of the recorded figure
VALGRIND = ["valgrind", "-q", "--tool=callgrind"]


def rates(folder, options):
    """fact.random beside Redis GET of 300 bytes and a floor server in C: 1 and 50 connections, pipeline of 16"""
    load, floor = compiled(folder, "load"), compiled(folder, "floor_server")
    # The package redis-server would start a service. redis-check-rdb of redis-tools is the same program as the server.
    (folder / "redis-server").symlink_to("/usr/bin/redis-check-rdb")
    sockets = {name: folder / f"{name}.sock" for name in ["redis", "floor"]}
    redis = [folder / "redis-server", "--port", "0", "--unixsocket", sockets["redis"], "--save", "",
             "--appendonly", "no", "--dir", folder]
    with (daemon(folder / "norrisd") as server, running(redis, stdout=subprocess.DEVNULL),
          running([floor, sockets["floor"]])):
        for path in sockets.values():
            wait_for(lambda: accepts(path), path.name)
        loaded(load, sockets["redis"], "SET k " + "x" * 300, seconds=0.1)
        rows = []
        for connections, pipeline, least in LOADS:
            shape = {"connections": connections, "pipeline": pipeline}
            name = f"fact.random, {connections} conn." + (f", pipeline {pipeline}" if pipeline > 1 else "")
            figures = in_turn(options.runs, {
                "norrisd": lambda: loaded(load, server.path, FACT_RANDOM, **shape)[0] / 1000,
                "redis": lambda: loaded(load, sockets["redis"], "GET k", newlines=2, **shape)[0] / 1000,
                "floor": lambda: loaded(load, sockets["floor"], FACT_RANDOM, **shape)[0] / 1000,
            })
            rows.append(compared(f"{name} / Redis GET", figures["norrisd"], figures["redis"], "k/s", at_least=least))
            rows.append(compared(f"{name} / floor", figures["norrisd"], figures["floor"], "k/s"))
    return rows


def processes(folder, options):
    """norrisctl fact beside fortune, prompt beside a static client in C, and other commands beside norrisctl fact"""
    floor = compiled(folder, "floor_client", "-static")
    fortune = pathlib.Path(shutil.which("fortune", path="/usr/games:" + os.environ["PATH"]))
    (folder / "facts").write_text("\n%\n".join(f"Fact {number}: a round house kick." for number in range(40)))
    with Upstream(lambda target, _: content(target, range(25))) as upstream, daemon(folder / "norrisd", {
            "facts": {"enabled": False, "fortunes": [str(folder / "facts")]},
            "gifs": {"base_url": upstream.url, "api_key_file": key_file(folder), "queries": []},
            "posts": {"sources": {"planet": feed(upstream.url + "/planet")}}}) as server:
        environment = {"NORRISD_SOCKET": str(server.path), "PATH": os.environ["PATH"], "HOME": str(folder)}

        def pair(ours, peer):
            # Only two processes, because a third process would leave colder caches for one of them.
            times = in_turn(options.runs * PAIRS, {
                "ours": lambda: wall(ours, environment), "peer": lambda: wall(peer, environment)
            }, WARM_UP)
            return times["ours"], times["peer"]

        fact = pair([program("norrisctl"), "fact"], [fortune])
        prompt = pair([program("norrisctl"), "prompt"], [floor, server.path])
        wait_for(lambda: server.call("post.list")["items"], "posts")
        # The upstream answers the first search, and the cache answers later searches.
        wait_for(lambda: server.reply("gif.search", query="kick").get("result", {}).get("items"), "GIFs")
        wait_for(lambda: server.call("fact.search", query="kick")["items"], "facts")
        server.call("favorite.add", kind="fact", id=server.call("fact.random")["items"][0]["id"])
        commands = {name: pair([program("norrisctl"), *name.split()], [program("norrisctl"), "fact"])
                    for name in COMMANDS}
    return [
        compared("norrisctl fact / fortune", *fact, "ms", at_most=0.3),
        compared("norrisctl prompt / floor client", *prompt, "ms", at_most=1.5),
        *(compared(f"norrisctl {name} / fact", *commands[name], "ms", at_most=goal) for name, goal in COMMANDS.items()),
    ]


def start(folder, options):
    """norrisd from its start to READY=1, the first time and with its databases there"""
    times = {"first": [], "later": []}
    for number in range(options.runs):
        for name in times:
            with daemon(folder / str(number)) as server:
                times[name].append(server.start)
    return [value(f"norrisd, {name} start to READY=1", figures, "ms") for name, figures in times.items()]


def cards(folder, options):
    """norris-card and norrisctl card beside a gradient of ImageMagick"""
    convert = pathlib.Path(shutil.which("convert", path="/usr/bin:" + os.environ["PATH"]))
    # Fontconfig stores its cache in the home folder. Without a cache each run reads every font.
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    given, drawn = folder / "fact.json", folder / "card.png"
    numbers = itertools.count()

    def draw(command):
        with given.open("rb") as source, drawn.open("wb") as output:
            time = wall(command, environment, stdin=source, stdout=output)
        if not drawn.read_bytes().startswith(b"\x89PNG"):
            raise Failure(f"{command[0]} wrote no PNG")
        return time

    def norris_card():
        # Each fact results in a different landscape.
        number = next(numbers)
        text = f"Chuck Norris has counted to infinity {number} times, and once more to be sure of it."
        fact = {"id": f"bench-{number}", "text": text, "categories": ["dev"], "source": "builtin"}
        given.write_text(json.dumps(fact))
        return draw([program("norris-card"), "--size", CARD_SIZE])

    def norrisctl_card():
        text = json.loads(given.read_text())["text"]
        return draw([program("norrisctl"), "card", "--text", text, "--size", CARD_SIZE, "-o", "-"])

    times = in_turn(options.runs * CARD_PAIRS, {
        "norris-card": norris_card, "norrisctl card": norrisctl_card,
        "gradient": lambda: draw([convert, "-size", f"{CARD_SIZE}x{CARD_SIZE}", "gradient:", "png:-"]),
    }, WARM_UP)
    return [compared(f"{name} / gradient", times[name], times["gradient"], "ms", at_most=1.0)
            for name in ["norris-card", "norrisctl card"]]


# Instructions, which do not depend on the load of the machine


def instructions(folder, options):
    """instructions for each request and of norrisctl prompt; --record and --check (see instructions.tsv)"""
    versions = toolchain()
    if options.check:
        comment, *lines = RECORDED.read_text().splitlines()
        recorded = {name: int(figure) for name, figure in (line.split("\t") for line in lines)}
        if (recorded_with := comment.removeprefix("# ")) != ", ".join(versions):
            print(f"instructions: recorded with {recorded_with}, this is {', '.join(versions)}", file=sys.stderr)
            sys.exit(77)
    figures = {**requests(folder), "norrisctl prompt": prompt(folder)}
    if options.check:
        if missing := set(figures) ^ set(recorded):
            raise Failure(f"{RECORDED.name} and this program differ in: {', '.join(sorted(missing))}")
        return [compared(f"instructions, {name} / recorded", [figure], [recorded[name]], "", at_most=TOLERANCE)
                for name, figure in figures.items()]
    if options.record:
        lines = [f"# {', '.join(versions)}", *(f"{name}\t{figure}" for name, figure in figures.items())]
        RECORDED.write_text("\n".join(lines) + "\n")
    return [value(f"instructions, {name}", [figure], "", at_most=INSTRUCTION_GOALS.get(name))
            for name, figure in figures.items()]


def toolchain():
    """Returns the versions of Swift and the C library."""
    swift = shutil.which("swift")
    text = subprocess.run([swift, "--version"], capture_output=True, text=True, timeout=60).stdout if swift else ""
    found = re.search(r"Swift version (\S+)", text)
    return [f"Swift {found[1]}" if found else "no Swift", os.confstr("CS_GNU_LIBC_VERSION")]


def total(path):
    """The instructions in a file of callgrind."""
    return int(re.search(r"^(?:totals|summary): (\d+)", path.read_text(), re.MULTILINE)[1])


def requests(folder):
    """Counts instructions on the server's thread, which is the thread with the most instructions."""
    callgrind = [*VALGRIND, "--separate-threads=yes", f"--callgrind-out-file={folder / 'requests'}"]
    with daemon(folder / "counted", under=callgrind, timeout=300, SWIFT_DETERMINISTIC_HASHING="1") as server:
        fact = server.call("fact.random")["items"][0]["id"]
        measured = {
            "fact.random": (FACT_RANDOM, 1), "fact.random, pipeline 16": (FACT_RANDOM, 16),
            "fact.get": (request("fact.get", id=fact), 1),
            "server.info": ('{"jsonrpc":"2.0","id":1,"method":"server.info"}', 1),
        }
        figures = {}
        for name, (line, pipeline) in measured.items():
            with server.connect() as client:
                client.repeat(line, REQUESTS_BEFORE, pipeline)
                control("--zero", server.process.pid)
                client.repeat(line, REQUESTS, pipeline)
                control("--dump", server.process.pid)
            dumps = list(folder.glob("requests.*"))
            figures[name] = round(max(total(dump) for dump in dumps) / REQUESTS)
            for dump in dumps:
                dump.unlink()
    return figures


def control(action, pid):
    """Commands callgrind without LOGNAME, as the daemon runs, because the name of its pipe contains it."""
    subprocess.run(["callgrind_control", action, str(pid)], check=True, timeout=60, capture_output=True,
                   env={"PATH": os.environ["PATH"]})


def prompt(folder):
    """Returns a median, because the facts differ in length."""
    figures, output = [], folder / "callgrind"
    with daemon(folder / "ordinary", OFFLINE) as server:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NORRISD_SOCKET": str(server.path),
                       "SWIFT_DETERMINISTIC_HASHING": "1"}
        for _ in range(9):
            subprocess.run([*VALGRIND, f"--callgrind-out-file={output}", program("norrisctl"), "prompt"],
                           env=environment, check=True, timeout=60, capture_output=True)
            figures.append(total(output))
    return statistics.median(figures)
