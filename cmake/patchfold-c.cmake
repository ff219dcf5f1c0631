# SPDX-License-Identifier: Apache-2.0
# Makes `target` the library for programs that include patchfold.h alone: unlike the library itself it asks for no standard of
# C++, so that a project in C++17 stays one.
function(patchfold_c target library)
  set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES $<LINK_ONLY:${library}>)
  foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS LINK_OPTIONS)
    set_property(TARGET ${target} PROPERTY INTERFACE_${property} $<TARGET_PROPERTY:${library},INTERFACE_${property}>)
  endforeach()
endfunction()
