//! The engine's integer net: quantised from the float model, converted back to one, or written by hand.

mod calibrate;
mod material;
mod quantise;

pub(super) use calibrate::ExportReport;
pub(crate) use material::material_net;
#[cfg(test)]
pub(super) use quantise::quantise;
pub(super) use quantise::{export, unfold};
