/* An example of a port: words as lines on standard output and input, so that any program can stand for the NIC.
 *
 *   w HEX LAST     a word for the NIC
 *   p              time passes; the other side answers with one line, the words that came: HEX:LAST HEX:LAST ...
 *   done NAME      a section has been played
 *   packets N      packets that arrived on port 0 for module 1
 *
 * ring_words.h is what `sluice object ring --config nic.toml --replace red=1.json --replace red=2.json --c` printed.
 * crates/cli/tests/ring_driver.rs is the other side: the Verilated NIC with packets running.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sluice_ring.h"

/* It compiles as it stands; with a ring_words.h beside it, it has something to play. */
#ifdef __has_include
#if !__has_include("ring_words.h")
#define WITHOUT_WORDS
#endif
#endif
#ifdef WITHOUT_WORDS
static const uint32_t sluice_bring_up[1], sluice_change_1[1], sluice_change_2[1];
#else
#include "ring_words.h"
#endif

struct lines {
    char line[1 << 16];
    char *next;
};

static void put(void *context, uint32_t word, int last)
{
    (void)context;
    printf("w %08lx %d\n", (unsigned long)word, last);
}

static int get(void *context, uint32_t *word, int *last)
{
    struct lines *lines = context;
    char *end;

    *word = (uint32_t)strtoul(lines->next, &end, 16);
    if (*end != ':')
        return 0;
    *last = end[1] == '1';
    lines->next = end + 2;
    return 1;
}

static void pause_for_words(void *context)
{
    struct lines *lines = context;

    puts("p");
    fflush(stdout);
    if (fgets(lines->line, sizeof lines->line, stdin) == NULL)
        exit(99);
    lines->next = lines->line;
}

static int play(struct sluice_ring *ring, const char *name, const uint32_t *records, size_t bytes)
{
    size_t at;
    enum sluice_ring_result result = sluice_ring_play(ring, records, bytes / sizeof *records, &at);

    fprintf(stderr, "%s: result %d at word %lu, status %lu, %lu repeated, %lu busy, %lu bad\n", name, (int)result,
            (unsigned long)at, (unsigned long)ring->status, (unsigned long)ring->repeated, (unsigned long)ring->busy,
            (unsigned long)ring->bad);
    printf("done %s\n", name);
    return (int)result;
}

int main(void)
{
    static struct lines lines;
    struct sluice_ring ring;
    struct sluice_ring_port port = {&lines, put, get, pause_for_words};
    uint32_t packets[2] = {0, 0};
    int result;

#ifdef WITHOUT_WORDS
    fputs("compiled without ring_words.h, which `sluice object ring --c` prints\n", stderr);
    return 98;
#endif
    lines.next = lines.line;
    sluice_ring_init(&ring, &port);
    ring.pauses = 100;
    ring.looks = 1000;
    result = play(&ring, "bring_up", sluice_bring_up, sizeof sluice_bring_up);
    if (result == SLUICE_RING_OK)
        result = play(&ring, "change_1", sluice_change_1, sizeof sluice_change_1);
    if (result == SLUICE_RING_OK)
        result = play(&ring, "change_2", sluice_change_2, sizeof sluice_change_2);
    /* Node 8 is port 0; table 2 counts packets by module (docs/design/formats.md). */
    if (result == SLUICE_RING_OK)
        result = (int)sluice_ring_read(&ring, 8, 2, 1, packets, 2);
    printf("packets %lu\n", (unsigned long)packets[0]);
    return result;
}
