//! Every tunable number of the search: one line each with name, default, range and step; and the switches of rules.
//!
//! The affixes of a name describe its use: `*_base`, `*_depth` (times depth), `*_margin` (internal units), `*_div`
//! (divides), `*_scale` (1024ths), `*_min` and `*_max` (bounds), `*_plies`, `red_*` (reductions, in 1024ths of a ply).
//! In an ordinary build each is a constant. With the feature `tune` each is an atomic that a UCI option or a tuning run
//! sets, and `zoothera tune` prints OpenBench's SPSA lines. A new value applies from the next use; initial values of
//! histories apply from the next game. The ranges protect every formula from overflow, division by zero and crossed
//! bounds.
//!
//! A comment above each group names the origin of its values by short names. `SF-2026-08` is Stockfish's development
//! version of 3 August 2026 (commit 762dd1d), `SF-17.1` Stockfish 17.1 (March 2025), `SF-17` Stockfish 17 (September
//! 2024). Units are those of Stockfish (a pawn is about 208). "Converted" means the same number in other units, such
//! as 1024ths. Of the 256 values, 174 equal those of SF-2026-08 (16 of them converted) and 4 are close to them. 35
//! equal those of earlier Stockfish versions and 25 are rounded from them. 4 come from our own measurements. For 14
//! the origin is not recorded. No value was traced to Reckless, Viridithas, Berserk or Ethereal.
//! `docs/experiments.md` has the tuning runs and screenings.

// An ordinary build uses only the names of the parameters.
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

parameters! {
    // Aspiration window
    // CITE: form: Stockfish. `asp_depth` as in Stockfish 12, `asp_grow_div` as in SF-17.1, `asp_variance_div` rounded
    // from SF-17.1 (11834). `asp_delta`: our screenings (Stockfish has 5). Origin of `asp_variance_max` not
    // recorded.
    asp_depth = 4, 2..=8, 1;
    asp_delta = 20, 4..=40, 3;
    asp_variance_div = 12000, 4000..=30000, 1500;
    asp_variance_max = 4000000, 500000..=12000000, 400000;
    asp_grow_div = 3, 1..=4, 1;
    // Average of a root move's values: weight of the newest, in 32nds
    // CITE: SF-2026-08.
    root_newest_min = 12, 1..=16, 2;
    root_newest_max = 24, 16..=32, 2;
    // Cutoffs by the transposition table and tablebases
    // CITE: SF-2026-08, except `tt_other_depth` (SF-17.1; SF-2026-08 has 4) and `tt_halfmoves` (SF-17.1; SF-2026-08
    // has 96).
    tt_other_depth = 5, 0..=10, 1;
    tt_verify_depth = 7, 3..=12, 1;
    tt_penalty_depth = 5, 2..=12, 1;
    tt_ageing_depth = 5, 1..=12, 1;
    tt_halfmoves = 90, 40..=100, 4;
    tb_store_plies = 6, 0..=12, 1;
    // Hindsight depth, by the reduction of the previous move
    // CITE: SF-2026-08, except `hind_shallower_sum` (close to its 166).
    hind_deeper_plies = 3, 1..=6, 1;
    hind_shallower_plies = 2, 1..=6, 1;
    hind_shallower_sum = 180, 40..=400, 20;
    // Razoring
    // CITE: SF-2026-08.
    razor_base = 483, 200..=900, 40;
    razor_depth2 = 318, 120..=500, 25;
    // Reverse futility pruning
    // CITE: SF-2026-08; `rfp_corr_div` converted. `rfp_return_div`: Stockfish 18.
    rfp_depth_max = 19, 6..=24, 1;
    rfp_mult_base = 45, 10..=120, 6;
    rfp_mult_depth = 4, 0..=12, 1;
    rfp_mult_max = 85, 40..=180, 8;
    rfp_no_tt = 20, 0..=60, 4;
    rfp_improving = 2789, 0..=5000, 250;
    rfp_worsening = 335, 0..=1024, 50;
    rfp_corr_div = 151, 40..=600, 25;
    rfp_return_div = 3, 1..=8, 1;
    // Null move
    // CITE: SF-2026-08; `nmp_verify_scale` converted (3/4).
    nmp_depth_margin = 13, 5..=40, 3;
    nmp_base_margin = 365, 100..=700, 35;
    nmp_improving = 47, 0..=150, 8;
    nmp_least_beta = 2000, 500..=6000, 250;
    nmp_eval_div = 256, 100..=400, 20;
    nmp_base = 7, 3..=9, 1;
    nmp_depth_div = 3, 2..=8, 1;
    nmp_verify_depth = 16, 10..=20, 1;
    nmp_verify_scale = 768, 256..=1024, 64;
    // Internal iterative reduction
    // CITE: SF-2026-08.
    iir_depth = 6, 3..=9, 1;
    // ProbCut
    // CITE: SF-2026-08 for depths and plies. `probcut_improving` and `probcut_tt_margin`: SF-17.1; `probcut_margin`
    // rounded from SF-17.1 (185).
    probcut_depth = 3, 2..=8, 1;
    probcut_plies = 3, 2..=6, 1;
    probcut_plies_improving = 5, 2..=8, 1;
    probcut_margin = 190, 80..=350, 18;
    probcut_improving = 58, 0..=150, 10;
    probcut_tt_margin = 415, 200..=700, 30;
    probcut_tt_plies = 4, 1..=8, 1;
    // Shallow pruning of moves
    // CITE: SF-2026-08, except `hist_prune_depth` and `hist_lmr_div`, rounded from SF-17.1 (4348, 3593), and
    // `hist_lmr_butterfly`, from SF-17.
    lmp_base = 3, 1..=8, 1;
    cap_fut_depth_max = 8, 3..=14, 1;
    cap_fut_base = 234, 80..=450, 22;
    cap_fut_depth = 247, 80..=400, 20;
    cap_fut_history = 134, 0..=300, 15;
    see_cap_depth = 177, 60..=300, 13;
    see_cap_history = 34, 0..=90, 4;
    see_quiet_depth = 23, 10..=60, 3;
    hist_prune_depth = 4300, 1500..=8000, 350;
    hist_lmr_butterfly = 2, 0..=4, 1;
    hist_lmr_div = 3600, 1500..=8000, 350;
    fut_depth_max = 12, 6..=18, 1;
    fut_base = 164, 40..=320, 15;
    fut_above_alpha = 90, 0..=250, 14;
    fut_depth = 119, 50..=220, 10;
    // Singular extensions
    // CITE: depths, `sing_negative` and `sing_shuffle_*`: SF-2026-08 (`sing_depth_scale` converted). `sing_beta_*`:
    // SF-17.1. `sing_double_pv` and `sing_double_quiet`: Stockfish between April and July 2025; `sing_double`
    // SF-17.1. `sing_triple*`: close to SF-17.1 (88, 265, 256, 93). `sing_beyond`: between the 38 and 43 of
    // SF-2026-08.
    sing_depth = 6, 4..=9, 1;
    sing_tt_plies = 3, 1..=6, 1;
    sing_depth_scale = 512, 256..=768, 32;
    sing_beta_base = 59, 20..=120, 6;
    sing_beta_pv = 77, 20..=160, 8;
    sing_beta_div = 54, 20..=120, 6;
    sing_double = 0, -60..=120, 10;
    sing_double_pv = 244, 60..=450, 22;
    sing_double_quiet = 206, 40..=400, 20;
    sing_triple = 90, 20..=300, 16;
    sing_triple_pv = 270, 100..=500, 25;
    sing_triple_quiet = 250, 60..=450, 22;
    sing_triple_ttpv = 97, 0..=250, 14;
    sing_beyond = 40, 0..=120, 6;
    sing_negative = 3, 0..=5, 1;
    sing_shuffle_halfmoves = 10, 4..=40, 3;
    sing_shuffle_ply = 20, 8..=60, 4;
    // Depth of the moves after one that raised alpha
    // CITE: SF-2026-08.
    raise_depth_min = 3, 1..=8, 1;
    raise_depth_max = 12, 6..=20, 1;
    raise_plies = 3, 0..=5, 1;
    // History score of a move, in 1024ths (victims of captures in 128ths)
    // CITE: SF-2026-08.
    stat_victim = 873, 300..=1600, 65;
    stat_butterfly = 2252, 800..=4000, 150;
    stat_answer = 1126, 300..=2200, 90;
    stat_second = 1093, 300..=2200, 90;
    // Late move reductions, in 1024ths of a ply
    // CITE: SF-2026-08; `red_not_improving`, `red_corr` and `red_history` converted, `red_ttpv` is its 3023 minus its
    // 929. `red_factor`: our screenings (SF-2026-08 has 2872). Origin of `red_delta_max` not recorded.
    red_factor = 3040, 1800..=3800, 110;
    red_base = 982, 300..=2000, 90;
    red_delta = 577, 200..=1400, 60;
    red_delta_max = 4096, 1024..=8192, 300;
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
    red_cutoffs_min = 1, 0..=4, 1;
    red_cutoffs = 264, 0..=1200, 60;
    red_cutoffs_more = 1095, 0..=2200, 110;
    red_cutoffs_all = 1138, 0..=2200, 110;
    red_tt_move = 2179, 600..=3800, 140;
    red_history = 1756, 600..=3600, 130;
    red_all = 276, 0..=700, 35;
    red_all_depth = 256, 64..=800, 35;
    red_all_offset = 268, 1..=800, 35;
    // Searches after a reduced one
    // CITE: SF-2026-08, except `shallower` (close to its 8) and `full_keep_depth` (SF-17.1).
    deeper = 53, 10..=140, 7;
    shallower = 10, 2..=40, 3;
    red_full_no_tt = 1127, 200..=3500, 120;
    red_full_one = 5234, 2000..=8000, 250;
    red_full_two = 5487, 3500..=9000, 250;
    full_keep_depth = 8, 2..=16, 1;
    // Quiescence
    // CITE: `qs_moves`: SF-2026-08; `qs_fail_scale` lies between its 441 and 462. `qs_see`: SF-17.1. `qs_evasions`:
    // Stockfish 16.1. `qs_futility`: our screenings (SF-17 has 299). Origin of `qs_history` not recorded; the rule is
    // SF-17's.
    qs_futility = 250, 100..=500, 20;
    qs_see = 75, 0..=200, 10;
    qs_history = 5800, 2000..=10000, 400;
    qs_moves = 2, 1..=6, 1;
    qs_evasions = 1, 1..=4, 1;
    qs_fail_scale = 450, 0..=1024, 50;
    // Move ordering
    // CITE: SF-2026-08, except `pick_threat_*` (Stockfish between May and November 2025).
    pick_victim = 7, 2..=16, 1;
    pick_see_div = 18, 6..=60, 3;
    pick_general = 2, 1..=4, 1;
    pick_low_ply = 8, 0..=20, 1;
    pick_check = 16384, 2000..=32000, 1500;
    pick_check_see = 75, 0..=300, 15;
    pick_threat_minor = 144, 0..=400, 20;
    pick_threat_rook = 256, 0..=600, 30;
    pick_threat_queen = 517, 0..=1000, 50;
    pick_threat_leave = 100, 20..=200, 9;
    pick_threat_enter = 95, 20..=200, 9;
    pick_good_quiet = -14000, -28000..=0, 1400;
    // Histories: limits (they must fit an i16), initial values, and the share kept for a new search, in 1024ths
    // CITE: limits and `hist_butterfly_keep`: SF-2026-08. Initial values rounded from SF-17.1 (-646, -468, -1262, 92).
    hist_butterfly_max = 7183, 3000..=16000, 700;
    hist_capture_max = 10692, 4000..=24000, 1000;
    hist_cont_max = 30000, 12000..=32000, 1500;
    hist_pawn_max = 8192, 3000..=16000, 700;
    hist_capture_start = -600, -2000..=1000, 100;
    hist_cont_start = -450, -2000..=1000, 100;
    hist_pawn_start = -1000, -2500..=1000, 120;
    hist_low_start = 90, -500..=600, 40;
    hist_butterfly_keep = 729, 0..=1024, 50;
    // Histories: bonus of the best move and malus of the others
    // CITE: SF-2026-08.
    bonus_depth = 133, 60..=300, 12;
    bonus_offset = 81, 0..=300, 15;
    bonus_max = 1487, 800..=3000, 110;
    bonus_tt_move = 364, 0..=900, 45;
    bonus_answer = 73, 0..=250, 12;
    bonus_stat_div = 28, 8..=120, 6;
    bonus_tried_div = 256, 64..=1024, 40;
    bonus_quiet = 899, 300..=1800, 75;
    bonus_capture = 1427, 500..=2800, 115;
    malus_depth = 968, 300..=1500, 55;
    malus_offset = 235, 0..=500, 25;
    malus_max = 2244, 1000..=4000, 150;
    malus_quiet = 1159, 400..=2200, 90;
    malus_quiet_next = 921, 600..=1024, 25;
    malus_capture = 1489, 500..=2800, 115;
    malus_early = 713, 0..=1600, 75;
    // Histories: share of a quiet move's bonus for each table, in 1024ths
    // CITE: SF-2026-08.
    quiet_low = 712, 200..=1600, 65;
    quiet_cont = 750, 200..=1600, 65;
    quiet_pawn = 1104, 300..=2200, 90;
    quiet_pawn_malus = 459, 100..=1200, 50;
    // Continuation histories: weights of the contexts 1 to 6 plies ago, in 1024ths
    // CITE: SF-2026-08.
    cont_1 = 1040, 400..=1800, 70;
    cont_2 = 780, 200..=1500, 65;
    cont_3 = 290, 0..=900, 45;
    cont_4 = 502, 0..=1100, 50;
    cont_5 = 132, 0..=700, 35;
    cont_6 = 418, 0..=1000, 50;
    // Continuation histories: weight by the number of positive entries so far, in 128ths
    // CITE: SF-2026-08.
    agree_0 = 94, 40..=180, 8;
    agree_1 = 103, 40..=180, 8;
    agree_2 = 110, 40..=180, 8;
    agree_3 = 106, 40..=180, 8;
    agree_4 = 119, 40..=180, 8;
    agree_5 = 126, 40..=180, 8;
    agree_6 = 121, 40..=180, 8;
    // Histories: cutoff by the transposition table; re-search of a reduced move
    // CITE: SF-2026-08.
    table_depth = 112, 30..=300, 13;
    table_max = 695, 200..=1600, 70;
    table_early = 2210, 500..=4500, 200;
    table_early_count = 5, 1..=12, 1;
    research_bonus = 1334, 300..=3000, 130;
    // Histories: the node failed low
    // CITE: SF-2026-08; `low_*_scale` converted.
    low_capture = 892, 200..=2000, 90;
    low_base = -241, -600..=200, 40;
    low_stat_div = 98, 30..=400, 20;
    low_depth = 59, 10..=150, 7;
    low_depth_max = 420, 100..=900, 40;
    low_late = 186, 0..=450, 22;
    low_late_count = 9, 3..=20, 1;
    low_eval = 142, 0..=400, 20;
    low_eval_margin = 106, 20..=300, 14;
    low_before = 159, 0..=400, 20;
    low_before_margin = 68, 10..=250, 12;
    low_amount_depth = 150, 40..=350, 15;
    low_amount_offset = 85, 0..=300, 15;
    low_amount_max = 1337, 500..=2800, 115;
    low_cont_scale = 16832, 4000..=40000, 1800;
    low_butterfly_scale = 6880, 1500..=20000, 900;
    low_pawn_scale = 41472, 8000..=90000, 4000;
    // Histories: the evaluation after a move
    // CITE: SF-2026-08.
    hist_eval_min = 189, 60..=400, 17;
    hist_eval_max = 194, 60..=400, 17;
    hist_eval_offset = 60, 0..=150, 7;
    hist_eval_mult = 11, 3..=25, 1;
    hist_eval_pawn = 13, 3..=30, 1;
    // Correction histories: weights in 1024ths of a unit
    // CITE: SF-2026-08, converted.
    corr_pawn = 120, 40..=240, 10;
    corr_minor = 83, 30..=180, 8;
    corr_non_pawn = 101, 40..=200, 9;
    corr_cont = 68, 20..=150, 7;
    // Correction histories: learning rates (common one in 1024ths, of each table in 128ths)
    // CITE: SF-2026-08; `corr_step_max` converted (a quarter of the limit).
    corr_max = 1024, 512..=2048, 80;
    corr_step_max = 256, 64..=600, 25;
    corr_rate = 1061, 300..=2200, 90;
    corr_rate_minor = 150, 40..=350, 15;
    corr_rate_non_pawn = 186, 40..=400, 18;
    corr_rate_second = 130, 30..=300, 14;
    corr_rate_fourth = 70, 10..=200, 10;
    corr_fail_high = 12, 4..=40, 2;
    corr_fail_low = 18, 4..=40, 2;
    corr_multi_cut = 177, 40..=270, 18;
    // Evaluation
    // CITE: `eval_base` and `eval_material_div`: Stockfish of September to November 2020. `eval_fade_div`: SF-17 and
    // SF-17.1.
    eval_base = 720, 500..=1000, 25;
    eval_material_div = 32, 16..=96, 4;
    eval_fade_div = 212, 120..=600, 20;
    // Vote of the threads
    // CITE: Stockfish, in SF-17.1 and SF-2026-08.
    vote_offset = 14, 1..=60, 4;
    // Time, sudden death: share of the clock (100,000ths by the size of the clock, 10,000ths), and the hard limit
    // (100ths)
    // CITE: form: Stockfish's timeman. `time_ply_offset`, `time_share_max`, `time_hard_ply_div`: SF-17. `time_horizon`:
    // SF-2026-08. `time_size_*`, `time_ply_power` and the other `time_hard_*`: rounded from SF-17.1. `time_share` and
    // `time_share_base` (122 in SF-17): our own games at a clock. Origin of `time_hard_ply_max` not recorded.
    time_share = 900, 400..=3000, 60;
    time_horizon = 50, 20..=80, 4;
    time_size_base = 320, 100..=600, 30;
    time_size_slope = 32, 0..=100, 6;
    time_size_max = 510, 200..=1000, 45;
    time_share_base = 75, 0..=300, 15;
    time_ply_offset = 295, 0..=1000, 50;
    time_ply_power = 46, 10..=90, 4;
    time_share_max = 213, 50..=500, 22;
    time_hard_base = 340, 150..=700, 30;
    time_hard_slope = 300, 0..=600, 30;
    time_hard_min = 295, 100..=600, 25;
    time_hard_max = 670, 300..=1200, 50;
    time_hard_ply_div = 12, 4..=40, 2;
    time_hard_ply_max = 300, 0..=600, 30;
    // Time, moves to a time control
    // CITE: SF-17; `time_control_ply_div` rounded from its 116.4.
    time_control_base = 880, 300..=1800, 80;
    time_control_ply_div = 116, 40..=400, 18;
    time_control_max = 880, 500..=980, 30;
    time_control_hard = 1500, 1000..=3000, 120;
    time_control_hard_move = 110, 0..=300, 15;
    time_control_hard_max = 6300, 2000..=12000, 500;
    // Time, in 1000ths: maximum share of the clock, pondering, and factors of the soft limit by the search's progress
    // CITE: `time_ponder`: Stockfish, converted. `time_ceiling`: rounded from SF-17 (0.825). `time_falling_max`:
    // rounded from SF-17.1. `time_falling_min` (570 in SF-17.1, rounded): our own games. `time_effort` and
    // `time_effort_min`: Stockfish 18 (0.76 from 0.9334 on). The form of `time_falling_*` and `time_changes` is
    // Stockfish's, that of `time_stability*` Berserk's; the origin of these figures and of `time_ceiling_min`,
    // `time_overhead_max` and `time_forced` is not recorded.
    time_ceiling = 820, 400..=950, 30;
    time_ceiling_min = 20, 1..=100, 5;
    time_overhead_max = 20, 0..=100, 5;
    time_ponder = 1250, 1000..=1600, 40;
    time_falling_base = 600, 200..=1000, 40;
    time_falling_score = 12, 0..=40, 3;
    time_falling_previous = 2100, 0..=5000, 250;
    time_falling_min = 510, 200..=1000, 40;
    time_falling_max = 1600, 1000..=3000, 100;
    time_stability = 90, 20..=200, 10;
    time_stability_max = 1350, 1000..=2200, 60;
    time_stability_min = 680, 200..=1000, 40;
    time_changes = 1500, 0..=4000, 200;
    time_effort_min = 930, 500..=1000, 25;
    time_effort = 760, 300..=1000, 40;
    time_forced = 100, 1..=1000, 50;
}

pub mod rules {
    //! Switches of whole rules. With the feature `tune` a screening can turn a rule off for one of the players, which
    //! measures what the rule gains. In an ordinary build every switch is the constant `true`.
    //!
    //! A new switch is a line in the table below and a condition at the rule. It is removed once the gain of its rule
    //! is known, as for nine rules whose gains exceed the error of the screening (`docs/experiments.md`).

    #[cfg(feature = "tune")]
    use super::Parameter;

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
