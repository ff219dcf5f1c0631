# SPDX-License-Identifier: Apache-2.0
class Patchfold < Formula
  desc "Cut arrays into patches and blocks, and put them back"
  homepage "https://github.com/patchfold/patchfold"
  url "https://github.com/patchfold/patchfold/releases/download/v0.1.0/patchfold-0.1.0-tree.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "Apache-2.0"

  depends_on "cli11" => :build
  depends_on "cmake" => :build
  depends_on "help2man" => :build
  depends_on "highway" => :build
  depends_on "ninja" => :build
  depends_on "nlohmann-json" => :build
  depends_on "fmt"
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on "tbb"

  uses_from_macos "zlib"

  def install
    options = %w[
      -DPATCHFOLD_BUILD_EXAMPLES=OFF
      -DPATCHFOLD_BUILD_TESTS=OFF
    ]
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", *options, *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "examples/hello.c", "examples/photo.png"
  end

  test do
    system ENV.cc, pkgshare/"hello.c", "-I#{include}", "-L#{lib}", "-lpatchfold", "-o", "hello"
    system "./hello"
    system bin/"patchfold", "split", pkgshare/"photo.png", "tiles", "--tile", "128", "--overlap", "32"
    system bin/"patchfold", "merge", "tiles", "merged.png"
    assert_path_exists testpath/"merged.png"
  end
end
