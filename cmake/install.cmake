# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where: headers, both libraries, and what find_package and pkg-config read.
include(CMakePackageConfigHelpers)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/patchfold)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/patchfold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
foreach(kind static shared)
  install(TARGETS patchfold_${kind} EXPORT patchfold-${kind} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT patchfold-${kind} NAMESPACE patchfold:: DESTINATION ${config_folder})
endforeach()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/patchfold-config.cmake.in
                              ${PROJECT_BINARY_DIR}/patchfold-config.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/patchfold-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/patchfold-config.cmake ${PROJECT_BINARY_DIR}/patchfold-config-version.cmake
        DESTINATION ${config_folder})

set(static_requirements libhwy)
if(PATCHFOLD_WITH_TBB)
  string(APPEND static_requirements " tbb")
endif()
# Relative to the file itself, so that the installed tree may be moved.
file(RELATIVE_PATH path_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/patchfold.pc.in ${PROJECT_BINARY_DIR}/patchfold.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/patchfold.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
