"""Simulates a fleet of machines behind a cache, and prints one table."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import experiments
import harness

CACHE = ["gettext-base", "nginx-light", "util-linux"]
EXPERIMENTS = {
    "cold": (experiments.cold, CACHE),
    "caches": (experiments.caches, CACHE),
    "outage": (experiments.outage, CACHE),
    "monitoring": (experiments.monitoring, ["prometheus"]),
}

parser = harness.parser("Scripts/fleet/simulate", __doc__, EXPERIMENTS)
parser.add_argument("--machines", type=int, default=100, metavar="N",
                    help="cold: real daemons (default: 100)")
sys.exit(harness.main(parser, EXPERIMENTS))
