// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws what is visible. Bars narrower than a pixel are gathered: each pixel then shows the kind that fills most
// of it, so that the work of a frame follows the width of the window.
"use strict";

const canvas = document.getElementById("lanes"), overview = document.getElementById("overview");
const labelWidth = 150, axisHeight = 26, groupHeight = 26, mostArrows = 600;
const whole = { a: 0, b: Math.max(1, horizon) };
const view = { a: 0, b: whole.b, scroll: 0, width: 0, height: 0 };
const chosen = { event: null, hover: null, found: [], foundSet: new Set() };
let colours = {};

function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  colours = { kinds: {}, inks: {} };
  for (const name of ["ground", "panel", "line", "row", "text", "faint", "accent", "arrow", "select"]) colours[name] = read(`--${name}`);
  for (const kind of Object.keys(kindWords)) colours.kinds[kind] = read(`--kind-${kind}`);
  for (const [kind, colour] of Object.entries(colours.kinds)) colours.inks[kind] = inkOn(colour);
}

// Relative luminance of "#rrggbb" (WCAG 2), and the one of our text colours that stands out more on it.
function luminance(colour) {
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}
function inkOn(colour) {
  return contrast(colours.text, colour) >= contrast(colours.ground, colour) ? colours.text : colours.ground;
}

// Where the lanes lie, from the top of the content.
function layOut() {
  let y = 0, group = null;
  for (const lane of lanes) {
    if (lane.group !== group) y += groupHeight;
    group = lane.group;
    lane.y = y;
    y += lane.height + 4;
  }
  return y + 8;
}
const contentHeight = layOut();

function xOf(t) { return labelWidth + ((t - view.a) / (view.b - view.a)) * (view.width - labelWidth); }
function tOf(x) { return view.a + ((x - labelWidth) / (view.width - labelWidth)) * (view.b - view.a); }
function yOf(lane) { return axisHeight + lane.y - view.scroll; }

function prepare(element) {
  const ratio = window.devicePixelRatio || 1, width = element.clientWidth, height = element.clientHeight;
  if (element.width !== Math.round(width * ratio)) element.width = Math.round(width * ratio);
  if (element.height !== Math.round(height * ratio)) element.height = Math.round(height * ratio);
  const context = element.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, width, height);
  return context;
}

function step(span, room) {
  const rough = span / Math.max(1, room), power = 10 ** Math.floor(Math.log10(rough));
  return Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough));
}

function drawAxis(g) {
  const by = step(view.b - view.a, (view.width - labelWidth) / 110);
  g.font = "11px system-ui, sans-serif";
  for (let t = Math.max(0, Math.ceil(view.a / by) * by); t <= view.b; t += by) {
    const x = Math.round(xOf(t)) + 0.5;
    if (x < labelWidth) continue;
    g.fillStyle = colours.line;
    g.fillRect(x, axisHeight, 1, view.height);
    g.fillStyle = colours.faint;
    g.fillText(number(t), x + 4, 17);
  }
  g.fillStyle = colours.line;
  g.fillRect(0, axisHeight - 1, view.width, 1);
}

function barShape(event, lane) {
  if (event.kind === "life") return { top: lane.height / 2 - 2, height: 4 };
  if (event.kind === "role") return { top: lane.height - 5, height: 4 };
  return { top: 3, height: lane.height - 6 };
}

// Shares of one pixel by kind, until the pixel is left. What fills little of it is pale.
class Pixel {
  constructor(g, y, height) { Object.assign(this, { g, y, height, x: -1, shares: new Map() }); }
  add(x, event, width) {
    if (x !== this.x) this.flush();
    this.x = x;
    this.shares.set(event.kind, (this.shares.get(event.kind) ?? 0) + Math.max(width, 0.01));
  }
  flush() {
    if (this.shares.size === 0) return;
    const [kind, share] = [...this.shares].reduce((best, next) => (next[1] > best[1] ? next : best));
    this.g.globalAlpha = Math.min(1, Math.max(0.2, share));
    this.g.fillStyle = colours.kinds[kind];
    this.g.fillRect(this.x, this.y + 3, 1, this.height - 6);
    this.g.globalAlpha = 1;
    this.shares.clear();
  }
}

function drawBars(g, lane, y) {
  const scale = (view.width - labelWidth) / (view.b - view.a), pixel = new Pixel(g, y, lane.height);
  for (let i = firstIndex(lane.bars.length, (j) => lane.reach[j] >= view.a); i < lane.bars.length; ++i) {
    const event = lane.bars[i];
    if (event.a > view.b) break;
    if (event.b < view.a) continue;
    const width = (event.b - event.a) * scale, x = Math.max(xOf(event.a), labelWidth);
    if (width < 1.5) {
      pixel.add(Math.floor(x), event, width);
      continue;
    }
    pixel.flush();
    drawBar(g, event, x, Math.min(xOf(event.b), view.width), y, lane);
  }
  pixel.flush();
}

function drawBar(g, event, x, end, y, lane) {
  const shape = barShape(event, lane), width = Math.max(1, end - x - (end - x > 4 ? 1 : 0));
  g.fillStyle = colours.kinds[event.kind];
  g.beginPath();
  g.roundRect(x, y + shape.top, width, shape.height, Math.min(3, width / 2));
  g.fill();
  const text = width > 44 && shape.height >= 12 ? barText(event) : "";
  if (text && g.measureText(text).width < width - 8) {
    g.fillStyle = colours.inks[event.kind];
    g.fillText(text, x + 5, y + lane.height / 2 + 4);
  }
}

function barText(event) {
  const of = event.of;
  if (event.what === "uses") return of ? (event.kind === "empty" ? "empty" : `${kindWords[event.kind]} ${event.trip}`) : "";
  if (event.what === "waits") return barrierName(of.barrier);
  if (event.what === "copies") return of.trip === undefined ? of.what : `tile ${of.trip}`;
  if (event.what === "barriers") return `phase ${event.phase}`;
  return event.kind === "life" ? "" : of.name;
}

// Many of them would hide the bars: they then stand below these as a thin line.
function drawTicks(g, lane, y) {
  let last = -10;
  const from = firstIndex(lane.ticks.length, (j) => lane.ticks[j].a >= view.a);
  const past = firstIndex(lane.ticks.length, (j) => lane.ticks[j].a > view.b);
  const areMany = past - from > (view.width - labelWidth) / 8, top = areMany ? lane.height - 4 : 1;
  for (let i = from; i < past; ++i) {
    const event = lane.ticks[i], x = xOf(event.a), isMark = event.kind === "mark";
    if (x - last < 1 && !isMark) continue;
    last = x;
    g.fillStyle = colours.kinds[event.kind];
    g.beginPath();
    if (isMark) g.arc(x, y + lane.height / 2, 6, 0, 7);
    else g.roundRect(x - (areMany ? 0.5 : 1.5), y + top, areMany ? 1 : 3, lane.height - 1 - top, 1);
    g.fill();
    if (isMark) {
      g.fillStyle = colours.ground;
      g.fillText("!", x - 1.5, y + lane.height / 2 + 4);
    }
  }
}

function outline(g, event, colour) {
  const lane = event.lane, y = yOf(lane), x = Math.max(xOf(event.a), labelWidth), end = xOf(event.b);
  if (end < labelWidth || x > view.width) return;
  g.strokeStyle = colour;
  g.lineWidth = 2;
  g.beginPath();
  g.roundRect(x - 3, y, Math.max(6, end - x + 5), lane.height, 4);
  g.stroke();
}

function isChosen(arrow) {
  return [chosen.event, chosen.hover].some((event) => event && (arrow.from === event || arrow.to === event));
}

// All of them where they are few, else those of the chosen event.
function drawArrows(g) {
  const from = firstIndex(arrows.length, (j) => arrows[j].b >= view.a);
  const to = firstIndex(arrows.length, (j) => arrows[j].b > view.b);
  const areFew = to - from <= mostArrows;
  for (let i = from; i < to; ++i) {
    const special = isChosen(arrows[i]);
    if (areFew || special) drawArrow(g, arrows[i], special);
  }
}

function drawArrow(g, { from, to, a, b }, special) {
  const x0 = xOf(a), y0 = yOf(from.lane) + from.lane.height / 2, x1 = xOf(b), y1 = yOf(to.lane) + to.lane.height / 2;
  if (x0 < labelWidth && x1 < labelWidth) return;
  const bend = Math.min(40, Math.max(14, Math.abs(y1 - y0) / 3));
  g.globalAlpha = special ? 1 : 0.45;
  g.strokeStyle = g.fillStyle = special ? colours.accent : colours.arrow;
  g.lineWidth = special ? 2 : 1;
  g.beginPath();
  g.moveTo(x0, y0);
  g.bezierCurveTo(x0 + bend, y0, x1 + bend, y1, x1 + 2, y1);
  g.stroke();
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x1 + 6, y1 - 3.5);
  g.lineTo(x1 + 6, y1 + 3.5);
  g.fill();
  g.globalAlpha = 1;
}

// The text, or as much of it as the room holds.
function fitted(g, text, room) {
  if (g.measureText(text).width <= room) return text;
  const count = firstIndex(text.length, (n) => g.measureText(`${text.slice(0, n + 1)}…`).width > room);
  return `${text.slice(0, count)}…`;
}

function drawLabels(g) {
  g.fillStyle = colours.ground;
  g.fillRect(0, axisHeight, labelWidth - 1, view.height);
  g.fillStyle = colours.line;
  g.fillRect(labelWidth - 1, axisHeight, 1, view.height);
  let group = null;
  for (const lane of lanes) {
    const y = yOf(lane);
    if (lane.group !== group) {
      group = lane.group;
      g.font = "600 11px system-ui, sans-serif";
      g.fillStyle = colours.text;
      g.fillText(group, 12, y - 7);
    }
    g.font = "12px system-ui, sans-serif";
    g.fillStyle = colours.text;
    if (lane.height < 16) g.font = "9px system-ui, sans-serif";
    const label = fitted(g, lane.label, labelWidth - 28), end = 20 + g.measureText(label).width + 7;
    g.fillText(label, 20, y + lane.height / 2 + 4);
    if (lane.note && end < labelWidth - 30) {
      g.fillStyle = colours.faint;
      g.font = "11px system-ui, sans-serif";
      g.fillText(fitted(g, lane.note, labelWidth - end - 6), end, y + lane.height / 2 + 4);
    }
  }
}

function drawLanes() {
  view.width = canvas.clientWidth;
  view.height = canvas.clientHeight;
  const g = prepare(canvas);
  g.save();
  g.beginPath();
  g.rect(0, axisHeight, view.width, view.height);
  g.clip();
  for (const lane of lanes) {
    g.fillStyle = colours.row;
    g.fillRect(labelWidth, yOf(lane), view.width, lane.height);
  }
  g.restore();
  drawAxis(g);
  g.save();
  g.beginPath();
  g.rect(0, axisHeight, view.width, view.height);
  g.clip();
  g.font = "11px system-ui, sans-serif";
  for (const lane of lanes) {
    const y = yOf(lane);
    if (y + lane.height < axisHeight || y > view.height) continue;
    drawBars(g, lane, y);
    drawTicks(g, lane, y);
  }
  drawArrows(g);
  if (chosen.found.length <= 2000) for (const event of chosen.found) outline(g, event, colours.accent);
  if (chosen.hover) outline(g, chosen.hover, colours.faint);
  if (chosen.event) outline(g, chosen.event, colours.select);
  drawLabels(g);
  g.restore();
}

// The whole run as thin lines; drawn once for each size and theme.
const small = document.createElement("canvas");
function drawSmall() {
  const key = `${overview.clientWidth}x${overview.clientHeight}@${devicePixelRatio} ${colours.ground}`;
  if (small.key === key) return;
  small.key = key;
  const g = prepare(overview), saved = { a: view.a, b: view.b };
  const rows = lanes.filter((lane) => lane.bars.length > 0), height = (overview.clientHeight - 6) / Math.max(1, rows.length);
  Object.assign(view, whole);
  rows.forEach((lane, i) => {
    let last = -1;
    for (const event of lane.bars) {
      const x = xOf(event.a), end = Math.max(xOf(event.b), x + 1);
      if (event.kind === "life" || event.kind === "empty" || end <= last + 0.5) continue;
      last = end;
      g.fillStyle = colours.kinds[event.kind];
      g.fillRect(x, 3 + i * height, end - x, Math.max(1, height - 0.5));
    }
  });
  Object.assign(view, saved);
  small.width = overview.width;
  small.height = overview.height;
  small.getContext("2d").drawImage(overview, 0, 0);
}

// With the window that is shown.
function drawOverview() {
  drawSmall();
  const g = prepare(overview), width = overview.clientWidth, height = overview.clientHeight;
  g.drawImage(small, 0, 0, width, height);
  const at = (t) => labelWidth + (Math.min(whole.b, Math.max(0, t)) / whole.b) * (width - labelWidth);
  const x0 = at(view.a), x1 = at(view.b);
  g.fillStyle = colours.ground;
  g.globalAlpha = 0.65;
  g.fillRect(labelWidth, 0, x0 - labelWidth, height);
  g.fillRect(x1, 0, width - x1, height);
  g.globalAlpha = 1;
  g.strokeStyle = colours.accent;
  g.lineWidth = 1.5;
  g.strokeRect(x0 + 0.75, 1, Math.max(2, x1 - x0 - 1.5), height - 2);
}

let isAsked = false;
function draw() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    drawLanes();
    drawOverview();
  });
}
