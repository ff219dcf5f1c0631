# SPDX-License-Identifier: Apache-2.0
# Variables: build (a built tree), source, work (a folder of ours), c_compiler, cxx_compiler, libdir.
function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    string(REPLACE ";" " " line "${ARGV}")
    message(FATAL_ERROR "exit code ${code}: ${line}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work})
set(prefix ${work}/first)
run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})

# What was installed must work from any place.
file(RENAME ${prefix} ${work}/prefix)
set(prefix ${work}/prefix)
set(ENV{LD_LIBRARY_PATH} ${prefix}/${libdir})

# find_package, from C++ and C: both libraries, then the shared one where its dependencies cannot be found.
function(consume folder kinds)
  string(REPLACE ";" "\\;" list "${kinds}")
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/${folder} -G Ninja -D CMAKE_PREFIX_PATH=${prefix}
      -D CMAKE_C_COMPILER=${c_compiler} -D CMAKE_CXX_COMPILER=${cxx_compiler} -D examples=${source}/examples
      "-D kinds=${list}" ${ARGN})
  run(${CMAKE_COMMAND} --build ${work}/${folder})
  foreach(kind ${kinds})
    run(${work}/${folder}/hello_${kind})
    run(${work}/${folder}/hello_c_${kind})
  endforeach()
endfunction()
consume(both "shared;static")
consume(shared_alone shared -D CMAKE_DISABLE_FIND_PACKAGE_TBB=ON -D CMAKE_DISABLE_FIND_PACKAGE_hwy=ON)

# pkg-config: the shared library and, by --static, what the static one needs.
find_program(pkg_config pkg-config REQUIRED)
set(ENV{PKG_CONFIG_PATH} ${prefix}/${libdir}/pkgconfig)
foreach(kind shared static)
  set(option)
  if(kind STREQUAL static)
    set(option --static)
  endif()
  execute_process(COMMAND ${pkg_config} ${option} --cflags --libs patchfold
                  OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  if(kind STREQUAL static)
    list(TRANSFORM flags REPLACE "^-lpatchfold$" "-l:libpatchfold.a")
  endif()
  run(${cxx_compiler} -std=c++20 -Wall -Wextra -Werror ${source}/examples/hello.cpp -o ${work}/hello_${kind} ${flags})
  run(${work}/hello_${kind})
endforeach()

if(EXISTS ${prefix}/bin/patchfold)
  run(${prefix}/bin/patchfold ops)
  # Manual pages and completions lie where they are looked for, as the program prints them.
  foreach(page "man split=share/man/man1/patchfold-split.1" "man=share/man/man1/patchfold.1"
               "man operators=share/man/man7/patchfold-operators.7"
               "completion bash=share/bash-completion/completions/patchfold"
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
