// SPDX-License-Identifier: Apache-2.0
// `patchfold completion` prints a script for a shell. At every tab the script asks `patchfold __complete WORD...`. Each line of the
// answer is a word, followed by a tab and its meaning. The line ":file" or ":folder" asks the shell to list files or folders.
#include <algorithm>
#include <iterator>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/output_file.hpp"

namespace patchfold::cli {
namespace {

constexpr std::string_view bash_script = R"bash(# shellcheck shell=bash
# Completion of patchfold for bash 4 or newer.
_patchfold() {
  local values current=${COMP_WORDS[COMP_CWORD]}
  values=$(command "${1/#\~/$HOME}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null | cut -f 1)
  COMPREPLY=()
  case $values in
    :file) compopt -o default ;;
    :folder) compopt -o dirnames ;;
    *) mapfile -t COMPREPLY < <(compgen -W "$values" -- "${current#=}") ;;
  esac
}
complete -F _patchfold patchfold
)bash";

constexpr std::string_view zsh_script = R"zsh(#compdef patchfold
_patchfold() {
  local -a lines
  lines=(${(f)"$(command ${(Q)~words[1]} __complete "${(@)words[2,CURRENT]}" 2> /dev/null)"})
  compset -P '--*='
  case $lines[1] in
    :file) _files ;;
    :folder) _files -/ ;;
    *) lines=(${lines/$'\t'/:}) && _describe -t values value lines ;;
  esac
}
if [[ $funcstack[1] == _patchfold ]]; then
  _patchfold "$@"
else
  compdef _patchfold patchfold
fi
)zsh";

constexpr std::string_view fish_script = R"fish(# Completion of patchfold for fish 3 or newer.
function __patchfold
    set -l words (commandline -opc | string replace -r '^~' ~)
    set -l current (commandline -ct)
    command -q $words[1]; or return
    set -l option (string match -r -- '^--[^=]*=' "$current")
    for line in (command $words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :file
                set line (__fish_complete_path (string replace -- "$option" '' "$current"))
            case :folder
                set line (__fish_complete_directories (string replace -- "$option" '' "$current"))
        end
        for value in $line
            printf '%s\n' "$option$value"
        end
    end
end
complete -c patchfold -f -a '(__patchfold)'
)fish";

struct Shell {
  std::string_view name;
  std::string_view script;
};
constexpr Shell shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

constexpr const char* doc = "Prints a script with which a shell completes commands, operators, options and their values.";
constexpr const char* footer =
    "`cmake --install` puts the scripts where shells find them. To load one yourself:\n"
    "  bash (4 or newer), in ~/.bashrc:  source <(patchfold completion bash)\n"
    "  zsh, in a folder of $fpath:       patchfold completion zsh -o ~/.zfunc/_patchfold\n"
    "  fish:                             patchfold completion fish -o ~/.config/fish/completions/patchfold.fish\n"
    "\n"
    "Example: patchfold completion bash";

/// Reads the words of `patchfold completion`.
struct CompletionCommand {
  CompletionCommand() {
    command.usage("patchfold completion bash|zsh|fish [-o FILE]");
    command.footer(footer);
    command.choices(command.word("SHELL", shell, "bash, zsh or fish", ""), {"bash", "zsh", "fish"});
    command.completes(command.option("-o,--output", output, "FILE", "where the script goes; default: standard output"),
                      Completion::file);
  }

  std::string shell{}, output{};
  Command command{doc, "patchfold completion"};
};

std::string line_of(std::string_view word, std::string_view meaning = {}) {
  return text_of(word, meaning.empty() ? "" : "\t", meaning, "\n");
}

bool takes_operator(std::string_view command) {
  return command == "run" || command == "explain";
}

/// Returns the options of a command, and those of the operator if `op` names one.
std::vector<OptionInfo> options_of(std::string_view command, std::string_view op) {
  const auto entry = std::ranges::find(commands(), command, &CommandEntry::name);
  if (entry == commands().end()) return {};
  if (!takes_operator(command) || op.empty()) return entry->options();
  if (command == "explain" && op == "tiling") return explain_tiling_options();
  try {
    return command == "run" ? run_options(find_operator(op)) : explain_options(find_operator(op));
  } catch (const Error&) {
    return entry->options();
  }
}

/// Returns the names of operators that `command` takes: each with its version, and also without it if the short name means the same
/// operator.
std::string operator_lines(std::string_view command) {
  std::string lines;
  for (const OperatorSpec& op : operators()) {
    lines += line_of(op.name);
    const std::string_view plain = op.name.substr(0, op.name.rfind('-'));
    try {
      if (plain != op.name && find_operator(plain).name == op.name) lines += line_of(plain);
    } catch (const Error&) {
    }
  }
  return command == "explain" ? lines + line_of("tiling") : lines;
}

std::string value_lines(const OptionInfo& option) {
  std::string lines;
  for (const std::string& choice : option.choices) lines += line_of(choice);
  if (!lines.empty() || option.completion == Completion::nothing) return lines;
  return line_of(option.completion == Completion::file ? ":file" : ":folder");
}

/// Returns the option with this name. An unknown name, perhaps misspelt, becomes an option that takes a value of any kind.
OptionInfo option_named(const std::vector<OptionInfo>& options, std::string_view name) {
  for (const OptionInfo& option : options)
    if (std::ranges::find(option.names, name) != option.names.end()) return option;
  return {.values = name.starts_with("--") ? 1 : 0};
}

}  // namespace

std::string candidates(const std::vector<std::string>& words) {
  const OptionInfo help{.names = {"-h", "--help"}, .doc = "print this help", .values = 0};
  std::vector<OptionInfo> options = {help, {.names = {"--version"}, .doc = "print the version", .values = 0}};
  std::string command, op;
  OptionInfo option;
  int values = 0;  // how many values of `option` are still to be typed
  int place = 0;   // the number of the next word that is not an option, without the command and the operator
  const auto read = [&](std::string& name, const std::string& word) {
    name = word;
    options = options_of(command, op);
    options.push_back(help);
  };
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (values > 0) {
      if (word != "=") --values;  // bash splits --option=value at the "="
    } else if (word.starts_with('-') && word != "-") {
      option = option_named(options, word);
      values = word.find('=') == std::string::npos ? option.values : 0;
    } else if (command.empty()) {
      read(command, word);
    } else if (op.empty() && takes_operator(command)) {
      read(op, word);
    } else {
      ++place;
    }
  }
  const std::string current = words.empty() ? "" : words.back();
  if (values > 0) return value_lines(option);
  if (const std::size_t equals = current.find('='); current.starts_with("--") && equals != std::string::npos)
    return value_lines(option_named(options, current.substr(0, equals)));
  std::string lines;
  if (current.starts_with('-')) {
    for (const OptionInfo& each : options)
      for (const std::string& name : each.names)
        if (!each.is_word) lines += line_of(name, each.doc);
  } else if (command.empty()) {
    for (const CommandEntry& entry : commands()) lines += line_of(entry.name, entry.summary);
  } else if (op.empty() && takes_operator(command)) {
    lines = operator_lines(command);
  } else {
    for (const OptionInfo& each : options)
      if (each.is_word && (each.is_repeated || place-- == 0)) return value_lines(each);
  }
  return lines;
}

std::vector<OptionInfo> completion_options() {
  return CompletionCommand().command.options();
}

void run_completion(const std::vector<std::string>& words) {
  CompletionCommand all;
  if (const std::string help = all.command.parse(words); !help.empty()) return print(help);
  const auto shell = std::ranges::find(shells, all.shell, &Shell::name);
  if (all.shell.empty()) fail_usage("completion", "SHELL", "is required", "", "bash, zsh or fish");
  if (shell == std::end(shells)) fail_usage("completion", "SHELL", "is unknown", all.shell, "bash, zsh or fish");
  if (all.output.empty()) return print(shell->script);
  formats::OutputFile file(all.output, "completion");
  file.write(shell->script.data(), shell->script.size());
  file.commit();
}

}  // namespace patchfold::cli
