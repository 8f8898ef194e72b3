//! Notation, map files, saved maps and routes of noise: no panic, no hang, no unbounded memory. `SLUICE_FUZZ_SECONDS` makes
//! it longer.

use arbtest::arbitrary::{Result, Unstructured};
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::map::{file, notation};
use sluice_ebpf::state::State;
use sluice_ebpf::{MapSpace, MapSpec, MapType};

fn fuzz(name: &str, mut property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("{name}: {seconds} s; arbtest prints the seed of a failure");
    let mut inputs = 0u64;
    arbtest::arbtest(|u| {
        inputs += 1;
        property(u)
    })
    .budget_ms(1000 * seconds)
    .run();
    println!("fuzz: {inputs} inputs");
}

/// Text of the pieces that such files have, and of others.
fn text(u: &mut Unstructured<'_>, pieces: &[&str]) -> Result<String> {
    let mut text = String::new();
    while !u.is_empty() && text.len() < 4096 {
        match u.int_in_range(0..=9)? {
            0 => text.push(char::from(u.arbitrary::<u8>()?)),
            1 => text.push_str(&u.arbitrary::<u64>()?.to_string()),
            2 => text.push_str(&u.arbitrary::<u8>()?.to_string()),
            _ => text.push_str(u.choose::<&str>(pieces)?),
        }
    }
    Ok(text)
}

fn maps(kind: MapType) -> (MapSpace, sluice_ebpf::MapId) {
    let spec = MapSpec::new("fuzz", kind, 4, 4, 8);
    let mut maps = MapSpace::new(2);
    let map = maps.create(&spec).expect("a right declaration");
    (maps, map)
}

const ITEMS: &[&str] = &[
    "u8:", "u16:", "u32:", "u64:", "be16:", "be32:", "be64:", "ip:", "10.0.0.1", "ip6:", "fd00::1", "mac:", "02:00:",
    "hex:", "00ff", "zero:", "4", "map:", "sum:", ",", ",", ",", "0x", "1", "|", "\u{e9}",
];

#[test]
fn fuzz_map_items() {
    fuzz("fuzz_map_items", |u| {
        let text = text(u, ITEMS)?;
        if let Err(error) = notation::Written::parse(&text) {
            assert!((1..=text.chars().count() + 1).contains(&error.column()), "{text:?}: {error}");
            assert!(error.to_string().len() < 600, "{error}");
        }
        if let Ok(bytes) = notation::items(&text) {
            assert_eq!(notation::items(&notation::hex_item(&bytes)), Ok(bytes));
        }
        Ok(())
    });
}

#[test]
fn fuzz_map_words() {
    let pieces = ["key ", "value ", "hex ", "0x1f ", "255 ", "010 ", "any ", "noexist ", "exist ", "name ", "x ", " "];
    fuzz("fuzz_map_words", |u| {
        let text = text(u, &pieces)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let (maps, map) = maps(*u.choose(&[MapType::Hash, MapType::PercpuHash])?);
        let spec = maps.spec(map).expect("it is there");
        if let Ok(read) = notation::Words::parse(&words, spec, maps.cpus()) {
            assert!(read.key.is_none_or(|key| key.len() == 4));
        }
        Ok(())
    });
}

#[test]
fn fuzz_map_files() {
    let lines: Vec<&str> = ITEMS.iter().copied().chain([" ", "\n", "#", " u32:7\n", "u32:1 ", "noexist"]).collect();
    let json = [
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"key\":",
        "\"value\":",
        "\"values\":",
        "\"cpu\":",
        "[1,2,3,4]",
        "\"0x1f\"",
        "\n",
        "{\"key\":[1,0,0,0],\"value\":[1,2,3,4]}",
        "null",
        "\"formatted\":",
    ];
    fuzz("fuzz_map_files", |u| {
        let text = if u.arbitrary()? { text(u, &lines)? } else { format!("[{}", text(u, &json)?) };
        let (mut maps, map) = maps(*u.choose(&[MapType::Hash, MapType::PercpuHash, MapType::Array])?);
        match file::read(&mut maps, map, &text, &|_| None) {
            Err(error) => assert!(error.line <= text.lines().count() + 1, "{text:?}: {error}"),
            Ok(_) => {
                let written = file::write(&maps, map).expect("readable");
                let (mut again, other) = self::maps(maps.spec(map).expect("it is there").kind);
                assert!(file::read(&mut again, other, &written, &|_| None).is_ok(), "{written}");
                let sorted = |text: String| {
                    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
                    lines.sort();
                    lines
                };
                assert_eq!(sorted(file::write(&again, other).expect("readable")), sorted(written));
            }
        }
        Ok(())
    });
}

#[test]
fn fuzz_saved_maps() {
    let good = State::of(&maps(MapType::Hash).0).to_json();
    let cuts: Vec<usize> = good.char_indices().map(|(at, _)| at).collect();
    let pieces = ["0", "7", "\"", "4294967295", "-1", "null", "[]", "{", "hash_of_maps", "lpm_trie", "00000000", "é"];
    fuzz("fuzz_saved_maps", |u| {
        let mut text = good.clone();
        for _ in 0..u.int_in_range(1..=4)? {
            let at = *u.choose(&cuts)?;
            let at = (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let rest = text.split_off(at);
            text.push_str(u.choose::<&str>(&pieces)?);
            let skip = u.int_in_range(0..=3)?;
            text.extend(rest.chars().skip(skip));
        }
        if let Ok((space, ids)) = State::from_json(&text).and_then(|state| state.restore()) {
            assert_eq!(space.ids(), ids);
        }
        Ok(())
    });
}

#[test]
fn fuzz_routes() {
    let pieces = [
        "10.0.0.0/8 ",
        "default ",
        "via ",
        "dev ",
        "eth0 ",
        "neigh ",
        "link ",
        "index ",
        "2 ",
        "lladdr ",
        "mtu ",
        "fd00::/8 ",
        "02:00:00:00:00:01 ",
        "blackhole ",
        "forwarding ",
        "on ",
        "table ",
        "metric ",
        "src ",
        "\n",
        "\n",
        "#",
        "link eth0 index 2\n",
    ];
    fuzz("fuzz_routes", |u| {
        let text = text(u, &pieces)?;
        if let Err(error) = Routes::parse(&text) {
            assert!(error.line <= text.lines().count() + 1, "{text:?}: {error}");
        }
        Ok(())
    });
}
