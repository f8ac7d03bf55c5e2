/* The name of a capture from its pattern. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/record/record.h"

struct macros {
    pid_t pid;
    int number;
    bool has_number;
};

bool record_name_needs_pid(const char *pattern)
{
    for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%')) {
        if (at[1] == 'p') {
            return true;
        }
    }
    return false;
}

static int add_host(struct buf *out)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0 || !*host) {
        (void)snprintf(host, sizeof host, "localhost");
    }
    buf_adds(out, host);
    return 0;
}

/* %q{NAME}: at points behind the q. Returns the bytes taken, or -1. */
static int add_env(const char *at, struct buf *out, struct err *err)
{
    char name[256];
    const char *end = *at == '{' ? strchr(at, '}') : NULL;
    if (!end || (size_t)(end - at) > sizeof name) {
        return err_set(err, "'%%q' in the output name needs {NAME}, for example %%q{HOME}");
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
    const char *value = getenv(name);
    if (!value) {
        return err_set(err, "the environment has no '%s', which the output name uses", name);
    }
    buf_adds(out, value);
    return (int)(end - at) + 1;
}

/* One macro; at points behind the %. Returns the bytes taken, or -1. */
static int add_macro(const char *at, struct macros *macros, struct buf *out, struct err *err)
{
    int taken;
    switch (*at) {
    case '%':
        buf_addc(out, '%');
        return 1;
    case 'h':
        (void)add_host(out);
        return 1;
    case 'p':
        buf_addf(out, "%ld", (long)macros->pid);
        return 1;
    case 'n':
        macros->has_number = true;
        buf_addf(out, "%d", macros->number);
        return 1;
    case 'q':
        taken = add_env(at + 1, out, err);
        return taken < 0 ? -1 : taken + 1;
    default:
        return err_set(err,
                       "the output name has an unknown macro '%%%.1s'; there are %%h %%p %%n "
                       "%%q{ENV} and %%%%",
                       at);
    }
}

static int expand(const char *pattern, struct macros *macros, struct buf *out, struct err *err)
{
    static const char suffix[] = ".sqlite";
    static const char *const reports[] = {".nsys-rep", ".qdrep", ".qdstrm"};
    buf_reset(out);
    for (const char *at = pattern; *at;) {
        if (*at != '%') {
            buf_addc(out, *at++);
            continue;
        }
        int taken = add_macro(at + 1, macros, out, err);
        if (taken < 0) {
            return -1;
        }
        at += taken + 1;
    }
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        size_t len = strlen(reports[i]); /* x.nsys-rep is x.sqlite, as nsys's own export of it */
        if (out->len > len && strcmp(out->data + out->len - len, reports[i]) == 0) {
            out->len -= len;
            out->data[out->len] = '\0';
            break;
        }
    }
    if (out->len < strlen(suffix) || strcmp(out->data + out->len - strlen(suffix), suffix) != 0) {
        buf_adds(out, suffix);
    }
    return buf_failed(out) ? err_nomem(err, "the output name") : 0;
}

int record_name_place(const char *path, struct err *err)
{
    struct stat st;
    struct buf folder = {0};
    const char *slash = strrchr(path, '/');
    int result = 0;
    buf_add(&folder, path, slash ? (size_t)(slash - path) + 1 : 0);
    buf_adds(&folder, slash ? "" : ".");
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        result = err_set(err, "'%s' is a folder; choose another name with -o", path);
    } else if (access(buf_text(&folder), W_OK | X_OK) != 0) {
        result = err_set(err, "cannot write to '%s': %s; choose another place with -o",
                         buf_text(&folder), strerror(errno));
    }
    buf_free(&folder);
    return result;
}

char *record_name(const char *pattern, pid_t pid, int *number, struct err *err)
{
    struct macros macros = {.pid = pid, .number = *number};
    struct buf name = {0};
    if (expand(pattern, &macros, &name, err) < 0) {
        buf_free(&name);
        return NULL;
    }
    *number += macros.has_number ? 1 : 0;
    return name.data;
}

/* The rank of this process in its job, from the variables of the usual launchers: first those that
 * count over all machines. NULL: there is none. */
static const char *rank_of_job(void)
{
    static const char *const variables[] = {
        "RANK",         "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
        "SLURM_PROCID", "MV2_COMM_WORLD_RANK",  "LOCAL_RANK"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && *value != '\0' && strlen(value) < 10 &&
            strspn(value, "0123456789") == strlen(value)) {
            return value;
        }
    }
    return NULL;
}

char *record_name_default(void)
{
    struct buf name = {0};
    const char *rank = rank_of_job();
    buf_adds(&name, "report%n");
    if (rank != NULL) {
        buf_addf(&name, "-rank%s", rank);
    }
    return buf_failed(&name) ? NULL : name.data;
}
