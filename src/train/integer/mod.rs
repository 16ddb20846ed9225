//! The engine's integer net: quantised from the float model, converted back to one, or written by hand.

mod calibrate;
mod material;
mod quantise;
mod report;
mod unfold;

pub(crate) use material::material_net;
pub(super) use quantise::export;
#[cfg(test)]
pub(super) use quantise::quantise;
pub(super) use report::ExportReport;
pub(super) use unfold::unfold;
