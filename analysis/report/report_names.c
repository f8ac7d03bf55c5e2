/* report_names: see report_names.h. */
#include "analysis/report/report_names.h"

#include <string.h>

struct old_name {
    enum report_kind kind;
    const char *name;
    const char *now;
};

/* Names of nsys before 2022.4 (reports) and 2022.1 (rules), and of recipes for the same tables. */
static const struct old_name OLD_NAMES[] = {
    /* clang-format off */
    {REPORT_STATS, "apigpusum", "cuda_api_gpu_sum"},
    {REPORT_STATS, "cudaapisum", "cuda_api_sum"},
    {REPORT_STATS, "cudaapitrace", "cuda_api_trace"},
    {REPORT_STATS, "gpukerngbsum", "cuda_gpu_kern_gb_sum"},
    {REPORT_STATS, "gpukernsum", "cuda_gpu_kern_sum"},
    {REPORT_STATS, "gpumemsizesum", "cuda_gpu_mem_size_sum"},
    {REPORT_STATS, "gpumemtimesum", "cuda_gpu_mem_time_sum"},
    {REPORT_STATS, "gpusum", "cuda_gpu_sum"},
    {REPORT_STATS, "gputrace", "cuda_gpu_trace"},
    {REPORT_STATS, "kernexecsum", "cuda_kern_exec_sum"},
    {REPORT_STATS, "kernexectrace", "cuda_kern_exec_trace"},
    {REPORT_STATS, "nvtxgpuproj", "nvtx_gpu_proj_trace"},
    {REPORT_STATS, "nvtxgpuprojsum", "nvtx_gpu_proj_sum"},
    {REPORT_STATS, "nvtxgpuprojtrace", "nvtx_gpu_proj_trace"},
    {REPORT_STATS, "nvtx_gpu_proj", "nvtx_gpu_proj_trace"},
    {REPORT_STATS, "nvtxkernsum", "nvtx_kern_sum"},
    {REPORT_STATS, "nvtxppsum", "nvtx_pushpop_sum"},
    {REPORT_STATS, "nvtxpptrace", "nvtx_pushpop_trace"},
    {REPORT_STATS, "nvtxpushpopsum", "nvtx_pushpop_sum"},
    {REPORT_STATS, "nvtxpushpoptrace", "nvtx_pushpop_trace"},
    {REPORT_STATS, "nvtxsssum", "nvtx_startend_sum"},
    {REPORT_STATS, "nvtxstartendsum", "nvtx_startend_sum"},
    {REPORT_STATS, "nvtxsum", "nvtx_sum"},
    {REPORT_STATS, "osrtsum", "osrt_sum"},
    {REPORT_STATS, "umsum", "um_sum"},
    {REPORT_STATS, "umtotalsum", "um_total_sum"},
    {REPORT_RULE, "cuda-async-memcpy", "cuda_memcpy_async"},
    {REPORT_RULE, "cuda-sync-memcpy", "cuda_memcpy_sync"},
    {REPORT_RULE, "cuda-sync-memset", "cuda_memset_sync"},
    {REPORT_RULE, "cuda-sync-api", "cuda_api_sync"},
    {REPORT_RULE, "gpu-starvation", "gpu_gaps"},
    {REPORT_RULE, "gpu-low-utilization", "gpu_time_util"},
    {REPORT_RULE, "cudamemcpyasync", "cuda_memcpy_async"},
    {REPORT_RULE, "cudamemcpysync", "cuda_memcpy_sync"},
    {REPORT_RULE, "cudamemsetsync", "cuda_memset_sync"},
    {REPORT_RULE, "cudaapisync", "cuda_api_sync"},
    {REPORT_RULE, "gpugaps", "gpu_gaps"},
    {REPORT_RULE, "gputimeutil", "gpu_time_util"},
    {REPORT_RULE, "cuda_gpu_time_util_map", "gpu_time_util"},
    /* clang-format on */
};

struct name_hint {
    const char *name;
    const char *text;
};

/* What nsys has and this program has in another form, or not at all. */
static const struct name_hint HINTS[] = {
    /* clang-format off */
    {"cuda_gpu_time_util_map", "cutline analyze -r gpu_time_util has its numbers, and the timeline shows them"},
    {"nccl_gpu_overlap_trace", "the report overlap has compute and communication by device"},
    {"nvtx_gpu_proj_pace", "the report nvtx_pace:RANGE has the pace of a range"},
    {"cuda_gpu_kern_pace", "the report nvtx_pace:KERNEL has the pace of a kernel"},
    {"cuda_gpu_kern_hist", "the report cuda_gpu_kern_pct has percentiles of each kernel"},
    {"nccl_gpu_time_util_map", "the report overlap has compute and communication by device"},
    {"nccl_gpu_proj_sum", "the reports overlap and nvtx_gpu_proj_sum have NCCL's ranges"},
    {"nccl_sum", "the report nvtx_sum has NCCL's ranges"},
    {"nccl_straggler", "the report nvtx_pace has one range in every process"},
    {"diff", "cutline diff BASE NEW compares captures"},
    {"um_cpu_page_faults_sum", "the report um_total_sum counts page faults"},
    {"umcpupagefaults", "the report um_total_sum counts page faults"},
    /* clang-format on */
};

/* Beginnings of names of reports on what cutline does not read. */
static const char *const NOT_READ[] = {
    "openmp",     "openacc",   "mpi_",  "ucx_",    "opengl",    "vulkan",
    "dx11",       "dx12",      "wddm",  "nvvideo", "gfx_",      "network_",
    "nvlink_",    "storage",   "file_", "s3_",     "syscall",   "gpu_vram",
    "gpu_metric", "gpumetric", "khr",   "pixsum",  "gpumarker", "nvtx_cpu_topdown",
};

const char *report_present_name(enum report_kind kind, const char *name)
{
    for (size_t i = 0; i < sizeof OLD_NAMES / sizeof OLD_NAMES[0]; i++) {
        if (OLD_NAMES[i].kind == kind && strcmp(OLD_NAMES[i].name, name) == 0) {
            return OLD_NAMES[i].now;
        }
    }
    return NULL;
}

const struct report *report_named(enum report_kind kind, const char *name)
{
    const char *now = report_present_name(kind, name);
    return report_find(kind, now != NULL ? now : name);
}

/* Is it a name of the other kind, as it is or an old one? */
static const char *of_other_kind(enum report_kind kind, const char *name)
{
    enum report_kind other = kind == REPORT_RULE ? REPORT_STATS : REPORT_RULE;
    const char *now = report_present_name(other, name);
    return report_find(other, name) != NULL ? name : now;
}

void report_add_hint(enum report_kind kind, const char *name, struct buf *out)
{
    const char *other = of_other_kind(kind, name);
    for (size_t i = 0; i < sizeof HINTS / sizeof HINTS[0]; i++) {
        if (strcmp(HINTS[i].name, name) == 0) {
            buf_adds(out, HINTS[i].text);
            return;
        }
    }
    if (other != NULL) {
        buf_addf(out, "it is a %s: cutline %s -r %s", kind == REPORT_RULE ? "report" : "rule",
                 kind == REPORT_RULE ? "stats" : "analyze", other);
        return;
    }
    for (size_t i = 0; i < sizeof NOT_READ / sizeof NOT_READ[0]; i++) {
        if (strncmp(name, NOT_READ[i], strlen(NOT_READ[i])) == 0) {
            buf_adds(out, "cutline reads no such data; nsys stats has it");
            return;
        }
    }
    buf_addf(out, "%s lists them", kind == REPORT_RULE ? "--help-rules" : "--help-reports");
}
