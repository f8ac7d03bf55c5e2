/* cmd_cache: what is kept in the cache folder, and how to be rid of it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analysis/base/array.h"
#include "analysis/base/sort.h"
#include "analysis/base/timefmt.h"
#include "analysis/base/utf8.h"
#include "analysis/table/json.h"
#include "analysis/trace/cache.h"
#include "viewer/cli/cmd_view_run.h"
#include "viewer/cli/command.h"
#include "viewer/cli/opts.h"
#include "viewer/cli/output.h"

enum cache_format {
    CACHE_FORMAT_TEXT,
    CACHE_FORMAT_JSON,
};

enum {
    CACHE_MIB_MAX = 999999999,
    CACHE_DATE_BYTES = 32,
    CACHE_MIB = 1024 * 1024
};

struct cache_args {
    int format; /* enum cache_format */
    int64_t trim_mib; /* -1 = not given */
    bool trim;
    bool remove;
    bool remove_all;
};

static const struct opts_option OPTIONS[] = {
    {.letter = 'f',
     .name = "format",
     .arg = "FORMAT",
     .kind = OPTS_CHOICE,
     .choices = "text|json",
     .at = offsetof(struct cache_args, format),
     .help = "Form of the list. The default is text."},
    {.name = "trim",
     .kind = OPTS_FLAG,
     .at = offsetof(struct cache_args, trim),
     .help = "Remove what was used longest ago, until the rest fits the limit of the settings "
             "(cache-mib). What was used within the last minute stays."},
    {.name = "trim-to",
     .arg = "MIB",
     .kind = OPTS_INT,
     .max = CACHE_MIB_MAX,
     .at = offsetof(struct cache_args, trim_mib),
     .help = "The same, until the rest fits MIB."},
    {.name = "remove",
     .kind = OPTS_FLAG,
     .at = offsetof(struct cache_args, remove),
     .help = "Remove what is kept of the captures that follow."},
    {.name = "remove-all",
     .kind = OPTS_FLAG,
     .at = offsetof(struct cache_args, remove_all),
     .help = "Remove all that is kept."},
    {.kind = OPTS_END},
};

static const struct opts_spec SPEC = {
    .about = "Lists what is kept in the cache folder: captures that were opened before, with what "
             "was derived from them, and exports of report files. Nothing in it is needed: what is "
             "removed is made again when it is wanted.",
    .options = OPTIONS,
    .operands_max = -1,
    .complete = OPTS_COMPLETE_CAPTURE,
    .examples = "cutline cache                         what is kept, the last used first\n"
                "cutline cache --remove train.sqlite   forget a capture\n"
                "cutline cache --trim-to 500           keep 500 MiB at most\n",
};

/* A capture or an export. */
struct cache_item {
    char *name; /* owned: the file "trace-...", "export-..." */
    uint64_t bytes; /* with what was derived */
    int64_t used_s;
    enum cache_fate fate; /* captures */
    struct buf path; /* captures */
};

struct cache_list {
    const struct cache_folder *folder;
    struct cache_item *items; /* owned */
    size_t count;
    size_t cap;
    uint64_t total;
    bool failed;
};

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* What was derived belongs to its capture: the names end alike. */
static const char *owner_of(const char *name)
{
    const char *dash = strchr(name, '-');
    return dash == NULL ? name : dash;
}

static struct cache_item *item_of(struct cache_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!begins(name, "export-") && !begins(list->items[i].name, "export-") &&
            strcmp(owner_of(list->items[i].name), owner_of(name)) == 0) {
            return &list->items[i];
        }
    }
    struct cache_item *items =
        array_grow(list->items, &list->cap, list->count + 1, sizeof *list->items);
    char *copy = malloc(strlen(name) + 1);
    if (items == NULL || copy == NULL) {
        list->items = items == NULL ? list->items : items;
        free(copy);
        list->failed = true;
        return NULL;
    }
    memcpy(copy, name, strlen(name) + 1);
    list->items = items;
    list->items[list->count] = (struct cache_item){.name = copy};
    return &list->items[list->count++];
}

static void add_entry(void *arg, const struct cache_entry *entry)
{
    struct cache_list *list = arg;
    struct cache_item *item = entry->is_part ? NULL : item_of(list, entry->name);
    list->total += entry->bytes;
    if (item == NULL) {
        return;
    }
    item->bytes += entry->bytes;
    item->used_s = entry->used_s > item->used_s ? entry->used_s : item->used_s;
    if (begins(entry->name, "trace-")) {
        item->fate = cache_about(list->folder, entry->name, &item->path);
    }
}

static int by_use(const void *a, const void *b)
{
    const struct cache_item *x = a;
    const struct cache_item *y = b;
    return x->used_s != y->used_s ? COMPARE(y->used_s, x->used_s) : strcmp(x->name, y->name);
}

static int collect(struct cache_list *list, struct err *err)
{
    if (cache_folder_each(list->folder, add_entry, list) != 0) {
        return err_set(err, "%s: cannot be read", buf_text(&list->folder->path));
    }
    sort_list(list->items, list->count, sizeof *list->items, by_use);
    return list->failed ? err_nomem(err, "the list") : 0;
}

static void list_free(struct cache_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        buf_free(&list->items[i].path);
    }
    free(list->items);
}

/* ---- printing ---- */

static const char *kind_of(const struct cache_item *item)
{
    return begins(item->name, "export-") ? "export" : "capture";
}

static const char *fate_of(const struct cache_item *item)
{
    static const char *const fates[] = {
        [CACHE_UNKNOWN] = "", [CACHE_GOOD] = "", [CACHE_STALE] = "changed", [CACHE_GONE] = "gone"};
    return fates[item->fate];
}

static void add_date(struct buf *out, int64_t at_s)
{
    char text[CACHE_DATE_BYTES] = "";
    time_t at = (time_t)at_s;
    struct tm local;
    if (localtime_r(&at, &local) != NULL &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local) > 0) {
        buf_adds(out, text);
    }
}

static void add_text(const struct cache_list *list, uint32_t limit_mib, struct buf *out)
{
    char size[TIMEFMT_BYTES];
    char limit[TIMEFMT_BYTES];
    for (size_t i = 0; i < list->count; i++) {
        const struct cache_item *item = &list->items[i];
        const char *what = item->path.len > 0 ? buf_text(&item->path) : item->name;
        buf_addf(out, "%-8s %9s  ", kind_of(item), timefmt_bytes((int64_t)item->bytes, size));
        add_date(out, item->used_s);
        buf_addf(out, "  %-8s ", fate_of(item));
        utf8_sanitize(out, what, strlen(what), output_ascii());
        buf_addc(out, '\n');
    }
    buf_addf(out, "%s of at most %s in ", timefmt_bytes((int64_t)list->total, size),
             timefmt_bytes((int64_t)limit_mib * CACHE_MIB, limit));
    utf8_sanitize(out, buf_text(&list->folder->path), list->folder->path.len, output_ascii());
    buf_addc(out, '\n');
}

static void add_json(const struct cache_list *list, uint32_t limit_mib, struct buf *out)
{
    json_head(out, "cutline-cache", 1);
    buf_adds(out, ",\"folder\": ");
    json_text(out, buf_text(&list->folder->path), list->folder->path.len);
    buf_addf(out, ", \"bytes\": %llu, \"limit_bytes\": %llu, \"files\": [",
             (unsigned long long)list->total, (unsigned long long)limit_mib * CACHE_MIB);
    for (size_t i = 0; i < list->count; i++) {
        const struct cache_item *item = &list->items[i];
        buf_addf(out, "%s\n{\"kind\": \"%s\", \"bytes\": %llu, \"used\": \"", i > 0 ? "," : "",
                 kind_of(item), (unsigned long long)item->bytes);
        add_date(out, item->used_s);
        buf_adds(out, "\", \"capture\": ");
        if (item->path.len > 0) {
            json_text(out, buf_text(&item->path), item->path.len);
        } else {
            buf_adds(out, "null");
        }
        buf_addf(out, ", \"state\": \"%s\"}", *fate_of(item) == '\0' ? "ready" : fate_of(item));
    }
    buf_adds(out, "\n]}\n");
}

static int print_list(const struct cache_folder *folder, const struct cache_args *args,
                      struct err *err)
{
    struct cache_list list = {.folder = folder};
    struct buf out = {0};
    int rc = collect(&list, err);
    if (rc == 0 && args->format == CACHE_FORMAT_JSON) {
        add_json(&list, folder->limit_mib, &out);
    } else if (rc == 0) {
        add_text(&list, folder->limit_mib, &out);
    }
    if (rc == 0) {
        rc = buf_failed(&out) ? err_nomem(err, "the list") : output_all(&out, err);
    }
    buf_free(&out);
    list_free(&list);
    return rc;
}

/* ---- removing ---- */

static void remove_item(const struct cache_folder *folder, const struct cache_item *item,
                        size_t *count)
{
    struct buf other = {0};
    *count += cache_folder_remove(folder, item->name) == 0 ? 1 : 0;
    if (!begins(item->name, "export-")) {
        static const char *const kinds[] = {"trace", "figures"};
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            buf_reset(&other);
            buf_addf(&other, "%s%s", kinds[k], owner_of(item->name));
            if (!buf_failed(&other)) {
                (void)cache_folder_remove(folder, buf_text(&other));
            }
        }
    }
    buf_free(&other);
}

/* Is it kept of the capture of that name: the same file, or where it was? */
static bool is_of(const struct cache_item *item, const char *path)
{
    struct stat a;
    struct stat b;
    const char *was = buf_text(&item->path);
    if (item->path.len == 0) {
        return false;
    }
    return strcmp(was, path) == 0 || (stat(was, &a) == 0 && stat(path, &b) == 0 &&
                                      a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static int remove_named(const struct cache_folder *folder, const struct opts_rest *rest, bool all,
                        size_t *count, struct err *err)
{
    struct cache_list list = {.folder = folder};
    int rc = collect(&list, err);
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        bool wanted = all;
        for (int k = 0; k < rest->argc && !wanted; k++) {
            wanted = is_of(&list.items[i], rest->argv[k]);
        }
        if (wanted) {
            remove_item(folder, &list.items[i], count);
        }
    }
    list_free(&list);
    return rc;
}

static int say_removed(const struct cache_folder *folder, size_t count, struct err *err)
{
    struct buf out = {0};
    buf_addf(&out, "%zu removed from ", count);
    utf8_sanitize(&out, buf_text(&folder->path), folder->path.len, output_ascii());
    buf_addc(&out, '\n');
    int rc = buf_failed(&out) ? err_nomem(err, "a line") : output_all(&out, err);
    buf_free(&out);
    return rc;
}

/* ---- the command ---- */

/* Wrong usage; NULL where all is well. */
static const char *usage(const struct cache_args *args, const struct opts_rest *rest)
{
    int actions = (args->trim ? 1 : 0) + (args->trim_mib >= 0 ? 1 : 0) + (args->remove ? 1 : 0) +
                  (args->remove_all ? 1 : 0);
    if (actions > 1) {
        return "one of --trim, --trim-to, --remove, --remove-all at a time";
    }
    if (args->remove && rest->argc == 0) {
        return "--remove: name the captures; --remove-all removes everything";
    }
    if (!args->remove && rest->argc > 0) {
        return "captures are named for --remove alone";
    }
    return NULL;
}

static int act(struct cache_folder *folder, const struct cache_args *args,
               const struct opts_rest *rest, struct err *err)
{
    size_t count = 0;
    int rc = 0;
    if (args->remove || args->remove_all) {
        rc = remove_named(folder, rest, args->remove_all, &count, err);
    } else if (args->trim || args->trim_mib >= 0) {
        folder->limit_mib = args->trim_mib >= 0 ? (uint32_t)args->trim_mib : folder->limit_mib;
        count = (size_t)cache_folder_trim(folder, "");
    } else {
        return print_list(folder, args, err);
    }
    return rc == 0 ? say_removed(folder, count, err) : -1;
}

static int cache_run(int argc, char **argv)
{
    struct cache_args args = {.trim_mib = -1};
    struct opts_rest rest;
    struct err err = {""};
    struct cache_folder folder = {.fd = -1};
    int status;
    if (!opts_begin(&COMMAND_CACHE, argc, argv, &args, &rest, &status)) {
        return status;
    }
    const char *wrong = usage(&args, &rest);
    if (wrong != NULL) {
        (void)err_set(&err, "%s", wrong);
        output_error(argv[0], &err);
        return COMMAND_USAGE;
    }
    struct config *config = calloc(1, sizeof *config);
    int rc = config == NULL ? err_nomem(&err, "the settings") : view_config(config, &err);
    rc = rc == 0 ? cache_folder_open(&folder, &err) : rc;
    if (rc == 0) {
        folder.limit_mib = config->cache_mib;
        rc = act(&folder, &args, &rest, &err);
    }
    if (rc != 0) {
        output_error(argv[0], &err);
    }
    cache_folder_close(&folder);
    free(config);
    return rc == 0 ? COMMAND_DONE : COMMAND_FAILED;
}

const struct command COMMAND_CACHE = {
    .name = "cache",
    .args = "[FILE...]",
    .summary = "list and remove what is kept of captures",
    .options = &SPEC,
    .run = cache_run,
};
