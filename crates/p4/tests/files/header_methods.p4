header H { bit<8> a; }
header_union U { H h; }
struct S { H h; U u; H[4] st; }
control c(inout S s, in H ro, out bit<32> n) {
    apply {
        s.h.setValid(); s.h.setInvalid(); bool v = s.h.isValid() || s.u.isValid() || s.u.h.isValid(); s.st.push_front(1);
        s.st.pop_front(2); n = s.st.size + (bit<32>)s.h.minSizeInBits(); s.st[1] = s.h; s.h = {#}; s.u.h.setValid();
        ro.setValid(); // error: [E0727]
        s.setValid(); // error: [E0729]
        s.u.setValid(); // error: [E0729]
        v = s.isValid(); // error: [E0729]
        s.st.push_front(s.h.a); // error: [E0723]
        s.st[4] = s.h; // error: [E0741] 0 to 3
        s.st.next = s.h; // error: [E0709] of a stack
    }
}
