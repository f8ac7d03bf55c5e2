/* actions: see actions.h. */
#include "viewer/app/actions.h"

#include <string.h>

#include "viewer/app/keys.h"

const struct action ACTION_TABLE[ACTION_COUNT] = {
#define ACTION_ROW(id, name, keys, context, group, help) \
    {name, keys, ACTION_##context, ACTION_GROUP_##group, help, verb_##id},
    ACTIONS(ACTION_ROW)
#undef ACTION_ROW
};

const char *action_group_title(enum action_group group)
{
    static const char *const titles[] = {
#define ACTION_GROUP_TITLE(id, title) title,
        ACTION_GROUPS(ACTION_GROUP_TITLE)
#undef ACTION_GROUP_TITLE
    };
    return titles[group];
}

enum action_id action_by_name(const char *name, size_t len)
{
    for (int i = 0; i < ACTION_COUNT; i++) {
        if (strlen(ACTION_TABLE[i].name) == len && memcmp(ACTION_TABLE[i].name, name, len) == 0) {
            return (enum action_id)i;
        }
    }
    return ACTION_COUNT;
}

void keymap_defaults(struct keymap *map)
{
    memset(map, 0, sizeof *map);
    for (int i = 0; i < ACTION_COUNT; i++) {
        const char *at = ACTION_TABLE[i].keys;
        int n = 0;
        while (*at != '\0' && n < ACTION_KEYS_MAX) {
            size_t len = strcspn(at, " ");
            map->keys[i][n++] = keys_by_name(at, len);
            at += len + (at[len] == ' ' ? 1 : 0);
        }
    }
}

enum action_id keymap_find(const struct keymap *map, enum action_context context, uint32_t key)
{
    for (int i = 0; key != 0 && i < ACTION_COUNT; i++) {
        for (int n = 0; ACTION_TABLE[i].context == context && n < ACTION_KEYS_MAX; n++) {
            if (map->keys[i][n] == key) {
                return (enum action_id)i;
            }
        }
    }
    return ACTION_COUNT;
}

uint32_t keymap_key(const struct keymap *map, enum action_id action)
{
    return map->keys[action][0];
}
