//! Media: the store of files, and the copying of files into it.
//!
//! [`Store`] keeps files in a directory or in an S3 bucket, under paths nobody can guess, and writes each whole or not
//! at all. [`Intake`] is a file on its way in, told by its bytes; [`copy_remote`] fetches one through the address guard.
//! [`analyse`] tells what is in a file, and [`convert`] makes one that fits a network, both within hard limits of time,
//! memory and output.
//!
//! This crate has no database, no rows of assets and no public addresses.

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
mod writer;

pub use analysis::{Analysis, Facts, analyse};
pub use convert::{Profile, Target, Variant, convert};
pub use dimensions::dimensions;
pub use error::Error;
pub use filename::filename;
pub use flaw::Flaw;
pub use intake::{HEIC_REMEDY, Intake, Refused, Sizes, Taken};
pub use kind::{extension, sniff, supported};
pub use remote::{Copied, CopyError, MAX_REMOTE, copy_attachment, copy_if_changed, copy_remote};
pub use s3::S3;
pub use scratch::Scratch;
pub use shrink::shrink;
pub use store::{Found, Store};
pub use stored::{Stat, Stored};
pub use tools::Tools;
pub use writer::Writer;
