"""Measures the release programs beside their peers, in turn, and prints one table. Compare ratios, not figures."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import attacks
import harness
import memory
import speed
import store
from harness import COMPILER

BENCHMARKS = {
    "rates": (speed.rates, [*COMPILER, "redis-tools"]),
    "processes": (speed.processes, [*COMPILER, "fortune-mod", "fortunes-min"]),
    "cards": (speed.cards, ["imagemagick"]),
    "memory": (memory.memory, COMPILER),
    "start": (speed.start, []),
    "idle": (memory.idle, []),
    "instructions": (speed.instructions, ["valgrind"]),
    "store": (store.store, COMPILER),
    "attacks": (attacks.attacks, []),
    "feeds": (attacks.feeds, ["openssl"]),
}
ONLY_IF_NAMED = {"store", "attacks", "feeds"}


def sizes(text):
    return [int(size) for size in text.replace("_", "").split(",")]


parser = harness.parser("Scripts/bench", __doc__, BENCHMARKS, ONLY_IF_NAMED)
parser.add_argument("--runs", type=int, default=5, metavar="N", help="pairs of each comparison (default: 5)")
parser.add_argument("--sizes", type=sizes, default=[1_000, 3_000, 100_000], metavar="N,N",
                    help="store: numbers of facts (default: 1000,3000,100000)")
parser.add_argument("--structure", action="store_true",
                    help="attacks: short ones, and only goals that do not depend on the speed of the machine")
mode = parser.add_mutually_exclusive_group()
mode.add_argument("--record", action="store_true", help="instructions: write the figures to instructions.tsv")
mode.add_argument("--check", action="store_true", help="instructions: compare with instructions.tsv")
sys.exit(harness.main(parser, BENCHMARKS, ONLY_IF_NAMED))
