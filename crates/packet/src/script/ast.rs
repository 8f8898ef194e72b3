//! What a packet script says. Plain data: no device and no object format is known here.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use crate::mac::MacAddr;
use crate::notation::Pattern;
use crate::text::Position;

/// A parsed packet script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// Name of the file.
    pub file: String,
    /// Its statements, in order.
    pub statements: Vec<Statement>,
}

impl Script {
    /// What it seeds, wherever it says so.
    pub fn seed(&self) -> Option<u64> {
        self.statements.iter().find_map(|statement| match statement.command {
            Command::Seed(seed) => Some(seed),
            _ => None,
        })
    }
}

/// One statement and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Where it begins.
    pub position: Position,
    /// Its text, without comment, for messages.
    pub text: String,
    /// What it says.
    pub command: Command,
}

/// What a statement says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The target that the script is for.
    Device(Target),
    /// Seed of whatever is random in the run.
    Seed(u64),
    /// Settings of the NIC, handed on as they are.
    Nic(Vec<Setting>),
    /// Declares a tenant.
    Tenant(Tenant),
    /// Loads a tenant's object from a file, which is named relative to the script.
    Load {
        /// The tenant.
        tenant: String,
        /// The file.
        file: PathBuf,
    },
    /// Declares a tenant's table.
    Table(Table),
    /// Begins an update of a tenant's table, invisible until its commit.
    Begin {
        /// The tenant.
        tenant: String,
        /// Whether the update starts from an empty table rather than from the present one.
        replace: bool,
    },
    /// Adds an entry, or changes the action of the entry with that key.
    Add {
        /// The tenant.
        tenant: String,
        /// The key.
        key: Key,
        /// The action.
        action: Action,
    },
    /// Deletes an entry.
    Del {
        /// The tenant.
        tenant: String,
        /// The key.
        key: Key,
    },
    /// Makes an update visible, at once and whole.
    Commit {
        /// The tenant.
        tenant: String,
    },
    /// Loads a tenant's XDP program, or puts it in place of what runs.
    Xdp(Xdp),
    /// `rmt NAME FILE [keep]`: the tenant's module, hitlessly in the place of what runs.
    Rmt(Rmt),
    /// `entry NAME add|change|remove|setdefault ...`: an entry of a table of the tenant's P4 program.
    Entry {
        /// The tenant.
        tenant: String,
        /// What is done, as in a file of entries.
        entry: String,
    },
    /// `rules NAME FILE`: the tenant's rules for dispatch, hitlessly, beside what runs and in the place of rules before.
    Rules {
        /// The tenant.
        tenant: String,
        /// The file, relative to the script.
        file: PathBuf,
    },
    /// Reads, writes or deletes an entry of a map of the tenant's program.
    Map(MapStatement),
    /// Routes and neighbours of the tenant's program, from a file named relative to the script.
    Routes {
        /// The tenant.
        tenant: String,
        /// The file.
        file: PathBuf,
    },
    /// Expects the next event that the tenant's program gave to a map.
    Event {
        /// The tenant.
        tenant: String,
        /// The map.
        map: String,
        /// Its bytes, as items.
        bytes: String,
    },
    /// Offers packets to a port.
    Send(Send),
    /// Expects packets at a destination.
    Expect {
        /// Where.
        destination: Destination,
        /// Queue that the program asked for; behind dispatch the tenant's queue. None is any.
        queue: Option<u8>,
        /// How many, one after the other.
        count: u64,
        /// What they are.
        pattern: Pattern,
    },
    /// Opens or closes the ring of a tenant's queue, or posts buffers to it.
    Ring {
        /// The tenant.
        tenant: String,
        /// His queue.
        queue: u8,
        /// What is done.
        operation: RingOperation,
    },
    /// Expects messages in buffers of a ring.
    ExpectMessage {
        /// The tenant.
        tenant: String,
        /// His queue.
        queue: u8,
        /// How many, one after the other.
        count: u64,
        /// What they are; None: they were given up.
        pattern: Option<Pattern>,
    },
    /// Expects that nothing is left: no packet, no message and no drop that was not expected.
    ExpectNone,
    /// Expects dropped packets.
    Drop {
        /// How many.
        count: u64,
        /// Name of the reason.
        reason: String,
        /// Of this tenant, or of any.
        tenant: Option<String>,
    },
    /// Expects the value of a counter.
    Counter {
        /// The tenant, or `total` for the sum over all.
        tenant: String,
        /// Name of the counter.
        name: String,
        /// How it compares.
        relation: Relation,
        /// With what.
        value: u64,
    },
    /// Lets cycles pass.
    Wait {
        /// How many.
        cycles: u64,
    },
    /// Waits until nothing is in flight.
    Idle,
    /// Stops a destination from taking packets.
    Block(Destination),
    /// Lets it take packets again.
    Unblock(Destination),
    /// Disturbs the messages of the configuration ring.
    FaultConfig {
        /// Share of messages that are lost, in percent.
        drop: u8,
        /// Share of messages that are corrupted, in percent.
        corrupt: u8,
    },
}

/// What is done with a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingOperation {
    /// Messages of its queue go into buffers from now on.
    Open {
        /// Buffers that it can have, a power of two.
        size: u32,
    },
    /// Posts buffers.
    Post {
        /// How many.
        count: u64,
        /// Bytes of each.
        bytes: u32,
    },
    /// New messages of its queue are frames again.
    Close,
}

/// Which target a script is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The 512-bit one.
    Default,
    /// The 256-bit one with few entries.
    Tiny,
    /// Both.
    Any,
}

/// A setting that is handed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Where it stands, for an error of whoever reads it.
    pub position: Position,
}

/// A tenant as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its name in the script.
    pub name: String,
    /// Its ID, 1 to 4095. 0 is the system tenant, named `system`, which need not be declared.
    pub id: u16,
    /// Its VLAN IDs.
    pub vlans: Vec<u16>,
    /// Whether its packets keep their tag.
    pub keep_tag: bool,
    /// Whether its frames may leave in VLANs that nobody owns.
    pub any_vids: bool,
    /// Rate in bits a second and burst in bytes at ingress.
    pub rate: Option<(u64, u64)>,
    /// Rate in bits a second and burst in bytes that it is assured of at each port.
    pub share: Option<(u64, u64)>,
    /// Weight in the fair queues.
    pub weight: Option<u64>,
    /// Most cells that it may hold of the shared buffer.
    pub limit: Option<u64>,
    /// Cells of these that its low queues leave free for the high ones.
    pub reserve: Option<u64>,
    /// Most taken back edges and calls of a packet in its XDP programs.
    pub xdp_work: Option<u32>,
    /// Bytes by which its XDP programs may make a frame longer.
    pub xdp_growth: Option<u16>,
    /// Weight in the queues in front of an XDP engine in hardware.
    pub xdp_weight: Option<u16>,
    /// Rows of the bus in these that are its own.
    pub xdp_rows: Option<u16>,
    /// Contexts of an XDP engine in hardware that are its own.
    pub xdp_contexts: Option<u8>,
    /// KiB of packet memory that come with each.
    pub xdp_memory: Option<u8>,
    /// Its XDP programs' tables are used where the device has a warp engine.
    pub warp: bool,
    /// Weight in the queues in front of the l7 engine.
    pub l7_weight: Option<u16>,
    /// Destinations that it may use; without them those that its tables name, and all when it runs an XDP program.
    pub to: Option<Vec<Destination>>,
}

/// An rmt module of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rmt {
    /// Tenant; `system` is the system module's.
    pub tenant: String,
    /// `.rmt` or `.p4` file, relative to the script.
    pub file: PathBuf,
    /// Entries of a P4 program, relative to the script.
    pub entries: Option<PathBuf>,
    /// What of a P4 program may be had in part.
    pub parts: Parts,
    /// The state words of the module in its place are kept.
    pub keep: bool,
    /// The tenant is given what he lacks for it while he runs.
    pub grow: bool,
}

/// What of a P4 program may be had in part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Most elements of stacks of headers, by name.
    pub bound: Vec<(String, u32)>,
    /// Most cells of registers and counters, by name.
    pub cells: Vec<(String, u32)>,
    /// `hash` is the target's.
    pub target_hash: bool,
    /// The last argument of `hash` may be an entry's.
    pub power_of_two: bool,
}

/// An XDP program to be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Xdp {
    /// Whose it is.
    pub tenant: String,
    /// The object file, relative to the script.
    pub file: PathBuf,
    /// Section of the program, if the file has several.
    pub section: Option<String>,
    /// Name of the program, if the file has several.
    pub program: Option<String>,
    /// Where `XDP_PASS` goes; to host queue 0 unless it is said.
    pub pass: Option<Destination>,
    /// Maps that are kept beside those that are pinned.
    pub keep: Vec<String>,
    /// Most entries of maps that leave it to user space, by name.
    pub max_entries: Vec<(String, u32)>,
    /// Port of an interface index, where it is not one less.
    pub interfaces: Vec<(u32, u8)>,
    /// The rmt module in front of it, which says where `XDP_PASS` goes.
    pub rmt: Option<Rmt>,
}

/// An operation on a map. Keys and values are items with commas between them, which whoever
/// carries it out reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapStatement {
    /// Whose it is.
    pub tenant: String,
    /// The map.
    pub map: String,
    /// The key; of a queue or stack items of no bytes.
    pub key: String,
    /// What is done.
    pub operation: MapOperation,
}

/// What is done with an entry of a map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapOperation {
    /// Writes it.
    Set {
        /// The value.
        value: String,
        /// Whether it may be there or missing.
        only: MapOnly,
    },
    /// Deletes it.
    Delete,
    /// Expects this value, or that there is no entry.
    Expect(Option<String>),
    /// Takes an element out of a queue or stack, and expects this value, or that there is none.
    Pop(Option<String>),
}

/// Whether an entry that is written may be there or missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapOnly {
    /// Both.
    #[default]
    Any,
    /// It must be missing.
    NoExist,
    /// It must be there.
    Exist,
}

/// A table as declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Whose it is.
    pub tenant: String,
    /// What is looked up, with the bits that count.
    pub key: KeyMask,
    /// Action where no entry matches.
    pub default: Action,
}

/// What a table looks up, with a set bit where the packet's bit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMask {
    /// The destination MAC.
    Dmac(MacAddr),
    /// The IPv4 five-tuple.
    FiveTuple(Tuple),
}

/// Key of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A destination MAC.
    Dmac(MacAddr),
    /// An IPv4 five-tuple.
    FiveTuple(Tuple),
}

/// An IPv4 five-tuple, or a mask of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tuple {
    /// Source address.
    pub src: Ipv4Addr,
    /// Source port.
    pub sport: u16,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// Destination port.
    pub dport: u16,
    /// Protocol.
    pub protocol: u8,
}

/// What is done with a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Where it goes.
    pub forward: Forward,
    /// New destination MAC.
    pub set_dmac: Option<MacAddr>,
}

/// Where a packet goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forward {
    /// Nowhere.
    Drop,
    /// To one destination.
    To(Destination),
    /// A copy to each of several.
    Multicast {
        /// The destinations, each once, in the order given.
        destinations: Vec<Destination>,
        /// Whether the port it came from gets none.
        except_ingress: bool,
    },
}

/// Where a packet can come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// A port.
    Port(u8),
    /// A host queue.
    Host(u8),
}

/// Packets offered to a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// The port.
    pub port: u8,
    /// How many times.
    pub count: u64,
    /// The packet.
    pub bytes: Vec<u8>,
    /// When.
    pub timing: Timing,
}

/// When packets are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// So many idle cycles before each; 0 is as soon as the port takes it.
    Gap(u64),
    /// The first not before this cycle of the run, the others right behind.
    At(u64),
}

/// How a counter compares with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
}

impl Relation {
    /// Whether `counter` stands in this relation to `value`.
    pub fn holds(self, counter: u64, value: u64) -> bool {
        match self {
            Relation::Equal => counter == value,
            Relation::AtLeast => counter >= value,
            Relation::AtMost => counter <= value,
        }
    }
}
