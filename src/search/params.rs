//! Every tunable number of the search: one line each with name, default, range and step.
//!
//! The names say what a number is for: `*_base`, `*_depth` (times depth), `*_margin` (internal units),
//! `*_scale` (1024ths), `red_*` (reductions, in 1024ths of a ply). In an ordinary build each is a constant; with
//! the feature `tune` each is a UCI option, and `zoothera tune` prints OpenBench's SPSA lines.
// CITE: starting values were oriented by those published in Stockfish's source of August 2026 and, for what is not in
// it, Stockfish 17's and Berserk's; their units (internal, PawnValue about 208) are ours.
// MEASURED: 9,600 games of `zoothera tune spsa` over 44 of them (10,000 nodes a move, --shake 2 --rate 0.005) took
// `fut_base` to 96 and moved the rest by little more than noise does; its values against these at 20,000 nodes:
// +2 +- 13 (1291 games). Not kept.

/// The usual learning rate of SPSA's last iteration, in squares of the last perturbation (`R_end`).
pub const LAST_RATE: f64 = 0.002;

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name, as UCI option and SPSA input.
    pub name: &'static str,
    /// Value in an ordinary build.
    pub default: i32,
    /// Least sensible value.
    pub min: i32,
    /// Greatest sensible value.
    pub max: i32,
    /// SPSA's last step size (`C_end`).
    pub step: i32,
}

impl Parameter {
    /// The line that OpenBench's SPSA input wants: `name, int, value, min, max, C_end, R_end`.
    pub fn spsa_line(&self) -> String {
        let Self {
            name,
            default,
            min,
            max,
            step,
        } = self;
        format!("{name}, int, {default}.0, {min}.0, {max}.0, {step}.0, {LAST_RATE}")
    }
}

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

        /// Sets a parameter; `false` when there is none of that name or the value is out of its range.
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

parameters! {
    // Aspiration window
    asp_delta = 8, 4..=40, 3;
    asp_variance_div = 12000, 4000..=30000, 1500;
    // Razoring
    razor_base = 483, 200..=900, 40;
    razor_depth2 = 318, 120..=500, 25;
    // Reverse futility pruning
    rfp_depth_max = 19, 6..=24, 1;
    rfp_mult_base = 45, 10..=120, 6;
    rfp_mult_depth = 4, 0..=12, 1;
    rfp_mult_max = 85, 40..=180, 8;
    rfp_no_tt = 20, 0..=60, 4;
    rfp_improving = 2789, 0..=5000, 250;
    rfp_worsening = 335, 0..=1024, 50;
    rfp_corr_div = 151, 40..=600, 25;
    // Null move
    nmp_depth_margin = 13, 5..=40, 3;
    nmp_base_margin = 365, 100..=700, 35;
    nmp_improving = 47, 0..=150, 8;
    nmp_least_beta = 2000, 500..=6000, 250;
    nmp_eval_div = 256, 100..=400, 20;
    nmp_base = 7, 3..=9, 1;
    nmp_verify_depth = 16, 10..=20, 1;
    // Internal iterative reduction
    iir_depth = 6, 3..=9, 1;
    // Verification of the table's cut-offs
    tt_verify_depth = 7, 3..=12, 1;
    // ProbCut
    probcut_margin = 190, 80..=350, 18;
    probcut_improving = 58, 0..=150, 10;
    probcut_tt_margin = 415, 200..=700, 30;
    // Shallow pruning of moves
    lmp_base = 3, 1..=8, 1;
    cap_fut_base = 234, 80..=450, 22;
    cap_fut_depth = 247, 80..=400, 20;
    cap_fut_history = 134, 0..=300, 15;
    see_cap_depth = 177, 60..=300, 13;
    see_cap_history = 34, 0..=90, 4;
    see_quiet_depth = 23, 10..=60, 3;
    hist_prune_depth = 4300, 1500..=8000, 350;
    hist_lmr_div = 3600, 1500..=8000, 350;
    fut_base = 164, 40..=320, 15;
    fut_above_alpha = 90, 0..=250, 14;
    fut_depth = 119, 50..=220, 10;
    // Singular extensions
    sing_depth = 6, 4..=9, 1;
    sing_beta_base = 59, 20..=120, 6;
    sing_beta_pv = 77, 20..=160, 8;
    sing_double = 0, -60..=120, 10;
    sing_double_pv = 244, 60..=450, 22;
    sing_double_quiet = 206, 40..=400, 20;
    sing_triple = 90, 20..=300, 16;
    sing_triple_pv = 270, 100..=500, 25;
    sing_triple_quiet = 250, 60..=450, 22;
    sing_beyond = 40, 0..=120, 6;
    // Late move reductions, in 1024ths of a ply
    red_factor = 2872, 1800..=3800, 110;
    red_base = 982, 300..=2000, 90;
    red_delta = 577, 200..=1400, 60;
    red_not_improving = 394, 0..=900, 40;
    red_ttpv = 2094, 800..=4000, 160;
    red_ttpv_pv = 1004, 0..=2000, 100;
    red_ttpv_score = 885, 0..=1800, 90;
    red_ttpv_depth = 816, 0..=2000, 100;
    red_ttpv_cut = 940, 0..=2000, 100;
    red_offset = 697, -500..=1600, 80;
    red_count = 65, 0..=140, 7;
    red_corr = 5101, 0..=12000, 500;
    red_cut = 4026, 1000..=6000, 220;
    red_cut_no_tt = 933, 0..=2200, 110;
    red_tt_noisy = 1079, 0..=2400, 120;
    red_cutoffs = 264, 0..=1200, 60;
    red_cutoffs_more = 1095, 0..=2200, 110;
    red_cutoffs_all = 1138, 0..=2200, 110;
    red_tt_move = 2179, 600..=3800, 140;
    red_history = 1756, 600..=3600, 130;
    red_all = 276, 0..=700, 35;
    deeper = 53, 10..=140, 7;
    shallower = 10, 2..=40, 3;
    red_full_no_tt = 1127, 200..=3500, 120;
    red_full_one = 5234, 2000..=8000, 250;
    red_full_two = 5487, 3500..=9000, 250;
    // Quiescence
    qs_futility = 300, 100..=500, 20;
    qs_see = 75, 0..=200, 10;
    qs_history = 5800, 2000..=10000, 400;
    // Histories: bonus and malus for a move that did or did not cut
    bonus_depth = 133, 60..=300, 12;
    bonus_offset = 81, 0..=300, 15;
    bonus_max = 1487, 800..=3000, 110;
    bonus_tt_move = 364, 0..=900, 45;
    bonus_answer = 73, 0..=250, 12;
    malus_depth = 968, 300..=1500, 55;
    malus_offset = 235, 0..=500, 25;
    malus_max = 2244, 1000..=4000, 150;
    hist_eval_mult = 11, 3..=25, 1;
    hist_eval_offset = 60, 0..=150, 7;
    // Correction histories: weights in 1024ths of a unit
    corr_pawn = 120, 40..=240, 10;
    corr_minor = 83, 30..=180, 8;
    corr_non_pawn = 101, 40..=200, 9;
    corr_cont = 68, 20..=150, 7;
    // Evaluation
    eval_base = 720, 500..=1000, 25;
    eval_material_div = 32, 16..=96, 4;
    // Time
    time_share = 1024, 400..=3000, 60;
    time_falling_score = 12, 0..=40, 3;
    time_stability = 90, 20..=200, 10;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lines_have_seven_fields() {
        let mut names: Vec<_> = TABLE.iter().map(|p| p.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
        for parameter in TABLE {
            assert_eq!(parameter.spsa_line().split(", ").count(), 7);
        }
    }
}
