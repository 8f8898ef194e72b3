//! `sluice l7 explain-match`: which rule takes a message, and why.

use super::message::{self, Written};
use super::{failure, read};
use crate::captures::Capture;
use crate::failure::Failure;
use crate::output::Output;
use clap::Args;
use serde_json::{Value, json};
use sluice_l7::explain::{Explanation, explain};
use sluice_l7::message::{Dropped, Packet, Ports, Sort, filter};
use sluice_l7::oracle::Message;
use sluice_l7::rules::{Kind, Rules};
use sluice_l7::view::View;
use std::path::PathBuf;
use std::process::ExitCode;

/// Says which rule takes a message, and of each rule why it matches or not
///
/// A message is written as words: its fields by name or number, `type` by name or number, and where there are several,
/// `application` by name, or `port` and `id`. Of a raw application it is `payload`. Values may have the escapes of patterns.
/// `msg_id` and `session` choose the slot of a group without a field.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice l7 explain-match programs/l7/course_reviews.l7 student=/CA/20240919 course=/CS/Math
  sluice l7 explain-match programs/l7/kv_prefix.l7 type=put key=user:7 --json
  sluice l7 explain-match programs/l7/lines.l7 'payload=set user:7 0 0 5\\r\\nhello'
  sluice l7 explain-match programs/l7/course_reviews.l7 --in programs/l7/course_reviews.pcap")]
pub struct ExplainMatch {
    /// Rules, *.l7
    rules: PathBuf,
    /// The message, as in type=1 key=user:7
    #[arg(required_unless_present = "input")]
    message: Vec<String>,
    /// Packets of messages in place of one that is written: a capture of untagged frames; `-` is standard input
    #[arg(long = "in", value_name = "CAPTURE", conflicts_with = "message")]
    input: Option<PathBuf>,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

/// What a packet of a capture is to the rules.
enum Seen {
    /// Its rules are tried.
    Tried(Box<Explanation>),
    /// It goes on as a frame.
    Frame(String),
    /// It is dropped.
    Dropped(Dropped),
    /// It follows its message's first packet.
    Later(String),
}

impl ExplainMatch {
    /// Explains the message, or each packet.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let rules = read(&self.rules)?.map_err(|errors| failure(&errors))?;
        match &self.input {
            Some(_) => self.capture(&rules, out)?,
            None => {
                let found = written(&rules, &message::read(&rules, &self.message)?)?;
                if self.json { out.json(&json!(found))? } else { out.line(found.to_string())? }
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn capture(&self, rules: &Rules, out: &mut Output) -> Result<(), Failure> {
        let Some(path) = &self.input else { return Ok(()) };
        crate::run::interrupt::listen();
        let mut capture = Capture::open(path)?;
        let ports = Ports::of(rules);
        let mut packet = Default::default();
        let mut all = Vec::new();
        for number in 0u64.. {
            if crate::run::interrupt::asked() || !capture.read(&mut packet)? {
                break;
            }
            let seen = seen(rules, &filter(&packet.bytes, &ports));
            if self.json {
                all.push(seen_json(number, &seen));
                continue;
            }
            let text = match seen {
                Seen::Tried(found) => found.to_string(),
                Seen::Frame(why) => format!("goes on as a frame: {why}"),
                Seen::Dropped(why) => format!("dropped, {}: {why}", why.reason().name()),
                Seen::Later(what) => what,
            };
            out.line(format!("packet {number}: {text}"))?;
        }
        if self.json { out.json(&json!({ "packets": all })) } else { Ok(()) }
    }
}

fn written(rules: &Rules, written: &Written<'_>) -> Result<Explanation, Failure> {
    let Written { application, msg_type, msg_id, session, payload } = written;
    let view = match application.kind {
        Kind::Endpoint => None,
        Kind::Raw => Some(View::of_raw(payload)),
        Kind::Application(_) => Some(View::of_message(payload, 0).map_err(|e| {
            Failure::input("E0860", format!("message: its fields are more than the 512 bytes that the NIC sees: {e}"))
        })?),
    };
    let message = Message { msg_type: *msg_type, session: *session, msg_id: *msg_id, view: view.as_ref() };
    Ok(explain(rules, application, &message))
}

fn seen(rules: &Rules, sort: &Sort<'_>) -> Seen {
    match sort {
        Sort::Frame(why) => Seen::Frame(why.to_string()),
        Sort::Dropped(why) => Seen::Dropped(*why),
        Sort::Packet(Packet { application, kind, header, view, .. }) => {
            let application = &rules.applications[*application];
            if view.is_none() && *kind != Kind::Endpoint {
                let (number, count) = (header.pkt_seq_num_in_msg, header.msg_len_in_pkts);
                let what = format!("{}, packet {number} of {count}", application.name);
                return Seen::Later(format!("{what} of message {}: follows its first", header.msg_id));
            }
            let (session, msg_id) = (header.session, header.msg_id);
            let message = Message { msg_type: header.msg_type, session, msg_id, view: view.as_ref() };
            Seen::Tried(Box::new(explain(rules, application, &message)))
        }
    }
}

fn seen_json(number: u64, seen: &Seen) -> Value {
    match seen {
        Seen::Tried(found) => json!({ "packet": number, "is": "message", "match": found }),
        Seen::Frame(why) => json!({ "packet": number, "is": "frame", "why": why }),
        Seen::Dropped(why) => {
            json!({ "packet": number, "is": "dropped", "reason": why.reason().name(), "why": why.to_string() })
        }
        Seen::Later(what) => json!({ "packet": number, "is": "later", "what": what }),
    }
}
