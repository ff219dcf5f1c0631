# SPDX-License-Identifier: Apache-2.0
vcpkg_download_distfile(archive
  URLS "https://github.com/patchfold/patchfold/releases/download/v${VERSION}/patchfold-${VERSION}-tree.tar.gz"
  FILENAME "patchfold-${VERSION}-tree.tar.gz"
  SHA512 00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

vcpkg_check_features(OUT_FEATURE_OPTIONS features
  FEATURES
    tbb PATCHFOLD_WITH_TBB
    tools PATCHFOLD_BUILD_CLI
    tools PATCHFOLD_WITH_PICTURES
    tools PATCHFOLD_WITH_TIFF
)
vcpkg_cmake_configure(
  SOURCE_PATH "${source}"
  OPTIONS ${features} -DPATCHFOLD_BUILD_TESTS=OFF -DPATCHFOLD_BUILD_EXAMPLES=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/patchfold)
vcpkg_fixup_pkgconfig()
vcpkg_copy_pdbs()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES patchfold AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
     "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
