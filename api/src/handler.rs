//! Handlers: async functions that answer authorized requests. The OpenAPI document describes the types that they
//! return.

use fanfare_core::{Reply, Result};
use fanfare_publishing::posts::{
    CreateOutcome, CreateReply,
    sets::{SetOutcome, SetReply},
};
use futures_util::{FutureExt, future::BoxFuture};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::Call;

/// A handler: any async function from a call to an [`IntoReply`].
pub trait Handler<C = Call>: Sync {
    /// Returns the reply to a request.
    fn answer(&self, call: C) -> BoxFuture<'static, Result<Reply>>;

    /// Returns the schemas of its successful replies, in order of status.
    fn bodies(&self, generator: &mut SchemaGenerator) -> Vec<Schema>;
}

/// Types that handlers can return.
pub trait IntoReply {
    /// Returns the reply to send.
    fn into_reply(self) -> Reply;

    /// Returns the schemas of its possible bodies, in order of status.
    fn bodies(generator: &mut SchemaGenerator) -> Vec<Schema>;
}

impl<C, F, Fut, A> Handler<C> for F
where
    F: Fn(C) -> Fut + Sync,
    Fut: Future<Output = Result<A>> + Send + 'static,
    A: IntoReply,
{
    fn answer(&self, call: C) -> BoxFuture<'static, Result<Reply>> {
        self(call).map(|answer| answer.map(IntoReply::into_reply)).boxed()
    }

    fn bodies(&self, generator: &mut SchemaGenerator) -> Vec<Schema> {
        A::bodies(generator)
    }
}

impl<T: JsonSchema> IntoReply for Reply<T> {
    fn into_reply(self) -> Reply {
        self.cast()
    }

    fn bodies(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![generator.subschema_for::<T>()]
    }
}

impl IntoReply for SetOutcome {
    fn into_reply(self) -> Reply {
        match self {
            Self::Checked(reply) => reply.cast(),
            Self::Created(reply) => reply.cast(),
        }
    }

    fn bodies(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![generator.subschema_for::<SetReply>()]
    }
}

impl IntoReply for CreateOutcome {
    fn into_reply(self) -> Reply {
        match self {
            Self::Checked(reply) => reply.cast(),
            Self::Created(reply) => reply.cast(),
        }
    }

    fn bodies(generator: &mut SchemaGenerator) -> Vec<Schema> {
        vec![generator.subschema_for::<CreateReply>()]
    }
}
