//! Reads a routes file.

use super::error::{Mistake, RoutesError};
use super::line::{Line, Word};
use super::{DEFAULT, Kind, LOCAL, Link, MAIN, MAX_ENTRIES, Route, Routes, bits, mask};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Metric of an IPv6 route that names none.
const IPV6_METRIC: u32 = 1024;
/// MTU of a link that names none.
const MTU: u32 = 1500;
/// States of `ip neigh`; those that hold an address that may be used are valid.
const STATES: [(&str, bool); 9] = [
    ("PERMANENT", true),
    ("NOARP", true),
    ("REACHABLE", true),
    ("STALE", true),
    ("DELAY", true),
    ("PROBE", true),
    ("INCOMPLETE", false),
    ("FAILED", false),
    ("NONE", false),
];
/// Attributes of a route that change nothing here, with a word behind them.
const IGNORED_PAIRS: [&str; 8] = ["proto", "scope", "advmss", "hoplimit", "error", "weight", "realm", "expires"];
/// Attributes of a route that change nothing here, alone.
const IGNORED: [&str; 5] = ["onlink", "offload", "trap", "linkdown", "pervasive"];

/// What is read before every name is known.
struct Reader<'a> {
    routes: Routes,
    names: BTreeMap<String, u32>,
    pending: Vec<(IpAddr, u8, Route, Option<Word<'a>>)>,
    neighbours: Vec<(Word<'a>, IpAddr, Option<[u8; 6]>, Word<'a>)>,
    forwarding: Vec<(Word<'a>, [bool; 2])>,
    /// The link that lines of `ip link` and `ip addr` go on with.
    current: Option<u32>,
}

impl Routes {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, RoutesError> {
        Self::parse_with(&[], text)
    }

    /// Reads a file; `links` are known before, and lines of the file may declare them anew.
    pub fn parse_with(links: &[Link], text: &str) -> Result<Self, RoutesError> {
        let mut reader = Reader {
            routes: Routes::default(),
            names: BTreeMap::new(),
            pending: Vec::new(),
            neighbours: Vec::new(),
            forwarding: Vec::new(),
            current: None,
        };
        for (number, line) in text.lines().enumerate() {
            let line = line.split_once('#').map_or(line, |(before, _)| before);
            let mut line = Line::new(number + 1, line);
            if let Some(first) = line.peek() {
                if reader.routes.entries == MAX_ENTRIES {
                    return Err(first.error(Mistake::TooMany, &format!("at most {MAX_ENTRIES} entries")));
                }
                reader.routes.entries += 1;
                reader.line(&mut line)?;
            }
        }
        for link in links {
            if !reader.names.contains_key(&link.name) && !reader.routes.links.contains_key(&link.index) {
                reader.routes.entries += 1;
                reader.names.insert(link.name.clone(), link.index);
                reader.routes.links.insert(link.index, link.clone());
            }
        }
        reader.finish()
    }
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &mut Line<'a>) -> Result<(), RoutesError> {
        let first = line.expect("a statement")?;
        match first.text {
            "link" => return self.link(line),
            "forwarding" => {
                let name = line.expect("an interface")?;
                let forwarding = forwarding(line)?;
                self.forwarding.push((name, forwarding));
                return no_more(line);
            }
            "neigh" => {
                let to = line.expect("the neighbour's address")?;
                return self.neighbour(to, line);
            }
            "route" => {
                let first = line.expect("a prefix")?;
                return self.route(first, line);
            }
            "inet" | "inet6" => return self.address(first, line),
            text if text.starts_with("link/") => return self.link_layer(first, line),
            // Counters and lifetimes of `ip -s` and `ip addr`.
            "valid_lft" | "RX:" | "TX:" | "altname" => return Ok(()),
            _ => {}
        }
        if first.text.ends_with(':') && first.text[..first.text.len() - 1].bytes().all(|b| b.is_ascii_digit()) {
            return self.shown_link(first, line);
        }
        let mut rest = line.clone();
        let is_neighbour =
            std::iter::from_fn(|| rest.next()).any(|w| w.text == "lladdr" || STATES.iter().any(|s| s.0 == w.text));
        if is_neighbour { self.neighbour(first, line) } else { self.route(first, line) }
    }

    /// `link NAME index N [address MAC] [mtu N] [forwarding on|off|ipv4|ipv6]`.
    fn link(&mut self, line: &mut Line<'a>) -> Result<(), RoutesError> {
        let name = line.expect("the interface's name")?;
        let (mut link, mut seen) = (self.new_link(name.text), Vec::new());
        while let Some(word) = line.next() {
            once(&mut seen, word.text, &word)?;
            match word.text {
                "index" => link.index = line.expect("a number")?.number(1, i32::MAX as u32)?,
                "address" => link.address = line.expect("a MAC address")?.mac()?,
                "mtu" => link.mtu = line.expect("a number")?.number(68, u32::MAX)?,
                "forwarding" => link.forwarding = forwarding(line)?,
                _ => return Err(word.error(Mistake::Word, "`index`, `address`, `mtu` or `forwarding`")),
            }
        }
        if link.index == 0 {
            return Err(line.missing("`index N`"));
        }
        self.add_link(name, link)
    }

    /// `2: eth1@if3: <...> mtu 1500 ...`, as `ip link` and `ip addr` print it; or the one-line form
    /// of `ip -oneline addr`, `2: eth1    inet ...`.
    fn shown_link(&mut self, number: Word<'a>, line: &mut Line<'a>) -> Result<(), RoutesError> {
        let index = Word { text: number.text.trim_end_matches(':'), ..number }.number(1, i32::MAX as u32)?;
        let name = line.expect("the interface's name")?;
        if let Some(family) = line.peek().filter(|w| matches!(w.text, "inet" | "inet6")) {
            line.next();
            self.current = Some(index);
            return self.address(family, line);
        }
        let plain = name.text.trim_end_matches(':');
        let plain = plain.split_once('@').map_or(plain, |(name, _)| name);
        let mut link = self.new_link(plain);
        link.index = index;
        while let Some(word) = line.next() {
            match word.text {
                "mtu" => link.mtu = line.expect("a number")?.number(0, u32::MAX)?,
                "link/ether" => link.address = line.expect("a MAC address")?.mac()?,
                _ => {}
            }
        }
        self.current = Some(index);
        self.add_link(Word { text: plain, ..name }, link)
    }

    /// `link/ether MAC brd MAC` behind an interface's first line.
    fn link_layer(&mut self, kind: Word<'a>, line: &mut Line<'a>) -> Result<(), RoutesError> {
        let link = self.current.and_then(|index| self.routes.links.get_mut(&index));
        let link = link.ok_or_else(|| kind.error(Mistake::Word, "behind the line of an interface only"))?;
        if kind.text == "link/ether" {
            link.address = line.expect("a MAC address")?.mac()?;
        }
        Ok(())
    }

    /// `inet 10.0.0.1/8 ...` behind an interface: an address of its own.
    fn address(&mut self, family: Word<'a>, line: &mut Line<'a>) -> Result<(), RoutesError> {
        let link = self.current.and_then(|index| self.routes.links.get_mut(&index));
        let link = link.ok_or_else(|| family.error(Mistake::Word, "behind the line of an interface only"))?;
        let word = line.expect("an address with its prefix length")?;
        let (address, length) = word.prefix()?;
        if address.is_ipv6() != (family.text == "inet6") {
            return Err(word.error(Mistake::Value, &format!("an address of family {}", family.text)));
        }
        // An address of scope host is no source for packets that leave.
        let mut rest = line.clone();
        let host = std::iter::from_fn(|| rest.next()).skip_while(|w| w.text != "scope").nth(1);
        if host.is_none_or(|w| w.text != "host") {
            link.addresses.push((address, length));
        }
        let interface = link.index;
        // The kernel's table `local` has each own address.
        let local = Route { kind: Kind::Local, table: LOCAL, interface, ..plain_route(address.is_ipv6()) };
        self.pending.push((address, if address.is_ipv6() { 128 } else { 32 }, local, None));
        Ok(())
    }

    /// `[neigh] ADDRESS dev NAME [lladdr MAC] [router] [STATE]`.
    fn neighbour(&mut self, to: Word<'a>, line: &mut Line<'a>) -> Result<(), RoutesError> {
        let address = to.address()?;
        let (mut dev, mut mac, mut valid, mut seen) = (None, None, true, Vec::new());
        while let Some(word) = line.next() {
            match word.text {
                "dev" => {
                    once(&mut seen, word.text, &word)?;
                    dev = Some(line.expect("an interface")?);
                }
                "lladdr" => {
                    once(&mut seen, word.text, &word)?;
                    mac = Some(line.expect("a MAC address")?.mac()?);
                }
                "proto" => drop(line.expect("a name")?),
                "nud" | "router" | "extern_learn" | "proxy" | "managed" | "offload" => {}
                text => match STATES.iter().find(|s| s.0.eq_ignore_ascii_case(text)) {
                    Some(state) => {
                        once(&mut seen, "state", &word)?;
                        valid = state.1;
                    }
                    None => return Err(word.error(Mistake::Word, "`dev`, `lladdr` or a state such as REACHABLE")),
                },
            }
        }
        let dev = dev.ok_or_else(|| line.missing("`dev NAME`"))?;
        if mac.is_none() && valid {
            return Err(line.missing("`lladdr MAC`, or a state without one such as FAILED"));
        }
        self.neighbours.push((to, address, mac.filter(|_| valid), dev));
        Ok(())
    }

    /// `[KIND] PREFIX [via [inet6] ADDRESS] [dev NAME] [metric N] [table T] [src A] [mtu lock N] ...`.
    fn route(&mut self, first: Word<'a>, line: &mut Line<'a>) -> Result<(), RoutesError> {
        let kind = match first.text {
            "unicast" => Some(Kind::Unicast),
            "local" | "broadcast" | "multicast" | "anycast" => Some(Kind::Local),
            "blackhole" => Some(Kind::Blackhole),
            "unreachable" => Some(Kind::Unreachable),
            "prohibit" => Some(Kind::Prohibit),
            "throw" => Some(Kind::Throw),
            _ => None,
        };
        let to = if kind.is_some() { line.expect("a prefix")? } else { first };
        let default = to.text == "default";
        let prefix = if default {
            None
        } else if to.text.contains(['.', ':']) {
            let (address, length) = to.prefix()?;
            if bits(address) & !mask(length, address.is_ipv6()) != 0 {
                return Err(to.error(Mistake::Value, "a prefix with zeros behind its length"));
            }
            Some((address, length))
        } else {
            let allowed = "a prefix, `default`, `link`, `neigh`, `route`, `forwarding` or a kind such as `blackhole`";
            return Err(to.error(Mistake::Word, allowed));
        };
        let mut route = plain_route(false);
        route.kind = kind.unwrap_or(Kind::Unicast);
        let own = matches!(first.text, "local" | "broadcast" | "anycast");
        let (mut metric, mut dev) = (None, None);
        route.table = if own { LOCAL } else { MAIN };
        let (mut pref, mut dead) = (false, false);
        let mut seen = Vec::new();
        while let Some(word) = line.next() {
            once(&mut seen, word.text, &word)?;
            match word.text {
                "via" => {
                    let mut gateway = line.expect("an address")?;
                    if matches!(gateway.text, "inet" | "inet6") {
                        gateway = line.expect("an address")?;
                    }
                    route.gateway = Some(gateway.address()?);
                }
                "dev" => dev = Some(line.expect("an interface")?),
                "metric" => metric = Some(line.expect("a number")?.number(0, u32::MAX)?),
                "table" => route.table = table_number(line.expect("a table")?)?,
                "src" => route.source = Some(line.expect("an address")?.address()?),
                "tos" => route.tos = line.expect("a number")?.number(0, 255)? as u8,
                "mtu" => {
                    let mut value = line.expect("a number")?;
                    let locked = value.text == "lock";
                    if locked {
                        value = line.expect("a number")?;
                    }
                    let mtu = value.number(0, u32::MAX)?;
                    route.mtu = Some(mtu).filter(|_| locked);
                }
                // Only IPv6 routes have it.
                "pref" => {
                    line.expect("a value")?;
                    pref = true;
                }
                // The kernel passes over routes whose interface is down.
                "dead" => dead = true,
                text if IGNORED_PAIRS.contains(&text) => drop(line.expect("a value")?),
                text if IGNORED.contains(&text) => {}
                "nexthop" | "nhid" => return Err(word.error(Mistake::Word, "routes with one next hop")),
                "encap" => return Err(word.error(Mistake::Word, "routes without encapsulation")),
                _ => {
                    let allowed = "`via`, `dev`, `metric`, `table`, `src`, `tos`, `mtu`, `proto`, `scope` or `pref`";
                    return Err(word.error(Mistake::Word, allowed));
                }
            }
        }
        let v6 = match (prefix, route.gateway, route.source) {
            (Some((address, _)), ..) => address.is_ipv6(),
            // `default` is of the family of its next hop or source, else IPv4.
            (None, a, b) => pref || b.or(a).is_some_and(|a| a.is_ipv6()),
        };
        if v6 && (route.gateway.is_some_and(|a| a.is_ipv4())) {
            return Err(to.error(Mistake::Value, "an IPv6 route with an IPv6 next hop"));
        }
        if route.source.is_some_and(|a| a.is_ipv6() != v6) {
            return Err(to.error(Mistake::Value, "a source address of the route's family"));
        }
        if dev.is_none() && route.kind == Kind::Unicast {
            return Err(line.missing("`dev NAME`"));
        }
        route.metric = metric.unwrap_or(if v6 { IPV6_METRIC } else { 0 });
        let zero = if v6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
        let (address, length) = prefix.unwrap_or((zero, 0));
        if dead {
            return Ok(());
        }
        self.pending.push((address, length, route, dev));
        Ok(())
    }

    fn new_link(&self, name: &str) -> Link {
        Link { name: name.into(), index: 0, address: [0; 6], mtu: MTU, forwarding: [true, true], addresses: Vec::new() }
    }

    fn add_link(&mut self, name: Word<'a>, link: Link) -> Result<(), RoutesError> {
        let twice = self.names.contains_key(&link.name) || self.routes.links.contains_key(&link.index);
        if twice {
            return Err(name.error(Mistake::Twice, "each name and index once"));
        }
        self.names.insert(link.name.clone(), link.index);
        self.routes.links.insert(link.index, link);
        Ok(())
    }

    fn interface(&self, name: Word<'_>) -> Result<u32, RoutesError> {
        self.names.get(name.text).copied().ok_or_else(|| {
            let known: Vec<&str> = self.names.keys().take(8).map(String::as_str).collect();
            let known = if known.is_empty() { "none is".into() } else { format!("these are: {}", known.join(", ")) };
            name.error(Mistake::Interface, &format!("an interface that a `link` line declares ({known})"))
        })
    }

    /// Every name is known now.
    fn finish(mut self) -> Result<Routes, RoutesError> {
        for (address, length, mut route, dev) in std::mem::take(&mut self.pending) {
            route.interface = match dev {
                None => route.interface,
                // What is not forwarded may name interfaces that are not here, such as `lo`.
                Some(dev) if route.kind != Kind::Unicast => self.names.get(dev.text).copied().unwrap_or(0),
                Some(dev) => self.interface(dev)?,
            };
            self.routes.add_route(address, length, route);
        }
        for (name, forwarding) in std::mem::take(&mut self.forwarding) {
            let index = self.interface(name)?;
            if let Some(link) = self.routes.links.get_mut(&index) {
                link.forwarding = forwarding;
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        for (at, address, mac, dev) in std::mem::take(&mut self.neighbours) {
            let interface = self.interface(dev)?;
            if !seen.insert((interface, address)) {
                return Err(at.error(Mistake::Twice, "each neighbour of an interface once"));
            }
            if let Some(mac) = mac {
                self.routes.neighbours.insert((interface, address), mac);
            }
        }
        Ok(self.routes)
    }
}

/// That a line has not said this before.
fn once<'a>(seen: &mut Vec<&'a str>, said: &'a str, word: &Word<'_>) -> Result<(), RoutesError> {
    if seen.contains(&said) {
        return Err(word.error(Mistake::Twice, "once in a line"));
    }
    seen.push(said);
    Ok(())
}

/// `on`, `off`, `ipv4` or `ipv6`: which packets that came in are forwarded.
fn forwarding(line: &mut Line<'_>) -> Result<[bool; 2], RoutesError> {
    let allowed = "`on`, `off`, `ipv4` or `ipv6`";
    let value = line.expect(allowed)?;
    match value.text {
        "on" => Ok([true, true]),
        "off" => Ok([false, false]),
        "ipv4" => Ok([true, false]),
        "ipv6" => Ok([false, true]),
        _ => Err(value.error(Mistake::Word, allowed)),
    }
}

fn no_more(line: &mut Line<'_>) -> Result<(), RoutesError> {
    line.next().map_or(Ok(()), |word| Err(word.error(Mistake::Word, "nothing more")))
}

fn plain_route(v6: bool) -> Route {
    Route {
        kind: Kind::Unicast,
        table: MAIN,
        interface: 0,
        gateway: None,
        metric: if v6 { IPV6_METRIC } else { 0 },
        mtu: None,
        source: None,
        tos: 0,
    }
}

fn table_number(word: Word<'_>) -> Result<u32, RoutesError> {
    match word.text {
        "local" => Ok(LOCAL),
        "main" => Ok(MAIN),
        "default" => Ok(DEFAULT),
        _ => word.number(1, u32::MAX),
    }
}
