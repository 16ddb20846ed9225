//! Adam kernel.

use super::*;

#[inline(always)]
pub fn adam<const FMA: bool>(
    step: &AdamStep,
    weights: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
    gradient: &[f32],
) {
    let moments = first.iter_mut().zip(second);
    for ((weight, (first, second)), &gradient) in weights.iter_mut().zip(moments).zip(gradient) {
        *first = step.beta1 * *first + (1.0 - step.beta1) * gradient;
        *second = step.beta2 * *second + (1.0 - step.beta2) * gradient * gradient;
        let change = step.rate * *first / (second.sqrt() + step.epsilon);
        *weight -= change + step.decay * *weight;
    }
}
