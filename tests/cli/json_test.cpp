// SPDX-License-Identifier: Apache-2.0
// Tests that commands with --json print exactly the members and types that docs/command-line.md lists.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "formats/json_value.hpp"
#include "patchfold/error.hpp"
#include "patchfold/explain.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

using Json = formats::JsonValue;

/// The JSON types of each member of a result. A member of a member has a name such as "input.file".
using Members = std::map<std::string, std::set<std::string>>;

Json parse(const std::string& text) {
  try {
    return formats::parse_json(text, 16);
  } catch (const formats::JsonError& error) {
    ADD_FAILURE() << "no JSON at byte " << error.byte << ": " << text;
    return {};
  }
}

std::string type_of(const Json& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(bool) const { return "boolean"; }
    std::string operator()(std::int64_t) const { return "integer"; }
    std::string operator()(std::uint64_t) const { return "integer"; }
    std::string operator()(double) const { return "number"; }
    std::string operator()(const std::string&) const { return "string"; }
    std::string operator()(const Json::Array& list) const {
      return list.empty() ? "list" : "list of " + type_of(list.front()) + "s";
    }
    std::string operator()(const Json::Object&) const { return "object"; }
  };
  return value.visit(Visitor());
}

void collect(const Json& value, const std::string& prefix, Members& members) {
  if (const auto* object = value.as<Json::Object>())
    for (const auto& [name, member] : *object) {
      const std::string path = prefix.empty() ? name : prefix + "." + name;
      members[path].insert(type_of(member));
      collect(member, path, members);
    }
  if (const auto* list = value.as<Json::Array>())
    for (const Json& entry : *list)
      if (entry.as<Json::Object>() != nullptr) collect(entry, prefix.empty() ? "" : prefix + "[]", members);
}

/// Returns the members in the table under a heading of docs/command-line.md.
Members documented(const std::string& heading) {
  std::ifstream page(PATCHFOLD_SOURCES "/docs/command-line.md");
  Members members;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) inside = line == "### " + heading;
    if (!inside || !line.starts_with("| `")) continue;
    const std::size_t end = line.find('`', 3), type = line.find("| ", end) + 2;
    std::string types = line.substr(type, line.find(" |", type) - type);
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t next = types.find(" or ", at);
      members[line.substr(3, end - 3)].insert(types.substr(at, next == std::string::npos ? next : next - at));
      at = next == std::string::npos ? next : next + 4;
    }
  }
  EXPECT_FALSE(members.empty()) << heading;
  return members;
}

/// Expects that the printed members and their types are exactly the documented ones.
void expect_as_documented(const std::string& text, const std::string& heading) {
  SCOPED_TRACE(heading);
  Members given;
  collect(parse(text), "", given);
  const Members expected = documented(heading);
  for (const auto& [name, types] : given) {
    const auto found = expected.find(name);
    if (found == expected.end()) {
      ADD_FAILURE() << name << " is not documented";
      continue;
    }
    for (const std::string& type : types) {
      const bool fits = found->second.contains(type) || (type == "integer" && found->second.contains("number")) ||
                        (type == "list" && found->second.begin()->starts_with("list"));
      EXPECT_TRUE(fits) << name << " is a " << type;
    }
  }
  for (const auto& [name, types] : expected) {
    const std::string parent = name.substr(0, name.find_last_of('.'));
    const bool may_lack = parent != name && given.contains(parent) && given[parent].contains("null");
    EXPECT_TRUE(given.contains(name) || may_lack) << name << " is missing";
  }
}

/// Returns a command's standard output, and expects nothing on standard error.
std::string json_of(const Folder& folder, const std::string& command) {
  const Outcome outcome = folder.run(command + " --json");
  EXPECT_EQ(outcome.code, 0) << command << outcome.err;
  EXPECT_EQ(outcome.err, "") << command;
  EXPECT_TRUE(outcome.out.ends_with("\n"));
  return outcome.out;
}

const Json& member(const Json& object, const char* name) {
  return object.as<Json::Object>()->at(name);
}

TEST(JsonOutput, HasTheDocumentedMembers) {
  const Folder folder;
  folder.write("image.npy", npy_bytes(npy<float>("<f4", {1, 3, 8, 8}, std::vector<float>(192))));
  write_array(folder, "picture.npy", random_array({50, 70, 3}, DType::uint8));
  expect_as_documented(json_of(folder, "run unfold image.npy --kernel_size 3,3 -o out.npy"), "run");
  expect_as_documented(json_of(folder, "run coverage --output_size 4,4 --kernel_size 2,2 -o out.npy"), "run");
  const std::string split = "split picture.npy tiles --tile 16 --overlap 4 --axes 0,1";
  expect_as_documented(json_of(folder, split + " --dry-run"), "split");
  expect_as_documented(json_of(folder, split), "split");
  expect_as_documented(json_of(folder, "merge tiles out.npy --dry-run"), "merge");
  expect_as_documented(json_of(folder, "merge tiles out.npy"), "merge");
  expect_as_documented(json_of(folder, "explain unfold --shape 1,3,8,8 --kernel_size 3,3"), "explain");
  expect_as_documented(json_of(folder, "explain coverage --output_size 4,4 --kernel_size 2,2"), "explain");
  expect_as_documented(json_of(folder, "ops"), "ops");
  expect_as_documented(json_of(folder, "errors"), "errors");
}

TEST(JsonOutput, OfBenchmarksHasTheDocumentedMembers) {
  const Folder folder;
  const std::vector<std::string> bench = {"bench", "unfold f32 1x3x64x64 k3x3", "--rounds", "1", "--json"};
  expect_as_documented(folder.run(bench).out, "bench");
}

TEST(JsonOutput, SaysWhatTheTextSays) {
  const Folder folder;
  folder.write("image.npy", npy_bytes(npy<float>("<f4", {1, 3, 8, 8}, std::vector<float>(192))));
  const Json run = parse(json_of(folder, "run unfold image.npy --kernel_size 3,3 -o out.npy"));
  EXPECT_EQ(formats::to_string(member(run, "output")),
            R"({"dtype":"float32","file":"out.npy","format":"npy","shape":[1,27,36]})");
  EXPECT_EQ(formats::to_string(member(run, "bytes")), std::to_string((192 + 27 * 36) * 4));
  const Json explained = parse(json_of(folder, "explain unfold f32 1x3x8x8 k3x3"));
  EXPECT_EQ(*member(explained, "text").as<std::string>(), explain(parse_problem("unfold f32 1x3x8x8 k3x3")));
  EXPECT_EQ(formats::to_string(member(explained, "output")), "[1,27,36]");
  EXPECT_EQ(json_of(folder, "explain unfold --shape 1,3,8,8 --kernel_size 3,3"),
            json_of(folder, "explain unfold f32 1x3x8x8 k3x3"));
  const Json op = parse(json_of(folder, "ops onnx.Col2Im"));
  EXPECT_EQ(*member(op, "name").as<std::string>(), "onnx.Col2Im-18");
  const Json code = parse(json_of(folder, "errors PF_ERROR_DIVISIBLE"));
  EXPECT_EQ(*member(code, "code").as<std::string>(), "divisible");

  write_array(folder, "picture.npy", random_array({50, 70, 3}, DType::uint8));
  const std::string split = "split picture.npy tiles --tile 16 --axes 0,1";
  EXPECT_EQ(formats::to_string(member(parse(json_of(folder, split)), "written")), "20");
  EXPECT_EQ(formats::to_string(member(parse(json_of(folder, split)), "skipped")), "20");
  EXPECT_EQ(formats::to_string(member(parse(json_of(folder, "merge tiles out.npy")), "grid")), "[4,5]");
}

TEST(JsonOutput, LeavesStandardOutputToData) {
  const Folder folder;
  folder.write("image.npy", npy_bytes(npy<float>("<f4", {1, 3, 8, 8}, std::vector<float>(192))));
  write_array(folder, "picture.npy", random_array({50, 70, 3}, DType::uint8));
  run_well(folder, "split picture.npy tiles --tile 16 --axes 0,1");
  const Outcome run = folder.run("run unfold image.npy --kernel_size 3,3 -o - --json");
  EXPECT_FALSE(npy_of(run.out).descr.empty());
  expect_as_documented(run.err, "run");
  const Outcome merge = folder.run("merge tiles - --json");
  EXPECT_EQ(merge.out, folder.read("picture.npy"));
  expect_as_documented(merge.err, "merge");
}

TEST(Reports, GoToStandardErrorAndAnswersToStandardOutput) {
  const Folder folder;
  folder.write("image.npy", npy_bytes(npy<float>("<f4", {1, 3, 8, 8}, std::vector<float>(192))));
  write_array(folder, "picture.npy", random_array({50, 70, 3}, DType::uint8));
  for (const char* report : {"run unfold image.npy --kernel_size 3,3 -o out.npy",
                             "split picture.npy tiles --tile 16 --axes 0,1", "merge tiles out.npy"}) {
    const Outcome said = folder.run(report);
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(said.out, "") << report;
    EXPECT_EQ(count_of(said.err, "\n"), 1U) << said.err;
    const Outcome quiet = folder.run(std::string(report) + " -q");
    EXPECT_EQ(quiet.out + quiet.err, "") << report;
    EXPECT_EQ(folder.run(std::string(report) + " -q --json").code, 2) << report;
  }
  for (const char* answer :
       {"split picture.npy tiles --tile 16 --axes 0,1 --dry-run", "merge tiles out.npy --dry-run", "ops", "errors",
        "ops unfold", "errors usage", "explain unfold f32 1x3x8x8 k3x3", "--help", "--version"}) {
    const Outcome said = folder.run(answer);
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(said.err, "") << answer;
    EXPECT_NE(said.out, "") << answer;
  }
  EXPECT_EQ(folder.run("merge tiles - --dry-run").out, "");
}

TEST(JsonErrors, AreObjectsOnStandardError) {
  const Folder folder;
  folder.write("image.npy", npy_bytes(npy<float>("<f4", {1, 3, 8, 8}, std::vector<float>(192))));
  folder.write("tiles/plan.json", "{}");
  const struct {
    const char* command;
    const char* code;
    int exit_code;
  } wrong[] = {{"splt --json", "usage", 2},
               {"run unfold image.npy -o out.npy --json", "missing", 2},
               {"run unfold missing.npy --kernel_size 3,3 -o out.npy --json", "file_open", 1},
               {"run fold image.npy --kernel_size 3,3 --output_size 8,8 -o out.npy --json", "divisible", 1},
               {"run unfold image.npy --kernel_size 3,3 -o out.npy --nonsense 1 --json", "unknown_argument", 2},
               {"split missing.png tiles --tile 16 --json", "file_open", 1},
               {"split missing.png tiles --json", "usage", 2},
               {"merge tiles out.npy --json", "file_format", 1},
               {"merge --json", "usage", 2},
               {"explain unfold f32 1x3x8x8 --json", "missing", 2},
               {"ops nonsense --json", "unknown_operator", 2},
               {"errors nonsense --json", "usage", 2},
               {"bench nonsense --json", "unknown_operator", 2}};
  for (const auto& [command, code, exit_code] : wrong) {
    SCOPED_TRACE(command);
    const Outcome outcome = folder.run(command);
    EXPECT_EQ(outcome.code, exit_code) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(count_of(outcome.err, "\n"), 1U) << outcome.err;
    expect_as_documented(outcome.err, "An error");
    const Json json = parse(outcome.err);
    const Json& error = member(json, "error");
    EXPECT_EQ(*member(error, "code").as<std::string>(), code);
    EXPECT_EQ(*member(error, "exit_code").as<std::int64_t>(), exit_code);
    std::string plain = command;
    plain.erase(plain.find(" --json"));
    const std::string text = folder.run(plain).err;
    EXPECT_EQ(text, "patchfold: " + *member(error, "message").as<std::string>() + " [" + code + "]\n");
  }
}

}  // namespace
}  // namespace patchfold::cli_test
