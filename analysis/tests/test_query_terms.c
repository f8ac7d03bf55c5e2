/* The filter language: what each word keeps, how words are split, what is said of wrong ones. */
#include "analysis/base/buf.h"
#include "analysis/filter/filter.h"
#include "analysis/filter/terms.h"
#include "analysis/tests/check.h"
#include "analysis/tests/model.h"

enum {
    EVENTS = 20
};

/*
 * Two processes on two devices. The letter of each event, in the order of adding:
 *
 *     a b  calls of the main thread of 42 inside "iter 1": launch, memcpy     g h  their ops,
 * stream 7 c    call of the main thread outside: cudaMalloc, no op d    call of thread "loader"
 * (tid 50): launch                           i    its op, stream 13 e    call of process 43: graph
 * launch                                   j k  its ops, device 1, streams 7 and 8 f    OS call of
 * "loader" l    op without a call, stream 7 of device 0 m n  ranges "iter 1", "iter 2" of the main
 * thread; o a range of domain NCCL inside "iter 2" p    mark of the main thread inside "iter 2"
 */
struct world {
    struct model m;
    struct facts *facts;
    uint32_t handle[EVENTS];
    int count;
};

static void put(struct world *w, uint32_t handle)
{
    assert_true(w->count < EVENTS);
    w->handle[w->count++] = handle;
}

static void put_calls(struct world *w)
{
    struct model *m = &w->m;
    uint32_t app = model_process(m, 42, "python");
    uint32_t other = model_process(m, 43, "server");
    uint32_t main_thread = model_thread(m, app, 42, "python");
    uint32_t loader = model_thread(m, app, 50, "loader");
    uint32_t far = model_thread(m, other, 43, "server");
    uint32_t launch = model_call_name(m, "cudaLaunchKernel", TRACE_API_LAUNCH);
    uint32_t copy = model_call_name(m, "cudaMemcpy", TRACE_API_COPY);
    uint32_t alloc = model_call_name(m, "cudaMalloc", TRACE_API_ALLOC);
    uint32_t graph = model_call_name(m, "cudaGraphLaunch", TRACE_API_LAUNCH | TRACE_API_GRAPH);
    uint32_t read = model_name(m, TRACE_OSRT_CALL, "read", "read");
    put(w, model_host(m, TRACE_LANE_API, main_thread, 0, launch, 100, 110));
    put(w, model_host(m, TRACE_LANE_API, main_thread, 0, copy, 120, 180));
    put(w, model_host(m, TRACE_LANE_API, main_thread, 0, alloc, 300, 310));
    put(w, model_host(m, TRACE_LANE_API, loader, 0, launch, 130, 140));
    put(w, model_host(m, TRACE_LANE_API, far, 0, graph, 100, 200));
    put(w, model_host(m, TRACE_LANE_OSRT, loader, 0, read, 0, 100));
}

static void put_ops(struct world *w)
{
    struct model *m = &w->m;
    uint32_t zero = model_device(m, 0);
    uint32_t one = model_device(m, 1);
    uint32_t s7 = model_stream(m, zero, 0, 1, 7);
    uint32_t s13 = model_stream(m, zero, 0, 1, 13);
    uint32_t d7 = model_stream(m, one, 1, 2, 7);
    uint32_t d8 = model_stream(m, one, 1, 2, 8);
    uint32_t gemm = model_name(m, TRACE_KERNEL, "gemm", "void gemm<float>(int)");
    uint32_t htod = model_name(m, TRACE_MEMCPY, "HtoD", "[CUDA memcpy Host-to-Device]");
    uint32_t relu = model_name(m, TRACE_KERNEL, "relu", "void ns::relu(a b)");
    m->names[htod].copy_kind = 1;
    put(w, model_op(m, s7, gemm, 115, 215, w->handle[0]));
    put(w, model_op(m, s7, htod, 220, 230, w->handle[1]));
    put(w, model_op(m, s13, relu, 150, 160, w->handle[3]));
    put(w, model_op(m, d7, gemm, 150, 1150, w->handle[4]));
    put(w, model_op(m, d8, relu, 150, 155, w->handle[4]));
    put(w, model_op(m, s7, relu, 400, 420, TRACE_NONE));
}

static void put_ranges(struct world *w)
{
    struct model *m = &w->m;
    uint32_t iter1 = model_name(m, TRACE_NVTX_PUSHPOP, "iter 1", "iter 1");
    uint32_t iter2 = model_name(m, TRACE_NVTX_PUSHPOP, "iter 2", "iter 2");
    uint32_t reduce = model_name(m, TRACE_NVTX_PUSHPOP, "reduce", "reduce");
    uint32_t mark = model_name(m, TRACE_NVTX_MARK, "here", "here");
    m->names[reduce].domain = "NCCL";
    m->names[reduce].domain_len = 4;
    put(w, model_host(m, TRACE_LANE_NVTX_PUSHPOP, 0, 0, iter1, 90, 200));
    put(w, model_host(m, TRACE_LANE_NVTX_PUSHPOP, 0, 0, iter2, 320, 500));
    put(w, model_host(m, TRACE_LANE_NVTX_PUSHPOP, 0, 1, reduce, 330, 340));
    put(w, model_host(m, TRACE_LANE_NVTX_MARK, 0, 0, mark, 350, 350));
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    put_calls(w);
    put_ops(w);
    put_ranges(w);
    model_build(&w->m);
    w->facts = facts_new(&w->m.trace, NULL);
    assert_non_null(w->facts);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    facts_free(w->facts);
    model_free(&w->m);
    free(w);
    return 0;
}

/* The letters of what a filter keeps. */
static void kept(const struct world *w, const char *text, uint32_t kinds, char *out)
{
    struct err err = {{0}};
    struct terms *terms = terms_new(w->facts, text, strlen(text), kinds, NULL, &err);
    assert_string_equal(err.text, "");
    assert_non_null(terms);
    for (int i = 0; i < w->count; i++) {
        enum trace_table table = model_table(w->m.events[w->handle[i]].kind);
        if (terms_has(terms, table, model_at(&w->m, w->handle[i]))) {
            *out++ = (char)('a' + i);
        }
    }
    *out = '\0';
    terms_free(terms);
}

static void test_words(void **state)
{
    static const struct {
        const char *text;
        const char *letters;
    } cases[] = {
        {"", "abcdefghijklmnop"},
        {"   ", "abcdefghijklmnop"},
        {"gemm", "gj"},
        {"-gemm", "abcdefhiklmnop"},
        {"!gemm", "abcdefhiklmnop"},
        {"GEMM", ""},
        {"void gemm", "gj"},
        {"/void gemm/", "gj"},
        {"\"void gemm\"", "gj"},
        {"\"gemm<float>(int)\"", "gj"},
        {"gemm<float>(int)", ""},
        {"gemm<float>\\(int\\)", "gj"},
        {"relu(x| |y)", ""},
        {"relu\\(a[ x]b", "ikl"},
        {"name:gemm", "gj"},
        {"name:/gemm|relu/", "gijkl"},
        {"ns::relu", "ikl"},
        {"iter:7", ""},
        {"kind:kernel", "gijkl"},
        {"class:gemm", "gj"},
        {"class:gemm,elementwise", "gijkl"},
        {"-class:gemm", "abcdefhiklmnop"},
        {"class:other", ""},
        {"class:comm", ""},
        {"kind:memcpy,api", "abcdeh"},
        {"kind:htod", "h"},
        {"kind:dtoh", ""},
        {"-kind:gpu", "abcdefmnop"},
        {"kind:nvtx", "mnop"},
        {"kind:mark", "p"},
        {"kind:osrt", "f"},
        {"api:launch", "ade"},
        {"api:graph,alloc", "ce"},
        {"domain:nccl", "o"},
        {"domain:default", "mnp"},
        {"kind:nvtx -domain:default", "o"},
        {"nccl:", "o"},
        {"^:iter", "mn"},
        {"stream:7", "abeghjl"},
        {"stream:7,13", "abdeghijl"},
        {"stream:8-20", "deik"},
        {"-stream:7", "cdefikmnop"},
        {"device:0", "abdghil"},
        {"gpu:1 stream:8", "ek"},
        {"context:2", "ejk"},
        {"pid:43", "ejk"},
        {"process:serv", "ejk"},
        {"process:42", "abcdfghilmnop"},
        {"thread:main", "abceghjkmnop"},
        {"thread:loader", "dfi"},
        {"tid:50", "dfi"},
        {"-thread:50", "abceghjklmnop"},
        {"nvtx:iter", "abghmnop"},
        {"nvtx:\"iter 1\"", "abghm"},
        {"nvtx:/iter 2/ -kind:mark", "no"},
        {"-nvtx:iter", "cdefijkl"},
        {"nvtx:iter kind:kernel", "g"},
        {"dur>=100", "efgjmn"},
        {"dur>100", "jmn"},
        {"dur>100ns dur<1us", "mn"},
        {"dur<=5ns", "kp"},
        {"dur=1us", "j"},
        {"-dur>5", "kp"},
        {"stream:7 -gemm kind:gpu", "hl"},
        {"thread:loader stream:13", "di"},
    };
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char letters[EVENTS + 1];
        kept(w, cases[i].text, TERMS_KINDS_ALL, letters);
        if (strcmp(letters, cases[i].letters) != 0) {
            print_message("%s: %s\n", cases[i].text, letters);
        }
        assert_string_equal(letters, cases[i].letters);
    }
}

/* Kinds that the filter is not about stay, unless a word names them. */
static void test_kinds(void **state)
{
    static const struct {
        const char *text;
        uint32_t kinds;
        const char *letters;
    } cases[] = {
        {"gemm", TERMS_KINDS_GPU, "abcdefgjmnop"},
        {"stream:7", TERMS_KINDS_GPU, "abcdefghjlmnop"},
        {"nvtx:iter", TERMS_KINDS_GPU, "abcdefghmnop"},
        {"gemm kind:kernel,osrt", TERMS_KINDS_GPU, "abcdegjmnop"},
        {"gemm", 1U << TRACE_KERNEL, "abcdefghjmnop"},
        {"dur>100", 1U << TRACE_KERNEL, "abcdefhjmnop"},
        {"api:sync", TERMS_KINDS_GPU, "fmnop"},
        {"domain:NCCL", TERMS_KINDS_GPU, "abcdefo"},
    };
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char letters[EVENTS + 1];
        kept(w, cases[i].text, cases[i].kinds, letters);
        if (strcmp(letters, cases[i].letters) != 0) {
            print_message("%s: %s\n", cases[i].text, letters);
        }
        assert_string_equal(letters, cases[i].letters);
    }
}

/* A plain regular expression gives the bits and the counts of filter_names. */
static void test_as_filter(void **state)
{
    static const char *const patterns[] = {"gemm",         "Gemm",   "^void",     "e",
                                           "iter",         "\\d",    "relu|Htod", "(?i)HTOD",
                                           "[[:alpha:]]+", "a{1,2}", "x^"};
    const struct world *w = *state;
    const struct trace *trace = &w->m.trace;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        uint32_t matched = 0;
        uint32_t of = 0;
        struct filter *filter = filter_new(patterns[i], strlen(patterns[i]), NULL);
        uint64_t *bits = filter_names(filter, trace, TERMS_KINDS_GPU, &matched, &of);
        struct terms *terms =
            terms_new(w->facts, patterns[i], strlen(patterns[i]), TERMS_KINDS_GPU, NULL, NULL);
        assert_non_null(terms);
        assert_int_equal(terms->matched, matched);
        assert_int_equal(terms->names, of);
        assert_null(terms->event_bits[TRACE_GPU]);
        for (uint32_t n = 0; n < trace->name_count; n++) {
            assert_int_equal(busy_has(bits, n), busy_has(terms->name_bits, n));
        }
        terms_free(terms);
        filter_free(filter);
        free(bits);
    }
}

static void test_errors(void **state)
{
    static const struct {
        const char *text;
        size_t at;
        const char *says;
    } cases[] = {
        {"gemm stream:x", 5, "filter word \"stream:x\" at character 6: numbers are written"},
        {"stream:", 0, "a value is missing"},
        {"stream:7,", 0, "numbers are written"},
        {"stream:9-7", 0, "numbers are written"},
        {"stream:99999999999999999999", 0, "numbers are written"},
        {"kind:kernal", 0, "there are kernel memcpy"},
        {"class:gem", 0, "there are comm attention"},
        {"a api:launch,x", 2, "there are launch graph"},
        {"dur:5", 0, "a duration is written"},
        {"dur>", 0, "a duration is written"},
        {"dur>5parsec", 0, "parsec"},
        {"x -dur=5", 2, "cannot be turned round"},
        {"a (b", 2, "missing closing parenthesis"},
        {"/abc", 0, "is not closed"},
        {"\"abc\"d", 0, "a blank is missing"},
        {"nvtx:/(/", 0, "missing closing parenthesis"},
        {"-", 0, "a value is missing"},
        {"\x1b[31m(", 0, "filter word"},
    };
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct err err = {{0}};
        size_t at = 99;
        const char *text = cases[i].text;
        assert_null(terms_new(w->facts, text, strlen(text), TERMS_KINDS_ALL, &at, &err));
        if (strstr(err.text, cases[i].says) == NULL || at != cases[i].at) {
            print_message("%s: %zu %s\n", text, at, err.text);
        }
        assert_non_null(strstr(err.text, cases[i].says));
        assert_int_equal(at, cases[i].at);
        assert_null(strchr(err.text, '\x1b'));
    }
}

/* Any bytes give a filter or an error. */
static void test_any_text(void **state)
{
    static const char signs[] = "ab:/\"\\-![]({})|<>=,7 \tstreamdurkindnvtx";
    const struct world *w = *state;
    uint64_t seed = 99;
    for (int round = 0; round < 4000; round++) {
        char text[16];
        struct err err = {{0}};
        size_t at = 0;
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        size_t len = (size_t)(seed >> 33) % sizeof text;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            text[i] = signs[(size_t)(seed >> 33) % (sizeof signs - 1)];
        }
        struct terms *terms = terms_new(w->facts, text, len, TERMS_KINDS_ALL, &at, &err);
        assert_true((terms == NULL) == (err.text[0] != '\0'));
        assert_true(at <= len);
        terms_free(terms);
    }
}

/* Busy sums of what is kept, and the helpers over a lane. */
static void test_busy(void **state)
{
    static const struct {
        const char *text;
        int64_t busy_ns[2];
    } cases[] = {
        {"", {100 + 10 + 20, 1000}}, {"relu", {10 + 20, 5}}, {"stream:13", {10, 0}},
        {"thread:loader", {10, 0}},  {"dur<=10", {20, 5}},   {"device:1 dur>5", {0, 1000}},
    };
    struct busy *again = NULL;
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct terms *terms =
            terms_new(w->facts, cases[i].text, strlen(cases[i].text), TERMS_KINDS_GPU, NULL, NULL);
        struct busy *busy = terms_busy(NULL, &w->m.trace, terms, NULL);
        again = terms_busy(again, &w->m.trace, terms, NULL);
        assert_non_null(again);
        assert_non_null(busy);
        for (uint32_t d = 0; d < 2; d++) {
            assert_int_equal(busy_device_ns(busy, d, 0, 2000), cases[i].busy_ns[d]);
        }
        for (uint32_t d = 0; d < 2; d++) {
            assert_int_equal(busy_device_ns(again, d, 0, 2000), cases[i].busy_ns[d]);
        }
        for (uint32_t g = 0; g < w->m.trace.events[TRACE_GPU].count; g++) {
            assert_int_equal(busy_keeps(again, g), terms_has(terms, TRACE_GPU, g));
        }
        busy_free(busy);
        terms_free(terms);
    }
    busy_free(again);
    struct terms *terms = terms_new(w->facts, "dur<=20", 7, TERMS_KINDS_GPU, NULL, NULL);
    const struct trace_lane *lane = &w->m.trace.lanes[0];
    assert_int_equal(lane->count, 3);
    assert_int_equal(terms_count(terms, lane, 0, 1000), 2);
    assert_int_equal(terms_count(terms, lane, 0, 225), 1);
    assert_int_equal(terms_next(terms, lane, lane->first, 1), lane->first + 1);
    assert_int_equal(terms_next(terms, lane, lane->first, -1), TRACE_NONE);
    assert_int_equal(terms_next(terms, lane, lane->first + 2, -1), lane->first + 2);
    assert_int_equal(terms_next(terms, lane, lane->first + 3, 1), TRACE_NONE);
    terms_free(terms);
}

/* The first candidates, with blanks between, for text with the cursor at its '^'. */
static void test_complete(void **state)
{
    static const struct {
        const char *text;
        size_t begin;
        size_t end;
        const char *first;
    } cases[] = {
        {"^", 0, 0,
         "kind: stream: device: thread: nvtx: api: dur> pid: process: context: domain: class: "},
        {"st^", 0, 2, "stream: "},
        {"gemm -th^", 6, 8, "thread: "},
        {"Ge^", 0, 2, "gemm "},
        {"EMM^", 0, 3, "gemm "},
        {"kind:me^", 5, 7, "memcpy memset "},
        {"kind:kernel,ht^oh", 12, 16, "htod htoh "},
        {"stream:^", 7, 7, "7 13 8 "},
        {"stream:1^", 7, 8, "13 "},
        {"device:^ x", 7, 7, "0 1 "},
        {"thread:^", 7, 7, "main python loader server 42 50 43 "},
        {"nvtx:it^", 5, 7, "\"iter 1\" \"iter 2\" "},
        {"nvtx:\"iter 2^", 5, 12, "\"iter 2\" "},
        {"domain:^", 7, 7, "NCCL default "},
        {"process:^", 8, 8, "python server 42 43 "},
        {"api:q^", 4, 5, "query "},
        {"zzz^", 0, 3, ""},
        {"k^ind:me", 0, 1, "kind: cudaLaunchKernel "},
    };
    const struct world *w = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct terms_completion completion;
        struct buf list = {0};
        char text[64];
        size_t cursor = (size_t)(strchr(cases[i].text, '^') - cases[i].text);
        memcpy(text, cases[i].text, cursor);
        strcpy(text + cursor, cases[i].text + cursor + 1);
        assert_int_equal(terms_complete(&w->m.trace, text, strlen(text), cursor, &completion), 0);
        for (size_t c = 0; c < completion.count; c++) {
            buf_addf(&list, "%s ", completion.list[c]);
        }
        if (strcmp(buf_text(&list), cases[i].first) != 0) {
            print_message("%s: %s\n", cases[i].text, buf_text(&list));
        }
        assert_string_equal(buf_text(&list), cases[i].first);
        assert_int_equal(completion.begin, cases[i].begin);
        assert_int_equal(completion.end, cases[i].end);
        buf_free(&list);
        terms_completion_free(&completion);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),    cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_errors),   cmocka_unit_test(test_as_filter),
        cmocka_unit_test(test_busy),     cmocka_unit_test(test_any_text),
        cmocka_unit_test(test_complete),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
