// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "timeline/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace sluice::timeline {
namespace {

constexpr double kWidth = 900, kRight = 12, kRow = 22, kGap = 4, kHeading = 24, kAxis = 22;
constexpr double kCaption = 16;
constexpr double kLeastLabels = 130, kMostLabels = 230, kCharacter = 6.4;  ///< of labels, wide
constexpr double kLeast = 0.25;                                            ///< narrower bars are not drawn
constexpr size_t kMostLanes = 12, kMostArrows = 200, kMostTiles = 24;

// Class names are the kinds of the page (page/page.css), with its colours.
constexpr std::string_view kStyle = R"(<style>
text{font:12px system-ui,sans-serif;fill:#1c2430}.faint{fill:#667085;font-size:11px}.head{font-weight:600}
.row{fill:#f8f9fb}.grid{stroke:#dfe3e8}.arrow{fill:none;stroke:#64748b;opacity:.6}.tip{fill:#64748b}
.starved{fill:#a78bfa}.blocked{fill:#f59e0b}.wait{fill:#94a3b8}.product{fill:#0d9488}.sync{fill:#9ca3af}
.copy{fill:#3b82f6}.arm{fill:#2563eb}.release{fill:#16a34a}.arrive{fill:#64748b}.mark{fill:#dc2626}.life{fill:#e3e8ef}
.empty{fill:#e5e9ef}.filling{fill:#93c5fd}.full{fill:#a7f3d0}.used{fill:#34d399}
@media(prefers-color-scheme:dark){text{fill:#e6ebf2}.faint{fill:#93a1b3}.row{fill:#121922}.grid{stroke:#28323f}
.starved{fill:#8b6cf0}.blocked{fill:#d98a0b}.life,.empty{fill:#222c38}.filling{fill:#1d4f91}.full{fill:#14624c}
.used{fill:#10a875}.arm{fill:#60a5fa}.release{fill:#4ade80}.mark{fill:#f87171}}
</style>
)";

std::string escaped(std::string_view text) {
  std::string safe;
  for (char c : text) safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return safe;
}

/// What is shown, in time.
struct Window {
  uint64_t begin = 0, end = 0;
};

/// From the first event of the first tile to the end of the last one.
Window window_of(const Ring& ring, TileRange tiles) {
  Window window{ring.end, ring.begin};
  for (uint64_t tile = tiles.first; tile <= tiles.last; ++tile) {
    const Use& use = ring.uses[tile];
    for (const std::optional<uint64_t>& t : {use.acquired, use.filling, use.full, use.seen, use.released}) {
      if (!t) continue;
      window.begin = std::min(window.begin, *t);
      window.end = std::max(window.end, *t);
    }
    if (!use.released) window.end = ring.end;
  }
  return window;
}

class Picture {
 public:
  Picture(const Model& model, Window window, std::string caption)
      : model_(model), window_(window), caption_(std::move(caption)) {
    for (const Agent& agent : model.agents)
      labels_ = std::max(labels_, 14 + kCharacter * static_cast<double>(label_of(agent).size()));
    labels_ = std::min(labels_, kMostLabels);
  }

  std::string draw() {
    warps();
    copies();
    for (const Ring& ring : model_.rings) stages(ring);
    arrows();
    const double bottom = y_;
    const double height = bottom + 28 + (caption_.empty() ? 0 : kCaption);
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\">\n<title>{}</title>\n",
        kWidth, height, escaped(model_.kernel));
    svg += kStyle;
    return svg + axis(bottom) + body_ + legend(bottom + 18) + "</svg>\n";
  }

 private:
  double x(uint64_t t) const {
    const uint64_t inside = std::clamp(t, window_.begin, window_.end) - window_.begin;
    const double share = static_cast<double>(inside) / static_cast<double>(length());
    return labels_ + share * (kWidth - labels_ - kRight);
  }

  uint64_t length() const { return std::max<uint64_t>(1, window_.end - window_.begin); }
  bool shows(uint64_t t) const { return window_.begin <= t && t <= window_.end; }

  void heading(const char* text) {
    y_ += kHeading;
    body_ += fmt::format("<text class=\"head\" x=\"4\" y=\"{}\">{}</text>\n", y_ - 7, text);
  }
  double row(const std::string& label) {
    const double y = y_;
    body_ += fmt::format("<rect class=\"row\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", labels_, y,
                         kWidth - labels_, kRow);
    body_ += fmt::format("<text x=\"10\" y=\"{}\">{}</text>\n", y + 15, escaped(label));
    y_ += kRow + kGap;
    return y;
  }
  void bar(const char* kind, double y, uint64_t begin, uint64_t end, const std::string& text,
           double inset = 3) {
    const double left = x(begin), width = x(end) - left;
    if (width < kLeast) return;
    body_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" rx=\"2\"><title>{} to "
        "{}</title></rect>\n",
        kind, left, y + inset, std::max(0.3, width - (width > 3 ? 0.7 : 0)), kRow - 2 * inset, begin, end);
    if (width > 8 + 7.0 * static_cast<double>(text.size()))
      body_ += fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>\n", left + 4, y + 15, escaped(text));
  }
  void tick(const char* kind, double y, uint64_t t, const std::string& words = "") {
    if (!shows(t)) return;
    const std::string title = words.empty() ? "" : fmt::format("<title>{}</title>", escaped(words));
    body_ += fmt::format(
        "<rect class=\"{}\" x=\"{:.2f}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"1\">{}</rect>\n", kind,
        x(t) - 1, y + 1, words.empty() ? 2 : 4, kRow - 2, title);
  }

  const char* kind_of(const Wait& wait) const {
    const Part part = model_.barriers[wait.barrier].part;
    return part == Part::Full ? "starved" : part == Part::Empty ? "blocked" : "wait";
  }
  const char* kind_of(const Arrival& arrival) const {
    const Part part = arrival.barrier == kNone ? Part::Unknown : model_.barriers[arrival.barrier].part;
    return part == Part::Full ? "arm" : part == Part::Empty ? "release" : "arrive";
  }

  std::string label_of(const Agent& agent) const {
    const std::string cta = agent.cta == model_.cta ? "" : fmt::format("CTA {} ", agent.cta);
    return fmt::format("{}warp {} {}", cta, agent.warp, agent.role);
  }

  void warps() {
    heading("Warps");
    for (const Agent& agent : model_.agents) {
      agent_rows_.push_back(row(label_of(agent)));
      bar("life", agent_rows_.back(), agent.begin, agent.end, "", 9);
    }
    for (const Span& span : model_.spans) {
      if (span.agent != kNone && span.kind != SpanKind::Role)
        bar(span.kind == SpanKind::Product ? "product" : "sync", agent_rows_[span.agent], span.begin,
            span.end, "");
    }
    for (const Wait& wait : model_.waits) {
      if (wait.agent != kNone && wait.barrier != kNone && wait.waited)
        bar(kind_of(wait), agent_rows_[wait.agent], wait.asked, wait.end.value_or(model_.end),
            model_.barriers[wait.barrier].name);
    }
    for (const Arrival& arrival : model_.arrivals) {
      if (arrival.agent != kNone) tick(kind_of(arrival), agent_rows_[arrival.agent], arrival.t);
    }
    for (const Mark& mark : model_.marks) {
      if (mark.agent != kNone) tick("mark", agent_rows_[mark.agent], mark.t, mark.name + ": " + mark.text);
    }
  }

  /// Copies that overlap go to different lanes, up to the last.
  void copies() {
    if (model_.copies.empty()) return;
    heading("Copies in flight");
    std::vector<uint64_t> ends;
    std::vector<double> rows;
    for (const Copy& copy : model_.copies) {
      copy_rows_.push_back(0);
      if (copy.issued > window_.end || copy.landed.value_or(window_.end) < window_.begin) continue;
      const auto free =
          std::find_if(ends.begin(), ends.end(), [&](uint64_t end) { return end <= copy.issued; });
      size_t lane = static_cast<size_t>(free - ends.begin());
      if (free == ends.end() && ends.size() == kMostLanes) lane = kMostLanes - 1;
      if (lane == ends.size()) {
        ends.push_back(0);
        rows.push_back(row(fmt::format("in flight {}", lane + 1)));
      }
      ends[lane] = std::max(ends[lane], copy.landed.value_or(copy.issued));
      copy_rows_.back() = rows[lane];
      bar("copy", rows[lane], copy.issued, ends[lane], "");
    }
  }

  void stages(const Ring& ring) {
    heading("Stages");
    std::vector<double> rows;
    std::vector<uint64_t> free_since(ring.stages.size(), ring.begin);
    for (size_t s = 0; s < ring.stages.size(); ++s) rows.push_back(row(fmt::format("stage {}", s)));
    for (size_t tile = 0; tile < ring.uses.size(); ++tile) {
      const Use& use = ring.uses[tile];
      const std::string number = fmt::format("{}", tile);
      if (!use.states) continue;
      const auto& [filling, full, used, empty] = *use.states;
      bar("empty", rows[use.stage], free_since[use.stage], filling, "");
      bar("filling", rows[use.stage], filling, full, number);
      bar("full", rows[use.stage], full, used, number);
      bar("used", rows[use.stage], used, empty, number);
      free_since[use.stage] = empty;
    }
    for (size_t s = 0; s < rows.size(); ++s) bar("empty", rows[s], free_since[s], ring.end, "");
  }

  /// From what completed a phase to the wait that it ended; none where they would cover the picture.
  void arrows() {
    const auto has_cause = [&](const Wait& wait) {
      return wait.ended_by != CauseKind::None && wait.end && shows(*wait.end);
    };
    const auto count = std::count_if(model_.waits.begin(), model_.waits.end(), has_cause);
    if (static_cast<size_t>(count) > kMostArrows) return;
    for (const Wait& wait : model_.waits) {
      if (!has_cause(wait) || wait.agent == kNone) continue;
      const bool is_arrival = wait.ended_by == CauseKind::Arrival;
      if (is_arrival && (model_.arrivals[wait.cause].agent == kNone || !shows(model_.arrivals[wait.cause].t)))
        continue;
      const double from =
          (is_arrival ? agent_rows_[model_.arrivals[wait.cause].agent] : copy_rows_[wait.cause]) + 11;
      const double to = agent_rows_[wait.agent] + 11;
      const double begin = x(is_arrival ? model_.arrivals[wait.cause].t : *wait.end), end = x(*wait.end);
      const double bend = std::min(18.0, kWidth - 2 - std::max(begin, end));
      body_ += fmt::format(
          "<path class=\"arrow\" d=\"M{0:.2f} {1}C{2:.2f} {1} {3:.2f} {4} {5:.2f} {4}\"/>"
          "<path class=\"tip\" d=\"M{5:.2f} {4}l5 -3v6z\"/>\n",
          begin, from, begin + bend, end + bend, to, end);
    }
  }

  std::string axis(double bottom) const {
    uint64_t step = 1;
    for (int i = 0; length() / step > 8; ++i)
      step = i % 3 == 1 ? step / 2 * 5 : step * 2;  // 1, 2, 5, 10, ...
    std::string text;
    for (uint64_t t = (window_.begin + step - 1) / step * step; t <= window_.end; t += step) {
      text += fmt::format(
          "<path class=\"grid\" d=\"M{0:.2f} {1}V{2}\"/><text class=\"faint\" x=\"{0:.2f}\" "
          "y=\"14\"{4}>{3}</text>\n",
          x(t), kAxis, bottom, t, x(t) > kWidth - 50 ? " text-anchor=\"end\"" : "");
    }
    return text + fmt::format("<text class=\"faint\" x=\"10\" y=\"14\">{}</text>\n",
                              model_.clock == "ns" ? "ns" : "steps");
  }
  std::string legend(double y) const {
    constexpr std::pair<const char*, const char*> kEntries[] = {{"starved", "waits on full"},
                                                                {"blocked", "waits on empty"},
                                                                {"sync", "waits for threads"},
                                                                {"product", "wgmma"},
                                                                {"arm", "arms"},
                                                                {"release", "releases"},
                                                                {"copy", "copy"},
                                                                {"empty", "empty"},
                                                                {"filling", "filling"},
                                                                {"full", "full"},
                                                                {"used", "in use"},
                                                                {"mark", "finding"}};
    std::string text;
    double x = 10;
    for (const auto& [kind, words] : kEntries) {
      if (body_.find(fmt::format("class=\"{}\"", kind)) == std::string::npos) continue;
      text += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"10\" height=\"10\" rx=\"2\"/>", kind,
                          x, y - 9);
      text += fmt::format("<text class=\"faint\" x=\"{}\" y=\"{}\">{}</text>\n", x + 14, y, words);
      x += 28 + 5.8 * static_cast<double>(std::string_view(words).size());
    }
    if (!caption_.empty())
      text += fmt::format("<text class=\"faint\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n",
                          kWidth - kRight, y + kCaption, escaped(caption_));
    return text;
  }

  const Model& model_;
  const Window window_;
  const std::string caption_;
  double labels_ = kLeastLabels, y_ = kAxis;
  std::string body_;
  std::vector<double> agent_rows_, copy_rows_;
};

}  // namespace

Result<std::string> to_svg(const Model& model, std::optional<TileRange> tiles) {
  const size_t count = model.rings.empty() ? 0 : model.rings.front().uses.size();
  if (tiles && tiles->last >= count)
    return Error{count == 0 ? "there are no tiles: no ring of stages was recognised"
                            : fmt::format("there is no tile {}: the ring has {}", tiles->last, count),
                 ""};
  if (!tiles && count > kMostTiles) tiles = TileRange{0, kMostTiles - 1};
  if (!tiles) return Picture(model, {0, model.end}, "").draw();
  return Picture(model, window_of(model.rings.front(), *tiles),
                 fmt::format("tiles {} to {} of {}", tiles->first, tiles->last, count))
      .draw();
}

}  // namespace sluice::timeline
