//! Files that commands read and write.

use crate::captures;
use crate::failure::Failure;
use sluice_frontends::p4_files;
use sluice_object::Object;
use sluice_packet::bounded;
use sluice_packet::capture::output::{make_folders, unmake_folders};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

/// Most symbolic links on the way to a file, as the system has it.
const MOST_LINKS: u8 = 40;

/// Bytes of an object file or load.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    read_at_most(path, bounded::MOST_OBJECT)
}

/// Bytes of a file that has no more than `most`.
pub fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    bounded::read(path, most).map_err(|e| Failure::file(path, "read", &e))
}

/// Writes a file; folders on its way are made. A file that is there is replaced whole, or stays as it is; what is no
/// file, as a pipe, is written to. `-` is standard output.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::file(path, "written", &e);
    if captures::is_standard(path) {
        return io::stdout().write_all(bytes).map_err(failed);
    }
    make_folder(path)?;
    let written = match fs::metadata(path) {
        Ok(there) if !there.is_file() => fs::write(path, bytes).map_err(failed),
        Ok(_) => path.canonicalize().map_err(failed).and_then(|path| replace(&path, bytes)),
        Err(_) => replace(path, bytes),
    };
    written.inspect_err(|_| unmake_folders(path))
}

/// Finds out before a run whether [`write`] can write a file after it; nothing changes, and no folder is made.
pub fn check_write(path: &Path) -> Result<(), Failure> {
    let failed = |e: io::Error| Failure::file(path, "written", &e);
    if captures::is_standard(path) {
        return Ok(());
    }
    let beside = match fs::metadata(path) {
        Ok(there) if there.is_dir() => return Err(failed(io::ErrorKind::IsADirectory.into())),
        // To open a pipe would be an end for its reader.
        Ok(there) if !there.is_file() => return Ok(()),
        Ok(_) => beside(&path.canonicalize().map_err(failed)?),
        Err(_) => {
            let folder = path.ancestors().skip(1).map(or_here).find(|folder| folder.exists()).unwrap_or(Path::new("."));
            beside(&folder.join(path.file_name().unwrap_or_default()))
        }
    };
    let made = fs::File::options().write(true).create_new(true).open(&beside);
    made.and_then(|_| fs::remove_file(&beside)).map_err(failed)
}

/// The name under which a file is written until it is whole.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    path.with_file_name(name)
}

/// Puts a file in the place of another, with its rights: whoever reads it sees all of the old or all of the new.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let beside = beside(path);
    let there = fs::metadata(path).ok();
    let done = write_as(&beside, bytes, there.as_ref()).and_then(|()| fs::rename(&beside, path));
    done.map_err(|e| {
        // Nothing else is lost when what was begun cannot be removed.
        let _ = fs::remove_file(&beside);
        Failure::file(path, "written", &e)
    })
}

/// Writes a new file with the owner and rights of another, which it has before its first byte.
fn write_as(path: &Path, bytes: &[u8], other: Option<&fs::Metadata>) -> io::Result<()> {
    let Some(other) = other else { return fs::write(path, bytes) };
    let mut file = fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // Only root may give a file away; another owner's file is replaced by one's own.
    let _ = std::os::unix::fs::fchown(&file, Some(other.uid()), Some(other.gid()));
    file.set_permissions(other.permissions())?;
    file.write_all(bytes)
}

/// Makes the folder that a file will be in; a command that fails before it writes there takes it away again.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    make_folders(path).map_err(|(folder, e)| Failure::file(&folder, "made", &e))
}

/// What tells files apart, however their paths are written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Identity {
    /// A file that is there, by device and inode: two hard links are one file.
    There(u64, u64),
    /// One that is not there yet.
    Path(PathBuf),
}

/// The file that a path names; devices and pipes are only themselves.
pub fn identity(path: &Path) -> Identity {
    if let Ok(found) = fs::metadata(path).as_ref().map(|found| (found.dev(), found.ino())) {
        return Identity::There(found.0, found.1);
    }
    Identity::Path(place(path, MOST_LINKS))
}

/// Where a file will be that is not there yet: also behind a link, and in folders that will be made.
fn place(path: &Path, links: u8) -> PathBuf {
    let folder = or_here(path.parent().unwrap_or(Path::new("")));
    match (path.canonicalize(), fs::read_link(path), path.components().next_back()) {
        (Ok(there), ..) => there,
        (_, Ok(target), _) if links > 0 => place(&folder.join(target), links - 1),
        (_, _, Some(Component::Normal(name))) => place(folder, links).join(name),
        (_, _, Some(Component::ParentDir)) => {
            let mut place = place(folder, links);
            place.pop();
            place
        }
        _ => path.to_owned(),
    }
}

/// An empty path is the folder that the command runs in.
fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Refuses an output that is the file that it is made from, or one of them.
pub fn check_other(source: &Path, output: &Path) -> Result<(), Failure> {
    let output_identity = identity(output);
    if p4_files(source).iter().all(|source| identity(source) != output_identity) {
        return Ok(());
    }
    let what = format!("--output: {} is read, expected a file of its own", output.display());
    Err(Failure::input("E0502", what))
}

/// A name for what a program file holds: the file's without its folder and its ending, of letters that a tenant's name may have; those of all files of a sequence.
pub fn name_of(file: &Path) -> String {
    let stem = |file: &PathBuf| file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let stems = p4_files(file).iter().map(stem).collect::<Vec<_>>().join("-");
    let good = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    let name: String = stems.chars().map(good).take(50).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') { name } else { format!("p{name}") }
}

/// An object as the file that it goes to is named: JSON in one that ends in .json, else binary.
pub fn form(object: &Object, output: &Path) -> Vec<u8> {
    if output.extension().is_some_and(|ending| ending == "json") {
        object.to_json().into_bytes()
    } else {
        object.to_binary()
    }
}

/// An object, binary or JSON.
pub fn object(path: &Path) -> Result<Object, Failure> {
    Object::decode(&read(path)?).map_err(|e| Failure::input(e.code(), format!("{}: {e}", path.display())))
}
