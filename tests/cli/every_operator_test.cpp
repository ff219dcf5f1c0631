// SPDX-License-Identifier: Apache-2.0
// Every operator of the table, by its own command line.
#include <gtest/gtest.h>

#include <algorithm>

#include "patchfold/table.hpp"
#include "tests/cli/program.hpp"

namespace patchfold::cli_test {
namespace {

using Shape = std::vector<std::int64_t>;

/// `sum` adds up (i + 1) * output[i], modulo 2^64; the data counts 1, 2, 3, .. The sums come from a model of the operators'
/// definitions that is written index by index and shares nothing with the library.
struct Row {
  std::string op;
  Shape data;  ///< empty: the operator has no data input
  std::string arguments;
  Shape output;
  std::uint64_t sum;
};

// clang-format off
const Row rows[] = {
    {"unfold", {2, 3, 5, 6}, "--kernel_size 2,3 --stride 2,1 --dilation 1,2 --padding 1:0,2:1 --value -7", {2, 18, 15}, 11537010U},
    {"fold", {2, 12, 20}, "--output_size 5,6 --kernel_size 2,2", {2, 3, 5, 6}, 13857480U},
    {"coverage", {}, "--output_size 5,6 --kernel_size 2,2", {5, 6}, 1240U},
    {"reorder", {1, 12, 5}, "--kernel_size 2,2", {1, 12, 5}, 65560U},
    {"space_to_batch", {2, 3, 5, 6}, "--block 2,3 --padding 1:0,0:0", {12, 3, 3, 2}, 2051028U},
    {"batch_to_space", {12, 3, 3, 2}, "--block 2,3 --crops 1:0,0:2", {2, 3, 5, 4}, 845412U},
    {"space_to_depth", {2, 3, 4, 6}, "--block 2,3 --mode depth_first", {2, 18, 2, 2}, 1002768U},
    {"depth_to_space", {2, 12, 2, 3}, "--block 2,3 --mode blocks_first", {2, 2, 4, 9}, 966348U},
    {"onnx.Col2Im-18", {2, 8, 9}, "--image_shape 5,5 --block_shape 2,2 --pads 0,1,1,0 --strides 2,2 --dilations 1,1", {2, 2, 5, 5}, 473660U},
    {"onnx.SpaceToDepth-1", {1, 2, 4, 6}, "--blocksize 2", {1, 8, 2, 3}, 32908U},
    {"onnx.SpaceToDepth-13", {1, 2, 4, 6}, "--blocksize 2", {1, 8, 2, 3}, 32908U},
    {"onnx.SpaceToDepth-28", {1, 2, 4, 6}, "--blocksize 2 --mode CRD", {1, 8, 2, 3}, 37156U},
    {"onnx.DepthToSpace-1", {1, 8, 2, 3}, "--blocksize 2", {1, 2, 4, 6}, 32908U},
    {"onnx.DepthToSpace-11", {1, 8, 2, 3}, "--blocksize 2 --mode CRD", {1, 2, 4, 6}, 37156U},
    {"onnx.DepthToSpace-13", {1, 8, 2, 3}, "--blocksize 2 --mode CRD", {1, 2, 4, 6}, 37156U},
    {"onnx.DepthToSpace-28", {1, 8, 2, 3}, "--blocksize 2 --mode CRD", {1, 2, 4, 6}, 37156U},
    {"openvino.Col2Im-15", {8, 20}, "--output_size 5,6 --kernel_size 2,2 --strides 1,2 --pads_begin 0,1 --pads_end 1,2", {2, 5, 6}, 337854U},
    {"openvino.ExtractImagePatches-3", {1, 2, 7, 8}, "--sizes 2,3 --strides 3,2 --rates 2,1 --auto_pad same_lower", {1, 12, 3, 4}, 376912U},
    {"openvino.SpaceToBatch-2", {2, 3, 5, 6}, "--block_shape 1,1,2,3 --pads_begin 0,0,1,0 --pads_end 0,0,0,0", {12, 3, 3, 2}, 2051028U},
    {"openvino.BatchToSpace-2", {12, 3, 3, 2}, "--block_shape 1,1,2,3 --crops_begin 0,0,1,0 --crops_end 0,0,0,2", {2, 3, 5, 4}, 845412U},
    {"openvino.SpaceToDepth-1", {1, 2, 4, 6}, "--block_size 2 --blocks_mode depth_first", {1, 8, 2, 3}, 37156U},
    {"openvino.DepthToSpace-1", {1, 8, 2, 3}, "--block_size 2 --blocks_mode blocks_first", {1, 2, 4, 6}, 32908U},
    {"tensorflow.SpaceToBatch", {2, 3, 4, 2}, "--block_size 2 --paddings 1:0,2:2", {8, 2, 4, 2}, 96472U},
    {"tensorflow.SpaceToBatchND", {2, 3, 4, 2}, "--block_shape 3 --paddings 1:2", {6, 2, 4, 2}, 57256U},
    {"tensorflow.BatchToSpace", {8, 2, 3, 2}, "--block_size 2 --crops 1:0,1:1", {2, 3, 4, 2}, 71424U},
    {"tensorflow.BatchToSpaceND", {6, 2, 3, 2}, "--block_shape 3 --crops 1:2", {2, 3, 3, 2}, 24396U},
    {"tensorflow.SpaceToDepth", {1, 4, 6, 3}, "--block_size 2", {1, 2, 3, 12}, 124860U},
    {"tensorflow.DepthToSpace", {1, 8, 2, 3}, "--block_size 2 --data_format NCHW", {1, 2, 4, 6}, 32908U},
    {"tensorflow.ExtractImagePatches", {1, 7, 8, 2}, "--ksizes 1,2,3,1 --strides 1,3,2,1 --rates 1,2,1,1 --padding SAME", {1, 3, 4, 12}, 423240U},
    {"tensorflow.ExtractVolumePatches", {1, 3, 4, 5, 2}, "--ksizes 1,2,2,3,1 --strides 1,1,2,2,1 --padding SAME", {1, 3, 2, 3, 24}, 4419420U},
    {"torch.fold", {2, 12, 12}, "--output_size 4,5 --kernel_size 2,2", {2, 3, 4, 5}, 3337872U},
    {"torch.unfold", {2, 5, 3, 4}, "--kernel_size 2,3 --padding 1 --dilation 1,2", {2, 30, 8}, 4635200U},
    {"torch.pixel_shuffle", {2, 8, 2, 3}, "--upscale_factor 2", {2, 2, 4, 6}, 297800U},
    {"torch.pixel_unshuffle", {2, 2, 4, 6}, "--downscale_factor 2", {2, 8, 2, 3}, 297800U},
};
// clang-format on

std::uint64_t weighted_sum(const Npy& npy) {
  std::uint64_t sum = 0, weight = 0;
  for (const auto value : npy.elements<std::int64_t>()) sum += ++weight * static_cast<std::uint64_t>(value);
  return sum;
}

const Row* row_of(std::string_view op) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) { return each.op == op; });
  return row == std::end(rows) ? nullptr : row;
}

TEST(EveryOperator, HasARowHere) {
  for (const auto& op : operators()) EXPECT_TRUE(row_of(op.name)) << op.name;
  EXPECT_EQ(std::size(rows), operators().size());
}

TEST(EveryOperator, RunsFromFileToFile) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.op);
    const Folder folder;
    std::string input;
    if (!row.data.empty()) {
      folder.write("in.npy", npy_bytes(counting(row.data)));
      input = " in.npy";
    }
    const Outcome outcome = folder.run("run " + row.op + input + " " + row.arguments + " -o out.npy -q");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
    const Npy output = npy_of(folder.read("out.npy"));
    EXPECT_EQ(output.descr, "<i8");
    EXPECT_EQ(output.shape, row.output);
    EXPECT_FALSE(output.fortran_order);
    EXPECT_EQ(weighted_sum(output), row.sum);
  }
}

TEST(EveryOperator, RunsTheExampleThatTheProgramShows) {
  for (const auto& op : operators()) {
    SCOPED_TRACE(op.name);
    const Folder folder;
    const std::string shown = folder.run("ops " + std::string(op.name)).out;
    const auto command = shown.find("  patchfold run ");
    ASSERT_NE(command, std::string::npos) << shown;
    const auto end = shown.find('\n', command);
    if (!op.data_input.empty()) {
      const auto at = shown.find("of shape (", end);
      ASSERT_NE(at, std::string::npos) << shown;
      Shape shape;
      std::string text = shown.substr(at + 10);
      for (std::size_t used = 0; !text.empty() && text[0] != ')'; text.erase(0, used))
        if (text[0] == ',' || text[0] == ' ' || text[0] == '\n')
          used = 1;
        else
          shape.push_back(std::stoll(text, &used));
      folder.write(std::string(op.data_input) + ".npy", npy_bytes(counting(shape)));
    }
    const Outcome outcome = folder.run(shown.substr(command + 12, end - command - 12));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_FALSE(npy_of(folder.read("output.npy")).data.empty());
  }
}

TEST(EveryOperator, ExplainsItsArguments) {
  const Folder folder;
  for (const auto& op : operators()) {
    const Outcome outcome = folder.run("run " + std::string(op.name) + " --help");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const auto& argument : op.arguments) {
      EXPECT_NE(outcome.out.find("--" + std::string(argument.name) + " "), std::string::npos) << outcome.out;
      EXPECT_NE(outcome.out.find(argument.doc), std::string::npos) << outcome.out;
    }
  }
}

/// Pairs of commands that undo each other.
TEST(EveryOperator, InversesGiveTheDataBack) {
  struct Pair {
    Shape data;
    std::string forth, back;
  };
  const Pair pairs[] = {
      {{2, 3, 4, 6}, "unfold --kernel_size 2,3 --stride 2,3", "fold --output_size 4,6 --kernel_size 2,3 --stride 2,3"},
      {{2, 3, 5, 6}, "space_to_batch --block 2,3 --padding 1:0,0:0", "batch_to_space --block 2,3 --crops 1:0,0:0"},
      {{2, 3, 4, 6}, "space_to_depth --block 2,3", "depth_to_space --block 2,3"},
      {{2, 12, 5}, "reorder --kernel_size 2,2", "reorder --kernel_size 2,2 --source kernel --target channel"},
      {{1, 2, 4, 6}, "onnx.SpaceToDepth --blocksize 2 --mode CRD", "onnx.DepthToSpace --blocksize 2 --mode CRD"},
      {{1, 2, 4, 6}, "torch.pixel_unshuffle --downscale_factor 2", "torch.pixel_shuffle --upscale_factor 2"},
      {{2, 4, 6, 3},
       "tensorflow.SpaceToBatch --block_size 2 --paddings 1:1,0:0",
       "tensorflow.BatchToSpace --block_size 2 --crops 1:1,0:0"},
      {{2, 4, 6, 3},
       "tensorflow.SpaceToBatchND --block_shape '' --paddings ''",
       "tensorflow.BatchToSpaceND --block_shape '' --crops ''"},
  };
  for (const auto& pair : pairs) {
    SCOPED_TRACE(pair.forth);
    const Folder folder;
    folder.write("data.npy", npy_bytes(counting(pair.data)));
    const auto run = [&](const std::string& command, const std::string& from, const std::string& to) {
      const auto name = command.substr(0, command.find(' '));
      const Outcome outcome = folder.run("run " + name + " " + from + command.substr(name.size()) + " -o " + to);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
    };
    run(pair.forth, "data.npy", "middle.npy");
    run(pair.back, "middle.npy", "again.npy");
    const Npy before = npy_of(folder.read("data.npy")), after = npy_of(folder.read("again.npy"));
    EXPECT_EQ(before.shape, after.shape);
    EXPECT_EQ(before.data, after.data);
  }
}

}  // namespace
}  // namespace patchfold::cli_test
