/* The configuration ring's driver: see sluice_ring.h. */
#include "sluice_ring.h"

enum { OP_READ = 1, OP_REPLY = 8 }; /* a reply's op is the request's with this bit */
enum { STATUS_OK = 0, STATUS_BUSY = 1 };
enum { CHECK = 1, WRITE = 2, BARRIER = 3, WAIT = 4, COMMIT = 5 };

/* Times that a message comes back as it was before no node counts as having its number: a fault on the way out may be
 * undone on the way back. */
enum { RETURNS = 3 };

uint32_t sluice_ring_crc32c(const uint32_t *words, size_t count)
{
    uint32_t crc = 0xffffffffu;
    size_t i;
    int bit;

    for (i = 0; i < count; i++) {
        crc ^= words[i];
        for (bit = 0; bit < 32; bit++)
            crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
    }
    return ~crc;
}

/* Puts the next whole message into `answer`: its words, or 0 when none has come to its end yet. */
static size_t take(struct sluice_ring *ring)
{
    uint32_t word;
    int last;

    while (ring->port.get(ring->port.context, &word, &last)) {
        if (ring->words < SLUICE_RING_WORDS)
            ring->answer[ring->words] = word;
        /* One word too many is enough to know: a long message must not wrap the count. */
        if (ring->words <= SLUICE_RING_WORDS)
            ring->words++;
        if (last) {
            size_t words = ring->words;

            ring->words = 0;
            if (words >= 3 && words <= SLUICE_RING_WORDS &&
                ring->answer[words - 1] == sluice_ring_crc32c(ring->answer, words - 1))
                return words;
            ring->bad++;
        }
    }
    return 0;
}

void sluice_ring_init(struct sluice_ring *ring, const struct sluice_ring_port *port)
{
    ring->port = *port;
    ring->pauses = 20000;
    ring->attempts = 16;
    ring->looks = 1000000;
    ring->sequence = 0x8000;
    ring->status = 0;
    ring->repeated = 0;
    ring->busy = 0;
    ring->bad = 0;
    ring->words = 0;
    while (take(ring) != 0)
        ring->bad++;
    ring->words = 0;
}

/* Sends a message until it is answered. The answer is in `answer`, its status in `status`. */
static enum sluice_ring_result ask(struct sluice_ring *ring, const uint32_t *message, size_t words)
{
    uint32_t attempt, pauses, returns = 0;
    size_t i;

    for (attempt = 0; attempt < ring->attempts; attempt++) {
        if (attempt > 0)
            ring->repeated++;
        for (i = 0; i < words; i++)
            ring->port.put(ring->port.context, message[i], i + 1 == words);
        for (pauses = 0; pauses < ring->pauses;) {
            size_t got = take(ring);

            if (got == 0) {
                ring->port.pause(ring->port.context);
                pauses++;
                continue;
            }
            /* Node, sequence, table and index are the request's. */
            if (((ring->answer[0] ^ message[0]) & 0x00ffffffu) != 0 || ring->answer[1] != message[1]) {
                ring->bad++;
                continue;
            }
            if (ring->answer[0] >> 28 == message[0] >> 28) {
                if (++returns == RETURNS)
                    return SLUICE_RING_NO_NODE;
                break;
            }
            ring->status = ring->answer[0] >> 24 & 0xfu;
            /* Only a read that went well has data, one word at least. */
            if (ring->answer[0] >> 28 != (message[0] >> 28 | OP_REPLY) ||
                (got > 3) != (message[0] >> 28 == OP_READ && ring->status == STATUS_OK)) {
                ring->bad++;
                continue;
            }
            ring->data = got - 3;
            if (ring->status == STATUS_BUSY)
                ring->busy++;
            return ring->status == STATUS_OK || ring->status == STATUS_BUSY ? SLUICE_RING_OK : SLUICE_RING_REFUSED;
        }
    }
    return SLUICE_RING_SILENT;
}

/* One record, of which `message` has `words` words and mask and value behind them where its kind has any. */
static enum sluice_ring_result step(struct sluice_ring *ring, uint32_t kind, const uint32_t *message, size_t words)
{
    uint32_t look;

    for (look = 0; look < ring->looks; look++) {
        enum sluice_ring_result result = ask(ring, message, words);

        if (result != SLUICE_RING_OK)
            return result;
        if (ring->status != STATUS_BUSY) {
            if (kind == WRITE || kind == COMMIT)
                return SLUICE_RING_OK;
            if ((ring->answer[2] & message[words]) == message[words + 1])
                return SLUICE_RING_OK;
            if (kind == CHECK)
                return SLUICE_RING_OTHER_NIC;
        }
        ring->port.pause(ring->port.context);
    }
    return SLUICE_RING_WAITED;
}

enum sluice_ring_result sluice_ring_play(struct sluice_ring *ring, const uint32_t *records, size_t count, size_t *at)
{
    size_t i = 0;
    enum sluice_ring_result result = SLUICE_RING_OK;

    while (i < count) {
        uint32_t kind = records[i] >> 24;
        size_t words = records[i] & 0xffffffu;
        size_t behind = kind == CHECK || kind == WAIT ? 2 : 0;

        if (at != NULL)
            *at = i;
        if (kind < CHECK || kind > COMMIT || (kind == BARRIER) != (words == 0) || words > SLUICE_RING_WORDS ||
            (words != 0 && words < 3) || words + behind > count - i - 1)
            return SLUICE_RING_MALFORMED;
        /* With one message under way every step is a barrier. */
        if (kind != BARRIER)
            result = step(ring, kind, records + i + 1, words);
        if (result != SLUICE_RING_OK)
            return result;
        i += 1 + words + behind;
    }
    if (at != NULL)
        *at = i;
    return SLUICE_RING_OK;
}

enum sluice_ring_result sluice_ring_read(struct sluice_ring *ring, uint8_t node, uint8_t table, uint32_t index,
                                         uint32_t *row, size_t words)
{
    uint32_t message[3];
    enum sluice_ring_result result;
    size_t i;

    if (words > 8)
        return SLUICE_RING_MALFORMED;
    /* Numbers of its own, so that a late answer to an earlier read is not taken for this one's. */
    ring->sequence = (uint16_t)(ring->sequence == 0xffffu ? 0x8000u : ring->sequence + 1u);
    message[0] = (uint32_t)OP_READ << 28 | (uint32_t)node << 16 | ring->sequence;
    message[1] = (uint32_t)table << 24 | (index & 0xffffffu);
    message[2] = sluice_ring_crc32c(message, 2);
    result = ask(ring, message, 3);
    if (result != SLUICE_RING_OK)
        return result;
    if (ring->status == STATUS_BUSY)
        return SLUICE_RING_WAITED;
    if (words > ring->data)
        return SLUICE_RING_MALFORMED;
    for (i = 0; i < words; i++)
        row[i] = ring->answer[2 + i];
    return SLUICE_RING_OK;
}
