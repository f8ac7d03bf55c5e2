/* labels: see labels.h. */
#include "viewer/rows/labels.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/array.h"
#include "analysis/base/buf.h"
#include "analysis/base/intern.h"
#include "analysis/base/sort.h"

static uint32_t labels_len(uint32_t len)
{
    return len < LABELS_LOOK ? len : LABELS_LOOK;
}

static int labels_text(const char *a, uint32_t a_len, const char *b, uint32_t b_len)
{
    uint32_t len = a_len < b_len ? a_len : b_len;
    int way = memcmp(a, b, len);
    return way != 0 ? way : (a_len > b_len) - (a_len < b_len);
}

/* By short name, then by full name: kernels of one template are neighbours. */
static int labels_compare(const void *a, const void *b)
{
    const struct trace_name *x = *(const struct trace_name *const *)a;
    const struct trace_name *y = *(const struct trace_name *const *)b;
    int way = labels_text(x->brief, labels_len(x->brief_len), y->brief, labels_len(y->brief_len));
    return way != 0
               ? way
               : labels_text(x->full, labels_len(x->full_len), y->full, labels_len(y->full_len));
}

static bool labels_same_brief(const struct trace_name *a, const struct trace_name *b)
{
    return a->brief_len == b->brief_len && memcmp(a->brief, b->brief, a->brief_len) == 0;
}

static uint32_t labels_prefix(const struct trace_name *a, const struct trace_name *b)
{
    uint32_t len = labels_len(a->full_len < b->full_len ? a->full_len : b->full_len);
    uint32_t n = 0;
    while (n < len && a->full[n] == b->full[n]) {
        n++;
    }
    return n;
}

static uint32_t labels_suffix(const struct trace_name *a, const struct trace_name *b)
{
    uint32_t len = labels_len(a->full_len < b->full_len ? a->full_len : b->full_len);
    uint32_t n = 0;
    while (n < len && a->full[a->full_len - 1 - n] == b->full[b->full_len - 1 - n]) {
        n++;
    }
    return n;
}

static bool labels_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The text from where the names differ to where they are the same again. */
static struct label labels_difference(const struct trace_name *name, uint32_t prefix,
                                      uint32_t suffix)
{
    struct label label = {0};
    uint32_t begin = prefix;
    uint32_t end = name->full_len > suffix ? name->full_len - suffix : name->full_len;
    /* Whole words: a number or name that differs in its last letter is shown from its first. */
    while (begin > 0 && begin < name->full_len && labels_is_word(name->full[begin]) &&
           labels_is_word(name->full[begin - 1])) {
        begin--;
    }
    while (end < name->full_len && end > 0 && labels_is_word(name->full[end]) &&
           labels_is_word(name->full[end - 1])) {
        end++;
    }
    end = end > begin ? end : name->full_len;
    if (begin < end) {
        label.tail = name->full + begin;
        label.tail_len = end - begin < LABELS_TAIL ? end - begin : LABELS_TAIL;
    }
    return label;
}

/* Words of a group and in how many of its names they are. */
struct labels_words {
    struct intern table;
    uint32_t *in; /* by word: names that hold it */
    uint32_t *last; /* by word: the name that was counted last + 1 */
    uint32_t cap;
};

/* The next word of a name from *at on; its length, 0 at the end. */
static uint32_t labels_word(const struct trace_name *name, uint32_t *at, const char **word)
{
    uint32_t end = labels_len(name->full_len);
    while (*at < end && !labels_is_word(name->full[*at])) {
        (*at)++;
    }
    uint32_t begin = *at;
    while (*at < end && labels_is_word(name->full[*at])) {
        (*at)++;
    }
    *word = name->full + begin;
    return *at - begin;
}

/* Makes room for one more word; false without memory. */
static bool labels_room(struct labels_words *words)
{
    uint32_t cap = words->cap == 0 ? 256 : words->cap * 2;
    if (words->table.count < words->cap) {
        return true;
    }
    uint32_t *in = array_resize(words->in, cap, sizeof *in);
    if (in == NULL) {
        return false;
    }
    words->in = in;
    uint32_t *last = array_resize(words->last, cap, sizeof *last);
    if (last == NULL) {
        return false;
    }
    words->last = last;
    memset(in + words->cap, 0, (cap - words->cap) * sizeof *in);
    memset(last + words->cap, 0, (cap - words->cap) * sizeof *last);
    words->cap = cap;
    return true;
}

static void labels_count(struct labels_words *words, const struct trace_name *name, uint32_t number)
{
    uint32_t at = 0;
    const char *word = NULL;
    uint32_t len;
    while ((len = labels_word(name, &at, &word)) > 0) {
        if (!labels_room(words)) {
            return;
        }
        uint32_t id = intern_add(&words->table, word, len);
        if (id != INTERN_NONE && words->last[id] != number + 1) {
            words->last[id] = number + 1;
            words->in[id]++;
        }
    }
}

/* The rarest words of a name, in the order of their rarity. */
static struct label labels_rarest(struct labels *labels, const struct labels_words *words,
                                  const struct trace_name *name, uint32_t group)
{
    uint32_t picked[LABELS_WORDS] = {0};
    uint32_t count = 0;
    uint32_t at = 0;
    const char *word = NULL;
    uint32_t len;
    struct buf text = {0};
    struct label label = {0};
    uint32_t i;
    while ((len = labels_word(name, &at, &word)) > 0) {
        uint32_t id = intern_find(&words->table, word, len);
        if (id == INTERN_NONE || words->in[id] >= group) {
            continue;
        }
        for (i = 0; i < count && picked[i] != id; i++) {
        }
        if (i < count || (count == LABELS_WORDS && words->in[id] >= words->in[picked[count - 1]])) {
            continue;
        }
        uint32_t place = count < LABELS_WORDS ? count++ : count - 1;
        while (place > 0 && words->in[picked[place - 1]] > words->in[id]) {
            picked[place] = picked[place - 1];
            place--;
        }
        picked[place] = id;
    }
    for (i = 0; i < count; i++) {
        buf_addf(&text, "%s%s", i > 0 ? " " : "", intern_text(&words->table, picked[i]));
    }
    if (text.len > 0) {
        label.tail = arena_copy(&labels->arena, text.data, text.len);
        label.tail_len = label.tail == NULL       ? 0
                         : text.len < LABELS_TAIL ? (uint32_t)text.len
                                                  : LABELS_TAIL;
    }
    buf_free(&text);
    return label;
}

/* The tails of names[0..count), which share their short name and are sorted. */
static void labels_group(struct labels *labels, const struct trace *trace,
                         const struct trace_name **names, uint32_t count)
{
    struct labels_words words = {0};
    uint32_t prefix = labels_prefix(names[0], names[count - 1]);
    uint32_t suffix = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = i > 0 ? labels_suffix(names[0], names[i]) : UINT32_MAX;
        suffix = n < suffix ? n : suffix;
        labels_count(&words, names[i], i);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct label *label = &labels->list[names[i] - trace->names];
        *label = labels_rarest(labels, &words, names[i], count);
        if (label->tail_len == 0) {
            *label = labels_difference(names[i], prefix, suffix);
        }
    }
    intern_free(&words.table);
    free(words.in);
    free(words.last);
}

int labels_make(const struct trace *trace, struct labels *out, struct err *err)
{
    const struct trace_name **names = calloc((size_t)trace->name_count + 1, sizeof *names);
    uint32_t count = 0;
    *out = (struct labels){0};
    out->list = calloc((size_t)trace->name_count + 1, sizeof *out->list);
    if (out->list == NULL || names == NULL) {
        free(names);
        labels_free(out);
        return err_nomem(err, "the names");
    }
    for (uint32_t i = 0; i < trace->name_count; i++) {
        if (trace->names[i].kind == TRACE_KERNEL) {
            names[count++] = &trace->names[i];
        }
    }
    sort_list(names, count, sizeof *names, labels_compare);
    for (uint32_t at = 0; at < count;) {
        uint32_t end = at + 1;
        while (end < count && labels_same_brief(names[at], names[end])) {
            end++;
        }
        if (end - at > 1) {
            labels_group(out, trace, names + at, end - at);
        }
        at = end;
    }
    free(names);
    return 0;
}

void labels_free(struct labels *labels)
{
    free(labels->list);
    arena_free(&labels->arena);
    *labels = (struct labels){0};
}
