// SPDX-License-Identifier: Apache-2.0
// Fuzzes tiles in C. C must refuse the calls that C++ refuses, and else give the same bytes. For senseless counts, sizes and
// pointers, C must return an error.
#include "fuzz/capi_tiles.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "elements.hpp"
#include "fuzz/problems.hpp"
#include "tests/specs_in_c.hpp"

namespace patchfold::fuzz {
namespace {

using testing::MergeSpecInC;
using testing::Random;
using testing::TilingSpecInC;

/// The elements of an array, with a view for C and a view for C++.
struct Elements {
  Dims shape;
  testing::ElementType type;
  std::vector<std::byte> bytes;

  Elements(const Dims& extents, testing::ElementType of)
      : shape(extents), type(of), bytes(static_cast<std::size_t>(element_count(extents)) * of.size) {}
  pf_tensor c() {
    return {bytes.data(),
            shape.begin(),
            nullptr,
            shape.size(),
            static_cast<pf_dtype>(type.dtype),
            static_cast<std::uint32_t>(type.size)};
  }
  TensorView view() { return {bytes.data(), shape, contiguous_strides(shape, type.size), type.dtype, type.size}; }
};

bool is_short(const Dims& shape) {
  double elements = 1;
  for (const auto extent : shape) elements *= static_cast<double>(extent);
  return elements < 20000;
}

std::int32_t draw_count(Random& random) {
  return static_cast<std::int32_t>(random.chance(50) ? draw_number(random) : random.between(-1, 33));
}

/// Puts into a spec mistakes that only C allows. Where a count grows, its list becomes null, so that no code reads beyond the list.
void spoil(Random& random, pf_tiling_spec& spec) {
  const auto set = [&](std::int32_t& count, auto*& list) {
    const std::int32_t before = count;
    count = draw_count(random);
    if (count > before || random.chance(20)) list = nullptr;
  };
  switch (random.between(0, 10)) {
    case 0: spec.size = static_cast<std::uint32_t>(random.between(0, sizeof spec)); break;
    case 1: set(spec.rank, spec.shape); break;
    case 2: set(spec.n_tiled, spec.tile); break;
    case 3: set(spec.n_overlap, spec.overlap); break;
    case 4: set(spec.n_overlap_fraction, spec.overlap_fraction); break;
    case 5: set(spec.n_stride, spec.stride); break;
    case 6: set(spec.n_axes, spec.axes); break;
    case 7: set(spec.n_scale, spec.scale); break;
    case 8: set(spec.n_result, spec.result); break;
    case 9: spec.tail = static_cast<pf_tail>(draw_number(random)); break;
    default: spec.padding_mode = static_cast<pf_padding_mode>(draw_number(random));
  }
}

void spoil(Random& random, pf_merge_spec& spec) {
  const auto set = [&](auto& count, auto*& list) {
    const std::int64_t before = count;
    count = draw_count(random);
    if (count > before || random.chance(20)) list = nullptr;
  };
  switch (random.between(0, 7)) {
    case 0: spec.size = static_cast<std::uint32_t>(random.between(0, sizeof spec)); break;
    case 1: spec.dtype = static_cast<pf_dtype>(draw_number(random)); break;
    case 2: spec.element_size = static_cast<std::uint32_t>(draw_number(random)); break;
    case 3: spec.reduce = static_cast<pf_reduce>(draw_number(random)); break;
    case 4: spec.window = static_cast<pf_window>(draw_number(random)); break;
    case 5: set(spec.n_channels, spec.channels); break;
    case 6: set(spec.n_weights, spec.weights); break;
    default: set(spec.n_mask, spec.mask);
  }
}

/// Calls the functions that read a tiling, with arbitrary numbers: C must refuse those that C++ refuses.
void ask(Random& random, const pf_tiling* tiling, const Tiling& same) {
  const std::int64_t index = random.chance(50) ? draw_number(random) : random.between(0, 3);
  std::int64_t list[PF_MAX_RANK];
  pf_tile_span spans[PF_MAX_RANK];
  std::int32_t rank = draw_count(random);
  pf_ratio scale;
  const bool is_tile = index >= 0 && index < same.size();
  expect((checked(pf_tiling_tile(tiling, index, list, spans)) == PF_OK) == is_tile, "a tile is refused or made up");
  const auto i = static_cast<std::int32_t>(random.between(-1, 4));
  checked(pf_tiling_span(tiling, i, draw_number(random), spans));
  expect((checked(pf_tiling_axes_in(tiling, rank, list)) == PF_OK) == !refusal([&] { same.axes_in(rank); }),
         "C and C++ disagree about axes");
  Dims shape;
  for (auto count = random.between(0, 5); count > 0; --count)
    shape.push_back(random.chance(70) ? random.between(0, 9) : draw_number(random));
  for (const bool scales : {false, true}) {
    const auto refused =
        refusal([&] { scales ? (void)same.scale_of(index, shape) : (void)same.result_channels(index, shape); });
    rank = PF_MAX_RANK;
    const pf_status status =
        checked(scales ? pf_tiling_scale_of(tiling, index, shape.begin(), shape.size(), &scale)
                       : pf_tiling_result_channels(tiling, index, shape.begin(), shape.size(), list, &rank));
    expect((status == PF_OK) == !refused, "C and C++ disagree about a result");
  }
  rank = draw_count(random);
  const auto n_channels = static_cast<std::int32_t>(std::min(rank, 5));
  const Dims ones = Dims::filled(5, 1);
  std::int32_t room = static_cast<std::int32_t>(random.between(-1, PF_MAX_RANK));
  checked(pf_tiling_output_shape(tiling, ones.begin(), n_channels, list, &room));
  room = static_cast<std::int32_t>(random.between(-1, PF_MAX_RANK));
  checked(pf_tiling_result_shape(tiling, index, ones.begin(), n_channels, list, &room));
}

std::int32_t take_rows(void* context, std::int64_t, std::int64_t, const pf_tensor* band) {
  auto& bytes = *static_cast<std::vector<std::byte>*>(context);
  std::int64_t size = band->element_size;
  for (int axis = 0; axis < band->rank; ++axis) size *= band->shape[axis];
  const auto* from = static_cast<const std::byte*>(band->data);
  bytes.insert(bytes.end(), from, from + size);
  return 0;
}

struct KeepRows final : RowSink {
  explicit KeepRows(std::vector<std::byte>& to) : bytes(to) {}
  void write(Span rows, const ConstTensorView& band) override {
    const pf_tensor tensor{const_cast<void*>(band.data),
                           band.shape.begin(),
                           nullptr,
                           band.shape.size(),
                           0,
                           static_cast<std::uint32_t>(band.element_size)};
    take_rows(&bytes, rows.begin, rows.end, &tensor);
  }
  std::vector<std::byte>& bytes;
};

void count_up(void* context) {
  ++*static_cast<std::int64_t*>(context);
}

/// Merges the same tiles in C and in C++, and compares the results.
void merge_both(Random& random, const pf_tiling* tiling, const Tiling& same, testing::ElementType type) {
  MergeSpec spec = draw_merge(random, same, type.dtype, type.size);
  if (spec.window.sigma_scale == 0) spec.window.sigma_scale = WeightWindow().sigma_scale;  // 0 is C's word for the default
  MergeSpecInC given(spec);
  if (random.chance(20)) {
    spoil(random, given.c);
    checked(pf_merge_check(tiling, &given.c));
    return;
  }
  const bool to_sink = random.chance(50);
  pf_merge_bytes bytes = {sizeof bytes, 0, 0, 0, 0};
  MergeMemory memory;
  const auto refused_memory = refusal([&] { memory = merge_memory(same, spec, to_sink); });
  const pf_status status = checked(pf_merge_memory(tiling, &given.c, to_sink, &bytes));
  expect((status == PF_OK) == !refused_memory && (refused_memory || bytes.most == memory.most),
         "C and C++ disagree about memory");
  if (!is_small(same)) return;

  const auto refused_check = refusal([&] { check_merge(same, spec); });
  expect((checked(pf_merge_check(tiling, &given.c)) == PF_OK) == !refused_check, "C and C++ disagree about a merge");
  std::vector<std::byte> rows, same_rows;
  Elements output({}, type), same_output({}, type);
  const pf_row_sink sink = {sizeof sink, 0, &rows, take_rows};
  KeepRows same_sink(same_rows);
  std::optional<Merger> same_merger;
  pf_merger* merger = nullptr;
  const auto refused = refusal([&] {
    same_output = Elements(same.output_shape(spec.channels), type);
    output = same_output;
    to_sink ? same_merger.emplace(same, spec, same_sink) : same_merger.emplace(same, spec, same_output.view());
  });
  const pf_tensor to = output.c();
  const pf_status made = checked(to_sink ? pf_merger_create_to_sink(tiling, &given.c, &sink, pf_serial_executor(), &merger)
                                         : pf_merger_create(tiling, &given.c, &to, nullptr, &merger));
  expect((made == PF_OK) == !refused && (merger != nullptr) == !refused, "C and C++ disagree about a merger");
  if (refused) return;
  std::int64_t accepted = 0, released = 0;
  std::vector<Elements> tiles;
  tiles.reserve(static_cast<std::size_t>(same.size()));
  testing::Features features;
  for (std::int64_t index = 0; index < same.size(); ++index) {
    Elements& tile = tiles.emplace_back(same.result_shape(index, spec.channels), type);
    tile.bytes = testing::random_elements(random, type, element_count(tile.shape), features);
    const double weight = random.chance(80) ? 1 : static_cast<double>(random.between(-1, 8)) / 4;
    const pf_tile_options options = {sizeof options, 0, &weight, nullptr, count_up, &released};
    const pf_tensor view = tile.c();
    const auto not_taken = refusal([&] { same_merger->add(index, tile.view(), {.number = weight}); });
    const pf_status added = checked(pf_merger_add(merger, index, &view, &options));
    expect(added == (not_taken ? static_cast<pf_status>(*not_taken) + 1 : PF_OK), "C and C++ disagree about a tile");
    accepted += added == PF_OK;
  }
  const auto unfinished = refusal([&] { same_merger->finish(); });
  expect((checked(pf_merger_finish(merger)) == PF_OK) == !unfinished, "C and C++ disagree about an end");
  expect(output.bytes == same_output.bytes && rows == same_rows, "C and C++ merge to different bytes");
  pf_merger_destroy(merger);
  expect(released == accepted, "a tile was not released once");
}

}  // namespace

void run_tiles(std::span<const std::uint8_t> bytes) {
  Random random(bytes);
  const TilingSpec spec = draw_tiling(random);
  TilingSpecInC given(spec);
  pf_tiling* tiling = nullptr;
  if (random.chance(20)) {
    spoil(random, given.c);
    checked(pf_tiling_create(&given.c, &tiling));
    return pf_tiling_destroy(tiling);
  }
  std::optional<Tiling> same;
  const auto refused = refusal([&] { same.emplace(spec); });
  const pf_status status = checked(pf_tiling_create(&given.c, &tiling));
  expect(status == (refused ? static_cast<pf_status>(*refused) + 1 : PF_OK), "C and C++ disagree about a tiling");
  expect((tiling != nullptr) == same.has_value(), "a tiling after an error, or none");
  if (!same) return;
  ask(random, tiling, *same);
  const auto type = random.pick(testing::all_types());
  if (is_small(*same)) {
    testing::Features features;
    Elements array(spec.shape, type);
    array.bytes = testing::random_elements(random, type, element_count(spec.shape), features);
    for (std::int64_t index = 0; index < same->size(); ++index) {
      const Dims shape = same->tile_shape(index);
      if (!is_short(shape)) break;  // padding may be much longer than the array
      Elements tile(shape, type), same_tile(shape, type);
      const pf_tensor from = array.c(), to = tile.c();
      const auto not_cut = refusal([&] { same->cut(index, array.view(), same_tile.view()); });
      expect((checked(pf_tiling_cut(tiling, index, &from, &to, pf_serial_executor())) == PF_OK) == !not_cut &&
                 tile.bytes == same_tile.bytes,
             "C and C++ cut different tiles");
    }
    char* json = nullptr;
    expect(checked(pf_tiling_json(tiling, 1, &json)) == PF_OK && json == same->to_json(), "C and C++ write different JSON");
    pf_text_destroy(json);
  }
  merge_both(random, tiling, *same, type);
  pf_tiling_destroy(tiling);
}

}  // namespace patchfold::fuzz
