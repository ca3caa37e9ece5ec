// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the parity cases for the recorder, and brings the recorder's answer into the form that the test
// reads.
//
//   parity_pack write FOLDER [--rejected FILE] [--recorded DATA]
//                                           modules (module_NN.ptx), inputs.bin, manifest.txt; the names in
//                                           FILE and the cases that DATA has are left out
//   parity_pack merge FOLDER RECORDED DATA  adds to DATA what the recorder wrote for FOLDER, and drops what
//   is no case
//                                           any more
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "cases.hpp"
#include "record_file.hpp"

namespace {

using namespace sluice;
using parity::Case;

void write_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  if (!out) {
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
    std::exit(1);
  }
}

/// Recorded results by name.
using Records = std::map<std::string, parity::Recorded>;

Records read_records(const std::string& path) {
  std::vector<parity::Recorded> list;
  if (!parity::load_records(path, list)) {
    std::fprintf(stderr, "cannot read %s\n", path.c_str());
    std::exit(1);
  }
  Records records;
  for (parity::Recorded& r : list) records.emplace(r.name, std::move(r));
  return records;
}

bool is_recorded(const Records& records, const Case& c) {
  const auto found = records.find(c.name);
  return found != records.end() && found->second.fingerprint == parity::fingerprint(c);
}

int write_pack(const std::string& folder, const std::string& rejected_file, const std::string& data) {
  std::set<std::string> rejected;
  std::ifstream in(rejected_file);
  for (std::string line; std::getline(in, line);) rejected.insert(line);
  const Records records = data.empty() ? Records{} : read_records(data);
  const std::vector<Case> cases = parity::all_cases();
  std::ostringstream manifest;
  std::string inputs;
  size_t out_bytes = 0, kept = 0;
  std::vector<const Case*> all;
  for (const Case& c : cases) all.push_back(&c);
  // A case stays in its module whatever is left out.
  size_t module = 0;
  for (std::vector<const Case*>& members : parity::modules_of(all)) {
    std::erase_if(members,
                  [&](const Case* c) { return rejected.contains(c->name) || is_recorded(records, *c); });
    for (const Case* c : members) {
      char print[32];
      std::snprintf(print, sizeof print, "%016llx", static_cast<unsigned long long>(parity::fingerprint(*c)));
      manifest << module << ' ' << c->entry << ' ' << c->in_stride << ' ' << c->out_stride << ' '
               << inputs.size() << ' ' << print << ' ' << c->name << '\n';
      inputs.append(reinterpret_cast<const char*>(c->inputs.data()), c->inputs.size());
      out_bytes += size_t{c->out_stride} * parity::kThreads;
    }
    kept += members.size();
    const std::string text = parity::module_text(members);
    write_file(folder + "/module_" + std::to_string(module++) + ".ptx", text.data(), text.size());
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
  Records records = std::filesystem::exists(data) ? read_records(data) : Records{};
  size_t added = 0, failed = 0;
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
    ++added;
    records[r.name] = std::move(r);
  }
  std::vector<parity::Recorded> all;
  for (const Case& c : parity::all_cases()) {
    if (is_recorded(records, c)) all.push_back(std::move(records[c.name]));
  }
  if (!parity::save_records(data, all)) {
    std::fprintf(stderr, "cannot write %s\n", data.c_str());
    return 1;
  }
  std::printf("%zu cases added, %zu failed on the GPU, %zu in all\n", added, failed, all.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string command = argc > 1 ? argv[1] : "";
  if (command == "write" && argc >= 3 && argc % 2 == 1) {
    std::map<std::string, std::string> options;
    for (int i = 3; i < argc; i += 2) options[argv[i]] = argv[i + 1];
    return write_pack(argv[2], options["--rejected"], options["--recorded"]);
  }
  if (command == "merge" && argc == 5) return merge(argv[2], argv[3], argv[4]);
  std::fprintf(stderr,
               "usage: parity_pack write FOLDER [--rejected FILE] [--recorded DATA] | merge FOLDER RECORDED "
               "DATA\n");
  return 2;
}
