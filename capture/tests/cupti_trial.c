/* Helpers for tests with a stand-in CUPTI; cupti_trial.h says which. */
#include "capture/tests/cupti_trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/tests/check.h"
#include "capture/spool/cupti_abi.h"

/* Begins a trial with a stand-in CUPTI of that kind; `library` is its file name. */
void cupti_begin(struct trial *trial, const char *settings, const char *library)
{
    char path[600];
    const char *build = getenv("CUTLINE_BUILD");
    trial_begin(trial, NULL);
    (void)snprintf(path, sizeof(path), "%s/tests/standin/libcuda.so.1", build);
    (void)setenv("STANDIN_CUDA", path, 1);
    (void)snprintf(path, sizeof(path), "%s/tests/standin/%s", build, library);
    (void)setenv("STANDIN_CUPTI_PATH", path, 1);
    (void)setenv("STANDIN_CUPTI", settings, 1);
    (void)snprintf(trial->config.cupti_path, sizeof(trial->config.cupti_path), "%s", path);
    trial->config.flush_interval_ms = 20;
    trial->config.buffer_bytes = 64 << 10;
}

void cupti_run(struct trial *trial, struct loot *loot, const char *const *arguments)
{
    trial_ready(trial);
    assert_int_equal(trial_run(trial, "client_cuda", arguments), 0);
    assert_string_equal(read_text(trial->dir, "err"), "");
    loot_read(loot, trial->dir);
}

uint64_t cupti_base(const struct trial *trial)
{
    const char *text = read_text(trial->dir, "out");
    assert_memory_equal(text, "base ", 5);
    return strtoull(text + 5, NULL, 10);
}

uint64_t cupti_delivered(const struct trial *trial, uint32_t kind)
{
    char key[32];
    (void)snprintf(key, sizeof(key), "delivered %u ", kind);
    const char *at = strstr(read_text(trial->dir, "out"), key);
    return at == NULL ? 0 : strtoull(at + strlen(key), NULL, 10);
}

/* Compares a record with the made-up one of that number. The name must be the id of the right text.
 */
void cupti_check_record(const struct loot *loot, const struct loot_cupti *got,
                        const struct record_rule *rule, uint64_t number, uint64_t base)
{
    uint8_t want[512];
    uint8_t have[512];
    uint64_t name = 0;
    record_make(want, got->bytes, rule, number, base, NULL);
    memcpy(have, got->record, sizeof(have));
    if (rule->name != 0) {
        memcpy(&name, have + rule->name, sizeof(name));
        assert_true((name & SPOOL_NAME_TAG) != 0);
        assert_true(got->scanned);
        assert_string_equal(loot_string(loot, got->spool, name & ~SPOOL_NAME_TAG),
                            record_names[number % RECORD_NAMES]);
        record_set(have, rule->name, 0);
    }
    assert_memory_equal(have, want, got->bytes);
}

/* The number of a record: of its time, or where it has none. */
uint64_t cupti_number(const struct loot_cupti *record, const struct record_rule *rule,
                      uint64_t base)
{
    uint64_t begin_ns = 0;
    uint32_t number = 0;
    if (rule->begin == 0) {
        memcpy(&number, (const uint8_t *)record->record + 4, sizeof(number));
        return number;
    }
    memcpy(&begin_ns, (const uint8_t *)record->record + rule->begin, sizeof(begin_ns));
    return (begin_ns - base) / 1000;
}

/* Every kind: as many as were delivered, each number once, bytes equal. */
void cupti_check_all(const struct loot *loot, const struct trial *trial, uint64_t count)
{
    uint64_t base = cupti_base(trial);
    for (size_t r = 0; r < RECORD_RULES; r++) {
        const struct record_rule *rule = &record_rules[r];
        uint8_t *seen = calloc(1, count);
        uint64_t next = 0;
        for (size_t i = 0; i < loot->cupti_count; i++) {
            const struct loot_cupti *record = &loot->cupti[i];
            if (record->kind != rule->kind) {
                continue;
            }
            uint64_t number = cupti_number(record, rule, base);
            assert_true(number < count && seen[number] == 0);
            seen[number] = 1;
            cupti_check_record(loot, record, rule, number, base);
            next++;
        }
        free(seen);
        uint64_t expected =
            spool_cupti_is_metadata(rule->kind) ? 0 : cupti_delivered(trial, rule->kind);
        assert_int_equal(next, expected);
    }
}

/* Metadata kinds are in META, each record. */
void cupti_check_metadata(const struct loot *loot, const struct trial *trial)
{
    static const uint32_t kinds[] = {CUPTI_KIND_DEVICE, CUPTI_KIND_CONTEXT, CUPTI_KIND_STREAM};
    for (size_t k = 0; k < 3; k++) {
        uint64_t found = 0;
        for (size_t i = 0; i < loot->meta_count; i++) {
            const struct loot_meta *meta = &loot->metas[i];
            if (meta->head.kind != SPOOL_META_CUPTI_RECORD || meta->head.value[0] != kinds[k]) {
                continue;
            }
            uint64_t name = 0;
            if (kinds[k] == CUPTI_KIND_DEVICE) {
                memcpy(&name, meta->text + 136, sizeof(name));
                assert_string_equal(loot_string(loot, meta->spool, name & ~SPOOL_NAME_TAG),
                                    record_names[found % RECORD_NAMES]);
            }
            found++;
        }
        assert_int_equal(found, cupti_delivered(trial, kinds[k]));
    }
}
