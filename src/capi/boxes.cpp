// SPDX-License-Identifier: Apache-2.0
// Boxes of an output for C.
#include <algorithm>
#include <vector>

#include "capi/callback_executor.hpp"
#include "capi/convert.hpp"
#include "capi/tiles.hpp"

namespace patchfold::capi {
namespace {

Box box_of(const pf_span* spans, int tiled, std::string_view op) {
  required(spans, op, "box");
  Box box;
  for (int i = 0; i < tiled; ++i) box.push_back({spans[i].begin, spans[i].end});
  return box;
}

void give_spans(const std::vector<Span>& spans, pf_span* to) {
  std::transform(spans.begin(), spans.end(), to, [](Span span) { return pf_span{span.begin, span.end}; });
}

}  // namespace
}  // namespace patchfold::capi

struct pf_box_merger {
  patchfold::BoxMerger merger;
  int tiled;
};

using namespace patchfold::capi;

pf_status pf_tiling_touching(const pf_tiling* tiling, const pf_span* box, pf_span* tiles) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_touching");
    required(tiles, op_tiling, "tiles");
    give_spans(known.touching(box_of(box, known.axes().size(), op_tiling)), tiles);
  });
}

pf_status pf_tiling_piece(const pf_tiling* tiling, int64_t index, const pf_span* box, pf_span* part) {
  return guarded([&] {
    const auto& known = tiling_of(tiling, "pf_tiling_piece");
    required(part, op_tiling, "part");
    give_spans(known.piece(index, box_of(box, known.axes().size(), op_tiling)), part);
  });
}

pf_status pf_box_merger_create(const pf_tiling* tiling, const pf_merge_spec* spec, pf_box_merger** merger) {
  return guarded([&] {
    *required(merger, "pf_box_merger_create", "merger") = nullptr;
    const auto& known = tiling_of(tiling, "pf_box_merger_create");
    *merger = new pf_box_merger{{known, merge_spec_of(spec, known)}, known.axes().size()};
  });
}

pf_status pf_box_merger_merge(const pf_box_merger* merger, const pf_span* box, const pf_piece* pieces, int64_t n_pieces,
                              const pf_tensor* output, const pf_executor* executor) {
  return guarded([&] {
    required(merger, "pf_box_merger_merge", "merger");
    if (n_pieces < 0) fail(patchfold::ErrorCode::value, op_merge, "n_pieces", "must be at least 0", n_pieces);
    if (n_pieces > 0) required(pieces, op_merge, "pieces");
    std::vector<patchfold::Piece> given;
    for (std::int64_t i = 0; i < n_pieces; ++i)
      given.push_back({pieces[i].index, view_of(pieces[i].view, op_merge, "piece")});
    const auto to = view_of(*required(output, op_merge, "output"), op_merge, "output");
    ChosenExecutor chosen(executor, op_merge);
    merger->merger.merge(box_of(box, merger->tiled, op_merge), given, to, chosen.get());
  });
}

void pf_box_merger_destroy(pf_box_merger* merger) {
  delete merger;
}
