/* SPDX-License-Identifier: MIT */
/* ljsonbox: the box that owns what one call of the reader or the writer has allocated. Called by both. */
#include "codec/ljsonbox.h"

const char ap_json_null_key;

static void close_box(void *self)
{
    struct ap_json_box *box = self;
    cJSON_Delete(box->tree);
    cJSON_free(box->printed);
    ap_buf_dispose(&box->text);
}

struct ap_json_box *ap_json_own(lua_State *L)
{
    ap_own_class(L, "apsis.jsonbox", NULL);
    struct ap_json_box *box = ap_own_new(L, sizeof *box, "apsis.jsonbox", close_box);
    box->own.open = true;
    lua_toclose(L, -1);
    return box;
}

void ap_json_need(lua_State *L, int answer)
{
    if (answer != 0)
        luaL_error(L, "out of memory");
}
