// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One kernel from a file: memory is made and filled, the kernel launched through the engine's own calls,
// results written.
#include "cli/launch_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "cli/launch_spec.hpp"
#include "cuda/channel.hpp"
#include "cuda/launch.hpp"
#include "cuda/process.hpp"

namespace sluice::cli {
namespace {

constexpr uint64_t kMapBytes = sizeof(machine::TensorMapWords);
constexpr uint64_t kPrintedPerLine = 8;

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string((std::istreambuf_iterator<char>(in)), {});
}

// A uniform number in [0, 1), the same on every machine.
double next_random(uint64_t& state) {
  state += 0x9e3779b97f4a7c15;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

Result<void> fill_buffer(const BufferSpec& buffer, uint8_t* memory) {
  const uint32_t size = size_of(buffer.element);
  switch (buffer.fill) {
    case BufferSpec::Fill::Zeros:
      return {};
    case BufferSpec::Fill::Value:
      for (uint64_t i = 0; i < buffer.count; ++i) store(buffer.element, buffer.values[0], memory + i * size);
      return {};
    case BufferSpec::Fill::Values:
      if (buffer.values.size() > buffer.count)
        return Error{"there are more values than elements", "buffers." + buffer.name};
      for (uint64_t i = 0; i < buffer.values.size(); ++i)
        store(buffer.element, buffer.values[i], memory + i * size);
      return {};
    case BufferSpec::Fill::Random: {
      uint64_t state = buffer.seed;
      for (uint64_t i = 0; i < buffer.count; ++i) {
        double value = buffer.low + (buffer.high - buffer.low) * next_random(state);
        if (buffer.element <= Element::S64) value = std::floor(value);
        store(buffer.element, value, memory + i * size);
      }
      return {};
    }
    case BufferSpec::Fill::File: {
      const auto bytes = read_file(buffer.fill_file);
      if (!bytes) return Error{fmt::format("cannot read '{}'", buffer.fill_file), "buffers." + buffer.name};
      if (bytes->size() != buffer.bytes()) {
        return Error{
            fmt::format("'{}' has {} bytes, the buffer {}", buffer.fill_file, bytes->size(), buffer.bytes()),
            "buffers." + buffer.name};
      }
      std::memcpy(memory, bytes->data(), bytes->size());
      return {};
    }
  }
  return {};
}

void print_buffer(const BufferSpec& buffer, const uint8_t* memory) {
  const uint32_t size = size_of(buffer.element);
  std::string text = fmt::format("{}: {} x {}\n", buffer.name, buffer.count, name_of(buffer.element));
  for (uint64_t i = 0; i < buffer.count; ++i) {
    text += fmt::format("{}{:.9g}", i % kPrintedPerLine == 0 ? "  " : " ",
                        load(buffer.element, memory + i * size));
    if (i % kPrintedPerLine == kPrintedPerLine - 1 || i + 1 == buffer.count) text += '\n';
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// Compares with the file; true if equal within the tolerance.
Result<bool> compare_buffer(const BufferSpec& buffer, const uint8_t* memory) {
  const auto expected = read_file(buffer.output_file);
  if (!expected) return Error{fmt::format("cannot read '{}'", buffer.output_file), "buffers." + buffer.name};
  if (expected->size() != buffer.bytes()) {
    return Error{
        fmt::format("'{}' has {} bytes, the buffer {}", buffer.output_file, expected->size(), buffer.bytes()),
        "buffers." + buffer.name};
  }
  const uint32_t size = size_of(buffer.element);
  uint64_t different = 0, first = 0;
  for (uint64_t i = 0; i < buffer.count; ++i) {
    const uint8_t* own = memory + i * size;
    const char* wanted = expected->data() + i * size;
    if (std::memcmp(own, wanted, size) == 0) continue;
    if (std::abs(load(buffer.element, own) - load(buffer.element, wanted)) <= buffer.tolerance) continue;
    if (different++ == 0) first = i;
  }
  if (different == 0) {
    fmt::print("{}: equal\n", buffer.name);
    return true;
  }
  fmt::print("{}: {} of {} elements differ, the first is [{}]: {:.9g}, expected {:.9g}\n", buffer.name,
             different, buffer.count, first, load(buffer.element, memory + first * size),
             load(buffer.element, expected->data() + first * size));
  return false;
}

/// The launch being made.
class FileLaunch {
 public:
  FileLaunch(cuda::Process& process, const LaunchSpec& spec) : process_(process), spec_(spec) {}

  /// Loads, fills, launches and waits. The error is about the files; a failing launch is `*status`.
  Result<void> run(const std::string& ptx_text, cuda::Status* status);
  /// Prints, writes and compares; false if a comparison failed.
  Result<bool> deliver();

 private:
  Result<cuda::Function*> find_kernel(CUmodule module);
  Result<void> make_buffers();
  Result<std::vector<uint8_t>> argument(const ArgumentSpec& given);
  Result<std::vector<uint8_t>> structure(const std::vector<ArgumentSpec>& members);

  cuda::Process& process_;
  const LaunchSpec& spec_;
  std::map<std::string, uint8_t*> buffers_;
};

Result<cuda::Function*> FileLaunch::find_kernel(CUmodule handle) {
  const cuda::Module* module = process_.code.find_module(handle);
  std::vector<std::string> names;
  for (CUfunction candidate : module->functions) {
    cuda::Function* function = process_.code.find(candidate);
    if (!spec_.kernel.empty() && cuda::kernel_name_matches(spec_.kernel, function->name)) return function;
    names.push_back(function->name);
  }
  if (spec_.kernel.empty() && names.size() == 1) return process_.code.find(module->functions.front());
  return Error{fmt::format("which kernel? the file has {}",
                           names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
               "kernel"};
}

Result<void> FileLaunch::make_buffers() {
  for (const BufferSpec& buffer : spec_.buffers) {
    void* memory = nullptr;
    if (process_.memory.allocate(buffer.bytes(), cuda::Origin::Device, 0, 0, &memory) != cuda::kOk) {
      return Error{"the device has not enough memory", "buffers." + buffer.name};
    }
    buffers_[buffer.name] = static_cast<uint8_t*>(memory);
    SLUICE_TRY(fill_buffer(buffer, buffers_[buffer.name]));
  }
  return {};
}

size_t alignment_of(const ArgumentSpec& member) {
  if (member.kind == ArgumentSpec::Kind::Buffer) return sizeof(void*);
  return member.kind == ArgumentSpec::Kind::TensorMap ? alignof(CUtensorMap) : member.bytes.size();
}

Result<std::vector<uint8_t>> FileLaunch::structure(const std::vector<ArgumentSpec>& members) {
  const auto align = [](size_t size, size_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
  };
  std::vector<uint8_t> bytes;
  size_t widest = 1;
  for (const ArgumentSpec& member : members) {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<uint8_t> value, argument(member));
    const size_t alignment = alignment_of(member);
    bytes.resize(align(bytes.size(), alignment));
    bytes.insert(bytes.end(), value.begin(), value.end());
    widest = std::max(widest, alignment);
  }
  bytes.resize(align(bytes.size(), widest));
  return bytes;
}

Result<std::vector<uint8_t>> FileLaunch::argument(const ArgumentSpec& given) {
  if (given.kind == ArgumentSpec::Kind::Structure) return structure(given.members);
  if (given.kind == ArgumentSpec::Kind::Bytes) return given.bytes;
  if (given.kind == ArgumentSpec::Kind::Buffer) {
    const auto it = buffers_.find(given.name);
    if (it == buffers_.end()) return Error{fmt::format("there is no buffer '{}'", given.name), "arguments"};
    const uint64_t address = reinterpret_cast<uint64_t>(it->second) + given.offset;
    std::vector<uint8_t> bytes(sizeof address);
    std::memcpy(bytes.data(), &address, sizeof address);
    return bytes;
  }
  for (const TensorMapSpec& map : spec_.tensor_maps) {
    if (map.name != given.name) continue;
    const auto it = buffers_.find(map.buffer);
    if (it == buffers_.end())
      return Error{fmt::format("there is no buffer '{}'", map.buffer), "tensor_maps." + map.name};
    machine::TensorMapInfo info = map.info;
    info.address = reinterpret_cast<uint64_t>(it->second) + map.offset;
    const auto words = machine::encode_tensor_map(info);
    if (!words) return Error{words.error().message, "tensor_maps." + map.name};
    std::vector<uint8_t> bytes(kMapBytes);
    std::memcpy(bytes.data(), words->data(), kMapBytes);
    return bytes;
  }
  return Error{fmt::format("there is no tensor map '{}'", given.name), "arguments"};
}

Result<void> FileLaunch::run(const std::string& ptx_text, cuda::Status* status) {
  CUmodule module = nullptr;
  cuda::LoadFailure failure;
  *status = process_.code.load_texts({ptx_text}, 0, &module, &failure);
  if (*status != cuda::kOk) return {};
  SLUICE_ASSIGN_OR_RETURN(cuda::Function * function, find_kernel(module));
  SLUICE_TRY(make_buffers());
  *status = process_.code.prepare(*function);
  if (*status != cuda::kOk) return {};

  std::vector<std::vector<uint8_t>> values;
  for (const ArgumentSpec& given : spec_.arguments) {
    SLUICE_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, argument(given));
    values.push_back(std::move(bytes));
  }
  if (function->kernel != nullptr) {
    const auto& parameters = function->kernel->parameters;
    if (parameters.size() != values.size()) {
      return Error{fmt::format("the kernel has {} parameters, the file {}", parameters.size(), values.size()),
                   "arguments"};
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (parameters[i].bytes == values[i].size()) continue;
      return Error{
          fmt::format("the parameter has {} bytes, the value {}", parameters[i].bytes, values[i].size()),
          fmt::format("arguments[{}]", i)};
    }
  }
  std::vector<void*> pointers;
  for (auto& bytes : values) pointers.push_back(bytes.data());

  // The file may ask for as much shared memory and as large a cluster as the device has.
  function->max_dynamic_shared =
      static_cast<uint32_t>(process_.profile.limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  function->non_portable_cluster = true;
  cuda::LaunchShape shape;
  std::copy(std::begin(spec_.grid), std::end(spec_.grid), shape.grid);
  std::copy(std::begin(spec_.block), std::end(spec_.block), shape.block);
  shape.dynamic_shared = spec_.shared;
  shape.cooperative = spec_.cooperative;
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {spec_.cluster[0], spec_.cluster[1], spec_.cluster[2]};
  if (spec_.cluster[0] != 0) {
    shape.attributes = &cluster;
    shape.attribute_count = 1;
  }
  cuda::KernelCall call;
  *status = cuda::prepare_launch(process_, *function, shape, pointers.data(), nullptr, &call);
  if (*status == cuda::kOk) *status = cuda::run_kernel(process_, call);
  if (*status == cuda::kOk) *status = process_.synchronise();
  return {};
}

Result<bool> FileLaunch::deliver() {
  bool equal = true;
  for (const BufferSpec& buffer : spec_.buffers) {
    const uint8_t* memory = buffers_[buffer.name];
    if (buffer.output == BufferSpec::Output::Print) print_buffer(buffer, memory);
    if (buffer.output == BufferSpec::Output::File) {
      std::ofstream out(buffer.output_file, std::ios::binary);
      out.write(reinterpret_cast<const char*>(memory), static_cast<std::streamsize>(buffer.bytes()));
      if (!out) return Error{fmt::format("cannot write '{}'", buffer.output_file), "buffers." + buffer.name};
    }
    if (buffer.output == BufferSpec::Output::Compare) {
      SLUICE_ASSIGN_OR_RETURN(const bool same, compare_buffer(buffer, memory));
      equal = equal && same;
    }
  }
  return equal;
}

}  // namespace

int run_ptx_file(const std::string& ptx_file, const std::string& spec_file, RunOptions& options,
                 Voice& voice) {
  const auto wrong_file = [&](const Error& error) {
    return usage_error(fmt::format("{}: {}", spec_file, error.text()), "sluice run");
  };
  const auto text = read_file(ptx_file);
  const auto description = read_file(spec_file);
  if (!text) return usage_error(fmt::format("cannot read '{}'", ptx_file), "sluice run");
  if (!description) return usage_error(fmt::format("cannot read '{}'", spec_file), "sluice run");
  const auto spec = parse_launch_spec(*description, std::filesystem::path(spec_file).parent_path().string());
  if (!spec) return wrong_file(spec.error());

  auto reader = cuda::ChannelReader::create();
  if (!reader) return no_report_folder(reader.error().message);
  options.settings.report_directory = reader->directory();
  setenv(cuda::kSettingsVariable, cuda::to_json_text(options.settings).c_str(), 1);
  cuda::Process& process = cuda::Process::get();
  FileLaunch launch(process, *spec);
  cuda::Status status = cuda::kOk;
  const auto ran = launch.run(*text, &status);
  if (!ran) return wrong_file(ran.error());

  Outcome outcome;
  outcome.engine_loaded = true;
  outcome.tally.without_data = options.settings.no_data;
  cuda::Gathered gathered = reader->poll();
  for (report::Diagnostic& diagnostic : gathered.diagnostics)
    take(outcome, std::move(diagnostic), voice, options.loudness());
  for (const std::string& line : gathered.log) voice.say(fmt::format("sluice: {}\n", line));
  if (status != cuda::kOk) {
    const char* name = cuda::runtime_error_name(status);
    const char* what = cuda::error_text(status);
    voice.say(fmt::format("error: the launch failed: {} ({})\n", what != nullptr ? what : "unknown",
                          name != nullptr ? name : "?"));
    outcome.program_status = 1;
  } else {
    const auto delivered = launch.deliver();
    std::fflush(stdout);
    if (!delivered) return wrong_file(delivered.error());
    outcome.program_status = *delivered ? 0 : 1;
  }
  reader->add_counters(outcome.tally);
  return conclude(outcome, options, {ptx_file}, voice);
}

}  // namespace sluice::cli
