# SPDX-License-Identifier: Apache-2.0
# Cross-compiles with zig, whose clang comes with the C and C++ libraries of other systems. scripts/checks/cross_zig makes the
# programs that this file names, in the folder PATCHFOLD_ZIG_FOLDER. PATCHFOLD_ZIG_TARGET is zig's name for a system:
# x86_64-linux-musl, aarch64-macos.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PATCHFOLD_ZIG_TARGET PATCHFOLD_ZIG_FOLDER)
set(PATCHFOLD_ZIG_TARGET $ENV{PATCHFOLD_ZIG_TARGET} CACHE STRING "zig's name of the system")
set(PATCHFOLD_ZIG_FOLDER $ENV{PATCHFOLD_ZIG_FOLDER} CACHE PATH "Folder of the programs")
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR "${PATCHFOLD_ZIG_TARGET}")
if(PATCHFOLD_ZIG_TARGET MATCHES macos)
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE -Wl,-force_load,<LIB_ITEM>)
else()
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE -Wl,--whole-archive <LIB_ITEM> -Wl,--no-whole-archive)
  set(CMAKE_EXE_LINKER_FLAGS_INIT -dynamic) # for musl, zig makes static programs by default, which cannot load a library
  set(CMAKE_CROSSCOMPILING_EMULATOR env) # programs run directly: the processor is the same, and the C library is loaded as usual
endif()
set(CMAKE_C_COMPILER ${PATCHFOLD_ZIG_FOLDER}/cc)
set(CMAKE_CXX_COMPILER ${PATCHFOLD_ZIG_FOLDER}/c++)
set(CMAKE_AR ${PATCHFOLD_ZIG_FOLDER}/ar)
set(CMAKE_RANLIB ${PATCHFOLD_ZIG_FOLDER}/ranlib)
# The linker options for whole archives that zig knows; it does not know those of CMake.
set(CMAKE_CXX_LINK_LIBRARY_USING_WHOLE_ARCHIVE_SUPPORTED TRUE)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  # zig turns off features that its baseline lacks, even in functions that ask for AVX-512. clang 18 to 20 need evex512 for vectors
  # of 512 bits.
  set(CMAKE_CXX_FLAGS_INIT "-Xclang -target-feature -Xclang +evex512")
endif()
set(CMAKE_FIND_ROOT_PATH ${CMAKE_PREFIX_PATH})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
