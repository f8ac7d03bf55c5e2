/* range_name: see range_name.h. */
#include "analysis/filter/range_name.h"

#include <stdlib.h>
#include <string.h>

enum {
    FORMS_MAX = 8
};

struct forms {
    struct range_name list[FORMS_MAX];
    size_t count;
};

static const char *last_of(const char *text, size_t len, char c)
{
    while (len > 0) {
        if (text[--len] == c) {
            return text + len;
        }
    }
    return NULL;
}

static bool is_same(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0);
}

/* The forms of text[0..len) without an index. */
static void add_forms(struct forms *forms, const char *text, size_t len, unsigned flags)
{
    bool any = (flags & RANGE_NAME_ANY_DOMAIN) != 0;
    struct range_name form = {
        .text = text, .len = len, .domain = any ? "*" : NULL, .domain_len = any ? 1 : 0};
    forms->list[forms->count++] = form;
    if (memchr(text, ':', len) != NULL) {
        form.is_printed = true;
        forms->list[forms->count++] = form;
        form.is_printed = false;
    }
    const char *at = last_of(text, len, '@');
    if (at != NULL) {
        form.len = (size_t)(at - text);
        form.domain = at + 1;
        form.domain_len = len - form.len - 1;
        forms->list[forms->count++] = form;
    }
}

static void make_forms(struct forms *forms, const char *text, unsigned flags)
{
    size_t len = strlen(text);
    const char *slash = last_of(text, len, '/');
    add_forms(forms, text, len, flags);
    if ((flags & RANGE_NAME_INDEX) == 0 || slash == NULL || slash[1] == '\0' ||
        strspn(slash + 1, "0123456789") != strlen(slash + 1)) {
        return;
    }
    size_t first = forms->count;
    add_forms(forms, text, (size_t)(slash - text), flags);
    for (size_t i = first; i < forms->count; i++) {
        forms->list[i].has_index = true;
        forms->list[i].index = strtoull(slash + 1, NULL, 10);
    }
}

static bool is_domain(const struct range_name *form, const struct trace_name *name)
{
    size_t len = name->domain == NULL ? 0 : name->domain_len;
    if (is_same(form->domain, form->domain_len, "*", 1) ||
        is_same(form->domain, form->domain_len, name->domain, len)) {
        return true;
    }
    return len == 0 && is_same(form->domain, form->domain_len, "default", strlen("default"));
}

static bool is_meant(const struct range_name *form, const struct trace_name *name)
{
    if (name->kind != TRACE_NVTX_PUSHPOP && name->kind != TRACE_NVTX_STARTEND) {
        return false;
    }
    if (!form->is_printed) {
        return is_same(form->text, form->len, name->full, name->full_len) && is_domain(form, name);
    }
    size_t domain = name->domain == NULL ? 0 : name->domain_len;
    return form->len > domain && form->text[domain] == ':' &&
           is_same(form->text, domain, name->domain, domain) &&
           is_same(form->text + domain + 1, form->len - domain - 1, name->full, name->full_len);
}

size_t range_name_mark(const struct trace *trace, const char *text, unsigned flags, bool *wanted,
                       struct range_name *form)
{
    struct forms forms = {.count = 0};
    size_t count = 0;
    make_forms(&forms, text, flags);
    for (size_t f = 0; f < forms.count && count == 0; f++) {
        *form = forms.list[f];
        for (uint32_t i = 0; i < trace->name_count; i++) {
            wanted[i] = is_meant(form, &trace->names[i]);
            count += wanted[i] ? 1 : 0;
        }
    }
    return count;
}
