"""Simulates a fleet of machines behind a cache, and prints one table."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
for each in ["benchmarks", "failures"]:
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / each))
import caches
import cold
import harness
import model
import monitoring
import outage
import varnish

CACHE = ["gettext-base", "nginx-light", "util-linux"]
EXPERIMENTS = {
    "cold": (cold.cold, CACHE),
    "caches": (caches.caches, CACHE),
    "outage": (outage.outage, [*CACHE, "faketime"]),
    "model": (model.model, CACHE),
    "varnish": (varnish.varnish, ["gcc", "gettext-base", "libc6-dev", "util-linux", "varnish", "varnish-modules"]),
    "monitoring": (monitoring.monitoring, ["prometheus", "prometheus-node-exporter"]),
}


def parse():
    described = "\n".join(f"  {name:10}{function.__doc__}" for name, (function, _) in EXPERIMENTS.items())
    parser = argparse.ArgumentParser(
        prog="Scripts/fleet/simulate", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__,
        epilog=f"experiments:\n{described}\n\nNORRIS_PROGRAMS is the folder with the programs (default: .build/dist).\n"
        "Exit status: 0 all goals met, 1 a goal missed or an experiment failed.")
    parser.add_argument("names", metavar="NAME", nargs="*", help="an experiment (default: all)")
    parser.add_argument("--machines", type=int, default=200, metavar="N",
                        help="real daemons of the largest fleet (default: 200)")
    parser.add_argument("--packages", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.names) - set(EXPERIMENTS):
        parser.error(f"unknown experiment: {', '.join(sorted(unknown))}")
    options.names = options.names or list(EXPERIMENTS)
    return options


sys.exit(harness.main("simulate", EXPERIMENTS, parse()))
