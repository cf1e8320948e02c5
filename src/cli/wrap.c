/* SPDX-License-Identifier: MIT */
#include "cli/wrap.h"

#include <string.h>

#define COLUMNS 79

void wrap_print(FILE *out, const char *text, int column, int indent)
{
    while (*text) {
        size_t word = strcspn(text, " \n");

        if (text[0] == '\n') {
            fprintf(out, "\n%s%*s", text[1] == '\n' ? "\n" : "", indent, "");
            column = indent;
            text += text[1] == '\n' ? 2 : 1;
            continue;
        }
        if (column > indent && column + 1 + (int)word > COLUMNS) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", (int)word, text);
        text += word + (text[word] == ' ');
    }
    fputc('\n', out);
}
