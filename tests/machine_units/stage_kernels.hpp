// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels around one asynchronous copy: a stage of shared memory is prepared, one thread issues the copy, and
// what became of stage, barrier or tensor is written out. Shared by the experiments on tensor copies and on
// plain bulk copies.
#pragma once

#include "hardware_case.hpp"

namespace sluice::hardware {

constexpr uint32_t kStageBytes = 8192;  ///< shared memory that a case looks at
constexpr uint32_t kStageHeader = 16;   ///< what stands before the stage in a load's output

/// What a kernel of this file is made of.
struct StageKernel {
  std::string parameters;  ///< declarations behind `out`, each with a comma before it
  std::string prologue;    ///< loads them; may use the registers below and declare more
  std::string copy;        ///< the instruction, from or to [%tile], with the barrier [%bar]
  uint64_t expected = 0;   ///< loads: bytes that each barrier is told to expect
  /// Loads: sets %v, which word %i of the stage holds before.
  std::string fill = "mov.b32 %v, 0xeeeeeeee;";
};

/// A loop of 128 threads over `words` words of the stage: `body` finds the index in %i, its byte offset in
/// %at.
inline std::string for_words_ptx(const std::string& label, size_t words, const std::string& body) {
  return "mov.u32 %i, %me;\n" + label + ":\nshl.b32 %at, %i, 2;\n" + body +
         "add.u32 %i, %i, 128;\nsetp.lt.u32 %p, %i, " + std::to_string(words) + ";\n@%p bra " + label + ";\n";
}

/// Copies `words` words from the global address in register `from` to the stage.
inline std::string fill_stage_ptx(const std::string& from, size_t words) {
  return for_words_ptx("FILL", words, "cvt.u64.u32 %wide, %at;\nadd.u64 %wide, %wide, " + from + R"(;
add.u32 %at, %at, %base;
ld.global.b32 %v, [%wide];
st.shared.b32 [%at], %v;
)");
}

inline std::string stage_kernel_head(const StageKernel& kernel) {
  return fill_in(R"(.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out$parameters$)
{
.reg .pred %p, %lead;
.reg .b32 %me, %i, %v, %at, %base, %tile, %bar, %rank, %tries, %done;
.reg .b64 %out, %word, %wide;
.shared .align 1024 .b8 stage[$stage$];
.shared .align 8 .b64 bar;
mov.u32 %me, %tid.x;
setp.eq.u32 %lead, %me, 0;
ld.param.u64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.u32 %base, stage;
mov.u32 %bar, bar;
ld.param.u32 %tile, [shared_offset];
add.u32 %tile, %tile, %base;
mov.u32 %rank, %cluster_ctarank;
$prologue$
)",
                 {{"parameters", kernel.parameters},
                  {"stage", std::to_string(kStageBytes)},
                  {"prologue", kernel.prologue}});
}

/// CTA 0 loads once. Each CTA writes out: its barrier's word after the copy has landed, whether expecting the
/// bytes completed the phase, and its stage.
inline std::string stage_load_ptx(const StageKernel& kernel) {
  const std::string text = stage_kernel_head(kernel) + R"(
mul.wide.u32 %wide, %rank, $part$;
add.u64 %out, %out, %wide;
$fill_loop$@!%lead bra READY;
mbarrier.init.shared::cta.b64 [%bar], 1;
fence.mbarrier_init.release.cluster;
READY:
fence.proxy.async;
barrier.cluster.arrive;
barrier.cluster.wait;
@!%lead bra ISSUED;
setp.ne.u32 %p, %rank, 0;
@%p bra ARM;
$copy$
ARM:
mbarrier.arrive.expect_tx.shared::cta.b64 %word, [%bar], $expected$;
ISSUED:
mov.u32 %tries, 0;
TRY:
mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
selp.u32 %done, 1, 0, %p;
add.u32 %tries, %tries, 1;
setp.lt.and.u32 %p, %tries, 100, !%p;
@%p bra TRY;
nanosleep.u32 20000;
barrier.cluster.arrive;
barrier.cluster.wait;
@!%lead bra LOOKED;
mbarrier.inval.shared::cta.b64 [%bar];
membar.cta;
nanosleep.u32 1000;
ld.volatile.shared.b64 %word, [%bar];
st.global.b64 [%out], %word;
st.global.u32 [%out+8], %done;
LOOKED:
$dump_loop$ret;
}
)";
  return fill_in(text, {{"part", std::to_string(kStageHeader + kStageBytes)},
                        {"fill_loop", for_words_ptx("FILL", kStageBytes / 4,
                                                    "add.u32 %at, %at, %base;\n" + kernel.fill +
                                                        "\nst.shared.b32 [%at], %v;\n")},
                        {"dump_loop", for_words_ptx("DUMP", kStageBytes / 4, R"(cvt.u64.u32 %wide, %at;
add.u64 %wide, %wide, %out;
add.u32 %at, %at, %base;
ld.shared.b32 %v, [%at];
st.global.b32 [%wide+$header$], %v;
)")},
                        {"header", std::to_string(kStageHeader)},
                        {"expected", std::to_string(kernel.expected)},
                        {"copy", kernel.copy}});
}

/// Stores once from a stage that holds the bytes of `out`; the host reads back what was written to.
inline std::string stage_store_ptx(const StageKernel& kernel) {
  const std::string text = stage_kernel_head(kernel) + R"(
$fill_loop$fence.proxy.async;
bar.sync 0;
@!%lead bra DONE;
$copy$
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
DONE:
ret;
}
)";
  return fill_in(text, {{"fill_loop", fill_stage_ptx("%out", kStageBytes / 4)}, {"copy", kernel.copy}});
}

}  // namespace sluice::hardware
