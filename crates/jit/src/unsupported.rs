//! Why a program is not compiled.

/// What a program has that is not compiled. It runs interpreted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// This machine is none that code is made for.
    #[error("machine code is made for x86-64 under Linux only")]
    Machine,
    /// A program that was not validated.
    #[error("the program was not validated: {0}")]
    Invalid(String),
    /// No image of this number is installed, or another one.
    #[error("the runtime has not installed this image")]
    NotInstalled,
    /// The analysis of regions did not come to its end.
    #[error("the program is too long for the analysis: found {found} slots, allowed {allowed}")]
    Size {
        /// Slots.
        found: usize,
        /// Most slots.
        allowed: usize,
    },
    /// An instruction that is not one.
    #[error("slot {slot} is no instruction")]
    Instruction {
        /// Slot.
        slot: u32,
    },
    /// A call that stands for what a load did not find: a weak kernel function, or a CO-RE relocation.
    #[error("slot {slot} calls what was not found when the object was loaded")]
    NotFound {
        /// Slot.
        slot: u32,
    },
    /// A register is read that nothing wrote: the interpreter shows what an earlier function or program left there.
    #[error("r{register} is read that nothing has written, in what begins or follows at slot {slot}")]
    Unwritten {
        /// Register.
        register: u8,
        /// First slot of the function, or the call.
        slot: u32,
    },
    /// A map that is not as the image declares it.
    #[error("map `{map}` is not as the image declares it")]
    Map {
        /// Name.
        map: String,
    },
    /// The compiler refused; a bug of ours.
    #[error("the code generator: {0}")]
    Generator(String),
}

/// A program that is not compiled, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{program}` runs interpreted: {why}")]
pub struct Refused {
    /// Its name.
    pub program: String,
    /// Why.
    pub why: Unsupported,
}
