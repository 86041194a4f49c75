// The numbers that the subcommands print, against hand calculation.
#include "roofline/commands.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <locale>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "roofline/csv.h"
#include "roofline/record.h"
#include "roofline/run.h"

namespace roofline {
namespace {

using Arguments = std::vector<std::string>;

Output run(Arguments arguments, const std::string& format = "table") {
  arguments.push_back("--format=" + format);
  Output out;
  EXPECT_EQ(run_command_line(std::move(arguments), out), 0) << out.notes;
  return out;
}

std::filesystem::path new_folder(const std::string& name) {
  auto folder = std::filesystem::path(testing::TempDir()) /
                ("roofline_" + name + "_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  return folder;
}

/// The value in `column` of the first row where each column of `where` has its value.
std::string field(const CsvTable& table, const std::map<std::string, std::string>& where,
                  const std::string& column) {
  const auto at = [&](const CsvRow& row, const std::string& name) {
    const auto found = std::find(table.header.begin(), table.header.end(), name);
    return found == table.header.end() ? "no column " + name
                                       : row.fields[found - table.header.begin()];
  };
  for (const CsvRow& row : table.rows) {
    if (std::all_of(where.begin(), where.end(),
                    [&](const auto& w) { return at(row, w.first) == w.second; })) {
      return at(row, column);
    }
  }
  return "no such row";
}

struct Answer {
  Arguments arguments;
  std::map<std::string, std::string> where;
  std::string column;
  double value;
  double relative = 1e-12;
};

const Arguments kH100 = {"peaks", "h100-sxm", "--explain"};
const Arguments kH200 = {"peaks", "h200-sxm", "--explain"};
const Arguments kOps = {"ops", "--spec=h100-sxm"};
const Arguments kAttention = {
    "einsum",       "batch seq1 hidden, batch seq2 hidden -> batch seq1 seq2",
    "batch=8",      "seq1=2048",
    "seq2=2048",    "hidden=4096",
    "--dtype=bf16", "--spec=h100-sxm"};
using Where = std::map<std::string, std::string>;

Where peak(std::string roof, std::string kind, std::string clock_mhz) {
  return {
      {"roof", std::move(roof)}, {"kind", std::move(kind)}, {"clock_mhz", std::move(clock_mhz)}};
}

Where op(std::string name, std::string dtype, std::string shape) {
  return {{"op", std::move(name)}, {"dtype", std::move(dtype)}, {"shape", std::move(shape)}};
}

const Answer kAnswers[] = {
    // 132 x 4096 x 1.83e9; the sheet's 1979 / 2; 5120 x 2.619e9 x 2 / 8.
    {kH100, peak("tensor_bf16", "derived", "1830"), "flops_per_s", 989.42976e12},
    {kH100, peak("tensor_bf16", "datasheet", "1830"), "flops_per_s", 989.5e12},
    {kH100, peak("tensor_bf16", "derived", "1980"), "flops_per_s", 1070.53056e12},
    {kH100, peak("hbm", "derived", ""), "bytes_per_s", 3.35232e12},
    {kH100, peak("hbm", "datasheet", ""), "bytes_per_s", 3.35e12},
    // 989.5 / 3.35, 989.42976 / 3.35232, 1070.53056 / 3.35232, 1979 / 3.35, 67 / 3.35.
    {kH100, peak("tensor_bf16", "datasheet", "1830"), "ridge_flops_per_byte", 295.3731343, 1e-9},
    {kH100, peak("tensor_bf16", "derived", "1830"), "ridge_flops_per_byte", 295.1477663, 1e-9},
    {kH100, peak("tensor_bf16", "derived", "1980"), "ridge_flops_per_byte", 319.3402062, 1e-9},
    {kH100, peak("tensor_fp8_e4m3", "datasheet", "1830"), "ridge_flops_per_byte", 590.7462687,
     1e-9},
    {kH100, peak("cuda_core_fp32", "datasheet", "1980"), "ridge_flops_per_byte", 20},
    {kH200, peak("hbm", "datasheet", ""), "bytes_per_s", 4.8e12},
    {kH200, peak("hbm", "derived", ""), "bytes_per_s", 4.814304e12},
    {{"specs"}, {{"spec", "h20"}}, "bf16_flops_per_s", 148e12},
    {{"specs"}, {{"spec", "a100-pcie-80gb"}}, "bytes_per_s", 1.935e12},

    // The lecture's table: 1/4, 20/4, (2n - 1)/(4n + 2), n(2n - 1)/(2n^2 + 4n), n^2(2n - 1)/6n^2.
    {kOps, op("relu", "bf16", "1048576"), "lecture_intensity", 0.25},
    {kOps, op("gelu", "bf16", "1048576"), "lecture_intensity", 5},
    {kOps, op("dot", "bf16", "1048576"), "lecture_intensity", 0.49999952316, 1e-10},
    {kOps, op("gemv", "bf16", "1024x1024"), "lecture_intensity", 0.99756335, 1e-8},
    {kOps, op("gemm", "bf16", "1024x1024x1024"), "lecture_intensity", 341.1666667, 1e-9},
    {kOps, op("relu", "fp32", "1048576"), "lecture_intensity", 0.125},
    {kOps, op("gelu", "fp8_e4m3", "1048576"), "lecture_intensity", 10},
    {kOps, op("dot", "fp32", "1048576"), "lecture_intensity", 0.24999976, 1e-7},
    {kOps, op("gemv", "fp32", "1024x1024"), "lecture_intensity", 0.49878, 1e-5},
    {kOps, op("gemv", "fp8_e4m3", "1024x1024"), "lecture_intensity", 1.99513, 1e-5},
    // Ours: FP8 writes bf16, so 2 x 1024^2 / (1024^2 + 1024 + 2048).
    {kOps, op("gemv", "fp8_e4m3", "1024x1024"), "intensity_flops_per_byte", 1.99415774, 1e-8},
    {kOps, op("gemm", "bf16", "1024x1024x1024"), "intensity_flops_per_byte", 1024.0 / 3},
    {kOps, op("gemm", "fp8_e4m3", "1024x1024x1024"), "intensity_flops_per_byte", 512},
    // Both ridges: 67 / 3.35 on CUDA cores, 989.5 / 3.35 on tensor cores.
    {kOps, op("relu", "bf16", "1048576"), "ridge", 20},
    {kOps, op("relu", "bf16", "1048576"), "gemm_ridge", 295.3731343, 1e-9},
    // Ideal MFU 0.25 / 295.37, 5 / 295.37, 1; ideal times 4 MiB / 3.35 TB/s and 2^31 / 989.5e12.
    {kOps, op("relu", "bf16", "1048576"), "ideal_mfu", 8.464e-4, 1e-4},
    {kOps, op("gelu", "bf16", "1048576"), "ideal_mfu", 1.693e-2, 2e-4},
    {kOps, op("dot", "bf16", "1048576"), "ideal_mfu", 1.693e-3, 2e-4},
    {kOps, op("gemm", "bf16", "1024x1024x1024"), "ideal_mfu", 1},
    {kOps, op("relu", "bf16", "1048576"), "ideal_time_s", 4194304 / 3.35e12},
    {kOps, op("gemm", "bf16", "1024x1024x1024"), "ideal_time_s", 2147483648 / 989.5e12},

    // 2 x 8 x 2048^2 x 4096 FLOPs over 2 x (2 x 8 x 2048 x 4096 + 8 x 2048^2) bytes = 819.2.
    {kAttention, {{"tensor", "total"}}, "flops", 274877906944},
    {kAttention, {{"tensor", "input 1"}}, "bytes", 134217728},
    {kAttention, {{"tensor", "output"}}, "bytes", 67108864},
    {kAttention, {{"tensor", "total"}}, "intensity_flops_per_byte", 819.2},
    {kAttention, {{"tensor", "total"}}, "ideal_time_s", 274877906944 / 989.5e12},
    {kAttention, {{"tensor", "total"}}, "ideal_mfu", 1},

    {{"dtype", "fp16", "1e-8"}, {{"dtype", "fp16"}}, "value", 0},
    {{"dtype", "fp16", "1e-8"}, {{"dtype", "fp16"}}, "rounds_to_zero_up_to", 0x1p-25},
    {{"dtype", "bf16", "1e-8"}, {{"dtype", "bf16"}}, "value", 1.0011717677e-8, 1e-10},
    {{"dtype", "fp8_e4m3", "448"}, {{"dtype", "fp8_e4m3"}}, "value", 448},
    {{"dtype", "fp8_e4m3", "449"}, {{"dtype", "fp8_e4m3"}}, "value", 448},
    {{"dtype", "fp8_e5m2", "57344"}, {{"dtype", "fp8_e5m2"}}, "value", 57344},
    {{"dtype", "fp8_e5m2", "57345"}, {{"dtype", "fp8_e5m2"}}, "value", 57344},
    {{"dtype", "fp8_e4m3", "500"}, {{"overflow", "saturate"}}, "error", -52},
    {{"dtype", "fp8_e4m3", "0x7e"}, {{"dtype", "fp8_e4m3"}}, "value", 448},
    {{"dtype", "fp16", "-1.5"}, {{"dtype", "fp16"}}, "next_below", -1.5009765625},
    {{"dtype"}, {{"dtype", "nvfp4"}}, "storage_bits", 4.5},
};

TEST(Commands, PrintWhatTheHandCalculationGives) {
  for (const Answer& row : kAnswers) {
    const CsvTable table = parse_csv(run(row.arguments, "csv").text, row.arguments[0]);
    const std::string text = field(table, row.where, row.column);
    double value = 0;
    const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    EXPECT_TRUE(error == std::errc() && at == text.data() + text.size())
        << row.arguments[0] << ' ' << row.column << ": " << text;
    EXPECT_NEAR(value, row.value, std::abs(row.value) * row.relative)
        << row.arguments[0] << ' ' << row.column;
  }
}

struct Words {
  Arguments arguments;
  std::string text;  // in the table
};

const Words kWords[] = {
    {kH100,
     "132 SM x 4096 FLOP/clk x 1.830 GHz = 989.4 TFLOP/s dense (1978.9 with 2:4 sparsity, not "
     "used)"},
    {kH100, "5120 bit x 2619 MHz x 2 / 8 = 3.352 TB/s"},
    {kH100, "1979 with 2:4 sparsity / 2; NVIDIA H100 data sheet"},
    {kH100, "1.980 GHz = 1070.5 TFLOP/s: the boost clock, which the sheet does not assume"},
    {kAttention, "summed: hidden"},
    {kAttention, "roofline_bench --op=gemm --dtype=bf16 --shape=8x2048x2048x4096"},
    {{"dtype", "bf16"}, "s     eeeeeeee  mmmmmmm  "},
    {{"dtype", "bf16"}, "s     eeeeeeee  mmmmmmmmmmmmmmmmmmmmmmm"},
    {{"dtype", "bf16", "1e-8"}, "1.00117"},
    {{"dtype", "fp16", "1e-8"}, "2.98023224e-08"},
    {{"specs"}, "unverified"},
};

TEST(Commands, ExplainInWords) {
  for (const Words& row : kWords) {
    const std::string text = run(row.arguments).text;
    EXPECT_NE(text.find(row.text), std::string::npos) << row.text << "\nnot in\n" << text;
  }
}

TEST(Commands, PrintTheSameKeysInEachFormat) {
  for (const Arguments& arguments : {kH100, kOps, kAttention, Arguments{"specs"},
                                     Arguments{"dtype"}, Arguments{"dtype", "bf16", "3"}}) {
    const CsvTable csv = parse_csv(run(arguments, "csv").text, arguments[0]);
    const auto json = nlohmann::json::parse(run(arguments, "json").text);
    const std::string table = run(arguments).text;
    ASSERT_EQ(json.size(), csv.rows.size());
    ASSERT_EQ(json[0].size(), csv.header.size());
    for (const std::string& column : csv.header) {
      EXPECT_TRUE(json[0].contains(column)) << column;
      EXPECT_NE(table.find(column), std::string::npos) << column;
    }
  }
}

struct DecimalComma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// All that the subcommands print.
std::string everything() {
  std::string text;
  for (const char* format : {"table", "csv", "json"}) {
    for (const Arguments& arguments :
         {kH100, kOps, kAttention, Arguments{"specs"}, Arguments{"dtype", "bf16", "1.5e-8"}}) {
      text += run(arguments, format).text;
    }
  }
  return text;
}

TEST(Commands, DoNotDependOnTheCppLocale) {
  const std::string expected = everything();
  const std::locale before = std::locale::global(std::locale(std::locale(), new DecimalComma));
  EXPECT_EQ(everything(), expected);
  std::locale::global(before);
}

TEST(Commands, DoNotDependOnTheCLocale) {
  const std::filesystem::path folder = new_folder("locale");
  const std::string compile =
      "localedef -i de_DE -f UTF-8 '" + (folder / "de_DE.UTF-8").string() + "' >/dev/null 2>&1";
  setenv("LOCPATH", folder.c_str(), 1);
  const std::string expected = everything();
  if (std::system(compile.c_str()) != 0 || std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) {
    GTEST_SKIP() << "no de_DE.UTF-8: localedef or its sources are missing";
  }
  ASSERT_STREQ(std::localeconv()->decimal_point, ",");
  EXPECT_EQ(everything(), expected);
  std::setlocale(LC_ALL, "C");
  unsetenv("LOCPATH");
  std::filesystem::remove_all(folder);
}

TEST(Commands, WithoutASpecTheRoofsAreEmpty) {
  const CsvTable table = parse_csv(run({"ops"}, "csv").text, "ops");
  EXPECT_EQ(field(table, op("relu", "bf16", "1048576"), "intensity_flops_per_byte"), "0.25");
  EXPECT_EQ(field(table, op("relu", "bf16", "1048576"), "ridge"), "");
  EXPECT_EQ(field(table, op("relu", "bf16", "1048576"), "bound"), "");
}

TEST(Commands, UseWhatARunMeasured) {
  const std::filesystem::path folder = new_folder("run");
  const auto write = [&](const char* file, const std::vector<std::vector<std::string>>& lines) {
    std::ofstream out(folder / file);
    for (const auto& line : lines) out << csv_line(line);
  };
  const Roof roofs[] = {
      {.name = "hbm", .kind = Kind::datasheet, .level = Level::memory, .per_s = 3.35e12},
      {.name = "copy",
       .kind = Kind::measured,
       .level = Level::memory,
       .access = Access::copy,
       .per_s = 3e12},
      {.name = "read",
       .kind = Kind::measured,
       .level = Level::memory,
       .access = Access::read,
       .per_s = 3.2e12},
      {.name = "fp32",
       .kind = Kind::measured,
       .pipe = Pipe::vector,
       .dtype = Dtype::fp32,
       .per_s = 60e12},
      {.name = "tensor_bf16",
       .kind = Kind::datasheet,
       .pipe = Pipe::matrix,
       .dtype = Dtype::bf16,
       .per_s = 989.5e12},
      {.name = "gemm_bf16",
       .kind = Kind::measured,
       .pipe = Pipe::matrix,
       .dtype = Dtype::bf16,
       .per_s = 800e12},
  };
  std::vector<std::vector<std::string>> lines = {roof_columns()};
  for (const Roof& roof : roofs) lines.push_back(to_fields(roof, "test"));
  write("roofs.csv", lines);
  write("measurements.csv", {measurement_columns()});

  const std::string from = "--from=" + folder.string();
  const CsvTable ops = parse_csv(run({"ops", "--dtype=bf16", from}, "csv").text, "ops");
  // Copying binds a ReLU: 0.25 x 3e12. A GEMM's ridge: 800 / 3.2. MFU stays against the sheet.
  EXPECT_EQ(field(ops, op("relu", "bf16", "1048576"), "attainable_flops_per_s"), "750000000000");
  EXPECT_EQ(field(ops, op("gemm", "bf16", "1024x1024x1024"), "ridge"), "250");
  const std::string mfu = field(ops, op("gemm", "bf16", "1024x1024x1024"), "ideal_mfu");
  EXPECT_NEAR(std::strtod(mfu.c_str(), nullptr), 800 / 989.5, 1e-12);

  const CsvTable peaks = parse_csv(run({"peaks", from}, "csv").text, "peaks");
  EXPECT_EQ(field(peaks, {{"roof", "gemm_bf16"}}, "ridge_flops_per_byte"), "250");
  std::filesystem::remove_all(folder);
}

Record relu_on(const std::string& device, const std::string& uuid) {
  return {.device = device,
          .device_uuid = uuid,
          .what = make_case(Op::relu, Dtype::fp32, 1, 4096, 1),
          .implementation = "ours"};
}

/// A run's folder with one row, and what else the caller writes into it.
std::filesystem::path run_of_one_row() {
  std::filesystem::path folder = new_folder("one_row");
  std::ofstream(folder / "roofs.csv") << csv_line(roof_columns());
  std::ofstream(folder / "measurements.csv")
      << csv_line(measurement_columns()) << csv_line(to_fields(relu_on("A", "1")));
  return folder;
}

TEST(Commands, RefuseABadRunWithExit1AndOneLine) {
  struct Row {
    const char *file, *content, *message;
  };
  const char* const none = ": expected a JSON object, found ";
  const auto with_row_of = [](const char* device, const char* uuid) {
    return csv_line(measurement_columns()) + csv_line(to_fields(relu_on("A", "1"))) +
           csv_line(to_fields(relu_on(device, uuid)));
  };
  const std::string two_names = with_row_of("B", "1"), two_cards = with_row_of("A", "2");
  const Row rows[] = {
      {"environment.json", "", none},
      {"environment.json", R"({"run_id": )", none},
      {"environment.json", "[1, 2]", none},
      {"environment.json", "3", none},
      {"environment.json", "\"\xff\"", none},
      {"measurements.csv", two_names.c_str(), ": expected one device, got A 1 and B 1: keep"},
      {"measurements.csv", two_cards.c_str(), ": expected one device, got A 1 and A 2: keep"},
      {"roofs.csv", nullptr, ": expected the roofs of the run beside its measurements, found no"},
      {"roofs.csv", "", ":1: expected a CSV header, the file is empty"},
      {"measurements.csv", "a,b\n1,2\n", ":1: expected a column schema"},
      {"measurements.csv", nullptr, ": expected the measurements of a run, found no such file"},
  };
  for (const Row& row : rows) {
    const std::filesystem::path folder = run_of_one_row(), file = folder / row.file;
    std::filesystem::remove(file);
    if (row.content != nullptr) std::ofstream(file) << row.content;
    for (const Arguments& arguments :
         {Arguments{"report", folder.string()}, Arguments{"validate", folder.string()},
          Arguments{"compare", folder.string(), folder.string()},
          Arguments{"ops", "--from=" + folder.string()}}) {
      Output out;
      EXPECT_EQ(run_command_line(arguments, out), 1) << arguments[0];
      EXPECT_EQ(out.notes.find("roofline: " + file.string() + row.message), 0U) << out.notes;
      EXPECT_EQ(out.notes.find('\n'), out.notes.size() - 1) << out.notes;
    }
    std::filesystem::remove_all(folder);
  }
}

TEST(Commands, SayThatARunIsNotWhole) {
  for (const char* const outcome : {"running", "interrupted", "complete"}) {
    const std::filesystem::path folder = run_of_one_row();
    std::ofstream(folder / "environment.json") << R"({"outcome": ")" << outcome << "\"}";
    for (const char* const command : {"report", "validate"}) {
      Output out;
      EXPECT_EQ(run_command_line({command, folder.string()}, out), 0) << out.notes;
      EXPECT_EQ(out.notes, outcome == std::string("complete")
                               ? ""
                               : folder.string() + ": not a whole run, its outcome is \"" +
                                     outcome + "\": rows may be missing\n");
    }
    std::filesystem::remove_all(folder);
  }
}

TEST(Commands, TakeARunByItsFolderOrItsMeasurementsAndByNoOtherFile) {
  const std::filesystem::path folder = run_of_one_row();
  std::ofstream(folder / "samples.csv") << "x\n";
  for (const char* const file : {"measurements.csv", "samples.csv", "roofs.csv"}) {
    const bool good = file == std::string("measurements.csv");
    Output out;
    EXPECT_EQ(run_command_line({"ops", "--from=" + (folder / file).string()}, out), good ? 0 : 2);
    EXPECT_EQ(out.notes.find(": expected the folder of a run, or its measurements.csv, got") ==
                  std::string::npos,
              good)
        << out.notes;
  }
  std::filesystem::remove_all(folder);
}

TEST(Commands, LeaveNoHalfFileOnAFullDisk) {
  const std::filesystem::path folder = run_of_one_row();
  const Arguments validate = {"validate", folder.string()};
  const auto files = [&] {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      all[entry.path().filename()] = read_file(entry.path());
    }
    return all;
  };
  const auto on_full_disk = [&] {
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit nothing{.rlim_cur = 0, .rlim_max = before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // else it is our death
    setrlimit(RLIMIT_FSIZE, &nothing);
    Output out;
    const int code = run_command_line(validate, out);
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(code, 1);
    EXPECT_EQ(out.notes, "roofline: " + (folder / "claims.csv").string() + ": File too large\n");
  };
  const auto before = files();
  on_full_disk();
  EXPECT_EQ(files(), before);
  Output out;
  run_command_line(validate, out);
  const auto judged = files();
  EXPECT_EQ(judged.size(), before.size() + 3);
  on_full_disk();
  EXPECT_EQ(files(), judged);
  std::filesystem::remove_all(folder);
}

struct Refusal {
  Arguments arguments;
  int code;
  std::string message;
};

const Refusal kRefusals[] = {
    {{"peaks"}, 2, "peaks: expected a spec"},
    {{"peaks", "h100"}, 2, "spec: expected one of h100-sxm h100-pcie"},
    {{"peaks", "h100-sxm", "--from=x"}, 2, "excludes"},
    {{"peaks", "--from=/nowhere"}, 1, "/nowhere"},
    {{"ops", "--spec=h9"}, 2, "got \"h9\""},
    {{"ops", "--dtype=bf16,fp12"}, 2, "got \"fp12\""},
    {{"einsum"}, 2, "expression"},
    {{"einsum", "m k, k n -> m n", "m=2", "k=3"}, 2, "dimension n has no size"},
    {{"einsum", "m -> m", "m=2", "--dtype=int"}, 2, "got \"int\""},
    {{"dtype", "fp16", "1,5"}, 2, "expected a number or a code such as 0x7e, got \"1,5\""},
    {{"dtype", "fp16", ""}, 0, ""},
    {{"dtype", "fp8_e4m3", "0x1ff"}, 2, "expected a code of 8 bits, 0x0 to 0xff"},
    {{"dtype", "fp16", "1e999"}, 2, "within fp64"},
};

TEST(Commands, RefuseWithOneLine) {
  for (const Refusal& row : kRefusals) {
    Output out;
    EXPECT_EQ(run_command_line(row.arguments, out), row.code) << out.notes;
    EXPECT_NE(out.notes.find(row.message), std::string::npos) << out.notes;
    if (row.code != 0) {
      EXPECT_EQ(out.notes.find('\n'), out.notes.size() - 1) << out.notes;
    }
  }
}

}  // namespace
}  // namespace roofline
