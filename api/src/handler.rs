//! The functions that answer requests that were let in. The type that it returns is the body that the OpenAPI document
//! describes.

use fanfare_domain::{
    Reply, Result,
    posts::{Created, DryRun, Made},
};
use futures_util::{FutureExt, future::BoxFuture};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::Call;

/// Answers requests; any async function from a call to an [`Answer`] does.
pub trait Handler<C = Call>: Sync {
    /// Answers a request.
    fn answer(&self, call: C) -> BoxFuture<'static, Result<Reply>>;

    /// Returns the schemas of the bodies of its answers of success, by rising status.
    fn bodies(&self, generator: &mut SchemaGenerator) -> Vec<Schema>;
}

/// The result of a handler.
pub trait Answer {
    /// Returns the reply to be sent.
    fn reply(self) -> Reply;

    /// Returns the schemas of the bodies that it may have, by rising status.
    fn bodies(generator: &mut SchemaGenerator) -> Vec<Schema>;
}

impl<C, F, Fut, A> Handler<C> for F
where
    F: Fn(C) -> Fut + Sync,
    Fut: Future<Output = Result<A>> + Send + 'static,
    A: Answer,
{
    fn answer(&self, call: C) -> BoxFuture<'static, Result<Reply>> {
        self(call).map(|answer| answer.map(Answer::reply)).boxed()
    }

    fn bodies(&self, generator: &mut SchemaGenerator) -> Vec<Schema> {
        A::bodies(generator)
    }
}

impl<T: JsonSchema> Answer for Reply<T> {
    fn reply(self) -> Reply {
        self.cast()
    }

    fn bodies(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![generator.subschema_for::<T>()]
    }
}

impl Answer for Made {
    fn reply(self) -> Reply {
        match self {
            Self::Checked(reply) => reply.cast(),
            Self::Created(reply) => reply.cast(),
        }
    }

    fn bodies(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![generator.subschema_for::<DryRun>(), generator.subschema_for::<Created>()]
    }
}
