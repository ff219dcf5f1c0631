// SPDX-License-Identifier: Apache-2.0
#include "python/native/errors.hpp"

#include <cctype>
#include <new>

namespace patchfold::python {
namespace {

constexpr std::size_t longest_text = 80;

bool is_list_character(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == ',' || c == ' ';
}

/// A writer of values in Python's notation: tuples for lists, and words as a caller types them.
class PythonWriter final : public ErrorWriter {
 public:
  std::string list(const Dims& list) const override {
    std::string text = "(";
    for (int i = 0; i < list.size(); ++i) text += (i ? ", " : "") + std::to_string(list[i]);
    return text + (list.size() == 1 ? ",)" : ")");
  }
  std::string pair(Pads pads) const override { return list({pads.begin, pads.end}); }
  std::string setting(const Setting& setting) const override {
    return setting.name + "=" + std::visit(ValueWriter{*this}, setting.value);
  }
  std::string rearranged(const Rearrangement& one) const override {
    return one.tensor + (one.kind == Rearrangement::Kind::reshape ? ".reshape" : ".swapaxes") + list(one.numbers);
  }

 private:
  struct ValueWriter {
    const PythonWriter& writer;
    std::string operator()(const std::string& word) const { return '"' + word + '"'; }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(bool yes) const { return yes ? "True" : "False"; }
    std::string operator()(const Dims& list) const { return writer.list(list); }
    std::string operator()(const PadsList& pairs) const {
      std::string text = "[";
      for (int i = 0; i < pairs.size(); ++i) text += (i ? ", " : "") + writer.pair(pairs[i]);
      return text + "]";
    }
    std::string operator()(const Setting::Fractions& fractions) const {
      std::string text;
      for (const auto& [over, under] : fractions)
        text += (text.empty() ? "" : ", ") + std::to_string(over) + (under == 1 ? "" : "/" + std::to_string(under));
      return fractions.size() == 1 ? text : "(" + text + ")";
    }
  };
};

nb::object exception_of(const Error& error) {
  const nb::module_ errors = nb::module_::import_("patchfold._errors");
  const ErrorEntry& entry = describe(error.code());
  nb::dict parts;
  parts["code"] = std::string(entry.name);
  parts["operator"] = error.op();
  parts["argument"] = error.argument();
  parts["rule"] = error.rule();
  const PythonWriter writer;
  parts["given"] = error.parts().given.text(writer);
  parts["expected"] = error.parts().expected.text(writer);
  parts["hint"] = error.parts().hint.text(writer);
  return errors.attr(entry.python.empty() ? "InvalidValue" : entry.python.data())(**parts);
}

}  // namespace

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      const std::string_view kind = describe(error.code()).python;
      if (kind == "MemoryError") {
        PyErr_SetString(PyExc_MemoryError, error.what());
      } else if (kind == "RuntimeError") {
        PyErr_SetString(PyExc_RuntimeError, error.what());
      } else {
        const nb::object exception = exception_of(error);
        PyErr_SetObject(exception.type().ptr(), exception.ptr());
      }
    } catch (const std::bad_alloc&) {
      PyErr_SetString(PyExc_MemoryError, "out of memory");
    }
  });
}

std::string in_python_terms(std::string_view text) {
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

void drop_answer() {
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError)) nb::raise_python_error();
  PyErr_Clear();
}

std::string utf8_of(nb::handle text) {
  Py_ssize_t size = 0;
  if (const char* characters = PyUnicode_AsUTF8AndSize(text.ptr(), &size))
    return {characters, static_cast<std::size_t>(size)};
  PyErr_Clear();
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) nb::raise_python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

std::string text_of(nb::handle object) {
  const nb::object representation = nb::steal(PyObject_Repr(object.ptr()));
  if (!representation.is_valid()) {
    drop_answer();  // repr() failed: in the object's own code, or for an integer of more digits than Python prints
    return "a value of type " + type_name_of(object);
  }
  std::string text = utf8_of(representation);
  for (char& c : text)
    if (c == '\n') c = ' ';
  if (text.size() > longest_text) {
    std::size_t end = longest_text - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // so that no character is cut
    text = text.substr(0, end) + "...";
  }
  return text;
}

std::string text_and_type_of(nb::handle object) {
  const std::string type = " of type " + type_name_of(object);
  std::string text = text_of(object);
  return text.ends_with(type) ? text : text + type;
}

std::string type_name_of(nb::handle object) {
  const nb::handle type = object.type();
  // A class that eval() made has no module.
  const std::string module = utf8_of(nb::str(nb::getattr(type, "__module__", nb::str("builtins"))));
  const std::string name = utf8_of(nb::str(type.attr("__qualname__")));
  return module == "builtins" ? name : module + "." + name;
}

}  // namespace patchfold::python
