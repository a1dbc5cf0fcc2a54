//! Media: the store of files, and the copying of files into it.
//!
//! [`Store`] keeps files in a directory or in an S3 bucket, under paths nobody can guess, and writes each whole or not
//! at all. [`Intake`] is a file on its way in, told by its bytes; [`copy_remote`] fetches one through the address guard.
//!
//! What is absent: no database, no row of an asset, no address under which a file is served, no pixel decoded.

mod dimensions;
mod error;
mod filename;
mod intake;
mod kind;
mod leftovers;
mod location;
mod path;
mod refusal;
mod remote;
mod s3;
mod store;
mod stored;
#[cfg(test)]
mod tests;
mod writer;

pub use dimensions::dimensions;
pub use error::Error;
pub use filename::filename;
pub use intake::{HEIC_REMEDY, Intake, Refused, Sizes, Taken};
pub use kind::{extension, sniff, supported};
pub use remote::{Copied, CopyError, MAX_REMOTE, copy_remote};
pub use s3::S3;
pub use store::{Found, Store};
pub use stored::{Stat, Stored};
pub use writer::Writer;
