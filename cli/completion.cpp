// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.hpp"

#include <algorithm>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/explain.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/output_file.hpp"

namespace patchfold::cli {
namespace {

struct Shell {
  const char* name;
  std::string (*script)(std::span<const Completed>);
};
constexpr Shell shells[] = {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}};

constexpr const char* doc = "Prints a script with which a shell completes commands, operators, options and their values.";
constexpr const char* footer =
    "`cmake --install` puts the scripts where shells find them. To load one yourself:\n"
    "  bash (4 or newer), in ~/.bashrc:  source <(patchfold completion bash)\n"
    "  zsh, in a folder of $fpath:       patchfold completion zsh -o ~/.zfunc/_patchfold\n"
    "  fish:                             patchfold completion fish -o ~/.config/fish/completions/patchfold.fish\n"
    "\n"
    "Example: patchfold completion bash";

/// What `patchfold completion` reads.
struct CompletionCommand {
  CompletionCommand() {
    command.usage("patchfold completion bash|zsh|fish [-o FILE]");
    command.footer(footer);
    const auto word = command.word("SHELL", shell, "bash, zsh or fish", "");
    command.choices(word, {"bash", "zsh", "fish"});
    command.completes(command.option("-o,--output", output, "FILE", "where the script goes; default: standard output"),
                      Completion::file);
  }

  std::string shell{}, output{};
  Command command{doc, "patchfold completion"};
};

/// The name without its version, where that means this operator.
std::string short_name(const OperatorSpec& op) {
  const std::string_view name = op.name;
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view plain = name.substr(0, dash);
  try {
    return find_operator(plain).name == name ? std::string(plain) : "";
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

std::vector<Completed> all_completed() {
  std::vector<Completed> all;
  for (const CommandEntry& entry : commands()) {
    const bool takes_operator = entry.name == "run" || entry.name == "explain";
    all.push_back({std::string(entry.name), "", entry.info(), takes_operator});
    if (!takes_operator) continue;
    for (const OperatorSpec& op : operators()) {
      const CommandInfo info = entry.name == "run" ? run_info(op) : explain_info(op);
      all.push_back({std::string(entry.name), std::string(op.name), info});
      if (const std::string name = short_name(op); !name.empty()) all.push_back({std::string(entry.name), name, info});
    }
    if (entry.name == "explain") all.push_back({std::string(entry.name), "tiling", explain_tiling_info()});
  }
  return all;
}

CommandInfo completion_info() {
  return CompletionCommand().command.info();
}

void run_completion(const std::vector<std::string>& words) {
  CompletionCommand all;
  if (const std::string help = all.command.parse(words); !help.empty()) return print(help);
  const auto shell =
      std::find_if(std::begin(shells), std::end(shells), [&](const Shell& each) { return each.name == all.shell; });
  if (all.shell.empty()) fail_usage("completion", "SHELL", "is required", "", "bash, zsh or fish");
  if (shell == std::end(shells)) fail_usage("completion", "SHELL", "is unknown", all.shell, "bash, zsh or fish");
  const std::string script = shell->script(all_completed());
  if (all.output.empty()) return print(script);
  formats::OutputFile file(all.output, "completion");
  file.write(script.data(), script.size());
  file.commit();
}

}  // namespace patchfold::cli
