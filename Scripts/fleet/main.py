"""Simulates a fleet of machines behind a cache, and prints one table."""

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


parser = harness.parser("Scripts/fleet/simulate", __doc__, EXPERIMENTS, "experiment")
parser.add_argument("--machines", type=int, default=200, metavar="N",
                    help="real daemons of the largest fleet (default: 200)")
sys.exit(harness.main("simulate", EXPERIMENTS, harness.options(parser, EXPERIMENTS)))
