# Cross build of engine and tools for 64-bit Arm Linux, with Debian's g++-aarch64-linux-gnu; qemu-user runs the tests.
#
# Where the libraries of src/ are not installed for arm64, SLUICE_AARCH64_ROOT names a folder into which their packages
# were unpacked (dpkg -x). Programs for a GPU are not built: they need NVIDIA's toolkit for the target.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CUDA_COMPILER "")

# Debian keeps the libraries of a foreign architecture, and CMake's files for them, in a folder named after it.
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(SLUICE_AARCH64_ROOT "" CACHE PATH "Folder with unpacked arm64 packages (optional)")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SLUICE_AARCH64_ROOT)
if(SLUICE_AARCH64_ROOT)
  list(PREPEND CMAKE_PREFIX_PATH ${SLUICE_AARCH64_ROOT}/usr)
  set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${SLUICE_AARCH64_ROOT}/usr/include)
endif()

find_program(SLUICE_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(SLUICE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SLUICE_QEMU} -L /usr/aarch64-linux-gnu)
endif()
