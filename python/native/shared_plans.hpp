// SPDX-License-Identifier: Apache-2.0
// Plans that are found again by a text, from any thread: for systems that run calls on threads of their own.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "patchfold/plan.hpp"

namespace patchfold::python {

/// T: a plan, or what holds one, that is cheap to copy.
template <class T>
class SharedPlans {
 public:
  /// What make() gave for this key; make() is called where it is not here.
  template <class F>
  T find(const std::string& key, F&& make) {
    const std::uint64_t generation = detail::plan_generation();
    {
      const std::scoped_lock lock(mutex_);
      const auto found = plans_.find(key);
      if (found != plans_.end() && found->second.first == generation) return found->second.second;
    }
    T plan = make();
    const std::scoped_lock lock(mutex_);
    if (plans_.size() >= most) plans_.clear();
    plans_.insert_or_assign(key, std::pair(generation, plan));
    return plan;
  }

 private:
  static constexpr std::size_t most = 1024;
  std::mutex mutex_{};
  std::unordered_map<std::string, std::pair<std::uint64_t, T>> plans_{};
};

}  // namespace patchfold::python
