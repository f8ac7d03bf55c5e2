/* Arguments of options to settings; record_options.h says which. */
#include "capture/record/record_options.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SIGNALS_MAX = 64
};

/* The next word of a list with commas: its length, 0 at the end. */
static size_t next_word(const char **text)
{
    *text += **text == ',';
    return strcspn(*text, ",");
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && strncmp(text, word, len) == 0;
}

/* The part before the first colon. */
static size_t head_len(const char *text)
{
    return strcspn(text, ":");
}

static int add_domain(struct session_config *config, const char *text, size_t len, struct err *err)
{
    if (config->domains_count == SESSION_DOMAINS_MAX || len >= SESSION_TEXT_BYTES) {
        return err_set(err, "more than %d NVTX domains, or a name longer than %d bytes",
                       SESSION_DOMAINS_MAX, SESSION_TEXT_BYTES - 1);
    }
    (void)snprintf(config->domains[config->domains_count++], SESSION_TEXT_BYTES, "%.*s", (int)len,
                   text);
    return 0;
}

void record_ignore(struct buf *ignored, const char *what)
{
    const char *at = buf_text(ignored);
    size_t len = strlen(what);
    for (at = strstr(at, what); at != NULL; at = strstr(at + 1, what)) {
        bool begins = at == ignored->data || at[-1] == ' ';
        if (begins && (at[len] == ',' || at[len] == '\0')) {
            return;
        }
    }
    buf_addf(ignored, "%s%s", ignored->len ? ", " : "", what);
}

/* ---- --trace --------------------------------------------------------------------------------- */

enum trace_action {
    TRACE_NOTHING,
    TRACE_CUDA,
    TRACE_CUDA_HARDWARE,
    TRACE_NVTX,
    TRACE_DOMAIN, /* NVTX of one library */
    TRACE_IGNORED
};

static const struct trace_word {
    const char *word;
    enum trace_action action;
    const char *domain; /* as the library names it */
    enum record_library library;
    uint8_t level; /* of it; 0: it needs no variable */
} trace_words[] = {
    {"none", TRACE_NOTHING, NULL, 0, 0},
    {"cuda", TRACE_CUDA, NULL, 0, 0},
    {"cuda-sw", TRACE_CUDA, NULL, 0, 0},
    {"cuda-hw", TRACE_CUDA_HARDWARE, NULL, 0, 0},
    {"nvtx", TRACE_NVTX, NULL, 0, 0},
    {"nccl", TRACE_DOMAIN, "NCCL", 0, 0},
    /* cuBLAS and cuDNN tell of their handles at level 1, cuSPARSE and cuSOLVER at 2 alone */
    {"cublas", TRACE_DOMAIN, "cuBLAS", RECORD_LIBRARY_CUBLAS, 1},
    {"cublas-verbose", TRACE_DOMAIN, "cuBLAS", RECORD_LIBRARY_CUBLAS, 2},
    {"cudnn", TRACE_DOMAIN, "cuDNN", RECORD_LIBRARY_CUDNN, 1},
    {"cudnn-verbose", TRACE_DOMAIN, "cuDNN", RECORD_LIBRARY_CUDNN, 2},
    {"cusparse", TRACE_DOMAIN, "CUSPARSE", RECORD_LIBRARY_CUSPARSE, 2},
    {"cusparse-verbose", TRACE_DOMAIN, "CUSPARSE", RECORD_LIBRARY_CUSPARSE, 2},
    {"cusolver", TRACE_DOMAIN, "cusolverDn", RECORD_LIBRARY_CUSOLVER, 2},
    {"cusolver-verbose", TRACE_DOMAIN, "cusolverDn", RECORD_LIBRARY_CUSOLVER, 2},
    {"osrt", TRACE_IGNORED, NULL, 0, 0},
    {"opengl", TRACE_IGNORED, NULL, 0, 0},
    {"vulkan", TRACE_IGNORED, NULL, 0, 0},
    {"mpi", TRACE_IGNORED, NULL, 0, 0},
    {"ucx", TRACE_IGNORED, NULL, 0, 0},
    {"openacc", TRACE_IGNORED, NULL, 0, 0},
    {"openmp", TRACE_IGNORED, NULL, 0, 0},
    {"oshmem", TRACE_IGNORED, NULL, 0, 0},
    {"syscall", TRACE_IGNORED, NULL, 0, 0},
    {"python-gil", TRACE_IGNORED, NULL, 0, 0},
    {"gds", TRACE_IGNORED, NULL, 0, 0},
    {"s3", TRACE_IGNORED, NULL, 0, 0},
    {"nvvideo", TRACE_IGNORED, NULL, 0, 0},
    {"nvmedia", TRACE_IGNORED, NULL, 0, 0},
    {"cudla", TRACE_IGNORED, NULL, 0, 0},
    {"cudla-verbose", TRACE_IGNORED, NULL, 0, 0},
    {"tegra-accelerators", TRACE_IGNORED, NULL, 0, 0},
    {"opengl-annotations", TRACE_IGNORED, NULL, 0, 0},
    {"vulkan-annotations", TRACE_IGNORED, NULL, 0, 0},
    {"dx11", TRACE_IGNORED, NULL, 0, 0},
    {"dx11-annotations", TRACE_IGNORED, NULL, 0, 0},
    {"dx12", TRACE_IGNORED, NULL, 0, 0},
    {"dx12-annotations", TRACE_IGNORED, NULL, 0, 0},
    {"openxr", TRACE_IGNORED, NULL, 0, 0},
    {"openxr-annotations", TRACE_IGNORED, NULL, 0, 0},
    {"wddm", TRACE_IGNORED, NULL, 0, 0},
};

static const struct trace_word *find_trace(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof trace_words / sizeof *trace_words; i++) {
        const char *name = trace_words[i].word;
        if (strlen(name) == len && strncasecmp(text, name, len) == 0) { /* nsys writes cuDNN, too */
            return &trace_words[i];
        }
    }
    return NULL;
}

static int do_trace(const struct trace_word *word, struct session_config *config,
                    struct record_libraries *libraries, struct buf *ignored, struct err *err)
{
    uint8_t *level = &libraries->level[word->library];
    *level = word->level > *level ? word->level : *level;
    switch (word->action) {
    case TRACE_CUDA_HARDWARE:
        record_ignore(ignored, "the GPU's own trace (cuda-hw; CUPTI's is recorded)");
        config->trace_cuda = true;
        return 0;
    case TRACE_CUDA:
        config->trace_cuda = true;
        return 0;
    case TRACE_NVTX:
        config->trace_nvtx = true;
        return 0;
    case TRACE_DOMAIN:
        /* the libraries' calls are seen by their NVTX ranges; nsys turns CUDA on with them, too */
        config->trace_cuda = true;
        return add_domain(config, word->domain, strlen(word->domain), err);
    case TRACE_IGNORED:
        record_ignore(ignored, word->word);
        return 0;
    case TRACE_NOTHING:
        break;
    }
    return 0;
}

int record_parse_trace(const char *text, struct session_config *config,
                       struct record_libraries *libraries, struct buf *ignored, struct err *err)
{
    *libraries = (struct record_libraries){{0}};
    config->trace_cuda = false;
    config->trace_nvtx = false;
    config->domains_mode = SESSION_DOMAINS_ALL;
    config->domains_count = 0;
    for (size_t len = next_word(&text); len > 0; len = next_word(&text)) {
        const struct trace_word *word = find_trace(text, len);
        if (!word) {
            return err_set(err,
                           "'%.*s' cannot be traced; there are cuda, nvtx, nccl, cublas, cudnn, "
                           "cusparse, cusolver and none",
                           (int)len, text);
        }
        if (do_trace(word, config, libraries, ignored, err) < 0) {
            return -1;
        }
        text += len;
    }
    if (config->trace_nvtx) {
        config->domains_count = 0;
    } else if (config->domains_count > 0) {
        config->trace_nvtx = true;
        config->domains_mode = SESSION_DOMAINS_INCLUDE;
    }
    return 0;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

int record_parse_range_end(const char *text, struct session_config *config, bool *shutdown,
                           struct err *err)
{
    static const struct {
        const char *word;
        enum session_range_end end;
        bool shutdown;
    } words[] = {
        {"none", SESSION_RANGE_END_NONE, false},
        {"stop", SESSION_RANGE_END_STOP, false},
        {"stop-shutdown", SESSION_RANGE_END_STOP, true},
        {"repeat", SESSION_RANGE_END_REPEAT, false},
        {"repeat-shutdown", SESSION_RANGE_END_REPEAT, true},
    };
    size_t len = head_len(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!is_word(text, len, words[i].word)) {
            continue;
        }
        char *end = NULL;
        long n = text[len] ? strtol(text + len + 1, &end, 10) : 0;
        config->range_end = words[i].end;
        config->range_repeat = n > 0 && n < INT32_MAX ? (uint32_t)n : 0;
        *shutdown = words[i].shutdown;
        if (words[i].shutdown && words[i].end == SESSION_RANGE_END_REPEAT && n <= 0) {
            return err_set(err, "repeat-shutdown needs how many ranges, for example "
                                "repeat-shutdown:3");
        }
        return 0;
    }
    return err_set(err,
                   "'%s' is no end of a capture range; there are none, stop, stop-shutdown, "
                   "repeat[:N] and repeat-shutdown:N",
                   text);
}

int record_parse_nvtx_capture(const char *text, struct session_config *config, struct err *err)
{
    const char *at = strrchr(text, '@');
    size_t len = at ? (size_t)(at - text) : strlen(text);
    if (len == 0 || len >= SESSION_TEXT_BYTES || (at && strlen(at + 1) >= SESSION_TEXT_BYTES)) {
        return err_set(err, "'%s' is no NVTX range; write RANGE, RANGE@DOMAIN or RANGE@*", text);
    }
    (void)snprintf(config->range_message, SESSION_TEXT_BYTES, "%.*s", (int)len, text);
    (void)snprintf(config->range_domain, SESSION_TEXT_BYTES, "%s", at ? at + 1 : "");
    return 0;
}

int record_parse_domains(const char *text, enum session_domains mode, struct session_config *config,
                         struct err *err)
{
    if (config->domains_mode != SESSION_DOMAINS_ALL && config->domains_mode != mode) {
        return err_set(err, "NVTX domains can be included or excluded, not both");
    }
    config->domains_mode = mode;
    for (size_t len = next_word(&text); len > 0; len = next_word(&text)) {
        if (add_domain(config, text, len, err) < 0) {
            return -1;
        }
        text += len;
    }
    return 0;
}

/* ---- others ---------------------------------------------------------------------------------- */

int record_parse_graph(const char *text, struct session_config *config, struct buf *ignored,
                       struct err *err)
{
    size_t len = head_len(text);
    if (strstr(text + len, "host-and-device") != NULL) {
        record_ignore(ignored, "graphs that the device launches");
    }
    if (is_word(text, len, "graph") || is_word(text, len, "node")) {
        config->graph = is_word(text, len, "node") ? SESSION_GRAPH_NODE : SESSION_GRAPH_GRAPH;
        return 0;
    }
    return err_set(err, "'%s' is no way to trace graphs; there are graph and node", text);
}

int record_parse_kill(const char *text, int *signal, struct err *err)
{
    static const struct {
        const char *word;
        int signal;
    } words[] = {{"none", 0}, {"sigterm", SIGTERM}, {"sigkill", SIGKILL}, {"sigint", SIGINT}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i].word) == 0) {
            *signal = words[i].signal;
            return 0;
        }
    }
    char *end = NULL;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < 1 || number > SIGNALS_MAX) {
        return err_set(
            err, "'%s' is no signal; there are none, sigterm, sigkill, sigint and numbers", text);
    }
    *signal = (int)number;
    return 0;
}

int record_parse_api(const char *text, struct session_config *config, struct err *err)
{
    static const struct {
        const char *word;
        enum session_api api;
    } words[] = {
        {"all", SESSION_API_ALL},      {"full", SESSION_API_ALL},  {"launch", SESSION_API_LAUNCH},
        {"light", SESSION_API_LAUNCH}, {"none", SESSION_API_NONE},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(text, words[i].word) == 0) {
            config->api = words[i].api;
            return 0;
        }
    }
    return err_set(err, "'%s' is no set of API calls; there are all, launch and none", text);
}
