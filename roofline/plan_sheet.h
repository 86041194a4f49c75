// What a plan prints: a line an item, each with its unit word, its formula and what it leaves out.
#pragma once

#include <string>
#include <vector>

#include "roofline/command.h"

namespace roofline {

struct PlanLine {
  std::string item;
  Cell value;     // by the conventions named and the data sheet
  Cell expected;  // by what a run of ours measured
  std::string unit;
  std::string formula;  // "PL-3", or "input"
  std::string convention;
  std::string not_included;
  std::string source;       // of a peak or a bandwidth
  std::string explanation;  // the formula with its numbers
  bool addend = false;      // of a sum below it; a table indents it
};

/// A whole number as one, with all its digits; others as they are.
Cell number_cell(double value);

/// A number in an explanation: all digits of a whole number, else 6 significant ones.
std::string number_text(double value);

/// "80 GB (74.5058 GiB)".
std::string bytes_text(double bytes);

struct PlanSheet {
  std::string summary;
  std::vector<PlanLine> lines;

  void add(PlanLine line) { lines.push_back(std::move(line)); }

  /// Lines in bytes get columns GB and GiB. As a table, columns that nobody filled are left out,
  /// and explanations follow if `explain`; csv and json always have all columns.
  void print(Output& out, bool explain) const;
};

}  // namespace roofline
