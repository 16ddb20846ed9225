//! CityHashCrc, the hash in the checksums of Syzygy tablebases.
//!
//! All arithmetic is modulo 2^64. Words are little-endian.
// CITE: G. Pike and J. Alakuijala, CityHash 1.0.3 (2011), as a description of the algorithm with its constants.

const K0: u64 = 0xc3a5_c85c_97cb_3127;
const K1: u64 = 0xb492_b66f_be98_f273;
const K3: u64 = 0xc949_d7c7_509e_6557;

/// Bytes that one round of the long hash reads.
const STEP: usize = 40;
/// Number of rounds between which the multiplier alternates, and minimum length of the long hash in bytes.
const LONG: usize = 6 * STEP;

/// Hash of 256 bits.
pub fn crc_256(data: &[u8]) -> [u64; 4] {
    if data.len() >= LONG {
        return crc_256_long(data, 0);
    }
    let mut padded = [0; LONG];
    padded[..data.len()].copy_from_slice(data);
    crc_256_long(&padded, !(data.len() as u32))
}

/// Hash of 128 bits.
///
/// # Panics
/// Panics on less than 32 bytes, because the cases for short inputs are not implemented.
pub fn crc_128(data: &[u8]) -> [u64; 2] {
    const SHORT: usize = 900;
    if data.len() > SHORT {
        let [.., third, fourth] = crc_256(data);
        return [third, fourth];
    }
    let (seed, rest) = data.split_at(16);
    let seed = [word(seed, 0) ^ K3, word(seed, 8)];
    if rest.len() < 2 * BLOCK { murmur(rest, seed) } else { city_128(rest, seed) }
}

/// State of the long hash: six mixed words, and five checksums of them.
struct Long {
    words: [u64; 6],
    sums: [u64; 5],
}

impl Long {
    /// Mixes in 40 bytes. `odd` changes the rotations.
    fn mix(&mut self, data: &[u8], multiplier: u64, odd: u32) {
        const ROTATIONS: [u32; 5] = [41, 27, 41, 33, 25];
        let [first, rest @ ..] = self.words;
        for i in 0..5 {
            self.words[i] =
                rotated(rest[i], ROTATIONS[i] ^ odd).wrapping_mul(multiplier).wrapping_add(word(data, 8 * i));
            self.sums[i] = crc32c(self.sums[i] as u32, self.words[i]).into();
        }
        self.words[5] = first;
    }
}

fn crc_256_long(data: &[u8], seed: u32) -> [u64; 4] {
    let length = data.len() as u64;
    let seed = u64::from(seed);
    let b = word(data, 96).wrapping_add(K0);
    let c = mixed(b, length);
    let d = word(data, 120).wrapping_mul(K0).wrapping_add(length);
    let words = [word(data, 56).wrapping_add(K0), b, c, d, word(data, 184).wrapping_add(seed), c.wrapping_add(d)];
    let mut state = Long { words, sums: [seed, 0, 0, 0, 0] };
    let mut blocks = data.chunks_exact(LONG);
    for block in &mut blocks {
        for (i, step) in block.chunks_exact(STEP).enumerate() {
            let (multiplier, odd) = if i % 2 == 0 { (1, 1) } else { (K0, 0) };
            state.mix(step, multiplier, odd);
        }
    }
    let mut steps = blocks.remainder().chunks_exact(STEP);
    for step in &mut steps {
        state.mix(step, K0, 0);
    }
    if !steps.remainder().is_empty() {
        state.mix(&data[data.len() - STEP..], K0, 0);
    }
    finish_256(&state, [c, d])
}

fn finish_256(state: &Long, first: [u64; 2]) -> [u64; 4] {
    let [a, b, c, d, e, t] = state.words;
    let [f, g, h, i, j] = state.sums;
    let j = j.wrapping_add(i << 32);
    let a = mixed(a, j);
    let h = h.wrapping_add(g << 32);
    let b = b.wrapping_add(h);
    let c = mixed(c, f).wrapping_add(i);
    let d = mixed(d, e.wrapping_add(first[0]));
    let j = j.wrapping_add(e);
    let i = i.wrapping_add(mixed(h, t));
    let e = mixed(a, d).wrapping_add(j);
    let f = mixed(b, c).wrapping_add(a);
    let g = mixed(j, i).wrapping_add(c);
    let first_word = e.wrapping_add(f).wrapping_add(g).wrapping_add(h);
    let a = shifted(a.wrapping_add(g).wrapping_mul(K0)).wrapping_mul(K0).wrapping_add(b);
    let second = first[1].wrapping_add(a).wrapping_add(first_word);
    let a = shifted(a.wrapping_mul(K0)).wrapping_mul(K0).wrapping_add(c);
    let third = a.wrapping_add(second);
    let a = shifted(a.wrapping_add(e).wrapping_mul(K0)).wrapping_mul(K0);
    [first_word, second, third, a.wrapping_add(third)]
}

/// The hash of less than 128 bytes, at least 16.
fn murmur(data: &[u8], [mut a, mut b]: [u64; 2]) -> [u64; 2] {
    let length = data.len();
    let (mut c, mut d);
    if length == 16 {
        a = shifted(a.wrapping_mul(K1)).wrapping_mul(K1);
        c = b.wrapping_mul(K1).wrapping_add(hash_of_16(data));
        d = shifted(a.wrapping_add(word(data, 0)));
    } else {
        c = mixed(word(data, length - 8).wrapping_add(K1), a);
        d = mixed(b.wrapping_add(length as u64), c.wrapping_add(word(data, length - 16)));
        a = a.wrapping_add(d);
        // The last 16 bytes are used above.
        for i in (0..length - 16).step_by(16) {
            a = (a ^ shifted(word(data, i).wrapping_mul(K1)).wrapping_mul(K1)).wrapping_mul(K1);
            b ^= a;
            c = (c ^ shifted(word(data, i + 8).wrapping_mul(K1)).wrapping_mul(K1)).wrapping_mul(K1);
            d ^= c;
        }
    }
    a = mixed(a, c);
    b = mixed(d, b);
    [a ^ b, mixed(b, a)]
}

/// Bytes that one round of the hash of 128 or more bytes reads.
const BLOCK: usize = 64;

/// The hash of 128 or more bytes.
fn city_128(data: &[u8], [mut x, mut y]: [u64; 2]) -> [u64; 2] {
    let length = data.len();
    let mut z = (length as u64).wrapping_mul(K1);
    let v_first = rotated(y ^ K1, 49).wrapping_mul(K1).wrapping_add(word(data, 0));
    let mut v = [v_first, rotated(v_first, 42).wrapping_mul(K1).wrapping_add(word(data, 8))];
    let mut w = [
        rotated(y.wrapping_add(z), 35).wrapping_mul(K1).wrapping_add(x),
        rotated(x.wrapping_add(word(data, 88)), 53).wrapping_mul(K1),
    ];
    let rounds = 2 * (length / (2 * BLOCK));
    for block in data.chunks_exact(BLOCK).take(rounds) {
        x = rotated(x.wrapping_add(y).wrapping_add(v[0]).wrapping_add(word(block, 8)), 37).wrapping_mul(K1) ^ w[1];
        y = rotated(y.wrapping_add(v[1]).wrapping_add(word(block, 48)), 42).wrapping_mul(K1);
        y = y.wrapping_add(v[0]).wrapping_add(word(block, 40));
        z = rotated(z.wrapping_add(w[0]), 33).wrapping_mul(K1);
        v = weak(block, v[1].wrapping_mul(K1), x.wrapping_add(w[0]));
        w = weak(&block[32..], z.wrapping_add(w[1]), y.wrapping_add(word(block, 16)));
        std::mem::swap(&mut x, &mut z);
    }
    x = x.wrapping_add(rotated(v[0].wrapping_add(z), 49).wrapping_mul(K0));
    z = z.wrapping_add(rotated(w[0], 37).wrapping_mul(K0));
    // The rest in pieces of 32 bytes from the end; the last piece can overlap the blocks.
    let rest = length - rounds * BLOCK;
    for done in (32..rest + 32).step_by(32) {
        let piece = &data[length - done..];
        y = rotated(x.wrapping_add(y), 42).wrapping_mul(K0).wrapping_add(v[1]);
        w[0] = w[0].wrapping_add(word(piece, 16));
        x = x.wrapping_mul(K0).wrapping_add(w[0]);
        z = z.wrapping_add(w[1]).wrapping_add(word(piece, 0));
        w[1] = w[1].wrapping_add(v[0]);
        v = weak(piece, v[0].wrapping_add(z), v[1]);
    }
    x = mixed(x, v[0]);
    y = mixed(y.wrapping_add(z), w[0]);
    [mixed(x.wrapping_add(v[1]), w[1]).wrapping_add(y), mixed(x.wrapping_add(w[1]), y.wrapping_add(v[1]))]
}

/// Mixes 32 bytes into two words.
fn weak(data: &[u8], a: u64, b: u64) -> [u64; 2] {
    let a = a.wrapping_add(word(data, 0));
    let last = word(data, 24);
    let b = rotated(b.wrapping_add(a).wrapping_add(last), 21);
    let sum = a.wrapping_add(word(data, 8)).wrapping_add(word(data, 16));
    [sum.wrapping_add(last), b.wrapping_add(rotated(sum, 44)).wrapping_add(a)]
}

fn hash_of_16(data: &[u8]) -> u64 {
    let (a, b) = (word(data, 0), word(data, 8));
    mixed(a, rotated(b.wrapping_add(16), 16)) ^ b
}

/// Hash of two words.
fn mixed(u: u64, v: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9ddf_ea08_eb38_2d69;
    let step = |word: u64| {
        let word = word.wrapping_mul(MULTIPLIER);
        word ^ (word >> 47)
    };
    step(v ^ step(u ^ v)).wrapping_mul(MULTIPLIER)
}

fn shifted(word: u64) -> u64 {
    word ^ (word >> 47)
}

fn rotated(word: u64, bits: u32) -> u64 {
    word.rotate_right(bits)
}

/// The word at an offset.
fn word(data: &[u8], offset: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&data[offset..offset + 8]);
    u64::from_le_bytes(bytes)
}

/// CRC-32C of the eight bytes of a word, without inversion.
fn crc32c(crc: u32, word: u64) -> u32 {
    let word = word ^ u64::from(crc);
    (0..8).fold(0, |sum, i| sum ^ TABLES[7 - i][(word >> (8 * i)) as usize & 0xff])
}

/// The CRC of each byte, followed by a number of zero bytes from 0 to 7.
static TABLES: [[u32; 256]; 8] = crc_tables();

const fn crc_tables() -> [[u32; 256]; 8] {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut tables = [[0; 256]; 8];
    let mut i = 0;
    while i < 256 {
        let mut crc = i as u32;
        let mut bit = 0;
        while bit < 64 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
            if bit % 8 == 0 {
                tables[bit / 8 - 1][i] = crc;
            }
        }
        i += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The high bytes of a linear congruential generator.
    fn data(length: usize) -> Vec<u8> {
        let mut state = 12345_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    /// The values were computed with the C implementation that the generator of the tables uses.
    #[test]
    fn hashes_equal_those_of_the_reference() {
        for (length, short, last) in [
            (32, [0x5a4c_ed8d_a73a_5c02, 0xee94_6e0b_0cd0_06e5], 0x25f0_2734_af16_dac8),
            (64, [0x8786_05a1_7543_7d78, 0x648d_0a6b_415d_ab79], 0x1882_cfea_1bce_7cd3),
            (144, [0x37f4_aff1_19a7_539a, 0xb834_34d5_2090_1cfa], 0xac23_70a6_3f9f_9763),
            (152, [0xd4fd_fd3f_1dde_a345, 0x1989_e553_4e8e_acc3], 0xcc38_6588_4580_fe5d),
            (896, [0x35da_2359_46af_07c3, 0x0544_8e8d_ebee_56db], 0xee21_9fa2_f250_ca24),
            (904, [0x43c5_bd19_d7d0_3327, 0x6dd6_2c55_c038_d1c0], 0x6dd6_2c55_c038_d1c0),
        ] {
            let data = data(length);
            assert_eq!((crc_128(&data), crc_256(&data)[3]), (short, last), "{length} bytes");
        }
    }

    #[test]
    fn crc_equals_the_published_check_value() {
        // CITE: RFC 3720, appendix B.4: 32 bytes of zeros.
        let crc = (0..4).fold(u32::MAX, |crc, _| crc32c(crc, 0));
        assert_eq!(!crc, 0x8a91_36aa);
    }
}
