"""Compares the model of a fleet with real daemons, and then computes the figures of fleets that no test can run.

The model (Tests/FleetModel) simulates the requests of each machine with norrisd's own schedule. The sizes of responses
are measured; the numbers of requests and of bytes are predicted."""

import json
import random
import statistics
import subprocess
import sys
import time

import parts
from harness import Row

ROOT = parts.HERE.parents[1]
SIZES = [50, 100, 200]
# Seconds of the comparison, and its begin within the period after which all documents change together. No document
# changes near the begin or the end.
MEASURED, PERIOD, BEGIN = 180, 90, 20
ERROR_GOAL = 0.1
# Refresh intervals, lifetimes that the upstream states, and times between changes, in seconds.
FACTS = 40
FEEDS = {"planet": 10, "news": 20, "town": 30, "team": 60}
LIFETIMES = {"/planet": 5, "/news": 25, "/town": 15, **dict.fromkeys(parts.FACTS, 15)}
CHANGES = {"/planet": 30, "/news": 45}
UNSTATED = 900  # seconds for which the template stores a document without a lifetime
ORIGIN_LATENCY, CACHE_LATENCY = 0.005, 0.001
# The fleets of the prediction: their machines, and how many of these each simulated machine represents.
PREDICTED = {1_000: 1, 100_000: 1, 10_000_000: 100}
DAY, HOUR = 86_400, 3_600
DEPLOYMENT = 600  # seconds in which all machines start


def built():
    """Builds the model; returns its path."""
    command = ["swift", "build", "-c", "release", "--static-swift-stdlib", "-debug-info-format", "none"]
    print("simulate: building the model", file=sys.stderr)
    subprocess.run([*command, "--product", "norris-fleet"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    folder = subprocess.run([*command, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return f"{folder.strip()}/norris-fleet"


def simulated(program, scenario):
    output = subprocess.run([program], input=json.dumps(scenario), check=True, capture_output=True, text=True).stdout
    return json.loads(output)


def scenario(sizes, unchanged, facts, feeds, lifetimes, changes, **others):
    """Returns the input of the model. `sizes` maps paths to the bytes of a response of the cache and of the upstream,
    `unchanged` is the same for status 304."""
    paths = [*parts.FACTS, *(f"/{name}" for name in feeds)]
    return {
        "documents": [{
            "cacheBytes": sizes[path][0], "originBytes": sizes[path][1],
            # The template lets one request in ten seconds through.
            "lifetime": lifetimes.get(path, UNSTATED), "statesLifetime": path in lifetimes,
            "changesEvery": changes.get(path, 0)} for path in paths],
        "sources": [{"name": "facts", "refresh": facts, "documents": [0, 1, 2], "validated": 2},
                    *({"name": name, "refresh": refresh, "documents": [number], "validated": 1}
                      for number, (name, refresh) in enumerate(feeds.items(), 3))],
        "originLatency": ORIGIN_LATENCY, "cacheLatency": CACHE_LATENCY,
        "unchangedCacheBytes": unchanged[0], "unchangedOriginBytes": unchanged[1], **{"outages": [], **others}}


def without_host(path):
    return path.removeprefix(f"/feeds/{parts.HOST}")


def real(folder, count):
    """Runs real daemons; returns the figures of the measured time, and the scenario of the model."""
    begin = time.time()
    upstream = parts.Upstream(facts=500, items=20)
    upstream.lifetime_of = LIFETIMES.get
    upstream.version = lambda path: int((time.time() - begin) // CHANGES[path]) if path in CHANGES else 0
    with upstream.listening() as port, parts.Cache(folder / "nginx", port) as cache:
        setting = parts.configuration(
            cache.url, facts=f"{FACTS}s", feeds={name: f"{refresh}s" for name, refresh in FEEDS.items()})
        with parts.machines(folder, count, setting) as servers:
            parts.wait_for_content(servers)
            # The log of nginx has whole seconds.
            passed = int(time.time() - begin) + 5
            first = passed + (BEGIN - passed) % PERIOD
            time.sleep(begin + first - time.time())
            before = (sum(upstream.requests.values()), upstream.bytes)
            time.sleep(begin + first + MEASURED - time.time())
            origin = (sum(upstream.requests.values()) - before[0], upstream.bytes - before[1])
            starts = [server.started - begin for server in servers]
    lines = cache.lines()
    measured = [line for line in lines if begin + first <= line.time < begin + first + MEASURED]
    sizes = {}
    for path in [*parts.FACTS, *(f"/{name}" for name in FEEDS)]:
        sent = [line.sent for line in lines if line.status == 200 and without_host(line.path) == path]
        sizes[path] = (round(statistics.mean(sent)), upstream.sizes[path])
    unchanged = round(statistics.mean(line.sent for line in measured if line.status == 304))
    figures = {"requests at the cache": len(measured), "bytes of the cache": sum(line.sent for line in measured),
               "responses 304 of the cache": sum(line.status == 304 for line in measured),
               "requests at the upstream": origin[0], "bytes of the upstream": origin[1]}
    return figures, scenario(
        sizes, (unchanged, upstream.unchanged_size), FACTS, FEEDS, LIFETIMES, CHANGES,
        machines=[parts.machine_name(number) for number in range(count)], starts=starts, weight=1,
        duration=first + MEASURED, measuredFrom=first)


def predicted(report):
    return {"requests at the cache": report["cache"]["requests"], "bytes of the cache": report["cache"]["bytes"],
            "responses 304 of the cache": report["cache"]["unchanged"],
            "requests at the upstream": report["origin"]["requests"],
            "bytes of the upstream": report["origin"]["bytes"]}


def compared(folder, program, largest):
    rows = []
    for count in [size for size in SIZES if size <= largest] or [largest]:
        place = folder / str(count)
        place.mkdir()
        figures, inputs = real(place, count)
        model = predicted(simulated(program, inputs))
        for name, figure in figures.items():
            error = model[name] / figure - 1
            rows.append(Row(f"{count} machines, {MEASURED} s: {name}", f"{model[name]:,}", peer=f"{figure:,} real",
                            ratio=model[name] / figure, goal=f"within {ERROR_GOAL:.0%}", met=abs(error) <= ERROR_GOAL,
                            note=f"error {error:+.1%}"))
    return rows


def fleet(count, weight, **others):
    """The default configuration with four feeds, which change every hour and state no lifetime."""
    sizes = {**dict.fromkeys(parts.FACTS, (900_000, 900_000)), parts.FACTS[2]: (400, 400),
             **{f"/{name}": (30_000, 30_000) for name in parts.FEEDS}}
    generator = random.Random(1)
    simulated_count = count // weight
    return scenario(
        sizes, (260, 200), DAY, dict.fromkeys(parts.FEEDS, HOUR // 2), {},
        {**{f"/{name}": HOUR for name in parts.FEEDS}, **dict.fromkeys(parts.FACTS, 7 * DAY)},
        machines=[parts.machine_name(generator.getrandbits(128)) for _ in range(simulated_count)],
        starts=[generator.uniform(0, DEPLOYMENT) for _ in range(simulated_count)], weight=weight, **others)


def rate(traffic, seconds, unit="/s"):
    """Returns the requests in each second or hour, the most in a second, and the bytes."""
    length, size, name = (1, 125_000, "Mbit/s") if unit == "/s" else (HOUR, 1e6, "MB/h")
    return (f"{traffic['requests'] * length / seconds:,.1f} {unit}, at most {traffic['peak']:,} in a second, "
            f"{traffic['bytes'] * length / seconds / size:,.2f} {name}")


def large(program):
    rows = []
    for count, weight in PREDICTED.items():
        begin = time.monotonic()
        first = simulated(program, fleet(count, weight, duration=2 * HOUR, measuredFrom=0))
        later = simulated(program, fleet(count, weight, duration=DAY + 2 * HOUR, measuredFrom=2 * HOUR))
        note = (f"computed in {time.monotonic() - begin:.0f} s. Most requests in a second, in each 12 minutes after "
                f"the deployment: {', '.join(f'{peak:,}' for peak in first['peaks'])}")
        rows += [Row(f"{count:,} machines, a day: cache", rate(later["cache"], DAY), note=note),
                 Row(f"{count:,} machines, a day: upstream", rate(later["origin"], DAY, "/h")),
                 Row(f"{count:,} machines, first 2 h: upstream", rate(first["origin"], 2 * HOUR, "/h"))]
    begin, end = 4 * HOUR, 10 * HOUR
    down = simulated(program, fleet(1_000_000, 10, duration=end, measuredFrom=begin,
                                    outages=[{"begin": begin, "end": end}]))
    permitted = 360 * len(parts.FEEDS)  # an hour
    requests = down["origin"]["requests"] / 6
    rows.append(Row("1,000,000 machines, upstream down for 6 h", rate(down["origin"], end - begin, "/h"),
                    goal=f"<= {permitted} /h", met=requests <= permitted and not down["empty"],
                    note=f"{down['staleResponses']:,} of {down['cache']['requests']:,} responses are expired "
                         f"copies, {down['cache']['failures']} are errors; the oldest content is "
                         f"{down['oldest'] / HOUR:.1f} h old"))
    # A tenth of the machines with ten times the weight shows the error of the weights.
    whole, tenth = (simulated(program, fleet(100_000, weight, duration=4 * HOUR, measuredFrom=2 * HOUR))["cache"]
                    for weight in [1, 10])
    error = tenth["requests"] / whole["requests"] - 1
    rows.append(Row("100,000 machines: 10,000 with weight 10", f"{tenth['requests']:,}", peer=f"{whole['requests']:,}",
                    ratio=tenth["requests"] / whole["requests"], goal="within 1%", met=abs(error) <= 0.01))
    return rows


def model(folder, options):
    """the model against 50, 100 and 200 real machines, and its figures for 10³, 10⁵ and 10⁷"""
    program = built()
    return compared(folder, program, options.machines) + large(program)
