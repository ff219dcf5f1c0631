# SPDX-License-Identifier: Apache-2.0
# The library and the command line: callPackage ./package.nix { }
{
  lib,
  stdenv,
  fetchurl,
  cmake,
  ninja,
  cli11,
  fmt,
  help2man,
  libhwy,
  libjpeg,
  libpng,
  libtiff,
  nlohmann_json,
  onetbb,
  zlib,
}:

stdenv.mkDerivation (finalAttrs: {
  pname = "patchfold";
  version = "0.1.0";

  src = fetchurl {
    url = "https://github.com/patchfold/patchfold/releases/download/v${finalAttrs.version}/patchfold-${finalAttrs.version}-tree.tar.gz";
    sha256 = "0000000000000000000000000000000000000000000000000000000000000000";
  };

  nativeBuildInputs = [
    cmake
    help2man
    ninja
  ];
  buildInputs = [
    cli11
    fmt
    libhwy
    libjpeg
    libpng
    libtiff
    nlohmann_json
    zlib
  ];
  # Users of the static library link oneTBB with it.
  propagatedBuildInputs = [ onetbb ];

  cmakeFlags = [
    (lib.cmakeBool "PATCHFOLD_BUILD_EXAMPLES" false)
    (lib.cmakeBool "PATCHFOLD_BUILD_TESTS" false)
  ];

  doInstallCheck = true;
  installCheckPhase = ''
    runHook preInstallCheck
    $out/bin/patchfold split ../examples/photo.png tiles --tile 128 --overlap 32
    $out/bin/patchfold merge tiles merged.png
    runHook postInstallCheck
  '';

  meta = {
    description = "im2col, col2im, patches, space-to-batch, space-to-depth: exactly as torch, TensorFlow, ONNX, OpenVINO, Keras";
    homepage = "https://github.com/patchfold/patchfold";
    license = lib.licenses.asl20;
    mainProgram = "patchfold";
    platforms = lib.platforms.unix;
  };
})
