// SPDX-FileCopyrightText: The sluice authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing of files that people name.
#include "cli/input_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace sluice::cli {
namespace {

constexpr size_t kPiece = size_t{1} << 20;

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  /// False where the system found that the bytes did not get through.
  bool finish() { return close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Error cannot(std::string_view verb, const std::string& path) {
  return {fmt::format("cannot {} '{}': {}", verb, path, std::strerror(errno)), ""};
}

// Reads until `bytes` are there or the file ends; the number read, or nothing.
Result<size_t> read_some(int fd, uint8_t* out, size_t bytes, const std::string& path) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t got = read(fd, out + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot("read", path);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

struct Kind {
  std::string_view start;  ///< of the file
  std::string_view is;
  std::string_view help;
};

using namespace std::string_view_literals;

constexpr Kind kKinds[] = {
    {"\x50\xed\x55\xba"sv, "a fat binary", "take the text out of it with `cuobjdump -ptx` (CUDA toolkit)"},
    {"\x1f\x8b"sv, "compressed by gzip", "unpack it with `gunzip`"},
    {"\x28\xb5\x2f\xfd"sv, "compressed by zstd", "unpack it with `unzstd`"},
    {"\xfd"
     "7zXZ"sv,
     "compressed by xz", "unpack it with `unxz`"},
    {"BZh"sv, "compressed by bzip2", "unpack it with `bunzip2`"},
    {"PK\x03\x04"sv, "a zip archive", "unpack it with `unzip`"},
    {"BC\xc0\xde"sv, "LLVM bitcode", "compile it to text first"},
    {"\xff\xfe"sv, "text in UTF-16", "convert it with `iconv -f UTF-16 -t UTF-8`"},
    {"\xfe\xff"sv, "text in UTF-16", "convert it with `iconv -f UTF-16 -t UTF-8`"},
    {"\xef\xbb\xbf"sv, "text with a byte order mark", "save it as UTF-8 without one"},
};

Error another(const std::string& path, const std::string& wanted, std::string_view is,
              std::string_view help) {
  return {fmt::format("'{}' is not {}: it is {}; {}", path, wanted, is, help), ""};
}

Error elf(const std::string& path, const std::string& wanted, std::string_view bytes) {
  constexpr size_t kMachineAt = 18;
  constexpr uint8_t kCuda = 190;
  const bool is_cubin = bytes.size() > kMachineAt && static_cast<uint8_t>(bytes[kMachineAt]) == kCuda;
  return is_cubin ? another(path, wanted, "machine code for a GPU (cubin)",
                            "the engine executes PTX, which `nvcc -ptx -arch=compute_90a` gives")
                  : another(path, wanted, "an ELF file", "a program is run by `sluice run ./app`");
}

// What the bytes are instead of text.
Result<void> judge(const std::string& path, const std::string& wanted, std::string_view bytes) {
  if (bytes.find_first_not_of(" \t\r\n"sv) == std::string_view::npos)
    return Error{fmt::format("'{}' is empty; {} is wanted", path, wanted), ""};
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return elf(path, wanted, bytes);
  for (const Kind& kind : kKinds) {
    if (bytes.starts_with(kind.start)) return another(path, wanted, kind.is, kind.help);
  }
  // An image's text ends with a zero.
  if (bytes.substr(0, bytes.size() - 1).find('\0') != std::string_view::npos)
    return another(path, wanted, "a file with zero bytes", "text in UTF-8 is wanted");
  if (bytes.find('\r') != std::string_view::npos && bytes.find('\n') == std::string_view::npos)
    return another(path, wanted, "text whose lines end in CR alone", "convert it with `tr '\\r' '\\n'`");
  return {};
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, const std::string& wanted, uint64_t most_bytes) {
  const Descriptor file(path, O_RDONLY);
  if (file.get() < 0) return cannot("read", path);
  std::string text;
  for (;;) {
    const size_t before = text.size();
    text.resize(std::min<uint64_t>(before + std::max(kPiece, before), most_bytes + 1));
    const size_t room = text.size() - before;
    SLUICE_ASSIGN_OR_RETURN(
        const size_t got,
        read_some(file.get(), reinterpret_cast<uint8_t*>(text.data()) + before, room, path));
    text.resize(before + got);
    if (text.size() > most_bytes)
      return Error{fmt::format("'{}' has more than {} bytes, too many for {}", path, most_bytes, wanted), ""};
    if (got < room) break;
  }
  SLUICE_TRY(judge(path, wanted, text));
  return text;
}

Result<void> read_exactly(const std::string& path, std::span<uint8_t> out) {
  const Descriptor file(path, O_RDONLY);
  if (file.get() < 0) return cannot("read", path);
  struct stat facts {};
  if (fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
      static_cast<uint64_t>(facts.st_size) != out.size())
    return Error{fmt::format("'{}' has {} bytes, the buffer {}", path, facts.st_size, out.size()), ""};
  SLUICE_ASSIGN_OR_RETURN(const size_t got, read_some(file.get(), out.data(), out.size(), path));
  if (got != out.size())
    return Error{fmt::format("'{}' has {} bytes, the buffer {}", path, got, out.size()), ""};
  uint8_t more = 0;
  SLUICE_ASSIGN_OR_RETURN(const size_t behind, read_some(file.get(), &more, 1, path));
  if (behind != 0)
    return Error{fmt::format("'{}' has more than the buffer's {} bytes", path, out.size()), ""};
  return {};
}

Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0) return cannot("write", path);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t put = write(file.get(), bytes.data() + done, bytes.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return cannot("write", path);
    done += static_cast<size_t>(put);
  }
  if (!file.finish()) return cannot("write", path);
  return {};
}

}  // namespace sluice::cli
