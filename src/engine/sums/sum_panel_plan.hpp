// SPDX-License-Identifier: Apache-2.0
// What the strategy "sum panels" decides before it runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/compiled.hpp"
#include "engine/rows.hpp"
#include "engine/sums/means.hpp"
#include "engine/sums/same_taps.hpp"
#include "engine/sums/sum_phase.hpp"
#include "engine/sums/sum_terms.hpp"
#include "engine/sums/sum_writer.hpp"
#include "engine/window.hpp"
#include "kernels/panel.hpp"

namespace patchfold::engine {

/// The axes of a sum by panels.
struct SumPanelAxes {
  std::int64_t unit = 1;  ///< bytes that lie together on both sides
  int along = -1;         ///< window that the row of the image runs along; -1: the row is the unit
  int across = -1;        ///< window whose coordinates are the rows of the image; -1: there is one row
};

/// Nothing for a problem that does not sum, or that panels do not fit.
std::optional<SumPanelAxes> choose_axes(const Problem& problem);

/// All that a sum by panels needs to know, computed once for a problem: phases of the row, runs of rows that meet the same
/// taps, the terms of each run, how many rows make a band, and where sums wait in scratch memory. Everything is cut for the
/// vectors of the instruction set that is in use when the plan is made; the plan keeps that set's kernel.
class SumPanelPlan : public Compiled {
 public:
  SumPanelPlan(const Problem& problem, const SumPanelAxes& axes);

  bool fits() const noexcept;
  void describe_choices(std::ostream& out) const override;

 protected:
  std::int64_t vector_bytes() const noexcept { return kernel_->lanes * kernel_->lane_size; }

  const kernels::PanelKernel* kernel_;
  int along_;
  int across_;
  std::int64_t unit_;
  Means means_;
  SumWriter writer_{};
  std::vector<SumPhase> phases_{};
  std::int64_t widest_ = 1;  // vectors of the widest chunk
  bool fits_ = false;
  bool direct_ = false;  // rows are whole vectors: sums go to the image at once
  std::array<TapSolver, max_axes> solvers_{};
  std::vector<std::vector<SameTaps>> classes_{};  // by residue of the rows
  std::int64_t extent_ = 1;                       // rows
  std::int64_t stride_ = 1;                       // residues
  bool separate_ = false;                         // a band has rows of one residue
  AxisList outer_{};
  std::int64_t band_ = 1;
  std::int64_t bands_ = 1;
  std::int64_t prefetch_ = 0;   // bytes ahead in each column
  bool fetches_bands_ = false;  // while the band before is written
  bool listed_ = false;         // the terms of every run are listed in the plan
  std::vector<kernels::PanelTerm> terms_{};
  std::vector<SumTerms> listed_terms_{};  // by run and phase
  std::vector<std::size_t> first_run_{};  // of each class
  std::int64_t offsets_at_ = 0;           // places in scratch memory
  std::int64_t sums_at_ = 0;
  std::int64_t joined_at_ = 0;

 private:
  void plan_rows_across();
  void plan_outer();
  void plan_fetches();
  void plan_terms();
  void list_runs(std::int64_t tuples);
};

}  // namespace patchfold::engine
