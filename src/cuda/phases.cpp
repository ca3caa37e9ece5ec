// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The records of `--phases`.
#include "cuda/phases.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "cuda/settings.hpp"
#include "event/places.hpp"

namespace sluice::cuda {

void append_phases(const std::string& file, uint64_t launch, const std::string& kernel,
                   const machine::LaunchResult& result) {
  nlohmann::json mbarriers = nlohmann::json::array();
  for (const machine::MbarrierRecord& record : result.phases) {
    mbarriers.push_back({record.cta, record.offset, record.phases});
  }
  const nlohmann::json line = {{"launch", launch},
                               {"kernel", event::readable(kernel)},
                               {"fault", result.fault.kind != machine::FaultKind::None},
                               {"mbarriers", std::move(mbarriers)}};
  std::ofstream(file, std::ios::app) << line.dump() + "\n";
}

}  // namespace sluice::cuda
