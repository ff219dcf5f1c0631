# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for aarch64 with Debian's packages for this architecture (section [aarch64] of scripts/packages.txt). ctest runs
# the programs in an emulator.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
