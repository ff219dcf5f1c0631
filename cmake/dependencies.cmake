# SPDX-License-Identifier: Apache-2.0
# Defines TIFF::TIFF for the libraries that scripts/dependencies has built. libtiff's own package has another name for this target,
# and does not find the libraries that a static libtiff needs.
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(liblzma CONFIG REQUIRED)
find_package(zstd CONFIG REQUIRED)
if(NOT TARGET ZSTD::ZSTD)
  add_library(ZSTD::ZSTD INTERFACE IMPORTED)
  target_link_libraries(ZSTD::ZSTD INTERFACE zstd::libzstd_static)
endif()
find_package(tiff CONFIG REQUIRED)
if(NOT TARGET TIFF::TIFF)
  add_library(TIFF::TIFF INTERFACE IMPORTED)
  target_link_libraries(TIFF::TIFF INTERFACE TIFF::tiff)
endif()
