# SPDX-License-Identifier: Apache-2.0
# The CMakeLists.txt with which scripts/dependencies builds zlib, since zlib's own CMakeLists.txt needs files that Debian's archive
# leaves out.
cmake_minimum_required(VERSION 3.25)
project(zlib LANGUAGES C)
include(GNUInstallDirs)
file(GLOB sources *.c)
add_library(z STATIC ${sources})
if(UNIX)
  target_compile_definitions(z PRIVATE HAVE_UNISTD_H=1 HAVE_STDARG_H=1)
endif()
install(TARGETS z ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES zlib.h zconf.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
