"use strict";
(() => {
  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
  const STEPS = 9999, LEFT = 58, BOTTOM = 18, TOP = 6, REACH = 4;

  const round = (value, digits) => Number(value.toPrecision(digits)).toString();

  function written(value, unit) {
    if (unit !== "ns") return round(value, 4) + (unit ? " " + unit : "");
    const [size, name] = UNITS.find(([size]) => Math.abs(value) >= size) || UNITS[3];
    return round(value / size, 4) + " " + name;
  }

  function unpack(trend) {
    const points = [];
    for (let i = 0, place = 0; i < trend.points.length; i += 5) {
      place += trend.points[i];
      const value = trend.points[i + 1];
      points.push({ place, value, lo: value - trend.points[i + 2], hi: value + trend.points[i + 3], outlier: trend.points[i + 4] === 1 });
    }
    return points;
  }

  function trends(root) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const small = root.querySelector(".small"), said = root.querySelector(".view");
    const search = root.querySelector("input"), changedOnly = root.querySelector("[data-do=changed]");
    const tip = root.appendChild(document.createElement("div"));
    tip.className = "tip";
    tip.hidden = true;
    const all = { from: -0.5, to: data.places.length - 0.5 };
    const view = { ...all };
    const charts = data.each.map(chart);
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        entry.target.seen = entry.isIntersecting;
        if (entry.isIntersecting) entry.target.draw();
      }
    }, { rootMargin: "200px" });

    // label names a place of the axis.
    function label(place) {
      const { when, commit, subject } = data.places[place];
      return [when, commit, subject].filter(Boolean).join(" ");
    }

    function show(from, to) {
      const span = Math.min(Math.max(to - from, 3), all.to - all.from), middle = (from + to) / 2;
      view.from = Math.min(Math.max(middle - span / 2, all.from), all.to - span);
      view.to = view.from + span;
      root.dataset.from = view.from;
      root.dataset.to = view.to;
      drawAll();
    }

    function drawAll() {
      const shown = charts.filter((c) => !c.hidden).length;
      const first = Math.max(0, Math.ceil(view.from)), last = Math.min(data.places.length - 1, Math.floor(view.to));
      said.textContent = `${shown} of ${charts.length} series, records ${first + 1} to ${last + 1} of ${data.places.length}: ${data.places[first].when} to ${data.places[last].when}. ` +
        "Drag across a chart to zoom in, double-click for all; click a change to see its commit.";
      for (const c of charts) if (c.seen) c.draw();
    }

    function filter() {
      const text = search.value.toLowerCase(), only = changedOnly.getAttribute("aria-pressed") === "true";
      charts.forEach((c, i) => {
        const trend = data.each[i];
        c.hidden = !(trend.name + " " + trend.what).toLowerCase().includes(text) || only && trend.changes.length === 0;
      });
      drawAll();
    }

    function chart(trend) {
      const points = unpack(trend);
      const box = small.appendChild(document.createElement("figure"));
      box.className = "trend";
      box.appendChild(document.createElement("h3")).textContent = trend.name;
      box.appendChild(document.createElement("p")).textContent = trend.what;
      const canvas = box.appendChild(document.createElement("canvas"));
      canvas.tabIndex = 0;
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `${trend.name}, ${trend.what}: ${points.length} records, ` + (trend.changes.map((c) => c.text).join("; ") || "no change"));
      let dragged = null, width = 0, height = 0;
      const x = (place) => LEFT + (place - view.from) / (view.to - view.from) * (width - LEFT);
      const y = (value) => TOP + (1 - value / STEPS) * (height - TOP - BOTTOM);
      const placeAt = (px) => view.from + (px - LEFT) / (width - LEFT) * (view.to - view.from);
      const middle = (change) => (points[change.at - 1].place + points[change.at].place) / 2;

      box.draw = () => {
        const style = getComputedStyle(document.documentElement);
        const color = (name) => style.getPropertyValue("--" + name).trim();
        const density = window.devicePixelRatio || 1;
        width = Math.max(canvas.clientWidth, 1);
        height = Math.max(canvas.clientHeight, 1);
        canvas.width = Math.round(width * density);
        canvas.height = Math.round(height * density);
        const g = canvas.getContext("2d");
        g.scale(density, density);
        g.font = "11px " + getComputedStyle(document.body).fontFamily;
        g.textBaseline = "middle";
        for (const step of [0.1, 0.5, 0.9].map((share) => share * STEPS)) {
          g.fillStyle = color("rule");
          g.fillRect(LEFT, Math.round(y(step)), width - LEFT, 1);
          g.fillStyle = color("muted");
          g.textAlign = "right";
          g.fillText(written(trend.lo + (trend.hi - trend.lo) * step / STEPS, trend.unit), LEFT - 5, y(step), LEFT - 8);
        }
        const first = Math.max(0, Math.ceil(view.from)), last = Math.min(data.places.length - 1, Math.floor(view.to));
        g.fillStyle = color("muted");
        g.textAlign = "left";
        g.fillText(data.places[first].when, LEFT, height - 8);
        g.textAlign = "right";
        if (last > first) g.fillText(data.places[last].when, width, height - 8);
        g.save();
        g.beginPath();
        g.rect(LEFT, 0, width - LEFT, height - BOTTOM);
        g.clip();
        band(g, color);
        for (let i = 0; i < trend.regimes.length; i += 3) {
          g.fillStyle = color("c3");
          const from = x(points[trend.regimes[i]].place - 0.5), to = x(points[trend.regimes[i + 1]].place + 0.5);
          g.fillRect(from, y(trend.regimes[i + 2]) - 1, to - from, 2);
        }
        for (const change of trend.changes) {
          g.fillStyle = color(change.worse ? "orange" : "blue");
          g.globalAlpha = 0.16;
          const from = x(points[change.first].place - 1), to = x(points[change.last].place);
          g.fillRect(from, 0, to - from, height);
          g.globalAlpha = 1;
          g.fillRect(x(middle(change)) - 1, 0, 2, height);
        }
        const size = Math.min(3, Math.max(1, (width - LEFT) / (view.to - view.from) / 3));
        for (const p of points) {
          if (p.place < view.from - 1 || p.place > view.to + 1) continue;
          g.beginPath();
          g.arc(x(p.place), Math.min(Math.max(y(p.value), 1), height - BOTTOM - 1), size, 0, 7);
          g.fillStyle = g.strokeStyle = color("ink");
          if (p.outlier) g.stroke(); else g.fill();
        }
        if (dragged) {
          g.globalAlpha = 0.25;
          g.fillStyle = color("blue");
          g.fillRect(Math.min(dragged.from, dragged.to), 0, Math.abs(dragged.to - dragged.from), height);
        }
        g.restore();
      };

      function band(g, color) {
        g.fillStyle = color("c1");
        g.globalAlpha = 0.22;
        g.beginPath();
        for (const p of points) g.lineTo(x(p.place), y(p.hi));
        for (const p of points.toReversed()) g.lineTo(x(p.place), y(p.lo));
        g.fill();
        g.globalAlpha = 1;
      }

      const changeNear = (px) => trend.changes.find((c) => Math.abs(x(middle(c)) - px) <= REACH);

      function describe(px) {
        const change = changeNear(px);
        if (change) return `${change.text}\nfrom ${label(points[change.first - 1].place)}\nto ${label(points[change.last].place)}`;
        const at = placeAt(px);
        const nearest = points.reduce((best, p) => Math.abs(p.place - at) < Math.abs(best.place - at) ? p : best, points[0]);
        const value = (steps) => written(trend.lo + (trend.hi - trend.lo) * steps / STEPS, trend.unit);
        const range = nearest.hi > nearest.lo ? ` (${value(nearest.lo)} to ${value(nearest.hi)})` : "";
        return `${value(nearest.value)}${range}${nearest.outlier ? ", an outlier" : ""}\n${label(nearest.place)}`;
      }

      canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0) return;
        dragged = { from: event.offsetX, to: event.offsetX };
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", (event) => {
        tip.textContent = describe(event.offsetX);
        tip.hidden = false;
        const place = root.getBoundingClientRect();
        tip.style.left = Math.max(0, Math.min(event.clientX - place.left + 12, place.width - tip.offsetWidth)) + "px";
        tip.style.top = event.clientY - place.top + 16 + "px";
        canvas.style.cursor = changeNear(event.offsetX) ? "pointer" : "crosshair";
        if (!dragged) return;
        dragged.to = Math.min(Math.max(event.offsetX, LEFT), width);
        box.draw();
      });
      canvas.addEventListener("pointerup", () => {
        if (!dragged) return;
        const { from, to } = dragged;
        dragged = null;
        if (Math.abs(to - from) > REACH) return show(placeAt(Math.min(from, to)), placeAt(Math.max(from, to)));
        const change = changeNear(to), url = change && data.places[points[change.at].place].url;
        if (url && /^https?:\/\//.test(url)) window.open(url, "_blank", "noopener,noreferrer");
        box.draw();
      });
      canvas.addEventListener("pointercancel", () => { dragged = null; box.draw(); });
      canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
      canvas.addEventListener("dblclick", () => show(all.from, all.to));
      canvas.addEventListener("keydown", (event) => {
        const span = view.to - view.from;
        const moves = {
          "+": [0.25, -0.25], "=": [0.25, -0.25], "-": [-0.5, 0.5], ArrowLeft: [-0.5, -0.5], ArrowRight: [0.5, 0.5], "0": [-1e9, 1e9], Home: [-1e9, 1e9],
        }[event.key];
        if (!moves || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        show(view.from + moves[0] * span, view.to + moves[1] * span);
      });
      new ResizeObserver(() => { if (box.seen && canvas.clientWidth !== width) box.draw(); }).observe(canvas);
      return box;
    }

    search.addEventListener("input", filter);
    changedOnly.addEventListener("click", () => {
      changedOnly.setAttribute("aria-pressed", changedOnly.getAttribute("aria-pressed") !== "true");
      filter();
    });
    root.querySelector("[data-do=all]").addEventListener("click", () => show(all.from, all.to));
    for (const query of ["print", "(prefers-color-scheme: dark)"]) {
      matchMedia(query).addEventListener("change", () => charts.forEach((c) => c.draw()));
    }
    charts.forEach((c) => seen.observe(c));
    show(all.from, all.to);
  }

  document.querySelectorAll(".trends").forEach(trends);
})();
