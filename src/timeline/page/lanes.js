// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// From the model to lanes: each lane holds events { kind, a, b, lane, what, of } sorted by their begin.
// `what` is the list of the model that the event is from and `of` its entry there.
"use strict";

const model = JSON.parse(document.getElementById("model").textContent);
// Waits that never end go on behind the last event, far enough to be seen.
const horizon = model.end + (model.waits.some((wait) => wait.end === undefined) ? Math.ceil(model.end / 20) : 0);
const lanes = [];

function addLane(group, label, note, height) {
  const lane = { group, label, note, height, events: [], index: lanes.length };
  lanes.push(lane);
  return lane;
}

function addEvent(lane, kind, a, b, what, of, more) {
  const event = Object.assign({ kind, a, b, lane, what, of }, more);
  lane.events.push(event);
  return event;
}

function agentName(index) {
  const agent = model.agents[index];
  if (!agent) return "";
  const elsewhere = agent.cta === model.cta ? "" : `CTA ${agent.cta} `;
  return `${elsewhere}warp ${agent.warp}`;
}

function barrierName(index) {
  return model.barriers[index]?.name ?? "";
}

function partOf(barrier) {
  return model.barriers[barrier]?.part ?? "";
}

function waitKind(wait) {
  if (!wait.waited) return "pass";
  const part = partOf(wait.barrier);
  return part === "full" ? "starved" : part === "empty" ? "blocked" : "wait";
}

function arrivalKind(arrival) {
  const part = partOf(arrival.barrier);
  return part === "full" ? "arm" : part === "empty" ? "release" : "arrive";
}

// The events that arrows join, by index in their list of the model.
const shown = { waits: [], arrivals: [], copies: [] };

function makeWarpLanes() {
  const byAgent = model.agents.map((agent, i) => {
    const lane = addLane("Warps", agentName(i), agent.role, 26);
    addEvent(lane, "life", agent.begin, agent.end, "agents", agent);
    return lane;
  });
  const of = (x) => byAgent[x.agent];
  for (const span of model.spans) if (of(span)) addEvent(of(span), span.kind, span.begin, span.end, "spans", span);
  model.waits.forEach((wait, i) => {
    if (of(wait)) shown.waits[i] = addEvent(of(wait), waitKind(wait), wait.asked, wait.end ?? horizon, "waits", wait);
  });
  model.arrivals.forEach((arrival, i) => {
    if (of(arrival))
      shown.arrivals[i] = addEvent(of(arrival), arrivalKind(arrival), arrival.t, arrival.t, "arrivals", arrival, { tick: true });
  });
  const loose = model.marks.some((mark) => !of(mark)) ? addLane("Findings", "findings", "", 26) : null;
  for (const mark of model.marks) addEvent(of(mark) ?? loose, "mark", mark.t, mark.t, "marks", mark, { tick: true });
}

// Copies that overlap go to different lanes; beyond the last lane they lie upon each other.
function makeCopyLanes() {
  const most = 12, ends = [], own = [];
  const order = model.copies.map((copy, i) => i).sort((x, y) => model.copies[x].issued - model.copies[y].issued);
  for (const i of order) {
    const copy = model.copies[i], end = copy.landed ?? copy.issued;
    let at = ends.findIndex((e) => e <= copy.issued);
    if (at < 0) at = Math.min(ends.length, most - 1);
    ends[at] = Math.max(ends[at] ?? 0, end);
    own[at] ??= addLane("Copies in flight", "", "", 18);
    shown.copies[i] = addEvent(own[at], copy.to_global ? "store" : "copy", copy.issued, end, "copies", copy);
  }
  own.forEach((lane, i) => {
    lane.label = `in flight ${i + 1}`;
    if (own.length > 4) lane.height = 11;  // so that the stages below stay in view
  });
}

// What each filling of a stage says of its state. The result: when the stage is empty again.
function addUse(lane, use, trip, since) {
  if (!use.states) return since;
  const moments = [since, ...use.states];
  ["empty", "filling", "full", "used"].forEach((kind, i) => {
    if (moments[i + 1] > moments[i]) addEvent(lane, kind, moments[i], moments[i + 1], "uses", use, { trip });
  });
  return moments[4];
}

function makeStageLanes() {
  model.rings.forEach((ring, r) => {
    const name = model.rings.length > 1 ? `Ring ${r}: stages` : "Stages";
    const rows = ring.stages.map((stage, s) => ({
      lane: addLane(name, `stage ${s}`, "", 26), since: ring.begin,
    }));
    ring.uses.forEach((use, trip) => {
      const row = rows[use.stage];
      row.since = addUse(row.lane, use, trip, row.since);
    });
    for (const row of rows) if (row.since < ring.end) addEvent(row.lane, "empty", row.since, ring.end, "uses", null);
  });
}

// A barrier that is part of no ring: its phases.
function makeBarrierLanes() {
  model.barriers.forEach((barrier) => {
    if (barrier.ring !== undefined) return;
    const lane = addLane("Other barriers", barrier.name, "", 20);
    let since = 0;
    [...barrier.flips, model.end].forEach((flip, phase) => {
      const end = flip ?? since;
      if (end > since) addEvent(lane, phase % 2 ? "odd" : "phase", since, end, "barriers", barrier, { phase });
      since = end;
    });
  });
}

// For the search of what is visible: reach[i] is the latest end of events 0 to i.
function finish(lane) {
  lane.events.sort((x, y) => x.a - y.a || y.b - x.b);
  lane.bars = lane.events.filter((event) => !event.tick);
  lane.ticks = lane.events.filter((event) => event.tick);
  let reach = -Infinity;
  lane.reach = Float64Array.from(lane.bars, (event) => (reach = Math.max(reach, event.b)));
}

makeWarpLanes();
makeCopyLanes();
makeStageLanes();
makeBarrierLanes();
lanes.forEach(finish);

// Arrows: from what completed a phase to the wait that it ended.
const arrows = [];
model.waits.forEach((wait, i) => {
  if (wait.cause === undefined || !shown.waits[i] || wait.end === undefined) return;
  const from = (wait.ended_by === "arrival" ? shown.arrivals : shown.copies)[wait.cause];
  if (!from) return;
  const arrow = { from, to: shown.waits[i], a: from.b, b: wait.end };
  arrows.push(arrow);
  arrow.to.cause = from;
});
arrows.sort((x, y) => x.b - y.b);

function firstIndex(count, isPast) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
