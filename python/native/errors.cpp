// SPDX-License-Identifier: Apache-2.0
#include "python/native/errors.hpp"

#include <cctype>

namespace patchfold::python {
namespace {

constexpr std::size_t longest_text = 80;

bool is_list_character(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == ',' || c == ' ';
}

nb::object exception_of(const Error& error) {
  const nb::module_ errors = nb::module_::import_("patchfold._errors");
  const bool about_types = error.code() == ErrorCode::type || error.code() == ErrorCode::dtype;
  nb::dict parts;
  parts["operator"] = error.op();
  parts["argument"] = error.argument();
  parts["rule"] = in_python_terms(error.rule());
  parts["given"] = in_python_terms(error.given());
  parts["expected"] = in_python_terms(error.expected());
  return errors.attr(about_types ? "InvalidType" : "InvalidValue")(**parts);
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::out_of_memory) {
        PyErr_SetString(PyExc_MemoryError, error.what());
      } else if (error.code() == ErrorCode::executor) {
        PyErr_SetString(PyExc_RuntimeError, error.what());
      } else {
        const nb::object exception = exception_of(error);
        PyErr_SetObject(exception.type().ptr(), exception.ptr());
      }
    }
  });
}

std::string in_python_terms(std::string_view text) {
  if (text.find(" of type ") != std::string_view::npos) return std::string(text);  // a repr() is in Python's terms already
  if (const std::size_t colon = text.find(':');
      colon != std::string_view::npos && colon > 0 && text.find_first_not_of("-0123456789:") == std::string_view::npos)
    return "(" + std::string(text.substr(0, colon)) + ", " + std::string(text.substr(colon + 1)) + ")";
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && is_list_character(text[end])) ++end;
    const bool subscript = i > 0 && (std::isalnum(static_cast<unsigned char>(text[i - 1])) || text[i - 1] == '[');
    if (text[i] == '[' && !subscript && end < text.size() && text[end] == ']') {
      const std::string_view inside = text.substr(i + 1, end - i - 1);
      const bool one_entry = !inside.empty() && inside.find(',') == std::string_view::npos;
      result.append("(").append(inside).append(one_entry ? ",)" : ")");
      i = end + 1;
    } else {
      result += text[i++];
    }
  }
  return result;
}

std::string text_of(nb::handle object) {
  std::string text = nb::repr(object).c_str();
  for (char& c : text)
    if (c == '\n') c = ' ';
  if (text.size() > longest_text) text = text.substr(0, longest_text - 3) + "...";
  return text;
}

std::string type_name_of(nb::handle object) {
  const nb::handle type = object.type();
  const std::string module = nb::str(type.attr("__module__")).c_str();
  const std::string name = nb::str(type.attr("__qualname__")).c_str();
  return module == "builtins" ? name : module + "." + name;
}

}  // namespace patchfold::python
