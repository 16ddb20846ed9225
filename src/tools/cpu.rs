//! Report on the processor's features and the available kernels.

use crate::nnue::Kernel;
use crate::util::cores;

/// Processor features that kernels use or that users ask about, and whether this processor has each.
#[cfg(target_arch = "x86_64")]
fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detect {
        ($($name:tt),*) => { vec![$(($name, is_x86_feature_detected!($name))),*] };
    }
    detect!(
        "sse2",
        "ssse3",
        "sse4.1",
        "popcnt",
        "avx",
        "avx2",
        "bmi1",
        "bmi2",
        "avx512f",
        "avx512bw",
        "avx512vl",
        "avx512vnni",
        "avxvnni"
    )
}

/// Processor features that kernels use or that users ask about, and whether this processor has each.
#[cfg(target_arch = "aarch64")]
fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detect {
        ($($name:tt),*) => { vec![$(($name, std::arch::is_aarch64_feature_detected!($name))),*] };
    }
    detect!("neon", "dotprod", "i8mm", "fp16", "bf16", "sve", "sve2")
}

/// WebAssembly features, which are fixed at compile time. Other processors have no kernels of their own.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<(&'static str, bool)> {
    vec![("simd128", cfg!(target_feature = "simd128"))]
}

/// Returns the detected features, the available kernels and the chosen kernel as text.
pub fn report() -> String {
    let detected: Vec<_> = features().into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect();
    let kernels: Vec<_> = Kernel::available().iter().map(ToString::to_string).collect();
    let threads = cores();
    let or_none = |list: Vec<_>| {
        if list.is_empty() { "none".to_owned() } else { list.join(" ") }
    };
    let chosen = Kernel::active();
    format!(
        "Processor  {} {}\nThreads    {threads}\nFeatures   {}\nKernels    {}\nChosen     {chosen}\n",
        std::env::consts::ARCH,
        std::env::consts::OS,
        or_none(detected),
        kernels.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_kernel_is_available() {
        let text = report();
        let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").trim();
        assert!(line("Kernels").split(' ').any(|kernel| kernel == line("Chosen")), "{text}");
    }
}
