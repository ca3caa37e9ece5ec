# CUDA programs of this repository. They are built for sm_90a with the shared runtime and embedded PTX, the form that
# both a Hopper GPU and the CPU engine run. Without nvcc they are left out, with a message.
include(CheckLanguage)
set(CMAKE_CUDA_ARCHITECTURES 90a)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  # CMake before 3.26 does not know that nvcc takes C++20.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION AND CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  set(SLUICE_HAVE_CUDA TRUE)
  # The toolkit may lie where the loader does not look (NVIDIA's wheels, say): programs remember where. The run path
  # is of the kind that LD_LIBRARY_PATH precedes.
  find_library(SLUICE_CUDART cudart PATHS ${CMAKE_CUDA_HOST_IMPLICIT_LINK_DIRECTORIES} NO_DEFAULT_PATH REQUIRED)
  get_filename_component(SLUICE_CUDART_DIR ${SLUICE_CUDART} DIRECTORY)
else()
  message(STATUS "sluice: no nvcc found, CUDA programs are not built")
  set(SLUICE_HAVE_CUDA FALSE)
endif()

# sluice_add_cuda_program(NAME SOURCE... [STD 17|20] [OUTPUT_DIR dir] [DEFINES ...] [LIBRARIES ...] [OPTIONS ...])
#
# Adds an executable from .cu files, linked to the header-only library, with line tables and optimisation. There is none
# where LIBRARIES names one of the toolkit, CUDA::NAME, that it does not have (NVIDIA's wheels lack some).
function(sluice_add_cuda_program name)
  cmake_parse_arguments(ARG "" "STD;OUTPUT_DIR" "DEFINES;LIBRARIES;OPTIONS" ${ARGN})
  if(NOT SLUICE_HAVE_CUDA)
    return()
  endif()
  foreach(library ${ARG_LIBRARIES})
    if(library MATCHES "^CUDA::" AND NOT TARGET ${library})
      message(STATUS "sluice: ${name} is not built: this toolkit has no ${library}")
      return()
    endif()
  endforeach()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} sluice)
  target_compile_definitions(${name} PRIVATE ${ARG_DEFINES})
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo -O2 -Xcompiler=-Wall,-Wextra
                                         -Wno-deprecated-gpu-targets> ${ARG_OPTIONS})
  target_link_options(${name} PRIVATE LINKER:--enable-new-dtags)
  set_target_properties(${name} PROPERTIES BUILD_RPATH ${SLUICE_CUDART_DIR})
  if(ARG_STD)
    set_target_properties(${name} PROPERTIES CUDA_STANDARD ${ARG_STD})
  endif()
  if(ARG_OUTPUT_DIR)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${ARG_OUTPUT_DIR})
  endif()
endfunction()

# sluice_add_example(NAME [arguments of sluice_add_cuda_program]): the program lands in build/examples/NAME.
function(sluice_add_example name)
  sluice_add_cuda_program(${name} ${ARGN} OUTPUT_DIR ${CMAKE_BINARY_DIR}/examples)
endfunction()

# sluice_make_edited(SOURCE EDIT OUTPUT): OUTPUT, in the current binary folder, is SOURCE with the hunks of EDIT applied
# (examples/support/edits.py).
function(sluice_make_edited source edit output)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(tool ${PROJECT_SOURCE_DIR}/examples/support/edits.py)
  add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${output}
    COMMAND Python3::Interpreter ${tool} ${CMAKE_CURRENT_SOURCE_DIR}/${source} ${CMAKE_CURRENT_SOURCE_DIR}/${edit}
            ${CMAKE_CURRENT_BINARY_DIR}/${output}
    DEPENDS ${source} ${edit} ${tool}
    COMMENT "Making ${output} from ${source}"
    VERBATIM)
endfunction()
