/* SPDX-License-Identifier: MIT */
#include "cli/wrap.h"

#include <stdbool.h>
#include <string.h>

#define COLUMNS 79

void wrap_print(FILE *out, const char *text, int column, int indent)
{
    bool begins = true; /* a line */

    while (*text) {
        size_t word = strcspn(text, " \n");

        if (text[0] == '\n') {
            fprintf(out, "\n%s%*s", text[1] == '\n' ? "\n" : "", indent, "");
            column = indent;
            begins = true;
            text += text[1] == '\n' ? 2 : 1;
            continue;
        }
        if (!begins && column + 1 + (int)word > COLUMNS) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            begins = true;
        }
        column += fprintf(out, "%s%.*s", begins ? "" : " ", (int)word, text);
        begins = false;
        text += word + (text[word] == ' ');
    }
    fputc('\n', out);
}
