"use strict";
(() => {
  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const LEAST_SHARE = 1e-4; // at the foot of a lane
  const LANE = 34, NAME = 24, TICKS = 12, AXIS = 24; // heights in pixels
  const TICK_ROOM = 7; // pixels that an interrupt of the timer takes
  const LEAST_HEIGHT = 2;
  const SHORTEST_VIEW_NS = 100;
  const REACH = 4; // pixels around the pointer in which a gap is looked for

  const round = (value, digits) => Number(value.toPrecision(digits)).toString();

  function duration(ns, digits = 4) {
    if (ns === 0) return "0";
    const [size, unit] = UNITS.find(([size]) => Math.abs(ns) >= size) || UNITS[3];
    return round(ns / size, digits) + " " + unit;
  }

  const count = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

  // first is the place of the first element that is at least value.
  function first(sorted, value) {
    let from = 0, to = sorted.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (sorted[middle] < value) from = middle + 1; else to = middle;
    }
    return from;
  }

  // A trace's gaps lie in order and apart, so that their ends are in order, too.
  function unpack(data) {
    const n = data.gaps.length / 3;
    const trace = { name: data.name, end: data.end_ns, causes: data.causes, hidden: data.hidden, n,
      start: new Float64Array(n), stop: new Float64Array(n), cause: new Uint8Array(n) };
    for (let i = 0, at = 0; i < n; i++) {
      trace.start[i] = at += data.gaps[3 * i];
      trace.stop[i] = at += data.gaps[3 * i + 1];
      trace.cause[i] = data.gaps[3 * i + 2];
    }
    let tick = 0;
    trace.ticks = (data.ticks || []).map((after) => tick += after);
    return trace;
  }

  // within adds up, by cause, what was lost between two times.
  function within(trace, from, to) {
    const sums = trace.causes.map(() => ({ count: 0, ns: 0 }));
    let longest = -1;
    for (let i = first(trace.stop, from); i < trace.n && trace.start[i] < to; i++) {
      const sum = sums[trace.cause[i]];
      sum.count++;
      sum.ns += Math.min(trace.stop[i], to) - Math.max(trace.start[i], from);
      if (longest < 0 || trace.stop[i] - trace.start[i] > trace.stop[longest] - trace.start[longest]) longest = i;
    }
    return { sums, longest };
  }

  // columns are the shares of each pixel's time that each cause took.
  function columns(trace, view, width) {
    const perPixel = (view.to - view.from) / width;
    const lanes = trace.causes.map(() => new Float64Array(width));
    for (let i = first(trace.stop, view.from); i < trace.n && trace.start[i] < view.to; i++) {
      const from = Math.max(trace.start[i] - view.from, 0) / perPixel;
      const to = Math.min(trace.stop[i] - view.from, view.to - view.from) / perPixel;
      const lane = lanes[trace.cause[i]];
      for (let x = Math.floor(from); x < to && x < width; x++) {
        lane[x] += Math.min(to, x + 1) - Math.max(from, x);
      }
    }
    return lanes;
  }

  function ticks(view, most) {
    const span = view.to - view.from;
    let step = Math.pow(10, Math.floor(Math.log10(span / most)));
    const times = [1, 2, 5, 10].find((times) => span / (times * step) <= most) || 10;
    step *= times;
    const all = [];
    for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) all.push(i * step);
    return all;
  }

  function picture(root) {
    const trace = unpack(JSON.parse(root.querySelector("script").textContent));
    const canvas = root.querySelector("canvas"), said = root.querySelector(".view");
    const tip = root.appendChild(document.createElement("div"));
    tip.className = "tip";
    tip.hidden = true;
    const view = { from: 0, to: trace.end };
    let dragged = null, width = 0;

    const timeAt = (x) => view.from + (view.to - view.from) * Math.min(Math.max(x / width, 0), 1);
    const placeOf = (event) => event.clientX - canvas.getBoundingClientRect().left;

    function show(from, to) {
      const span = Math.min(Math.max(to - from, SHORTEST_VIEW_NS), trace.end);
      const middle = (from + to) / 2;
      view.from = Math.min(Math.max(middle - span / 2, 0), trace.end - span);
      view.to = view.from + span;
      canvas.dataset.from = view.from;
      canvas.dataset.to = view.to;
      draw();
    }

    function zoom(factor, at = (view.from + view.to) / 2) {
      show(at - (at - view.from) * factor, at + (view.to - at) * factor);
    }

    function move(share) {
      const by = share * (view.to - view.from);
      show(view.from + by, view.to + by);
    }

    function draw() {
      const style = getComputedStyle(document.documentElement);
      const color = (name, otherwise) => style.getPropertyValue("--" + name).trim() || style.getPropertyValue("--" + otherwise).trim();
      const density = window.devicePixelRatio || 1;
      width = Math.max(canvas.clientWidth, 1);
      const height = trace.causes.length * (LANE + NAME) + (trace.ticks.length ? TICKS : 0) + AXIS;
      canvas.style.height = height + "px";
      canvas.width = Math.round(width * density);
      canvas.height = Math.round(height * density);
      const g = canvas.getContext("2d");
      g.scale(density, density);
      g.font = "12px " + getComputedStyle(document.body).fontFamily;
      axis(g, color, height);
      interrupts(g, color, height);
      const seen = within(trace, view.from, view.to);
      const lanes = columns(trace, view, Math.ceil(width));
      trace.causes.forEach((cause, k) => {
        const top = k * (LANE + NAME);
        lane(g, lanes[k], top + NAME, color("cause-" + cause, "cause-other"), color("rule"));
        const { count: gaps, ns } = seen.sums[k];
        g.fillStyle = color("ink");
        g.textAlign = "left";
        g.fillText(cause, 0, top + 20);
        g.fillStyle = color("muted");
        g.textAlign = "right";
        g.fillText(gaps ? `${count(gaps, "gap")}, ${round(100 * ns / (view.to - view.from), 2)} %` : "none", width, top + 20);
      });
      if (dragged) selection(g, color, height);
      said.textContent = `Shown: ${duration(view.from, 6)} to ${duration(view.to, 6)} of ${duration(trace.end)}, ` +
        count(seen.sums.reduce((n, sum) => n + sum.count, 0), "gap") + ".";
    }

    function lane(g, shares, top, color, rule) {
      g.fillStyle = rule;
      g.fillRect(0, top + LANE - 1, width, 1);
      g.fillStyle = color;
      for (let x = 0; x < shares.length; x++) {
        if (shares[x] <= 0) continue;
        const part = 1 - Math.log10(Math.min(shares[x], 1)) / Math.log10(LEAST_SHARE);
        const high = Math.max(LEAST_HEIGHT, (LANE - 4) * Math.max(part, 0));
        g.fillRect(x, top + LANE - 1 - high, 1, high);
      }
    }

    function axis(g, color, height) {
      g.textAlign = "center";
      for (const at of ticks(view, Math.max(2, Math.floor(width / 75)))) {
        const x = (at - view.from) / (view.to - view.from) * width;
        g.fillStyle = color("rule");
        g.fillRect(Math.round(x), 0, 1, height - AXIS + 4);
        g.fillStyle = color("muted");
        const label = duration(at, 9);
        const half = g.measureText(label).width / 2;
        g.fillText(label, Math.min(Math.max(x, half), width - half), height - 6);
      }
    }

    // interrupts are triangles at those of the kernel's timer, where these can be told apart.
    function interrupts(g, color, height) {
      const from = first(trace.ticks, view.from), to = first(trace.ticks, view.to);
      const places = trace.ticks.slice(from, to).map((at) => (at - view.from) / (view.to - view.from) * width);
      if (places.some((x, i) => i > 0 && x - places[i - 1] < TICK_ROOM)) return;
      g.fillStyle = color("faint");
      for (const x of places) {
        g.beginPath();
        g.moveTo(x, height - AXIS - 9);
        g.lineTo(x + 4, height - AXIS - 1);
        g.lineTo(x - 4, height - AXIS - 1);
        g.fill();
      }
    }

    function selection(g, color, height) {
      g.globalAlpha = 0.25;
      g.fillStyle = color("blue");
      g.fillRect(Math.min(dragged.from, dragged.to), 0, Math.abs(dragged.to - dragged.from), height - AXIS);
      g.globalAlpha = 1;
    }

    function describe(x) {
      const reach = REACH * (view.to - view.from) / width, at = timeAt(x);
      const { sums, longest } = within(trace, at - reach, at + reach);
      const gaps = sums.reduce((n, sum) => n + sum.count, 0);
      if (gaps === 0) return `${duration(at, 6)}: the thread ran`;
      const label = trace.hidden ? "" : `I${longest}, `;
      const one = `${label}${trace.causes[trace.cause[longest]]}\n${duration(trace.stop[longest] - trace.start[longest])} from ${duration(trace.start[longest], 7)} on`;
      return gaps === 1 ? one : `${one}\nthe longest of ${gaps} here`;
    }

    function point(event) {
      const x = placeOf(event);
      tip.textContent = describe(x);
      tip.hidden = false;
      const left = Math.min(Math.max(x + 12, 0), width - tip.offsetWidth);
      tip.style.left = Math.max(left, 0) + "px";
      tip.style.top = canvas.offsetTop + Math.max(event.offsetY - tip.offsetHeight - 10, 0) + "px";
    }

    function save() {
      const rows = ["start_ns,duration_ns,cause"];
      for (let i = 0; i < trace.n; i++) {
        rows.push(`${trace.start[i]},${trace.stop[i] - trace.start[i]},${trace.causes[trace.cause[i]]}`);
      }
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([rows.join("\n") + "\n"], { type: "text/csv" }));
      link.download = trace.name.replaceAll(" ", "-").toLowerCase() + "-gaps.csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    }

    const actions = {
      in: () => zoom(0.5), out: () => zoom(2), back: () => move(-0.5), on: () => move(0.5), all: () => show(0, trace.end), save,
    };
    const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "back", ArrowRight: "on", "0": "all", Home: "all" };

    root.addEventListener("click", (event) => {
      const action = actions[event.target.dataset && event.target.dataset.do];
      if (action) action();
    });
    canvas.addEventListener("keydown", (event) => {
      if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      actions[keys[event.key]]();
    });
    canvas.addEventListener("dblclick", () => actions.all());
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      zoom(Math.exp(event.deltaY / 200), timeAt(placeOf(event)));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      dragged = { from: placeOf(event), to: placeOf(event) };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      point(event);
      if (!dragged) return;
      dragged.to = Math.min(Math.max(placeOf(event), 0), width);
      draw();
    });
    canvas.addEventListener("pointerup", () => {
      if (!dragged) return;
      const { from, to } = dragged;
      dragged = null;
      if (Math.abs(to - from) > REACH) show(timeAt(Math.min(from, to)), timeAt(Math.max(from, to)));
      else draw();
    });
    canvas.addEventListener("pointercancel", () => { dragged = null; draw(); });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    new ResizeObserver(() => { if (canvas.clientWidth !== width) draw(); }).observe(canvas);
    for (const query of ["print", "(prefers-color-scheme: dark)"]) matchMedia(query).addEventListener("change", draw);
    show(0, trace.end);
  }

  document.querySelectorAll(".picture").forEach(picture);
})();
