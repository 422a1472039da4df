"""A probe for the timers of Python 3; see docs/probe-protocol.md."""

import json
import sys
import threading
import time

# Name, function, kind, unit in nanoseconds, and what is said of it beside.
TIMERS = [
    ("perf_counter_ns", time.perf_counter_ns, "wall", 1, {}),
    ("monotonic_ns", time.monotonic_ns, "wall", 1, {}),
    ("time_ns", time.time_ns, "wall", 1, {"calendar": True, "settable": True}),
    ("process_time_ns", time.process_time_ns, "cpu", 1, {"scope": "process"}),
    ("time.time", time.time, "wall", 1e9, {"calendar": True, "settable": True}),
]
if hasattr(time, "thread_time_ns"):
    TIMERS.insert(4, ("thread_time_ns", time.thread_time_ns, "cpu", 1, {"scope": "thread"}))

READ = {name: function for name, function, _, _, _ in TIMERS}
FIRST = {name: function() for name, function in READ.items()}
MOST = 100000


def spin(rounds):
    x = 1
    for _ in range(rounds):
        x = (x * 5 + 1) & 0xFFFF
    return x


def since(name, value):
    return repr(value - FIRST[name])


def hello():
    return json.dumps({
        "protocol": 1, "runtime": "python", "version": " ".join(sys.version.split()),
        "warmup": "none: it interprets",
        "timers": [dict({"name": n, "kind": k, "unit_ns": u, "api": f"{f.__module__}.{f.__name__}()"}, **more)
                   for n, f, k, u, more in TIMERS]})


def count(text):
    n = int(text)
    if not 1 <= n <= MOST:
        raise ValueError(f"from 1 to {MOST} values can be asked for")
    return n


def reads(name, n):
    read = READ[name]
    return [since(name, t) for t in [read() for _ in range(count(n))]]


def pairs(name, work, n):
    read, work = READ[name], int(work)
    taken = []
    for _ in range(count(n)):
        first = read()
        if work:
            spin(work)
        taken.append((first, read()))
    return [since(name, a) + "," + since(name, b) for a, b in taken]


def cost(name, reference, batch, n):
    now, batch = READ[reference], range(int(batch))
    taken = []
    if name == "none":
        for _ in range(count(n)):
            begin = now()
            for _ in batch:
                pass
            taken.append(now() - begin)
    else:
        read = READ[name]
        for _ in range(count(n)):
            begin = now()
            for _ in batch:
                read()
            taken.append(now() - begin)
    return map(repr, taken)


def threads(name, many, n):
    read, many, n = READ[name], int(many), count(n)
    turns = [threading.Lock() for _ in range(many)]
    for turn in turns:
        turn.acquire()
    taken = []

    def player(me):
        for _ in range(me, n, many):
            turns[me].acquire()
            taken.append((me, read()))
            turns[(me + 1) % many].release()

    players = [threading.Thread(target=player, args=(i,)) for i in range(many)]
    for p in players:
        p.start()
    turns[0].release()
    for p in players:
        p.join()
    return [f"{who},{since(name, value)}" for who, value in taken]


def sandwich(reference, name, workload, amount, n):
    outer, inner, amount = READ[reference], READ[name], int(amount)
    taken = []
    for _ in range(count(n)):
        a = outer()
        b = inner()
        if workload == "sleep":
            time.sleep(amount / 1000)
        else:
            spin(amount)
        c = inner()
        taken.append((outer() - a, c - b))
    return [f"{a!r},{b!r}" for a, b in taken]


def answer(words):
    command, rest = words[0], words[1:]
    known = {"reads": reads, "pairs": pairs, "cost": cost, "threads": threads, "sandwich": sandwich}
    if command == "hello":
        return hello()
    if command not in known:
        return "error there is no command " + command
    try:
        return " ".join(known[command](*rest))
    except Exception as problem:  # whatever it is, the question has an answer
        return "error " + " ".join(f"{type(problem).__name__}: {problem}".split())


for line in sys.stdin:
    if line.split()[:1] == ["quit"]:
        break
    print(answer(line.split() or ["(nothing)"]), flush=True)
