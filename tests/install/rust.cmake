# SPDX-License-Identifier: Apache-2.0
# Tests the Rust packages with the installed library. Variables: source, work (a folder to use), prefix, libdir, cargo (empty if
# missing).
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
if(NOT cargo)
  message("skipped: this machine has no cargo")
  return()
endif()

file(REMOVE_RECURSE ${work}/tree)
file(COPY ${source}/examples/rust DESTINATION ${work}/tree/examples)
file(COPY ${source}/tests/capi/abi.txt DESTINATION ${work}/tree/tests/capi)
set(ENV{CARGO_HOME} ${work}/home)
set(ENV{CARGO_TARGET_DIR} ${work}/target)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${libdir}/pkgconfig)
set(workspace --manifest-path ${work}/tree/examples/rust/Cargo.toml --offline --quiet)
foreach(kind shared static)
  if(kind STREQUAL "static")
    set(ENV{PATCHFOLD_STATIC} 1)
    set(ENV{LD_LIBRARY_PATH} "")
  else()
    set(ENV{PATCHFOLD_STATIC} 0)
    set(ENV{LD_LIBRARY_PATH} ${prefix}/${libdir})
  endif()
  run(${cargo} test ${workspace})
  run(${cargo} run ${workspace} --example hello)
endforeach()

# Without the library, the build fails with advice.
set(ENV{PKG_CONFIG_PATH} ${work}/nowhere)
set(ENV{PKG_CONFIG_LIBDIR} ${work}/nowhere)
set(ENV{PATCHFOLD_STATIC} 0)
run_to_fail("put the folder of patchfold.pc into PKG_CONFIG_PATH" ${cargo} build ${workspace})
