// SPDX-License-Identifier: Apache-2.0
// Tests completions in real shells: the test types keys on a terminal, and the shell runs the completed line.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "cli/commands.hpp"
#include "patchfold/table.hpp"
#include "tests/cli/program.hpp"
#include "tests/cli/tiles.hpp"

namespace patchfold::cli_test {
namespace {

constexpr const char* prompt = "ready> ";

/// Returns the output of a shell command.
std::string output_of(const Folder& folder, const std::string& command) {
  const std::string whole = "cd '" + folder.path("").string() + "' && { " + command + "\n} > output.txt 2>&1";
  EXPECT_EQ(std::system(("bash -c '" +
                         [&] {
                           std::string quoted;
                           for (const char c : whole) c == '\'' ? quoted += "'\\''" : quoted += c;
                           return quoted;
                         }() +
                         "'")
                            .c_str()),
            0)
      << command << "\n"
      << folder.read("output.txt");
  return folder.read("output.txt");
}

/// A shell in a folder, on a terminal of its own. In this shell `patchfold` is a function that stores its arguments.
class Shell {
 public:
  Shell(const Folder& folder, const std::vector<std::string>& command) : folder_(folder) {
    terminal_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (terminal_ < 0 || ::grantpt(terminal_) != 0 || ::unlockpt(terminal_) != 0) throw std::runtime_error("no terminal");
    const std::string name = ::ptsname(terminal_);
    const std::string path = folder.path("").string();
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
      ::setsid();
      const int screen = ::open(name.c_str(), O_RDWR);
      for (int i = 0; i < 3; ++i) ::dup2(screen, i);
      if (::chdir(path.c_str()) != 0) ::_exit(126);
      ::setenv("HOME", path.c_str(), 1);
      ::setenv("ZDOTDIR", path.c_str(), 1);
      ::setenv("TERM", "dumb", 1);
      ::unsetenv("INPUTRC");
      ::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
    await(prompt);
  }
  Shell(const Shell&) = delete;
  Shell& operator=(const Shell&) = delete;
  ~Shell() {
    ::close(terminal_);
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  /// Types keys and Return. Returns the words after `patchfold` in the completed line, joined with blanks.
  std::string type(const std::string& keys) {
    std::filesystem::remove(folder_.path("words"));
    for (std::size_t at = 0; at < keys.size();)
      at += static_cast<std::size_t>(std::max<ssize_t>(::write(terminal_, keys.data() + at, keys.size() - at), 0));
    EXPECT_EQ(::write(terminal_, "\r", 1), 1);
    await(prompt);
    std::string words = folder_.read("words");
    std::replace(words.begin(), words.end(), '\n', ' ');
    return words.substr(0, words.find_last_not_of(' ') + 1);
  }

 private:
  /// Reads until the terminal shows the text.
  void await(const std::string& text) {
    std::string shown;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (shown.find(text) == std::string::npos && std::chrono::steady_clock::now() < end) {
      pollfd ready{terminal_, POLLIN, 0};
      char buffer[4096];
      if (::poll(&ready, 1, 100) <= 0) continue;
      const ssize_t count = ::read(terminal_, buffer, sizeof(buffer));
      if (count <= 0) break;
      shown.append(buffer, static_cast<std::size_t>(count));
    }
    EXPECT_NE(shown.find(text), std::string::npos) << shown;
  }

  const Folder& folder_;
  int terminal_ = -1;
  pid_t process_ = 0;
};

struct Typed {
  const char* keys;
  const char* words;
};

/// Typed keys, and the words that every shell must have after `patchfold` in the completed line.
const Typed typed[] = {
    {"patchfold spl\t", "split"},
    {"patchfold comp\tba\t", "completion bash"},
    {"patchfold run unf\t", "run unfold"},
    {"patchfold run torch.pixel_u\t", "run torch.pixel_unshuffle"},
    {"patchfold run unfold --kern\t", "run unfold --kernel_size"},
    {"patchfold run unfold in.npy --layout channels_l\t", "run unfold in.npy --layout channels_last"},
    {"patchfold run unfold in.npy --padding=same_u\t", "run unfold in.npy --padding=same_upper"},
    {"patchfold run unfold pho\t", "run unfold photo.png"},
    {"patchfold run unfold photo.png -o pho\t", "run unfold photo.png -o photo.png"},
    {"patchfold run unfold photo.png --as bfl\t", "run unfold photo.png --as bfloat16"},
    {"patchfold run onnx.Col2Im columns.npy --imag\t", "run onnx.Col2Im columns.npy --image_shape"},
    {"patchfold explain fold --sha\t", "explain fold --shape"},
    {"patchfold explain fo\t", "explain fold"},
    {"patchfold explain til\t", "explain tiling"},
    {"patchfold explain tiling --wind\t", "explain tiling --window"},
    {"patchfold explain tiling --tile 64 --tail shift_or\t", "explain tiling --tile 64 --tail shift_or_pad"},
    {"patchfold explain unfold --sv\t", "explain unfold --svg"},
    {"patchfold ops keras.ex\t", "ops keras.extract_patches"},
    {"patchfold errors divi\t", "errors divisible"},
    {"patchfold split pho\t", "split photo.png"},
    {"patchfold split photo.png ta\t", "split photo.png table/"},
    {"patchfold split photo.png tiles --names gr\t", "split photo.png tiles --names grid"},
    {"patchfold merge ta\t", "merge table/"},
    {"patchfold merge tiles out.png --win\t", "merge tiles out.png --window"},
    {"patchfold merge tiles out.png --window lin\t", "merge tiles out.png --window linear"},
    {"patchfold merge tiles out.png --proc\t", "merge tiles out.png --processed"},
    {"patchfold bench --with\t", "bench --without"},
};

/// Writes the files whose names the typed lines complete, and writes the completion script to `file`. Adds the program's
/// folder to PATH, since completions call the program by its name.
void prepare(const Folder& folder, const std::string& shell, const std::string& file) {
  const std::string programs = std::filesystem::path(PATCHFOLD_PROGRAM).parent_path().string();
  ASSERT_EQ(::setenv("PATH", (programs + ":" + std::getenv("PATH")).c_str(), 1), 0);
  ASSERT_EQ(folder.run("completion " + shell + " -o " + file).code, 0);
  folder.write("photo.png", "");
  folder.write("table/inside", "");
}

constexpr const char* recorder = R"(patchfold() { printf '%s\n' "$@" > words; })";

/// Removes a slash at the end. zsh keeps the slash after the name of a folder only if the line continues.
std::string without_slash(std::string words) {
  if (words.ends_with('/')) words.pop_back();
  return words;
}

TEST(Completion, OfBashCompletesTypedLines) {
  const Folder folder;
  prepare(folder, "bash", "patchfold.bash");
  folder.write("rc", std::string("PS1='") + prompt + "'\nbind 'set enable-bracketed-paste off'\nsource ./patchfold.bash\n" +
                         recorder + "\n");
  Shell shell(folder, {"bash", "--noprofile", "--rcfile", "rc", "-i"});
  for (const auto& [keys, words] : typed) EXPECT_EQ(shell.type(keys), words) << keys;
}

TEST(Completion, OfZshCompletesTypedLines) {
  if (!has_program("zsh")) GTEST_SKIP() << "zsh is not installed";
  const Folder folder;
  prepare(folder, "zsh", "_patchfold");
  folder.write(".zshrc", std::string("PS1='") + prompt + "'\nunset zle_bracketed_paste\nunsetopt prompt_sp\n" +
                             "fpath=($PWD $fpath)\nautoload -Uz compinit\ncompinit -u -D\n" + recorder + "\n");
  Shell shell(folder, {"zsh", "-d", "-i"});
  for (const auto& [keys, words] : typed) EXPECT_EQ(without_slash(shell.type(keys)), without_slash(words)) << keys;
}

TEST(Completion, OfFishCompletesTypedLines) {
  if (!has_program("fish")) GTEST_SKIP() << "fish is not installed";
  const Folder folder;
  prepare(folder, "fish", "patchfold.fish");
  std::string script = "source ./patchfold.fish\n";
  std::vector<const Typed*> asked;
  for (const Typed& each : typed) {
    const std::string keys = each.keys;
    if (std::count(keys.begin(), keys.end(), '\t') > 1) continue;  // fish completes one word only
    asked.push_back(&each);
    script += "echo (complete -C '" + keys.substr(0, keys.size() - 1) + "' | string replace -r '\\t.*' '')\n";
  }
  folder.write("ask.fish", script);
  const std::string text = output_of(folder, "HOME=$PWD fish --no-config ask.fish");
  EXPECT_EQ(count_of(text, "\n"), asked.size()) << text;
  std::size_t at = 0;
  for (const Typed* each : asked) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string words = each->words;
    EXPECT_EQ(text.substr(at, end - at), words.substr(words.rfind(' ') + 1)) << each->keys;
    at = std::min(end + 1, text.size());
  }
}

/// Returns the words that the program offers in place of the last word, each between blanks.
std::string offered(const std::vector<std::string>& words) {
  std::string text = " ";
  std::istringstream lines(cli::candidates(words));
  for (std::string line; std::getline(lines, line);) text += line.substr(0, line.find('\t')) + " ";
  return text;
}

void expect_offered(const std::vector<std::string>& words, std::string_view word) {
  const std::string text = offered(words);
  EXPECT_NE(text.find(" " + std::string(word) + " "), std::string::npos) << word << "\n" << text;
}

/// Expects that every option of a help text is offered, and returns the number of options.
std::size_t expect_options_of(const std::string& help, const std::vector<std::string>& words) {
  std::size_t found = 0;
  for (std::size_t at = help.find("\n  -"); at != std::string::npos; at = help.find("\n  -", at + 1), ++found) {
    const std::size_t dashes = help.find("--", at);
    expect_offered(words, help.substr(dashes, help.find_first_of(" ,\n", dashes) - dashes));
  }
  return found;
}

TEST(Completion, AnswersAQuestionOfTheScripts) {
  const Folder folder;
  const Outcome outcome = folder.run("__complete run unfold --layout ''");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "channels_first\nchannels_last\n");
  EXPECT_EQ(folder.run("__complete spl").out.find("ops\tlist the operators, or show one\nrun\t"), 0U);
  EXPECT_EQ(folder.run("__complete").out, folder.run("__complete ''").out);
  EXPECT_EQ(folder.run("__complete unknown --option value ''").out, "");
  EXPECT_EQ(offered({"split", "--tile=64", "-q", "in.png", ""}), " :folder ");
  EXPECT_EQ(offered({"run", "unfold", "--padding", "=", "same"}), offered({"run", "unfold", "--padding=same"}));
}

TEST(Completion, OffersTilingsWhereTheyAreExplained) {
  EXPECT_EQ(offered({"run", "til"}).find("tiling"), std::string::npos);
  expect_offered({"explain", "til"}, "tiling");
  EXPECT_GE(expect_options_of(Folder().run("explain tiling --help").out, {"explain", "tiling", "--"}), 10U);
}

TEST(Completion, OffersEveryArgumentOfEveryOperator) {
  for (const auto& op : operators()) {
    const std::string name(op.name);
    expect_offered({"run", ""}, name);
    for (const auto& argument : op.arguments) {
      const std::string option = "--" + std::string(argument.name);
      for (const char* command : {"run", "explain"}) expect_offered({command, name, "--"}, option);
      for (const auto choice : argument.choices) expect_offered({"run", name, option, ""}, choice);
    }
    for (const char* option : {"--output", "--json", "--batch", "--help"}) expect_offered({"run", name, "--"}, option);
    expect_offered({"explain", name, "--"}, "--dtype");
  }
}

TEST(Completion, OffersEveryOptionOfTheHelp) {
  const Folder folder;
  for (const auto& command : cli::commands()) {
    const std::string name(command.name);
    EXPECT_GE(expect_options_of(folder.run(name + " --help").out, {name, "--"}), name == "explain" ? 0U : 1U) << name;
  }
}

TEST(Completion, ScriptsAreSound) {
  const Folder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    SCOPED_TRACE(shell);
    const Outcome outcome = folder.run("completion " + shell);
    EXPECT_EQ(outcome.code, 0);
    ASSERT_EQ(folder.run("completion " + shell + " -o script").code, 0);
    EXPECT_EQ(folder.read("script"), outcome.out);
    const bool is_there = has_program(shell);
    EXPECT_EQ(is_there ? output_of(folder, shell + " -n script") : "", "");
  }
  if (!has_program("shellcheck")) GTEST_SKIP() << "shellcheck is not installed";
  ASSERT_EQ(folder.run("completion bash -o script").code, 0);
  EXPECT_EQ(output_of(folder, "shellcheck script"), "");
}

TEST(Completion, RefusesOtherShells) {
  const Folder folder;
  run_badly(folder, "completion", {"completion: SHELL: is required", "bash, zsh or fish"}, 2);
  run_badly(folder, "completion tcsh", {"completion: SHELL: is unknown", "tcsh", "bash, zsh or fish"}, 2);
  run_badly(folder, "completion bash -o missing/file", {"missing/file", "cannot be written"});
}

}  // namespace
}  // namespace patchfold::cli_test
