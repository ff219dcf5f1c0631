# SPDX-License-Identifier: Apache-2.0
# Included by the build of scripts/checks/mutate. A seeded bug recompiles its own file only, and warnings about it are no errors.
foreach(target patchfold_objects patchfold_small patchfold_explain_objects patchfold_formats patchfold_program _core patchfold_onnxruntime)
  cmake_language(EVAL CODE "
    cmake_language(DEFER CALL set_target_properties ${target} PROPERTIES UNITY_BUILD OFF)
    cmake_language(DEFER CALL set_property TARGET ${target} APPEND PROPERTY COMPILE_OPTIONS -Wno-error)")
endforeach()
