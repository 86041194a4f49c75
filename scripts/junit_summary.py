"""Counts the tests in ctest's JUnit files and says why some were skipped.

With several files a later one overrules an earlier one, test by test: what one run skipped and
another run tested counts as tested.
"""

from __future__ import annotations

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Test:
    name: str
    status: str  # as ctest writes it: run, fail, notrun, disabled
    output: str

    def reason(self) -> str:
        """What GTEST_SKIP() << "..." said; for other tests the last line of their output."""
        said = re.search(r": Skipped\n(.+)", self.output)
        lines = self.output.strip().splitlines()
        return said.group(1).strip() if said else lines[-1] if lines else "no reason given"


def read(path: str) -> list[Test]:
    """The tests of one file; raises OSError or ElementTree.ParseError."""
    return [
        Test(case.get("name", ""), case.get("status", ""), case.findtext("system-out", ""))
        for case in ElementTree.parse(path).getroot().iter("testcase")
    ]


def summary(tests: Iterable[Test]) -> list[str]:
    """One line a reason for skipping, then the closing line with the counts."""
    final = {test.name: test for test in tests}.values()
    passed = sum(test.status == "run" for test in final)
    failed = sum(test.status == "fail" for test in final)
    skipped: dict[str, list[str]] = defaultdict(list)
    for test in final:
        if test.status not in ("run", "fail"):
            skipped[test.reason()].append(test.name)
    lines = [f"skipped, {why}: {', '.join(names)}" for why, names in sorted(skipped.items())]
    return [*lines, f"{passed} passed, {failed} failed, {len(final) - passed - failed} skipped"]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("junit", nargs="+", help="a file of ctest --output-junit")
    arguments = parser.parse_args(argv)
    try:
        tests = [test for path in arguments.junit for test in read(path)]
    except (OSError, ElementTree.ParseError) as error:
        print(f"junit_summary.py: {error}, expected a file of --output-junit", file=sys.stderr)
        return 2
    print("\n".join(summary(tests)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
