# SPDX-License-Identifier: Apache-2.0
# The installed library in projects of others. Variables: build (a built tree), source, work (a folder of ours), c_compiler,
# cxx_compiler, libdir, nm, strip, with_tbb.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

file(REMOVE_RECURSE ${work})
set(prefix ${work}/first)
run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})

# What was installed must work from any place.
file(RENAME ${prefix} ${work}/prefix)
set(prefix ${work}/prefix)
set(lib ${prefix}/${libdir})
set(ENV{LD_LIBRARY_PATH} ${lib})
set(kinds "")
foreach(pair shared:libpatchfold.so static:libpatchfold.a)
  string(REGEX MATCH "(.*):(.*)" pair ${pair})
  if(EXISTS ${lib}/${CMAKE_MATCH_2})
    list(APPEND kinds ${CMAKE_MATCH_1})
  endif()
endforeach()
if("shared" IN_LIST kinds)
  print_size(${lib}/libpatchfold.so 0)
  check_own_exports(${lib}/libpatchfold.so)
endif()

# find_package, from C++ and C: both libraries, then the shared one where its dependencies cannot be found, then C alone.
function(consume folder kinds)
  string(REPLACE ";" "," list "${kinds}")
  build(consumer ${folder} -D CMAKE_PREFIX_PATH=${prefix} -D kinds=${list} ${ARGN})
  foreach(kind ${kinds})
    foreach(program hello hello_c no_exceptions)
      run(${work}/${folder}/${program}_${kind})
    endforeach()
  endforeach()
  run(${work}/${folder}/cpp17)
endfunction()
consume(both "${kinds}")
if("shared" IN_LIST kinds)
  consume(shared_alone shared -D CMAKE_DISABLE_FIND_PACKAGE_TBB=ON)
endif()

string(REPLACE ";" "," list "${kinds}")
build(c_only c_only -D CMAKE_PREFIX_PATH=${prefix} -D kinds=${list})
foreach(kind patchfold ${kinds})
  run(${work}/c_only/hello_${kind})
endforeach()

# A library of somebody else, of which the static one is a part, exports nothing of ours.
if("static" IN_LIST kinds)
  run(${work}/c_only/plugin_host)
  check_exports(${work}/c_only/libplugin.so plugin_meeting)
  print_size(${work}/c_only/hello_static 0)
  if(with_tbb)
    run_to_fail("static library needs oneTBB" ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/no_tbb -G Ninja
                -D CMAKE_C_COMPILER=${c_compiler} -D CMAKE_CXX_COMPILER=${cxx_compiler} -D CMAKE_PREFIX_PATH=${prefix}
                -D examples=${source}/examples -D kinds=static -D CMAKE_DISABLE_FIND_PACKAGE_TBB=ON)
  endif()
endif()

# pkg-config, from C and C++: one line each for the shared library, for the archive, and for what --static gives a linker that is
# told to take archives.
find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${lib}/pkgconfig)
function(compile_with_flags name)
  execute_process(COMMAND ${pkg_config} --cflags --libs ${ARGN} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  if("--static" IN_LIST ARGN)
    list(TRANSFORM flags REPLACE "^-lpatchfold$" "-l:libpatchfold.a")
  endif()
  run(${c_compiler} -std=c99 -Wall -Wextra -Werror ${source}/examples/hello.c -o ${work}/${name}_c ${flags})
  run(${work}/${name}_c)
  run(${cxx_compiler} -std=c++20 -Wall -Wextra -Werror ${source}/examples/hello.cpp -o ${work}/${name} ${flags})
  run(${work}/${name})
endfunction()
compile_with_flags(pkg_default patchfold)
if("static" IN_LIST kinds)
  compile_with_flags(pkg_static --static patchfold)
  compile_with_flags(pkg_archive patchfold-static)
endif()

if(EXISTS ${prefix}/bin/patchfold)
  run(${prefix}/bin/patchfold ops)
  # Completions lie where they are looked for, as the program prints them, and so do manual pages if there was help2man.
  if(EXISTS ${build}/cli/share/man)
    foreach(page patchfold patchfold-split)
      run(${CMAKE_COMMAND} -E compare_files ${build}/cli/share/man/man1/${page}.1 ${prefix}/share/man/man1/${page}.1)
    endforeach()
  endif()
  foreach(page "completion bash=share/bash-completion/completions/patchfold"
               "completion zsh=share/zsh/site-functions/_patchfold"
               "completion fish=share/fish/vendor_completions.d/patchfold.fish")
    string(REGEX MATCH "^(.*)=(.*)$" found "${page}")
    set(words ${CMAKE_MATCH_1})
    set(path ${prefix}/${CMAKE_MATCH_2})
    separate_arguments(words)
    execute_process(COMMAND ${prefix}/bin/patchfold ${words} OUTPUT_FILE ${work}/page COMMAND_ERROR_IS_FATAL ANY)
    run(${CMAKE_COMMAND} -E compare_files ${work}/page ${path})
  endforeach()
endif()
message("installed, found by find_package and pkg-config, built and run")
