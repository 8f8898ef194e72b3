//! `sluice object admit`: whether programs fit one NIC together, without a NIC.

use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use crate::p4::{AllowArgs, WarnArgs, each_once};
use crate::run::device::{self, Set};
use crate::table::{Table, group};
use clap::Args;
use serde_json::{Value, json};
use sluice_formats::Target;
use sluice_formats::xdp::target::GROWTH;
use sluice_frontends::{self as frontends, Allowed, P4Options, P4Told, Reading};
use sluice_nic::engines;
use sluice_object::linker::policy::{Claim, Given, Policy, share_out};
use sluice_object::linker::rmt::StageLeft;
use sluice_object::rmt::LogicalTable;
use sluice_object::{Destination, LinkError, Linker, Object, TenantSpec, VlanGrant};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Says whether programs fit one NIC together, what each gets of its tables, what is left, and what one more would need
///
/// Each file is a tenant's program, of any kind that a tenant runs, and is admitted to a NIC that has no other tenants; nothing is run. With
/// --policy drf or utility rows for the entries of all tables are shared over all tenants at once; with fixed each
/// program gets what it was compiled with, one after the other. Exits with 1 when one of the programs does not fit.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice object admit programs/p4/basic.p4 programs/p4/calc.p4 --policy drf
  sluice object admit programs/p4/firewall.p4 --copies 12 --json")]
pub struct Admit {
    /// Programs: *.p4, *.rmt, *.l7, object files of clang's, objects
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// How rows for entries are shared: fixed, drf or utility
    #[arg(long, default_value_t)]
    policy: Policy,
    /// Tenants that run each file
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=63))]
    copies: u16,
    /// Weight of the tenants of a file, named without folder and ending, where a policy shares; 1 if it is not said; may be given again
    #[arg(long, value_name = "NAME=N", value_parser = weight)]
    weight: Vec<(String, u16)>,
    /// Target, default, tiny, far, tiny_far or soft
    #[arg(long, default_value = "default", value_parser = device::target)]
    target: &'static Target,
    /// Engines of the NIC: rmt and, after commas, xdp, l7 or both; otherwise all
    #[arg(long, value_name = "ENGINE,...", value_parser = device::engines)]
    engines: Option<Set>,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    warn: WarnArgs,
    /// One JSON document instead
    #[arg(short = 'j', long)]
    json: bool,
}

fn weight(text: &str) -> Result<(String, u16), String> {
    let found = text.split_once('=').and_then(|(name, number)| Some((name, number.parse().ok()?)));
    match found {
        Some((name, number)) if !name.is_empty() && number > 0 => Ok((name.to_owned(), number)),
        _ => Err("NAME=N with a number from 1 to 65535, as in --weight basic=2".to_owned()),
    }
}

/// A tenant who asks.
#[derive(Clone)]
struct Asking {
    file: PathBuf,
    spec: TenantSpec,
    object: Object,
    weight: u16,
}

/// One who was tried: what he is given, or why he does not fit.
type Tried = (Asking, Result<Given, LinkError>);

impl Admit {
    /// Tries it and says what came of it.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let told = RefCell::default();
        let objects = self.files.iter().map(|file| self.read(file, &told)).collect::<Result<Vec<_>, _>>()?;
        self.warn.tell_all(&told.borrow().warnings)?;
        self.check_weights()?;
        let mut all: Vec<Asking> = Vec::new();
        for _ in 0..self.copies {
            for (file, object) in self.files.iter().zip(&objects) {
                all.push(self.asking(file, object, &all));
            }
        }
        let files = self.files.iter().zip(&objects).enumerate();
        let files = files.filter(|(at, (file, _))| !self.files[..*at].contains(file));
        let more: Vec<Asking> = files.map(|(_, (file, object))| self.asking(file, object, &all)).collect();
        let (all, linker) = self.tried(all);
        let next: Vec<(PathBuf, Option<LinkError>)> =
            more.into_iter().map(|one| (one.file.clone(), self.next(&all, one))).collect();
        let fits = all.iter().all(|(_, given)| given.is_ok());
        match self.json {
            true => out.json(&self.document(&all, &linker, &next))?,
            false => out.text(&self.text(&all, &linker, &next))?,
        }
        Ok(if fits { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }

    fn linker(&self) -> Linker {
        let engines: Vec<_> = engines::ids(self.engines.map_or(engines::ALL, |set| set.0)).collect();
        Linker::of(self.target, &engines, None).bounded_by(sluice_ebpf::tenant::growth)
    }

    fn read(&self, file: &Path, told: &RefCell<P4Told>) -> Result<Object, Failure> {
        let name = files::name_of(file);
        let allowed = if is_p4(file) { self.allow.allowed()? } else { Allowed::default() };
        let p4 = P4Options { told: Some(told), allowed, ..P4Options::default() };
        let reading = Reading { p4, ..Reading::new(self.target, &name) };
        frontends::read(file, &reading).map_err(|error| Failure::input(error.code, error.what))
    }

    fn check_weights(&self) -> Result<(), Failure> {
        let all = each_once("--weight", &self.weight)?;
        match all.iter().find(|(name, _)| !self.files.iter().any(|file| files::name_of(file) == *name)) {
            Some((name, _)) => {
                let what = format!("--weight {name}: expected the name of a file, without folder and ending");
                Err(Failure::input("E0502", what))
            }
            None => Ok(()),
        }
    }

    /// One more tenant with this program.
    fn asking(&self, file: &Path, object: &Object, others: &[Asking]) -> Asking {
        let own = files::name_of(file);
        let number = others.len() as u16 + 1;
        let is_taken = |name: &str| others.iter().any(|other| other.spec.name == name);
        let name = (1..).map(|n| if n == 1 { own.clone() } else { format!("{own}_{n}") }).find(|name| !is_taken(name));
        let mut spec = TenantSpec::new(number, name.unwrap_or_default());
        spec.vlans = vec![VlanGrant { port: None, vlan: number }];
        spec.xdp_growth = Some(GROWTH);
        // What it asks for, and a cell at the others: which of them its entries will name is not known.
        let cells = |to: &Destination| object.demands.queues.get(to).copied().unwrap_or(1).max(1);
        let all = (0..8).filter_map(|n| Destination::from_number(n, self.target));
        spec.queues = all.map(|to| (to, cells(&to))).collect();
        spec.make_room(object);
        let weight = self.weight.iter().find(|(name, _)| *name == own).map_or(1, |(_, weight)| *weight);
        Asking { file: file.to_owned(), spec, object: object.clone(), weight }
    }

    /// Rows by the policy, and each admitted with his program to a NIC that has no others.
    fn tried(&self, all: Vec<Asking>) -> (Vec<Tried>, Linker) {
        let claims: Vec<Claim> =
            all.iter().map(|one| Claim { weight: one.weight, ..Claim::new(&one.spec, Some(&one.object)) }).collect();
        let given = share_out(self.target, self.policy, &claims);
        let mut linker = self.linker();
        let mut admitted = |mut one: Asking, given: Result<Given, LinkError>| {
            let given = given.and_then(|given| {
                given.clone().give(&mut one.spec, Some(&mut one.object));
                let mut trial = linker.clone();
                trial.admit(one.spec.clone())?;
                trial.load(one.spec.id, &one.object)?;
                linker = trial;
                Ok(given)
            });
            (one, given)
        };
        let tried = all.into_iter().zip(given).map(|(one, given)| admitted(one, given)).collect();
        (tried, linker)
    }

    /// Why one more does not fit with those that do; rows are shared anew.
    fn next(&self, all: &[Tried], next: Asking) -> Option<LinkError> {
        let fits = all.iter().filter(|(_, given)| given.is_ok()).map(|(one, _)| one.clone());
        let (tried, _) = self.tried(fits.chain([next]).collect());
        tried.into_iter().find_map(|(_, given)| given.err())
    }

    fn text(&self, all: &[Tried], linker: &Linker, next: &[(PathBuf, Option<LinkError>)]) -> String {
        let mut tenants =
            Table::new(["tenant", "stages", "largest part", "table", "entries", "asked for"]).left(1).left(3);
        let mut refused = String::new();
        for (one, given) in all {
            let name = &one.spec.name;
            let given = match given {
                Ok(given) => given,
                Err(error) => {
                    refused += &format!("`{name}` ({}) does not fit: {error} [{}]\n", one.file.display(), error.code());
                    continue;
                }
            };
            let stages = stages(linker, one.spec.id).iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            let part = format!("{:.1} %", given.dominant.percent());
            let mut first = [name.clone(), stages, part];
            for table in growing(one) {
                let entries = group(table.reserved.unwrap_or(0).into());
                let size = if table.size == 0 { String::new() } else { group(table.size.into()) };
                tenants.row(std::mem::take(&mut first).into_iter().chain([table.name.clone(), entries, size]));
            }
            if !first[0].is_empty() {
                tenants.row(first);
            }
        }
        let mut left = Table::new([
            "stage",
            "match sets",
            "largest block",
            "ternary rows",
            "hit counters",
            "action rows",
            "pages",
        ]);
        for (stage, free) in self.left(linker) {
            let StageLeft { sets, largest_block, ternary, numbers, actions, pages, .. } = free;
            let numbers = [sets, largest_block, ternary, numbers, actions, pages].map(|n| group(n.into()));
            left.row([stage.to_string()].into_iter().chain(numbers));
        }
        let fitting = all.iter().filter(|(_, given)| given.is_ok()).count();
        let next = next.iter().map(|(file, why)| match why {
            None => format!("one more of {} fits\n", file.display()),
            Some(error) => format!("one more of {} does not fit: {error} [{}]\n", file.display(), error.code()),
        });
        let next: String = next.collect();
        let (policy, target, asked) = (self.policy, self.target.name, all.len());
        format!(
            "policy {policy}, target {target}: {fitting} of {asked} tenants fit\n{tenants}{refused}\nwhat is left in the stages of tenants\n{left}\n{next}"
        )
    }

    fn document(&self, all: &[Tried], linker: &Linker, next: &[(PathBuf, Option<LinkError>)]) -> Value {
        let why = |error: &LinkError| json!({ "code": error.code(), "what": error.to_string() });
        let tenant = |(one, given): &Tried| {
            let fits = given.is_ok();
            let table =
                |table: &LogicalTable| json!({ "table": table.name, "entries": table.reserved, "asked": table.size });
            let tables: Vec<Value> = growing(one).filter(|_| fits).map(table).collect();
            let part = given.as_ref().ok().map(|given| given.dominant);
            json!({
                "tenant": one.spec.name,
                "file": one.file.display().to_string(),
                "weight": one.weight,
                "fits": fits,
                "why": given.as_ref().err().map(why),
                "stages": stages(linker, one.spec.id),
                "largest_part": part.map(|part| json!({ "part": part.part, "whole": part.whole })),
                "tables": tables,
            })
        };
        let stage = |(stage, free): (usize, StageLeft)| {
            json!({
                "stage": stage,
                "match_sets": free.sets,
                "largest_block": free.largest_block,
                "ternary_rows": free.ternary,
                "hit_counters": free.numbers,
                "action_rows": free.actions,
                "pages": free.pages,
            })
        };
        let one_more = |(file, error): &(PathBuf, Option<LinkError>)| json!({ "file": file.display().to_string(), "fits": error.is_none(), "why": error.as_ref().map(why) });
        json!({
            "policy": self.policy.name(),
            "target": self.target.name,
            "tenants": all.iter().map(tenant).collect::<Vec<_>>(),
            "left": self.left(linker).map(stage).collect::<Vec<_>>(),
            "next": next.iter().map(one_more).collect::<Vec<_>>(),
        })
    }

    /// Stages of tenants, with what is left of them.
    fn left(&self, linker: &Linker) -> impl Iterator<Item = (usize, StageLeft)> {
        let stages = linker.left().stages.into_iter().enumerate();
        stages.filter(|(stage, _)| !self.target.rmt.is_system(*stage))
    }
}

/// What may be had in part is said for all P4 programs, and not for others.
fn is_p4(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "p4")
}

/// Tables that may get entries.
fn growing(one: &Asking) -> impl Iterator<Item = &LogicalTable> {
    let logical = one.object.parts.rmt.as_ref().and_then(|part| part.logical.as_deref());
    logical.into_iter().flat_map(|logical| &logical.tables).filter(|table| table.reserved.is_some())
}

/// The pipeline's stages of a tenant; none if he was not admitted.
fn stages(linker: &Linker, id: u16) -> Vec<u8> {
    let stages: BTreeMap<u8, u8> =
        linker.tenant(id).map(|tenant| linker.placer().stages_of(tenant.module)).unwrap_or_default();
    stages.into_values().collect()
}
