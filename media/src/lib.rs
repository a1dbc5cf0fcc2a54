//! Media files: their store, and how they get into it.
//!
//! [`Store`] keeps files in a directory or an S3 bucket, under unguessable paths, and writes each file completely or
//! not
//! at all. [`Intake`] is a file that is being received; its type is detected from its bytes. [`copy_remote`] copies a
//! file from a checked address. [`analyse`] finds the facts of a file, and [`convert`] makes a file that fits a
//! platform. Both have hard limits of time, memory and output.
//!
//! This crate knows no database, no asset rows and no public addresses.

mod analysis;
mod blocking;
mod convert;
mod dimensions;
mod error;
mod filename;
mod flaw;
mod intake;
mod kind;
mod leftovers;
mod local;
mod location;
mod path;
mod picture;
mod refusal;
mod remote;
mod s3;
mod scratch;
mod scrub;
mod shrink;
mod store;
mod stored;
#[cfg(test)]
mod tests;
mod tiff;
mod tools;
mod utf8;
mod writer;

pub use analysis::{Analysis, Facts, analyse};
pub use convert::{Profile, Target, Variant, convert};
pub use dimensions::dimensions;
pub use error::Error;
pub use filename::filename;
pub use flaw::Flaw;
pub use intake::{HEIC_REMEDY, Intake, IntakeError, Sizes, StoredMedia};
pub use kind::{extension, sniff, supported};
pub use remote::{
    CopiedFile, CopyError, MAX_REMOTE, copy_attachment, copy_if_changed, copy_remote,
};
pub use s3::S3;
pub use scratch::Scratch;
pub use shrink::shrink;
pub use store::{FoundFile, Store};
pub use stored::{FileReader, FileStat};
pub use tools::Tools;
pub use writer::Writer;
