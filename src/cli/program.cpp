// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Inspection of the program under test.
#include "cli/program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "ptx/program_file.hpp"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kEngine = "libsluice-engine.so";
constexpr uint64_t kLargestLook = uint64_t{2} << 30;

bool is_executable_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string read_start(const std::string& path, size_t bytes) {
  std::ifstream in(path, std::ios::binary);
  std::string text(bytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

report::Diagnostic refusal(const std::string& path, std::string headline, std::string why, std::string help) {
  report::Diagnostic diagnostic;
  diagnostic.blame = report::Blame::Unsupported;
  diagnostic.name = "unsupported";
  diagnostic.headline = std::move(headline);
  diagnostic.where = path;
  diagnostic.state = "found before the program started";
  diagnostic.why = std::move(why);
  diagnostic.help = std::move(help);
  return diagnostic;
}

std::string architectures(const ptx::ProgramFile& program) {
  std::string text;
  for (const ptx::FatEntry& entry : program.entries) {
    const std::string name = entry.architecture();
    if (text.find(name) == std::string::npos) text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::optional<report::Diagnostic> judge(const std::string& path, const ptx::ProgramFile& program) {
  if (program.has_static_runtime()) {
    return refusal(
        path, "the program is linked with the static CUDA runtime",
        "the engine stands in for libcudart.so; a static runtime talks to the driver through internal tables",
        "build with `nvcc -cudart shared` (CMake: set CUDA_RUNTIME_LIBRARY to Shared)");
  }
  if (!program.has_device_code) return std::nullopt;
  // Shared libraries may bring the PTX that the program itself lacks; what is certain is the program's own
  // code.
  if (program.has_ptx() && ptx::choose_ptx(program.entries, 90) != nullptr) return std::nullopt;
  const bool other = program.has_ptx();
  return refusal(path,
                 fmt::format("the program holds no PTX {}(it holds {})",
                             other ? "that an sm_90a device runs " : "", architectures(program)),
                 "the engine executes PTX; machine code cannot run on it",
                 "build with `-gencode arch=compute_90a,code=[compute_90a,sm_90a]` (CMake: "
                 "CMAKE_CUDA_ARCHITECTURES 90a)");
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  std::error_code ignored;
  if (fs::is_regular_file(name, ignored) && is_ptx_file(name)) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (is_executable_file(candidate)) return candidate;
  }
  return std::nullopt;
}

bool is_ptx_file(const std::string& path) {
  if (fs::path(path).extension() == ".ptx") return true;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const std::string start = "\n" + read_start(path, 4096);
  return start.find("\n.version") != std::string::npos && start.find("\n.target") != std::string::npos;
}

bool is_no_program(const std::string& path) {
  std::error_code ignored;
  return is_ptx_file(path) || (fs::exists(path, ignored) && !is_executable_file(path));
}

ProgramLook look_at(const std::string& path, const std::string& libraries) {
  ProgramLook look;
  if (read_start(path, 4) !=
      "\x7f"
      "ELF")
    return look;
  std::error_code ignored;
  if (fs::file_size(path, ignored) > kLargestLook) return look;
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const auto program = ptx::inspect_program(std::as_bytes(std::span(bytes.data(), bytes.size())));
  if (!program) return look;  // the system's loader says what is wrong with it
  look.refusal = judge(path, *program);
  // DT_RPATH comes before LD_LIBRARY_PATH; preloaded libraries come before both.
  if (program->rpath.empty()) return look;
  for (const std::string& needed : program->needed) {
    if (needed.rfind("libcudart.so.", 0) != 0 && needed.rfind("libcuda.so.", 0) != 0) continue;
    const std::string own = libraries + "/" + needed;
    if (fs::exists(own, ignored)) look.preload.push_back(own);
  }
  return look;
}

Result<std::string> library_directory() {
  std::error_code failed;
  const fs::path tool = fs::read_symlink("/proc/self/exe", failed);
  if (failed) return Error{"the place of the tool itself is unknown", "/proc/self/exe"};
  for (const char* folder :
       {"lib/sluice", "lib", "lib64/sluice", "lib/x86_64-linux-gnu/sluice", "lib/aarch64-linux-gnu/sluice"}) {
    const fs::path candidate = tool.parent_path().parent_path() / folder;
    if (fs::exists(candidate / kEngine, failed)) return candidate.string();
  }
  return Error{fmt::format("{} was not found in ../lib of the tool", kEngine), tool.string()};
}

}  // namespace sluice::cli
