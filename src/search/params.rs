//! Every tunable number of the search: one line each with name, default, range and step.
//!
//! The names say what a number is for: `*_base`, `*_depth` (times depth), `*_margin` (internal units),
//! `*_scale` (1024ths), `red_*` (reductions, in 1024ths of a ply). In an ordinary build each is a constant; with
//! the feature `tune` each is a UCI option, and `zoothera tune` prints OpenBench's SPSA lines.
// CITE: starting values were oriented by those published in Stockfish 17's and Berserk's sources, whose units
// (internal, PawnValue about 208) are ours.

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
        format!("{name}, int, {default}.0, {min}.0, {max}.0, {step}.0, 0.002")
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
    razor_base = 480, 200..=900, 40;
    razor_depth2 = 290, 120..=500, 25;
    // Reverse futility pruning
    rfp_depth_max = 14, 6..=18, 1;
    rfp_mult = 112, 50..=220, 9;
    rfp_no_tt = 26, 0..=60, 4;
    rfp_improving = 2048, 0..=4096, 200;
    rfp_worsening = 340, 0..=1024, 50;
    rfp_corr_div = 140, 40..=600, 25;
    // Null move
    nmp_depth_margin = 19, 5..=40, 3;
    nmp_base_margin = 400, 100..=700, 35;
    nmp_eval_div = 230, 100..=400, 20;
    nmp_base = 5, 3..=7, 1;
    nmp_verify_depth = 16, 10..=20, 1;
    // Internal iterative reduction
    iir_depth = 6, 3..=9, 1;
    // ProbCut
    probcut_margin = 190, 80..=350, 18;
    probcut_improving = 58, 0..=150, 10;
    probcut_tt_margin = 415, 200..=700, 30;
    // Shallow pruning of moves
    lmp_base = 3, 1..=8, 1;
    cap_fut_base = 240, 80..=450, 22;
    cap_fut_depth = 230, 80..=400, 20;
    cap_fut_history = 133, 0..=300, 15;
    see_cap_depth = 155, 60..=280, 13;
    see_cap_history_div = 32, 10..=90, 4;
    see_quiet_depth = 27, 10..=60, 3;
    hist_prune_depth = 4300, 1500..=8000, 350;
    hist_lmr_div = 3600, 1500..=8000, 350;
    fut_base = 48, 0..=200, 12;
    fut_no_best = 98, 0..=250, 14;
    fut_depth = 116, 50..=220, 10;
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
    // Late move reductions, in 1024ths of a ply
    red_factor = 2750, 1800..=3800, 110;
    red_base = 1180, 300..=2000, 90;
    red_delta = 780, 300..=1400, 60;
    red_not_improving = 300, 0..=900, 40;
    red_ttpv = 2380, 800..=4000, 160;
    red_ttpv_pv = 1000, 0..=2000, 100;
    red_ttpv_score = 880, 0..=1800, 90;
    red_ttpv_depth = 1020, 0..=2000, 100;
    red_ttpv_add = 980, 0..=2000, 100;
    red_offset = 306, -500..=1200, 70;
    red_count = 34, 0..=100, 5;
    red_corr = 29, 8..=90, 4;
    red_cut = 2780, 1000..=4500, 170;
    red_cut_no_tt = 1040, 0..=2200, 110;
    red_tt_noisy = 1170, 0..=2400, 120;
    red_cutoffs = 1040, 0..=2200, 110;
    red_cutoffs_all = 860, 0..=1800, 90;
    red_tt_move = 1940, 600..=3400, 140;
    red_history = 1580, 600..=3200, 130;
    red_stat_offset = 3270, 0..=8000, 400;
    red_capture_offset = 4820, 0..=9000, 400;
    deeper_base = 42, 10..=120, 6;
    shallower = 10, 2..=40, 3;
    red_full_no_tt = 2110, 500..=3500, 150;
    red_full_one = 3440, 2000..=5500, 170;
    red_full_two = 5050, 3500..=8000, 220;
    // Quiescence
    qs_futility = 300, 100..=500, 20;
    qs_see = 75, 0..=200, 10;
    qs_history = 5800, 2000..=10000, 400;
    // Histories: bonus and malus for a move that did or did not cut
    bonus_depth = 158, 60..=300, 12;
    bonus_offset = 98, 0..=300, 15;
    bonus_max = 1620, 800..=3000, 110;
    malus_depth = 802, 300..=1200, 45;
    malus_offset = 243, 0..=500, 25;
    malus_max = 2850, 1000..=4000, 150;
    hist_eval_mult = 10, 3..=25, 1;
    hist_eval_offset = 655, 0..=1200, 60;
    // Correction histories: weights in 1024ths of a unit
    corr_pawn = 56, 20..=120, 6;
    corr_minor = 53, 20..=120, 6;
    corr_non_pawn = 61, 20..=120, 6;
    corr_cont = 51, 20..=120, 6;
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
