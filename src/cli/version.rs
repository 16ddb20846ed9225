//! The text of `--version`.

use std::sync::OnceLock;

use crate::nnue::Kernel;

/// Version, source revision, target, and the kernels compiled into this binary.
pub fn long() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let kernels: Vec<_> = Kernel::ALL.into_iter().filter(|kernel| kernel.is_built()).map(Kernel::name).collect();
        format!(
            "{}\nrevision {}\ntarget   {}\nkernels  {}",
            env!("CARGO_PKG_VERSION"),
            env!("ZOOTHERA_REVISION"),
            env!("ZOOTHERA_TARGET"),
            kernels.join(" "),
        )
    })
}
