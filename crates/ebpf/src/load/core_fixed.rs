//! Types whose layout is the same in all kernels, field by field.
//!
//! Programs of user space and the network rely on them. What came to a type later, or has another name in some kernels, is left out:
//! whether it is there is the kernel's to say. Taken from the BTF of Linux 6.18 with what its headers say of older ones.

/// Name, bytes, and fields: path, bit, bits, of arrays bits of an element too.
pub(super) const FIXED: [(&str, u32, &str); 35] = [
    ("ethhdr", 14, "h_dest 0 48/8, h_source 48 48/8, h_proto 96 16"),
    ("vlan_hdr", 4, "h_vlan_TCI 0 16, h_vlan_encapsulated_proto 16 16"),
    (
        "vlan_ethhdr",
        18,
        "h_dest 0 48/8, h_source 48 48/8, h_vlan_proto 96 16, h_vlan_TCI 112 16, \
         h_vlan_encapsulated_proto 128 16",
    ),
    ("arphdr", 8, "ar_hrd 0 16, ar_pro 16 16, ar_hln 32 8, ar_pln 40 8, ar_op 48 16"),
    (
        "iphdr",
        20,
        "ihl 0 4, version 4 4, tos 8 8, tot_len 16 16, id 32 16, frag_off 48 16, ttl 64 8, protocol 72 8, \
         check 80 16, saddr 96 32, daddr 128 32",
    ),
    (
        "ipv6hdr",
        40,
        "priority 0 4, version 4 4, flow_lbl 8 24/8, payload_len 32 16, nexthdr 48 8, hop_limit 56 8, \
         saddr 64 128, saddr.in6_u 64 128, saddr.in6_u.u6_addr8 64 128/8, saddr.in6_u.u6_addr16 64 128/16, \
         saddr.in6_u.u6_addr32 64 128/32, daddr 192 128, daddr.in6_u 192 128, daddr.in6_u.u6_addr8 192 128/8, \
         daddr.in6_u.u6_addr16 192 128/16, daddr.in6_u.u6_addr32 192 128/32",
    ),
    ("in_addr", 4, "s_addr 0 32"),
    ("in6_addr", 16, "in6_u 0 128, in6_u.u6_addr8 0 128/8, in6_u.u6_addr16 0 128/16, in6_u.u6_addr32 0 128/32"),
    ("ipv6_opt_hdr", 2, "nexthdr 0 8, hdrlen 8 8"),
    ("ipv6_rt_hdr", 4, "nexthdr 0 8, hdrlen 8 8, type 16 8, segments_left 24 8"),
    ("frag_hdr", 8, "nexthdr 0 8, reserved 8 8, frag_off 16 16, identification 32 32"),
    ("ip_auth_hdr", 12, "nexthdr 0 8, hdrlen 8 8, reserved 16 16, spi 32 32, seq_no 64 32, auth_data 96 0/8"),
    ("ip_esp_hdr", 8, "spi 0 32, seq_no 32 32, enc_data 64 0/8"),
    ("ip_comp_hdr", 4, "nexthdr 0 8, flags 8 8, cpi 16 16"),
    (
        "tcphdr",
        20,
        "source 0 16, dest 16 16, seq 32 32, ack_seq 64 32, doff 100 4, fin 104 1, syn 105 1, rst 106 1, \
         psh 107 1, ack 108 1, urg 109 1, ece 110 1, cwr 111 1, window 112 16, check 128 16, urg_ptr 144 16",
    ),
    ("tcp_word_hdr", 20, "hdr 0 160, words 0 160/32"),
    ("udphdr", 8, "source 0 16, dest 16 16, len 32 16, check 48 16"),
    (
        "icmphdr",
        8,
        "type 0 8, code 8 8, checksum 16 16, un 32 32, un.echo 32 32, un.echo.id 32 16, un.echo.sequence 48 16, \
         un.gateway 32 32, un.frag 32 32, un.frag.__unused 32 16, un.frag.mtu 48 16, un.reserved 32 32/8",
    ),
    (
        "icmp6hdr",
        8,
        "icmp6_type 0 8, icmp6_code 8 8, icmp6_cksum 16 16, icmp6_dataun 32 32, \
         icmp6_dataun.un_data32 32 32/32, icmp6_dataun.un_data16 32 32/16, icmp6_dataun.un_data8 32 32/8, \
         icmp6_dataun.u_echo 32 32, icmp6_dataun.u_echo.identifier 32 16, icmp6_dataun.u_echo.sequence 48 16, \
         icmp6_dataun.u_nd_advt 32 32, icmp6_dataun.u_nd_advt.reserved 32 5, \
         icmp6_dataun.u_nd_advt.override 37 1, icmp6_dataun.u_nd_advt.solicited 38 1, \
         icmp6_dataun.u_nd_advt.router 39 1, icmp6_dataun.u_nd_advt.reserved2 40 24, \
         icmp6_dataun.u_nd_ra 32 32, icmp6_dataun.u_nd_ra.hop_limit 32 8, icmp6_dataun.u_nd_ra.reserved 40 3, \
         icmp6_dataun.u_nd_ra.router_pref 43 2, icmp6_dataun.u_nd_ra.home_agent 45 1, \
         icmp6_dataun.u_nd_ra.other 46 1, icmp6_dataun.u_nd_ra.managed 47 1, \
         icmp6_dataun.u_nd_ra.rt_lifetime 48 16",
    ),
    ("igmphdr", 8, "type 0 8, code 8 8, csum 16 16, group 32 32"),
    ("gre_base_hdr", 4, "flags 0 16, protocol 16 16"),
    ("sctphdr", 12, "source 0 16, dest 16 16, vtag 32 32, checksum 64 32"),
    (
        "dccp_hdr",
        12,
        "dccph_sport 0 16, dccph_dport 16 16, dccph_doff 32 8, dccph_cscov 40 4, dccph_ccval 44 4, \
         dccph_checksum 48 16, dccph_x 64 1, dccph_type 65 4, dccph_reserved 69 3, dccph_seq2 72 8, \
         dccph_seq 80 16",
    ),
    ("mpls_label", 4, "entry 0 32"),
    ("vxlanhdr", 8, "vx_flags 0 32, vx_vni 32 32"),
    ("pppoe_hdr", 6, "type 0 4, ver 4 4, code 8 8, sid 16 16, length 32 16"),
    ("nd_opt_hdr", 2, "nd_opt_type 0 8, nd_opt_len 8 8"),
    (
        "xdp_md",
        24,
        "data 0 32, data_end 32 32, data_meta 64 32, ingress_ifindex 96 32, rx_queue_index 128 32, \
         egress_ifindex 160 32",
    ),
    (
        "bpf_fib_lookup",
        64,
        "family 0 8, l4_protocol 8 8, sport 16 16, dport 32 16, tot_len 48 16, ifindex 64 32, tos 96 8, \
         flowinfo 96 32, rt_metric 96 32, ipv4_src 128 32, ipv6_src 128 128/32, ipv4_dst 256 32, \
         ipv6_dst 256 128/32, h_vlan_proto 384 16, h_vlan_TCI 400 16, smac 416 48/8, dmac 464 48/8",
    ),
    ("bpf_redir_neigh", 20, "nh_family 0 32, ipv4_nh 32 32, ipv6_nh 32 128/32"),
    ("bpf_devmap_val", 8, "ifindex 0 32, bpf_prog 32 32, bpf_prog.fd 32 32, bpf_prog.id 32 32"),
    ("bpf_cpumap_val", 8, "qsize 0 32, bpf_prog 32 32, bpf_prog.fd 32 32, bpf_prog.id 32 32"),
    ("bpf_spin_lock", 4, "val 0 32"),
    ("bpf_lpm_trie_key", 4, "prefixlen 0 32, data 32 0/8"),
    ("bpf_lpm_trie_key_u8", 4, "hdr 0 32, hdr.prefixlen 0 32, prefixlen 0 32, data 32 0/8"),
];
