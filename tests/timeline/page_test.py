#!/usr/bin/env python3
# SPDX-FileCopyrightText: The sluice authors
# SPDX-License-Identifier: Apache-2.0
"""The page of `sluice timeline --html` in headless Chromium: it loads, shows what the model holds, zooms, moves and
finds, by mouse and by keys, and its console stays silent. Skipped (77) where there is no Chromium.

usage: page_test.py SLUICE PROGRAM
"""
import json
import pathlib
import subprocess
import sys
import tempfile

from browser import Page, find_browser

faults = []


def expect(what, holds):
    if not holds:
        faults.append(what)


def make(sluice, program, folder, *arguments):
    """The page of a run and its model."""
    page, model = folder / "timeline.html", folder / "model.json"
    command = [sluice, "timeline", "--html", page, "--model", model, "--", program, "--quiet", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode != 0 or not page.exists():
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stdout}{result.stderr}")
    return page, json.loads(model.read_text())


def span(page):
    return page.value("view.b - view.a")


def lane_point(page, list_name, index):
    """Where the event of an entry of the model lies on the screen: its middle."""
    return page.value(f"""(() => {{
      const event = shown.{list_name}[{index}], box = canvas.getBoundingClientRect();
      return [box.left + (xOf(event.a) + xOf(event.b)) / 2, box.top + yOf(event.lane) + event.lane.height / 2];
    }})()""")


def check_contents(page, model):
    ring = model["rings"][0]
    expect("the kernel is named", page.value("element('kernel').textContent") == model["kernel"])
    count = page.value("lanes.filter((l) => l.group === 'Stages').length")
    expect(f"a lane per stage: {count}", count == len(ring["stages"]))
    count = page.value("lanes.filter((l) => l.group === 'Warps').length")
    expect(f"a lane per warp: {count}", count == len(model["agents"]))
    causes = sum("cause" in wait for wait in model["waits"])
    count = page.value("arrows.length")
    expect(f"an arrow per wait that something ended: {count} of {causes}", count == causes > 0)
    states = page.value("lanes.filter((l) => l.group === 'Stages').flatMap((l) => l.events)"
                        ".filter((e) => e.kind === 'used').map((e) => [e.trip, e.a, e.b]).sort((x, y) => x[0] - y[0])")
    wanted = [[i, use["seen"], use["released"]] for i, use in enumerate(ring["uses"])]
    expect(f"stages in use: {states} instead of {wanted}", states == wanted)
    colours = page.value("""(() => {
      drawLanes();
      const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, seen = new Set();
      for (let i = 0; i < pixels.length; i += 4) seen.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
      return ["used", "filling", "blocked"].filter((kind) => seen.has(parseInt(colours.kinds[kind].slice(1), 16)));
    })()""")
    expect(f"colours on the canvas: {colours}", colours == ["used", "filling", "blocked"])


def check_zoom(page):
    whole = span(page)
    x, y = lane_point(page, "waits", 0)
    time = page.value(f"tOf({x} - canvas.getBoundingClientRect().left)")
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-400)
    page.frame()
    expect("the wheel zooms in", span(page) < whole * 0.7)
    kept = page.value(f"tOf({x} - canvas.getBoundingClientRect().left)")
    expect(f"what lies under the mouse stays there: {time} became {kept}", abs(kept - time) < whole / 500)
    before = page.value("view.a")
    page.key("ArrowRight")
    expect("an arrow key moves", page.value("view.a") > before)
    before = page.value("view.a")
    page.mouse("mousePressed", 700, 300, button="left", clickCount=1, buttons=1)
    page.mouse("mouseMoved", 760, 300, button="left", buttons=1)
    page.mouse("mouseReleased", 760, 300, button="left", clickCount=1)
    expect("dragging moves", page.value("view.a") < before)
    page.key("0")
    expect("0 shows all", abs(span(page) - whole) < 1)


def check_find(page, model):
    barrier = next(i for i, b in enumerate(model["barriers"]) if b.get("part") == "empty" and b.get("stage") == 1)
    name = model["barriers"][barrier]["name"]
    wanted = sum(w["barrier"] == barrier and w["waited"] for w in model["waits"])
    page.key("/", "/")
    page.type(f"waits on {name}")
    count = page.value("chosen.found.length")
    expect(f"found {count} waits on {name} instead of {wanted}", count == wanted > 0)
    text = page.value("element('selection').textContent")
    expect(f"what was found is told with its source: {text}", name in text and ".cuh:" in text)
    first = page.value("chosen.event === chosen.found[0]")
    page.key("Enter")
    expect("Enter goes on", first and (count == 1 or page.value("chosen.event === chosen.found[1]")))
    page.key("Escape")
    page.key("f")
    expect("f zooms to what is selected", span(page) < page.value("whole.b") / 2)
    page.key("c")
    expect("c goes to the cause", page.value("['arrivals', 'copies'].includes(chosen.event.what)"))
    page.key("Escape")
    expect("Escape selects nothing", page.value("chosen.event === null"))
    page.key("0")


def check_point(page, model):
    index = max(range(len(model["waits"])), key=lambda i: model["waits"][i].get("end", 0) - model["waits"][i]["asked"])
    x, y = lane_point(page, "waits", index)
    page.mouse("mouseMoved", x, y)
    page.frame()
    wait = model["waits"][index]
    tip = page.value("element('tip').hidden ? '' : element('tip').textContent")
    expect(f"a tip under the mouse: {tip}", f"phase {wait['phase']}" in tip)
    page.click(x, y)
    expect("a click selects", page.value(f"chosen.event === shown.waits[{index}]"))


def check_labels(page):
    for theme in ("dark", "light"):
        page.value(f"setTheme('{theme}')")
        worst = page.value("""Object.keys(colours.kinds).map((kind) => [contrast(colours.inks[kind], colours.kinds[kind]), kind])
          .sort((x, y) => x[0] - y[0])[0]""")
        expect(f"labels stand out on {theme} bars: {worst}", worst[0] >= 3.5)
    text, fits = page.value("""(() => {
      const g = canvas.getContext("2d"), text = fitted(g, "storage.pipeline.full_barriers[3] of a long name", 100);
      return [text, g.measureText(text).width <= 100 && fitted(g, "warp 0", 100) === "warp 0"];
    })()""")
    expect(f"a long label is cut: {text}", fits and len(text) > 5 and text.endswith("…"))


def check_theme(page):
    ground = page.value("getComputedStyle(document.body).backgroundColor")
    page.key("t")
    expect("t changes light and dark", page.value("getComputedStyle(document.body).backgroundColor") != ground)


def make_long(sluice, program, folder):
    """The page of 4096 tiles in a cluster, and of a barrier at which the warps meet 30000 times meanwhile."""
    trace, page = folder / "long.trace", folder / "long.html"
    arguments = ["--quiet", "--tiles", "4096", "--cluster", "4"]
    subprocess.run([sluice, "timeline", "--trace", trace, "--", program, *arguments], check=True, capture_output=True)
    lines = trace.read_text().splitlines()
    end = json.loads(lines[-1])["t"]
    for i in range(30000):
        meeting = {"kind": "sync", "t": i * end // 30000, "cta": 0, "warp": i % 4, "what": "bar", "id": 1}
        lines.insert(-1, json.dumps({**meeting, "end": meeting["t"] + 20}))
    trace.write_text("\n".join(lines) + "\n")
    subprocess.run([sluice, "timeline", "--html", page, trace], check=True, capture_output=True)
    return page


def check_many(sluice, program, browser, folder):
    """A long run: all of it in one frame. The fastest frame counts, so that a busy machine changes nothing."""
    file = make_long(sluice, program, folder)
    with Page(browser, file) as page:
        page.frame()
        count = page.value("lanes.reduce((n, lane) => n + lane.events.length, 0)")
        took = page.value("""(() => {
          const times = [];
          for (let i = 0; i < 60; ++i) {
            zoom(i % 2 ? 0.8 : 1.25);
            const start = performance.now();
            drawLanes();
            drawOverview();
            times.push(performance.now() - start);
          }
          return Math.min(...times);
        })()""")
        print(f"{count} events, {took:.1f} ms per frame")
        expect(f"{count} events are many", count > 100000)
        expect(f"a frame takes {took:.1f} ms", took < 50)
        faults.extend(page.problems)


def main():
    sluice, program = sys.argv[1:]
    browser = find_browser()
    if not browser:
        print("skipped: no Chromium here (Debian package chromium)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file, model = make(sluice, program, folder, "--tiles", "9")
        with Page(browser, file) as page:
            page.frame()
            check_contents(page, model)
            check_zoom(page)
            check_find(page, model)
            check_point(page, model)
            check_labels(page)
            check_theme(page)
            page.frame()
            faults.extend(page.problems)
        check_many(sluice, program, browser, folder)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
