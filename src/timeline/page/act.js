// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What the reader does: zoom, move, point, choose, find; and the texts beside the picture.
"use strict";

const element = (id) => document.getElementById(id);

function make(name, text, of) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  return Object.assign(made, of);
}

function show(a, b) {
  const most = whole.b * 1.04, least = Math.min(4, whole.b);
  let span = Math.min(most, Math.max(least, b - a));
  const middle = (a + b) / 2, slack = whole.b * 0.02;
  a = Math.min(Math.max(middle - span / 2, -slack), whole.b + slack - span);
  view.a = a;
  view.b = a + span;
  draw();
}
function fit() { show(-whole.b * 0.02, whole.b * 1.02); }
function zoom(factor, at = (view.a + view.b) / 2) {
  show(at - (at - view.a) * factor, at + (view.b - at) * factor);
}
function move(share) {
  const by = (view.b - view.a) * share;
  show(view.a + by, view.b + by);
}
function scrollBy(pixels) {
  const most = Math.max(0, contentHeight + axisHeight - canvas.clientHeight);
  view.scroll = Math.min(most, Math.max(0, view.scroll + pixels));
  draw();
}

function reveal(event) {
  const span = view.b - view.a, length = event.b - event.a;
  if (event.a < view.a || event.b > view.b) show(event.a - Math.max(span - length, length * 0.2) / 2, event.b + Math.max(span - length, length * 0.2) / 2);
  const y = yOf(event.lane);
  if (y < axisHeight) scrollBy(y - axisHeight - groupHeight);
  if (y + event.lane.height > canvas.clientHeight) scrollBy(y + event.lane.height - canvas.clientHeight + 8);
}

function zoomTo(event) {
  const room = Math.max((event.b - event.a) * 0.6, whole.b / 400, 8);
  show(event.a - room, event.b + room);
}

function choose(event) {
  chosen.event = event;
  if (event) reveal(event);
  tellSelection();
  draw();
}

function listOf(rows) {
  const list = make("dl");
  for (const [word, text] of rows) list.append(make("dt", word), make("dd", String(text)));
  return list;
}

function tellSelection() {
  const room = element("selection"), event = chosen.event;
  room.replaceChildren();
  if (!event) {
    room.append(make("h2", "Selected"), make("p", "Nothing. Click an event, or find one with /.", { className: "hint" }));
    return;
  }
  room.append(make("h2", title(event)), listOf(details(event)));
  if (event.cause)
    room.append(make("a", `ended by: ${title(event.cause)} (c)`, { className: "go", onclick: () => choose(event.cause) }));
}

function shareBar(stage) {
  const bar = make("div", undefined, { className: "bar" });
  for (const kind of ["empty", "filling", "full", "used"]) {
    const part = make("span", undefined, { title: `${kindWords[kind]} ${Math.round(stage[`${kind}_share`] * 100)} %` });
    part.style.width = `${stage[`${kind}_share`] * 100}%`;
    part.style.background = `var(--kind-${kind})`;
    bar.append(part);
  }
  return bar;
}

function row(kind, cells) {
  const made = make("tr");
  cells.forEach((cell, i) => made.append(make(kind, cell, { className: i ? "n" : "" })));
  return made;
}

function waitTable(ring) {
  const table = make("table");
  table.append(row("th", ["warp", "waits on", "times", unit, "share"]));
  for (const waits of ring.waits)
    table.append(row("td", [agentName(waits.agent), waits.is_producer ? "empty" : "full", number(waits.waits), number(waits.time),
      waits.life ? `${Math.round((100 * waits.time) / waits.life)} %` : ""]));
  return table;
}

function counted(count, name) {
  return `${number(count)} ${name}${count === 1 ? "" : "s"}`;
}

function tellSummary() {
  const room = element("summary");
  const marks = lanes.flatMap((lane) => lane.ticks.filter((event) => event.kind === "mark"));
  if (marks.length) room.append(make("h2", "Findings"));
  for (const event of marks)
    room.append(make("p", `${title(event)}${event.of.text ? ": " + event.of.text : ""}`, { className: "finding", onclick: () => choose(event) }));
  if (model.rings.length === 0) room.append(make("p", "No ring of stages was recognised.", { className: "hint" }));
  model.rings.forEach((ring, i) => {
    room.append(make("h2", `Ring${model.rings.length > 1 ? " " + i : ""}: ${counted(ring.stages.length, "stage")}, ${counted(ring.uses.length, "tile")}`));
    room.append(make("p", ring.verdict.charAt(0).toUpperCase() + ring.verdict.slice(1)));
    ring.stages.forEach((stage, s) => room.append(make("div", `stage ${s}`, { className: "hint" }), shareBar(stage)));
    room.append(waitTable(ring));
  });
  if (model.left_out) room.append(make("p", `${number(model.left_out)} records are not in the trace.`, { className: "hint" }));
}

function tellHead() {
  const size = (xs) => xs.join("×");
  element("kernel").textContent = model.kernel;
  element("about").textContent = `CTA ${model.cta} of launch ${model.launch} · grid ${size(model.grid)}, block ${size(model.block)}, cluster ${size(model.cluster)} · ` +
    `${number(model.end)} ${unit}${model.source === "gpu" ? ", recorded on a GPU" : ", virtual time of the engine"}${model.failed ? " · the launch failed" : ""}`;
  element("about").title = model.about;
  document.title = `${model.kernel} · sluice timeline`;
  const used = new Set(lanes.flatMap((lane) => lane.events.map((event) => event.kind)));
  for (const kind of Object.keys(kindWords).filter((k) => used.has(k) && k !== "life")) {
    const sample = make("i");
    sample.style.background = `var(--kind-${kind})`;
    const item = make("li");
    item.append(sample, kindWords[kind]);
    element("legend").append(item);
  }
}

// What lies under a point: a tick within a few pixels, else the shortest bar.
function eventAt(x, y) {
  const lane = lanes.find((l) => y >= yOf(l) && y < yOf(l) + l.height);
  if (!lane || x < labelWidth || y < axisHeight) return null;
  const reach = 4 * (tOf(1) - tOf(0)), t = tOf(x);
  const near = firstIndex(lane.ticks.length, (j) => lane.ticks[j].a >= t - reach);
  let best = null;
  for (let i = near; i < lane.ticks.length && lane.ticks[i].a <= t + reach; ++i)
    if (!best || Math.abs(lane.ticks[i].a - t) < Math.abs(best.a - t)) best = lane.ticks[i];
  if (best) return best;
  for (let i = firstIndex(lane.bars.length, (j) => lane.reach[j] >= t - reach / 2); i < lane.bars.length; ++i) {
    const event = lane.bars[i];
    if (event.a > t + reach / 2) break;
    if (event.b >= t - reach / 2 && (!best || event.b - event.a < best.b - best.a)) best = event;
  }
  return best;
}

function tip(event, x, y) {
  const box = element("tip");
  box.hidden = !event;
  if (!event) return;
  box.replaceChildren(make("b", title(event)), listOf(details(event)));
  box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${Math.max(4, Math.min(y + 16, innerHeight - box.offsetHeight - 8))}px`;
}

function search(words) {
  chosen.found = find(words);
  element("matches").textContent = words.trim() ? number(chosen.found.length) : "";
  choose(chosen.found[0] ?? null);
}
function walkFound(by) {
  const count = chosen.found.length;
  if (count === 0) return;
  const at = chosen.found.indexOf(chosen.event);
  const next = (at < 0 ? 0 : at + by + count) % count;
  element("matches").textContent = `${next + 1}/${number(count)}`;
  choose(chosen.found[next]);
}
function walkLane(by) {
  const lane = chosen.event?.lane ?? lanes[0];
  if (!lane) return;
  const events = lane.events.filter((event) => event.kind !== "life"), at = events.indexOf(chosen.event);
  const next = events[at < 0 ? 0 : at + by];
  if (next) choose(next);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  readColours();
  draw();
}
function turnTheme() { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); }

const keys = {
  "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), "0": fit, Home: fit,
  ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15), ArrowUp: () => scrollBy(-40), ArrowDown: () => scrollBy(40),
  "[": () => walkLane(-1), "]": () => walkLane(1), n: () => walkFound(1), p: () => walkFound(-1),
  c: () => chosen.event?.cause && choose(chosen.event.cause), f: () => chosen.event && zoomTo(chosen.event),
  "/": () => element("search").focus(), t: turnTheme, Escape: () => choose(null), "?": () => element("help").showModal(),
};

function listen() {
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    if (e.shiftKey) return scrollBy(e.deltaY || e.deltaX);
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) return move(e.deltaX / view.width);
    zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY * 0.002))), tOf(Math.max(labelWidth, e.offsetX)));
  }, { passive: false });
  let drag = null;
  canvas.addEventListener("pointerdown", (e) => {
    drag = { x: e.offsetX, y: e.offsetY, moved: false };
    canvas.setPointerCapture(e.pointerId);
  });
  canvas.addEventListener("pointermove", (e) => {
    if (drag) {
      const dx = e.offsetX - drag.x, dy = e.offsetY - drag.y;
      if (!drag.moved && Math.hypot(dx, dy) < 4) return;
      move(-dx / (view.width - labelWidth));
      scrollBy(-dy);
      drag = { x: e.offsetX, y: e.offsetY, moved: true };
      return tip(null);
    }
    const event = eventAt(e.offsetX, e.offsetY);
    tip(event, e.clientX, e.clientY);
    if (event !== chosen.hover) draw();
    chosen.hover = event;
  });
  canvas.addEventListener("pointerup", (e) => {
    if (drag && !drag.moved) choose(eventAt(e.offsetX, e.offsetY));
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => { chosen.hover = null; tip(null); draw(); });
  canvas.addEventListener("dblclick", () => chosen.event && zoomTo(chosen.event));
  const jump = (e) => {
    if (e.buttons === 0) return;
    const at = whole.b * ((e.offsetX - labelWidth) / (overview.clientWidth - labelWidth)), half = (view.b - view.a) / 2;
    show(at - half, at + half);
  };
  overview.addEventListener("pointerdown", jump);
  overview.addEventListener("pointermove", jump);
  element("search").addEventListener("input", (e) => search(e.target.value));
  element("search").addEventListener("keydown", (e) => {
    if (e.key === "Enter") walkFound(e.shiftKey ? -1 : 1);
    if (e.key === "Escape") {
      e.preventDefault();  // which would clear what was found
      canvas.focus();
    }
    e.stopPropagation();
  });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || element("help").open || !keys[e.key]) return;
    e.preventDefault();
    keys[e.key]();
  });
  element("zoom-in").onclick = () => zoom(0.7);
  element("zoom-out").onclick = () => zoom(1 / 0.7);
  element("fit").onclick = fit;
  element("theme").onclick = turnTheme;
  element("help-button").onclick = () => element("help").showModal();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", (e) => setTheme(e.matches ? "dark" : "light"));
  new ResizeObserver(() => scrollBy(0)).observe(canvas);
  setTheme(dark.matches ? "dark" : "light");
}

tellHead();
tellSummary();
tellSelection();
listen();
fit();
