/* What the tests of the injected library share. */
#define _GNU_SOURCE /* asprintf is not used; mkdtemp, strndup; NOLINT */
#include "capture/tests/support.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/tests/check.h"

#define PATH_BYTES 1200

static const char *build_dir(void)
{
    const char *dir = getenv("CUTLINE_BUILD");
    return dir == NULL ? "." : dir;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

void trial_begin(struct trial *trial, const char *base)
{
    memset(trial, 0, sizeof(*trial));
    char real[PATH_BYTES];
    (void)snprintf(real, sizeof(real), "%s/tests/trial.XXXXXX", build_dir());
    if (base != NULL) {
        (void)snprintf(real, sizeof(real), "%s/cutline-trial.XXXXXX", base);
    }
    if (mkdtemp(real) == NULL || strlen(real) >= sizeof(trial->dir)) {
        die(real);
    }
    memcpy(trial->dir, real, strlen(real) + 1);
    session_config_init(&trial->config);
}

void trial_ready(struct trial *trial)
{
    char from[PATH_BYTES];
    (void)snprintf(trial->library, sizeof(trial->library), "%s/%s", trial->dir, SESSION_LIBRARY);
    (void)snprintf(from, sizeof(from), "%s/%s", build_dir(), SESSION_LIBRARY);
    if (session_config_write(&trial->config, trial->dir) != 0) {
        die("config");
    }
    trial->control = session_control_create(&trial->config, trial->dir);
    if (trial->control == NULL || symlink(from, trial->library) != 0) {
        die("control");
    }
    session_control_set_gate(trial->control, SESSION_GATE_GO);
}

static void redirect(const struct trial *trial, const char *name, int to)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s", trial->dir, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, to) < 0) {
        _exit(125);
    }
}

int trial_start(struct trial *trial, const char *client, const char *const *arguments)
{
    char path[PATH_BYTES];
    char *argv[32] = {path};
    (void)snprintf(path, sizeof(path), "%s/tests/%s", build_dir(), client);
    for (size_t i = 0; arguments != NULL && arguments[i] != NULL && i < 30; i++) {
        memcpy(&argv[i + 1], &arguments[i], sizeof(argv[i + 1])); /* exec does not write them */
    }
    pid_t pid = fork();
    if (pid == 0) {
        redirect(trial, "out", STDOUT_FILENO);
        redirect(trial, "err", STDERR_FILENO);
        (void)setenv("CUDA_INJECTION64_PATH", trial->library, 1);
        (void)setenv("NVTX_INJECTION64_PATH", trial->library, 1);
        (void)execv(path, argv);
        _exit(126);
    }
    return pid;
}

int trial_run(struct trial *trial, const char *client, const char *const *arguments)
{
    int status = -1;
    pid_t pid = trial_start(trial, client, arguments);
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        die(client);
    }
    return status;
}

void trial_end(struct trial *trial)
{
    session_control_close(trial->control);
    DIR *dir = opendir(trial->dir);
    struct dirent *entry = NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.') {
            (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    if (rmdir(trial->dir) != 0) {
        die(trial->dir);
    }
}

/* Room for one more in an array that doubles. */
static void *more(void *array, size_t count, size_t bytes)
{
    if (count != 0 && (count & (count - 1)) != 0) {
        return array;
    }
    void *grown = realloc(array, (count == 0 ? 1 : count * 2) * bytes);
    if (grown == NULL) {
        die("memory");
    }
    return grown;
}

static void add_item(struct loot *loot, const struct spool_item *item)
{
    size_t spool = loot->spools;
    if (item->kind == SPOOL_ITEM_META) {
        loot->metas = more(loot->metas, loot->meta_count, sizeof(*loot->metas));
        struct loot_meta *meta = &loot->metas[loot->meta_count++];
        size_t bytes = item->u.meta.head.text_bytes;
        meta->head = item->u.meta.head;
        meta->spool = spool;
        meta->text = calloc(1, bytes + 1);
        if (meta->text != NULL) {
            memcpy(meta->text, item->u.meta.text, bytes);
        }
    } else if (item->kind == SPOOL_ITEM_LOSS) {
        loot->losses = more(loot->losses, loot->loss_count, sizeof(*loot->losses));
        loot->losses[loot->loss_count++] =
            (struct loot_loss){item->u.loss.reason, item->u.loss.kind, item->u.loss.count, spool};
    } else if (item->kind == SPOOL_ITEM_NVTX) {
        loot->nvtx = more(loot->nvtx, loot->nvtx_count, sizeof(*loot->nvtx));
        struct loot_nvtx *event = &loot->nvtx[loot->nvtx_count++];
        event->item = *item;
        event->spool = spool;
        event->text =
            strndup(item->u.nvtx.text == NULL ? "" : item->u.nvtx.text, item->u.nvtx.text_bytes);
        event->blob = calloc(1, item->u.nvtx.blob_bytes + 1);
        if (event->blob != NULL && item->u.nvtx.blob_bytes > 0) {
            memcpy(event->blob, item->u.nvtx.blob, item->u.nvtx.blob_bytes);
        }
    } else {
        loot->cupti = more(loot->cupti, loot->cupti_count, sizeof(*loot->cupti));
        struct loot_cupti *record = &loot->cupti[loot->cupti_count++];
        memset(record, 0, sizeof(*record));
        record->kind = item->u.cupti.kind;
        record->bytes = item->u.cupti.bytes;
        record->scanned = item->u.cupti.scanned;
        record->spool = spool;
        memcpy(record->record, item->u.cupti.record,
               record->bytes < sizeof(record->record) ? record->bytes : sizeof(record->record));
    }
}

const char *loot_string(const struct loot *loot, size_t spool, uint64_t id)
{
    for (size_t i = 0; i < loot->meta_count; i++) {
        const struct loot_meta *meta = &loot->metas[i];
        if (meta->spool == spool && meta->head.kind == SPOOL_META_STRING &&
            meta->head.value[0] == id) {
            return meta->text;
        }
    }
    return NULL;
}

/* Puts names in the place of ids. */
static void resolve(struct loot *loot)
{
    for (size_t i = 0; i < loot->nvtx_count; i++) {
        struct loot_nvtx *event = &loot->nvtx[i];
        event->domain = event->item.u.nvtx.head.domain == 0 ? "" : "?";
        for (size_t m = 0; m < loot->meta_count; m++) {
            const struct loot_meta *meta = &loot->metas[m];
            if (meta->spool == event->spool && meta->head.kind == SPOOL_META_DOMAIN &&
                meta->head.domain == event->item.u.nvtx.head.domain) {
                event->domain = meta->text;
            }
        }
        if (event->item.u.nvtx.string != 0) {
            const char *text = loot_string(loot, event->spool, event->item.u.nvtx.string);
            free(event->text);
            event->text = strdup(text == NULL ? "?" : text);
        }
    }
}

static void read_spool(struct loot *loot, const char *dir, const char *name)
{
    char path[PATH_BYTES];
    const char *why = "";
    struct spool_item item;
    int got = 0;
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    struct spool_reader *reader = spool_reader_open(path, &why);
    if (reader == NULL) {
        print_error("%s %s\n", path, why);
        exit(1);
    }
    while ((got = spool_reader_next(reader, &item)) == 1) {
        add_item(loot, &item);
    }
    assert_int_equal(got, 0);
    size_t at = loot->spools < 256 ? loot->spools : 255;
    loot->headers[at] = *spool_reader_header(reader);
    loot->damage[at] = *spool_reader_damage(reader);
    loot->spools++;
    spool_reader_close(reader);
}

static int is_spool(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, SPOOL_SUFFIX) == 0;
}

void loot_read(struct loot *loot, const char *dir)
{
    struct dirent **names = NULL;
    memset(loot, 0, sizeof(*loot));
    int count = scandir(dir, &names, is_spool, alphasort);
    for (int i = 0; i < count; i++) {
        read_spool(loot, dir, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    if (loot->nvtx_count < 100000) {
        resolve(loot);
    }
}

void loot_free(struct loot *loot)
{
    for (size_t i = 0; i < loot->meta_count; i++) {
        free(loot->metas[i].text);
    }
    for (size_t i = 0; i < loot->nvtx_count; i++) {
        free(loot->nvtx[i].text);
        free(loot->nvtx[i].blob);
    }
    free(loot->metas);
    free(loot->losses);
    free(loot->nvtx);
    free(loot->cupti);
}

uint64_t loot_lost(const struct loot *loot, uint32_t reason, uint32_t kind)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < loot->loss_count; i++) {
        const struct loot_loss *loss = &loot->losses[i];
        if (loss->reason == reason && (kind == UINT32_MAX || kind == loss->kind)) {
            sum += loss->count;
        }
    }
    return sum;
}

const struct loot_meta *loot_status(const struct loot *loot, enum spool_status code, size_t n)
{
    static char missing[] = "missing";
    static const struct loot_meta none = {.head = {.value = {999, 999, 999}}, .text = missing};
    for (size_t i = 0; i < loot->meta_count; i++) {
        const struct loot_meta *meta = &loot->metas[i];
        if (meta->head.kind == SPOOL_META_STATUS && meta->head.code == code && n-- == 0) {
            return meta;
        }
    }
    return &none;
}

void loot_line(const struct loot_nvtx *event, char *out, size_t size)
{
    static const char *const types[] = {"none", "thread", "push", "pop", "start", "end", "mark"};
    const struct spool_item *item = &event->item;
    char extra[160] = "";
    size_t at = 0;
    uint8_t flags = item->u.nvtx.head.flags;
    if ((flags & SPOOL_NVTX_ATTR) != 0) {
        at += (size_t)snprintf(extra + at, sizeof(extra) - at, " colour=%u:%08x",
                               item->u.nvtx.color_type, item->u.nvtx.color);
    }
    if ((flags & SPOOL_NVTX_CATEG) != 0) {
        at +=
            (size_t)snprintf(extra + at, sizeof(extra) - at, " category=%u", item->u.nvtx.category);
    }
    if ((flags & SPOOL_NVTX_PAYLOAD) != 0) {
        at += (size_t)snprintf(extra + at, sizeof(extra) - at, " payload=%u:%llx",
                               item->u.nvtx.payload_type, (unsigned long long)item->u.nvtx.payload);
    }
    if ((flags & SPOOL_NVTX_BLOB) != 0) {
        (void)snprintf(extra + at, sizeof(extra) - at, " blob=%llx:%.*s",
                       (unsigned long long)item->u.nvtx.schema, (int)item->u.nvtx.blob_bytes,
                       (const char *)event->blob);
    }
    (void)snprintf(out, size, "%s [%s] %s%s", types[item->u.nvtx.head.type], event->domain,
                   event->text, extra);
}

void loot_expect(const struct loot *loot, uint32_t tid, const char *const *wanted)
{
    char line[400];
    size_t at = 0;
    for (size_t i = 0; i < loot->nvtx_count; i++) {
        if (tid != 0 && loot->nvtx[i].item.u.nvtx.tid != tid) {
            continue;
        }
        loot_line(&loot->nvtx[i], line, sizeof(line));
        assert_non_null(wanted[at]);
        assert_string_equal(line, wanted[at]);
        at++;
    }
    assert_null(wanted[at]);
}

const char *read_text(const char *dir, const char *name)
{
    static char text[65536];
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *in = fopen(path, "re");
    size_t got = in == NULL ? 0 : fread(text, 1, sizeof(text) - 1, in);
    text[got] = '\0';
    if (in != NULL) {
        (void)fclose(in);
    }
    return text;
}
