//! Detection of divergence and overfitting during a run.

use super::checkpoint::Validation;

/// Share of the dense layers' weights at their limit from which a run counts as diverged. In a healthy net it is below
/// 0.05.
const MAX_LIMITED: f64 = 0.5;
/// Maximum relative excess of the held-out loss over the training loss.
const MAX_GAP: f64 = 0.1;
/// Lambdas that differ by less count as equal. The two losses are comparable only for equal lambdas.
const SAME_LAMBDA: f32 = 1e-4;

/// Returns the reason why a run counts as diverged, if any, from a loss and the share of weights at their limit.
pub fn divergence(loss: f64, limited: f64) -> Option<String> {
    if !loss.is_finite() {
        return Some(format!("the loss is {loss}"));
    }
    // NaN weights give a NaN share.
    (limited.is_nan() || limited >= MAX_LIMITED)
        .then(|| format!("{:.1} % of the dense layers' weights are at their limit", 100.0 * limited))
}

/// Returns a warning if the last two validations are the first two consecutive ones with a held-out loss more than
/// [`MAX_GAP`] above the training loss. `lambda` is the weight of the score in the held-out loss.
pub fn overfitting(history: &[Validation], lambda: f32) -> Option<String> {
    let overfits = |validation: &Validation| {
        (validation.lambda - lambda).abs() < SAME_LAMBDA
            && f64::from(validation.held_out) > (1.0 + MAX_GAP) * validation.train
    };
    let twice = |pair: &[Validation]| pair.iter().all(overfits);
    let mut pairs = history.windows(2);
    let last = pairs.next_back()?;
    if !twice(last) || pairs.any(twice) {
        return None;
    }
    let Validation { train, held_out, .. } = last[1];
    let gap = 100.0 * (f64::from(held_out) / train - 1.0);
    Some(format!(
        "warning: the held-out loss {held_out:.6} is {gap:.0} % above the training loss {train:.6}: the net overfits. \
         The best remedy is more positions; otherwise show them less often (--millions), or use --factor-decay, \
         --real-decay or --decay"
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
    fn non_finite_loss_and_limited_weights_are_divergence() {
        assert_eq!(divergence(0.01, 0.04), None);
        assert!(divergence(f64::NAN, 0.0).is_some_and(|text| text.contains("NaN")));
        assert!(divergence(f64::INFINITY, 0.0).is_some());
        let text = divergence(0.3, 0.999).expect("most weights are at their limit");
        assert!(text.contains("99.9 %"), "{text}");
        assert!(divergence(0.3, f64::NAN).is_some());
    }

    #[test]
    fn overfitting_warning_appears_once_with_figures() {
        let losses = [(0.020, 0.019), (0.010, 0.012), (0.010, 0.010), (0.010, 0.012), (0.008, 0.012), (0.007, 0.013)];
        let warned: Vec<usize> =
            (1..=losses.len()).filter(|&count| overfitting(&history(&losses[..count]), 1.0).is_some()).collect();
        assert_eq!(warned, [5]);
        let text = overfitting(&history(&losses[..5]), 1.0).expect("a warning");
        assert!(text.contains("0.012000 is 50 % above"), "{text}");
        // With another lambda the losses have different targets.
        assert_eq!(overfitting(&history(&losses[..5]), 0.7), None);
    }
}
