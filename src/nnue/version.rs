//! The first word of a network file. The build script reads this file too: it uses nothing of the crate.

/// The version of the files of Stockfish 12 and 13.
pub const VERSION_1: u32 = 0x7AF3_2F16;
/// The version of the files of all later engines up to Stockfish 18.
pub const VERSION_2: u32 = 0x7AF3_2F20;
/// The version of the files of Stockfish 19.
pub const VERSION_3: u32 = 0x6A44_8AFA;
/// The version of the files of our own that describe themselves.
pub const VERSION_OWN: u32 = 0x5A6F_6F31;

/// All of them.
pub const KNOWN_VERSIONS: &[u32] = &[VERSION_1, VERSION_2, VERSION_3, VERSION_OWN];

/// Bytes before the description: version, file hash, and the description's length.
pub const HEADER_SIZE: usize = 12;

/// What is said of a file that ends within its header.
pub fn too_short(actual: usize) -> String {
    format!("{actual} bytes are too short for a network's header")
}

/// What is said of a file that begins with none of the known versions.
pub fn unknown(found: u32) -> String {
    let known: Vec<String> = KNOWN_VERSIONS
        .iter()
        .map(|version| format!("{version:08X}"))
        .collect();
    let (last, others) = known.split_last().expect("there are some");
    format!(
        "not a known network: version {found:08X}, expected {} or {last}; nets of Stockfish's development versions \
         between its releases (as SFNNv11 to v15) are not supported",
        others.join(", ")
    )
}
