// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The instruction table against the reference assembler: every row for sm_90a, in a spread of its modifiers,
// must be accepted by ptxas, so that the table allows nothing that does not exist. Exit code 77 where there
// is no ptxas of CUDA 13.0 or newer.
#include "ptx/samples.hpp"
#include "ptx/table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace sluice::ptx;

constexpr size_t kVariants = 40;
constexpr unsigned kVersion = 90;

struct Run {
  int status = -1;
  std::string output;
};

Run run(const std::string& command) {
  Run out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), int(buffer.size()), pipe) != nullptr) out.output += buffer.data();
  out.status = pclose(pipe);
  return out;
}

/// Whether the row's form exists for a 64-bit module of this version.
bool applies(const Form& form, const Mods& mods) {
  const Requirement needed = requirement(form, mods);
  if (!form.in_scope() || form.takes_anything || needed.ptx > kVersion || needed.removed_ptx != 0)
    return false;
  return form.opcode != Opcode::cvta || mods.type() == ScalarType::u64;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string ptxas = argc > 1 ? argv[1] : "ptxas";
  const Run version = run(ptxas + " --version");
  const size_t release = version.output.find("release ");
  if (version.status != 0 || release == std::string::npos ||
      std::atoi(version.output.c_str() + release + 8) < 13) {
    std::puts("skipped: no ptxas of CUDA 13.0 or newer");
    return 77;
  }
  std::vector<std::string> statements;
  size_t rows = 0;
  for (const Form& form : forms()) {
    const size_t before = statements.size();
    for (const Mods& mods : variants(form, kVariants))
      if (applies(form, mods)) statements.push_back(samples::statement(form, mods));
    rows += statements.size() != before;
  }
  // The last statement is wrong on purpose: the assembler checks everything, complains about this one alone,
  // and does not go on to translate a kernel that makes no sense.
  const size_t wrong = statements.size();
  statements.emplace_back("add.u32 %r0, %f0, %r1;");
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("sluice_agreement_{}", statements.size());
  std::filesystem::create_directories(folder);
  const std::string path = folder / "rows.ptx";
  std::ofstream(path) << samples::module_with(statements, "sm_90a", kVersion);
  const Run assembled = run(fmt::format("{} -arch=sm_90a {} -o /dev/null", ptxas, path));
  std::filesystem::remove_all(folder);
  std::printf("%zu statements of %zu rows\n", wrong, rows);

  // Say which statements it refuses.
  size_t refused = 0;
  bool stopped_at_the_wrong_one = false;
  for (size_t at = 0; at < assembled.output.size();) {
    const size_t end = std::min(assembled.output.find('\n', at), assembled.output.size());
    const std::string line = assembled.output.substr(at, end - at);
    at = end + 1;
    const size_t place = line.find("line ");
    const bool is_error = line.find("error") != std::string::npos || line.find("fatal") != std::string::npos;
    if (!is_error || place == std::string::npos) continue;
    const size_t number = size_t(std::atoi(line.c_str() + place + 5)) - samples::kFirstLine;
    if (number == wrong) {
      stopped_at_the_wrong_one = true;
      continue;
    }
    ++refused;
    if (number < wrong) std::printf("%s\n", statements[number].c_str());
    std::printf("    %s\n", line.c_str());
  }
  if (!stopped_at_the_wrong_one)
    std::printf("the assembler did not come to the end:\n%s", assembled.output.c_str());
  return refused == 0 && stopped_at_the_wrong_one ? 0 : 1;
}
