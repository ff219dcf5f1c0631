# SPDX-License-Identifier: Apache-2.0
# patchfold_highway: the headers of Highway, without its library. Only two functions, which find and keep the processor's
# instruction sets, would come from the library; src/kernels/processor.cpp defines both.
#
# All of Highway gets a namespace of patchfold's, so that a program may hold another Highway of any version.
add_library(patchfold_highway INTERFACE)
# Processors without vectors run plain loops, since Highway's emulated vectors need five times as much code.
target_compile_definitions(patchfold_highway INTERFACE hwy=patchfold_hwy HWY_BROKEN_EMU128=1)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  # No SVE: kernels keep vectors in arrays, but the size of SVE's vectors is unknown before the run. g++ 12 also fails on SVE
  # after a precompiled header.
  target_compile_definitions(patchfold_highway INTERFACE "HWY_DISABLED_TARGETS=(HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128)")
endif()

if(MINGW AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC puts vectors of 32 and 64 bytes on a stack that Windows aligns to 16 (GCC's bug 54412), and moves them by aligned
  # instructions. The assembler replaces the aligned instructions by unaligned ones, which are as fast.
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
foreach(header highway base) # depending on the version, one of these headers defines the version's number
  file(STRINGS ${PATCHFOLD_HIGHWAY_FOLDER}/hwy/${header}.h found REGEX "^#define HWY_(MAJOR|MINOR|PATCH) [0-9]+$")
  list(APPEND version_lines ${found})
endforeach()
list(TRANSFORM version_lines REPLACE ".* ([0-9]+)$" "\\1")
list(JOIN version_lines "." PATCHFOLD_HIGHWAY_VERSION)
