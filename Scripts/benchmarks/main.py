"""Measures the release programs beside their peers, in turn, and prints one table.

Compare ratios, not figures: a machine that is busy or slow affects both members of a pair alike.
"""

import sys

sys.dont_write_bytecode = True
import cards
import corruption
import feeds
import harness
import instructions
import memory
import processes
import rates
import store
import users

COMPILER = ["gcc", "libc6-dev"]
BENCHMARKS = {
    "rates": (rates.rates, [*COMPILER, "redis-tools"]),
    "processes": (processes.processes, [*COMPILER, "fortune-mod", "fortunes-min"]),
    "cards": (cards.cards, ["imagemagick"]),
    "memory": (memory.memory, COMPILER),
    "start": (processes.start, []),
    "idle": (memory.idle, []),
    "instructions": (instructions.instructions, ["valgrind"]),
    "import": (store.imports, COMPILER),
    "store": (store.store, COMPILER),
    "feeds": (feeds.feeds, []),
    "corruption": (corruption.corruption, []),
    "users": (users.users, []),
}
ONLY_IF_NAMED = {"import", "store", "feeds", "corruption", "users"}


def sizes(text):
    return [int(size) for size in text.replace("_", "").split(",")]


def parse():
    parser = harness.parser("Scripts/bench", __doc__, BENCHMARKS, "benchmark", ONLY_IF_NAMED,
                            ", 77 recorded with another toolchain")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="pairs of each comparison (default: 5)")
    parser.add_argument("--sizes", type=sizes, default=store.DEFAULT_SIZES, metavar="N,N",
                        help="store: numbers of facts (default: 1000,10000,100000)")
    parser.add_argument("--copies", type=int, default=500, metavar="N",
                        help="corruption: damaged copies of each file (default: 500)")
    parser.add_argument("--users", type=int, default=1_000, metavar="N", help="users: how many (default: 1000)")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--record", action="store_true", help="instructions: write the figures to instructions.tsv")
    mode.add_argument("--check", action="store_true", help="instructions: compare with instructions.tsv")
    options = harness.options(parser, BENCHMARKS, ONLY_IF_NAMED)
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    if (options.record or options.check) and options.names != ["instructions"]:
        parser.error("--record and --check apply to: instructions")
    return options


sys.exit(harness.main("bench", BENCHMARKS, parse()))
