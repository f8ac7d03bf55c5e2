/*
 * A hand tool for scripts that test the recorder without the launcher:
 *   spool_tool make DIR LIBRARY [KEY=VALUE...]   makes a session in the existing folder DIR, with
 * extra configuration lines spool_tool dump DIR                          prints what all spools
 * hold, one record a line spool_tool stop DIR                          moves the gate to STOP
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/spool/session.h"
#include "capture/spool/spool.h"
#include "capture/tests/support.h"

static int make(const char *dir, const char *library, char **lines)
{
    char path[1200];
    static struct session_config config;
    session_config_init(&config);
    if (session_config_write(&config, dir) != 0) {
        perror(dir);
        return 1;
    }
    (void)snprintf(path, sizeof(path), "%s/%s", dir, SESSION_CONFIG);
    FILE *out = fopen(path, "ae");
    for (; out != NULL && *lines != NULL; lines++) {
        (void)fprintf(out, "%s\n", *lines);
    }
    if (out == NULL || fclose(out) != 0 || session_config_read(&config, dir) != 0) {
        perror(path);
        return 1;
    }
    struct session_control *control = session_control_create(&config, dir);
    (void)snprintf(path, sizeof(path), "%s/%s", dir, SESSION_LIBRARY);
    if (control == NULL || symlink(library, path) != 0) {
        perror(path);
        return 1;
    }
    session_control_set_gate(control, SESSION_GATE_GO);
    return 0;
}

static void dump_meta(const struct loot_meta *meta)
{
    static const char *const kinds[SPOOL_META_COUNT] = {
        "none",   "string",      "domain",       "category", "thread",    "resource", "anchor",
        "status", "cupti_sizes", "cupti_record", "schema",   "os_thread", "command",  "job"};
    bool text =
        meta->head.kind != SPOOL_META_CUPTI_SIZES && meta->head.kind != SPOOL_META_CUPTI_RECORD;
    printf("meta %s code=%u domain=%u %lld %lld %lld %s\n",
           meta->head.kind < SPOOL_META_COUNT ? kinds[meta->head.kind] : "?", meta->head.code,
           meta->head.domain, (long long)meta->head.value[0], (long long)meta->head.value[1],
           (long long)meta->head.value[2], text ? meta->text : "");
}

static int dump(const char *dir)
{
    static struct loot loot;
    static char line[10000];
    loot_read(&loot, dir);
    for (size_t i = 0; i < loot.spools && i < 256; i++) {
        printf("spool pid=%u sealed=%u comm=%s undelivered=%llu bad=%llu\n", loot.headers[i].pid,
               loot.headers[i].sealed, loot.headers[i].comm,
               (unsigned long long)loot.damage[i].undelivered,
               (unsigned long long)loot.damage[i].records_bad +
                   (unsigned long long)loot.damage[i].segments_bad);
    }
    for (size_t i = 0; i < loot.meta_count; i++) {
        dump_meta(&loot.metas[i]);
    }
    for (size_t i = 0; i < loot.loss_count; i++) {
        printf("loss %s kind=%u %llu\n", spool_loss_name(loot.losses[i].reason),
               loot.losses[i].kind, (unsigned long long)loot.losses[i].count);
    }
    for (size_t i = 0; i < loot.nvtx_count; i++) {
        loot_line(&loot.nvtx[i], line, sizeof(line));
        printf("nvtx %s\n", line);
    }
    uint64_t kinds[64] = {0};
    for (size_t i = 0; i < loot.cupti_count; i++) {
        kinds[loot.cupti[i].kind % 64]++;
    }
    for (int i = 0; i < 64; i++) {
        if (kinds[i] > 0) {
            printf("cupti kind=%d %llu\n", i, (unsigned long long)kinds[i]);
        }
    }
    loot_free(&loot);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "make") == 0) {
        return make(argv[2], argv[3], argv + 4);
    }
    if (argc == 3 && strcmp(argv[1], "dump") == 0) {
        return dump(argv[2]);
    }
    if (argc == 3 && strcmp(argv[1], "stop") == 0) {
        struct session_control *control = session_control_open(argv[2], false);
        if (control != NULL) {
            session_control_set_gate(control, SESSION_GATE_STOP);
        }
        return control == NULL ? 1 : 0;
    }
    (void)fprintf(stderr,
                  "usage: spool_tool make DIR LIBRARY [KEY=VALUE...] | dump DIR | stop DIR\n");
    return 2;
}
