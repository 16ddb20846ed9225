//! The choice of a device: the processor or a graphics card.

use std::str::FromStr;

/// The card that a user chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardChoice(pub(super) Option<String>);

impl CardChoice {
    /// Returns the choice of a card by a part of its name or its number in `zoothera gpu`; `None` for the fastest.
    pub fn of(name: Option<&str>) -> Self {
        Self(name.map(str::to_owned))
    }
}

/// The device that trains or labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    Cpu,
    /// A graphics card.
    Gpu(CardChoice),
    /// A graphics card that can do the work, if there is one, and otherwise the processor.
    Auto(CardChoice),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = match text.split_once(':') {
            Some((kind, name)) => (kind, Some(name)),
            None => (text, None),
        };
        match (kind, name) {
            ("cpu", None) => Ok(Self::Cpu),
            (_, Some("")) => Err("the name of the card is missing after the colon".into()),
            ("gpu", name) => Ok(Self::Gpu(CardChoice::of(name))),
            ("auto", name) => Ok(Self::Auto(CardChoice::of(name))),
            _ => Err("the device must be cpu, gpu, gpu:NAME, auto or auto:NAME".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_parses_kind_and_card() {
        let parsed = |text: &str| text.parse::<Device>();
        assert_eq!(parsed("cpu"), Ok(Device::Cpu));
        assert_eq!(parsed("gpu"), Ok(Device::Gpu(CardChoice::of(None))));
        assert_eq!(parsed("auto:2"), Ok(Device::Auto(CardChoice::of(Some("2")))));
        assert_eq!(parsed("gpu:Radeon RX"), Ok(Device::Gpu(CardChoice::of(Some("Radeon RX")))));
        for wrong in ["", "cuda", "cpu:0", "gpu:", "GPU"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
