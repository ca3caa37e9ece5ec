# Compares the PTX of two builds of both_ways.cu: without a recorder there must be no clock, no look at other lanes and
# nothing written, with one there must be.
cmake_minimum_required(VERSION 3.24)
set(tokens "clock64" "globaltimer" "lanemask_lt" "activemask" "smid" "[.]v4" "atom")
foreach(build UNTRACED TRACED)
  foreach(token ${tokens})
    file(STRINGS ${${build}} lines REGEX "${token}")
    list(LENGTH lines found)
    message(STATUS "${build}: ${found} lines with ${token}")
    if((build STREQUAL "UNTRACED" AND found) OR (build STREQUAL "TRACED" AND NOT found))
      message(FATAL_ERROR "an untraced build must hold none, a traced one some")
    endif()
  endforeach()
endforeach()
