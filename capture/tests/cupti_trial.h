/* What the tests with a stand-in CUPTI share: a trial with client_cuda, and checks of what it made up
 * (records.h) against what was recorded. */
#ifndef CUTLINE_CAPTURE_TESTS_CUPTI_TRIAL_H
#define CUTLINE_CAPTURE_TESTS_CUPTI_TRIAL_H

#include <stdint.h>

#include "capture/tests/records.h"
#include "capture/tests/support.h"

#define ARGS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

/* Begins a trial with a stand-in CUPTI of that kind; `library` is its file name. */
void cupti_begin(struct trial *trial, const char *settings, const char *library);

/* Runs client_cuda, which must end well and say nothing, and reads its spools. */
void cupti_run(struct trial *trial, struct loot *loot, const char *const *arguments);

/* Where the times of the made-up records begin. */
uint64_t cupti_base(const struct trial *trial);

/* How many records of KIND the client delivered. */
uint64_t cupti_delivered(const struct trial *trial, uint32_t kind);

/* Compares a record with the made-up one of that number. The name must be the id of the right text.
 */
void cupti_check_record(const struct loot *loot, const struct loot_cupti *got,
                        const struct record_rule *rule, uint64_t number, uint64_t base);

/* The number of a record: of its time, or where it has none. */
uint64_t cupti_number(const struct loot_cupti *record, const struct record_rule *rule,
                      uint64_t base);

/* Every kind: as many as were delivered, each number once, bytes equal. */
void cupti_check_all(const struct loot *loot, const struct trial *trial, uint64_t count);

/* Metadata kinds are in META, each record. */
void cupti_check_metadata(const struct loot *loot, const struct trial *trial);

#endif
