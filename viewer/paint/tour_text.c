/* tour_text: the step of the tour, wrapped to two lines, with the keys as they are configured. */
#include <string.h>

#include "viewer/app/tour.h"
#include "viewer/paint/parts.h"

/* Paints one word; {name} as the key of the action. Returns the columns it takes. */
static int tour_word(const struct parts *parts, struct canvas_pen *pen, const char *word,
                     size_t len, bool paint)
{
    const char *close = memchr(word, '}', len);
    char key[KEYS_NAME_BYTES] = "";
    size_t rest = 0;
    uint8_t role = pen->role;
    if (word[0] != '{' || close == NULL) {
        if (paint) {
            (void)canvas_text(pen, word, len);
        }
        return (int)len;
    }
    (void)keys_name(
        keymap_key(&parts->app->keymap, action_by_name(word + 1, (size_t)(close - word - 1))), key);
    rest = len - (size_t)(close + 1 - word);
    int cols = (int)(strlen(key) + rest);
    if (paint) {
        pen->role = ROLE_STATUS_KEY;
        (void)canvas_puts(pen, key);
        pen->role = role;
        (void)canvas_text(pen, close + 1, rest);
    }
    return cols;
}

void parts_tour(struct parts *parts)
{
    const char *at = tour_text(parts->app);
    int y = parts->at->tour_row;
    int end = y + 2;
    struct canvas_pen pen = parts_pen(parts, y, ROLE_PROMPT);
    pen.role = ROLE_MARK;
    (void)canvas_printf(&pen, " tour %d/%d ",
                        parts->app->tour_step > tour_steps() ? tour_steps() : parts->app->tour_step,
                        tour_steps());
    pen.role = ROLE_DETAIL_STRONG;
    canvas_put(&pen, ' ');
    while (*at != '\0') {
        size_t len = strcspn(at, " ");
        if (pen.col + tour_word(parts, &pen, at, len, false) > pen.end && y + 1 < end) {
            pen = parts_pen(parts, ++y, ROLE_DETAIL_STRONG);
        }
        (void)tour_word(parts, &pen, at, len, true);
        canvas_put(&pen, ' ');
        at += len;
        at += strspn(at, " ");
    }
}
