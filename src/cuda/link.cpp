// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// One module out of several: functions and variables are appended, every index into a table of the module is
// shifted, and indices of declarations are led to the definition of the same name.
#include "cuda/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace sluice::cuda {
namespace {

using ptx::Linkage;

bool is_public(Linkage linkage) {
  return linkage != Linkage::none;
}

// Entries of one kind (functions or variables) of all modules, with the way from (module, index) to the
// result's index.
template <class T>
class Merged {
 public:
  /// `is_definition(entry)` says whether the entry has a body or storage.
  template <class IsDefinition>
  Result<void> add(size_t module, std::vector<T> entries, IsDefinition is_definition) {
    std::vector<uint32_t>& map = maps_[module];
    for (T& entry : entries) {
      const bool defines = is_definition(entry);
      if (!is_public(entry.linkage)) {
        // Private: a name of its own where another module uses the same one.
        if (!names_.emplace(entry.name, 0).second)
          entry.name = fmt::format("{}__module{}", entry.name, module);
        map.push_back(append(std::move(entry), defines));
        continue;
      }
      const auto known = public_.find(entry.name);
      if (known == public_.end()) {
        names_.emplace(entry.name, 0);
        const std::string name = entry.name;
        public_[name] = append(std::move(entry), defines);
        map.push_back(public_[name]);
        continue;
      }
      map.push_back(known->second);
      if (!defines) continue;
      if (defined_[known->second]) {
        const bool may_repeat = entry.linkage == Linkage::weak || entry.linkage == Linkage::common ||
                                result[known->second].linkage == Linkage::weak;
        if (!may_repeat) return Error{fmt::format("`{}` is defined in two modules", entry.name), ""};
        continue;
      }
      result[known->second] = std::move(entry);
      defined_[known->second] = true;
      origin_[known->second] = module;
    }
    return {};
  }
  void begin(size_t module) {
    maps_.resize(std::max(maps_.size(), module + 1));
    current_ = module;
  }
  uint32_t at(size_t module, uint32_t index) const { return maps_[module][index]; }
  /// The module whose tables the entry's indices still refer to.
  size_t origin(size_t entry) const { return origin_[entry]; }
  bool defined(size_t entry) const { return defined_[entry]; }

  std::vector<T> result;

 private:
  uint32_t append(T entry, bool defines) {
    result.push_back(std::move(entry));
    defined_.push_back(defines);
    origin_.push_back(current_);
    return static_cast<uint32_t>(result.size() - 1);
  }

  size_t current_ = 0;
  std::vector<std::vector<uint32_t>> maps_;
  std::map<std::string, int> names_;
  std::map<std::string, uint32_t> public_;
  std::vector<bool> defined_;
  std::vector<size_t> origin_;
};

/// Where a module's tables begin in the result.
struct Offsets {
  uint32_t files = 0, locations = 0, names = 0, text = 0, lines = 0;
};

void shift(uint32_t& index, uint32_t by) {
  if (index != ptx::kNone) index += by;
}

}  // namespace

Result<ptx::Module> link_modules(std::vector<ptx::Module> modules) {
  if (modules.empty()) return Error{"there is no module to link", ""};
  if (modules.size() == 1) return std::move(modules.front());

  ptx::Module out;
  out.name = modules.front().name;
  out.target = modules.front().target;
  out.address_size = modules.front().address_size;
  Merged<ptx::Function> functions;
  Merged<ptx::Variable> variables;
  std::vector<Offsets> offsets;
  for (size_t m = 0; m < modules.size(); ++m) {
    ptx::Module& module = modules[m];
    offsets.push_back({static_cast<uint32_t>(out.files.size()), static_cast<uint32_t>(out.locations.size()),
                       static_cast<uint32_t>(out.names.size()), static_cast<uint32_t>(out.text.size()),
                       static_cast<uint32_t>(std::count(out.text.begin(), out.text.end(), '\n'))});
    if (std::pair(module.version_major, module.version_minor) >
        std::pair(out.version_major, out.version_minor)) {
      out.version_major = module.version_major;
      out.version_minor = module.version_minor;
    }
    for (ptx::Location location : module.locations) {
      location.file += offsets[m].files;
      shift(location.function_name, offsets[m].names);
      shift(location.inlined_at, offsets[m].locations);
      out.locations.push_back(location);
    }
    out.files.insert(out.files.end(), module.files.begin(), module.files.end());
    out.names.insert(out.names.end(), module.names.begin(), module.names.end());
    out.text += module.text;
    if (!out.text.empty() && out.text.back() != '\n') out.text += '\n';
    functions.begin(m);
    variables.begin(m);
    SLUICE_TRY(
        functions.add(m, std::move(module.functions), [](const ptx::Function& f) { return f.is_defined; }));
    SLUICE_TRY(variables.add(m, std::move(module.variables),
                             [](const ptx::Variable& v) { return v.linkage != Linkage::external; }));
  }

  for (size_t f = 0; f < functions.result.size(); ++f) {
    ptx::Function& function = functions.result[f];
    const size_t m = functions.origin(f);
    for (ptx::Operand& operand : function.operands) {
      if (operand.kind == ptx::Operand::Kind::Function) operand.index = functions.at(m, operand.index);
      if (operand.kind == ptx::Operand::Kind::Variable && operand.is_module)
        operand.index = variables.at(m, operand.index);
    }
    for (ptx::CallTargets& targets : function.call_targets) {
      for (uint32_t& target : targets.functions) target = functions.at(m, target);
    }
    for (ptx::Instruction& instruction : function.code) {
      shift(instruction.loc, offsets[m].locations);
      instruction.line += offsets[m].lines;
      instruction.text_begin += offsets[m].text;
      instruction.text_end += offsets[m].text;
    }
  }
  for (size_t v = 0; v < variables.result.size(); ++v) {
    ptx::Variable& variable = variables.result[v];
    const bool unsized_shared = variable.is_array_unsized && variable.space == ptx::Space::shared;
    if (!variables.defined(v) && !unsized_shared) {
      return Error{fmt::format("the variable `{}` is declared and nowhere defined", variable.name), ""};
    }
    const size_t m = variables.origin(v);
    for (ptx::Relocation& relocation : variable.relocations) {
      relocation.index = relocation.target == ptx::Relocation::Target::Function
                             ? functions.at(m, relocation.index)
                             : variables.at(m, relocation.index);
    }
  }
  out.functions = std::move(functions.result);
  out.variables = std::move(variables.result);
  return out;
}

}  // namespace sluice::cuda
