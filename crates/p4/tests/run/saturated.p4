// A sum of two fields that stops at the largest number.
#include <core.p4>
#include <v1model.p4>
#define LOCALS
#define APPLY hdr.h.b = hdr.h.a |+| hdr.h.b;
#include <bytes.p4>
