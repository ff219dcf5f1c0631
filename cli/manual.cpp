// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.hpp"

#include <algorithm>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/example.hpp"
#include "cli/report.hpp"
#include "cli/text.hpp"
#include "formats/output_file.hpp"
#include "patchfold/table.hpp"
#include "patchfold/version.hpp"

namespace patchfold::cli {
namespace {

/// When the pages were last gone over; man shows it below.
constexpr const char* page_date = "2026-11-23";

constexpr const char* doc =
    "Prints a manual page: of the program, of a command, or `operators`, the list of all operators with their arguments.";
constexpr const char* footer =
    "`cmake --install` puts the pages where man finds them: man patchfold, man patchfold-split, man 7 patchfold-operators.\n"
    "\n"
    "Example: patchfold man split | man -l -";

/// What `patchfold man` reads.
struct ManCommand {
  ManCommand() {
    command.usage("patchfold man [PAGE]\n       patchfold man --all FOLDER");
    command.footer(footer);
    const auto word = command.word("PAGE", page, "a command, or operators; default: the program", "");
    std::vector<std::string> pages;
    for (const CommandEntry& entry : commands()) pages.emplace_back(entry.name);
    pages.emplace_back("operators");
    command.choices(word, std::move(pages));
    const auto all = command.option("--all", folder, "FOLDER", "write all pages into FOLDER/man1 and FOLDER/man7");
    command.completes(all, Completion::folder);
    command.excludes(all, word);
  }

  std::string page{}, folder{};
  Command command{doc, "patchfold man"};
};

/// Text as roff reads it. Dashes stay those that a terminal types.
std::string escaped(std::string_view text) {
  std::string result;
  bool is_line_begin = true;
  for (const char c : text) {
    if (is_line_begin && (c == '.' || c == '\'')) result += "\\&";
    is_line_begin = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if (c == '\'')
      result += "\\(aq";
    else if (c == '`')
      result += "\\(ga";
    else if (c == '^')
      result += "\\(ha";
    else if (c == '~')
      result += "\\(ti";
    else
      result += c;
  }
  return result;
}

std::string bold(std::string_view text) {
  return text_of("\\fB", escaped(text), "\\fR");
}
std::string italic(std::string_view text) {
  return text_of("\\fI", escaped(text), "\\fR");
}

std::string head(const std::string& name, int section, std::string_view summary) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text_of(".\\\" Written by `patchfold man`.\n.TH ", escaped(title), " ", section, " \"", page_date,
                 "\" \"patchfold ", PATCHFOLD_VERSION_STRING, "\"\n.SH NAME\n", escaped(name), " \\- ", escaped(summary),
                 "\n");
}

std::string section(std::string_view name) {
  return text_of(".SH ", name, "\n");
}

/// Lines as they stand.
std::string literal(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text_of(".PP\n.nf\n.RS 2\n", escaped(text), "\n.RE\n.fi\n");
}

/// What empty lines separate.
std::vector<std::string> paragraphs_of(std::string_view text) {
  std::vector<std::string> paragraphs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\n\n"), text.size());
    if (end > 0) paragraphs.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return paragraphs;
}

/// `text` without the blanks that begin and end it.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \n") - begin + 1);
}

/// A paragraph whose lines may be broken anew; indented ones stand as they are.
std::string filled(std::string_view paragraph) {
  std::string text = ".PP\n", lines;
  while (!paragraph.empty()) {
    const std::size_t end = std::min(paragraph.find('\n'), paragraph.size());
    const std::string_view line = paragraph.substr(0, end);
    if (line.starts_with("  "))
      lines += text_of(line.substr(2), "\n");
    else
      text += text_of(escaped(trimmed(line)), "\n");
    paragraph.remove_prefix(std::min(end + 1, paragraph.size()));
  }
  return lines.empty() ? text : text + literal(lines);
}

std::string tagged(const std::string& tag, const std::string& text) {
  return text_of(".TP\n", tag, "\n", text.empty() ? "\\&" : text, "\n");
}

std::string option_entry(const OptionInfo& option) {
  std::string tag;
  for (const std::string& name : option.names)
    tag += text_of(tag.empty() ? "" : ", ", option.is_word ? italic(name) : bold(name));
  if (!option.form.empty()) tag += " " + italic(option.form);
  return tagged(tag, escaped(option.doc));
}

/// The end of a help text: what it says, and its examples.
std::string notes_and_examples(std::string_view text) {
  std::string notes, examples;
  for (const std::string& paragraph : paragraphs_of(text)) {
    std::string_view rest = paragraph;
    if (!rest.starts_with("Example")) {
      notes += filled(rest);
      continue;
    }
    rest.remove_prefix(rest.find(':') + 1);
    std::string lines;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      if (const auto line = trimmed(rest.substr(0, end)); !line.empty()) lines += text_of(line, "\n");
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    examples += literal(lines);
  }
  return text_of(notes.empty() ? "" : section("NOTES") + notes, examples.empty() ? "" : section("EXAMPLES") + examples);
}

std::string exit_status() {
  return text_of(section("EXIT STATUS"), tagged(bold("0"), "done"),
                 tagged(bold("1"), "failed: what is wrong is found with the data"), tagged(bold("2"), "wrong usage"),
                 ".PP\nAn error is one line on standard error. It ends with a code that ", bold("patchfold errors"),
                 " explains.\n");
}

std::string reference(std::string_view name, int number) {
  return text_of(".BR ", escaped(name), " (", number, ")");
}

/// The pages but `own`.
std::string see_also(std::string_view own) {
  std::vector<std::string> references;
  if (own != "patchfold") references.push_back(reference("patchfold", 1));
  for (const CommandEntry& entry : commands())
    if (const std::string name = text_of("patchfold-", entry.name); name != own) references.push_back(reference(name, 1));
  if (own != "patchfold-operators") references.push_back(reference("patchfold-operators", 7));
  std::string text = section("SEE ALSO");
  for (std::size_t i = 0; i < references.size(); ++i)
    text += text_of(references[i], i + 1 < references.size() ? " ,\n" : "\n");
  return text;
}

std::string synopsis(std::string_view usage) {
  std::string text = section("SYNOPSIS");
  bool is_first = true;
  while (!usage.empty()) {
    const std::size_t end = std::min(usage.find('\n'), usage.size());
    const std::string_view line = trimmed(usage.substr(0, end));
    const std::size_t words = std::min(line.find(' ', line.find(' ') + 1), line.size());
    text += text_of(is_first ? "" : ".br\n", bold(line.substr(0, words)), escaped(line.substr(words)), "\n");
    is_first = false;
    usage.remove_prefix(std::min(end + 1, usage.size()));
  }
  return text;
}

std::string program_page() {
  std::string text = head("patchfold", 1, "cut arrays and pictures into patches, blocks and tiles, and put them back");
  text += section("SYNOPSIS");
  for (const CommandEntry& entry : commands()) {
    const std::size_t space = std::min(entry.usage.find(' '), entry.usage.size());
    text += text_of(&entry == commands().data() ? "" : ".br\n", bold(text_of("patchfold ", entry.usage.substr(0, space))),
                    escaped(entry.usage.substr(space)), "\n");
  }
  text += text_of(section("DESCRIPTION"), filled(trimmed(program_doc)), filled(trimmed(program_files)));
  text += section("COMMANDS");
  for (const CommandEntry& entry : commands())
    text += tagged(reference(text_of("patchfold-", entry.name), 1), escaped(entry.summary));
  text += text_of(section("OPTIONS"),
                  tagged(text_of(bold("-h"), ", ", bold("--help")), "print the help; behind a command, its help"),
                  tagged(bold("--version"), "print the version"));
  text += exit_status();
  text +=
      text_of(section("ENVIRONMENT"),
              tagged("TMPDIR",
                     "folder for what comes through a pipe, and for a TIFF file that goes into one; default: the system's"));
  text += text_of(section("EXAMPLES"), literal(program_examples));
  return text + see_also("patchfold");
}

std::string command_page(const CommandEntry& entry) {
  const CommandInfo info = entry.info();
  const std::string name = text_of("patchfold-", entry.name);
  std::string text =
      text_of(head(name, 1, entry.summary), synopsis(info.usage.empty() ? text_of("patchfold ", entry.usage) : info.usage),
              section("DESCRIPTION"));
  for (const std::string& paragraph : paragraphs_of(info.doc)) text += filled(paragraph);
  for (const OptionInfo& option : info.options)
    if (option.is_word) text += option_entry(option);
  text += section("OPTIONS");
  for (const OptionInfo& option : info.options)
    if (!option.is_word) text += option_entry(option);
  text += tagged(text_of(bold("-h"), ", ", bold("--help")), "print the help");
  if (entry.name == "run" || entry.name == "explain")
    text += ".PP\nThe arguments of an operator are options too:\n.BR patchfold\\-operators (7)\nlists them.\n";
  return text_of(text, notes_and_examples(info.footer), exit_status(), see_also(name));
}

std::string operators_page() {
  std::string text = head("patchfold-operators", 7, "the operators and their arguments");
  text +=
      text_of(section("DESCRIPTION"), ".PP\n", "Each operator is run by\n.BR patchfold\\-run (1)\nand explained by\n",
              ".BR patchfold\\-explain (1) ;\nits arguments are options there.\n",
              filled("A number is written as 3 or 1.5, a list as 3,5 and a list of (begin, end) as 1:2,0:1. Padding is "
                     "valid, same_upper, same_lower, one number, a list, or a list of pairs. A version at the end of a name "
                     "may be left out and means the newest."));
  for (const DialectSpec& dialect : all_dialects()) {
    std::string title(dialect.name);
    std::transform(title.begin(), title.end(), title.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    text += text_of(section(title + " OPERATORS"), filled(dialect.doc));
    for (const OperatorSpec& op : operators()) {
      if (op.dialect != dialect.name) continue;
      text += text_of(".SS ", escaped(op.name), "\n", escaped(op.doc), "\n");
      for (const ArgumentSpec& argument : op.arguments) {
        std::string about(argument.doc);
        const auto add = [&about](const std::string& part) { about += (about.empty() ? "" : "; ") + part; };
        std::string words;
        for (const std::string_view word : argument.choices) words += text_of(words.empty() ? "" : ", ", word);
        if (!words.empty()) add("one of " + words);
        if (argument.required) add("required");
        if (!argument.default_text.empty()) add("default " + argument.default_text);
        text += tagged(text_of(bold(text_of("--", argument.name)), " ", italic(name_of(argument.kind))), escaped(about));
      }
      text += literal(example_of(op).command);
    }
  }
  return text + see_also("patchfold-operators");
}

struct Page {
  std::string name{};
  int section = 1;
  std::string text{};
};

/// A section that begins with a paragraph begins one anyway.
std::string tidied(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n.SH ", at)) != std::string::npos;) {
    at = text.find('\n', at + 1);
    if (text.compare(at, 5, "\n.PP\n") == 0) text.erase(at, 4);
  }
  return text;
}

std::vector<Page> all_pages() {
  std::vector<Page> pages = {{"patchfold", 1, program_page()}};
  for (const CommandEntry& entry : commands()) pages.push_back({text_of("patchfold-", entry.name), 1, command_page(entry)});
  pages.push_back({"patchfold-operators", 7, operators_page()});
  for (Page& page : pages) page.text = tidied(std::move(page.text));
  return pages;
}

void write_all(const std::filesystem::path& folder) {
  for (const Page& page : all_pages()) {
    const std::filesystem::path path = folder / text_of("man", page.section) / text_of(page.name, ".", page.section);
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error)
      throw Error({ErrorCode::file_write, "man", path.parent_path().string(), "cannot be made: " + error.message()});
    formats::OutputFile file(path, "man");
    file.write(page.text.data(), page.text.size());
    file.commit();
  }
}

}  // namespace

CommandInfo man_info() {
  return ManCommand().command.info();
}

void run_man(const std::vector<std::string>& words) {
  ManCommand all;
  if (const std::string help = all.command.parse(words); !help.empty()) return print(help);
  if (!all.folder.empty()) return write_all(all.folder);
  const std::string wanted = all.page.empty() || all.page.starts_with("patchfold") ? all.page : "patchfold-" + all.page;
  std::string known = "patchfold";
  for (const Page& page : all_pages()) {
    if (page.name == (wanted.empty() ? "patchfold" : wanted)) return print(page.text);
    if (page.name != "patchfold") known += ", " + page.name.substr(10);
  }
  fail_usage("man", "PAGE", "there is no page of this name", all.page, known);
}

}  // namespace patchfold::cli
