//! What the processor has and what the engine makes of it.

use crate::nnue::Kernel;
use crate::util::cores;

/// The features that a kernel may need, or that people ask about, and whether this processor has them.
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

/// The features that a kernel may need, or that people ask about, and whether this processor has them.
#[cfg(target_arch = "aarch64")]
fn features() -> Vec<(&'static str, bool)> {
    macro_rules! detect {
        ($($name:tt),*) => { vec![$(($name, std::arch::is_aarch64_feature_detected!($name))),*] };
    }
    detect!("neon", "dotprod", "i8mm", "fp16", "bf16", "sve", "sve2")
}

/// WebAssembly has what it was built for, and cannot be asked; other processors have no kernels of their own.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<(&'static str, bool)> {
    vec![("simd128", cfg!(target_feature = "simd128"))]
}

/// The features seen, the kernels available, and the one chosen.
pub fn report() -> String {
    let seen: Vec<_> = features()
        .into_iter()
        .filter(|(_, has)| *has)
        .map(|(name, _)| name)
        .collect();
    let kernels: Vec<_> = Kernel::available()
        .iter()
        .map(ToString::to_string)
        .collect();
    let threads = cores();
    let or_none = |list: Vec<_>| {
        if list.is_empty() {
            "none".to_owned()
        } else {
            list.join(" ")
        }
    };
    let chosen = Kernel::active();
    format!(
        "Processor  {} {}\nThreads    {threads}\nFeatures   {}\nKernels    {}\nChosen     {chosen}\n",
        std::env::consts::ARCH,
        std::env::consts::OS,
        or_none(seen),
        kernels.join(" "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_kernel_is_among_the_available() {
        let text = report();
        let line = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or("")
                .trim()
        };
        assert!(
            line("Kernels")
                .split(' ')
                .any(|kernel| kernel == line("Chosen")),
            "{text}"
        );
    }
}
