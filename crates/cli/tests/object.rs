//! `sluice object`: both forms, there and back.

mod common;

use common::Folder;

#[test]
fn json_to_binary_and_back_is_the_same_object() {
    let folder = Folder::new();
    for name in ["red", "red-2", "green", "blue"] {
        let json = format!("programs/nic/{name}.json");
        folder.sluice(&["object", "build", &json, "-o", "out/object.slob"]).ok();
        let binary = folder.sluice(&["object", "show", "out/object.slob"]).ok();
        assert_eq!(binary, folder.sluice(&["object", "show", &json]).ok());
        let long = folder.sluice(&["object", "show", "out/object.slob", "--json"]).ok();
        folder.write("again.json", &long);
        folder.sluice(&["object", "build", "again.json", "-o", "again.slob"]).ok();
        let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert_eq!(bytes("out/object.slob"), bytes("again.slob"));
    }
}

#[test]
fn show_has_every_entry_in_words() {
    let text = Folder::new().sluice(&["object", "show", "programs/nic/green.json"]).ok();
    assert!(text.contains("key      five_tuple src dst protocol"), "{text}");
    assert!(text.contains("src=10.0.0.12 dst=10.0.0.3 protocol=6"), "{text}");
    assert!(text.contains("symbol   backend-a = port2"), "{text}");
}
