/* What the tests of the injected library share: a session folder, running clients in it, and all
 * that their spools hold. */
#ifndef CUTLINE_CAPTURE_TESTS_SUPPORT_H
#define CUTLINE_CAPTURE_TESTS_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/spool/session.h"
#include "capture/spool/spool.h"

struct trial {
    char dir[512];
    char library[600];
    struct session_config config; /* change it between trial_begin and trial_ready */
    struct session_control *control;
};

/* Makes the folder below CUTLINE_BUILD (or BASE if not NULL) and fills in the default settings.
 * Exits the test on failure. */
void trial_begin(struct trial *trial, const char *base);

/* Writes settings and control page, puts the library there, opens the gate. */
void trial_ready(struct trial *trial);

/* Starts CLIENT (a program of the build's tests folder) with ARGUMENTS (NULL-terminated, may be
 * NULL) under the recorder; stdout goes to DIR/out, stderr to DIR/err. Returns its pid. */
int trial_start(struct trial *trial, const char *client, const char *const *arguments);

/* Starts and waits; returns the wait status. */
int trial_run(struct trial *trial, const char *client, const char *const *arguments);

/* Unmaps and removes the folder. */
void trial_end(struct trial *trial);

/* One record of a spool, with what it points to copied. */
struct loot_meta {
    struct spool_meta head;
    char *text; /* terminated */
    size_t spool;
};
struct loot_loss {
    uint32_t reason;
    uint32_t kind;
    uint64_t count;
    size_t spool;
};
struct loot_nvtx {
    struct spool_item item;
    char *text; /* the text, of a registered string too; "" if there is none */
    uint8_t *blob;
    const char *domain; /* name; "" for the default domain */
    size_t spool;
};
struct loot_cupti {
    uint32_t kind;
    uint32_t bytes;
    bool scanned;
    uint64_t record[64]; /* the first 512 bytes */
    size_t spool;
};

/* All that all spools of a folder hold, in the order of file names, then of the reader. */
struct loot {
    size_t spools;
    struct spool_header headers[256];
    struct spool_damage damage[256];
    struct loot_meta *metas;
    size_t meta_count;
    struct loot_loss *losses;
    size_t loss_count;
    struct loot_nvtx *nvtx;
    size_t nvtx_count;
    struct loot_cupti *cupti;
    size_t cupti_count;
};

void loot_read(struct loot *loot, const char *dir);
void loot_free(struct loot *loot);

/* Sum of the losses of REASON; of KIND only if it is not UINT32_MAX. */
uint64_t loot_lost(const struct loot *loot, uint32_t reason, uint32_t kind);

/* The n-th status of that code; one with the text "missing" and values of 999 if there are not so
 * many. */
const struct loot_meta *loot_status(const struct loot *loot, enum spool_status code, size_t n);

/* The text of a string id in the spool; NULL. */
const char *loot_string(const struct loot *loot, size_t spool, uint64_t id);

/* The event as one line: "push [domain] text colour=.. category=.. payload=..". */
void loot_line(const struct loot_nvtx *event, char *out, size_t size);

/* The events of thread TID (0: all) as lines, must be exactly WANTED (NULL-terminated). */
void loot_expect(const struct loot *loot, uint32_t tid, const char *const *wanted);

/* The whole of a small file, terminated, in static memory. */
const char *read_text(const char *dir, const char *name);

#endif
