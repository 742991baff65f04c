"""Picture cards beside ImageMagick's plainest gradient of the same size."""

import itertools
import json
import os
import pathlib
import shutil

from harness import PROGRAMS, Failure, Row, compared, in_turn, wall

PAIRS = 4
WARM_UP = 3
SIZE = "1080"


def cards(folder, options):
    "norris-card and norrisctl card beside a gradient of ImageMagick, if norris-card is built"
    if not (PROGRAMS / "norris-card").exists():
        return [Row("cards", "skipped", note="norris-card is not built: NORRIS_CARDS=1 Scripts/build")]
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
        given.write_text(json.dumps(
            {"id": f"bench-{number}", "text": text, "categories": ["dev"], "source": "builtin"}))
        return draw([PROGRAMS / "norris-card", "--size", SIZE])

    def norrisctl_card():
        text = json.loads(given.read_text())["text"]
        return draw([PROGRAMS / "norrisctl", "card", "--text", text, "--size", SIZE, "-o", "-"])

    times = in_turn(options.runs * PAIRS, {
        "norris-card": norris_card, "norrisctl card": norrisctl_card,
        "gradient": lambda: draw([convert, "-size", f"{SIZE}x{SIZE}", "gradient:", "png:-"]),
    }, WARM_UP)
    return [compared(f"{name} / gradient", times[name], times["gradient"], "ms", at_most=1.0)
            for name in ["norris-card", "norrisctl card"]]
