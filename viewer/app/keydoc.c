/* keydoc: see keydoc.h. */
#include "viewer/app/keydoc.h"

#include <string.h>

#include "viewer/app/keys.h"

enum {
    KEYDOC_BYTES = 128
};

char *keydoc_keys(const struct keymap *map, enum action_id action, char *out, size_t room)
{
    size_t len = 0;
    out[0] = '\0';
    for (int n = 0; n < ACTION_KEYS_MAX; n++) {
        char name[KEYS_NAME_BYTES];
        if (map->keys[action][n] == 0) {
            continue;
        }
        size_t more = strlen(keys_name(map->keys[action][n], name));
        if (len + more + 2 > room) {
            break;
        }
        if (len > 0) {
            out[len++] = ' ';
        }
        memcpy(out + len, name, more + 1);
        len += more;
    }
    return out;
}

void keydoc_text(const struct keymap *map, struct buf *out)
{
    for (int group = 0; group < ACTION_GROUP_COUNT; group++) {
        buf_addf(out, "%s%s:\n", group > 0 ? "\n" : "",
                 action_group_title((enum action_group)group));
        for (int i = 0; i < ACTION_COUNT; i++) {
            char keys[KEYDOC_BYTES];
            if ((int)ACTION_TABLE[i].group == group) {
                buf_addf(out, "  %-17s %-16s %s\n",
                         keydoc_keys(map, (enum action_id)i, keys, sizeof keys),
                         ACTION_TABLE[i].name, ACTION_TABLE[i].help);
            }
        }
    }
}

/* A key in mdoc: a word that mdoc could take for a macro or punctuation is escaped. */
static void keydoc_mdoc_keys(struct buf *out, const char *keys)
{
    const char *at = keys;
    while (*at != '\0') {
        size_t len = strcspn(at, " ");
        buf_adds(out, at == keys ? " Cm " : " , Cm ");
        buf_adds(out, "\\&");
        if (*at == '\\') {
            buf_adds(out, "\\e");
        } else {
            buf_add(out, at, len);
        }
        at += len + (at[len] == ' ' ? 1 : 0);
    }
}

void keydoc_mdoc(struct buf *out)
{
    struct keymap map;
    keymap_defaults(&map);
    for (int group = 0; group < ACTION_GROUP_COUNT; group++) {
        buf_addf(out, ".Ss %s\n.Bl -tag -width Ds\n", action_group_title((enum action_group)group));
        for (int i = 0; i < ACTION_COUNT; i++) {
            char keys[KEYDOC_BYTES];
            if ((int)ACTION_TABLE[i].group != group) {
                continue;
            }
            (void)keydoc_keys(&map, (enum action_id)i, keys, sizeof keys);
            buf_adds(out, ".It");
            keydoc_mdoc_keys(out, keys);
            buf_addf(out, " Pq Ic %s\n\\&%s.\n", ACTION_TABLE[i].name, ACTION_TABLE[i].help);
        }
        buf_adds(out, ".El\n");
    }
}
