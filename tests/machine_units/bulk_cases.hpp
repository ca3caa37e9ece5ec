// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Experiments on bulk copies that reduce: each operation and type, into global and into shared memory.
#pragma once

#include "hardware_case.hpp"
#include "small_elements.hpp"

namespace sluice::hardware {

constexpr uint32_t kReduceBytes = 256;

/// Source bytes go to shared memory, are reduced into global memory (an output buffer), or into another place
/// of shared memory that is then written out.
inline std::string bulk_reduce_ptx(const std::string& operation, bool into_shared) {
  const std::string into =
      into_shared ? "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." +
                        operation + " [%there], [%base], $bytes$, [%bar];\n"
                  : "cp.reduce.async.bulk.global.shared::cta.bulk_group." + operation +
                        " [%out], [%base], $bytes$;\n";
  return fill_in(
      R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .pred %p, %lead;
.reg .b32 %me, %v, %at, %base, %there, %bar;
.reg .b64 %out, %in, %from, %to, %token;
.shared .align 128 .b8 stage[512];
.shared .align 8 .b64 bar;
mov.u32 %me, %tid.x;
setp.eq.u32 %lead, %me, 0;
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
ld.param.u64 %in, [in];
cvta.to.global.u64 %in, %in;
mov.u32 %base, stage;
add.u32 %there, %base, 256;
mov.u32 %bar, bar;
@%lead mbarrier.init.shared::cta.b64 [%bar], 1;
mul.wide.u32 %from, %me, 4;
add.u64 %to, %from, %out;
add.u64 %from, %from, %in;
shl.b32 %at, %me, 2;
add.u32 %at, %at, %base;
ld.global.b32 %v, [%from];
st.shared.b32 [%at], %v;
ld.global.b32 %v, [%to];
st.shared.b32 [%at+256], %v;
fence.proxy.async;
bar.sync 0;
@!%lead bra ISSUED;
$arm$
$into$
$finish$
ISSUED:
$wait$
ret;
}
)",
      {{"into", into},
       {"arm", into_shared ? "mbarrier.arrive.expect_tx.shared::cta.b64 %token, [%bar], $bytes$;" : ""},
       {"finish", into_shared ? "" : "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"},
       {"wait", into_shared ? "TRY:\nmbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;\n@!%p bra TRY;\n"
                              "ld.shared.b32 %v, [%at+256];\nst.global.b32 [%to], %v;"
                            : ""},
       {"bytes", std::to_string(kReduceBytes)}});
}

inline void add_bulk_cases(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& operation, int type, bool into_shared) {
    Case c;
    c.name = (into_shared ? "bulk_reduce_shared/" : "bulk_reduce/") + operation;
    c.ptx = bulk_reduce_ptx(operation, into_shared);
    c.threads = kReduceBytes / 4;
    const uint64_t seed = seed_of(c.name);
    c.arguments.push_back({Argument::Buffer, c.add_buffer(small_elements(seed, type, kReduceBytes), true)});
    c.arguments.push_back({Argument::Buffer, c.add_buffer(small_elements(seed + 1, type, kReduceBytes))});
    cases.push_back(std::move(c));
  };
  for (const char* op : {"and", "or", "xor"}) {
    add(std::string(op) + ".b32", 0, false);
    add(std::string(op) + ".b64", 0, false);
    add(std::string(op) + ".b32", 0, true);
  }
  for (const char* op : {"inc.u32", "dec.u32"}) {
    add(op, 2, false);
    add(op, 2, true);
  }
  for (const char* type : {"u32", "s32"}) {
    for (const char* op : {"add.", "min.", "max."}) {
      add(op + std::string(type), 2, false);
      add(op + std::string(type), 2, true);
    }
  }
  add("add.u64", 0, false);
  add("add.u64", 0, true);
  for (const char* op : {"min.", "max."}) {
    add(op + std::string("u64"), 0, false);
    add(op + std::string("s64"), 0, false);
    add(op + std::string("f16"), 6, false);
    add(op + std::string("bf16"), 9, false);
  }
  add("add.noftz.f16", 6, false);
  add("add.noftz.bf16", 9, false);
  add("add.f32", 7, false);
  add("add.f64", 8, false);
}

}  // namespace sluice::hardware
