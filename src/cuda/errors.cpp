// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of error codes.
#include "cuda/errors.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace sluice::cuda {
namespace {

struct ErrorRow {
  int code;
  const char* runtime_name;
  const char* driver_name;
  const char* text;
};

constexpr ErrorRow kRows[] = {
#define SLUICE_CUDA_ERROR(code, runtime_name, driver_name, text) {code, runtime_name, driver_name, text},
#include "cuda/errors.def"
#undef SLUICE_CUDA_ERROR
};

const ErrorRow* find_row(int code) {
  const auto row = std::lower_bound(std::begin(kRows), std::end(kRows), code,
                                    [](const ErrorRow& r, int value) { return r.code < value; });
  return row != std::end(kRows) && row->code == code ? row : nullptr;
}

const char* or_null(const char* text) {
  return *text == '\0' ? nullptr : text;
}

}  // namespace

CUresult to_driver(Status status) {
  switch (status) {
    case cudaErrorInvalidSymbol:
      return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
      return CUDA_ERROR_INVALID_HANDLE;
    case cudaErrorMissingConfiguration:
      return CUDA_ERROR_INVALID_VALUE;
    default:
      break;
  }
  const ErrorRow* row = find_row(status);
  // The rest of the runtime's own codes name a wrong argument.
  if (row == nullptr || *row->driver_name == '\0') return CUDA_ERROR_INVALID_VALUE;
  return static_cast<CUresult>(status);
}

const char* runtime_error_name(int code) {
  const ErrorRow* row = find_row(code);
  return row == nullptr ? nullptr : or_null(row->runtime_name);
}

const char* driver_error_name(int code) {
  const ErrorRow* row = find_row(code);
  return row == nullptr ? nullptr : or_null(row->driver_name);
}

const char* error_text(int code) {
  const ErrorRow* row = find_row(code);
  return row == nullptr ? nullptr : or_null(row->text);
}

}  // namespace sluice::cuda
