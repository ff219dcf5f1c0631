# SPDX-License-Identifier: Apache-2.0
# Makes `target` the library for programs that include only patchfold.h. Unlike the C++ target it requires no C++ standard, so a
# project in C++17 keeps its standard.
function(patchfold_c target library)
  set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES $<LINK_ONLY:${library}>)
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS LINK_OPTIONS)
    set_property(TARGET ${target} PROPERTY INTERFACE_${property} $<TARGET_PROPERTY:${library},INTERFACE_${property}>)
  endforeach()
endfunction()
