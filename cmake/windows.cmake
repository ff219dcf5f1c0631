# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for Windows on x86-64 with Debian's mingw-w64 (section [windows] of scripts/packages.txt). ctest runs the programs
# under Wine, whose own folder lies in the build folder. std::thread needs mingw-w64's variant with POSIX threads.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

# CMake looks for programs on this machine, and for libraries and headers only in the folders for Windows.
set(CMAKE_FIND_ROOT_PATH ${CMAKE_PREFIX_PATH} /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

# The CMake preset `windows` puts programs and libraries into one folder, since Windows looks for a program's libraries beside it.
# The compiler's own libraries are copied there too.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
foreach(library libstdc++-6 libgcc_s_seh-1 libwinpthread-1)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${library}.dll OUTPUT_VARIABLE path
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(CREATE_LINK ${path} ${CMAKE_BINARY_DIR}/bin/${library}.dll SYMBOLIC)
endforeach()
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_COMMAND};-E;env;WINEPREFIX=${CMAKE_BINARY_DIR}/wine;WINEDEBUG=-all;
    ${CMAKE_CURRENT_LIST_DIR}/../scripts/checks/under_wine)
