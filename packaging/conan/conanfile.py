# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir

required_conan_version = ">=2.4"


class PatchfoldConan(ConanFile):
    name = "patchfold"
    version = "0.1.0"
    description = "im2col, col2im, patches, space-to-batch, space-to-depth: exactly as torch, TensorFlow, ONNX, OpenVINO, Keras"
    license = "Apache-2.0"
    url = "https://github.com/patchfold/patchfold"
    homepage = "https://github.com/patchfold/patchfold"
    topics = ("im2col", "col2im", "unfold", "fold", "patches", "space-to-depth", "pixel-shuffle", "space-to-batch")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "with_tbb": [True, False], "tools": [True, False]}
    # A program with two JPEG packages does not link, so libtiff takes the one that patchfold takes.
    default_options = {"shared": False, "fPIC": True, "with_tbb": True, "tools": False, "libtiff/*:jpeg": "libjpeg-turbo"}
    implements = ["auto_shared_fpic"]

    def layout(self):
        cmake_layout(self, src_folder="src")

    def requirements(self):
        # The library needs only the headers of Highway.
        self.requires("highway/[>=1.0.3 <2]", visible=False, libs=False)
        if self.options.with_tbb:
            self.requires("onetbb/[>=2021.8 <2024]")
        if self.options.tools:
            for reference in ("cli11/[>=2.3 <3]", "fmt/[>=9 <13]", "libjpeg-turbo/[>=2.1 <4]", "libpng/[>=1.6 <2]",
                              "libtiff/[>=4.5 <5]", "nlohmann_json/[>=3.11 <4]", "zlib/[>=1.2.13 <2]"):
                self.requires(reference, visible=False)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.compiler == "msvc":
            raise ConanInvalidConfiguration("the library needs GCC or clang; on Windows MinGW")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for option, wanted in (("PATCHFOLD_WITH_TBB", self.options.with_tbb), ("PATCHFOLD_BUILD_CLI", self.options.tools),
                               ("PATCHFOLD_WITH_PICTURES", self.options.tools), ("PATCHFOLD_WITH_TIFF", self.options.tools),
                               ("PATCHFOLD_BUILD_TESTS", False), ("PATCHFOLD_BUILD_EXAMPLES", False)):
            toolchain.cache_variables[option] = bool(wanted)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, str(Path(self.package_folder) / "licenses"))
        # CMakeDeps and PkgConfigDeps write their own files for users of the package.
        for folder in ("cmake", "pkgconfig"):
            rmdir(self, str(Path(self.package_folder) / "lib" / folder))
        rmdir(self, str(Path(self.package_folder) / "share"))

    def package_info(self):
        kind = "shared" if self.options.shared else "static"
        self.cpp_info.libs = ["patchfold"] if self.options.shared else ["patchfold_explain", "patchfold"]
        self.cpp_info.set_property("cmake_file_name", "patchfold")
        self.cpp_info.set_property("cmake_target_name", "patchfold::patchfold")
        self.cpp_info.set_property("cmake_target_aliases", [f"patchfold::{kind}"])
        self.cpp_info.set_property("pkg_config_name", "patchfold")
        if not self.options.shared:
            self.cpp_info.defines = ["PATCHFOLD_STATIC"]
            if self.settings.os in ("Linux", "FreeBSD"):
                self.cpp_info.system_libs = ["m", "pthread"]
