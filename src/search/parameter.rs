//! Type of a tunable number: its row in the table of `params.rs`, its function, and its line for SPSA.
//!
//! In an ordinary build each number is a constant. With the feature `tune` each is an atomic that a UCI option or a
//! tuning run sets. A new value applies from the next use; initial values of histories apply from the next game.

// An ordinary build uses the names only.
#![cfg_attr(not(feature = "tune"), allow(dead_code))]

/// Usual learning rate of SPSA's last iteration, in squares of the last perturbation (`R_end`).
pub const LAST_RATE: f64 = 0.002;

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name, as UCI option and SPSA input.
    pub name: &'static str,
    /// Value in an ordinary build.
    pub default: i32,
    /// Minimum sensible value.
    pub min: i32,
    /// Maximum sensible value.
    pub max: i32,
    /// SPSA's last step size (`C_end`).
    pub step: i32,
}

impl Parameter {
    /// The line in the format of OpenBench's SPSA input: `name, int, value, min, max, C_end, R_end`.
    pub fn spsa_line(&self) -> String {
        let Self { name, default, min, max, step } = self;
        format!("{name}, int, {default}.0, {min}.0, {max}.0, {step}.0, {LAST_RATE}")
    }
}

/// Declares the table, and for each parameter a function that returns its value.
macro_rules! parameters {
    ($($name:ident = $default:literal, $min:literal ..= $max:literal, $step:literal;)*) => {
        /// The table, in the order of its declaration.
        pub const TABLE: &[Parameter] = &[$(Parameter {
            name: stringify!($name), default: $default, min: $min, max: $max, step: $step,
        }),*];

        $(
            const _: () = assert!($min <= $default && $default <= $max && $step > 0);

            #[doc = concat!("`", stringify!($name), "`: see the table in this file.")]
            #[inline(always)]
            pub fn $name() -> i32 {
                #[cfg(feature = "tune")]
                { tuned::$name.load(std::sync::atomic::Ordering::Relaxed) }
                #[cfg(not(feature = "tune"))]
                { $default }
            }
        )*

        #[cfg(feature = "tune")]
        mod tuned {
            use std::sync::atomic::AtomicI32;
            $(#[allow(non_upper_case_globals)] pub static $name: AtomicI32 = AtomicI32::new($default);)*
        }

        /// Sets a parameter. Returns `false` if the name is unknown or the value is out of range.
        #[cfg(feature = "tune")]
        pub fn set(name: &str, value: i32) -> bool {
            $(if name.eq_ignore_ascii_case(stringify!($name)) {
                let fits = ($min..=$max).contains(&value);
                if fits {
                    tuned::$name.store(value, std::sync::atomic::Ordering::Relaxed);
                }
                return fits;
            })*
            false
        }
    };
}

pub(super) use parameters;
