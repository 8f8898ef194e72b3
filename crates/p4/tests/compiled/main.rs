//! Programs on the pipeline's model beside the reference: random ones, damaged ones, large ones, and those that once gave a wrong packet.

mod atoms;
mod blocks;
mod clones;
mod compare;
mod features;
mod fewer;
mod flags;
mod fuzz;
mod generate;
mod limits;
mod mixed;
mod multicast;
mod multiplied;
mod pieces;
mod police;
mod ports;
mod products;
mod random;
mod refusals;
mod room;
mod sequence;
mod sequence_refused;
mod signs;
mod system;
mod varbit;
mod wrong;
