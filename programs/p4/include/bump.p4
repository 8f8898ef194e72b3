// An architecture of one control between parser and deparser, for packets with a length in words of WIDTH bits.

#ifndef WIDTH
#error WIDTH is not defined
#endif

#include <core.p4>

type bit<WIDTH> words_t;

parser Front<H>(packet_in packet, out H headers);
control Middle<H>(inout H headers, in words_t length, out bool keep);
control Back<H>(packet_out packet, in H headers);

package Bump<H>(Front<H> front, Middle<H> middle, Back<H> back);
