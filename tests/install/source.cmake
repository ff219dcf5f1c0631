# SPDX-License-Identifier: Apache-2.0
# Tests the library's source in other projects, with chosen operators. Variables: source, work (a folder to use), c_compiler,
# cxx_compiler, nm, strip, libdir.
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)
file(REMOVE_RECURSE ${work})

# A repository with the library alone: these folders are all that it needs of the tree.
set(library ${work}/library)
foreach(part CMakeLists.txt LICENSE cmake include src)
  file(COPY ${source}/${part} DESTINATION ${library})
endforeach()
find_program(git git REQUIRED)
set(in_library ${git} -C ${library} -c user.name=install -c user.email=install@example.com -c init.defaultBranch=main)
run(${git} init --quiet --initial-branch=main ${library})
run(${in_library} add --all)
run(${in_library} commit --quiet --message "the library alone")

file(WRITE ${work}/chosen.cmake [[
set(PATCHFOLD_OPERATORS unfold fold CACHE STRING "")
set(PATCHFOLD_ELEMENT_TYPES f32 CACHE STRING "")
set(PATCHFOLD_INSTRUCTION_SETS AVX2 CACHE STRING "")
set(PATCHFOLD_WITH_TBB OFF CACHE BOOL "")
set(CMAKE_UNITY_BUILD ON CACHE BOOL "")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 6 CACHE STRING "")
]])
set(chosen -C ${work}/chosen.cmake -D library=${library} -D CMAKE_BUILD_TYPE=MinSizeRel -D CMAKE_INSTALL_LIBDIR=${libdir})

function(run_programs folder)
  foreach(program ${ARGN} plugin_host explained chosen)
    run(${work}/${folder}/${program})
  endforeach()
endfunction()

# Installs a build, whose files must be `files`, and compiles a program with pkg-config alone.
function(check_installed folder files)
  set(prefix ${work}/${folder}/prefix)
  run(${CMAKE_COMMAND} --install ${work}/${folder} --prefix ${prefix})
  file(GLOB libraries RELATIVE ${prefix}/${libdir} ${prefix}/${libdir}/libpatchfold*)
  if(NOT "${libraries}" STREQUAL "${files}")
    message(FATAL_ERROR "${folder} installed ${libraries}, and not ${files}")
  endif()
  find_program(pkg_config pkg-config REQUIRED)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${libdir}/pkgconfig)
  set(ENV{LD_LIBRARY_PATH} ${prefix}/${libdir})
  execute_process(COMMAND ${pkg_config} --cflags --libs patchfold OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${c_compiler} ${CMAKE_CURRENT_LIST_DIR}/samples/chosen.c -o ${work}/${folder}/by_pkg_config ${flags})
  run(${work}/${folder}/by_pkg_config)
  if(files STREQUAL "libpatchfold.a")
    execute_process(COMMAND ${pkg_config} --static --cflags --libs patchfold-static OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run(${c_compiler} -static ${CMAKE_CURRENT_LIST_DIR}/samples/chosen.c -o ${work}/${folder}/all_static ${flags})
    run(${work}/${folder}/all_static)
  endif()
  # A package of this project links the library, and others find both.
  build(exported ${folder}_exported -D CMAKE_PREFIX_PATH=${prefix})
  foreach(name patchfold c)
    run(${work}/${folder}_exported/host_${name})
  endforeach()
  # Explanations and tilings are left out of the library and of its headers.
  list(GET files 0 library)
  execute_process(COMMAND ${nm} ${prefix}/${libdir}/${library} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  if(symbols MATCHES "explaining|7explain|explain_svg" OR NOT symbols MATCHES "pf_explain")
    message(FATAL_ERROR "${library} holds more of explanations than pf_explain, which refuses them")
  endif()
  if(symbols MATCHES "[^ \n]*(pf_tiling|pf_merge|pf_box|6tiling|6Tiling|6Merger|5blend)[^ \n]*")
    message(FATAL_ERROR "${library} holds ${CMAKE_MATCH_0}, which no operator needs")
  endif()
  # Explanations and tilings stay left out even if the headers of a whole patchfold follow on the include path.
  set(paths -I ${prefix}/include -I ${source}/include)
  file(WRITE ${work}/headers.cpp "#include <patchfold/patchfold.hpp>\n")
  run(${cxx_compiler} -std=c++20 -fsyntax-only -I ${prefix}/include ${work}/headers.cpp)
  foreach(name explain Tiling)
    file(WRITE ${work}/${name}.cpp "#include <patchfold/patchfold.hpp>\nusing patchfold::${name};\n")
    run_to_fail("${name}" ${cxx_compiler} -std=c++20 -fsyntax-only ${paths} ${work}/${name}.cpp)
  endforeach()
  file(WRITE ${work}/tiling.c "#include <patchfold/patchfold.h>\npf_tiling* tiling;\n")
  run_to_fail("pf_tiling" ${c_compiler} -fsyntax-only ${paths} ${work}/tiling.c)
endfunction()

# Builds both libraries, of which patchfold::patchfold is the static one.
build(embedded subdirectory -D how=subdirectory ${chosen})
run_programs(subdirectory hello_patchfold hello_static hello_shared)
check_exports(${work}/subdirectory/libplugin.so plugin_meeting)
print_size(${work}/subdirectory/chosen 600000)

# Builds the shared library alone.
build(embedded subdirectory -D BUILD_SHARED_LIBS=ON -D PATCHFOLD_INSTALL=ON ${chosen})
run_programs(subdirectory hello_patchfold hello_shared)
check_installed(subdirectory "libpatchfold.so;libpatchfold.so.0.1;libpatchfold.so.0.1.0")

# Builds the static library alone. Its objects hide their functions, so the linker needs no option.
build(embedded fetch -D how=fetch -D BUILD_SHARED_LIBS=OFF -D PATCHFOLD_INSTALL=ON ${chosen})
run_programs(fetch hello_patchfold hello_static)
check_exports(${work}/fetch/libplugin.so plugin_meeting)
check_installed(fetch libpatchfold.a)
set(prefix ${work}/fetch/prefix)
run(${c_compiler} -shared -fPIC -I ${prefix}/include ${CMAKE_CURRENT_LIST_DIR}/samples/plugin.c -o ${work}/libplugin.so
    ${prefix}/${libdir}/libpatchfold.a -lstdc++)
execute_process(COMMAND ${nm} -D --defined-only ${work}/libplugin.so OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
if(symbols MATCHES " T (pf_|_ZN)" OR NOT symbols MATCHES " T plugin_meeting")
  message(FATAL_ERROR "without a linker's option, functions of the library are exported: ${symbols}")
endif()

# A wrong choice stops the configuration with an error.
set(configure ${CMAKE_COMMAND} --fresh -S ${library} -B ${work}/wrong -G Ninja -D CMAKE_C_COMPILER=${c_compiler}
              -D CMAKE_CXX_COMPILER=${cxx_compiler} -D PATCHFOLD_BUILD_TESTS=OFF -D PATCHFOLD_BUILD_CLI=OFF
              -D PATCHFOLD_BUILD_EXAMPLES=OFF -D PATCHFOLD_WITH_TBB=OFF)
foreach(wrong "PATCHFOLD_OPERATORS=foldd:there is no operator foldd" "PATCHFOLD_ELEMENT_TYPES=f33:there is no type f33"
              "PATCHFOLD_OPERATORS=onnx.SpaceToDepth-99:there is no operator onnx.SpaceToDepth-99"
              "PATCHFOLD_INSTRUCTION_SETS=AVX4:there is no AVX4"
              "PATCHFOLD_WITH_TILING=OFF:WITH_EXPLAIN=ON needs PATCHFOLD_WITH_TILING=ON"
              "PATCHFOLD_WITH_TBB=MAYBE:PATCHFOLD_WITH_TBB=MAYBE: must be ON or OFF"
              "PATCHFOLD_INSTALL=AUTO:PATCHFOLD_INSTALL=AUTO: must be ON or OFF"
              "BUILD_SHARED_LIBS=static:BUILD_SHARED_LIBS=static: must be ON or OFF"
              "CMAKE_BUILD_TYPE=Fast:choose Release, RelWithDebInfo, MinSizeRel or Debug")
  string(REGEX MATCH "([^:]*):(.*)" wrong "${wrong}")
  run_to_fail("${CMAKE_MATCH_2}" ${configure} -D ${CMAKE_MATCH_1})
endforeach()
# A name with a version stands for all versions, as the name without one does.
run(${configure} -D "PATCHFOLD_OPERATORS=onnx.SpaceToDepth-13\;torch.fold\;onnx.DepthToSpace-28")
file(STRINGS ${work}/wrong/src/generated/tensor/chosen.hpp names REGEX " operators{")
if(NOT names MATCHES "\"onnx.SpaceToDepth\", \"torch.fold\", \"onnx.DepthToSpace\"")
  message(FATAL_ERROR "the chosen operators are ${names}")
endif()
# Without a build type the library is optimised.
file(READ ${work}/wrong/compile_commands.json commands)
if(NOT commands MATCHES "-O3 -DNDEBUG")
  message(FATAL_ERROR "a build without CMAKE_BUILD_TYPE is not optimised")
endif()

# If a package that the whole tree needs is missing, the error must be the line to type.
foreach(missing TBB:libtbb-dev:PATCHFOLD_WITH_TBB PNG:libpng-dev:PATCHFOLD_WITH_PICTURES TIFF:libtiff-dev:PATCHFOLD_WITH_TIFF
                CLI11:libcli11-dev:PATCHFOLD_BUILD_CLI)
  string(REGEX MATCH "(.*):(.*):(.*)" missing ${missing})
  run_to_fail("apt-get install ${CMAKE_MATCH_2}, or build without it: -D${CMAKE_MATCH_3}=OFF" ${CMAKE_COMMAND} --fresh -S ${source}
              -B ${work}/missing -G Ninja -D CMAKE_DISABLE_FIND_PACKAGE_${CMAKE_MATCH_1}=ON -D CMAKE_C_COMPILER=${c_compiler}
              -D CMAKE_CXX_COMPILER=${cxx_compiler} -D PATCHFOLD_BUILD_TESTS=OFF)
endforeach()
message("embedded as source, with all kinds of linking, built and run")
