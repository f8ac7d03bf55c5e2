/* gen_kernels: the kernels of the generated training loop. The library is our own invention; the
 * names are as its compiler and a demangler would write them. See gen_kernels.h. */
#include "testdata/gen_kernels.h"

const struct gen_kernel GEN_KERNELS[GEN_KERNEL_COUNT] = {
    [GEN_LN_FWD] = {.full = "void lamina::kernels::layer_norm_fwd<lamina::bf16, float, 4096, 8>(lam"
                            "ina::bf16 const*, lamina::bf16 const*, lamina::bf16 const*, lamina::bf"
                            "16*, float*, float*, int)",
                    .brief = "layer_norm_fwd",
                    .mangled =
                        "_ZN6lamina7kernels14layer_norm_fwdINS_4bf16EfLi4096ELi8EEEvPKT_S5_S5_P"
                        "S3_PfS7_i",
                    .mean_ns = 21000,
                    .registers = 40,
                    .static_bytes = 0,
                    .dynamic_bytes = 16384,
                    .grid = {8192, 1, 1},
                    .block = {256, 1, 1}},
    [GEN_GEMM_QKV] = {.full = "h9_gemm_bf16_f32_bf16_tn_n_tile128x256x64_warpgroup4x2x1_bias",
                      .brief = "h9_gemm_bf16_f32_bf16_tn_n_tile128x256x64_warpgroup4x2x1_bias",
                      .mangled = "h9_gemm_bf16_f32_bf16_tn_n_tile128x256x64_warpgroup4x2x1_bias",
                      .mean_ns = 118000,
                      .registers = 168,
                      .static_bytes = 0,
                      .dynamic_bytes = 213504,
                      .grid = {96, 16, 1},
                      .block = {384, 1, 1}},
    [GEN_FLASH_FWD] = {.full =
                           "void lamina::kernels::flash_forward<lamina::bf16, 128, 128, 64, true>("
                           "lamina::bf16 const*, lamina::bf16 const*, lamina::bf16 const*, lamina:"
                           ":bf16*, float*, float, int, int)",
                       .brief = "flash_forward",
                       .mangled =
                           "_ZN6lamina7kernels13flash_forwardINS_4bf16ELi128ELi128ELi64ELb1EEEvPKT"
                           "_S5_S5_PS3_Pffii",
                       .mean_ns = 164000,
                       .registers = 255,
                       .static_bytes = 0,
                       .dynamic_bytes = 196608,
                       .grid = {32, 64, 2},
                       .block = {384, 1, 1}},
    [GEN_GEMM_PROJ] = {.full =
                           "void lamina::gemm::device_kernel<lamina::gemm::Kernel<lamina::bf16, la"
                           "mina::bf16, lamina::bf16, lamina::Tile<128, 128, 64>, lamina::Tile<2, "
                           "1, 1>, (lamina::gemm::Layout)0, (lamina::gemm::Layout)0, lamina::epilo"
                           "gue::Linear<lamina::bf16, 8>, 5> >(lamina::gemm::Kernel<lamina::bf16, "
                           "lamina::bf16, lamina::bf16, lamina::Tile<128, 128, 64>, lamina::Tile<2"
                           ", 1, 1>, (lamina::gemm::Layout)0, (lamina::gemm::Layout)0, lamina::epi"
                           "logue::Linear<lamina::bf16, 8>, 5>::Params)",
                       .brief = "device_kernel",
                       .mangled =
                           "_ZN6lamina4gemm13device_kernelINS0_6KernelINS_4bf16ES3_S3_NS_4TileILi1"
                           "28ELi128ELi64EEENS4_ILi2ELi1ELi1EEELNS0_6LayoutE0ELS7_0ENS_8epilogue6L"
                           "inearIS3_Li8EEELi5EEEEEvNT_6ParamsE",
                       .mean_ns = 57000,
                       .registers = 168,
                       .static_bytes = 0,
                       .dynamic_bytes = 180224,
                       .grid = {32, 16, 1},
                       .block = {384, 1, 1}},
    [GEN_DROPOUT_ADD] =
        {.full = "void lamina::kernels::vectorized_map<lamina::bf16, lamina::detail::Dro"
                 "poutAdd, 8>(int, lamina::detail::DropoutAdd, lamina::bf16 const*, lami"
                 "na::bf16 const*, lamina::bf16*)",
         .brief = "vectorized_map",
         .mangled = "_ZN6lamina7kernels14vectorized_mapINS_4bf16ENS_6detail10DropoutAddELi8"
                    "EEEviT0_PKT_S8_PS6_",
         .mean_ns = 16000,
         .registers = 32,
         .static_bytes = 0,
         .dynamic_bytes = 0,
         .grid = {16384, 1, 1},
         .block = {128, 1, 1}},
    [GEN_GEMM_MLP1] = {.full =
                           "void lamina::gemm::device_kernel<lamina::gemm::Kernel<lamina::bf16, la"
                           "mina::bf16, lamina::bf16, lamina::Tile<128, 256, 64>, lamina::Tile<2, "
                           "1, 1>, (lamina::gemm::Layout)0, (lamina::gemm::Layout)1, lamina::epilo"
                           "gue::BiasGelu<lamina::bf16, 8>, 4> >(lamina::gemm::Kernel<lamina::bf16"
                           ", lamina::bf16, lamina::bf16, lamina::Tile<128, 256, 64>, lamina::Tile"
                           "<2, 1, 1>, (lamina::gemm::Layout)0, (lamina::gemm::Layout)1, lamina::e"
                           "pilogue::BiasGelu<lamina::bf16, 8>, 4>::Params)",
                       .brief = "device_kernel",
                       .mangled =
                           "_ZN6lamina4gemm13device_kernelINS0_6KernelINS_4bf16ES3_S3_NS_4TileILi1"
                           "28ELi256ELi64EEENS4_ILi2ELi1ELi1EEELNS0_6LayoutE0ELS7_1ENS_8epilogue8B"
                           "iasGeluIS3_Li8EEELi4EEEEEvNT_6ParamsE",
                       .mean_ns = 171000,
                       .registers = 168,
                       .static_bytes = 0,
                       .dynamic_bytes = 213504,
                       .grid = {128, 16, 1},
                       .block = {384, 1, 1}},
    [GEN_GEMM_MLP2] = {.full = "h9_gemm_bf16_f32_bf16_tn_n_tile128x128x64_warpgroup2x1x1_splitk",
                       .brief = "h9_gemm_bf16_f32_bf16_tn_n_tile128x128x64_warpgroup2x1x1_splitk",
                       .mangled = "h9_gemm_bf16_f32_bf16_tn_n_tile128x128x64_warpgroup2x1x1_splitk",
                       .mean_ns = 149000,
                       .registers = 128,
                       .static_bytes = 0,
                       .dynamic_bytes = 131072,
                       .grid = {32, 32, 4},
                       .block = {256, 1, 1}},
    [GEN_ADD] = {.full = "void lamina::kernels::vectorized_map<lamina::bf16, lamina::detail::Add"
                         "Functor, 8>(int, lamina::detail::AddFunctor, lamina::bf16 const*, lami"
                         "na::bf16 const*, lamina::bf16*)",
                 .brief = "vectorized_map",
                 .mangled = "_ZN6lamina7kernels14vectorized_mapINS_4bf16ENS_6detail10AddFunctorELi8"
                            "EEEviT0_PKT_S8_PS6_",
                 .mean_ns = 14000,
                 .registers = 24,
                 .static_bytes = 0,
                 .dynamic_bytes = 0,
                 .grid = {16384, 1, 1},
                 .block = {128, 1, 1}},
    [GEN_LN_BWD] = {.full = "void lamina::kernels::layer_norm_bwd<lamina::bf16, float, 4096, 8>(lam"
                            "ina::bf16 const*, lamina::bf16 const*, lamina::bf16 const*, float cons"
                            "t*, float const*, lamina::bf16*, lamina::bf16*, lamina::bf16*, int)",
                    .brief = "layer_norm_bwd",
                    .mangled =
                        "_ZN6lamina7kernels14layer_norm_bwdINS_4bf16EfLi4096ELi8EEEvPKT_S5_S5_P"
                        "KfS7_PS3_S8_S8_i",
                    .mean_ns = 44000,
                    .registers = 64,
                    .static_bytes = 0,
                    .dynamic_bytes = 32768,
                    .grid = {4096, 1, 1},
                    .block = {256, 1, 1}},
    [GEN_FLASH_BWD] = {.full =
                           "void lamina::kernels::flash_backward<lamina::bf16, 128, 64, 128, true>"
                           "(lamina::bf16 const*, lamina::bf16 const*, lamina::bf16 const*, lamina"
                           "::bf16 const*, lamina::bf16 const*, float const*, lamina::bf16*, lamin"
                           "a::bf16*, lamina::bf16*, float, int, int)",
                       .brief = "flash_backward",
                       .mangled =
                           "_ZN6lamina7kernels14flash_backwardINS_4bf16ELi128ELi64ELi128ELb1EEEvPK"
                           "T_S5_S5_S5_S5_PKfPS3_S8_S8_fii",
                       .mean_ns = 402000,
                       .registers = 255,
                       .static_bytes = 0,
                       .dynamic_bytes = 229376,
                       .grid = {64, 64, 2},
                       .block = {384, 1, 1}},
    [GEN_GEMM_DGRAD] = {.full = "h9_gemm_bf16_f32_bf16_nn_n_tile256x128x64_warpgroup4x1x2",
                        .brief = "h9_gemm_bf16_f32_bf16_nn_n_tile256x128x64_warpgroup4x1x2",
                        .mangled = "h9_gemm_bf16_f32_bf16_nn_n_tile256x128x64_warpgroup4x1x2",
                        .mean_ns = 138000,
                        .registers = 168,
                        .static_bytes = 0,
                        .dynamic_bytes = 213504,
                        .grid = {64, 16, 1},
                        .block = {384, 1, 1}},
    [GEN_GEMM_WGRAD] = {.full =
                            "void lamina::gemm::device_kernel<lamina::gemm::Kernel<lamina::bf16, la"
                            "mina::bf16, float, lamina::Tile<256, 128, 64>, lamina::Tile<2, 1, 1>, "
                            "(lamina::gemm::Layout)1, (lamina::gemm::Layout)0, lamina::epilogue::Li"
                            "near<float, 4>, 4> >(lamina::gemm::Kernel<lamina::bf16, lamina::bf16, "
                            "float, lamina::Tile<256, 128, 64>, lamina::Tile<2, 1, 1>, (lamina::gem"
                            "m::Layout)1, (lamina::gemm::Layout)0, lamina::epilogue::Linear<float, "
                            "4>, 4>::Params)",
                        .brief = "device_kernel",
                        .mangled =
                            "_ZN6lamina4gemm13device_kernelINS0_6KernelINS_4bf16ES3_fNS_4TileILi256"
                            "ELi128ELi64EEENS4_ILi2ELi1ELi1EEELNS0_6LayoutE1ELS7_0ENS_8epilogue6Lin"
                            "earIfLi4EEELi4EEEEEvNT_6ParamsE",
                        .mean_ns = 152000,
                        .registers = 168,
                        .static_bytes = 0,
                        .dynamic_bytes = 196608,
                        .grid = {48, 32, 1},
                        .block = {384, 1, 1}},
    [GEN_GELU_GRAD] = {.full =
                           "void lamina::kernels::vectorized_map<lamina::bf16, lamina::detail::Gel"
                           "uGrad<lamina::bf16>, 8>(int, lamina::detail::GeluGrad<lamina::bf16>, l"
                           "amina::bf16 const*, lamina::bf16 const*, lamina::bf16*)",
                       .brief = "vectorized_map",
                       .mangled =
                           "_ZN6lamina7kernels14vectorized_mapINS_4bf16ENS_6detail8GeluGradIS2_EEL"
                           "i8EEEviT0_PKT_S9_PS7_",
                       .mean_ns = 33000,
                       .registers = 36,
                       .static_bytes = 0,
                       .dynamic_bytes = 0,
                       .grid = {65536, 1, 1},
                       .block = {128, 1, 1}},
    [GEN_EMBED] = {.full = "void lamina::kernels::embedding_gather<lamina::bf16, long>(lamina::bf1"
                           "6 const*, long const*, lamina::bf16*, int, int)",
                   .brief = "embedding_gather",
                   .mangled = "_ZN6lamina7kernels16embedding_gatherINS_4bf16ElEEvPKT_PKT0_PS3_ii",
                   .mean_ns = 12000,
                   .registers = 22,
                   .static_bytes = 0,
                   .dynamic_bytes = 0,
                   .grid = {8192, 1, 1},
                   .block = {256, 1, 1}},
    [GEN_EMBED_GRAD] = {.full =
                            "void lamina::kernels::embedding_scatter_grad<lamina::bf16, long>(lamin"
                            "a::bf16 const*, long const*, lamina::bf16*, int, int)",
                        .brief = "embedding_scatter_grad",
                        .mangled =
                            "_ZN6lamina7kernels22embedding_scatter_gradINS_4bf16ElEEvPKT_PKT0_PS3_i"
                            "i",
                        .mean_ns = 61000,
                        .registers = 28,
                        .static_bytes = 0,
                        .dynamic_bytes = 0,
                        .grid = {8192, 1, 1},
                        .block = {256, 1, 1}},
    [GEN_XENT_FWD] = {.full =
                          "void lamina::kernels::softmax_xent_fwd<lamina::bf16, 1024>(lamina::bf1"
                          "6 const*, long const*, float*, float*, int, int)",
                      .brief = "softmax_xent_fwd",
                      .mangled =
                          "_ZN6lamina7kernels16softmax_xent_fwdINS_4bf16ELi1024EEEvPKT_PKlPfS8_ii",
                      .mean_ns = 88000,
                      .registers = 48,
                      .static_bytes = 4096,
                      .dynamic_bytes = 0,
                      .grid = {8192, 1, 1},
                      .block = {1024, 1, 1}},
    [GEN_XENT_BWD] = {.full =
                          "void lamina::kernels::softmax_xent_bwd<lamina::bf16, 1024>(lamina::bf1"
                          "6 const*, long const*, float const*, lamina::bf16*, int, int)",
                      .brief = "softmax_xent_bwd",
                      .mangled =
                          "_ZN6lamina7kernels16softmax_xent_bwdINS_4bf16ELi1024EEEvPKT_PKlPKfPS3_"
                          "ii",
                      .mean_ns = 104000,
                      .registers = 48,
                      .static_bytes = 4096,
                      .dynamic_bytes = 0,
                      .grid = {8192, 1, 1},
                      .block = {1024, 1, 1}},
    [GEN_NORM] = {.full = "void lamina::kernels::reduce_norm<float, 512>(float const*, float*, in"
                          "t)",
                  .brief = "reduce_norm",
                  .mangled = "_ZN6lamina7kernels11reduce_normIfLi512EEEvPKT_Pfi",
                  .mean_ns = 26000,
                  .registers = 24,
                  .static_bytes = 2048,
                  .dynamic_bytes = 0,
                  .grid = {1056, 1, 1},
                  .block = {512, 1, 1}},
    [GEN_ADAMW] = {.full = "void lamina::kernels::multi_tensor_apply<lamina::detail::AdamW<float>,"
                           " 4>(lamina::Packed<float>, int, lamina::detail::AdamW<float>, float, f"
                           "loat, float, float)",
                   .brief = "multi_tensor_apply",
                   .mangled =
                       "_ZN6lamina7kernels18multi_tensor_applyINS_6detail5AdamWIfEELi4EEEvNS_6"
                       "PackedIfEEiT_ffff",
                   .mean_ns = 212000,
                   .registers = 56,
                   .static_bytes = 0,
                   .dynamic_bytes = 0,
                   .grid = {2112, 1, 1},
                   .block = {512, 1, 1}},
    [GEN_TINY] = {.full = "scale_param_f32",
                  .brief = "scale_param_f32",
                  .mangled = "scale_param_f32",
                  .mean_ns = 4000,
                  .registers = 16,
                  .static_bytes = 0,
                  .dynamic_bytes = 0,
                  .grid = {64, 1, 1},
                  .block = {256, 1, 1}},
    [GEN_ALLREDUCE] = {.full =
                           "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096"
                           "ul>)",
                       .brief = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                       .mangled =
                           "_Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorage"
                           "ILm4096EE",
                       .mean_ns = 520000,
                       .registers = 96,
                       .static_bytes = 40,
                       .dynamic_bytes = 83968,
                       .grid = {24, 1, 1},
                       .block = {544, 1, 1}},
};
