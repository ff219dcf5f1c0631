# SPDX-License-Identifier: Apache-2.0
# Stops if find_package has not found a package. The message says how to install it on Debian (package `debian`), and which option
# builds without it.
function(patchfold_need name debian option)
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "patchfold needs ${name}: apt-get install ${debian}, or build without it: -D${option}=OFF "
                        "(pip: -C cmake.define.${option}=OFF). `scripts/setup build` installs all that is missing.")
  endif()
endfunction()
