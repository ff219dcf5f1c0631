# SPDX-License-Identifier: Apache-2.0
# Installs, as the component `python`, the parts of a wheel that all versions of Python share; python/ adds the module. In a build
# without scikit-build-core, these parts, and the library that the module links, go to a folder for cmake/wheel_parts.cmake.
set(scripts "${SKBUILD_SCRIPTS_DIR}")
if(NOT scripts)
  set(scripts scripts)
  install(TARGETS patchfold_static patchfold_explain ARCHIVE DESTINATION library COMPONENT python)
endif()

if(PATCHFOLD_BUILD_CLI)
  # Installs the program itself; pip would install a Python script that starts it.
  install(TARGETS patchfold_cli RUNTIME DESTINATION ${scripts} COMPONENT python)
endif()

if(PATCHFOLD_BUILD_ONNXRUNTIME)
  set_target_properties(patchfold_onnxruntime PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS patchfold_onnxruntime LIBRARY DESTINATION patchfold/lib COMPONENT python)
  # The sources that patchfold.openvino.extension() compiles for the OpenVINO that the user has.
  install(DIRECTORY plugins/common plugins/openvino DESTINATION patchfold/lib/source/plugins COMPONENT python)
  foreach(header patchfold.h pictures.h tiling.h export.hpp version.hpp)
    install(FILES include/patchfold/${header} DESTINATION patchfold/lib/source/patchfold COMPONENT python)
  endforeach()
endif()

if(TARGET patchfold_device_shared)
  set_target_properties(patchfold_device_shared PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS patchfold_device_shared LIBRARY DESTINATION patchfold/lib COMPONENT python NAMELINK_SKIP)
  # pyproject.toml lists the targets of every system; not all systems have this one.
  add_dependencies(patchfold_cli patchfold_device_shared)
endif()

# Libraries have their sonames as the names of their files, since a wheel cannot hold links.
foreach(library patchfold_shared patchfold_device_shared)
  if(TARGET ${library} AND (PATCHFOLD_BUILD_ONNXRUNTIME OR TARGET patchfold_device_shared))
    get_target_property(abi ${library} SOVERSION)
    set_target_properties(${library} PROPERTIES VERSION ${abi})
  endif()
endforeach()
if(PATCHFOLD_BUILD_ONNXRUNTIME OR TARGET patchfold_device_shared)
  install(TARGETS patchfold_shared LIBRARY DESTINATION patchfold/lib COMPONENT python NAMELINK_SKIP)
endif()

if(PATCHFOLD_BUILD_TENSORFLOW)
  install(TARGETS patchfold_tensorflow LIBRARY DESTINATION patchfold/lib COMPONENT python)
endif()
