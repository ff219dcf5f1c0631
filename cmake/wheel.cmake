# SPDX-License-Identifier: Apache-2.0
# What a wheel holds that is the same for every Python: the component `python`, to which python/ adds the module. Without
# scikit-build-core it goes to a folder, with the library for the module, from which cmake/wheel_parts.cmake takes it.
set(scripts "${SKBUILD_SCRIPTS_DIR}")
if(NOT scripts)
  set(scripts scripts)
  install(TARGETS patchfold_static patchfold_explain ARCHIVE DESTINATION library COMPONENT python)
endif()

if(PATCHFOLD_BUILD_CLI)
  # The program itself, not a script of Python that starts it.
  install(TARGETS patchfold_cli RUNTIME DESTINATION ${scripts} COMPONENT python)
endif()

if(PATCHFOLD_BUILD_ONNXRUNTIME)
  set_target_properties(patchfold_onnxruntime PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS patchfold_onnxruntime LIBRARY DESTINATION patchfold/lib COMPONENT python)
  # A wheel knows no links: the one name that programs look for.
  get_target_property(abi patchfold_shared SOVERSION)
  set_target_properties(patchfold_shared PROPERTIES VERSION ${abi})
  install(TARGETS patchfold_shared LIBRARY DESTINATION patchfold/lib COMPONENT python NAMELINK_SKIP)
  # What patchfold.openvino.extension() compiles, for the OpenVINO that is there then.
  install(DIRECTORY plugins/common plugins/openvino DESTINATION patchfold/lib/source/plugins COMPONENT python)
  foreach(header patchfold.h tiling.h export.hpp version.hpp)
    install(FILES include/patchfold/${header} DESTINATION patchfold/lib/source/patchfold COMPONENT python)
  endforeach()
endif()

if(PATCHFOLD_BUILD_TENSORFLOW)
  install(TARGETS patchfold_tensorflow LIBRARY DESTINATION patchfold/lib COMPONENT python)
endif()
