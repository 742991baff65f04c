"""Not yet."""


def upstreams(folder, options):
    "not yet"
    return []
