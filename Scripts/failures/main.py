"""Tries what can fail around norrisd, and prints one table. Each line has its goal; no goal depends on a peer."""

import argparse
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "benchmarks"))
import access
import clocks
import crashes
import credentials
import harness
import soak
import starts
import torture
import upstreams

COMPILER = ["gcc", "libc6-dev"]
EXPERIMENTS = {
    "upstreams": (upstreams.upstreams, [*COMPILER, "openssl"]),
    "crashes": (crashes.crashes, [*COMPILER, "strace"]),
    "disk": (torture.disk, COMPILER),
    "memory": (torture.memory, COMPILER),
    "starts": (starts.starts, [*COMPILER, "mount"]),
    "clocks": (clocks.clocks, ["faketime"]),
    "access": (access.access, []),
    "credentials": (credentials.credentials, ["openssl"]),
    "soak": (soak.soak, ["faketime"]),
}
# Takes 20 minutes; Scripts/soak runs it.
ONLY_IF_NAMED = {"soak"}


def parse():
    described = "\n".join(f"  {name:14}{function.__doc__}" for name, (function, _) in EXPERIMENTS.items())
    parser = argparse.ArgumentParser(
        prog="Scripts/chaos", formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__,
        epilog=f"experiments:\n{described}\n\nNORRIS_PROGRAMS is the folder with the programs (default: .build/dist).\n"
        "Exit status: 0 all goals met, 1 a goal missed or an experiment failed.")
    parser.add_argument("names", metavar="NAME", nargs="*",
                        help=f"an experiment (default: all except {', '.join(sorted(ONLY_IF_NAMED))})")
    parser.add_argument("--kills", type=int, default=500, metavar="N", help="crashes: how often (default: 500)")
    parser.add_argument("--every", type=int, default=1, metavar="N",
                        help="disk, memory: try each N-th point only (default: 1, all points)")
    parser.add_argument("--minutes", type=float, default=20, metavar="N", help="soak: how long (default: 20)")
    parser.add_argument("--packages", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if unknown := set(options.names) - set(EXPERIMENTS):
        parser.error(f"unknown experiment: {', '.join(sorted(unknown))}")
    options.names = options.names or [name for name in EXPERIMENTS if name not in ONLY_IF_NAMED]
    return options


sys.exit(harness.main("chaos", EXPERIMENTS, parse()))
