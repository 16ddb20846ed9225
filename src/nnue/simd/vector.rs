//! The algorithms of the vector kernels, for the abstract instructions of [`Isa`]: updates of accumulators, and the
//! layers after them. As in `generic`, all functions are inlined into functions that enable the instructions.
//!
//! A width is a number of tiles of as many registers as keep the sums of a tile, and narrower tiles of
//! [`PAIRED_COLUMNS`] and [`WIDTH_STEP`] columns at the end. Within a tile all loops have constant trip counts, so that
//! the sums stay in registers.

use std::iter::zip;

use super::generic::{Bytes, InputBuffer, Inputs, Isa, activate, affine, direct, first_layer, lanes, output, width};
use super::scalar;
use crate::nnue::architecture::{PAIRED_COLUMNS, Shape, Topology, WIDTH_STEP};
use crate::nnue::layers::Head;
use crate::nnue::rows::{Accumulator, AllRows, Changes, PSQT, Rows, UPPER_OFFSET, excess, lower_column};

/// See [`Kernels::update`](super::Kernels::update). The most common lengths of the lists have specialised code.
///
/// # Safety
/// The processor must have the instructions of `I`.
#[inline(always)]
pub(super) unsafe fn update<I: Isa, const L1: usize>(
    rows: &Rows<'_, i16>,
    from: &Accumulator,
    to: &mut Accumulator,
    added: &[u16],
    removed: &[u16],
) {
    let rows = &rows.with_width(width::<L1>(rows.width()));
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        match (added, removed) {
            (&[a], &[r]) => apply::<I>(rows, from, to, &[a], &[r]),
            (&[a], &[r, s]) => apply::<I>(rows, from, to, &[a], &[r, s]),
            (&[a, b], &[r, s]) => apply::<I>(rows, from, to, &[a, b], &[r, s]),
            _ => apply::<I>(rows, from, to, added, removed),
        }
    }
}

/// Adds and subtracts all rows for one tile of sums at a time.
#[inline(always)]
unsafe fn apply<I: Isa>(
    rows: &Rows<'_, i16>,
    from: &Accumulator,
    to: &mut Accumulator,
    added: &[u16],
    removed: &[u16],
) {
    let lanes = I::BYTES / 2;
    // Half of the registers, eight or sixteen.
    let tile = I::REGISTERS / 2;
    let (width, (neurons, psqt)) = (rows.width(), to.parts_mut());
    let (before, after) = (&from.neurons()[..width], &mut neurons[..width]);
    // The values fill at most one register; plain code is as fast. They come first: at the end, the compiler would join
    // the stores of all callers, and split the register.
    *psqt = rows.psqt_after(*from.psqt(), added, removed);
    let mut start = 0;
    // SAFETY: `start + registers * lanes <= width` in every call, because the width is a whole number of steps.
    unsafe {
        while start + tile * lanes <= width {
            add_tile::<I>(start, tile, rows, before, after, added, removed);
            start += tile * lanes;
        }
        while start + PAIRED_COLUMNS <= width {
            add_tile::<I>(start, PAIRED_COLUMNS / lanes, rows, before, after, added, removed);
            start += PAIRED_COLUMNS;
        }
        if start < width {
            add_tile::<I>(start, WIDTH_STEP / lanes, rows, before, after, added, removed);
        }
    }
}

/// [`apply`] for the columns of `registers` registers from `start` on; `registers` is a constant.
///
/// # Safety
/// The processor must have the instructions of `I`, all rows the length of `from` and `to`, and the columns must exist.
#[inline(always)]
unsafe fn add_tile<I: Isa>(
    start: usize,
    registers: usize,
    rows: &Rows<'_, i16>,
    from: &[i16],
    to: &mut [i16],
    added: &[u16],
    removed: &[u16],
) {
    let lanes = I::BYTES / 2;
    // SAFETY: the caller guarantees the instructions and the columns.
    unsafe {
        let mut sums = [I::splat(0); 16];
        for (i, sum) in sums.iter_mut().enumerate().take(registers) {
            *sum = I::load(from.as_ptr().add(start + i * lanes).cast());
        }
        for &feature in added {
            let row = rows.row(feature.into()).as_ptr().add(start);
            for (i, sum) in sums.iter_mut().enumerate().take(registers) {
                *sum = I::add16(*sum, I::load(row.add(i * lanes).cast()));
            }
        }
        for &feature in removed {
            let row = rows.row(feature.into()).as_ptr().add(start);
            for (i, sum) in sums.iter_mut().enumerate().take(registers) {
                *sum = I::sub16(*sum, I::load(row.add(i * lanes).cast()));
            }
        }
        for (i, &sum) in sums.iter().enumerate().take(registers) {
            I::store(to.as_mut_ptr().add(start + i * lanes).cast(), sum);
        }
    }
}

/// See [`Kernels::update_all`](super::Kernels::update_all). Adds the paired rows first, as words of two columns,
/// then the rows of pieces, with separate columns.
///
/// # Safety
/// The processor must have the instructions of `I`.
// CITE: ours: words of two columns need no shuffle to widen bytes.
#[inline(always)]
pub(super) unsafe fn update_all<I: Isa, const L1: usize>(
    rows: &AllRows<'_>,
    from: &Accumulator,
    to: &mut Accumulator,
    changes: &Changes<'_>,
) {
    let width = width::<L1>(rows.pieces.width());
    let rows = &rows.with_width(width);
    let (neurons, psqt) = to.parts_mut();
    let (before, after) = (&from.neurons()[..width], &mut neurons[..width]);
    // First, as in `apply`.
    // SAFETY: the caller guarantees the instructions.
    unsafe { update_psqt::<I::Narrow>(rows, from.psqt(), psqt, changes) };
    // The sums use half of the sixteen registers, or of the thirty-two with 512 bits. Each pair contains the lower and
    // the upper columns of one register of words.
    let pairs = if I::BYTES == 64 { 8 } else { 4 };
    let mut start = 0;
    assert!(width.is_multiple_of(PAIRED_COLUMNS), "paired rows have whole blocks of columns");
    // SAFETY: the caller guarantees the instructions. `start + pairs * BYTES <= width` in both loops, because the width
    // is a whole number of blocks of columns.
    unsafe {
        while start + pairs * I::BYTES <= width {
            update_tile::<I>(start, pairs, rows, before, after, changes);
            start += pairs * I::BYTES;
        }
        while start < width {
            update_tile::<I>(start, PAIRED_COLUMNS / I::BYTES, rows, before, after, changes);
            start += PAIRED_COLUMNS;
        }
    }
}

/// Sets `to` to the piece-square values `from` after all changes.
///
/// # Safety
/// The processor must have the instructions of `I`.
#[inline(always)]
unsafe fn update_psqt<I: Isa>(rows: &AllRows<'_>, from: &[i32; PSQT], to: &mut [i32; PSQT], changes: &Changes<'_>) {
    // SAFETY: the caller guarantees the instructions.
    let [added, removed] = unsafe {
        let zero = [I::splat(0); 2];
        let added = add_psqt::<I, _>(zero, &rows.pieces, changes.added);
        let removed = add_psqt::<I, _>(zero, &rows.pieces, changes.removed);
        [
            psqt_of::<I>(add_psqt::<I, _>(added, &rows.paired, changes.paired_added)),
            psqt_of::<I>(add_psqt::<I, _>(removed, &rows.paired, changes.paired_removed)),
        ]
    };
    for ((to, &from), (&added, &removed)) in zip(zip(to, from), zip(&added, &removed)) {
        *to = from.wrapping_add(added).wrapping_sub(removed);
    }
}

/// Adds the piece-square values of features to `sums`, the first registers that have [`PSQT`] lanes in total.
///
/// # Safety
/// The processor must have the instructions of `I`.
// With registers by hand: compilers gather one value of each row instead of adding a row.
#[inline(always)]
unsafe fn add_psqt<I: Isa, W>(
    mut sums: [I::V; 2],
    rows: &Rows<'_, W>,
    features: &[impl Copy + Into<u32>],
) -> [I::V; 2] {
    for &feature in features {
        let values: &[u8] = bytemuck::cast_slice(rows.psqt(feature.into()));
        for (sum, values) in zip(&mut sums, values.chunks_exact(I::BYTES)) {
            // SAFETY: the caller guarantees the instructions; a chunk fills a register.
            *sum = unsafe { I::add32(*sum, I::load(values.as_ptr())) };
        }
    }
    sums
}

/// The lanes of the sums of [`add_psqt`].
///
/// # Safety
/// The processor must have the instructions of `I`.
#[inline(always)]
unsafe fn psqt_of<I: Isa>(sums: [I::V; 2]) -> [i32; PSQT] {
    let mut psqt = [0; PSQT];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut psqt);
    for (&sum, bytes) in zip(&sums, bytes.chunks_exact_mut(I::BYTES)) {
        // SAFETY: the caller guarantees the instructions; a chunk has the size of a register.
        unsafe { I::store(bytes.as_mut_ptr(), sum) };
    }
    psqt
}

/// [`update_all`] for the columns of `pairs` pairs of registers from `start` on; `pairs` is a constant.
///
/// # Safety
/// The processor must have the instructions of `I`, all rows the length of `from` and `to`, and the columns must exist
/// and be whole blocks of 64.
#[inline(always)]
unsafe fn update_tile<I: Isa>(
    start: usize,
    pairs: usize,
    rows: &AllRows<'_>,
    from: &[i16],
    to: &mut [i16],
    changes: &Changes<'_>,
) {
    // The same value in both halves of 32 bits.
    let excess = excess(changes.paired_added.len(), changes.paired_removed.len());
    let excess = (u32::from(excess as u16) * 0x1_0001).cast_signed();
    // SAFETY: the caller guarantees the instructions and the columns. A lower column plus `UPPER_OFFSET` is within the
    // same block of 64 columns.
    unsafe {
        let mut sums = [[I::splat(0); 2]; 8];
        let sums = &mut sums[..pairs];
        for &feature in changes.paired_added {
            let row = rows.paired.row(feature).as_ptr().add(start);
            for (i, [words, upper]) in sums.iter_mut().enumerate() {
                let row = I::load(row.add(i * I::BYTES).cast());
                *words = I::add16(*words, row);
                *upper = I::add16(*upper, I::upper16(row));
            }
        }
        for &feature in changes.paired_removed {
            let row = rows.paired.row(feature).as_ptr().add(start);
            for (i, [words, upper]) in sums.iter_mut().enumerate() {
                let row = I::load(row.add(i * I::BYTES).cast());
                *words = I::sub16(*words, row);
                *upper = I::sub16(*upper, I::upper16(row));
            }
        }
        let column = |i: usize| lower_column(start + i * I::BYTES);
        for (i, [lower, upper]) in sums.iter_mut().enumerate() {
            let from = from.as_ptr().add(column(i));
            let words = I::sub16(*lower, I::splat(excess));
            *lower = I::add16(I::load(from.cast()), I::sub16(words, I::raise16(*upper)));
            *upper = I::add16(I::load(from.add(UPPER_OFFSET).cast()), *upper);
        }
        for &feature in changes.added {
            let row = rows.pieces.row(feature.into()).as_ptr();
            for (i, [lower, upper]) in sums.iter_mut().enumerate() {
                let row = row.add(column(i));
                *lower = I::add16(*lower, I::load(row.cast()));
                *upper = I::add16(*upper, I::load(row.add(UPPER_OFFSET).cast()));
            }
        }
        for &feature in changes.removed {
            let row = rows.pieces.row(feature.into()).as_ptr();
            for (i, [lower, upper]) in sums.iter_mut().enumerate() {
                let row = row.add(column(i));
                *lower = I::sub16(*lower, I::load(row.cast()));
                *upper = I::sub16(*upper, I::load(row.add(UPPER_OFFSET).cast()));
            }
        }
        for (i, &[lower, upper]) in sums.iter().enumerate() {
            let to = to.as_mut_ptr().add(column(i));
            I::store(to.cast(), lower);
            I::store(to.add(UPPER_OFFSET).cast(), upper);
        }
    }
}

// The layers after the accumulators; [`scalar`] is their specification.

/// The raw output for the accumulators of the side to move (`own`) and of the `other` side, see [`scalar::forward`].
///
/// # Safety
/// The processor must have the instructions of `I`.
///
/// # Panics
/// If the layers of `head` do not have the sizes of the shape.
#[inline(always)]
pub(super) unsafe fn forward<I: Isa, const L1: usize>(shape: &Shape, head: &Head, own: &[i16], other: &[i16]) -> i32 {
    let width = width::<L1>(own.len());
    let (own, other) = (&own[..width], &other[..width]);
    let (mut buffer, activation) = (InputBuffer::new(), shape.activation);
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        // Each topology has one kind of inputs, so that their number is a constant if the width is.
        match shape.topology {
            Topology::Plain => {
                let input = &buffer.clipped::<I>(activation, own, other);
                if shape.hidden[0] <= 16 { plain::<I, 16>(head, input) } else { plain::<I, 32>(head, input) }
            }
            Topology::Skip { squares } => skip::<I>(head, &buffer.products::<I>(activation, own, other), squares),
            Topology::Sfnnv16 => sfnnv16::<I>(head, &buffer.products::<I>(activation, own, other)),
            Topology::Direct => direct::<I>(activation, &head.direct, own, other),
        }
    }
}

/// Three layers with clipped ReLUs between them, see [`Topology::Plain`]. The outputs of the first layer are padded to
/// `H1`; the second layer has 32, the last one.
#[inline(always)]
unsafe fn plain<I: Isa, const H1: usize>(head: &Head, input: &Inputs<'_>) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let sums = first_layer::<I, H1>(&head.first, input);
        let mut hidden = Bytes([0; 32]);
        activate::<I, H1>(&sums, &mut hidden);
        second_and_output::<I>(head, &hidden)
    }
}

/// Layers of 16, 32 and 1 outputs with a skip connection, see [`Topology::Skip`].
#[inline(always)]
unsafe fn skip<I: Isa>(head: &Head, input: &Inputs<'_>, squares: bool) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let sums = first_layer::<I, 16>(&head.first, input);
        let mut hidden = [0i32; 16];
        for (r, &sum) in sums.iter().enumerate().take(64 / I::BYTES) {
            I::store(hidden.as_mut_ptr().cast::<u8>().add(r * I::BYTES), sum);
        }
        let (activated, skip) = scalar::skip_activation(&hidden, squares);
        second_and_output::<I>(head, &Bytes(activated)).wrapping_add(skip)
    }
}

/// Densely connected layers of 32, 32 and 1 outputs with a skip connection, see [`Topology::Sfnnv16`].
#[inline(always)]
unsafe fn sfnnv16<I: Isa>(head: &Head, input: &Inputs<'_>) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let first = lanes::<I>(first_layer::<I, 32>(&head.first, input));
        let mut all = Bytes([0; 128]);
        scalar::square_and_clip(&first, 7, &mut all.0[..64]);
        let second = lanes::<I>(affine::<I, 32>(&head.second, &all.0[..64]));
        scalar::square_and_clip(&second, 6, &mut all.0[64..]);
        scalar::sfnnv16_output(output::<I, 128>(&head.output, &all), &first)
    }
}

/// The layers after the first one.
#[inline(always)]
unsafe fn second_and_output<I: Isa>(head: &Head, input: &Bytes<32>) -> i32 {
    // SAFETY: the caller guarantees the instructions; every function checks the lengths that it relies on.
    unsafe {
        let sums = affine::<I, 32>(&head.second, &input.0);
        let mut hidden = Bytes([0; 32]);
        activate::<I, 32>(&sums, &mut hidden);
        output::<I, 32>(&head.output, &hidden)
    }
}

// The kernels of one instruction set: the shared algorithms as functions that enable its features.
//
// The loops of a kernel run to the width of the net. A second instance of each kernel has a constant width, that of
// the default net and of most published nets ([`for_width`]): with widths known at run time only, the engine is
// several percent slower.

/// Calls the instance of a kernel for a width.
macro_rules! for_width {
    ($width:expr, $kernel:ident($($argument:ident),+)) => {
        match $width {
            1024 => $kernel::<1024>($($argument),+),
            _ => $kernel::<{ $crate::nnue::simd::generic::ANY_WIDTH }>($($argument),+),
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(super) use for_width;

/// Declares kernels for one instruction set: the shared algorithms, compiled for its features.
macro_rules! compiled_for {
    ($features:literal, $isa:ty: $($name:ident)+) => {
        $(compiled_for! { @$name $features, $isa })+
    };
    (@update $features:literal, $isa:ty) => {
        compiled_for! { @kernel $features, rows.width(), $crate::nnue::simd::vector::update::<$isa, L1>,
            fn update(
                rows: &$crate::nnue::rows::Rows<'_, i16>,
                from: &$crate::nnue::rows::Accumulator,
                to: &mut $crate::nnue::rows::Accumulator,
                added: &[u16],
                removed: &[u16]
            ) -> ()
        }
    };
    (@update_all $features:literal, $isa:ty) => {
        compiled_for! { @kernel $features, rows.pieces.width(), $crate::nnue::simd::vector::update_all::<$isa, L1>,
            fn update_all(
                rows: &$crate::nnue::rows::AllRows<'_>,
                from: &$crate::nnue::rows::Accumulator,
                to: &mut $crate::nnue::rows::Accumulator,
                changes: &$crate::nnue::rows::Changes<'_>
            ) -> ()
        }
    };
    (@forward $features:literal, $isa:ty) => {
        compiled_for! { @kernel $features, own.len(), $crate::nnue::simd::vector::forward::<$isa, L1>,
            fn forward(
                shape: &$crate::nnue::Shape,
                head: &$crate::nnue::layers::Head,
                own: &[i16],
                other: &[i16]
            ) -> i32
        }
    };
    (
        @kernel $features:literal, $width:expr, $algorithm:path,
        fn $name:ident($($argument:ident: $type:ty),+) -> $result:ty
    ) => {
        /// # Safety
        /// The processor must have the features.
        // Inlined, because some arguments are passed in memory, and a second call would copy them.
        #[inline(always)]
        // In WebAssembly all functions of a module have the features, so the call is safe.
        #[cfg_attr(target_arch = "wasm32", allow(unused_unsafe))]
        pub unsafe fn $name($($argument: $type),+) -> $result {
            #[target_feature(enable = $features)]
            fn of_width<const L1: usize>($($argument: $type),+) -> $result {
                // SAFETY: this function enables the features.
                unsafe { $algorithm($($argument),+) }
            }
            // SAFETY: the caller guarantees the features.
            unsafe { $crate::nnue::simd::vector::for_width!($width, of_width($($argument),+)) }
        }
    };
}
#[cfg(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub(super) use compiled_for;
