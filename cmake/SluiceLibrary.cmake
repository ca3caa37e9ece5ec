# The installed part: header-only targets `sluice::sluice` (include/) and `sluice::cutlass` (compat/cutlass, which must
# come before CUTLASS's own include directory). They need a CUDA compiler and nothing else.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(sluice INTERFACE)
add_library(sluice::sluice ALIAS sluice)
target_include_directories(sluice INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

add_library(sluice_cutlass INTERFACE)
add_library(sluice::cutlass ALIAS sluice_cutlass)
set_target_properties(sluice_cutlass PROPERTIES EXPORT_NAME cutlass)
target_link_libraries(sluice_cutlass INTERFACE sluice)
target_include_directories(sluice_cutlass BEFORE
                           INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/compat/cutlass>
                                     $<INSTALL_INTERFACE:${CMAKE_INSTALL_DATADIR}/sluice/cutlass>)

if(PROJECT_IS_TOP_LEVEL)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
  install(DIRECTORY include/sluice DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(DIRECTORY compat/cutlass/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sluice/cutlass)
  install(TARGETS sluice sluice_cutlass EXPORT sluiceTargets)
  install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION ${package_dir} FILE sluiceConfig.cmake)
  write_basic_package_version_file(sluiceConfigVersion.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sluiceConfigVersion.cmake DESTINATION ${package_dir})
endif()
