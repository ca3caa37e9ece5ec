# Tests. Every test is a CTest test; exit code 77 means "skipped, and it said why" (no GPU on this machine, say).
find_package(GTest REQUIRED)
include(GoogleTest)

# sluice_add_test(NAME COMMAND command... [LABELS ...] [TIMEOUT seconds] [DEPENDS fixtures]): one CTest test.
function(sluice_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "COMMAND;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# sluice_add_unit_tests(NAME SOURCE... [LIBRARIES ...]): a GoogleTest binary, each case a CTest test NAME.Suite.case.
function(sluice_add_unit_tests name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} GTest::gtest_main GTest::gmock)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60)
endfunction()

# sluice_add_device_test(NAME TARGET [ARGUMENTS...]): a CUDA program as a test: on the GPU, or under SLUICE_RUNNER.
function(sluice_add_device_test name target)
  separate_arguments(runner UNIX_COMMAND "${SLUICE_RUNNER}")
  sluice_add_test(${name} COMMAND ${runner} $<TARGET_FILE:${target}> ${ARGN} LABELS device)
endfunction()

# sluice_add_engine_checks(TARGET): a program that judges kernels which trap, on the engine. The tool's status tells of the
# traps; what counts is the program's own verdict.
function(sluice_add_engine_checks target)
  if(NOT TARGET sluice-tool OR SLUICE_LIBRARY_TESTS)
    return()
  endif()
  sluice_add_test(${target}_engine COMMAND sluice-tool run -q $<TARGET_FILE:${target}> LABELS engine)
  set_tests_properties(${target}_engine PROPERTIES PASS_REGULAR_EXPRESSION "[1-9][0-9]* cases, 0 failed")
endfunction()
