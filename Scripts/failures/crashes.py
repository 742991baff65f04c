"""Not yet."""


def crashes(folder, options):
    "not yet"
    return []
