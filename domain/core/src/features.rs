//! What the features keep in a domain without its knowing them: one value of each type.

use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
};

/// The settings and hooks of features.
#[derive(Default)]
pub struct Features(HashMap<TypeId, Box<dyn Any + Send + Sync>>);

impl Features {
    /// Adds a value, in place of an earlier one of its type.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, value: T) -> Self {
        self.0.insert(TypeId::of::<T>(), Box::new(value));
        self
    }

    /// Returns the value of a type.
    ///
    /// # Panics
    /// There is none: it was forgotten when the domain was put together.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> &T {
        let found = self.0.get(&TypeId::of::<T>()).and_then(|value| value.downcast_ref());
        found.unwrap_or_else(|| panic!("the domain was put together without {}", type_name::<T>()))
    }
}

/// Without the values, some of which are secrets.
impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} features", self.0.len())
    }
}
