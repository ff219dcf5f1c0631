// SPDX-License-Identifier: Apache-2.0
// The functions that the page calls: the library in WebAssembly. Every function takes text and memory, and returns JSON, which
// stays valid until the next call. Errors are {"error": {..}}; no exception leaves the engine. There is one thread.
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "patchfold/patchfold.hpp"

#define PAGE_API extern "C" __attribute__((used, visibility("default")))

namespace {

using namespace patchfold;

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      result += ' ';
    } else {
      result += c;
    }
  }
  return result += '"';
}

/// Writes a JSON object or list, whose values are JSON already.
class Json {
 public:
  explicit Json(char open) : text_(1, open) {}
  Json& add(std::string_view name, const std::string& value) {
    separate();
    text_ += quoted(name) + ":" + value;
    return *this;
  }
  Json& add(const std::string& value) {
    separate();
    text_ += value;
    return *this;
  }
  std::string end() {
    text_ += text_.front() == '{' ? '}' : ']';
    return std::move(text_);
  }

 private:
  void separate() {
    if (text_.size() > 1) text_ += ',';
  }
  std::string text_;
};

std::string number(std::int64_t value) {
  return std::to_string(value);
}

template <class List>
std::string list(const List& values) {
  Json result('[');
  for (const std::int64_t value : values) result.add(number(value));
  return result.end();
}

std::string place(const Place& p) {
  return Json('{').add("axis", number(p.axis)).add("step", number(p.step)).end();
}

std::string refusal(const Error& error, const std::string& nearby) {
  Json parts('{');
  parts.add("text", quoted(error.what())).add("code", quoted(describe(error.code()).name));
  parts.add("argument", quoted(error.argument())).add("nearby", quoted(nearby));
  return Json('{').add("error", parts.end()).end();
}

/// Runs `work`. Returns its result, or the error that it throws, as text that lives until the next call.
template <class Work>
const char* answer(Work work, const std::optional<ProblemText>& problem = std::nullopt) {
  static std::string kept;
  try {
    kept = work();
  } catch (const Error& error) {
    std::string nearby;
    try {
      if (problem) nearby = explain_error(*problem);
    } catch (const std::exception&) {  // the error is then reported without a nearby problem
    }
    kept = refusal(error, nearby);
  } catch (const std::exception& error) {
    kept = refusal(Error({.code = ErrorCode::out_of_memory, .op = "page", .argument = "memory", .rule = error.what()}), "");
  }
  return kept.c_str();
}

/// Reads a problem and runs `work` on it. Returns the result as answer() does.
template <class Work>
const char* answer_problem(const char* text, Work work) {
  std::optional<ProblemText> problem;
  return answer(
      [&] {
        problem = parse_problem(text);
        return work(*problem);
      },
      problem);
}

Lowering lowered(const ProblemText& problem) {
  return find_operator(problem.op).bind(problem.arguments).lower(problem.shape);
}

std::string json_of(const Geometry& g) {
  Json axes('['), shared('[');
  for (const SpatialAxis& axis : g.axes) {
    Json each('{');
    each.add("extent", number(axis.extent)).add("kernel", number(axis.kernel)).add("stride", number(axis.stride));
    each.add("dilation", number(axis.dilation)).add("pad_begin", number(axis.pad_begin));
    each.add("pad_end", number(axis.pad_end)).add("positions", number(axis.positions));
    each.add("image_axis", number(axis.image_axis)).add("tap", place(axis.tap)).add("position", place(axis.position));
    axes.add(each.end());
  }
  for (const SharedIndex& index : g.shared)
    shared.add(Json('{')
                   .add("extent", number(index.extent))
                   .add("image", place(index.image))
                   .add("columns", place(index.columns))
                   .end());
  Json result('{');
  result.add("extracts", g.extracts() ? "true" : "false").add("sums", g.sums ? "true" : "false");
  result.add("blocks", g.is_block ? "true" : "false").add("data", list(g.data)).add("output", list(g.output));
  result.add("image", list(g.image())).add("columns", list(g.columns()));
  result.add("axes", axes.end()).add("shared", shared.end());
  return result.end();
}

void check(Status status) {
  if (status != Status::ok) throw Error({.code = ErrorCode::executor, .op = "page", .rule = std::string(describe(status))});
}

/// The tiling of a picture (channels, height, width) of float32, and the merge of its tiles.
struct Seams {
  Tiling tiling;
  MergeSpec merge;
  std::vector<float> output{};
  std::optional<Merger> merger{};
};

std::optional<Seams> seams;

}  // namespace

PAGE_API const char* page_version() {
  return PATCHFOLD_VERSION_STRING;
}

/// Returns the geometry of a problem ("unfold f32 1x2x5x6 kernel_size=3,3"): shapes, axes, and the places of indices.
PAGE_API const char* page_geometry(const char* text) {
  return answer_problem(text, [](const ProblemText& problem) { return json_of(lowered(problem).geometry); });
}

/// Runs a problem on row-major data.
PAGE_API const char* page_run(const char* text, const void* src, void* dst) {
  return answer_problem(text, [&](const ProblemText& problem) {
    const Lowering lowering = lowered(problem);
    const Geometry& g = lowering.geometry;
    const Plan plan = lowering.plan(contiguous(src, g.data, problem.dtype), contiguous(dst, g.output, problem.dtype));
    check(plan.run(src, dst, serial_executor()));
    return std::string("{}");
  });
}

/// Writes, for each element of the columns, the number of its element in the image, or -1 for padding. The numbers come from an
/// extraction with the operator's geometry, out of an image of numbers.
PAGE_API const char* page_trace(const char* text, const std::int32_t* numbers, std::int32_t* columns) {
  return answer_problem(text, [&](const ProblemText& problem) {
    Lowering lowering = lowered(problem);
    Geometry& g = lowering.geometry;
    if (!g.extracts()) std::swap(g.data, g.output);
    g.direction = Geometry::Direction::extract;
    g.sums = g.means = g.accumulate = false;
    g.has_data = true;
    g.value = Scalar(-1);
    check(lowering.plan(view(numbers, g.data), view(columns, g.output)).run(numbers, columns, serial_executor()));
    return std::string("{}");
  });
}

/// Returns the explanation of a problem: {"text": ..} or, as a picture, {"svg": ..}.
PAGE_API const char* page_explain(const char* text, int picture) {
  return answer_problem(text, [&](const ProblemText& problem) {
    return picture != 0 ? Json('{').add("svg", quoted(explain_svg(problem))).end()
                        : Json('{').add("text", quoted(explain(problem))).end();
  });
}

/// Returns the plan of a problem on row-major tensors, and the bytes of memory that one thread needs besides these tensors.
PAGE_API const char* page_plan(const char* text) {
  return answer_problem(text, [](const ProblemText& problem) {
    const Lowering lowering = lowered(problem);
    const Geometry& g = lowering.geometry;
    const Plan plan = lowering.plan(contiguous(static_cast<const void*>(nullptr), g.data, problem.dtype),
                                    contiguous(static_cast<void*>(nullptr), g.output, problem.dtype));
    return Json('{')
        .add("text", quoted(plan.describe()))
        .add("scratch", number(static_cast<std::int64_t>(plan.scratch_bytes(1))))
        .end();
  });
}

/// Starts a merge of tiles: "CHANNELS HEIGHT WIDTH TILE_H TILE_W OVERLAP_H OVERLAP_W TAIL WINDOW REDUCE".
PAGE_API const char* page_tiles_open(const char* text) {
  seams.reset();
  return answer([&] {
    std::istringstream in(text);
    std::int64_t c = 0, h = 0, w = 0, tile_h = 0, tile_w = 0, overlap_h = 0, overlap_w = 0;
    std::string tail, window, reduce;
    in >> c >> h >> w >> tile_h >> tile_w >> overlap_h >> overlap_w >> tail >> window >> reduce;
    TilingSpec spec{.shape = {c, h, w}, .tile = {tile_h, tile_w}, .overlap = {overlap_h, overlap_w}};
    const auto tail_word = value_of<Tail>(tail);
    const auto window_word = value_of<WeightWindow::Kind>(window);
    if (!in || !tail_word || !window_word)
      throw Error({.code = ErrorCode::usage, .op = "page", .argument = "tiles", .rule = "must be ten words", .given = text});
    spec.tail = *tail_word;
    MergeSpec merge{.dtype = DType::float32, .channels = {c}};
    merge.reduce = value_of<Reduce>(reduce);  // nothing for the word "standard", so that the library chooses
    merge.window.kind = *window_word;
    merge.fill = Scalar(0.0);
    merge.copy = true;
    seams.emplace(Seams{Tiling(spec), merge});
    Seams& s = *seams;
    const Dims shape = s.tiling.output_shape({c});
    std::size_t elements = 1;
    for (const std::int64_t extent : shape) elements *= static_cast<std::size_t>(extent);
    s.output.assign(elements, 0.0f);
    s.merger.emplace(s.tiling, s.merge, view(s.output.data(), shape), serial_executor());
    const MergeMemory memory = merge_memory(s.tiling, s.merge, false);
    Json result('{');
    result.add("tiling", s.tiling.to_json(true)).add("output", list(shape)).add("waiting", number(memory.most));
    result.add("reduce", quoted(word_of(reduction_of(s.merge))));
    return result.end();
  });
}

/// Copies a tile of the picture to `tile`, unless `tile` is null. Returns the tile's shape.
PAGE_API const char* page_tiles_cut(int index, const float* picture, float* tile) {
  return answer([&] {
    const Dims shape = seams.value().tiling.tile_shape(index);
    if (tile != nullptr)
      seams->tiling.cut(index, view(picture, seams->tiling.spec().shape), view(tile, shape), serial_executor());
    return Json('{').add("shape", list(shape)).end();
  });
}

PAGE_API const char* page_tiles_add(int index, const float* tile) {
  return answer([&] {
    seams.value().merger.value().add(index, view(tile, seams->tiling.tile_shape(index)));
    return std::string("{}");
  });
}

/// Finishes the merge and copies its output to `output`.
PAGE_API const char* page_tiles_finish(float* output) {
  return answer([&] {
    seams.value().merger.value().finish();
    std::memcpy(output, seams->output.data(), seams->output.size() * sizeof(float));
    return Json('{').add("waited", number(seams->merger->peak_bytes())).end();
  });
}

/// Writes, for each element of the output (height, width), the number of tiles that cover it.
PAGE_API const char* page_tiles_coverage(std::int64_t* counts) {
  return answer([&] {
    seams.value().tiling.coverage(view(counts, seams->tiling.output()));
    return std::string("{}");
  });
}

PAGE_API const char* page_tiles_explain() {
  return answer([&] { return Json('{').add("svg", quoted(explain_svg(seams.value().tiling, seams->merge))).end(); });
}
