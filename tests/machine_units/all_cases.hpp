// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Every experiment of this folder. Seeds depend on names alone, so that cases may be added anywhere and a
// recording of the others stays true.
#pragma once

#include "bulk_cases.hpp"
#include "bulk_copy_cases.hpp"
#include "hardware_case.hpp"
#include "map_cases.hpp"
#include "mbarrier_cases.hpp"
#include "remote_cases.hpp"
#include "tensor_cases.hpp"
#include "tensor_limits.hpp"
#include "wgmma_cases.hpp"

namespace sluice::hardware {

inline std::vector<Case> all_cases() {
  std::vector<Case> cases;
  add_barrier_cases(cases);
  add_bulk_cases(cases);
  add_tile_loads(cases);
  add_interleaved_copies(cases);
  add_im2col_loads(cases);
  add_im2col_layouts(cases);
  add_special_singles(cases);
  add_tensor_stores(cases);
  add_wgmma_numbers(cases);
  add_wgmma_probes(cases);
  add_wgmma_addresses(cases);
  add_wgmma_sparse(cases);
  add_map_cases(cases);
  add_wgmma_small_operands(cases);
  add_wgmma_tiny_products(cases);
  add_bulk_copies(cases);
  add_bulk_limits(cases);
  add_tensor_limits(cases);
  add_barrier_faults(cases);
  add_remote_cases(cases);
  return cases;
}

}  // namespace sluice::hardware
