// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the parity cases for the recorder, and brings the recorder's answer into the form that the test
// reads.
//
//   parity_pack write FOLDER [REJECTED]     modules (module_NN.ptx), inputs.bin, manifest.txt; names in the
//   file
//                                           REJECTED are left out
//   parity_pack merge FOLDER RECORDED DATA  RECORDED is what the recorder wrote for FOLDER
//   parity_pack list                        rows of the table without a case
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "cases.hpp"
#include "record_file.hpp"

namespace {

using namespace sluice;
using parity::Case;

constexpr size_t kPerModule = 100;

void write_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!out) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

int write_pack(const std::string& folder, const char* rejected_file) {
  std::set<std::string> rejected;
  if (rejected_file != nullptr) {
    std::ifstream in(rejected_file);
    for (std::string line; std::getline(in, line);) rejected.insert(line);
  }
  const std::vector<Case> cases = parity::all_cases();
  std::ostringstream manifest;
  std::string inputs;
  size_t out_bytes = 0, kept = 0;
  // A case stays in its module whatever is left out.
  for (size_t first = 0; first < cases.size(); first += kPerModule) {
    std::vector<const Case*> members;
    for (size_t i = first; i < std::min(cases.size(), first + kPerModule); ++i) {
      const Case& c = cases[i];
      if (rejected.contains(c.name)) continue;
      members.push_back(&c);
      char print[32];
      std::snprintf(print, sizeof print, "%016llx", static_cast<unsigned long long>(parity::fingerprint(c)));
      manifest << first / kPerModule << ' ' << c.entry << ' ' << c.in_stride << ' ' << c.out_stride << ' '
               << inputs.size() << ' ' << print << ' ' << c.name << '\n';
      inputs.append(reinterpret_cast<const char*>(c.inputs.data()), c.inputs.size());
      out_bytes += size_t{c.out_stride} * parity::kThreads;
    }
    kept += members.size();
    const std::string text = parity::module_text(members);
    write_file(folder + "/module_" + std::to_string(first / kPerModule) + ".ptx", text.data(), text.size());
  }
  const std::vector<uint8_t> blob = parity::blob();
  write_file(folder + "/blob.bin", blob.data(), blob.size());
  write_file(folder + "/inputs.bin", inputs.data(), inputs.size());
  const std::string text = manifest.str();
  write_file(folder + "/manifest.txt", text.data(), text.size());
  std::printf("%zu cases, %zu bytes of input, %zu bytes of output\n", kept, inputs.size(), out_bytes);
  return 0;
}

int merge(const std::string& folder, const std::string& recorded, const std::string& data) {
  std::ifstream manifest(folder + "/manifest.txt");
  std::ifstream in(recorded, std::ios::binary);
  if (!manifest || !in) {
    std::fprintf(stderr, "cannot read the pack or the recording\n");
    return 1;
  }
  // The recording: for each case of the manifest one status byte and, where it is 0, the output records.
  std::vector<parity::Recorded> all;
  size_t failed = 0;
  for (std::string line; std::getline(manifest, line);) {
    std::istringstream fields(line);
    parity::Recorded r;
    std::string module, entry, print;
    uint32_t in_stride = 0, out_stride = 0;
    size_t offset = 0;
    fields >> module >> entry >> in_stride >> out_stride >> offset >> print;
    fields.get();
    std::getline(fields, r.name);
    r.fingerprint = std::stoull(print, nullptr, 16);
    const int status = in.get();
    if (status == EOF) {
      std::fprintf(stderr, "the recording ends before %s\n", r.name.c_str());
      return 1;
    }
    if (status != 0) {
      std::printf("status %d: %s\n", status, r.name.c_str());
      ++failed;
      continue;
    }
    r.outputs.resize(size_t{out_stride} * parity::kThreads);
    in.read(reinterpret_cast<char*>(r.outputs.data()), static_cast<std::streamsize>(r.outputs.size()));
    all.push_back(std::move(r));
  }
  if (!parity::save_records(data, all)) {
    std::fprintf(stderr, "cannot write %s\n", data.c_str());
    return 1;
  }
  std::printf("%zu cases recorded, %zu failed on the GPU\n", all.size(), failed);
  return 0;
}

int list() {
  for (const uint16_t id : parity::rows_without_case(parity::all_cases())) {
    const ptx::Form& form = ptx::form(id);
    std::cout << form.name << "  " << ptx::spelling(form.opcode) << "  " << ptx::spelling(form.family)
              << '\n';
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "write" && argc >= 3) return write_pack(argv[2], argc > 3 ? argv[3] : nullptr);
  if (command == "merge" && argc == 5) return merge(argv[2], argv[3], argv[4]);
  if (command == "list") return list();
  std::fprintf(stderr, "usage: parity_pack write FOLDER [REJECTED] | merge FOLDER RECORDED DATA | list\n");
  return 2;
}
