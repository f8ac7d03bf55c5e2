/*
 * utf8: see utf8.h. Decoding follows table 3-7 of the Unicode standard (well-formed sequences).
 * Widths: the wide and zero-width ranges of Unicode's EastAsianWidth.txt (W and F) and of general
 * category Mn/Me, coarsened to blocks; a wrong width on a rare mark costs one cell, never safety.
 */
#include "analysis/base/utf8.h"

#include <string.h>

struct utf8_range {
    uint32_t first;
    uint32_t last;
};

static const struct utf8_range UTF8_WIDE[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x33FF},   {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
    {0xA960, 0xA97F},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18CFF},
    {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E},
    {0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C},
    {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0},
    {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC},
    {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A},
    {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5},
    {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6D7}, {0x1F6DC, 0x1F6DF},
    {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F7F0, 0x1F7F0},
    {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF},
    {0x20000, 0x3FFFD},
};

static const struct utf8_range UTF8_ZERO[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
    {0x05C4, 0x05C5}, {0x05C7, 0x05C7}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670},
    {0x06D6, 0x06DC}, {0x06DF, 0x06E4}, {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x0900, 0x0902},
    {0x093A, 0x093A}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0E31, 0x0E31},
    {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20F0},
    {0x302A, 0x302D}, {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
};

/* Marks without a picture, and those that reorder text: shown as UTF8_BAD. */
static const struct utf8_range UTF8_UNSAFE[] = {
    {0x0000, 0x001F},   {0x007F, 0x009F},   {0x00AD, 0x00AD},       {0x061C, 0x061C},
    {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x202E},       {0x2060, 0x206F},
    {0xD800, 0xDFFF},   {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},       {0xFFFE, 0xFFFF},
    {0xE0000, 0xE00FF}, {0xE01F0, 0xE0FFF}, {0x10FFFE, UINT32_MAX},
};

#define UTF8_COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool utf8_in(const struct utf8_range *table, size_t count, uint32_t cp)
{
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (cp > table[mid].last) {
            low = mid + 1;
        } else if (cp < table[mid].first) {
            high = mid;
        } else {
            return true;
        }
    }
    return false;
}

/* The smallest code point that needs so many continuation bytes. */
static const uint32_t UTF8_LEAST[4] = {0, 0x80, 0x800, 0x10000};

size_t utf8_decode(const char *text, size_t len, uint32_t *cp)
{
    unsigned char lead = (unsigned char)text[0];
    *cp = UTF8_BAD;
    if (lead < 0x80) {
        *cp = lead;
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        return 1;
    }
    size_t more = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    if (len <= more) {
        return 1;
    }
    uint32_t value = lead & (0x3FU >> more);
    for (size_t i = 1; i <= more; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xC0U) != 0x80U) {
            return 1;
        }
        value = value << 6 | (byte & 0x3FU);
    }
    if (value < UTF8_LEAST[more] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) {
        return 1;
    }
    *cp = value;
    return more + 1;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
    if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF)) {
        cp = UTF8_BAD;
    }
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0U | cp >> 6);
        out[1] = (char)(0x80U | (cp & 0x3FU));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0U | cp >> 12);
        out[1] = (char)(0x80U | (cp >> 6 & 0x3FU));
        out[2] = (char)(0x80U | (cp & 0x3FU));
        return 3;
    }
    out[0] = (char)(0xF0U | cp >> 18);
    out[1] = (char)(0x80U | (cp >> 12 & 0x3FU));
    out[2] = (char)(0x80U | (cp >> 6 & 0x3FU));
    out[3] = (char)(0x80U | (cp & 0x3FU));
    return 4;
}

int utf8_width(uint32_t cp)
{
    if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0)) {
        return -1;
    }
    if (cp < 0x300) {
        return 1;
    }
    if (utf8_in(UTF8_ZERO, UTF8_COUNT(UTF8_ZERO), cp)) {
        return 0;
    }
    return utf8_in(UTF8_WIDE, UTF8_COUNT(UTF8_WIDE), cp) ? 2 : 1;
}

uint32_t utf8_safe(uint32_t cp, bool ascii)
{
    if (cp == '\n' || cp == '\t' || cp == '\r') {
        return ' ';
    }
    if (utf8_in(UTF8_UNSAFE, UTF8_COUNT(UTF8_UNSAFE), cp)) {
        cp = UTF8_BAD;
    }
    return ascii && cp > 0x7E ? '?' : cp;
}

void utf8_sanitize(struct buf *out, const char *text, size_t len, bool ascii)
{
    size_t at = 0;
    while (at < len) {
        uint32_t cp;
        char bytes[4];
        at += utf8_decode(text + at, len - at, &cp);
        buf_add(out, bytes, utf8_encode(utf8_safe(cp, ascii), bytes));
    }
}

size_t utf8_cols(const char *text, size_t len)
{
    size_t at = 0;
    size_t cols = 0;
    while (at < len) {
        uint32_t cp;
        at += utf8_decode(text + at, len - at, &cp);
        cols += (size_t)utf8_width(utf8_safe(cp, false));
    }
    return cols;
}

void utf8_copy(char *out, size_t room, const char *text, size_t len)
{
    struct buf safe = {0};
    utf8_sanitize(&safe, text, len, false);
    const char *from = buf_text(&safe);
    size_t bytes = safe.len < room ? safe.len : room - 1;
    while (bytes > 0 && bytes < safe.len && ((unsigned char)from[bytes] & 0xC0U) == 0x80U) {
        bytes--;
    }
    memcpy(out, from, bytes);
    out[bytes] = '\0';
    buf_free(&safe);
}
