//! Values: internal units, mates, and their names.

/// Internal units; the scale of the network's output divided by 16.
pub type Value = i32;
