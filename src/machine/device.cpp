// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Modules, kernels, launches.
#include "machine/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "machine/bind.hpp"
#include "machine/independence.hpp"
#include "machine/payload_watch.hpp"
#include "machine/scopes.hpp"
#include "machine/state.hpp"
#include "machine/tracked.hpp"
#include "machine/watch.hpp"
#include "ptx/origins.hpp"

namespace sluice::machine {
namespace {

using Kind = ptx::Operand::Kind;
using ptx::Space;

/// Functions have addresses in a range of their own, so that a call through a wrong pointer is seen.
constexpr uint64_t kFunctionBase = 0x1300'0000'0000;

bool is_shared(Space space) {
  return space == Space::shared || space == Space::shared_cta;
}

uint64_t round_up(uint64_t value, uint64_t step) {
  return step <= 1 ? value : (value + step - 1) / step * step;
}

uint64_t host_now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

struct Device::LoadedModule {
  ptx::Module ptx;
  std::vector<uint64_t> addresses;                                 ///< by variable; 0 = not in global memory
  std::map<uint32_t, std::unique_ptr<program::Function>> lowered;  ///< by function index
  std::map<uint32_t, std::unique_ptr<Kernel>> kernels;
  std::map<uint32_t, Error> refused;
  std::map<std::string, std::pair<uint32_t, std::string>, std::less<>> registers;
  std::vector<uint64_t> owned;  ///< allocations to release
};

/// Symbols as one kernel sees them: which functions it contains, where its shared variables lie.
class Device::KernelSymbols : public Symbols {
 public:
  KernelSymbols(ModuleId id, const LoadedModule& module) : id_(id), module_(module) {}

  std::map<uint32_t, uint32_t> functions;      ///< module function -> kernel function
  std::map<uint32_t, uint32_t> module_shared;  ///< module variable -> offset
  std::map<std::pair<uint32_t, uint32_t>, uint32_t>
      function_shared;                      ///< (module function, variable) -> offset
  std::map<uint32_t, uint32_t> parameters;  ///< entry's variable -> offset
  uint32_t entry = 0;

  uint64_t global_address(uint32_t variable) const override { return module_.addresses[variable]; }
  uint32_t shared_offset(const program::Function& f, const ptx::Operand& operand) const override {
    if (operand.is_module) {
      const auto found = module_shared.find(operand.index);
      return found == module_shared.end() ? kReservedShared : found->second;
    }
    const auto found = function_shared.find({f.module_index, operand.index});
    return found == function_shared.end() ? kReservedShared : found->second;
  }
  Result<uint32_t> function_index(uint32_t module_function) const override {
    const auto found = functions.find(module_function);
    if (found != functions.end()) return found->second;
    return Error{fmt::format("calls `{}`, which has no code in this module",
                             module_.ptx.functions[module_function].name),
                 {}};
  }
  bool is_entry_parameter(const program::Function& f, uint32_t variable) const override {
    return f.module_index == entry && parameters.contains(variable);
  }
  uint32_t parameter_offset(const program::Function&, uint32_t variable) const override {
    return parameters.at(variable);
  }
  uint64_t function_address(uint32_t module_function) const override {
    return kFunctionBase + (uint64_t{id_} << 32) + (uint64_t{module_function} + 1) * 16;
  }

 private:
  ModuleId id_;
  const LoadedModule& module_;
};

Device::Device(DeviceLimits limits) : limits_(limits), memory_(limits.memory_bytes) {}
Device::~Device() = default;

// --- modules
// --------------------------------------------------------------------------------------------------------------

Result<Device::ModuleId> Device::load(ptx::Module module) {
  const auto id = static_cast<ModuleId>(modules_.size());
  auto loaded = std::make_unique<LoadedModule>();
  loaded->ptx = std::move(module);
  const auto& variables = loaded->ptx.variables;
  loaded->addresses.assign(variables.size(), 0);

  // Place every variable, then fill in initialisers, which may name each other.
  for (size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& v = variables[i];
    if (v.space != Space::global && v.space != Space::const_) continue;
    if (v.linkage == ptx::Linkage::external) {
      return Error{fmt::format("variable `{}` is declared here and defined nowhere", v.name),
                   loaded->ptx.name};
    }
    if (v.size == 0) continue;
    const bool constant = v.space == Space::const_;
    Result<uint64_t> address = memory_.allocate(v.size, std::max<uint64_t>(v.align, 256),
                                                constant       ? AllocationKind::Constant
                                                : v.is_managed ? AllocationKind::Managed
                                                               : AllocationKind::Global,
                                                v.name, false);
    if (!address)
      return Error{fmt::format("variable `{}` of {} bytes: {}", v.name, v.size, address.error().message),
                   loaded->ptx.name};
    loaded->addresses[i] = *address;
    loaded->owned.push_back(*address);
  }
  for (size_t i = 0; i < variables.size(); ++i) {
    const ptx::Variable& v = variables[i];
    if (loaded->addresses[i] == 0 || !v.is_initialised) continue;
    auto* const memory = reinterpret_cast<uint8_t*>(loaded->addresses[i]);
    std::memcpy(memory, v.init.data(), std::min<size_t>(v.init.size(), v.size));
    for (const ptx::Relocation& r : v.relocations) {
      if (r.offset + r.size > v.size) continue;
      uint64_t value = 0;
      if (r.target == ptx::Relocation::Target::Variable) {
        value = loaded->addresses[r.index];
      } else {
        value = kFunctionBase + (uint64_t{id} << 32) + (uint64_t{r.index} + 1) * 16;
      }
      value = (value + static_cast<uint64_t>(r.addend)) >> r.shift;
      std::memcpy(memory + r.offset, &value, r.size);
    }
  }
  modules_.push_back(std::move(loaded));
  return id;
}

void Device::unload(ModuleId module) {
  if (module >= modules_.size() || modules_[module] == nullptr) return;
  for (const uint64_t address : modules_[module]->owned) memory_.release(address);
  for (const auto& [function, kernel] : modules_[module]->kernels) origins_.erase(kernel.get());
  modules_[module].reset();
}

const ptx::Module& Device::module(ModuleId module) const {
  return modules_[module]->ptx;
}

std::optional<ModuleVariable> Device::variable(ModuleId module, std::string_view name) const {
  const LoadedModule& m = *modules_[module];
  for (size_t i = 0; i < m.ptx.variables.size(); ++i) {
    const ptx::Variable& v = m.ptx.variables[i];
    if (v.name == name && m.addresses[i] != 0) {
      return ModuleVariable{m.addresses[i], v.size, v.space == Space::const_};
    }
  }
  return std::nullopt;
}

bool Device::has_kernel(ModuleId module, std::string_view name) const {
  const ptx::Function* found = modules_[module]->ptx.find_function(name);
  return found != nullptr && found->is_entry;
}

void Device::set_registers(ModuleId module, std::string_view kernel, uint32_t registers, std::string source) {
  modules_[module]->registers[std::string(kernel)] = {registers, std::move(source)};
}

Result<const Kernel*> Device::kernel(ModuleId module, std::string_view name) {
  LoadedModule& m = *modules_[module];
  for (uint32_t i = 0; i < m.ptx.functions.size(); ++i) {
    const ptx::Function& f = m.ptx.functions[i];
    if (f.name != name || !f.is_entry || !f.is_defined) continue;
    if (const auto found = m.kernels.find(i); found != m.kernels.end()) return found->second.get();
    if (const auto found = m.refused.find(i); found != m.refused.end()) return found->second;
    Result<std::unique_ptr<Kernel>> made = make_kernel(module, m, i);
    if (!made) {
      m.refused[i] = made.error();
      return made.error();
    }
    const Kernel* raw = made->get();
    m.kernels[i] = std::move(*made);
    return raw;
  }
  return Error{fmt::format("no kernel `{}` in this module", name), m.ptx.name};
}

namespace {

/// Functions that `entry` can reach, itself first. Where it calls through pointers, all whose address is
/// taken.
std::vector<uint32_t> reachable(const ptx::Module& module, uint32_t entry) {
  std::vector<uint32_t> order{entry};
  std::vector<bool> seen(module.functions.size(), false);
  seen[entry] = true;
  const auto add = [&](uint32_t f) {
    if (seen[f] || !module.functions[f].is_defined) return;
    seen[f] = true;
    order.push_back(f);
  };
  bool indirect = false;
  for (size_t at = 0; at < order.size(); ++at) {
    const ptx::Function& f = module.functions[order[at]];
    for (const ptx::Instruction& in : f.code) {
      for (const ptx::Operand& o : f.operands_of(in)) {
        if (o.kind == Kind::Function) add(o.index);
      }
      if (in.op == ptx::Opcode::call && f.operands_of(in)[1].kind == Kind::Register) indirect = true;
    }
    if (at + 1 == order.size() && indirect) {
      indirect = false;
      for (const ptx::Variable& v : module.variables) {
        for (const ptx::Relocation& r : v.relocations) {
          if (r.target == ptx::Relocation::Target::Function) add(r.index);
        }
      }
    }
  }
  return order;
}

uint32_t guess_registers(const ptx::Directives& d, std::string& source) {
  if (d.maxnreg != 0) {
    source = ".maxnreg";
    return d.maxnreg;
  }
  const uint32_t threads = d.reqntid[0] != 0 ? d.reqntid[0] * d.reqntid[1] * d.reqntid[2]
                                             : d.maxntid[0] * d.maxntid[1] * d.maxntid[2];
  if (threads == 0) return 0;
  source = "launch bounds";
  // Each of the multiprocessor's four parts has a quarter of its registers, and a warp lives in one of them.
  const uint32_t warps = (threads + 31) / 32 * std::max(1u, d.minnctapersm);
  const uint32_t warps_of_part = (warps + 3) / 4;
  return std::min(255u, 65536 / 4 / (warps_of_part * 32) / 8 * 8);
}

/// Where payload goes in the function. An error where it certainly steers something.
Result<void> follow_payload(BoundFunction& function) {
  const program::Function& lowered = *function.lowered;
  function.payload = std::make_unique<program::PayloadFlow>(program::find_payload_flow(lowered));
  for (const auto& source : function.payload->sources) {
    if (!source.always || source.steers == program::PayloadFlow::kNone) continue;
    return Error{steering_sentence(lowered, source), place_of(lowered, source.steers)};
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Kernel>> Device::make_kernel(ModuleId id, LoadedModule& module, uint32_t function) {
  const ptx::Function& entry = module.ptx.functions[function];
  auto kernel = std::make_unique<Kernel>();
  kernel->name = entry.name;
  kernel->module = id;
  kernel->directives = entry.directives;

  KernelSymbols symbols(id, module);
  symbols.entry = function;

  // Parameters lie one after the other, aligned.
  uint64_t offset = 0;
  for (const ptx::Param& param : entry.params) {
    if (param.is_reg) return Error{"a kernel parameter in a register", entry.name};
    const ptx::Variable& v = entry.variables[param.index];
    offset = round_up(offset, v.align);
    symbols.parameters[param.index] = static_cast<uint32_t>(offset);
    kernel->parameters.push_back(
        KernelParameter{v.name, static_cast<uint32_t>(offset), static_cast<uint32_t>(v.size), v.align});
    offset += v.size;
  }
  kernel->parameter_bytes = static_cast<uint32_t>(offset);

  // Lower what the kernel can reach.
  const std::vector<uint32_t> order = reachable(module.ptx, function);
  for (uint32_t i = 0; i < order.size(); ++i) symbols.functions[order[i]] = i;
  for (const uint32_t f : order) {
    if (module.lowered.contains(f)) continue;
    Result<program::Function> lowered = program::lower(module.ptx, f);
    if (!lowered) return lowered.error();
    module.lowered[f] = std::make_unique<program::Function>(std::move(*lowered));
  }

  // Shared memory: the variables that this kernel's functions name, static ones first.
  uint64_t shared = kReservedShared;
  uint64_t dynamic_align = 16;
  std::vector<std::pair<bool, std::pair<uint32_t, uint32_t>>> dynamic;  // (module?, (function, variable))
  const auto place = [&](const ptx::Variable& v, bool of_module, uint32_t f, uint32_t index) {
    if (v.is_array_unsized || (v.linkage == ptx::Linkage::external && v.size == 0)) {
      kernel->has_dynamic_shared = true;
      dynamic_align = std::max<uint64_t>(dynamic_align, v.align);
      dynamic.push_back({of_module, {f, index}});
      return;
    }
    shared = round_up(shared, std::max(1u, v.align));
    kernel->shared_symbols.push_back({v.name, static_cast<uint32_t>(shared), v.size});
    if (of_module)
      symbols.module_shared[index] = static_cast<uint32_t>(shared);
    else
      symbols.function_shared[{f, index}] = static_cast<uint32_t>(shared);
    shared += v.size;
  };
  std::vector<bool> placed(module.ptx.variables.size(), false);
  for (const uint32_t f : order) {
    const ptx::Function& source = module.ptx.functions[f];
    for (uint32_t v = 0; v < source.variables.size(); ++v) {
      if (is_shared(source.variables[v].space)) place(source.variables[v], false, f, v);
    }
    const program::Function& lowered = *module.lowered[f];
    for (const ptx::Operand& o : lowered.operands) {
      if (o.kind != Kind::Variable || !o.is_module || placed[o.index]) continue;
      if (!is_shared(module.ptx.variables[o.index].space)) continue;
      placed[o.index] = true;
      place(module.ptx.variables[o.index], true, f, o.index);
    }
  }
  kernel->static_shared = static_cast<uint32_t>(shared - kReservedShared);
  kernel->dynamic_shared_align = static_cast<uint32_t>(dynamic_align);
  const auto dynamic_at = static_cast<uint32_t>(round_up(shared, dynamic_align));
  for (const auto& [of_module, where] : dynamic) {
    const auto& variables = of_module ? module.ptx.variables : module.ptx.functions[where.first].variables;
    kernel->shared_symbols.push_back({variables[where.second].name, dynamic_at, 0});
    if (of_module)
      symbols.module_shared[where.second] = dynamic_at;
    else
      symbols.function_shared[where] = dynamic_at;
  }

  // Bind.
  uint32_t origins = 0;
  const Unsupported unsupported = options_.lazy_unsupported ? Unsupported::WhenReached : Unsupported::Refuse;
  for (const uint32_t f : order) {
    Result<std::unique_ptr<BoundFunction>> bound = bind_function(*module.lowered[f], symbols, unsupported);
    if (!bound) return bound.error();
    (*bound)->first_origin = origins;
    origins += static_cast<uint32_t>((*bound)->code.size());
    kernel->functions.push_back(std::move(*bound));
    if (options_.without_data) SLUICE_TRY(follow_payload(*kernel->functions.back()));
  }
  kernel->dependent_because = shares_global_memory(*kernel);
  kernel->independent = kernel->dependent_because.empty();
  kernel->narrow_scopes = has_narrow_scopes(*kernel);

  if (const auto known = module.registers.find(kernel->name); known != module.registers.end()) {
    kernel->registers = known->second.first;
    kernel->registers_source = known->second.second;
  } else {
    kernel->registers = guess_registers(entry.directives, kernel->registers_source);
  }
  return kernel;
}

// --- launches
// -------------------------------------------------------------------------------------------------------------

uint32_t Device::ctas_per_multiprocessor(const Kernel& kernel, uint32_t threads,
                                         uint32_t dynamic_shared) const {
  const uint32_t warps = (threads + 31) / 32;
  if (warps == 0) return 0;
  uint64_t ctas = limits_.ctas_per_multiprocessor;
  ctas = std::min<uint64_t>(ctas, limits_.threads_per_multiprocessor / (warps * 32));
  const uint64_t shared = round_up(uint64_t{kernel.static_shared} + dynamic_shared + kReservedShared, 128);
  ctas = std::min<uint64_t>(ctas, limits_.shared_per_multiprocessor / shared);
  if (kernel.registers != 0) {
    const uint64_t per_warp = round_up(uint64_t{kernel.registers} * 32, 256);
    ctas = std::min<uint64_t>(ctas, limits_.registers_per_multiprocessor / (per_warp * warps));
  }
  return static_cast<uint32_t>(ctas);
}

uint64_t Device::resident_clusters(const Kernel& kernel, const LaunchRequest& request) const {
  const uint32_t threads = request.block[0] * request.block[1] * request.block[2];
  const uint64_t per_cluster = uint64_t{request.cluster[0]} * request.cluster[1] * request.cluster[2];
  const uint64_t per_sm = ctas_per_multiprocessor(kernel, threads, request.dynamic_shared);
  return per_sm * limits_.multiprocessors / std::max<uint64_t>(1, per_cluster);
}

const event::Origins& Device::origins(const Kernel& kernel) {
  std::unique_ptr<event::Origins>& origins = origins_[&kernel];
  if (origins == nullptr) {
    origins = std::make_unique<event::Origins>(ptx::origins_of(module(kernel.module)));
    origins->shared = kernel.shared_symbols;
    for (const auto& function : kernel.functions) ptx::append_origins(function->lowered->code, *origins);
  }
  return *origins;
}

void Device::tell_begin(const LaunchContext& launch) {
  event::Sink* const sink = launch.listener;
  if (sink == nullptr) return;
  for (const auto& function : launch.kernel->functions) {
    make_watched(*function);
    if (launch.request->options.follow_definedness) make_tracked(*function);
  }
  if ((sink->wants() & event::mask_of(event::Kind::LaunchBegin)) == 0) return;
  const LaunchRequest& request = *launch.request;
  event::LaunchDetails details;
  details.kernel = launch.kernel->name.c_str();
  std::copy(std::begin(request.grid), std::end(request.grid), details.grid);
  std::copy(std::begin(request.block), std::end(request.block), details.block);
  std::copy(std::begin(request.cluster), std::end(request.cluster), details.cluster);
  details.registers = launch.kernel->registers;
  details.registers_source = launch.kernel->registers_source.c_str();
  details.narrow_scopes = launch.kernel->narrow_scopes;
  details.overlaps_previous = request.overlaps_previous;
  details.origins = &origins(*launch.kernel);
  event::Event e;
  e.kind = event::Kind::LaunchBegin;
  e.launch = launch.ordinal;
  e.details = &details;
  sink->receive(e);
}

void Device::tell_end(const LaunchContext& launch) {
  event::Sink* const sink = launch.listener;
  if (sink == nullptr || (sink->wants() & event::mask_of(event::Kind::LaunchEnd)) == 0) return;
  event::Event e;
  e.kind = event::Kind::LaunchEnd;
  e.launch = launch.ordinal;
  e.value = launch.failed() ? 1 : 0;
  sink->receive(e);
}

Result<LaunchResult> Device::launch(const LaunchRequest& request) {
  const Kernel& kernel = *request.kernel;
  LaunchContext context;
  context.device = this;
  context.kernel = &kernel;
  context.request = &request;
  context.listener = request.listener;
  context.ordinal = ++launches_;
  context.threads = request.block[0] * request.block[1] * request.block[2];
  const uint64_t dynamic_at = round_up(uint64_t{kReservedShared} + kernel.static_shared,
                                       kernel.has_dynamic_shared ? kernel.dynamic_shared_align : 16);
  context.dynamic_shared_offset = static_cast<uint32_t>(dynamic_at);
  context.shared_bytes = static_cast<uint32_t>(dynamic_at + request.dynamic_shared);
  context.cluster_ctas = request.cluster[0] * request.cluster[1] * request.cluster[2];
  context.explicit_cluster = request.explicit_cluster;
  context.cluster_count = 1;
  for (int i = 0; i < 3; ++i) {
    context.clusters[i] = request.grid[i] / std::max(1u, request.cluster[i]);
    context.cluster_count *= context.clusters[i];
  }
  if (request.options.no_data) {
    if (kernel.functions[0]->payload == nullptr)
      return Error{"a launch without data of a kernel that was not made for it", kernel.name};
    context.payload = &memory_.payload();
  }
  context.resident_limit = resident_clusters(kernel, request);
  if (context.resident_limit == 0)
    return Error{"one cluster of this launch does not fit on the device", kernel.name};
  if (request.cooperative && context.cluster_count > context.resident_limit) {
    return Error{"a cooperative launch whose CTAs do not all fit on the device together", kernel.name};
  }
  if (request.options.timeout_seconds > 0) {
    context.deadline_ns = host_now_ns() + static_cast<uint64_t>(request.options.timeout_seconds * 1e9);
  }

  // Parameters get a device address of their own: tensor maps among them are read through it.
  const uint64_t parameter_bytes = std::max<uint64_t>(kernel.parameter_bytes, 1);
  Result<uint64_t> parameters = memory_.allocate_parameters(parameter_bytes);
  if (!parameters) return parameters.error();
  context.parameters = *parameters;
  std::copy_n(request.parameters.data(), std::min<size_t>(request.parameters.size(), kernel.parameter_bytes),
              reinterpret_cast<uint8_t*>(*parameters));

  // A cooperative grid has a workspace: its size, then the word that grid barriers count in (zero at first).
  if (request.cooperative) {
    constexpr uint32_t kWorkspaceBytes = 256;
    Result<uint64_t> workspace =
        memory_.allocate(kWorkspaceBytes, 256, AllocationKind::Device, "grid workspace");
    if (!workspace) {
      memory_.release(*parameters);
      return workspace.error();
    }
    context.grid_workspace = *workspace;
    std::memcpy(reinterpret_cast<void*>(*workspace), &kWorkspaceBytes, sizeof kWorkspaceBytes);
    memory_.filled(reinterpret_cast<void*>(*workspace), kWorkspaceBytes);
  }

  tell_begin(context);

  // Several host threads only where nobody can tell.
  uint32_t workers = request.options.workers != 0 ? request.options.workers
                                                  : std::max(1u, std::thread::hardware_concurrency());
  const bool parallel = request.options.parallel && kernel.independent && request.listener == nullptr &&
                        !request.options.no_data && !request.cooperative &&
                        request.options.timing == CopyTiming::Early;
  workers = parallel ? static_cast<uint32_t>(std::min<uint64_t>(workers, context.cluster_count)) : 1;
  std::vector<std::unique_ptr<Worker>> team;
  for (uint32_t i = 0; i < std::max(1u, workers); ++i) team.push_back(std::make_unique<Worker>(context, i));
  std::vector<std::thread> threads;
  // A launch that ends soon is not worth other threads.
  context.call_for_help = [&] {
    for (size_t i = 1; i < team.size(); ++i) threads.emplace_back([&team, i] { team[i]->run(); });
  };
  team[0]->run();
  for (std::thread& thread : threads) thread.join();

  tell_end(context);

  LaunchResult result;
  result.fault = std::move(context.fault);
  result.detail = std::move(context.detail);
  for (const auto& worker : team) {
    const LaunchStatistics& s = worker->statistics();
    result.statistics.warp_instructions += s.warp_instructions;
    result.statistics.thread_instructions += s.thread_instructions;
    result.statistics.copies += s.copies;
    result.statistics.mbarrier_phases += s.mbarrier_phases;
    result.statistics.ctas_run += s.ctas_run;
    result.statistics.ctas_skipped += s.ctas_skipped;
    result.statistics.ctas_added += s.ctas_added;
  }
  team.clear();
  result.phases = std::move(context.phases);
  std::stable_sort(result.phases.begin(), result.phases.end(),
                   [](const MbarrierRecord& a, const MbarrierRecord& b) {
                     return std::pair(a.cta, a.offset) < std::pair(b.cta, b.offset);
                   });
  memory_.release(*parameters);
  if (context.grid_workspace != 0) memory_.release(context.grid_workspace);
  return result;
}

std::string Device::place(const Kernel& kernel, uint32_t function, uint32_t instruction) const {
  return place_of(*kernel.functions[function]->lowered, instruction);
}

std::string place_of(const program::Function& function, uint32_t instruction) {
  if (instruction >= function.code.size()) return function.source->name;
  const ptx::Instruction& in = function.code[instruction];
  if (in.loc == ptx::kNone) return fmt::format("{}:{}", function.module->name, in.line);
  const ptx::Location& location = function.module->locations[in.loc];
  return fmt::format("{}:{}", function.module->files[location.file].path, location.line);
}

}  // namespace sluice::machine
