#!/usr/bin/env python3
"""Runs Apache Otava on simulated series, and prints what it found beside what chronoscope found.

    CHANGEPOINT_DUMP=$PWD/series.json go test ./changepoint -run TestDump
    PYTHONPATH=OTAVA bench/history/beside_otava.py series.json

OTAVA is a checkout of github.com/apache/otava; it needs numpy and scipy.
"""
import collections
import json
import sys

from otava.analysis import compute_change_points


def tally(found, steps, reach):
    near = [at for at in found if any(abs(at - s) <= reach for s in steps)]
    hit = [s for s in steps if any(abs(at - s) <= reach for at in found)]
    return len(hit), len(steps) - len(hit), len(found) - len(near)


def main():
    table = collections.OrderedDict()
    for series in json.load(open(sys.argv[1])):
        steps = [int(at) for at in series["steps"] or {}]
        otava = [c.index for c in compute_change_points(series["values"])[0]]
        row = table.setdefault(series["case"], [0] * 7)
        row[0] += 1
        for i, found in enumerate((series["found"], otava)):
            for k, n in enumerate(tally(found, steps, series["reach"])):
                row[1 + 3 * i + k] += n
    print("| series | chronoscope found | missed | false | Otava found | missed | false |")
    print("|---|---|---|---|---|---|---|")
    for case, row in table.items():
        print(f"| {case} ({row[0]}) | " + " | ".join(str(n) for n in row[1:]) + " |")


main()
