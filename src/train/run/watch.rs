//! Watches a run for divergence and for overfitting.

use super::checkpoint::Validation;

/// Share of the dense layers' weights at their limit from which a run has diverged. In a sound net it is below 0.05.
const MOST_LIMITED: f64 = 0.5;
/// Share by which the held-out loss may exceed the training loss.
const LARGEST_GAP: f64 = 0.1;
/// Lambdas that differ by less are the same: only then both losses can be compared.
const SAME_LAMBDA: f32 = 1e-4;

/// Why a run has diverged, if it has: by a loss, and by the share of weights at their limit.
pub fn divergence(loss: f64, limited: f64) -> Option<String> {
    if !loss.is_finite() {
        return Some(format!("the loss is {loss}"));
    }
    // A share that is no number comes of weights that are none.
    (limited.is_nan() || limited >= MOST_LIMITED).then(|| {
        format!(
            "{:.1} % of the dense layers' weights are at their limit",
            100.0 * limited
        )
    })
}

/// A warning when the last two validations are the first two in a row with a held-out loss that departs from the
/// training loss. `lambda` is that of the held-out loss.
pub fn overfitting(history: &[Validation], lambda: f32) -> Option<String> {
    let departs = |validation: &Validation| {
        (validation.lambda - lambda).abs() < SAME_LAMBDA
            && f64::from(validation.held_out) > (1.0 + LARGEST_GAP) * validation.train
    };
    let twice = |pair: &[Validation]| pair.iter().all(departs);
    let mut pairs = history.windows(2);
    let last = pairs.next_back()?;
    if !twice(last) || pairs.any(twice) {
        return None;
    }
    let Validation {
        train, held_out, ..
    } = last[1];
    let gap = 100.0 * (f64::from(held_out) / train - 1.0);
    Some(format!(
        "warning: the held-out loss {held_out:.6} is {gap:.0} % above the training loss {train:.6}: the net overfits. \
         More positions help most; else show them less often (--millions), or use --factor-decay, --real-decay or \
         --decay"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(losses: &[(f64, f32)]) -> Vec<Validation> {
        let validation = |&(train, held_out): &(f64, f32)| Validation {
            shown: 0,
            train,
            held_out,
            rate: 0.001,
            lambda: 1.0,
            seconds: 0.0,
        };
        losses.iter().map(validation).collect()
    }

    #[test]
    fn loss_that_is_no_number_and_limited_weights_are_divergence() {
        assert_eq!(divergence(0.01, 0.04), None);
        assert!(divergence(f64::NAN, 0.0).is_some_and(|text| text.contains("NaN")));
        assert!(divergence(f64::INFINITY, 0.0).is_some());
        let text = divergence(0.3, 0.999).expect("most weights are at their limit");
        assert!(text.contains("99.9 %"), "{text}");
        assert!(divergence(0.3, f64::NAN).is_some());
    }

    #[test]
    fn overfitting_is_told_once_with_numbers() {
        let losses = [
            (0.020, 0.019),
            (0.010, 0.012),
            (0.010, 0.010),
            (0.010, 0.012),
            (0.008, 0.012),
            (0.007, 0.013),
        ];
        let told: Vec<usize> = (1..=losses.len())
            .filter(|&count| overfitting(&history(&losses[..count]), 1.0).is_some())
            .collect();
        assert_eq!(told, [5]);
        let text = overfitting(&history(&losses[..5]), 1.0).expect("a warning");
        assert!(text.contains("0.012000 is 50 % above"), "{text}");
        // The losses are of other targets.
        assert_eq!(overfitting(&history(&losses[..5]), 0.7), None);
    }
}
