/* Driver for the configuration ring of a Sluice NIC (docs/guide/rtl.md, "Bring-up").
 *
 * It plays what `sluice object ring --c` prints: sends each message, takes the answer, checks its CRC-32C and status,
 * asks again while the NIC is busy, and sends again what was not answered. One message is under way at a time.
 *
 * C99 without a library or an operating system: the words go through three functions of yours.
 */
#ifndef SLUICE_RING_H
#define SLUICE_RING_H

#include <stddef.h>
#include <stdint.h>

/* Words of a message at most: two of head, a row of 80, the CRC-32C. */
#define SLUICE_RING_WORDS 83u

/* Your side of s_axis_cfg and m_axis_cfg. */
struct sluice_ring_port {
    void *context;
    /* Sends a word; `last` goes with the final one of a message. Returns when the word is taken. */
    void (*put)(void *context, uint32_t word, int last);
    /* Takes a word that has come: 1 and the word, or 0 when there is none now. */
    int (*get)(void *context, uint32_t *word, int *last);
    /* Nothing to do until a word comes: lets time pass, a few microseconds at most. */
    void (*pause)(void *context);
};

enum sluice_ring_result {
    SLUICE_RING_OK = 0,
    SLUICE_RING_OTHER_NIC = 1,  /* a check failed: other formats or another target */
    SLUICE_RING_REFUSED = 2,    /* an answer with a status other than ok and busy: `status` */
    SLUICE_RING_SILENT = 3,     /* not answered, however often it was sent */
    SLUICE_RING_NO_NODE = 4,    /* the message came back round the ring */
    SLUICE_RING_WAITED = 5,     /* still busy, or still in flight, after all that patience */
    SLUICE_RING_MALFORMED = 6   /* no records, or more words asked for than the row has */
};

/* Set up by sluice_ring_init; the limits may be changed then. */
struct sluice_ring {
    struct sluice_ring_port port;
    uint32_t pauses;      /* pauses until a message is sent again */
    uint32_t attempts;    /* times that a message is sent */
    uint32_t looks;       /* times that a busy or waiting step is asked again */
    uint16_t sequence;    /* of sluice_ring_read */

    /* What happened. */
    uint32_t status;      /* of the last answer */
    uint32_t repeated;    /* messages sent again for want of an answer */
    uint32_t busy;        /* answers that were busy */
    uint32_t bad;         /* words that were no answer: wrong CRC-32C, shape or number */

    uint32_t answer[SLUICE_RING_WORDS];
    size_t words;         /* of the answer that is coming in */
    size_t data;          /* words of data in the last answer, from answer[2] on */
};

/* A ring behind this port. Takes away what may have come before. */
void sluice_ring_init(struct sluice_ring *ring, const struct sluice_ring_port *port);

/* Plays records; `at` (may be null) is the place of the record at which it ended. A play that failed may be begun
 * again from its first record as long as nothing else has been played in between. */
enum sluice_ring_result sluice_ring_play(struct sluice_ring *ring, const uint32_t *records, size_t count, size_t *at);

/* Reads a row of up to 8 words (counters, generations: docs/design/formats.md). */
enum sluice_ring_result sluice_ring_read(struct sluice_ring *ring, uint8_t node, uint8_t table, uint32_t index,
                                         uint32_t *row, size_t words);

/* CRC-32C of words, each taken least significant byte first. */
uint32_t sluice_ring_crc32c(const uint32_t *words, size_t count);

#endif
