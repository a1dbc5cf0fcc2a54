//! The state of one user.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::network::Medium;

/// Pins, uploads and tokens.
#[derive(Default)]
pub(crate) struct State {
    /// By id, which grows with time.
    pub pins: BTreeMap<u64, Pin>,
    pub uploads: HashMap<u64, Upload>,
    pub tokens: HashMap<String, Token>,
    pub codes: HashMap<String, Code>,
    /// Used refresh tokens; each can be used once.
    pub used: HashSet<String>,
    /// True if a fault has expired all access tokens.
    pub expired: bool,
}

/// A pin.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pin {
    pub id: u64,
    pub at_ms: i64,
    pub media: Vec<Medium>,
    /// As it was sent, without its files.
    pub fields: Map<String, Value>,
}

/// A video that is being uploaded.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Upload {
    pub id: u64,
    /// Form fields that must be sent with it.
    pub parameters: BTreeMap<String, String>,
    pub medium: Option<Medium>,
    pub ready_ms: Option<i64>,
    pub failed: bool,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Token {
    pub expires_ms: i64,
    pub scope: String,
    pub refresh: bool,
}

/// An authorization code that was not exchanged yet.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Code {
    pub redirect_uri: String,
    pub scope: String,
    pub expires_ms: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Pin(Pin),
    Deleted {
        id: u64,
    },
    Upload(Upload),
    Received {
        id: u64,
        medium: Medium,
        ready_ms: i64,
        failed: bool,
    },
    Code {
        code: String,
        consent: Code,
    },
    /// Tokens were issued for this code or refresh token.
    Tokens {
        spent: String,
        tokens: Vec<(String, Token)>,
    },
    Expired(bool),
}

impl State {
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Pin(pin) => {
                self.pins.insert(pin.id, pin);
            }
            Change::Deleted { id } => {
                self.pins.remove(&id);
            }
            Change::Upload(upload) => {
                self.uploads.insert(upload.id, upload);
            }
            Change::Received { id, medium, ready_ms, failed } => {
                if let Some(upload) = self.uploads.get_mut(&id) {
                    upload.medium = Some(medium);
                    (upload.ready_ms, upload.failed) = (Some(ready_ms), failed);
                }
            }
            Change::Code { code, consent } => {
                self.codes.insert(code, consent);
            }
            Change::Tokens { spent, tokens } => {
                self.codes.remove(&spent);
                self.used.insert(spent);
                self.expired = false;
                self.tokens.extend(tokens);
            }
            Change::Expired(expired) => self.expired = expired,
        }
    }
}
