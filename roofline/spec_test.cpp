#include "roofline/spec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace roofline {
namespace {

// ---- which product a device is
// -------------------------------------------------------------------

struct Device {
  const char* name;  // as cudaDeviceProp::name has it
  int sms;
  double memory_bytes, bus_bits;
  const char* spec;  // "": none; its peaks must not be borrowed
};

const Device kDevices[] = {
    {"NVIDIA H100 80GB HBM3", 132, 85.0e9, 5120, "h100-sxm"},
    {"H100 80GB HBM3", 132, 85.0e9, 5120, "h100-sxm"},
    {"NVIDIA H100 80GB HBM3", 114, 85.0e9, 5120, ""},  // some other H100
    {"NVIDIA H100 80GB HBM3", 132, 67.0e9, 5120, ""},
    {"NVIDIA H100 80GB HBM3", 132, 85.0e9, 6144, ""},
    {"NVIDIA H100 80GB HBM3e", 132, 85.0e9, 5120, ""},
    {"NVIDIA H100 80GB HBM3 MIG 1g.10gb", 16, 10.2e9, 5120, ""},
    {"NVIDIA H100 80GB HBM3 MIG 7g.80gb", 132, 85.0e9, 5120, ""},
    {"NVIDIA H100 PCIe", 114, 85.0e9, 5120, "h100-pcie"},
    {"NVIDIA H100 PCIe", 132, 85.0e9, 5120, ""},
    {"NVIDIA H100 NVL", 132, 100.0e9, 6016, "h100-nvl"},
    {"NVIDIA H100 NVL", 132, 100.0e9, 6144, "h100-nvl"},
    {"NVIDIA H100 64GB HBM2", 132, 68.4e9, 4096, ""},
    {"NVIDIA H100", 132, 85.0e9, 5120, ""},  // no form factor, no peak
    {"NVIDIA H100 96GB HBM3", 132, 102.0e9, 6144, ""},
    {"NVIDIA H200", 132, 150109880320, 6016, "h200-sxm"},
    {"NVIDIA H200 NVL", 132, 150.7e9, 6144, "h200-nvl"},
    {"NVIDIA H200 MIG 3g.71gb", 60, 75.0e9, 6144, ""},
    {"NVIDIA H800", 132, 85.0e9, 5120, "h800"},
    {"NVIDIA H800 PCIe", 114, 85.0e9, 5120, ""},
    {"NVIDIA H20", 78, 102.6e9, 6144, "h20"},
    {"NVIDIA H20-3e", 78, 150.7e9, 6144, ""},
    {"NVIDIA H2000", 78, 102.6e9, 6144, ""},
    // 480GB is the memory of its CPU.
    {"NVIDIA GH200 480GB", 132, 102.0e9, 6144, "gh200-96gb"},
    {"NVIDIA GH200 480GB", 132, 153.9e9, 6144, "gh200-144gb"},
    {"NVIDIA GH200 480GB", 132, 480.0e9, 6144, ""},
    {"NVIDIA GH200 144G HBM3e", 132, 153.9e9, 6144, "gh200-144gb"},
    {"NVIDIA A100-SXM4-40GB", 108, 42.4e9, 5120, "a100-sxm-40gb"},
    {"A100-SXM4-40GB", 108, 42.4e9, 5120, "a100-sxm-40gb"},
    {"NVIDIA A100-SXM4-80GB", 108, 85.0e9, 5120, "a100-sxm-80gb"},
    {"NVIDIA A100-PCIE-40GB", 108, 42.4e9, 5120, "a100-pcie-40gb"},
    {"NVIDIA A100 80GB PCIe", 108, 85.0e9, 5120, "a100-pcie-80gb"},
    {"NVIDIA A100-SXM-64GB", 124, 68.4e9, 4096, ""},
    {"NVIDIA A100X", 108, 85.0e9, 5120, ""},
    {"NVIDIA A800-SXM4-80GB", 108, 85.0e9, 5120, ""},
    {"NVIDIA A30", 56, 25.4e9, 3072, "a30"},
    {"NVIDIA A10", 72, 24.1e9, 384, "a10"},
    {"NVIDIA A10G", 80, 24.1e9, 384, ""},
    {"NVIDIA A10-24Q", 72, 24.1e9, 384, ""},  // a virtual GPU
    {"NVIDIA A100", 108, 42.4e9, 5120, ""},
    {"NVIDIA A16", 10, 16.0e9, 128, ""},
    {"NVIDIA A2", 10, 16.0e9, 128, ""},
    {"NVIDIA A40", 84, 48.3e9, 384, ""},
    {"NVIDIA L4", 58, 24.1e9, 192, "l4"},
    {"NVIDIA L40", 142, 48.3e9, 384, ""},
    {"NVIDIA L40S", 142, 48.3e9, 384, "l40s"},
    {"NVIDIA L20", 92, 48.3e9, 384, ""},
    {"NVIDIA GeForce RTX 4090", 128, 25.8e9, 384, "rtx-4090"},
    {"NVIDIA GeForce RTX 4090 D", 114, 25.8e9, 384, ""},
    {"NVIDIA GeForce RTX 4090 Laptop GPU", 76, 17.2e9, 256, ""},
    {"NVIDIA GeForce RTX 4080", 76, 17.2e9, 256, ""},
    {"NVIDIA GeForce RTX 5090", 170, 34.2e9, 512, "rtx-5090"},
    {"NVIDIA GeForce RTX 5090 D", 170, 34.2e9, 512, ""},
    {"NVIDIA GeForce RTX 5090 Laptop GPU", 82, 25.8e9, 256, ""},
    {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 188, 102.6e9, 512, "rtx-pro-6000"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 188, 102.6e9, 512, ""},
    {"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 188, 102.6e9, 512, ""},
    {"NVIDIA RTX 6000 Ada Generation", 142, 51.5e9, 384, ""},
    {"NVIDIA B200", 148, 192.3e9, 7680, "b200"},
    {"NVIDIA B200", 148, 192.3e9, 8192, "b200"},  // as older drivers report its bus
    {"NVIDIA B300 SXM6 AC", 148, 288.4e9, 8192, "b300"},
    {"NVIDIA GB200", 148, 198.7e9, 8192, "gb200"},
    {"NVIDIA GB300", 152, 298.0e9, 8192, ""},
    {"Tesla T4", 40, 15.8e9, 256, "t4"},
    {"NVIDIA T400 4GB", 6, 4.2e9, 64, ""},
    {"Tesla V100-SXM2-16GB", 80, 16.9e9, 4096, ""},
    {"NVIDIA GB10", 48, 128.5e9, 256, "gb10"},
    {"NVIDIA Graphics Device", 132, 85.0e9, 5120, ""},
    {"", 132, 85.0e9, 5120, ""},
};

DeviceFacts facts(const Device& d) {
  DeviceFacts f{.backend = "cuda", .name = d.name, .processors = d.sms};
  f.memory_bytes = d.memory_bytes;
  f.bus_bits = d.bus_bits;
  return f;
}

TEST(Spec, MatchesADeviceExactlyOrNotAtAll) {
  EXPECT_GE(std::size(kDevices), 40U);
  for (const Device& d : kDevices) {
    const Spec* spec = match_spec(facts(d));
    EXPECT_EQ(spec == nullptr ? "" : spec->name, d.spec) << d.name << ", " << d.sms << " SMs";
  }
}

TEST(Spec, NoSubstringOfADriversNameMatches) {
  for (const Device& d : kDevices) {
    if (std::string(d.spec).empty()) continue;
    const std::string name = d.name;
    for (std::size_t length = name.rfind(' ') + 1; length < name.size(); ++length) {
      Device cut = d;
      const std::string shorter = name.substr(0, length);
      cut.name = shorter.c_str();
      const Spec* spec = match_spec(facts(cut));
      // "A100-SXM4-40GB" loses its letters one by one; none of the rests is a product.
      EXPECT_EQ(spec, nullptr) << shorter;
    }
  }
}

TEST(Spec, APartitionAndOtherBackendsMatchNothing) {
  DeviceFacts f = facts(kDevices[0]);
  f.partition = true;
  EXPECT_EQ(match_spec(f), nullptr);
  f.partition = false;
  f.backend = "cpu";
  EXPECT_EQ(match_spec(f), nullptr);
  EXPECT_TRUE(theoretical_roofs(f).empty());
  EXPECT_TRUE(notes_on(f).empty());
}

// ---- the figures
// ---------------------------------------------------------------------------------

const Roof* roof(const std::vector<Roof>& roofs, Kind kind, std::string_view name) {
  const auto at = std::find_if(roofs.begin(), roofs.end(),
                               [&](const Roof& r) { return r.kind == kind && r.name == name; });
  return at == roofs.end() ? nullptr : &*at;
}

struct Sheet {
  const char *spec, *roof;
  double per_s;  // as the data sheet prints it, dense
};

// H100, H200: the sheets print 989, 1979 and 3958 with sparsity; A100 and RTX whitepapers print
// dense figures. Ridges follow from the same numbers.
const Sheet kSheets[] = {
    {"h100-sxm", "hbm", 3.35e12},
    {"h100-sxm", "cuda_core_fp32", 67e12},
    {"h100-sxm", "tensor_tf32", 494.5e12},
    {"h100-sxm", "tensor_bf16", 989.5e12},
    {"h100-sxm", "tensor_fp16", 989.5e12},
    {"h100-sxm", "tensor_fp8_e4m3", 1979e12},
    {"h100-sxm", "tensor_fp8_e5m2", 1979e12},
    {"h100-pcie", "tensor_bf16", 756.5e12},
    {"h100-nvl", "tensor_bf16", 835.5e12},
    {"h200-sxm", "hbm", 4.8e12},
    {"h200-sxm", "tensor_bf16", 989.5e12},
    {"h20", "tensor_bf16", 148e12},
    {"h20", "tensor_fp8_e4m3", 296e12},
    {"gh200-144gb", "hbm", 4.9e12},
    {"a100-sxm-80gb", "tensor_bf16", 312e12},
    {"a100-sxm-80gb", "cuda_core_fp32", 19.5e12},
    {"a100-sxm-80gb", "hbm", 2.039e12},
    {"a100-pcie-80gb", "hbm", 1.935e12},
    {"l4", "gddr", 0.3e12},
    {"l40s", "tensor_bf16", 362e12},
    {"rtx-4090", "tensor_bf16", 165.2e12},  // fp32 accumulation: half of the 330.3 with fp16
    {"rtx-5090", "tensor_fp8_e4m3", 419e12},
    {"b200", "tensor_bf16", 2250e12},
    {"gb200", "tensor_nvfp4", 10000e12},
    {"t4", "tensor_fp16", 65e12},
};

TEST(Spec, RoofsAreTheSheetsDenseFigures) {
  for (const Sheet& row : kSheets) {
    const Spec* spec = find_spec(row.spec);
    ASSERT_NE(spec, nullptr) << row.spec;
    const auto roofs = roofs_of(*spec);
    const Roof* r = roof(roofs, Kind::datasheet, row.roof);
    ASSERT_NE(r, nullptr) << row.spec << ' ' << row.roof;
    EXPECT_DOUBLE_EQ(r->per_s, row.per_s) << row.spec << ' ' << row.roof;
  }
}

TEST(Spec, WhatAProductCannotDoHasNoRoof) {
  for (const auto& [spec, name] : {std::pair{"t4", "tensor_bf16"},
                                   {"t4", "tensor_tf32"},
                                   {"a100-sxm-80gb", "tensor_fp8_e4m3"},
                                   {"h100-sxm", "tensor_nvfp4"}}) {
    EXPECT_EQ(roof(roofs_of(*find_spec(spec)), Kind::datasheet, name), nullptr) << spec << name;
  }
}

TEST(Spec, SaysWhichFiguresAreHalvedAndWhichUnverified) {
  const auto h100 = roofs_of(*find_spec("h100-sxm"));
  EXPECT_EQ(roof(h100, Kind::datasheet, "tensor_bf16")->source.find("1979 with 2:4 sparsity / 2"),
            0U);
  EXPECT_EQ(roof(h100, Kind::datasheet, "tensor_bf16")->clock_mhz, 1830);
  EXPECT_EQ(roof(h100, Kind::datasheet, "cuda_core_fp32")->clock_mhz, 1980);
  const auto h20 = roofs_of(*find_spec("h20"));
  EXPECT_TRUE(roof(h20, Kind::datasheet, "cuda_core_fp32")->source.starts_with(kUnverified));
  EXPECT_FALSE(roof(h20, Kind::datasheet, "tensor_bf16")->source.starts_with(kUnverified));
}

TEST(Spec, NamesAndRoofsAreUnique) {
  std::set<std::string_view> names;
  for (const Spec& spec : specs()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_EQ(find_spec(spec.name), &spec);
    std::set<std::string> roofs;
    for (const Roof& r : roofs_of(spec)) {
      EXPECT_TRUE(roofs.insert(r.name).second) << spec.name << ' ' << r.name;
      EXPECT_GT(r.per_s, 0);
      EXPECT_FALSE(r.source.empty());
    }
  }
  EXPECT_EQ(find_spec("h100"), nullptr);
}

TEST(Spec, ArithmeticReproducesEverySheetWithinItsRounding) {
  for (const Spec& spec : specs()) {
    const double pins = pin_rate(spec.bus_bits, spec.memory_mhz).value;
    // B200: 7.672 by its pins, 8.0 on the sheet.
    if (pins > 0) {
      EXPECT_NEAR(pins / (spec.tb_per_s.value * 1e12), 1, 0.05) << spec.name;
    }
    for (const Peak& peak : peaks_of(spec)) {
      const double derived = derived_peak(spec.sms, peak.flops_per_clock, peak.clock_mhz).value;
      if (derived == 0 || peak.tflops.value == 0) continue;
      // H20: 44 is reported, 39.5 is what 78 SMs can do at 1980 MHz.
      const bool odd = spec.name == "h20" && peak.name == "cuda_core_fp32";
      EXPECT_NEAR(derived / (peak.tflops.value * 1e12), 1, odd ? 0.11 : 0.03)
          << spec.name << ' ' << peak.name;
    }
  }
}

TEST(Spec, H100ArithmeticByHand) {
  // 132 x 4096 = 540672 FLOP/clk; x 1.83e9 = 989.43e12, x 1.98e9 = 1070.53e12.
  EXPECT_NEAR(derived_peak(132, 4096, 1830).value, 989.42976e12, 1e6);
  EXPECT_NEAR(derived_peak(132, 4096, 1980).value, 1070.53056e12, 1e6);
  EXPECT_NEAR(derived_peak(132, 256, 1980).value, 66.90816e12, 1e6);
  // 640 byte x 2 x 2.619e9.
  EXPECT_NEAR(pin_rate(5120, 2619).value, 3.35232e12, 1e3);
  EXPECT_NEAR(pin_rate(6016, 3201).value, 4.814304e12, 1e3);  // H200, on the sheet 4.8
}

// ---- a live device
// -------------------------------------------------------------------------------

DeviceFacts h100() {
  DeviceFacts f = facts(kDevices[0]);
  f.compute_major = 9;
  f.memory_clock_mhz = 2619;
  f.max_clock_mhz = 1980;
  return f;
}

TEST(Spec, AKnownDeviceHasSheetAndDerivedRoofs) {
  const auto roofs = theoretical_roofs(h100());
  EXPECT_DOUBLE_EQ(roof(roofs, Kind::datasheet, "tensor_bf16")->per_s, 989.5e12);
  EXPECT_NEAR(roof(roofs, Kind::derived, "tensor_bf16")->per_s, 1070.53056e12, 1e6);
  EXPECT_EQ(roof(roofs, Kind::derived, "tensor_bf16")->source,
            "132 SM x 4096 FLOP/clk (sm_90) x 1980 MHz");
  EXPECT_DOUBLE_EQ(roof(roofs, Kind::datasheet, "hbm")->per_s, 3.35e12);
  EXPECT_NEAR(roof(roofs, Kind::derived, "hbm")->per_s, 3.35232e12, 1e3);
  EXPECT_EQ(roof(roofs, Kind::derived, "hbm")->source, "5120 bit x 2619 MHz x 2 / 8");
  EXPECT_TRUE(notes_on(h100()).empty());
}

TEST(Spec, AnUnknownDeviceHasDerivedRoofsOnlyAndALineThatSaysSo) {
  DeviceFacts f = h100();
  f.name = "NVIDIA H123";
  f.processors = 100;
  const auto roofs = theoretical_roofs(f);
  EXPECT_TRUE(std::all_of(roofs.begin(), roofs.end(),
                          [](const Roof& r) { return r.kind == Kind::derived; }));
  // 100 x 4096 x 1.98e9.
  EXPECT_NEAR(roof(roofs, Kind::derived, "tensor_bf16")->per_s, 811.008e12, 1e6);
  ASSERT_EQ(notes_on(f).size(), 1U);
  EXPECT_NE(notes_on(f)[0].find("kSpecs in roofline/spec.cpp"), std::string::npos);
}

TEST(Spec, RatesAreTheProductsWhereTheNameSaysSo) {
  // An H20 whose memory is not the sheet's: unknown, but its tensor cores are still a quarter.
  DeviceFacts f = h100();
  f.name = "NVIDIA H20";
  f.processors = 78;
  f.memory_bytes = 150e9;
  const auto roofs = theoretical_roofs(f);
  EXPECT_EQ(roof(roofs, Kind::datasheet, "tensor_bf16"), nullptr);
  EXPECT_NEAR(roof(roofs, Kind::derived, "tensor_bf16")->per_s, 78 * 1024 * 1.98e9, 1e6);

  f.name = "NVIDIA GeForce RTX 4080";
  f.compute_major = 8;
  f.compute_minor = 9;
  EXPECT_NEAR(roof(theoretical_roofs(f), Kind::derived, "tensor_bf16")->per_s, 78 * 512 * 1.98e9,
              1e6);
  f.name = "NVIDIA RTX 6000 Ada Generation";
  EXPECT_NEAR(roof(theoretical_roofs(f), Kind::derived, "tensor_bf16")->per_s, 78 * 1024 * 1.98e9,
              1e6);
}

TEST(Spec, APartitionHasItsOwnSmsAndNoMemoryRoof) {
  DeviceFacts f = h100();
  f.name = "NVIDIA H20 MIG 1g.12gb";
  f.processors = 8;
  f.partition = true;
  const auto roofs = theoretical_roofs(f);
  EXPECT_EQ(roof(roofs, Kind::derived, "hbm"), nullptr);
  EXPECT_NEAR(roof(roofs, Kind::derived, "tensor_bf16")->per_s, 8 * 1024 * 1.98e9, 1e6);
  EXPECT_NE(notes_on(f)[0].find("a part of a card"), std::string::npos);
}

TEST(Spec, ThePcieLinkHasADerivedRoofWhereItIsKnown) {
  // 32 GT/s x 16 / 8 x 128/130; generation 2: 5 GT/s x 8 / 8 x 8/10; 6: 64 GT/s x 16 / 8.
  EXPECT_NEAR(pcie_rate(5, 16).value, 63.015e9, 1e6);
  EXPECT_DOUBLE_EQ(pcie_rate(2, 8).value, 4e9);
  EXPECT_DOUBLE_EQ(pcie_rate(6, 16).value, 128e9);
  EXPECT_EQ(pcie_rate(7, 16).value, 0) << "unknown";
  DeviceFacts f = h100();
  const auto links = [&] {
    const std::vector<Roof> roofs = theoretical_roofs(f);
    return std::count_if(roofs.begin(), roofs.end(),
                         [](const Roof& r) { return r.level == Level::link; });
  };
  EXPECT_EQ(links(), 0);
  f.pcie_generation = 4;
  f.pcie_lanes = 8;
  EXPECT_EQ(links(), 1);
}

TEST(Spec, AnUnknownCapabilityHasNoComputeRoofs) {
  DeviceFacts f = h100();
  f.name = "NVIDIA X1";
  f.compute_major = 99;
  const auto roofs = theoretical_roofs(f);
  ASSERT_EQ(roofs.size(), 1U);
  EXPECT_EQ(roofs[0].name, "hbm");
  f.memory_clock_mhz.reset();
  EXPECT_TRUE(theoretical_roofs(f).empty());
}

TEST(Spec, SaysWhereAttributesAndSheetDiffer) {
  DeviceFacts f = h100();
  f.memory_clock_mhz = 1309.5;  // half: a driver that counts transfers otherwise
  ASSERT_EQ(notes_on(f).size(), 1U);
  EXPECT_EQ(notes_on(f)[0],
            "hbm: the data sheet says 3.35e+12, the device's attributes 1.676e+12 "
            "(5120 bit x 1309.5 MHz x 2 / 8)");
}

}  // namespace
}  // namespace roofline
