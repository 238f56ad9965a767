"""Merges log files in order of time, and counts them: see README.md."""

import argparse
import sys

from logs.command import merge, stats
from logs.records import LEVELS, Instant, NotATimeError, UnreadableError, parse_time


def _time(text: str) -> Instant:
    try:
        return parse_time(text)
    except NotATimeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="main", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    merging = commands.add_parser("merge", help="write the records in order of time")
    merging.add_argument("--since", type=_time, metavar="TIME")
    merging.add_argument("--until", type=_time, metavar="TIME")
    merging.add_argument("--level", choices=LEVELS)
    merging.add_argument("--dedupe", action="store_true")
    counting = commands.add_parser("stats", help="count the records")
    for command in (merging, counting):
        command.add_argument("files", nargs="+", metavar="FILE")
    return parser


def main() -> int:
    """Do what the command line says and return the exit code."""
    arguments = _parser().parse_args()
    try:
        if arguments.command == "stats":
            return stats(arguments.files)
        return merge(
            arguments.files,
            since=arguments.since,
            until=arguments.until,
            level=arguments.level,
            is_deduping=arguments.dedupe,
        )
    except UnreadableError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
