//! The XDP program of a tenant.

use super::error::{ConfigError, ConfigProblem};
use super::file::TenantTable;
use super::resolve::Resolver;
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::tenant::{self, Options, ambiguous_interface};
use sluice_formats::{Target, l7};
use sluice_frontends::{self as frontends, ProgramFileError, Reading};
use sluice_object::{Destination, Object, XdpMemory};
use sluice_packet::bounded;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

/// What was found, and what is allowed.
type Wrong = (String, &'static str);

/// Values of variables by name; a table inside gives fields: `policy = { rate = 1 }` or `policy.rate = 1`.
fn values(before: &str, table: &toml::Table, to: &mut Vec<(String, String)>) -> Result<(), Wrong> {
    for (name, value) in table {
        let name = format!("{before}{name}");
        let text = match value {
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Float(number) => number.to_string(),
            toml::Value::Boolean(yes) => yes.to_string(),
            toml::Value::String(text) => text.clone(),
            toml::Value::Table(inside) if inside.is_empty() => {
                return Err((format!("`{name}` = {{}}"), "a value, or fields"));
            }
            toml::Value::Table(inside) => {
                values(&format!("{name}."), inside, to)?;
                continue;
            }
            other => return Err((format!("`{name}`, {}", other.type_str()), "numbers, true, false and strings")),
        };
        to.push((name, text));
    }
    Ok(())
}

impl Resolver<'_> {
    /// The object of a tenant's `xdp`, with everything that is said about it.
    pub(super) fn program(
        &self,
        table: &TenantTable,
        name: &str,
        target: &Target,
    ) -> Result<Option<Object>, ConfigError> {
        let Some(path) = &table.xdp else { return self.no_program_keys(table, name).map(|()| None) };
        let destination = |text: &str, span: Range<usize>, what: &str| {
            let known = text.parse::<Destination>().ok().filter(|d| d.number(target).is_some());
            known.ok_or_else(|| {
                let allowed = format!("port0 to port{}, host0 to host{}", target.ports - 1, target.hosts - 1);
                self.wrong(span, what, format!("`{}`", text.escape_default()), &allowed)
            })
        };
        let mut options = Options {
            section: table.section.as_ref().map(|s| s.get_ref().clone()),
            program: table.program.as_ref().map(|s| s.get_ref().clone()),
            keep: table.keep_maps.as_ref().map(|k| k.get_ref().clone()).unwrap_or_default(),
            ..Options::default()
        };
        let twice = options.keep.iter().enumerate().find(|(at, map)| options.keep[..*at].contains(map));
        if let (Some((_, map)), Some(keep)) = (twice, &table.keep_maps) {
            return Err(self.wrong(keep.span(), "keep_maps", format!("`{map}` twice"), "each map once"));
        }
        if let Some(pass) = &table.pass {
            options.pass = destination(pass.get_ref(), pass.span(), "pass")?;
        } else if table.rules.is_some() {
            options.pass = Destination::Host(l7::target::host(target));
        }
        if let Some(sizes) = &table.map_sizes {
            options.max_entries = sizes.get_ref().clone().into_iter().collect();
        }
        if let Some(inner) = &table.inner_maps {
            options.inner_maps = inner.get_ref().clone().into_iter().collect();
        }
        if let Some(variables) = &table.variables {
            values("", variables.get_ref(), &mut options.variables)
                .map_err(|(found, allowed)| self.wrong(variables.span(), "variables", found, allowed))?;
        }
        if let Some(interfaces) = &table.interfaces {
            options.interfaces = BTreeMap::new();
            for (port, interface) in interfaces.get_ref() {
                let Destination::Port(number) = destination(port, interfaces.span(), "interfaces")? else {
                    return Err(self.wrong(interfaces.span(), "interfaces", format!("`{port}`"), "ports"));
                };
                if *interface == 0 {
                    return Err(self.wrong(interfaces.span(), "interfaces", format!("{port} = 0"), "1 and above"));
                }
                if options.interfaces.insert(*interface, number).is_some() {
                    let found = format!("interface {interface} twice");
                    return Err(self.wrong(interfaces.span(), "interfaces", found, "each interface once"));
                }
            }
            if let Some((index, port, other)) = ambiguous_interface(&options.interfaces, target.ports) {
                let found = format!("port{port} = {index}, which is port{other}'s");
                let allowed = "an index of its own, or one for both ports";
                return Err(self.wrong(interfaces.span(), "interfaces", found, allowed));
            }
        }
        if let Some(maps) = &table.maps {
            for (map, file) in maps.get_ref() {
                options.files.push((map.clone(), self.text_of(file, maps.span(), name)?));
            }
        }
        let reading = Reading { xdp: options, ..Reading::new(target, name) };
        let file = self.folder.join(path.get_ref());
        let refused = |e: ProgramFileError| self.of_object(path.span(), name, e.what, Some(e.code));
        let mut object = frontends::read(&file, &reading).map_err(refused)?;
        if object.parts.xdp.is_none() {
            let found = format!("`{}`, which has none", path.get_ref().display());
            return Err(self.wrong(path.span(), "xdp", found, "a file with an XDP program; others stand at `object`"));
        }
        self.places(table, name, &mut object)?;
        Ok(Some(object))
    }

    /// Where maps lie.
    fn places(&self, table: &TenantTable, name: &str, object: &mut Object) -> Result<(), ConfigError> {
        for (map, word) in table.map_places.iter().flat_map(|places| places.get_ref()) {
            let memory = word.get_ref().parse::<XdpMemory>().map_err(|_| {
                let (key, found) =
                    (format!("map_places.{}", map.escape_debug()), format!("`{}`", word.get_ref().escape_debug()));
                self.wrong(word.span(), key, found, "chip or outside")
            })?;
            tenant::place(object, &[(map.clone(), memory)])
                .map_err(|e| self.of_object(word.span(), name, e.to_string(), Some(e.code())))?;
        }
        Ok(())
    }

    /// A file has a name; an empty one would be the folder that the description lies in.
    pub(super) fn named_files(&self, table: &TenantTable) -> Result<(), ConfigError> {
        let is_empty = |path: &Path| path.as_os_str().is_empty();
        let refused = |span, key: &str| Err(self.wrong(span, key, "``", "the name of a file"));
        for (key, path) in [
            ("object", &table.object),
            ("entries", &table.entries),
            ("xdp", &table.xdp),
            ("rules", &table.rules),
            ("routes", &table.routes),
        ] {
            if let Some(path) = path.as_ref().filter(|path| is_empty(path.get_ref())) {
                return refused(path.span(), key);
            }
        }
        let Some(maps) = &table.maps else { return Ok(()) };
        let empty = maps.get_ref().iter().find(|(_, file)| is_empty(file));
        empty.map_or(Ok(()), |(map, _)| refused(maps.span(), &format!("maps.{}", map.escape_debug())))
    }

    /// Keys that say something about an XDP program stand beside one.
    pub(super) fn no_program_keys(&self, table: &TenantTable, name: &str) -> Result<(), ConfigError> {
        match table.of_program().next() {
            None => Ok(()),
            Some((key, span)) => Err(self.wrong(span, format!("tenant `{name}`"), key, "with `xdp` only")),
        }
    }

    /// Routes and neighbours.
    pub(super) fn routes(&self, table: &TenantTable, name: &str) -> Result<Option<String>, ConfigError> {
        let Some(path) = &table.routes else { return Ok(None) };
        let text = self.text_of(path.get_ref(), path.span(), name)?;
        Routes::parse(&text).map(|_| Some(text.clone())).map_err(|e| {
            let what = format!("{}: {e}", path.get_ref().display());
            self.of_object(path.span(), name, what, Some(e.code()))
        })
    }

    fn of_object(&self, span: Range<usize>, name: &str, what: String, code: Option<&'static str>) -> ConfigError {
        let problem = ConfigProblem::Object { tenant: name.to_owned(), what, code };
        ConfigError::at(self.file, self.text, span, problem)
    }

    fn bytes_of(&self, path: &Path, span: Range<usize>, name: &str) -> Result<Vec<u8>, ConfigError> {
        let file = self.folder.join(path);
        bounded::read(&file, bounded::MOST_OBJECT)
            .map_err(|what| self.of_object(span, name, format!("{}: {what}", file.display()), None))
    }

    fn text_of(&self, path: &Path, span: Range<usize>, name: &str) -> Result<String, ConfigError> {
        String::from_utf8(self.bytes_of(path, span.clone(), name)?).map_err(|e| {
            let what = format!("{}: byte {} is no UTF-8 text", path.display(), e.utf8_error().valid_up_to());
            self.of_object(span, name, what, None)
        })
    }
}
