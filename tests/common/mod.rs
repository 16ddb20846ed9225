//! What several test programs share.
//!
//! * [`engine`]: the engine under test, as a command; [`driver`]: the engine in a conversation with a GUI
//! * [`folder`]: temporary folders, and training data in them; [`shared`]: paths of test data; [`seed`]: random seeds
//! * [`oracle`]: tables of reference outputs of networks; [`schema`]: checks of JSON

#![allow(dead_code)] // Each test program uses only some of the items.

pub mod driver;
pub mod engine;
pub mod folder;
pub mod oracle;
pub mod schema;
pub mod seed;
pub mod shared;
