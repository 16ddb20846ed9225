//! Switches of whole rules. With the feature `tune` a screening can turn a rule off for one of the players, which
//! measures what the rule gains. In an ordinary build every switch is the constant `true`.
//!
//! A new switch is a line in the table below and a condition at the rule. It is removed once the gain of its rule is
//! known, as for nine rules whose gains exceed the error of the screening (`docs/experiments.md`).

#[cfg(feature = "tune")]
use super::params::Parameter;

/// Declares the switches, and for each rule a function that returns whether the rule applies.
macro_rules! rules {
    ($($(#[$doc:meta])+ $name:ident;)*) => {
        /// The switches as parameters with the levels 0 and 1, named `rule_*`.
        #[cfg(feature = "tune")]
        pub const SWITCHES: &[Parameter] = &[$(Parameter {
            name: concat!("rule_", stringify!($name)), default: 1, min: 0, max: 1, step: 1,
        }),*];

        $(
            $(#[$doc])+
            #[inline(always)]
            pub fn $name() -> bool {
                #[cfg(feature = "tune")]
                { switch::$name.load(std::sync::atomic::Ordering::Relaxed) }
                #[cfg(not(feature = "tune"))]
                { true }
            }
        )*

        #[cfg(feature = "tune")]
        mod switch {
            use std::sync::atomic::AtomicBool;
            $(#[allow(non_upper_case_globals)] pub static $name: AtomicBool = AtomicBool::new(true);)*
        }

        /// Turns a rule off (0) or on (1). Returns `false` if the name is unknown or the value is out of range.
        #[cfg(feature = "tune")]
        pub fn set(name: &str, value: i32) -> bool {
            if !(0..=1).contains(&value) {
                return false;
            }
            $(if name == concat!("rule_", stringify!($name)) {
                switch::$name.store(value == 1, std::sync::atomic::Ordering::Relaxed);
                return true;
            })*
            false
        }
    };
}

rules! {
    /// Step 1: detection of moves that repeat a position.
    cycle_detection;
    /// Step 3: check of a cutoff by the entry after the table's move.
    table_verification;
    /// Step 5: depth by the reduction of the previous move.
    hindsight_depth;
    /// Step 6: razoring.
    razoring;
    /// Step 8: null move.
    null_move;
    /// Step 10: ProbCut.
    probcut;
    /// Step 11: less depth after a move that raised alpha.
    raise_reduction;
    /// Step 12: futility of captures.
    capture_futility;
    /// Step 12: exchanges of noisy moves.
    capture_exchange;
    /// Step 12: pruning of quiet moves by history.
    history_pruning;
    /// Step 12: exchanges of quiet moves.
    quiet_exchange;
    /// Step 13: singular extension as a whole, with multi-cut and negative extension.
    singular_extension;
    /// Step 13: second and third ply of a singular extension.
    double_extension;
    /// Step 13: multi-cut.
    multi_cut;
    /// Step 13: negative extension.
    negative_extension;
    /// Step 14: more reduction in expected cut nodes.
    reduce_cut_node;
    /// Step 14: more reduction in expected all nodes.
    reduce_all_node;
    /// Step 14: more reduction where the table's move is noisy.
    reduce_noisy;
    /// Step 14: more reduction after cutoffs of the children.
    reduce_child_cutoffs;
    /// Step 14: reduction by history.
    reduce_history;
    /// Step 16: correction histories.
    correction;
    /// Step 16: malus of the opponent's early quiet move.
    early_quiet_malus;
    /// Quiescence: futility.
    qs_futility;
}
