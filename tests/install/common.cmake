# SPDX-License-Identifier: Apache-2.0
# Functions that the scripts of this folder share.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    string(REPLACE ";" " " line "${ARGV}")
    message(FATAL_ERROR "exit code ${code}: ${line}")
  endif()
endfunction()

# Runs a command that must fail and print `words`.
function(run_to_fail words)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REPLACE ";" " " line "${ARGN}")
  string(REGEX REPLACE "[ \n]+" " " text "${out}") # CMake breaks lines
  string(FIND "${text}" "${words}" at)
  if(code EQUAL 0 OR at LESS 0)
    message(FATAL_ERROR "did not fail with \"${words}\": ${line}\n${out}")
  endif()
endfunction()

# Prints the size of a file without symbols; stops if it is over `most` bytes (0: any size).
function(print_size file most)
  get_filename_component(name ${file} NAME)
  run(${strip} -o ${work}/stripped ${file})
  file(SIZE ${work}/stripped bytes)
  math(EXPR kilobytes "${bytes} / 1000")
  message("size: ${name}, stripped: ${kilobytes} KB")
  if(most GREATER 0 AND bytes GREATER most)
    message(FATAL_ERROR "${file} must have at most ${most} bytes, and has ${bytes}")
  endif()
endfunction()

# Configures and builds a project of this folder.
function(build project folder)
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${project} -B ${work}/${folder} -G Ninja
      -D CMAKE_BUILD_TYPE=Release -D CMAKE_C_COMPILER=${c_compiler} -D CMAKE_CXX_COMPILER=${cxx_compiler}
      -D examples=${source}/examples ${ARGN})
  run(${CMAKE_COMMAND} --build ${work}/${folder} --parallel 2)
endfunction()

# Stops if a shared library exports other symbols than the ones named.
function(check_exports library)
  execute_process(COMMAND ${nm} -D --defined-only ${library} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^ \n]+\n" symbols "${symbols}")
  list(TRANSFORM symbols STRIP)
  list(SORT symbols)
  if(NOT symbols STREQUAL "${ARGN}")
    message(FATAL_ERROR "${library} must export ${ARGN}, and exports ${symbols}")
  endif()
endfunction()

# Stops if the library exports a name that is not patchfold's own.
function(check_own_exports library)
  execute_process(COMMAND ${nm} -D --defined-only -C ${library} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
  list(FILTER symbols EXCLUDE REGEX " (pf_[a-z0-9_]+|([a-z -]+ (for|to) )?patchfold::.*)$")
  if(symbols)
    list(JOIN symbols "\n" symbols)
    message(FATAL_ERROR "${library} exports names of others:\n${symbols}")
  endif()
endfunction()
