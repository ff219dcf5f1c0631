# SPDX-License-Identifier: Apache-2.0
# Installs headers, libraries, and the files for find_package and pkg-config.
include(CMakePackageConfigHelpers)

set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/patchfold)
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# version.hpp says which parts the library holds.
file(READ ${PROJECT_SOURCE_DIR}/include/patchfold/version.hpp version_header)
set(left_out PATTERN version.hpp EXCLUDE)
foreach(part EXPLAIN TILING)
  if(NOT PATCHFOLD_WITH_${part})
    string(TOLOWER ${part} headers)
    list(APPEND left_out PATTERN ${headers}.h* EXCLUDE)
    string(REPLACE "PATCHFOLD_WITH_${part} 1" "PATCHFOLD_WITH_${part} 0" version_header "${version_header}")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/version.hpp CONTENT "${version_header}" @ONLY)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/patchfold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${left_out})
install(FILES ${PROJECT_BINARY_DIR}/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/patchfold)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
get_target_property(default patchfold::patchfold ALIASED_TARGET)
foreach(kind ${PATCHFOLD_KINDS})
  if(default STREQUAL patchfold_${kind})
    # Exports the C target too: exported libraries of an enclosing project may link it.
    install(TARGETS patchfold_c EXPORT patchfold-${kind})
  endif()
  install(TARGETS patchfold_${kind} EXPORT patchfold-${kind} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(kind STREQUAL static AND PATCHFOLD_WITH_EXPLAIN)
    install(TARGETS patchfold_explain EXPORT patchfold-static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
  install(EXPORT patchfold-${kind} NAMESPACE patchfold:: DESTINATION ${config_folder})
endforeach()

# The libraries of the C++ runtime, which a C compiler does not link by itself.
set(cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_ITEM cxx_runtime ${CMAKE_C_IMPLICIT_LINK_LIBRARIES})
list(REMOVE_DUPLICATES cxx_runtime)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/patchfold-config.cmake.in
                              ${PROJECT_BINARY_DIR}/patchfold-config.cmake INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/patchfold-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/patchfold-config.cmake ${PROJECT_BINARY_DIR}/patchfold-config-version.cmake
        ${CMAKE_CURRENT_LIST_DIR}/patchfold-c.cmake DESTINATION ${config_folder})

# pkg-config: patchfold.pc names the shared library; with --static it adds the libraries that the archive needs. Where both are
# installed, linkers take the shared library for -lpatchfold, so patchfold-static.pc names the file of the archive.
# patchfold-explain.pc adds explanations to either archive.
# The path is relative to the .pc file, so that the installed tree may be moved.
file(RELATIVE_PATH path_to_prefix /${pkgconfig_folder} /)
list(TRANSFORM cxx_runtime PREPEND -l OUTPUT_VARIABLE static_libs)
list(APPEND static_libs ${CMAKE_THREAD_LIBS_INIT})
if(PATCHFOLD_WITH_TBB)
  list(APPEND static_libs -ltbb)
endif()
get_target_property(static_options patchfold_static INTERFACE_LINK_OPTIONS)
if(static_options)
  string(REPLACE "LINKER:" "${CMAKE_C_LINKER_WRAPPER_FLAG}" static_options "${static_options}")
  list(PREPEND static_libs ${static_options})
endif()
list(JOIN static_libs " " static_libs)
if("shared" IN_LIST PATCHFOLD_KINDS)
  set(pc_cflags "")
  set(pc_libs "-L\${libdir} -lpatchfold")
  set(pc_libs_private "${static_libs}")
else()
  set(pc_cflags "-DPATCHFOLD_STATIC")
  set(pc_libs "-L\${libdir} -lpatchfold ${static_libs}")
  set(pc_libs_private "")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/patchfold.pc.in ${PROJECT_BINARY_DIR}/patchfold.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/patchfold.pc DESTINATION ${pkgconfig_folder})
if("static" IN_LIST PATCHFOLD_KINDS)
  set(pc_cflags "-DPATCHFOLD_STATIC")
  # Some versions of pkg-config do not quote a path with blanks, unless it is part of an option.
  set(archive "\${libdir}/")
  if(UNIX AND NOT APPLE)
    set(archive "-L\${libdir} -l:")
  endif()
  string(APPEND archive "${CMAKE_STATIC_LIBRARY_PREFIX}patchfold")
  set(pc_libs "${archive}${CMAKE_STATIC_LIBRARY_SUFFIX} ${static_libs}")
  set(pc_libs_private "")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/patchfold.pc.in ${PROJECT_BINARY_DIR}/patchfold-static.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/patchfold-static.pc DESTINATION ${pkgconfig_folder})
  if(PATCHFOLD_WITH_EXPLAIN)
    string(PREPEND pc_libs "${archive}_explain${CMAKE_STATIC_LIBRARY_SUFFIX} ")
    configure_file(${CMAKE_CURRENT_LIST_DIR}/patchfold.pc.in ${PROJECT_BINARY_DIR}/patchfold-explain.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/patchfold-explain.pc DESTINATION ${pkgconfig_folder})
  endif()
endif()
