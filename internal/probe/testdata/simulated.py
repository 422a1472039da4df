"""A probe with simulated timers, of whatever quantum and cost the arguments name.

An argument is NAME:UNIT:QUANTUM:COST:DIGITS, in nanoseconds, DIGITS being how many
decimals a reading is rounded down to. A timer is a counter that is updated every
QUANTUM; a call takes COST, within a share of JITTER, and looks at the counter in its
middle. Time passes with the calls and with the rounds of work, a nanosecond each; the
real clock is waited for between commands, so that the timers keep its rate.
"""

import json
import math
import random
import sys
import time

JITTER = 0.02
random.seed(1)


class Timer:
    def __init__(self, text):
        self.name, unit, quantum, cost, digits = text.split(":")
        self.unit, self.quantum, self.cost, self.digits = float(unit), float(quantum), float(cost), int(digits)

    def read(self):
        global now
        took = self.cost * random.uniform(1 - JITTER, 1 + JITTER)
        now += took / 2
        shown = math.floor(now / self.quantum) * self.quantum / self.unit
        now += took / 2
        grain = 10 ** self.digits
        return math.floor(shown * grain + 1e-6) / grain

    def word(self, value):
        return f"{value:.{self.digits}f}"


timers = {t.name: t for t in map(Timer, sys.argv[1:])}
start = time.monotonic_ns()
now = 0.0


def keep_up():
    """Lets the slower of the simulated and the real time catch up."""
    global now
    while time.monotonic_ns() - start < now:
        pass
    now = max(now, float(time.monotonic_ns() - start))


def hello():
    return json.dumps({"protocol": 1, "runtime": "simulated", "version": "1", "timers": [
        {"name": t.name, "kind": "wall", "unit_ns": t.unit} for t in timers.values()]})


def reads(name, n):
    t = timers[name]
    return [t.word(t.read()) for _ in range(int(n))]


def pairs(name, work, n):
    global now
    t, words = timers[name], []
    for _ in range(int(n)):
        first = t.read()
        now += int(work)
        words.append(t.word(first) + "," + t.word(t.read()))
    return words


def cost(name, reference, batch, n):
    r, words = timers[reference], []
    for _ in range(int(n)):
        begin = r.read()
        for _ in range(int(batch)):
            if name != "none":
                timers[name].read()
        words.append(r.word(r.read() - begin))
    return words


def threads(name, many, n):
    return [f"{i % int(many)},{word}" for i, word in enumerate(reads(name, n))]


commands = {"reads": reads, "pairs": pairs, "cost": cost, "threads": threads}
for line in sys.stdin:
    command, *rest = line.split()
    if command == "quit":
        break
    keep_up()
    if command == "hello":
        print(hello(), flush=True)
    elif command in commands:
        print(" ".join(commands[command](*rest)), flush=True)
    else:
        print("unsupported", flush=True)
    keep_up()
