// A probe for the timers of Node; see docs/probe-protocol.md.
'use strict';
const fs = require('fs');
const { performance } = require('perf_hooks');
const { Worker, isMainThread, workerData } = require('worker_threads');

// What reads each timer. Differences of readings are exact: all are whole numbers or
// floating-point numbers of like size.
const timers = [
  { name: 'hrtime.bigint', read: () => process.hrtime.bigint(), kind: 'wall', unit_ns: 1, api: 'process.hrtime.bigint()' },
  { name: 'performance.now', read: () => performance.now(), kind: 'wall', unit_ns: 1e6, api: 'performance.now()', scope: 'thread' },
  { name: 'Date.now', read: () => Date.now(), kind: 'wall', unit_ns: 1e6, api: 'Date.now()', calendar: true, settable: true },
  { name: 'cpuUsage', kind: 'cpu', unit_ns: 1e3, api: 'process.cpuUsage()', scope: 'process',
    read: () => { const u = process.cpuUsage(); return u.user + u.system; } },
];

// Each timer has loops of its own, made from text, so that the compiler sees one
// function in them and no more.
const loops = (t) => new Function('read', 'spin', `return {
  reads(into) { for (let i = 0; i < into.length; i++) into[i] = read(); },
  pairs(work, into) { for (let i = 0; i < into.length; i += 2) { into[i] = read(); spin(work); into[i + 1] = read(); } },
  calls(batch) { let last; for (let i = 0; i < batch; i++) last = read(); return last; },
} // ${t.name}`)(t.read, spin);

const most = 100000;

let sink = 1;
function spin(rounds) {
  for (let i = 0; i < rounds; i++) sink = (sink * 5 + 1) & 0xffff;
}

function named(name) {
  const t = timers.find((t) => t.name === name);
  if (!t) throw new Error(`there is no timer ${name}`);
  return t;
}

function count(text) {
  const n = Number(text);
  if (!(n >= 1 && n <= most)) throw new Error(`from 1 to ${most} values can be asked for`);
  return n;
}

const commands = {
  hello: () => JSON.stringify({
    protocol: 1, runtime: 'node', version: process.version + ', V8 ' + process.versions.v8, warmup,
    timers: timers.map(({ name, kind, unit_ns, api, scope, calendar, settable }) => ({ name, kind, unit_ns, api, scope, calendar, settable })),
  }),
  reads(name, n) {
    const t = named(name), taken = new Array(count(n)).fill(t.first);
    t.loops.reads(taken);
    return taken.map((v) => v - t.first).join(' ');
  },
  pairs(name, work, n) {
    const t = named(name), taken = new Array(2 * count(n)).fill(t.first), words = [];
    t.loops.pairs(Number(work), taken);
    for (let i = 0; i < taken.length; i += 2) words.push(`${taken[i] - t.first},${taken[i + 1] - t.first}`);
    return words.join(' ');
  },
  cost(name, reference, batch, n) {
    const calls = name === 'none' ? idle : named(name).loops.calls, now = named(reference).read;
    const taken = new Array(count(n));
    batch = Number(batch);
    for (let i = 0; i < taken.length; i++) {
      const begin = now();
      calls(batch);
      taken[i] = now() - begin;
    }
    return taken.join(' ');
  },
  threads(name, many, n) {
    const t = named(name);
    many = Number(many);
    n = count(n);
    const turn = new Int32Array(new SharedArrayBuffer(4)), taken = new Float64Array(new SharedArrayBuffer(8 * n));
    const workers = [];
    for (let me = 0; me < many; me++) workers.push(new Worker(__filename, { workerData: { name, me, many, turn, taken, first: t.first } }));
    for (let at = 0; at < n; at = Atomics.load(turn, 0)) {
      if (Atomics.wait(turn, 0, at, 5000) === 'timed-out') throw new Error('the threads did not take their turns');
    }
    for (const w of workers) w.terminate();
    return Array.from(taken, (v, i) => `${i % many},${v}`).join(' ');
  },
  sandwich(reference, name, workload, amount, n) {
    const outer = named(reference).read, inner = named(name).read, words = [];
    const nap = new Int32Array(new SharedArrayBuffer(4));
    n = count(n);
    for (let i = 0; i < n; i++) {
      const a = outer(), b = inner();
      if (workload === 'sleep') Atomics.wait(nap, 0, 0, Number(amount));
      else spin(Number(amount));
      const c = inner();
      words.push(`${outer() - a},${c - b}`);
    }
    return words.join(' ');
  },
};

function idle(batch) {
  let last;
  for (let i = 0; i < batch; i++) last = i;
  return last;
}

// play takes a thread's turns.
function play({ name, me, many, turn, taken, first }) {
  const { read } = named(name);
  for (let mine = me; mine < taken.length; mine += many) {
    for (let at = Atomics.load(turn, 0); at !== mine; at = Atomics.load(turn, 0)) Atomics.wait(turn, 0, at, 100);
    taken[mine] = Number(read() - first);
    Atomics.add(turn, 0, 1);
    Atomics.notify(turn, 0);
  }
}

let warmup;
function warmUp() {
  const begin = process.hrtime.bigint();
  for (const t of timers) {
    t.first = t.read();
    t.loops = loops(t);
    const into = new Array(256).fill(t.first);
    for (let i = 0; i < 60; i++) {
      t.loops.reads(into);
      t.loops.pairs(10, into);
      for (let j = 0; j < 50; j++) t.loops.calls(1);
      t.loops.calls(64);
    }
  }
  warmup = `30,000 calls of each timer, ${Number((process.hrtime.bigint() - begin) / 1000000n)} ms`;
}

function answer(line) {
  const [command, ...rest] = line.trim().split(/\s+/);
  if (!Object.hasOwn(commands, command)) return `error there is no command ${command}`;
  try {
    return commands[command](...rest);
  } catch (problem) {
    return 'error ' + String(problem.message).replace(/\s+/g, ' ');
  }
}

function serve() {
  const piece = Buffer.alloc(4096);
  let text = '';
  for (;;) {
    const n = fs.readSync(0, piece);
    if (n === 0) return;
    text += piece.toString('latin1', 0, n);
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      if (line.trim() === 'quit') return;
      let rest = Buffer.from(answer(line) + '\n');
      while (rest.length > 0) rest = rest.subarray(fs.writeSync(1, rest));
    }
  }
}

if (isMainThread) {
  warmUp();
  serve();
  process.exit(0);
} else {
  play(workerData);
}
