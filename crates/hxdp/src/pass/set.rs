//! Which passes run: each can be left out.

use std::str::FromStr;

/// A pass that can be left out. `decode`, `traces`, `schedule` and `layout` cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pass {
    /// [`super::decided`].
    Decided,
    /// [`super::plain`].
    Plain,
    /// [`super::lengths`].
    Lengths,
    /// [`super::starts`].
    Starts,
    /// [`super::predict`].
    Predict,
    /// [`super::superblocks`].
    Superblocks,
    /// Copies of short traces, in [`super::traces`].
    Short,
    /// [`super::values`].
    Values,
    /// [`super::copies`].
    Copies,
    /// [`super::elements`].
    Elements,
    /// [`super::sums`].
    Sums,
    /// [`super::known`].
    Known,
    /// [`super::exits`].
    Exits,
    /// [`super::zeroing`].
    Zeroing,
    /// [`super::adds`].
    Adds,
    /// [`super::pairs`].
    Pairs,
    /// [`super::masks`].
    Masks,
    /// [`super::nulls`].
    Nulls,
    /// [`super::rotates`].
    Rotates,
    /// [`super::bytes`].
    Bytes,
    /// [`super::dead`].
    Dead,
    /// [`super::forward`].
    Forward,
    /// [`super::stores`].
    Stores,
    /// [`super::join`].
    Join,
    /// [`super::coalesce`].
    Coalesce,
    /// [`super::packs`].
    Packs,
    /// [`super::quiet`].
    Quiet,
    /// [`super::rename`].
    Rename,
}

impl Pass {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 28] = [
        Self::Decided,
        Self::Plain,
        Self::Lengths,
        Self::Starts,
        Self::Predict,
        Self::Superblocks,
        Self::Short,
        Self::Values,
        Self::Copies,
        Self::Elements,
        Self::Sums,
        Self::Known,
        Self::Exits,
        Self::Zeroing,
        Self::Adds,
        Self::Pairs,
        Self::Masks,
        Self::Nulls,
        Self::Rotates,
        Self::Bytes,
        Self::Dead,
        Self::Forward,
        Self::Stores,
        Self::Join,
        Self::Coalesce,
        Self::Packs,
        Self::Quiet,
        Self::Rename,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Decided => "decided",
            Self::Plain => "plain",
            Self::Lengths => "lengths",
            Self::Starts => "starts",
            Self::Predict => "predict",
            Self::Superblocks => "superblocks",
            Self::Short => "short",
            Self::Values => "values",
            Self::Copies => "copies",
            Self::Elements => "elements",
            Self::Sums => "sums",
            Self::Known => "known",
            Self::Exits => "exits",
            Self::Zeroing => "zeroing",
            Self::Adds => "adds",
            Self::Pairs => "pairs",
            Self::Masks => "masks",
            Self::Nulls => "nulls",
            Self::Rotates => "rotates",
            Self::Bytes => "bytes",
            Self::Dead => "dead",
            Self::Forward => "forward",
            Self::Stores => "stores",
            Self::Join => "join",
            Self::Coalesce => "coalesce",
            Self::Packs => "packs",
            Self::Quiet => "quiet",
            Self::Rename => "rename",
        }
    }
}

/// A set of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes(u32);

impl Passes {
    /// Every pass.
    pub const ALL: Self = Self((1 << Pass::ALL.len()) - 1);
    /// No pass that can be left out.
    pub const NONE: Self = Self(0);

    /// Whether a pass runs.
    pub fn has(self, pass: Pass) -> bool {
        self.0 >> pass as u32 & 1 == 1
    }

    /// The same and this one.
    pub fn with(self, pass: Pass) -> Self {
        Self(self.0 | 1 << pass as u32)
    }

    /// The same but this one.
    pub fn without(self, pass: Pass) -> Self {
        Self(self.0 & !(1 << pass as u32))
    }
}

impl Default for Passes {
    fn default() -> Self {
        Self::ALL
    }
}

/// A list that names no set: E0804.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is no pass; there are: all, none, {}", names())]
pub struct UnknownPass {
    /// What was found.
    pub found: String,
}

fn names() -> String {
    Pass::ALL.map(Pass::name).join(", ")
}

impl FromStr for Passes {
    type Err = UnknownPass;

    /// A list from left to right: `all`, `none`, the name of a pass, or `-name` for all but it. What begins with a `-name`
    /// begins with all.
    fn from_str(text: &str) -> Result<Self, UnknownPass> {
        let mut set = if text.starts_with('-') { Self::ALL } else { Self::NONE };
        for word in text.split(',') {
            let named = |name: &str| Pass::ALL.into_iter().find(|pass| pass.name() == name);
            set = match word {
                "all" => Self::ALL,
                "none" => Self::NONE,
                _ => match word.strip_prefix('-') {
                    Some(name) => named(name).map(|pass| set.without(pass)),
                    None => named(word).map(|pass| set.with(pass)),
                }
                .ok_or_else(|| UnknownPass { found: word.to_owned() })?,
            };
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_from_left_to_right() {
        let set = |text: &str| text.parse::<Passes>().unwrap();
        assert_eq!(set("all"), Passes::ALL);
        assert_eq!(set("none"), Passes::NONE);
        assert_eq!(set("bytes,dead"), Passes::NONE.with(Pass::Bytes).with(Pass::Dead));
        assert_eq!(set("-bytes"), Passes::ALL.without(Pass::Bytes));
        assert_eq!(set("all,-bytes,bytes"), Passes::ALL);
        let error = "copies,nothing".parse::<Passes>().unwrap_err().to_string();
        assert!(error.starts_with("`nothing` is no pass; there are: all, none, decided, plain,"), "{error}");
    }

    #[test]
    fn every_pass_has_its_own_place() {
        for (index, pass) in Pass::ALL.into_iter().enumerate() {
            assert_eq!(pass as usize, index);
            assert!(Passes::NONE.with(pass).has(pass) && !Passes::ALL.without(pass).has(pass));
        }
    }
}
