/* sniff: tells a capture from the other things that people have at hand, and says what to do. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/base/array.h"
#include "analysis/store/store_internal.h"
#include "analysis/store/writer.h"

enum {
    SNIFF_BYTES = 512,
    SNIFF_HEADER_BYTES = 100 /* SQLite file format, section 1.3 */
};

struct sniff {
    const char *path;
    unsigned char head[SNIFF_BYTES];
    size_t len;
    int64_t size;
};

/* Files known by their first bytes, and what to do with them. */
static const struct sniff_magic {
    const char *bytes;
    size_t len;
    const char *what;
} SNIFF_MAGIC[] = {
    {"version https://git-lfs", 23, "a git-LFS pointer, not the capture itself: run git lfs pull"},
    {"\x1f\x8b", 2, "gzip-compressed: decompress it first (gunzip)"},
    {"\x28\xb5\x2f\xfd", 4, "zstd-compressed: decompress it first (unzstd)"},
    {"\xfd"
     "7zXZ",
     5, "xz-compressed: decompress it first (unxz)"},
    {"PK\x03\x04", 4, "a zip archive: unpack it first"},
    {"\x89HDF", 4, "an HDF5 export: export the report again with nsys export --type sqlite"},
    {"PAR1", 4, "a Parquet export: export the report again with nsys export --type sqlite"},
    {"ARROW1", 6, "an Arrow export: export the report again with nsys export --type sqlite"},
    {"\x7f"
     "ELF",
     4, "a program, not a capture: record it with cutline record"},
};

static bool sniff_ends(const char *path, const char *suffix)
{
    size_t len = strlen(path);
    size_t n = strlen(suffix);
    return len >= n && strcmp(path + len - n, suffix) == 0;
}

static bool sniff_is_text(const struct sniff *sniff)
{
    for (size_t i = 0; i < sniff->len; i++) {
        unsigned char c = sniff->head[i];
        if (c == 0x7f || (c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f')) {
            return false;
        }
    }
    return true;
}

static int sniff_foreign(const struct sniff *sniff, struct err *err)
{
    const unsigned char *head = sniff->head;
    for (size_t i = 0; i < sizeof SNIFF_MAGIC / sizeof SNIFF_MAGIC[0]; i++) {
        if (sniff->len >= SNIFF_MAGIC[i].len &&
            memcmp(head, SNIFF_MAGIC[i].bytes, SNIFF_MAGIC[i].len) == 0) {
            return err_set(err, "%s: %s", sniff->path, SNIFF_MAGIC[i].what);
        }
    }
    if (sniff_ends(sniff->path, ".nsys-rep") || sniff_ends(sniff->path, ".qdrep")) {
        return err_set(err,
                       "%s: a report of Nsight Systems: export it first: nsys export --type sqlite "
                       "%s",
                       sniff->path, sniff->path);
    }
    if (!sniff_is_text(sniff)) {
        return err_set(err,
                       "%s: not a SQLite file: a capture is what cutline record or nsys export "
                       "--type sqlite wrote",
                       sniff->path);
    }
    if (head[0] == '{' || head[0] == '[') {
        return err_set(err,
                       "%s: a JSON file (a Chrome or PyTorch trace?): only SQLite captures can be "
                       "opened",
                       sniff->path);
    }
    return err_set(err,
                   "%s: a text file: a capture is what cutline record or nsys export --type sqlite "
                   "wrote",
                   sniff->path);
}

static uint32_t sniff_be32(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* A SQLite header: is the file as long as its header says? (Section 1.3.7 of the file format: the
 * size is valid only when the change counter equals the version-valid-for number.) */
static int sniff_sqlite(const struct sniff *sniff, struct err *err)
{
    const unsigned char *head = sniff->head;
    uint32_t page = (uint32_t)head[16] << 8 | head[17];
    if (sniff->len < SNIFF_HEADER_BYTES) {
        return err_set(err, "%s: truncated: only %lld bytes are there: copy or export it again",
                       sniff->path, (long long)sniff->size);
    }
    page = page == 1 ? 65536 : page;
    int64_t want = (int64_t)page * sniff_be32(head + 28);
    if (sniff_be32(head + 24) == sniff_be32(head + 92) && want > sniff->size) {
        return err_set(err, "%s: truncated: %lld of %lld bytes are there: copy or export it again",
                       sniff->path, (long long)sniff->size, (long long)want);
    }
    return 0;
}

int store_sniff_path(const char *path, struct err *err)
{
    struct stat st;
    if (path[0] == '\0') {
        return err_set(err, "the name of the capture is empty");
    }
    if (stat(path, &st) != 0) {
        return errno == ENOENT ? err_set(err, "%s: no such file", path)
                               : err_set(err, "%s: cannot be opened: %s", path, strerror(errno));
    }
    if (S_ISDIR(st.st_mode)) {
        return err_set(err, "%s: a directory: name the capture file in it", path);
    }
    if (!S_ISREG(st.st_mode)) {
        return err_set(err, "%s: not a regular file: a capture must be a file on disk", path);
    }
    if (st.st_size == 0) {
        return err_set(err, "%s: empty: its export or copy did not finish", path);
    }
    return 0;
}

/* Formats by their first bytes, and whether the file is whole as far as its head tells. */
static const struct sniff_source {
    const char *bytes;
    size_t len;
    int (*check)(const struct sniff *sniff, struct err *err);
    const struct source *source;
} SOURCES[] = {
    {"SQLite format 3", 16, sniff_sqlite, &SOURCE_SQLITE},
};

const struct source *store_sniff(const struct store_file *file, struct err *err)
{
    const struct stat *st = store_file_stat(file);
    struct sniff sniff = {.path = store_file_path(file), .size = st->st_size};
    sniff.len = st->st_size < SNIFF_BYTES ? (size_t)st->st_size : SNIFF_BYTES;
    if (!S_ISREG(st->st_mode) || st->st_size == 0 ||
        store_file_read(file, 0, sniff.head, sniff.len) != 0) {
        return err_null(err, "%s: empty, or cut while it was opened: try again", sniff.path);
    }
    for (size_t i = 0; i < ARRAY_LEN(SOURCES); i++) {
        const struct sniff_source *known = &SOURCES[i];
        if (sniff.len >= known->len && memcmp(sniff.head, known->bytes, known->len) == 0) {
            return known->check(&sniff, err) == 0 ? known->source : NULL;
        }
    }
    (void)sniff_foreign(&sniff, err);
    return NULL;
}

/* Other programs' databases, by a table of theirs. */
static const struct sniff_other {
    const char *table;
    const char *what;
} SNIFF_OTHERS[] = {
    {"StringTable", "a database of nvprof or the Visual Profiler, which is not supported"},
    {"db_version", "a DLProf database, not the capture: open the nsys export instead"},
    {"read_only_kernels", "a DLProf database, not the capture: open the nsys export instead"},
    {"STRING_IDS", "a database of an Ascend profiler, which is not supported"},
    {"rocpd_metadata", "a ROCm database (rocpd), which is not supported"},
    {"rocpd_op", "a ROCm database (rocpd), which is not supported"},
};

/* One of these beside StringIds makes a capture. */
static const char *const SNIFF_NSYS[] = {
    "META_DATA_EXPORT", "EXPORT_META_DATA", "META_DATA_CAPTURE", "NVTX_EVENTS",
    "OSRT_API",         "ThreadNames",      "ProcessStreams",    "PROCESSES",
    "TARGET_INFO_GPU",  "SCHED_EVENTS",     "COMPOSITE_EVENTS",  "TARGET_INFO_SESSION_START_TIME",
};

bool store_sniff_name(const char *table)
{
    static const char *const prefixes[] = {"CUPTI_", "CUDA_",    "NVTX_", "TARGET_INFO_",
                                           "ENUM_",  "CUTLINE_", "META_", "EXPORT_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        if (sqlite3_strnicmp(table, prefixes[i], (int)strlen(prefixes[i])) == 0) {
            return true;
        }
    }
    for (int t = 0; t < STORE_TABLE_N; t++) {
        if (sqlite3_stricmp(table, store_table_name((enum store_table)t)) == 0) {
            return true;
        }
    }
    return false;
}

static bool sniff_is_capture(struct store *store)
{
    for (size_t i = 0; i < sizeof SNIFF_NSYS / sizeof SNIFF_NSYS[0]; i++) {
        if (store_has_table(store, SNIFF_NSYS[i])) {
            return true;
        }
    }
    for (size_t t = 0; t < store->table_count; t++) {
        if (strncmp(store->tables[t].name, "CUPTI_ACTIVITY_KIND_", 20) == 0 ||
            strncmp(store->tables[t].name, "CUTLINE_", 8) == 0) {
            return true;
        }
    }
    return false;
}

int store_sniff_tables(struct store *store, struct err *err)
{
    if (store_has_column(store, "StringIds", "id") &&
        store_has_column(store, "StringIds", "value") && sniff_is_capture(store)) {
        return 0;
    }
    if (store->table_count == 0) {
        return err_set(err, "%s: a database without any table: its export did not finish",
                       store->path);
    }
    for (size_t i = 0; i < sizeof SNIFF_OTHERS / sizeof SNIFF_OTHERS[0]; i++) {
        if (store_has_table(store, SNIFF_OTHERS[i].table)) {
            return err_set(err, "%s: %s", store->path, SNIFF_OTHERS[i].what);
        }
    }
    for (size_t t = 0; t < store->table_count; t++) {
        if (strncmp(store->tables[t].name, "rocpd_", 6) == 0) {
            return err_set(err, "%s: a ROCm database (rocpd), which is not supported", store->path);
        }
    }
    return err_set(err,
                   "%s: another program's database: it has none of the tables of an nsys export",
                   store->path);
}
