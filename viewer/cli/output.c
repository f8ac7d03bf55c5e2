/* output: see output.h. */
#include "viewer/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/utf8.h"

static void ignore_sigpipe(struct output *out)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigemptyset(&ignore.sa_mask);
    (void)sigaction(SIGPIPE, &ignore, &out->old_sigpipe);
}

static FILE *open_command(const char *command)
{
    (void)fflush(stdout);
    return popen(command, "w");
}

enum output_kind output_kind_of(const char *argument)
{
    return argument == NULL || strcmp(argument, "-") == 0 ? OUTPUT_STDOUT
           : argument[0] == '@'                           ? OUTPUT_COMMAND
                                                          : OUTPUT_FILE;
}

/* O_EXCL: neither a file that is there nor what a link names is touched, and no pipe is waited for. */
static FILE *open_file(const char *path, bool replace)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (replace ? O_TRUNC : O_EXCL), 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (fd >= 0 && file == NULL) {
        (void)close(fd);
    }
    return file;
}

int output_open_file(struct output *out, const char *path, bool replace, struct err *err)
{
    *out = (struct output){.file = open_file(path, replace), .name = path, .kind = OUTPUT_FILE};
    if (out->file == NULL && !replace && errno == EEXIST) {
        return err_set(err, "%.500s is there already; --force-overwrite replaces it", path);
    }
    if (out->file == NULL) {
        return err_set(err, "cannot write to %.500s: %s", path, strerror(errno));
    }
    ignore_sigpipe(out);
    return 0;
}

int output_open(struct output *out, const char *argument, struct err *err)
{
    enum output_kind kind = output_kind_of(argument);
    if (kind == OUTPUT_FILE) {
        return output_open_file(out, argument, true, err);
    }
    *out = (struct output){.file = stdout, .name = "the standard output", .kind = kind};
    if (kind == OUTPUT_COMMAND) {
        out->name = argument;
        /* The command is started before SIGPIPE is ignored: a child inherits that. */
        out->file = open_command(argument + 1);
    }
    if (out->file == NULL) {
        return err_set(err, "cannot start '%.500s': %s", argument + 1, strerror(errno));
    }
    ignore_sigpipe(out);
    return 0;
}

static void note_error(struct output *out)
{
    if (out->error == 0) {
        out->error = errno != 0 ? errno : EIO;
    }
}

int output_write(void *output, const char *data, size_t len)
{
    struct output *out = output;
    if (out->error == 0) {
        errno = 0;
        if (fwrite(data, 1, len, out->file) != len) {
            note_error(out);
        }
    }
    return out->error != 0;
}

int output_text(struct output *out, const char *text)
{
    return output_write(out, text, strlen(text));
}

int output_buf(struct output *out, const struct buf *buf)
{
    if (buf_failed(buf) && out->error == 0) {
        out->error = ENOMEM;
    }
    return output_write(out, buf_text(buf), buf->len);
}

int output_printf(struct output *out, const char *fmt, ...)
{
    va_list args;
    if (out->error == 0) {
        va_start(args, fmt);
        errno = 0;
        if (vfprintf(out->file, fmt, args) < 0) {
            note_error(out);
        }
        va_end(args);
    }
    return out->error != 0;
}

bool output_gone(const struct output *out)
{
    return out->error != 0;
}

/* The result of the command that the text went to. */
static int command_result(const struct output *out, int status, struct err *err)
{
    if (status == -1) {
        return err_set(err, "cannot wait for '%s': %s", out->name + 1, strerror(errno));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
        return err_set(err, "'%s' ended with status %d", out->name + 1, WEXITSTATUS(status));
    }
    if (WIFSIGNALED(status)) {
        return err_set(err, "'%s' was ended by signal %d", out->name + 1, WTERMSIG(status));
    }
    return 0;
}

int output_close(struct output *out, struct err *err)
{
    int result = 0;
    int status = 0;
    if (out->file == NULL) {
        return 0;
    }
    errno = 0;
    if (fflush(out->file) != 0) {
        note_error(out);
    }
    errno = 0;
    if (out->kind == OUTPUT_COMMAND) {
        status = pclose(out->file);
        result = command_result(out, status, err);
    } else if (out->kind == OUTPUT_FILE && fclose(out->file) != 0) {
        note_error(out);
    }
    (void)sigaction(SIGPIPE, &out->old_sigpipe, NULL);
    out->file = NULL;
    if (result == 0 && out->error != 0 && out->error != EPIPE) {
        result = err_set(err, "cannot write to %s: %s", out->name, strerror(out->error));
    }
    return result;
}

int output_all(const struct buf *buf, struct err *err)
{
    struct output out;
    if (output_open(&out, NULL, err) != 0) {
        return -1;
    }
    (void)output_buf(&out, buf);
    return output_close(&out, err);
}

void output_error(const char *command, const struct err *err)
{
    struct buf line = {0};
    buf_adds(&line, "cutline");
    if (command != NULL) {
        buf_addf(&line, " %s", command);
    }
    buf_adds(&line, ": ");
    utf8_sanitize(&line, err->text, strlen(err->text), output_ascii());
    buf_addc(&line, '\n');
    (void)fwrite(buf_text(&line), 1, line.len, stderr);
    buf_free(&line);
}

bool output_ascii(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}
