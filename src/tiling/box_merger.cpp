// SPDX-License-Identifier: Apache-2.0
// Merges a box of the output from pieces of results.
#include <algorithm>
#include <utility>
#include <vector>

#include "ops/operands.hpp"
#include "tensor/fail.hpp"
#include "tensor/index.hpp"
#include "tiling/names.hpp"
#include "tiling/rules.hpp"
#include "tiling/run_cells.hpp"

namespace patchfold {

using namespace tiling;

/// What does not depend on the box.
struct BoxMerger::State {
  Tiling tiling;
  MergeSpec spec;  ///< without what the facts hold
  std::shared_ptr<const TileFacts> facts;
};

namespace {

/// A piece that has been checked, and where it lies.
struct TilePlace {
  std::int64_t tile = 0;
  ConstTensorView view{};
  Dims begin{};  ///< its first element in the output, along the tiled axes
};

/// The pieces of one call.
class Pieces {
 public:
  Pieces(const Rules& rules, std::span<const Piece> given, const std::byte* output, const engine::ByteRange& range)
      : rules_(rules) {
    places_.reserve(given.size());
    for (const Piece& piece : given) add(piece, output, range);
    std::sort(places_.begin(), places_.end(), [](const TilePlace& a, const TilePlace& b) { return a.tile < b.tile; });
    for (std::size_t i = 1; i < places_.size(); ++i)
      if (places_[i].tile == places_[i - 1].tile) refuse(places_[i].tile, ErrorCode::value, "must not come twice");
  }

  /// Null if it has not come.
  const TilePlace* find(std::int64_t tile) const {
    const auto found = std::lower_bound(places_.begin(), places_.end(), tile,
                                        [](const TilePlace& place, std::int64_t wanted) { return place.tile < wanted; });
    return found == places_.end() || found->tile != tile ? nullptr : &*found;
  }

 private:
  [[noreturn]] void refuse(std::int64_t tile, ErrorCode code, std::string_view rule, ErrorValue given = {},
                           ErrorValue expected = {}) const {
    fail(code, op_merge, "piece of tile " + tile_text(rules_.cells.tiling(), tile), rule, std::move(given),
         std::move(expected));
  }

  void add(const Piece& piece, const std::byte* output, const engine::ByteRange& output_range) {
    const Tiling& tiling = rules_.cells.tiling();
    const std::int64_t tile = piece.index;
    if (tile < 0 || tile >= tiling.size())
      fail(ErrorCode::value, op_merge, "pieces", "must have indices of tiles", tile,
           tiling.size() == 0 ? "none: there are no tiles" : "0 to " + text(tiling.size() - 1));
    if (rules_.cells.is_masked(tile)) refuse(tile, ErrorCode::value, "must not come: the mask leaves it out");
    if (!rules_.cells.touches(tile)) refuse(tile, ErrorCode::value, "must touch the box");
    TilePlace place{tile, piece.view, {}};
    Dims extents;
    const Dims position = rules_.cells.position_of(tile);
    for (int i = 0; i < position.size(); ++i) {
      const Span part = shared_part(rules_.cells.box()[static_cast<std::size_t>(i)], tiling.span(i, position[i]).write);
      place.begin.push_back(part.begin);
      extents.push_back(part.size());
    }
    const Dims shape = rules_.box(extents);
    const ConstTensorView& view = piece.view;
    if (!(view.shape == shape))
      refuse(tile, ErrorCode::shape, "must be the part of the tile's result that lies in the box", view.shape, shape);
    if (view.dtype != rules_.dtype || static_cast<std::int64_t>(view.element_size) != rules_.element)
      refuse(tile, ErrorCode::dtype, "must have the type of the merge",
             text(view.dtype) + " of " + text(view.element_size) + " bytes",
             text(rules_.dtype) + " of " + text(rules_.element) + " bytes");
    if (view.data == nullptr && element_count(shape) > 0) refuse(tile, ErrorCode::null_data, "has elements, but no data");
    const ops::Sound sound = ops::check_view(op_merge, "piece", view);
    if (engine::overlap(static_cast<const std::byte*>(view.data), sound.range, output, output_range))
      refuse(tile, ErrorCode::overlap, "must not share memory with the output");
    place.view.strides = sound.strides;
    places_.push_back(place);
  }

  const Rules& rules_;
  std::vector<TilePlace> places_{};
};

}  // namespace

BoxMerger::BoxMerger(const Tiling& tiling, const MergeSpec& spec) {
  auto facts = std::make_shared<const TileFacts>(tiling, spec);
  MergeSpec rest = spec;
  rest.window.axes.clear();
  rest.window.array.clear();
  rest.mask.clear();
  Rules(tiling, rest, facts, Box(static_cast<std::size_t>(tiling.output().size())));
  state_ = std::make_shared<const State>(State{tiling, std::move(rest), std::move(facts)});
}

void BoxMerger::merge(const Box& box, std::span<const Piece> given, const TensorView& output, Executor& executor) const {
  check_box(state_->tiling, box);
  const Rules rules(state_->tiling, state_->spec, state_->facts, box);
  rules.check_weights();
  const Dims shape = rules.box(rules.cells.box_extents());
  // Pieces are checked one by one; this one stands for them, so that the output is checked as that of an operator.
  const ConstTensorView like{output.data, shape, Dims::filled(shape.size(), 0), rules.output_dtype,
                             static_cast<std::size_t>(rules.output_element)};
  const ops::Operands operands = ops::check_operands(op_merge, "pieces", like, "output", output, shape);
  if (output.data == nullptr && element_count(shape) > 0)
    fail(ErrorCode::null_data, op_merge, "output", "has elements, but no data");
  const Pieces pieces(rules, given, static_cast<const std::byte*>(output.data), operands.problem.dst_range);
  if (element_count(rules.cells.box_extents()) == 0) return;

  AxisWeights weights(rules);
  std::vector<CellPlan> work;
  std::vector<std::int64_t> missing;
  work.reserve(static_cast<std::size_t>(rules.cells.slabs() * rules.cells.cells_in_slab()));
  for (std::int64_t slab = 0; slab < rules.cells.slabs(); ++slab)
    for (std::int64_t inner = 0; inner < rules.cells.cells_in_slab(); ++inner) {
      const Dims segments = rules.cells.segments_of({slab, inner});
      const Dims begin = rules.first_of(segments);
      Sources sources(shape.size(), static_cast<std::size_t>(rules.cells.contributor_count(segments)));
      rules.cells.each_contributor(segments, [&](std::int64_t tile, const Dims&) {
        const TilePlace* place = pieces.find(tile);
        if (place == nullptr) return missing.push_back(tile);
        const auto* data = static_cast<const std::byte*>(place->view.data);
        for (int i = 0; i < begin.size(); ++i)
          data += (begin[i] - place->begin[i]) * place->view.strides[static_cast<int>(rules.axes[i])];
        sources.push_back(tile, data, place->view.strides);
      });
      if (!missing.empty()) continue;
      auto* to = static_cast<std::byte*>(output.data);
      for (int i = 0; i < begin.size(); ++i)
        to += (begin[i] - box[static_cast<std::size_t>(i)].begin) * operands.dst_strides[static_cast<int>(rules.axes[i])];
      work.emplace_back(rules, weights, segments, std::move(sources), to, operands.dst_strides);
    }
  if (!missing.empty()) {
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    const auto count = static_cast<std::int64_t>(missing.size());
    missing.resize(std::min<std::size_t>(missing.size(), 3));
    fail(ErrorCode::missing, op_merge, "pieces", "must have one of each tile that gives elements of the box",
         missing_text(state_->tiling, missing, count));
  }
  run_cells(work, executor);
}

}  // namespace patchfold
