// SPDX-License-Identifier: Apache-2.0
// The scripts for bash, zsh and fish. They hold everything themselves: completing does not run the program.
#include <algorithm>
#include <map>
#include <set>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/text.hpp"
#include "patchfold/version.hpp"

namespace patchfold::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator = " ") {
  std::string text;
  for (const std::string& word : words) text += text_of(text.empty() ? "" : separator, word);
  return text;
}

/// In single quotes, as bash and zsh read them.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) c == '\'' ? result += "'\\''" : result += c;
  return result + "'";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

const OptionInfo& help_option() {
  static const OptionInfo option{.names = {"-h", "--help"}, .doc = "print this help", .is_flag = true, .values = 0};
  return option;
}

/// The options of a command, with --help.
std::vector<OptionInfo> options_of(const CommandInfo& info) {
  std::vector<OptionInfo> options;
  for (const OptionInfo& option : info.options)
    if (!option.is_word) options.push_back(option);
  options.push_back(help_option());
  return options;
}

/// What completes a value: words, "@file", "@folder", or nothing.
std::string values_of(const OptionInfo& option) {
  if (!option.choices.empty()) return joined(option.choices);
  return option.completion == Completion::file ? "@file" : option.completion == Completion::folder ? "@folder" : "";
}

/// Operators as words, and what else may stand for one behind this command.
std::vector<std::string> operators_of(std::span<const Completed> all, std::string_view command) {
  std::vector<std::string> names;
  for (const Completed& each : all)
    if (each.command == command && !each.op.empty()) names.push_back(each.op);
  return names;
}

/// Options that take no value, of all commands.
std::set<std::string> flags_of(std::span<const Completed> all) {
  std::set<std::string> flags;
  for (const Completed& each : all)
    for (const OptionInfo& option : options_of(each.info))
      if (option.is_flag) flags.insert(option.names.begin(), option.names.end());
  return flags;
}

/// Lines "    PATTERN|PATTERN) STATEMENT=VALUE ;;", one for each value.
std::string bash_cases(const std::map<std::string, std::vector<std::string>>& patterns, std::string_view variable) {
  std::string text;
  for (const auto& [value, keys] : patterns) {
    std::string line;
    for (const std::string& key : keys) line += text_of(line.empty() ? "    " : " | \\\n      ", in_quotes(key));
    text += text_of(line, ") ", variable, "=", in_quotes(value), " ;;\n");
  }
  return text;
}

constexpr std::string_view bash_body = R"(
_patchfold() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local word command='' operator='' place=0 skipped=0 i options values
  COMPREPLY=()
  # Readline takes --option=value apart at the equals sign.
  if [[ $cur == = ]]; then
    cur=''
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if ((skipped)); then
      if [[ $word != = ]]; then skipped=0; fi
    elif [[ $word == -?* ]]; then
      if [[ " $_patchfold_flags " != *" $word "* ]]; then skipped=1; fi
    elif [[ -z $command ]]; then
      command=$word
    elif [[ -z $operator && " $_patchfold_takes_operator " == *" $command "* ]]; then
      operator=$word
    else
      ((place++))
    fi
  done
  if ((skipped)); then
    _patchfold_values "$command $operator $prev"
  elif [[ $cur == -?* || ($cur == - && -n $command) ]]; then
    _patchfold_options "$command $operator"
    values=$options
  elif [[ -z $command ]]; then
    values=$_patchfold_commands
  elif [[ -z $operator && " $_patchfold_takes_operator " == *" $command "* ]]; then
    _patchfold_operators "$command"
  else
    _patchfold_words "$command $place"
  fi
  case $values in
    @file) compopt -o default ;;
    @folder) compopt -o dirnames ;;
    ?*) mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur") ;;
  esac
}
complete -F _patchfold patchfold
)";

/// The lines of fish: `condition` says where an option belongs.
std::string fish_option(const OptionInfo& option, const std::string& condition) {
  const auto quoted = [](std::string text) {
    return "'" + replaced(replaced(std::move(text), "\\", "\\\\"), "'", "\\'") + "'";
  };
  std::string line = text_of("complete -c patchfold -n ", quoted(condition));
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? text_of(" -l ", name.substr(2)) : text_of(" -s ", name.substr(1));
  if (!option.is_flag) {
    const std::string values = values_of(option);
    if (values == "@file")
      line += " -r -F";
    else if (values == "@folder")
      line += " -x -a '(__fish_complete_directories)'";
    else
      line += values.empty() ? " -x" : text_of(" -x -a ", quoted(values));
  }
  return text_of(line, " -d ", quoted(option.doc), "\n");
}

/// A specification of zsh's _arguments.
std::string zsh_option(const OptionInfo& option) {
  const auto escaped = [](std::string text) {
    for (const char* special : {"[", "]", ":"}) text = replaced(std::move(text), special, text_of("\\", special));
    return text;
  };
  std::string value;
  if (!option.is_flag) {
    const std::string values = values_of(option);
    const std::string action = values == "@file"     ? "_files"
                               : values == "@folder" ? "_files -/"
                               : values.empty()      ? " "
                                                     : text_of("(", values, ")");
    for (int i = 0; i < option.values; ++i) value += text_of(":", escaped(option.form), ":", action);
  }
  std::string text;
  for (const std::string& name : option.names) {
    const std::string others = option.names.size() > 1 ? text_of("(", joined(option.names), ")") : "";
    const std::string mark = option.is_flag || option.values > 1 ? "" : name.starts_with("--") ? "=" : "+";
    text += text_of("      ", in_quotes(text_of(others, name, mark, "[", escaped(option.doc), "]", value)), "\n");
  }
  return text;
}

std::string zsh_words(const Completed& each) {
  std::string text;
  if (!each.op.empty()) text += "      '1: :'\n";  // the operator, which is there already
  for (const OptionInfo& word : each.info.options) {
    if (!word.is_word) continue;
    const std::string values = values_of(word);
    const std::string action = values == "@file" ? "_files" : values == "@folder" ? "_files -/" : text_of("(", values, ")");
    text += text_of("      ",
                    in_quotes(text_of(word.is_repeated ? "*" : "", ":", word.names[0], ":", values.empty() ? "()" : action)),
                    "\n");
  }
  return text;
}

}  // namespace

std::string bash_completion(std::span<const Completed> all) {
  std::map<std::string, std::vector<std::string>> options, values, words, named;
  std::vector<std::string> names, takes_operator;
  for (const Completed& each : all) {
    const std::string context = text_of(each.command, " ", each.op);
    std::vector<std::string> own;
    for (const OptionInfo& option : options_of(each.info))
      for (const std::string& name : option.names) {
        own.push_back(name);
        const std::string completed = values_of(option);
        if (!option.is_flag && !completed.empty()) values[completed].push_back(text_of(context, " ", name));
      }
    options[joined(own)].push_back(context);
    if (!each.op.empty()) continue;
    names.push_back(each.command);
    if (!each.takes_operator) continue;
    takes_operator.push_back(each.command);
    named[joined(operators_of(all, each.command))].push_back(each.command);
  }
  for (const Completed& each : all) {
    int place = 0;
    if (each.op.empty() ? each.takes_operator : each.op != operators_of(all, each.command).front()) continue;
    for (const OptionInfo& word : each.info.options) {
      if (!word.is_word) continue;
      const std::string completed = values_of(word);
      for (const int last = word.is_repeated ? 8 : place; place <= last; ++place)
        if (!completed.empty()) words[completed].push_back(text_of(each.command, " ", place));
    }
  }
  names.insert(names.end(), {"--help", "--version"});
  const auto function = [](std::string_view name, std::string_view variable, const auto& patterns) {
    return text_of("\n", name, "() {\n  case $1 in\n", bash_cases(patterns, variable), "    *) ", variable, "='' ;;\n",
                   "  esac\n}\n");
  };
  const std::set<std::string> flags = flags_of(all);
  return text_of("# shellcheck shell=bash disable=SC2034\n# Completion of patchfold ", PATCHFOLD_VERSION_STRING,
                 " for bash 4 or newer. Written by `patchfold completion bash`.\n",
                 "_patchfold_commands=", in_quotes(joined(names)),
                 "\n_patchfold_takes_operator=", in_quotes(joined(takes_operator)),
                 "\n_patchfold_flags=", in_quotes(joined({flags.begin(), flags.end()})), "\n",
                 function("_patchfold_operators", "values", named), function("_patchfold_options", "options", options),
                 function("_patchfold_values", "values", values), function("_patchfold_words", "values", words), bash_body);
}

std::string zsh_completion(std::span<const Completed> all) {
  std::string names, named, cases;
  for (const CommandEntry& entry : commands())
    names += text_of("    ", in_quotes(text_of(entry.name, ":", entry.summary)), "\n");
  const auto add_case = [&](const std::string& pattern, const std::string& specifications) {
    cases += text_of("    ", pattern, ") specifications=(\n", specifications, "    ) ;;\n");
  };
  for (const Completed& each : all) {
    std::string specifications;
    for (const OptionInfo& option : options_of(each.info)) specifications += zsh_option(option);
    const bool waits = each.op.empty() && each.takes_operator;
    if (waits)
      named += text_of("    ", each.command, ") operators=", in_quotes(joined(operators_of(all, each.command))), " ;;\n");
    if (waits) specifications += "      '1:operator:($operators)'\n";
    add_case(in_quotes(text_of(each.command, " ", each.op)),
             replaced(waits ? specifications : specifications + zsh_words(each), "'1:operator:($operators)'",
                      "\"1:operator:($operators)\""));
  }
  return text_of(
      "#compdef patchfold\n# Completion of patchfold ", PATCHFOLD_VERSION_STRING,
      " for zsh. Written by `patchfold completion zsh`.\n\n_patchfold() {\n  local curcontext=\"$curcontext\" state "
      "line operators=''\n  local -a commands specifications\n  commands=(\n",
      names,
      R"(  )
  _arguments -C '(- *)'{-h,--help}'[print this help]' '(- *)--version[print the version]' '1: :->command' '*:: :->rest' && return
  if [[ $state == command ]]; then
    _describe -t commands command commands
    return
  fi
  case "$words[1]" in
)",
      named, R"(  esac
  local word operator=''
  for word in ${words[2,CURRENT-1]}; do
    if [[ " $operators " == *" $word "* ]]; then
      operator=$word
      break
    fi
  done
  case "$words[1] $operator" in
)",
      cases, "    *) return 1 ;;\n  esac\n  _arguments -s : $specifications\n}\n\n",
      "if [[ $funcstack[1] == _patchfold ]]; then\n  _patchfold \"$@\"\nelse\n  compdef _patchfold patchfold\nfi\n");
}

std::string fish_completion(std::span<const Completed> all) {
  const std::set<std::string> flags = flags_of(all);
  std::string text = text_of("# Completion of patchfold ", PATCHFOLD_VERSION_STRING,
                             " for fish 3 or newer. Written by `patchfold completion fish`.\n\n",
                             "# The words that are neither options nor values of options.\n",
                             "function __patchfold_words\n    set -l skipped 0\n    for word in (commandline -opc)[2..-1]\n",
                             "        if test $skipped = 1\n            set skipped 0\n",
                             "        else if string match -q -- '-?*' $word\n            if not contains -- $word ",
                             joined({flags.begin(), flags.end()}),
                             "; and not string match -q -- '*=*' $word\n                set skipped 1\n            end\n",
                             "        else\n            echo $word\n        end\n    end\nend\n",
                             R"(
# Whether the command is $argv[1], and, if it is given, the operator one of $argv[2..-1].
function __patchfold_at
    set -l words (__patchfold_words)
    test (count $words) -ge 1; and test $words[1] = $argv[1]; or return 1
    test (count $argv) -eq 1; and return 0
    test (count $words) -ge 2; and contains -- $words[2] $argv[2..-1]
end

# Whether $argv[2] words stand behind the command $argv[1].
function __patchfold_place
    set -l words (__patchfold_words)
    test (count $words) -ge 1; and test $words[1] = $argv[1]; and test (math (count $words) - 1) -eq $argv[2]
end

complete -c patchfold -f
complete -c patchfold -n 'test (count (__patchfold_words)) -eq 0' -s h -l help -d 'print this help'
complete -c patchfold -n 'test (count (__patchfold_words)) -eq 0' -l version -d 'print the version'
)");
  for (const CommandEntry& entry : commands())
    text += text_of("complete -c patchfold -n 'test (count (__patchfold_words)) -eq 0' -a ", entry.name, " -d ",
                    in_quotes(entry.summary), "\n");
  for (const Completed& each : all) {
    const bool waits = each.op.empty() && each.takes_operator;
    if (waits)
      text += text_of("complete -c patchfold -n '__patchfold_place ", each.command, " 0' -a ",
                      in_quotes(joined(operators_of(all, each.command))), "\n");
    const std::string condition = each.op.empty() ? waits ? text_of("__patchfold_place ", each.command, " 0")
                                                          : text_of("__patchfold_at ", each.command)
                                                  : text_of("__patchfold_at ", each.command, " ", each.op);
    for (const OptionInfo& option : options_of(each.info)) text += fish_option(option, condition);
    int place = each.op.empty() ? 0 : 1;
    for (const OptionInfo& word : each.info.options) {
      if (!word.is_word || waits) continue;
      const std::string values = values_of(word);
      const std::string where =
          word.is_repeated || !each.op.empty() ? condition : text_of("__patchfold_place ", each.command, " ", place++);
      if (values.empty()) continue;
      text += text_of("complete -c patchfold -n '", where, "'",
                      values == "@file"     ? " -F"
                      : values == "@folder" ? " -a '(__fish_complete_directories)'"
                                            : text_of(" -a ", in_quotes(values)),
                      "\n");
    }
  }
  return text;
}

}  // namespace patchfold::cli
