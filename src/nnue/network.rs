//! A parsed network.

use std::sync::Arc;

/// A network ready for evaluation.
pub struct Network {}

#[allow(unused_variables, missing_docs)]
impl Network {
    /// The net in the binary (`nets/default.nnue`, or `EVALFILE` at build time); parsed once per process.
    pub fn embedded() -> Arc<Self> {
        todo!()
    }
    /// Parses and checks everything; the error says what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        todo!()
    }
}
