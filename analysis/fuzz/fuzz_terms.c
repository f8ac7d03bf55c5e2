/* fuzz_terms: any text as a filter of the timeline, over a small generated capture. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/facts/facts.h"
#include "analysis/filter/terms.h"
#include "analysis/fuzz/fuzz.h"
#include "testdata/gen.h"

/* Made once, lives as long as the program. */
static const struct facts *sample(void)
{
    static struct facts *facts;
    struct gen_options options = GEN_DEFAULTS;
    char path[64];
    if (facts != NULL) {
        return facts;
    }
    options.steps = 2;
    options.layers = 1;
    options.devices = 2;
    options.overwrite = true;
    (void)snprintf(path, sizeof path, "/tmp/cutline-fuzz-terms-%ld", (long)getpid());
    FUZZ_HOLDS(gen_capture(&options, path, NULL, NULL) == 0);
    struct trace *trace = trace_load(path, NULL, NULL);
    FUZZ_HOLDS(trace != NULL);
    facts = facts_new(trace, NULL);
    (void)unlink(path);
    return facts;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct facts *facts = sample();
    struct err err = {0};
    size_t at = 0;
    struct terms *terms = terms_new(facts, (const char *)data, size,
                                    TERMS_KINDS_GPU | 1U << TRACE_API_CALL, &at, &err);
    FUZZ_HOLDS((terms == NULL) == (err.text[0] != '\0'));
    FUZZ_HOLDS(terms != NULL || at <= size);
    if (terms != NULL) {
        FUZZ_HOLDS(terms->matched <= terms->names);
        for (uint32_t i = 0; i < facts->trace->events[TRACE_GPU].count; i++) {
            (void)terms_has(terms, TRACE_GPU, i);
        }
    }
    terms_free(terms);
    return 0;
}
