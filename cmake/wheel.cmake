# SPDX-License-Identifier: Apache-2.0
# Installs the parts of a wheel that all versions of Python share, as the component `python`; python/ adds the module. In a build
# without scikit-build-core, the parts and the library for the module go to a folder for cmake/wheel_parts.cmake.
set(scripts "${SKBUILD_SCRIPTS_DIR}")
if(NOT scripts)
  set(scripts scripts)
  install(TARGETS patchfold_static patchfold_explain ARCHIVE DESTINATION library COMPONENT python)
endif()

if(PATCHFOLD_BUILD_CLI)
  # Installs the program itself, instead of a Python script that starts it.
  install(TARGETS patchfold_cli RUNTIME DESTINATION ${scripts} COMPONENT python)
endif()

if(PATCHFOLD_BUILD_ONNXRUNTIME)
  set_target_properties(patchfold_onnxruntime PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS patchfold_onnxruntime LIBRARY DESTINATION patchfold/lib COMPONENT python)
  # Installs the library under its soname alone, since a wheel cannot hold links.
  get_target_property(abi patchfold_shared SOVERSION)
  set_target_properties(patchfold_shared PROPERTIES VERSION ${abi})
  install(TARGETS patchfold_shared LIBRARY DESTINATION patchfold/lib COMPONENT python NAMELINK_SKIP)
  # The sources that patchfold.openvino.extension() compiles for the OpenVINO on the user's machine.
  install(DIRECTORY plugins/common plugins/openvino DESTINATION patchfold/lib/source/plugins COMPONENT python)
  foreach(header patchfold.h tiling.h export.hpp version.hpp)
    install(FILES include/patchfold/${header} DESTINATION patchfold/lib/source/patchfold COMPONENT python)
  endforeach()
endif()

if(PATCHFOLD_BUILD_TENSORFLOW)
  install(TARGETS patchfold_tensorflow LIBRARY DESTINATION patchfold/lib COMPONENT python)
endif()
