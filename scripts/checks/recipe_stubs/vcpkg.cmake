# SPDX-License-Identifier: Apache-2.0
# Runs the portfile of packaging/vcpkg without vcpkg: its functions are replaced by plain ones that do the same, on this system's
# libraries. Variables: port (the folder of the port), archive (the source archive), work (an empty folder), version, features
# (a list), shared (ON or OFF), build (ON: compiles and installs as well).
cmake_minimum_required(VERSION 3.25)

set(PORT patchfold)
set(VERSION ${version})
set(FEATURES core ${features})
set(CURRENT_PORT_DIR ${port})
set(CURRENT_PACKAGES_DIR ${work}/packages)
set(build_folder ${work}/source/build/vcpkg)

function(run)
  execute_process(COMMAND ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${output}\nthis failed: ${ARGV}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(vcpkg_download_distfile variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FILENAME;SHA512" "URLS")
  file(SHA512 ${archive} found)
  if(NOT found STREQUAL arg_SHA512)
    message(FATAL_ERROR "the SHA-512 of the archive is ${found}, and the port's is ${arg_SHA512}")
  endif()
  if(NOT arg_URLS MATCHES "^https://[^;]*/${arg_FILENAME}$")
    message(FATAL_ERROR "${arg_URLS} does not end with the file's name, ${arg_FILENAME}")
  endif()
  set(${variable} ${archive} PARENT_SCOPE)
endfunction()

function(vcpkg_extract_source_archive variable)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "ARCHIVE" "")
  file(ARCHIVE_EXTRACT INPUT ${arg_ARCHIVE} DESTINATION ${work}/unpacked)
  file(GLOB inside ${work}/unpacked/*)
  list(LENGTH inside count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "the archive has ${count} folders, expected one")
  endif()
  file(RENAME ${inside} ${work}/source)
  set(${variable} ${work}/source PARENT_SCOPE)
endfunction()

function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES")
  set(options "")
  while(arg_FEATURES)
    list(POP_FRONT arg_FEATURES feature option)
    set(value OFF)
    if(feature IN_LIST FEATURES)
      set(value ON)
    endif()
    list(APPEND options -D${option}=${value})
  endwhile()
  set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  run(${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${build_folder} -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=${shared}
      -DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_UNITY_BUILD=ON
      -DCMAKE_UNITY_BUILD_BATCH_SIZE=6 ${arg_OPTIONS})
  if(output MATCHES "not used by the project")
    message(FATAL_ERROR "${output}\nthe port sets a variable that the project does not know")
  endif()
endfunction()

function(vcpkg_cmake_install)
  if(build)
    run(${CMAKE_COMMAND} --build ${build_folder} --target install)
  endif()
endfunction()

# A file or folder that the port names is there after a build.
function(expect name)
  if(build AND NOT EXISTS ${CURRENT_PACKAGES_DIR}/${name})
    message(FATAL_ERROR "the build installed no ${name}")
  endif()
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  expect(${arg_CONFIG_PATH}/${PORT}-config.cmake)
endfunction()

function(vcpkg_fixup_pkgconfig)
  expect(lib/pkgconfig/${PORT}.pc)
endfunction()

function(vcpkg_copy_pdbs)
endfunction()

function(vcpkg_copy_tools)
  cmake_parse_arguments(PARSE_ARGV 0 arg "AUTO_CLEAN" "" "TOOL_NAMES")
  foreach(tool ${arg_TOOL_NAMES})
    expect(bin/${tool})
  endforeach()
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  configure_file(${arg_FILE_LIST} ${CURRENT_PACKAGES_DIR}/share/${PORT}/copyright COPYONLY)
endfunction()

include(${port}/portfile.cmake)
message("vcpkg: features ${FEATURES}, shared ${shared}")
