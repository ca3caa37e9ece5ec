// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
#include "timeline/html.hpp"

#include <string_view>

#include "report/json_text.hpp"
#include "timeline/model_json.hpp"
#include "timeline/page.hpp"

namespace sluice::timeline {
namespace {

/// JSON that stands in a script element: no text of the model can end the element.
std::string embeddable(const Model& model) {
  const std::string json = report::json_text(to_json(model));
  std::string text;
  text.reserve(json.size());
  for (char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

std::string_view part(std::string_view mark, const std::string& model) {
  if (mark == "css") return kPageStyle;
  if (mark == "js") return kPageScript;
  return mark == "model" ? std::string_view(model) : std::string_view();
}

}  // namespace

std::string to_html(const Model& model) {
  const std::string json = embeddable(model);
  std::string page;
  std::string_view rest = kPageFrame;
  for (;;) {
    const size_t open = rest.find('@');
    page += rest.substr(0, open);
    if (open == std::string_view::npos) return page;
    const size_t close = rest.find('@', open + 1);
    page += part(rest.substr(open + 1, close - open - 1), json);
    rest.remove_prefix(close + 1);
  }
}

}  // namespace sluice::timeline
