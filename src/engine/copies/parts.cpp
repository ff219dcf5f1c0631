// SPDX-License-Identifier: Apache-2.0
// The strategy "parts": cuts problems whose windows are whole except at the edges into parts without windows.
//
// An extract has one part with the positions whose windows lie inside the image. Each of the few other positions has a part with
// its taps inside the image, and parts with the taps outside, which are filled. If blocks do not fill the image, or the image crops
// blocks, the parts are the whole blocks and at most one cut block at either end of an axis. In sums and means, elements behind the
// last block are another part, zero or filled.
#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "engine/copies/copies.hpp"
#include "engine/normalise.hpp"
#include "engine/scratch_copy.hpp"
#include "engine/sums/means.hpp"
#include "engine/table.hpp"
#include "engine/window.hpp"

namespace patchfold::engine {
namespace {

/// A plan of the strategy: the plans of the parts. Its rows are the rows of the first part, then those of the next part, and so on.
/// Parts write different elements, so their rows may run in any order.
class Parts final : public Compiled {
 public:
  explicit Parts(const Problem& problem) : Compiled(problem) {}

  void add(std::unique_ptr<Compiled> part) {
    rows_ += part->rows();
    bytes_ += part->bytes();
    scratch_per_piece_ = std::max(scratch_per_piece_, part->scratch_per_piece());
    ends_.push_back(rows_);
    parts_.push_back(std::move(part));
  }

  void run_rows(const std::byte* src, std::byte* dst, std::int64_t first, std::int64_t last,
                std::byte* scratch) const noexcept override {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i < parts_.size(); begin = ends_[i++]) {
      const std::int64_t from = std::max(first, begin), to = std::min(last, ends_[i]);
      if (from < to) parts_[i]->run_rows(src, dst, from - begin, to - begin, scratch);
    }
  }

 private:
  std::vector<std::unique_ptr<Compiled>> parts_{};
  std::vector<std::int64_t> ends_{};
};

/// Positions [position, position + positions) of a window with its taps [tap, tap + taps).
struct Section {
  std::int64_t position = 0, positions = 0, tap = 0, taps = 0;
  bool is_inside = true;  ///< all these taps lie inside the image
};

bool extracts(const Problem& problem) noexcept {
  return problem.verb == Verb::extract;
}

/// Returns the problem with its first window cut to a section.
Problem with_section(Problem problem, const Section& section) {
  Window& w = problem.windows[0];
  w.positions = section.positions;
  w.kernel = section.taps;
  w.pad_begin -= section.position * w.stride + section.tap * w.dilation;
  (extracts(problem) ? problem.dst_offset : problem.src_offset) +=
      section.position * w.position_stride + section.tap * w.tap_stride;
  return problem;
}

/// Returns the problem with its first window replaced by two dims: the positions and taps of a section inside the image.
Problem opened(const Problem& problem, const Section& section) {
  Problem rest = with_section(problem, section);
  const Window w = rest.windows[0];
  rest.windows.erase(0);
  (extracts(problem) ? rest.src_offset : rest.dst_offset) -= w.pad_begin * w.image_stride;
  for (const auto& [extent, image, columns] : {std::tuple{w.positions, w.stride * w.image_stride, w.position_stride},
                                               std::tuple{w.kernel, w.dilation * w.image_stride, w.tap_stride}})
    rest.dims.push_back(extracts(problem) ? Dim{extent, image, columns} : Dim{extent, columns, image});
  return rest;
}

/// The most border positions whose taps are cut into sections, position by position; more positions stay one section, which is
/// copied row by row.
constexpr std::int64_t most_cut = 3;

std::vector<Section> sections_of_extract(const Window& w) {
  const Inside inside = inside_of(w);
  std::vector<Section> sections;
  const auto add = [&](Section section) {
    if (section.positions > 0 && section.taps > 0) sections.push_back(section);
  };
  const auto add_border = [&](std::int64_t from, std::int64_t end) {
    if (end - from > most_cut) return add({from, end - from, 0, w.kernel, false});
    for (std::int64_t position = from; position < end; ++position) {
      const std::int64_t before = w.pad_begin - position * w.stride;  // coordinates by which the position begins before the image
      const std::int64_t first = std::clamp<std::int64_t>(ceil_div(before, w.dilation), 0, w.kernel);
      const std::int64_t last = std::clamp<std::int64_t>(floor_div(w.extent - 1 + before, w.dilation) + 1, first, w.kernel);
      add({position, 1, 0, first, false});
      add({position, 1, first, last - first});
      add({position, 1, last, w.kernel - last, false});
    }
  };
  add_border(0, inside.from);
  add({inside.from, inside.end - inside.from, 0, w.kernel});
  add_border(inside.end, w.positions);
  return sections;
}

std::vector<Section> sections_of_blocks(const Window& w) {
  // The end of the elements inside the image, counted from the first pad, where the first block begins.
  const std::int64_t end = std::min(w.extent + w.pad_begin, w.positions * w.stride);
  const std::int64_t whole_from = ceil_div(w.pad_begin, w.stride), whole_to = end / w.stride;
  if (whole_from > whole_to)  // the image lies within one block
    return {{whole_to, 1, w.pad_begin - whole_to * w.stride, end - w.pad_begin}};
  const std::int64_t cut = whole_from * w.stride - w.pad_begin;
  std::vector<Section> sections;
  if (cut > 0) sections.push_back({whole_from - 1, 1, w.stride - cut, cut});
  if (whole_to > whole_from) sections.push_back({whole_from, whole_to - whole_from, 0, w.kernel});
  if (end > whole_to * w.stride) sections.push_back({whole_to, 1, 0, end - whole_to * w.stride});
  return sections;
}

/// Adds the plans of all combinations of sections of the remaining windows.
void add_parts(Parts& parts, const Problem& problem) {
  if (problem.windows.empty()) {
    Problem part = problem;
    if (is_mean(problem)) part.verb = Verb::combine_copy;  // a mean of one element is a copy
    return parts.add(plan_normal(merge_dims(drop_single(part))));
  }
  const Window& w = problem.windows[0];
  for (const Section& section : extracts(problem) ? sections_of_extract(w) : sections_of_blocks(w))
    section.is_inside ? add_parts(parts, opened(problem, section)) : parts.add(make_move(with_section(problem, section)));
  const std::int64_t covered = w.positions * w.stride - w.pad_begin;
  if (extracts(problem) || covered >= w.extent) return;
  Problem behind = problem;
  behind.windows[0].positions = 0;
  behind.windows[0].extent = w.extent - covered;
  behind.dst_offset += covered * w.image_stride;
  parts.add(plan_normal(behind));
}

bool are_blocks(const Window& w, bool sums) noexcept {
  return w.kernel == w.stride && (w.dilation == 1 || w.kernel == 1) && w.pad_begin >= 0 &&
         w.pad_begin < w.positions * w.stride && (sums || w.extent + w.pad_begin <= w.positions * w.stride);
}

}  // namespace

bool parts_pay(const Problem& problem) {
  constexpr double least = 64 << 10;  // bytes: planning the parts of an extract takes as long as moving twice this number
  return !extracts(problem) || spanned_bytes(problem) >= least;
}

std::unique_ptr<Compiled> make_parts(const Problem& problem) {
  constexpr int most_windows = 3;  // each window multiplies the number of plans by up to nine
  const bool sums = adds(problem);
  if (problem.windows.empty() || problem.windows.size() > most_windows || (sums && problem.accumulate) || !are_near(problem))
    return nullptr;
  if (extracts(problem) && inside_share(problem) < 0.25) return nullptr;
  const auto is_block = [&](const Window& w) { return are_blocks(w, sums); };
  if (!extracts(problem) && !std::ranges::all_of(problem.windows, is_block)) return nullptr;
  auto parts = std::make_unique<Parts>(problem);
  add_parts(*parts, problem);
  return parts;
}

}  // namespace patchfold::engine
