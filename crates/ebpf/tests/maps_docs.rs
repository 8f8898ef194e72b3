//! The pages of the codes that maps give: each wrong example gives its code, each right one does not.

use sluice_ebpf::map::{MapError, file, notation};
use sluice_ebpf::{MapId, MapSpace, MapSpec, MapType};

fn examples(code: &str) -> (String, String) {
    let (_, page) = sluice_ebpf::codes::codes().iter().find(|(c, _)| *c == code).expect("the code is listed");
    assert!(page.starts_with(&format!("# {code}: ")));
    let mut blocks = page.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').expect("a block").1);
    let both = (blocks.next().expect("wrong").to_owned(), blocks.next().expect("right").to_owned());
    assert_eq!(blocks.next(), None, "{code}");
    both
}

fn spec(kind: MapType, key_size: u32, value_size: u32, max_entries: u32) -> MapSpec {
    MapSpec::new("example", kind, key_size, value_size, max_entries)
}

fn create(spec: &MapSpec) -> Result<MapId, MapError> {
    MapSpace::new(2).create(spec)
}

#[test]
fn declarations_on_the_pages_give_their_codes() {
    let code = |spec: &MapSpec| create(spec).err().map(|e| e.code());
    let ring = |entries| spec(MapType::Ringbuf, 0, 0, entries);
    assert_eq!((code(&ring(5000)), code(&ring(8192))), (Some("E0430"), None));

    let trie = spec(MapType::LpmTrie, 8, 8, 1024);
    assert_eq!((code(&trie), code(&MapSpec { flags: 1, ..trie.clone() })), (Some("E0431"), None));

    let flows = |entries, bytes| spec(MapType::Hash, 4, bytes, entries);
    assert_eq!((code(&flows(1 << 24, 72)), code(&flows(1 << 22, 64))), (Some("E0432"), None));

    let tables = spec(MapType::ArrayOfMaps, 4, 4, 8);
    let held = MapSpec { inner: Some(Box::new(spec(MapType::Hash, 4, 8, 64))), ..tables.clone() };
    assert_eq!((code(&tables), code(&held)), (Some("E0433"), None));
    let twice = MapSpec { inner: Some(Box::new(held)), ..tables };
    assert_eq!(code(&twice), Some("E0433"));

    let locked = |kind| MapSpec { spin_lock: Some(0), ..spec(kind, 4, 8, 1) };
    assert_eq!((code(&locked(MapType::PercpuArray)), code(&locked(MapType::Array))), (Some("E0434"), None));
    for code in ["E0430", "E0431", "E0432", "E0433", "E0434"] {
        examples(code);
    }
}

#[test]
fn notation_on_the_pages_gives_its_codes() {
    let (wrong, right) = examples("E0435");
    assert_eq!(notation::items(wrong.trim()).map_err(|e| e.code()), Err("E0435"));
    assert!(notation::items(right.trim()).is_ok());

    let (wrong, right) = examples("E0436");
    let hash = spec(MapType::Hash, 4, 1, 1);
    let parse = |text: &str| notation::Words::parse(&text.split_whitespace().collect::<Vec<_>>(), &hash, 2);
    assert_eq!(parse(&wrong).map_err(|e| e.code()), Err("E0436"));
    assert!(parse(&right).is_ok());

    let (wrong, right) = examples("E0437");
    let mut maps = MapSpace::new(2);
    let map = maps.create(&spec(MapType::Hash, 4, 3, 8)).expect("a right declaration");
    let mut read = |text: &str| file::read(&mut maps, map, text, &|_| None).map_err(|e| e.code());
    assert_eq!((read(&wrong), read(&right)), (Err("E0437"), Ok(1)));
}

#[test]
fn the_design_page_has_every_kind_with_its_class() {
    let page = include_str!("../../../docs/design/xdp-maps.md");
    for kind in MapType::ALL {
        let name = match kind {
            MapType::PercpuHash => "per-CPU hash".to_owned(),
            MapType::PercpuArray => "per-CPU array".to_owned(),
            MapType::LruHash => "LRU hash, LRU per-CPU hash".to_owned(),
            MapType::LruPercpuHash => "LRU hash, LRU per-CPU hash".to_owned(),
            MapType::LpmTrie => "LPM trie".to_owned(),
            MapType::ProgArray => "program array".to_owned(),
            MapType::Ringbuf => "ring buffer".to_owned(),
            kind => kind.name().replace('_', " "),
        };
        let class = serde_json::to_value(sluice_ebpf::map::class(kind)).expect("a name");
        let class = class.as_str().expect("a string").replace('_', "-");
        assert!(page.contains(&format!("\n| {name} | {class} |")), "{name} {class}");
    }
}
