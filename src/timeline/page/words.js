// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// What is said of an event: its title, its details, and the text that the search looks at.
"use strict";

const unit = model.clock === "ns" ? "ns" : "steps";
const kindWords = {
  starved: "waits on full", blocked: "waits on empty", wait: "waits", pass: "passes at once", copy: "copy",
  store: "store", product: "wgmma", sync: "waits for threads", arm: "arms full", release: "releases",
  arrive: "arrives", empty: "empty", filling: "filling", full: "full", used: "in use", phase: "even phase",
  odd: "odd phase", mark: "finding", role: "role", life: "runs",
};

function number(x) {
  return x.toLocaleString("en-US", { maximumFractionDigits: 1 }).replaceAll(",", " ");
}

function placeText(at) {
  const place = at === undefined ? null : model.places[at];
  return place && place.file ? `${place.file.split("/").pop()}:${place.line}` : "";
}

function title(event) {
  const of = event.of;
  switch (event.what) {
    case "waits": return `${kindWords[event.kind]}: ${barrierName(of.barrier)}, phase ${of.phase}`;
    case "arrivals": return `${kindWords[event.kind]}: ${barrierName(of.barrier)}, phase ${of.phase}`;
    case "copies": return `${of.what} ${of.to_global ? "to global" : "copy"}${of.barrier === undefined ? "" : " for " + barrierName(of.barrier)}`;
    case "uses": return of ? `${event.lane.label} ${kindWords[event.kind]}, tile ${event.trip}` : `${event.lane.label} empty`;
    case "barriers": return `${of.name}, phase ${event.phase}`;
    case "marks": return of.name || "mark";
    case "agents": return `${event.lane.label}${of.role ? ", " + of.role : ""}`;
    default: return of.name || kindWords[event.kind];
  }
}

// Pairs of a word and a text; texts that are empty are left out.
function details(event) {
  const of = event.of ?? {};
  const place = of.at === undefined ? null : model.places[of.at];
  const span = event.b > event.a;
  const rows = [
    ["lane", event.lane.label + (event.lane.note ? `, ${event.lane.note}` : "")],
    [span ? "from" : "at", number(event.a)],
    ["to", span ? number(event.b) : ""],
    ["lasts", span ? `${number(event.b - event.a)} ${unit}` : ""],
    ["never ended", event.what === "waits" && of.end === undefined ? "yes" : ""],
    ["phase", of.phase === undefined ? "" : `${of.phase} (parity ${((of.phase % 2) + 2) % 2})`],
    ["arrivals", of.count === undefined ? "" : String(of.count)],
    ["bytes", of.bytes ? number(of.bytes) : ""],
    ["issued by", event.what === "copies" ? agentName(of.agent) : ""],
    ["multicast to", of.ranks ? `ranks 0x${of.ranks.toString(16)}` : ""],
    ["tile", event.trip ?? of.trip ?? ""],
    ["says", of.text ?? ""],
    ["source", placeText(of.at)],
    ["in", place?.function ?? ""],
  ];
  return rows.filter(([, text]) => text !== "");
}

function searchText(event) {
  if (event.text === undefined) {
    const tile = event.trip ?? event.of?.trip;
    const parts = [title(event), event.lane.label, event.lane.note, placeText(event.of?.at), event.of?.text ?? ""];
    if (tile !== undefined) parts.push(`tile ${tile}`);
    event.text = parts.join(" ").toLowerCase();
  }
  return event.text;
}

// Events that hold every word, by time.
function find(words) {
  const terms = words.toLowerCase().split(/\s+/).filter((term) => term);
  if (terms.length === 0) return [];
  const found = [];
  for (const lane of lanes)
    for (const event of lane.events)
      if (event.kind !== "life" && terms.every((term) => searchText(event).includes(term))) found.push(event);
  return found.sort((x, y) => x.a - y.a);
}
