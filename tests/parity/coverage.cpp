// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Which rows of the instruction table that touch data have results of an H200 behind them: cases of this
// folder, or experiments on the asynchronous units (tests/machine_units) in which the instruction occurs and
// which ended well.
//
//   parity_coverage [PARITY_DATA [UNITS_DATA]]   prints the rows that have none, then the count as one
//   sentence parity_coverage --check FILE                 exit status 1 where the sentence does not stand in
//   FILE
#include <zstd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "machine/support.hpp"
#include "machine_units/all_cases.hpp"
#include "ptx/table.hpp"
#include "record_file.hpp"

namespace {

using namespace sluice;
using machine::Support;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The text of the recording of the experiments, plain or compressed; empty where there is none.
std::string units_recording(const std::string& folder) {
  const std::string packed = read_file(folder + "/units.txt.zst");
  if (packed.empty()) return read_file(folder + "/units.txt");
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > (1ull << 30)) return {};
  std::string plain(size, '\0');
  if (ZSTD_decompress(plain.data(), plain.size(), packed.data(), packed.size()) != size) return {};
  return plain;
}

/// Adds the rows of all instructions of the experiments that ended without an error on the GPU.
void add_experiments(const std::string& recording, std::set<uint16_t>& rows) {
  std::set<std::string> ended_well;
  std::istringstream lines(recording);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name, status;
    words >> name >> status;
    if (status == "status=0,0") ended_well.insert(name);
  }
  for (const hardware::Case& c : hardware::all_cases()) {
    if (!ended_well.contains(c.name)) continue;
    const Result<ptx::Module> module = ptx::parse(c.ptx, c.name);
    if (!module) continue;
    for (const ptx::Function& function : module->functions) {
      for (const ptx::Instruction& instruction : function.code) rows.insert(instruction.form);
    }
  }
}

/// Adds the rows of the recorded cases, which are named after them.
bool add_cases(const std::string& path, std::set<uint16_t>& rows) {
  std::vector<parity::Recorded> records;
  if (!parity::load_records(path, records)) return false;
  std::map<std::string_view, uint16_t> by_name;
  for (const ptx::Form& form : ptx::forms()) by_name[form.name] = static_cast<uint16_t>(form.id);
  for (const parity::Recorded& r : records) {
    const auto found = by_name.find(std::string_view(r.name).substr(0, r.name.find(' ')));
    if (found != by_name.end()) rows.insert(found->second);
  }
  return true;
}

/// Prints the rows without evidence by family; returns the sentence about them.
std::string report(const std::set<uint16_t>& evidence) {
  const std::vector<machine::RowSupport> supported = machine::row_support();
  size_t touching = 0, without = 0, refused = 0;
  std::map<std::string_view, std::string> names;
  for (const ptx::Form& form : ptx::forms()) {
    if (!form.in_scope() || form.exactness == ptx::Exactness::NoData) continue;
    ++touching;
    const auto id = static_cast<uint16_t>(form.id);
    if (evidence.contains(id)) continue;
    ++without;
    const bool missing = supported[id].support == Support::Missing;
    refused += missing;
    names[ptx::spelling(form.family)] += " " + std::string(form.name) + (missing ? " (refused)" : "");
  }
  for (const auto& [family, list] : names)
    std::printf("%.*s:%s\n", static_cast<int>(family.size()), family.data(), list.c_str());
  return "Of the " + std::to_string(touching) + " rows of the instruction table that touch data, " +
         std::to_string(touching - without) + " are compared with what an H200 put out; " +
         std::to_string(without) + " are not, " + std::to_string(refused) + " of which the engine refuses";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const bool check = first == "--check";
  if (argc > 3 || (check && argc != 3) || (!check && first.starts_with("-"))) {
    std::fprintf(stderr, "usage: parity_coverage [PARITY_DATA [UNITS_DATA]] | --check FILE\n");
    return 2;
  }
  const std::string cases = argc > 1 && !check ? first : SLUICE_PARITY_DATA;
  const std::string units = argc > 2 && !check ? argv[2] : SLUICE_UNITS_DATA;
  std::set<uint16_t> evidence;
  if (!add_cases(cases, evidence)) {
    std::fprintf(stderr, "cannot read %s\n", cases.c_str());
    return 1;
  }
  add_experiments(units_recording(units), evidence);
  const std::string sentence = report(evidence);
  std::printf("%s.\n", sentence.c_str());
  if (!check || read_file(argv[2]).find(sentence) != std::string::npos) return 0;
  std::fprintf(stderr, "%s does not say so: put this sentence there\n", argv[2]);
  return 1;
}
