// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators new and delete that know their own blocks.
#include <cstdio>
#include <cstdlib>
#include <new>

namespace {

constexpr size_t kMark = 0x736c756963656d6b;

long long live = 0;

struct Header {
  size_t mark, bytes;
};

void* give(size_t bytes) {
  auto* header = static_cast<Header*>(std::malloc(sizeof(Header) + bytes));
  if (header == nullptr) std::abort();
  *header = {kMark, bytes};
  ++live;
  return header + 1;
}

void take(void* pointer) {
  if (pointer == nullptr) return;
  Header* header = static_cast<Header*>(pointer) - 1;
  if (header->mark != kMark) {
    std::fputs("delete of memory that this program's new did not give\n", stderr);
    std::abort();
  }
  header->mark = 0;
  --live;
  std::free(header);
}

}  // namespace

void* operator new(size_t bytes) {
  return give(bytes);
}
void* operator new[](size_t bytes) {
  return give(bytes);
}
void operator delete(void* pointer) noexcept {
  take(pointer);
}
void operator delete[](void* pointer) noexcept {
  take(pointer);
}
void operator delete(void* pointer, size_t) noexcept {
  take(pointer);
}
void operator delete[](void* pointer, size_t) noexcept {
  take(pointer);
}

/// Blocks that live; those of static objects too.
long long live_blocks() {
  return live;
}
