// SPDX-License-Identifier: Apache-2.0
// Random geometry of window operators.
#pragma once

#include "problem.hpp"

namespace patchfold::testing {

/// What a dialect allows in the geometry of windows.
struct Rules {
  bool zero_dilation = false;
  bool negative_pads = false;
  bool symmetric_pads = false;
  bool zero_extents = false;
  bool zero_positions = true;
  bool dilation = true;
  bool pads = true;
  bool rule_pads = false;  ///< the pads come from a padding rule only: valid, same_upper or same_lower
  bool zero_batch = true;
  bool zero_channels = true;
  bool same_everywhere = false;  ///< one number for all axes
  int batch_axes = 1;
};

struct Geometry {
  int rank = 0;
  Dims image{};
  Dims kernel{};
  Dims stride{};
  Dims dilation{};
  PadsList pads{};
  Dims positions{};
  std::string rule{};  ///< the padding rule (valid, same_upper or same_lower), or empty if pads were drawn
  std::int64_t channels = 1;
  Dims batches{};

  std::int64_t taps() const { return element_count(kernel); }
  std::int64_t all_positions() const { return element_count(positions); }
};

/// Draws geometries until one satisfies the rules and the limits of size.
Geometry random_geometry(Random& random, int rank, const Rules& rules, const Request& request);
/// Adds the features that depend only on the geometry.
void describe(const Geometry& geometry, Features& features);

/// What a dialect allows in the geometry of blocks.
struct BlockRules {
  bool pads = false;
  bool negative_pads = false;
  bool rule_pads = false;        ///< the pads of some problems come from the rule same_upper or same_lower
  bool same_everywhere = false;  ///< one number for the blocks of all axes, and one for the pads
  bool same_block = false;       ///< one number for the blocks of all axes
  std::int64_t lowest_block = 1;
};

/// A random geometry of blocks: image + pads = blocks * block on every axis.
struct BlockGeometry {
  int rank = 0;
  Dims image{};
  Dims block{};
  Dims blocks{};
  PadsList pads{};
  std::string rule{};
  std::int64_t channels = 1;
  std::int64_t batch = 1;
};

BlockGeometry random_blocks(Random& random, int rank, const BlockRules& rules, const Request& request);
void describe(const BlockGeometry& geometry, Features& features);

bool no_pads(const PadsList& pads);
bool all_are(const Dims& list, std::int64_t value);

struct Ends {
  Dims begins{};
  Dims ends{};
};
Ends ends_of(const PadsList& pads);

/// The most elements of one tensor of a small problem, and of a big problem.
inline constexpr std::int64_t small_elements = 5000;
inline constexpr std::int64_t big_elements = 250000;
/// The most elements of one tensor of a problem whose request has a width.
inline constexpr std::int64_t wide_elements = 30000;
inline std::int64_t most_elements(const Request& request) {
  return request.big ? big_elements : request.width != 0 ? wide_elements : small_elements;
}
/// Returns a number of channels, often near the number of lanes of a vector, for a problem whose request has a width.
std::int64_t wide_channels(Random& random);

/// Returns the largest extent that is usual for an image with `rank` spatial axes.
std::int64_t usual_extent(int rank, bool big);
/// Returns the product of a list, as a double so that it cannot overflow.
double product(const Dims& list);
/// Returns a random number of spatial axes, evenly from 1 to 6.
int random_rank(Random& random, const Request& request);
/// Returns the extents of `axes` batch axes, each from 1 to 3 or, with `zero`, from 0.
Dims random_batches(Random& random, int axes, bool zero);
void note_extents(const Dims& shape, Features& features);

/// Returns the shape (N, C, spatial) or, with channels last, (N, spatial, C).
Dims image_shape(const Geometry& geometry, bool channels_last);

void add(Problem& problem, std::string name, ArgumentValue value);
/// Adds an argument; an argument with its default is sometimes left out.
void add(Random& random, Problem& problem, std::string name, ArgumentValue value, bool is_default);

inline Problem problem_of(std::string_view op, const Request& request) {
  Problem problem;
  problem.text.op = op;
  problem.text.dtype = request.type.dtype;
  problem.text.element_size = request.type.size;
  return problem;
}

}  // namespace patchfold::testing
