# SPDX-License-Identifier: Apache-2.0
# patchfold_highway: Highway's headers, without its library. Only two of the library's functions are needed, which find and store
# the processor's instruction sets; src/kernels/processor.cpp defines both.
#
# All of Highway is put into a namespace of patchfold's, so that a program may contain another Highway of any version.
add_library(patchfold_highway INTERFACE)
# Processors without vectors run plain loops, since Highway's emulated vectors need five times as much code.
target_compile_definitions(patchfold_highway INTERFACE hwy=patchfold_hwy HWY_BROKEN_EMU128=1)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  # SVE is off: kernels keep vectors in arrays, but the size of an SVE vector is known only at run time. g++ 12 also fails on SVE
  # after a precompiled header.
  target_compile_definitions(patchfold_highway INTERFACE "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
endif()

if(MINGW AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC puts vectors of 32 and 64 bytes on the stack, which Windows aligns to 16 bytes only, and moves them by aligned instructions
  # (GCC's bug 54412). This option replaces these by unaligned instructions, which are as fast.
  target_compile_options(patchfold_highway INTERFACE -Wa,-muse-unaligned-vector-move)
endif()

foreach(target hwy::hwy hwy)
  if(TARGET ${target}) # an enclosing project has defined the target
    target_include_directories(patchfold_highway SYSTEM
                               INTERFACE $<TARGET_PROPERTY:${target},INTERFACE_INCLUDE_DIRECTORIES>)
    return()
  endif()
endforeach()
find_path(PATCHFOLD_HIGHWAY_FOLDER hwy/highway.h DOC "Folder that holds hwy/highway.h")
mark_as_advanced(PATCHFOLD_HIGHWAY_FOLDER)
if(NOT PATCHFOLD_HIGHWAY_FOLDER)
  message(FATAL_ERROR "patchfold needs the headers of Highway, 1.0.3 or newer: install libhwy-dev (Debian, Ubuntu) or highway "
                      "(others), or set PATCHFOLD_HIGHWAY_FOLDER to the folder that holds hwy/highway.h")
endif()
target_include_directories(patchfold_highway SYSTEM INTERFACE ${PATCHFOLD_HIGHWAY_FOLDER})
set(version_lines "")
foreach(header highway base) # the version's number is defined in one of these headers, depending on the version
  file(STRINGS ${PATCHFOLD_HIGHWAY_FOLDER}/hwy/${header}.h found REGEX "^#define HWY_(MAJOR|MINOR|PATCH) [0-9]+$")
  list(APPEND version_lines ${found})
endforeach()
list(TRANSFORM version_lines REPLACE ".* ([0-9]+)$" "\\1")
list(JOIN version_lines "." PATCHFOLD_HIGHWAY_VERSION)
