// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Replays the recorded parity cases on the engine.
//
//   parity_replay DATA                 compare; exit status 1 where something differs, or cannot be compared
//   any more parity_replay DATA --form NAME     only the rows whose name starts so, with every difference
//   parity_replay --run REJECTED       run all cases but the rejected ones without comparing: what the engine
//   refuses
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cases.hpp"
#include "record_file.hpp"
#include "replay.hpp"

namespace {

using namespace sluice;
using parity::Case;
using parity::Output;

struct Tally {
  size_t cases = 0, equal = 0, bounded = 0, different = 0, refused = 0;
};

std::string hex(const uint8_t* bytes, uint32_t count) {
  std::string text;
  char two[3];
  for (uint32_t i = count; i-- > 0;) {
    std::snprintf(two, sizeof two, "%02x", bytes[i]);
    text += two;
  }
  return text;
}

/// One thread's difference, with its inputs as 64-bit words.
void print_difference(const Case& c, const Output& o, uint32_t thread, const uint8_t* gpu,
                      const uint8_t* engine) {
  std::printf("  %s, thread %u, output at %u: gpu %s engine %s, inputs", c.name.c_str(), thread, o.offset,
              hex(gpu, o.bytes).c_str(), hex(engine, o.bytes).c_str());
  const uint8_t* const record = c.inputs.data() + size_t{thread} * c.in_stride;
  for (uint32_t i = 0; i < std::min(c.in_stride, 96u); i += 8) std::printf(" %s", hex(record + i, 8).c_str());
  std::printf("\n");
}

/// Compares one case; prints at most `show` differences.
void compare(const Case& c, const std::vector<uint8_t>& gpu, const parity::Ran& ran, Tally& tally,
             int& show) {
  ++tally.cases;
  if (ran.refused) {
    ++tally.refused;
    if (show-- > 0) std::printf("  %s refused: %s\n", c.name.c_str(), ran.why.c_str());
    return;
  }
  bool equal = true, bounded = true;
  for (uint32_t thread = 0; thread < parity::kThreads; ++thread) {
    for (const Output& o : c.outputs) {
      const size_t at = size_t{thread} * c.out_stride + o.offset;
      if (std::memcmp(gpu.data() + at, ran.outputs.data() + at, o.bytes) == 0) continue;
      equal = false;
      if (parity::within_bound(c, o, gpu.data() + at, ran.outputs.data() + at, thread)) continue;
      bounded = false;
      if (show-- > 0) print_difference(c, o, thread, gpu.data() + at, ran.outputs.data() + at);
    }
  }
  ++(equal ? tally.equal : bounded ? tally.bounded : tally.different);
}

int run_only(const char* rejected_file) {
  std::set<std::string> rejected;
  std::ifstream in(rejected_file);
  for (std::string line; std::getline(in, line);) rejected.insert(line);
  std::vector<Case> cases = parity::all_cases();
  std::erase_if(cases, [&](const Case& c) { return rejected.contains(c.name); });
  std::vector<const Case*> members;
  for (const Case& c : cases) members.push_back(&c);
  const std::vector<parity::Ran> ran = parity::run_on_engine(members);
  std::map<std::string, std::pair<size_t, std::string>> refused;
  for (size_t i = 0; i < ran.size(); ++i) {
    if (!ran[i].refused) continue;
    auto& entry = refused[std::string(ptx::form(cases[i].form).name)];
    ++entry.first;
    entry.second = ran[i].why;
  }
  for (const auto& [name, entry] : refused)
    std::printf("%s: %zu refused, for example %s\n", name.c_str(), entry.first, entry.second.c_str());
  std::printf("%zu cases run, %zu rows with refusals\n", ran.size(), refused.size());
  return 0;
}

int replay(const std::vector<parity::Recorded>& records, const char* only) {
  std::map<std::string_view, const parity::Recorded*> by_name;
  for (const parity::Recorded& r : records) by_name[r.name] = &r;
  const std::vector<Case> cases = parity::all_cases();
  std::vector<const Case*> members;
  size_t found_again = 0;
  for (const Case& c : cases) {
    const auto found = by_name.find(c.name);
    if (found == by_name.end()) continue;
    ++found_again;
    if (only != nullptr && !ptx::form(c.form).name.starts_with(only)) continue;
    if (found->second->fingerprint != parity::fingerprint(c) ||
        found->second->outputs.size() != size_t{c.out_stride} * parity::kThreads) {
      --found_again;
      continue;
    }
    members.push_back(&c);
  }
  const std::vector<parity::Ran> ran = parity::run_on_engine(members);
  if (ran.size() != members.size()) {
    std::fprintf(stderr, "the engine could not be started\n");
    return 1;
  }
  std::map<uint16_t, Tally> tallies;
  std::map<uint16_t, int> shown;
  for (size_t i = 0; i < members.size(); ++i) {
    const uint16_t form = members[i]->form;
    const auto [at, first] = shown.try_emplace(form, only != nullptr ? 400 : 3);
    compare(*members[i], by_name[members[i]->name]->outputs, ran[i], tallies[form], at->second);
  }
  Tally all;
  for (const auto& [form, tally] : tallies) {
    all.cases += tally.cases;
    all.equal += tally.equal;
    all.bounded += tally.bounded;
    all.different += tally.different;
    all.refused += tally.refused;
    if (tally.different + tally.refused != 0 || only != nullptr) {
      std::printf("%s: %zu cases, %zu equal, %zu within the bound, %zu different, %zu refused\n",
                  std::string(ptx::form(form).name).c_str(), tally.cases, tally.equal, tally.bounded,
                  tally.different, tally.refused);
    }
  }
  std::printf(
      "%zu rows, %zu cases: %zu equal bit for bit, %zu within the ISA's bound, %zu different, %zu refused\n",
      tallies.size(), all.cases, all.equal, all.bounded, all.different, all.refused);
  const size_t lost = only != nullptr ? 0 : records.size() - found_again;
  if (lost != 0)
    std::printf("%zu recorded cases are not, or not so, among the cases of today: record them again\n", lost);
  return all.cases != 0 && all.different + all.refused + lost == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--run") return run_only(argv[2]);
  if (argc < 2) {
    std::fprintf(stderr, "usage: parity_replay DATA [--form NAME] | --run REJECTED\n");
    return 2;
  }
  std::vector<parity::Recorded> records;
  if (!parity::load_records(argv[1], records)) {
    std::fprintf(stderr, "cannot read %s\n", argv[1]);
    return 1;
  }
  return replay(records, argc == 4 && std::string_view(argv[2]) == "--form" ? argv[3] : nullptr);
}
