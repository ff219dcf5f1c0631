// SPDX-License-Identifier: Apache-2.0
#include "engine/compiled.hpp"

#include <algorithm>
#include <sstream>

#include "engine/scratch.hpp"
#include "engine/sharing.hpp"
#include "kernels/stream.hpp"
#include "patchfold/plan.hpp"

namespace patchfold::engine {
std::int64_t Compiled::pieces(int threads) const noexcept {
  return piece_count(threads, rows_, bytes_);
}

std::int64_t Compiled::scratch_parts(int threads) const noexcept {
  return scratch_per_piece_ == 0 ? 0 : std::clamp<std::int64_t>(threads, 1, std::min(pieces(threads), ScratchParts::most));
}

std::size_t Compiled::scratch_bytes(int threads) const noexcept {
  const std::int64_t bytes = scratch_parts(threads) * scratch_per_piece_;
  return static_cast<std::size_t>(bytes == 0 ? 0 : bytes + kernels::line_bytes);
}

void Compiled::describe_choices(std::ostream&) const {}

std::string Compiled::describe() const {
  std::ostringstream out;
  out.exceptions(std::ios::badbit);  // otherwise the text would be cut short if memory runs out
  out << "strategy  " << strategy << "\nverb      " << word_of(problem_.verb)
      << (problem_.accumulate ? " onto the output" : "") << "\nelement   " << name_of(problem_.dtype) << ", "
      << problem_.element_size << " bytes\n";
  for (const Dim& dim : problem_.dims)
    out << "dim       extent " << dim.extent << ", src stride " << dim.src_stride << ", dst stride " << dim.dst_stride
        << '\n';
  for (const Window& w : problem_.windows)
    out << "window    extent " << w.extent << ", kernel " << w.kernel << ", positions " << w.positions << ", stride "
        << w.stride << ", dilation " << w.dilation << ", pad begin " << w.pad_begin << ", padding " << word_of(w.mode)
        << "; bytes: image " << w.image_stride << ", tap " << w.tap_stride << ", position " << w.position_stride << '\n';
  describe_choices(out);
  const int threads = default_executor().threads();
  out << "rows      " << rows_ << "\npieces    " << pieces(threads) << " for " << threads << " threads\nbytes     " << bytes_
      << " moved\nscratch   " << scratch_bytes(threads) << " bytes\n";
  return out.str();
}

}  // namespace patchfold::engine
