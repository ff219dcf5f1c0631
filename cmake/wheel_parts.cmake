# SPDX-License-Identifier: Apache-2.0
# Installs, from the folder PATCHFOLD_WHEEL_PARTS, the parts of a wheel that all versions of Python share. A build with
# PATCHFOLD_WHEEL and without the module has put them there (`cmake --install .. --component python`). So the library is compiled
# once for all wheels.
set(library ${PATCHFOLD_WHEEL_PARTS}/library/${CMAKE_STATIC_LIBRARY_PREFIX}patchfold${CMAKE_STATIC_LIBRARY_SUFFIX})
if(NOT SKBUILD OR NOT EXISTS ${library})
  message(FATAL_ERROR "PATCHFOLD_WHEEL_PARTS is for wheels (pip), and names a folder that has ${library}")
endif()
add_library(patchfold_static STATIC IMPORTED)
set_target_properties(patchfold_static PROPERTIES IMPORTED_LOCATION ${library})
target_include_directories(patchfold_static INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(patchfold_static INTERFACE PATCHFOLD_STATIC)
target_compile_features(patchfold_static INTERFACE cxx_std_20)
target_link_libraries(patchfold_static INTERFACE Threads::Threads)
if(PATCHFOLD_WITH_TBB)
  target_link_libraries(patchfold_static INTERFACE TBB::tbb)
endif()
add_library(patchfold_explain STATIC IMPORTED)
cmake_path(REPLACE_FILENAME library ${CMAKE_STATIC_LIBRARY_PREFIX}patchfold_explain${CMAKE_STATIC_LIBRARY_SUFFIX})
set_target_properties(patchfold_explain PROPERTIES IMPORTED_LOCATION ${library})
target_link_libraries(patchfold_explain INTERFACE patchfold_static)
install(DIRECTORY ${PATCHFOLD_WHEEL_PARTS}/patchfold DESTINATION . COMPONENT python USE_SOURCE_PERMISSIONS)
install(DIRECTORY ${PATCHFOLD_WHEEL_PARTS}/scripts/ DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python USE_SOURCE_PERMISSIONS)
