//! `sluice l7`: rules are checked, and messages explained.

use crate::common;
use crate::common::Folder;

#[test]
fn check_says_what_rules_take_and_prints_them_in_one_form() {
    let f = Folder::new();
    let text = f.sluice(&["l7", "check", "programs/l7/course_reviews.l7", "programs/l7/lines.l7"]).ok();
    let expected = "programs/l7/course_reviews.l7: OK, ports 2, groups 0\n  \
                    kind         name     port  id  types  rules  patterns  default\n  \
                    application  reviews  9000   1      1      2         3  queue 0\n  \
                    endpoint              9001          0      0         0  queue 3\n\
                    programs/l7/lines.l7: OK, ports 1, groups 1\n  \
                    kind  name    port  id  types  rules  patterns  default\n  \
                    raw   lines  11211          1      4         6  drop\n";
    assert_eq!(text, expected);
    let printed = f.sluice(&["l7", "check", "--print", "programs/l7/urls.l7"]).ok();
    f.write("again.l7", &printed);
    assert_eq!(f.sluice(&["l7", "check", "--print", "again.l7"]).ok(), printed);
    let json = f.sluice(&["l7", "check", "programs/l7/kv_prefix.l7", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let store = &value["files"][0]["applications"][0];
    assert_eq!((&value["passed"], &store["name"], &store["id"]), (&true.into(), &"store".into(), &2.into()));
    assert_eq!((&store["default"], &value["files"][0]["groups"][0]["field"]), (&"group others".into(), &1.into()));
}

#[test]
fn mistakes_of_all_files_are_shown_with_their_lines_and_exit_code_2() {
    let f = Folder::new();
    f.write("a.l7", "endpoint 0 -> queue 1\nraw x {\n    port 1\n    default drop\n    rule \"*a\" -> drop\n}\n");
    f.write("b.l7", "raw x { port 1 default\x1bdrop }\n");
    f.write("c.l7", [0x6d, 0xff]);
    let called = f.sluice(&["l7", "check", "a.l7", "programs/l7/lines.l7", "b.l7", "c.l7"]);
    assert_eq!(called.code, 2);
    assert!(called.out.starts_with("programs/l7/lines.l7: OK"), "{}", called.out);
    for words in ["error[E0852]", "a.l7:1:10", "error[E0856]", "a.l7:5:11", "error[E0850]", "b.l7:1:23", "c.l7:1:2"] {
        assert!(called.err.contains(words), "{words}:\n{}", called.err);
    }
    assert!(!called.err.contains('\x1b'), "what a terminal would obey is escaped");
    let called = f.sluice(&["l7", "check", "a.l7", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&called.out).unwrap();
    let second = &value["files"][0]["errors"][1];
    assert_eq!((called.code, &second["line"], &second["code"]), (2, &5.into(), &"E0856".into()));
    assert_eq!(f.sluice(&["l7", "check", "no.l7"]).code, 2);
    assert!(f.sluice(&["l7", "explain-match", "a.l7", "x=y"]).err.contains("error[E0852]"));
}

#[test]
fn check_refuses_rules_that_the_target_has_no_room_for() {
    let f = Folder::new();
    f.write("ports.l7", (1..=65).map(|port| format!("endpoint {port} -> queue 1\n")).collect::<String>());
    let words = (0..25).map(|n| format!("\"w{n}\"")).collect::<Vec<_>>().join(" | ");
    let fields = ["a", "b", "c"].map(|field| format!("{field} ~ {words}")).join(" and ");
    let message = format!("message m = 1 {{ field a = 1 field b = 2 field c = 3 rule r: {fields} -> queue 1 }}");
    f.write("ways.l7", format!("application x {{ port 1 id 1 default drop {message} }}\n"));
    for (file, code, words) in [
        ("ports.l7", "E0226", "found 65 UDP ports of l7, allowed: at most 32 on target default"),
        ("ways.l7", "E0870", "15625 combinations"),
    ] {
        let called = f.sluice(&["l7", "check", file, "programs/l7/lines.l7"]);
        assert_eq!(called.code, 2, "{}", called.err);
        assert!(
            called.err.contains(&format!("error[{code}]: {file}: ")) && called.err.contains(words),
            "{}",
            called.err
        );
        assert!(called.out.starts_with("programs/l7/lines.l7: OK"), "{}", called.out);
        let called = f.sluice(&["l7", "check", file, "--json"]);
        let value: serde_json::Value = serde_json::from_str(&called.out).unwrap();
        let file = &value["files"][0];
        assert_eq!((called.code, &file["passed"], &file["errors"][0]["code"]), (2, &false.into(), &code.into()));
    }
    let pings = ["l7", "check", "programs/l7/ping_pong_48.l7"];
    f.sluice(&pings).ok();
    let tiny = f.sluice(&[&pings[..], &["--target", "tiny"]].concat());
    assert!(tiny.code == 2 && tiny.err.contains("32 rows that are left of 32, on target tiny"), "{}", tiny.err);
}

#[test]
fn a_message_is_explained_rule_by_rule() {
    let f = Folder::new();
    let explain = |words: &[&str]| f.sluice(&[&["l7", "explain-match"], words].concat());
    let text = explain(&["programs/l7/course_reviews.l7", "course=/CS/Math", "student=/CA/20230117"]).ok();
    let expected = "reviews, message type review\n  rule a (line 11): does not match\n    student is \"/CA/20230117\"\n      \
                    \"/*/2024\" does not match: byte 7 is not that of \"2024\"\n  rule b (line 12): takes the message\n    \
                    student is \"/CA/20230117\"\n      \"/CA/\" matches its first 4 bytes\n    course is \"/CS/Math\"\n      \
                    \"/*/Math\" matches its first 8 bytes\n  -> queue 2, by rule b\n";
    assert_eq!(text, expected);
    let both = explain(&["programs/l7/course_reviews.l7", "1=/CA/2024", "2=/CS/Math", "type=1", "port=9000"]).ok();
    assert!(both.contains("rule b (line 12): matches, but one before it took the message"), "{both}");
    let json = explain(&["programs/l7/kv_prefix.l7", "type=get", "key=no\\x2a", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["rule"], &value["goal"]), (&serde_json::Value::Null, &"group others".into()));
    assert_eq!(
        (&value["rules"][0]["fields"][0]["value"], &value["rules"][0]["matched"]),
        (&"no\\*".into(), &false.into())
    );
    let slot = value["slot"].as_u64().unwrap();
    assert_eq!(value["queue"], 2 + slot % 2);
    let raw = explain(&["programs/l7/lines.l7", "payload=version\\r\\n"]).ok();
    assert!(raw.ends_with("-> queue 4, by rule version\n"), "{raw}");
    let endpoint = explain(&["programs/l7/course_reviews.l7", "application=endpoint 9001"]).ok();
    assert!(endpoint.ends_with("-> queue 3, no rule takes it\n"), "{endpoint}");
    let unlisted = explain(&["programs/l7/course_reviews.l7", "type=7", "1=/CA/2024"]).ok();
    assert!(
        unlisted.contains("no message type with rules") && unlisted.ends_with("queue 0, no rule takes it\n"),
        "{unlisted}"
    );
}

#[test]
fn each_packet_of_a_capture_is_explained_and_what_is_no_message_is_said() {
    let f = Folder::new();
    let call = ["l7", "explain-match", "programs/l7/course_reviews.l7", "--in", "programs/l7/course_reviews.pcap"];
    let text = f.sluice(&call).ok();
    let first: Vec<&str> = text.lines().filter(|line| line.starts_with("packet ")).collect();
    let expected = [
        "packet 0: reviews, message type review",
        "packet 1: reviews, message type review",
        "packet 2: reviews, message type review",
        "packet 3: reviews, packet 1 of 3 of message 2: follows its first",
        "packet 4: reviews, packet 2 of 3 of message 2: follows its first",
        "packet 5: reviews, message type review",
        "packet 6: endpoint 9001, no message type with rules",
        "packet 7: dropped, l7_malformed: malformed fields: byte 3 of the view: ",
        "packet 8: dropped, l7_no_app: the UDP port is known, the application ID is not",
        "packet 9: goes on as a frame: no application has its UDP port",
        "packet 10: dropped, l7_checksum: the UDP checksum is wrong",
    ];
    assert_eq!(first.len(), expected.len(), "{text}");
    first.iter().zip(expected).for_each(|(found, expected)| assert!(found.starts_with(expected), "{found}"));
    let json = f.sluice(&[&call[..], &["--json"]].concat()).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rules: Vec<_> = value["packets"].as_array().unwrap().iter().map(|p| p["match"]["rule"].as_str()).collect();
    let none = None;
    assert_eq!(rules[..6], [Some("a"), Some("b"), none, none, none, Some("a")]);
    assert_eq!(value["packets"][8]["reason"], "l7_no_app");
}

#[test]
fn a_message_that_the_rules_cannot_have_is_refused_with_what_they_can() {
    let f = Folder::new();
    f.write("two.l7", "application a { port 1 id 1 default drop } application b { port 1 id 2 default drop }");
    let reviews = "programs/l7/course_reviews.l7";
    let long = format!("student={}", "x".repeat(256));
    let halves = ["student=".to_string() + &"x".repeat(255), "course=".to_string() + &"x".repeat(254)];
    for (words, expected) in [
        (
            &[reviews, "studnet=/CA"][..],
            "`studnet=/CA`: expected a field by its number, 1 to 15, or one of student (1), course (2)",
        ),
        (&[reviews, "student"], "`student`: expected NAME=VALUE, as in"),
        (&[reviews, "student=a", "student=b"], "expected `student=` once"),
        (&[reviews, "student=a", "1=b"], "field 1 is given twice"),
        (&[reviews, "student=\\q"], "expected escapes"),
        (&[reviews, "type=256"], "expected 0 to 255, or one of review (1)"),
        (&[reviews, "port=77"], "it is for no application; expected one of `reviews` (port 9000)"),
        (&[reviews, "port=9001", "student=a"], "an endpoint looks at no fields"),
        (&[reviews, "msg_id=4294967296"], "expected a number up to 4294967295"),
        (&[reviews, &long], "has 256 bytes, expected at most 255"),
        (&[reviews, &halves[0], &halves[1]], "more than the 512 bytes"),
        (&["two.l7", "type=1"], "it is for more than one application"),
        (&["two.l7", "application=a", "x=y"], "no type, expected"),
        (&["programs/l7/lines.l7", "type=1"], "expected payload, application"),
    ] {
        let called = f.sluice(&[&["l7", "explain-match"], words].concat());
        assert_eq!(called.code, 2, "{words:?}");
        assert!(called.err.starts_with("error[E0860]: message: "), "{}", called.err);
        assert!(called.err.contains(expected), "{expected}: {}", called.err);
    }
}

#[test]
fn rules_become_rows_and_what_does_not_fit_is_refused() {
    let f = Folder::new();
    let text = f.sluice(&["l7", "compile", "programs/l7/ping_pong_2.l7", "--show"]).ok();
    assert!(text.starts_with("programs/l7/ping_pong_2.l7: rows 2, start rows 1, groups 0\n"), "{text}");
    assert!(text.contains("ping_pong_2, ") && text.contains("  0  "), "{text}");
    let json = f.sluice(&["l7", "compile", "programs/l7/ping_pong_48.l7", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["rows"], &value["applications"][0]["most_steps"]), (&48.into(), &48.into()));
    let refused = f.sluice(&["l7", "compile", "programs/l7/ping_pong_48.l7", "--rows", "16"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("error[E0871]") && refused.err.contains("more than the 16 rows"), "{}", refused.err);
    assert_eq!(f.sluice(&["l7", "compile", "programs/l7/urls.l7", "--rows", "0"]).code, 2);
}

const REVIEWS: &str = "programs/l7/course_reviews.l7";
const CAPTURE: &str = "programs/l7/course_reviews.pcap";

#[test]
fn packets_go_to_the_queues_of_their_rules() {
    let f = Folder::new();
    let text = f.sluice(&["l7", "run", REVIEWS, "--in", CAPTURE, "--packets"]).ok();
    for line in [
        "packet 0: queue 1, steps 2\n",
        "packet 1: queue 2, steps 6\n",
        "packet 6: queue 3\n",
        "packet 8: dropped, l7_no_app\n",
        "packet 9: goes on as a frame\n",
        "messages 4, steps 14\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
    let json = f.sluice(&["l7", "run", REVIEWS, "--in", CAPTURE, "--limit", "2", "--packets", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&value["packets"], &value["each"][1]["to"]), (&2.into(), &"queue 2".into()));
}

#[test]
fn messages_are_in_the_rings_of_their_queues() {
    let f = Folder::new();
    let text = f.sluice(&["l7", "run", REVIEWS, "--in", CAPTURE, "--packets", "--rings"]).ok();
    for line in
        ["packet 0: ring 1, steps 2\n", "packet 9: goes on as a frame\n", "in ring 3 of programs/l7/course_reviews.l7"]
    {
        assert!(text.contains(line), "{line}{text}");
    }
    let json = f.sluice(&["l7", "run", REVIEWS, "--in", CAPTURE, "--rings", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rings = value["rings"].as_array().unwrap();
    assert!(rings.iter().any(|m| m["packets"] == 3 && m["bytes"].as_u64() > Some(64)), "{json}");
}

#[test]
fn messages_are_in_the_same_rings_of_the_engine_in_rtl() {
    let f = Folder::new();
    let run = ["l7", "run", REVIEWS, "--in", CAPTURE, "--rings"];
    let of = |json: &str| {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let mut rings = value["rings"].as_array().unwrap().clone();
        // Messages may end in another order.
        rings.sort_by_key(|message| message.to_string());
        assert_eq!(value["ring_differences"], serde_json::json!([]), "{json}");
        rings
    };
    for target in ["tiny", "default"] {
        if !common::has_plugin(&format!("l7_{target}")) {
            continue;
        }
        let on =
            |device: &str| f.sluice(&[&run[..], &["--target", target, "--device", device, "--json"]].concat()).ok();
        let model = of(&on("model"));
        assert!(!model.is_empty() && of(&on("rtl")) == model && of(&on("both")) == model, "{model:?}");
        let text = f.sluice(&[&run[..], &["--target", target, "--device", "both", "--packets"]].concat()).ok();
        for line in
            ["packet 0: ring 1, steps 2, after ", "in ring 3 of programs/l7/course_reviews.l7", "model and RTL agree\n"]
        {
            assert!(text.contains(line), "{line}{text}");
        }
    }
}

#[test]
fn a_nic_keeps_messages_in_rings_and_says_how_many() {
    let f = Folder::new();
    let root = common::root().join("programs/l7");
    std::fs::copy(root.join("course_reviews.l7"), f.path("course_reviews.l7")).unwrap();
    let nic = "[device]\ntarget = \"default\"\n[[port]]\nnumber = 0\nuntagged = \"reviews\"\n[[tenant]]\nname = \"reviews\"\nid = 1\nvlans = [10]\n\
               object = \"course_reviews.l7\"\nqueues = { host3 = 128 }\n[[tenant.l7.ring]]\nqueue = 1\nbuffers = BUFFERS\nbytes = 4096\n";
    f.write("nic.toml", nic.replace("BUFFERS", "64"));
    let run = ["run", "--config", "nic.toml", "--in", &format!("port0={}", common::root().join(CAPTURE).display())];
    let text = f.sluice(&run).ok();
    assert!(text.contains("ring 1 of reviews: ") && text.contains("delivered + consumed + dropped"), "{text}");
    let json = f.sluice(&[&run[..], &["--json"]].concat()).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(value["rings"][0]["messages"].as_u64() > Some(0), "{json}");
    assert!(value["tenants"][1]["consumed"].as_u64() > Some(0), "{json}");
    // Messages of a packet, many more than buffers: each is posted again in time.
    let capture = std::fs::read(common::root().join(CAPTURE)).unwrap();
    let (head, first) = (&capture[..24], &capture[24..]);
    let length = u32::from_le_bytes(first[8..12].try_into().unwrap()) as usize;
    let mut many = head.to_vec();
    for id in 0..300u32 {
        let mut record = first[..16 + length].to_vec();
        record[16 + 40..16 + 42].fill(0);
        record[16 + 44..16 + 48].copy_from_slice(&id.to_be_bytes());
        many.extend(record);
    }
    f.write("many.pcap", many);
    f.write("nic.toml", nic.replace("BUFFERS", "4"));
    let json = f.sluice(&["run", "--config", "nic.toml", "--in", "port0=many.pcap", "--json"]).ok();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["rings"][0]["messages"].as_u64(), Some(300), "{json}");
    f.write("nic.toml", nic.replace("BUFFERS", "65"));
    let refused = f.sluice(&run);
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("buffers") && refused.err.contains("a power of two from 4 to 32768"),
        "{}",
        refused.err
    );
}

#[test]
fn what_no_tenant_has_and_what_does_not_fit_is_refused() {
    let f = Folder::new();
    let refused = |words: &[&str], what: &[&str]| {
        let called = f.sluice(&[&["l7", "run"], words].concat());
        assert_eq!(called.code, 2, "{}", called.err);
        what.iter().for_each(|word| assert!(called.err.contains(word), "{word}: {}", called.err));
    };
    refused(&[REVIEWS, "--in", CAPTURE, "--target", "huge"], &["--target huge", "default, tiny"]);
    refused(
        &["programs/l7/ping_pong_48.l7", "programs/l7/urls.l7", "--in", CAPTURE, "--target", "tiny"],
        &["error[E0871]: programs/l7/ping_pong_48.l7", "more than the 32 rows"],
    );
    // A frame with VLAN ID 2, and one file of rules.
    let mut capture = std::fs::read(common::root().join(CAPTURE)).unwrap();
    let ethertype = 24 + 16 + 12;
    capture[ethertype..ethertype + 4].copy_from_slice(&[0x81, 0x00, 0x00, 0x02]);
    f.write("tagged.pcap", capture);
    refused(&[REVIEWS, "--in", "tagged.pcap"], &["packet 0: VLAN ID 2, expected 1 to 1"]);
}

#[test]
fn the_engine_in_rtl_and_the_model_agree() {
    for target in ["tiny", "default"] {
        if !common::has_plugin(&format!("l7_{target}")) {
            continue;
        }
        let f = Folder::new();
        let text = f.sluice(&["l7", "run", REVIEWS, "--in", CAPTURE, "--target", target, "--device", "both"]).ok();
        assert!(text.contains("model and RTL agree\n") && text.contains("decided after "), "{text}");
    }
}

#[test]
fn secrets_are_new_ones_each_time_and_the_seeds_own_with_a_seed() {
    let f = Folder::new();
    let ring = |more: &[&str]| {
        let call = [&["object", "ring", "--config", "programs/l7/nic.toml"][..], more].concat();
        f.sluice(&call).ok()
    };
    assert_eq!(ring(&["--seed", "3"]), ring(&["--seed", "3"]));
    assert_ne!(ring(&["--seed", "3"]), ring(&["--seed", "4"]));
    assert_ne!(ring(&[]), ring(&[]));
    // The description may have a seed; the command line's counts before it.
    let file = std::fs::read_to_string(f.path("programs/l7/nic.toml")).unwrap();
    let file = file.replace("watchdog = 100000", "seed = 3");
    f.write(
        "seeded.toml",
        ["course_reviews", "kv_prefix", "lines"]
            .iter()
            .fold(file, |file, name| file.replace(&format!("\"{name}.l7"), &format!("\"programs/l7/{name}.l7"))),
    );
    let seeded = |more: &[&str]| f.sluice(&[&["object", "ring", "--config", "seeded.toml"], more].concat()).ok();
    assert_eq!(seeded(&[]), seeded(&[]));
    assert_ne!(seeded(&[]), seeded(&["--seed", "4"]));
}
