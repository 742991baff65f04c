"""Tries what can fail around norrisd, and prints one table. Each line has its goal; no goal depends on a peer."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import crashes
import disk
import harness
import soak
import upstreams
from harness import COMPILER

EXPERIMENTS = {
    "upstreams": (upstreams.upstreams, [*COMPILER, "openssl"]),
    "crashes": (crashes.crashes, ["procps", "strace"]),
    "disk": (disk.disk, COMPILER),
    "starts": (disk.starts, [*COMPILER, "mount"]),
    "soak": (soak.soak, ["faketime"]),
}
# Takes 20 minutes; Scripts/soak runs it.
ONLY_IF_NAMED = {"soak"}

parser = harness.parser("Scripts/chaos", __doc__, EXPERIMENTS, ONLY_IF_NAMED)
parser.add_argument("--kills", type=int, default=500, metavar="N", help="crashes: how often (default: 500)")
parser.add_argument("--every", type=int, default=1, metavar="N",
                    help="disk: try each N-th point only (default: 1, all points)")
parser.add_argument("--copies", type=int, default=100, metavar="N",
                    help="starts: damaged copies of each kind (default: 100)")
parser.add_argument("--minutes", type=float, default=20, metavar="N", help="soak: how long (default: 20)")
sys.exit(harness.main(parser, EXPERIMENTS, ONLY_IF_NAMED))
