// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Traces of pipelines, recorded inside a kernel on a GPU: who waited for which stage, and when. Opt-in: a
// pipeline or typed ring with Traced as its last template argument writes into the kernel's Recorder; all
// others have no instruction of it. The host reads the buffer and writes the file that `sluice timeline`
// shows. C++17.
#pragma once

#include "sluice/trace/recorder.hpp"
#include "sluice/trace/recording.hpp"
#include "sluice/trace/traced.hpp"
