// SPDX-License-Identifier: Apache-2.0
// Merges a box of the output from pieces of results.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "tiling/cell_plan.hpp"
#include "tiling/names.hpp"
#include "tiling/tile_checks.hpp"

namespace patchfold {

using namespace tiling;

/// Holds everything that does not depend on the box. Never changes, so several threads may merge boxes at once.
struct BoxMerger::State {
  Tiling tiling;
  MergeSpec spec;  ///< without the window's numbers and the mask, which are in `facts`
  std::shared_ptr<const TileFacts> facts;
};

namespace {

/// A checked piece, with its tile.
struct TilePlace {
  std::int64_t tile = 0;
  ConstTensorView view{};
  Dims begin{};  ///< place in the output of the piece's first element, along the tiled axes
};

constexpr TileWords piece_words{
    .tile = "piece of tile", .index = "pieces", .index_rule = "must have indices of tiles", .view = "piece"};

/// Checks the pieces of one call of merge(), and finds the piece of a tile. Pieces are kept in the order of their tiles; a
/// tile has at most one piece.
class Pieces {
 public:
  Pieces(const Rules& rules, std::span<const Piece> given, const CheckedOutput& output)
      : rules_(rules), checks_(rules, piece_words) {
    places_.reserve(given.size());
    for (const Piece& piece : given) places_.push_back(placed(piece, output));
    std::sort(places_.begin(), places_.end(), [](const TilePlace& a, const TilePlace& b) { return a.tile < b.tile; });
    for (std::size_t i = 1; i < places_.size(); ++i)
      if (places_[i].tile == places_[i - 1].tile) checks_.refuse_second(places_[i].tile);
  }

  /// Returns the piece of a tile, or null if there is none.
  const TilePlace* find(std::int64_t tile) const {
    const auto found = std::lower_bound(places_.begin(), places_.end(), tile,
                                        [](const TilePlace& place, std::int64_t wanted) { return place.tile < wanted; });
    return found == places_.end() || found->tile != tile ? nullptr : &*found;
  }

 private:
  /// Returns a piece with its tile and its place, after checking it.
  TilePlace placed(const Piece& piece, const CheckedOutput& output) const {
    const std::int64_t tile = piece.index;
    checks_.check_index(tile);
    if (!rules_.cells.touches(tile)) checks_.refuse(tile, ErrorCode::value, "must touch the box");
    TilePlace place{tile, {}, {}};
    Dims extents;
    const Dims position = rules_.cells.position_of(tile);
    for (int i = 0; i < position.size(); ++i) {
      const Span part =
          shared_part(rules_.cells.box()[static_cast<std::size_t>(i)], rules_.cells.tiling().span(i, position[i]).write);
      place.begin.push_back(part.begin);
      extents.push_back(part.size());
    }
    if (const Dims shape = rules_.box(extents); !(piece.view.shape == shape))
      checks_.refuse(tile, ErrorCode::shape, "must be the part of the tile's result that lies in the box", piece.view.shape,
                     shape);
    place.view = checks_.checked_view(tile, piece.view, output);
    return place;
  }

  const Rules& rules_;
  TileChecks checks_;
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
  const Dims shape = rules.output_box(rules.cells.box_extents());
  const CheckedOutput to = check_output(rules, "pieces", output, rules.without_classes(shape));
  const Pieces pieces(rules, given, to);
  if (element_count(rules.cells.box_extents()) == 0) return;

  Dims origin;
  for (const Span span : box) origin.push_back(span.begin);
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
        const std::int64_t offset = rules.offset(place->begin, begin, place->view.strides);
        sources.push_back(tile, static_cast<const std::byte*>(place->view.data) + offset, place->view.strides);
      });
      if (!missing.empty()) continue;
      work.push_back(plan_cell(rules, weights, segments, std::move(sources),
                               to.data + rules.offset(origin, begin, to.strides), to.strides));
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
