//! The version: first word of a network file. The build script includes this file too, so it uses nothing from the
//! crate.

/// Version of the files of Stockfish 12 and 13.
pub const VERSION_1: u32 = 0x7AF3_2F16;
/// Version of the files of Stockfish 14 to 18.
pub const VERSION_2: u32 = 0x7AF3_2F20;
/// Version of the files of Stockfish 19.
pub const VERSION_3: u32 = 0x6A44_8AFA;
/// Version of our own self-describing files.
pub const VERSION_OWN: u32 = 0x5A6F_6F31;

/// All versions above.
pub const KNOWN_VERSIONS: &[u32] = &[VERSION_1, VERSION_2, VERSION_3, VERSION_OWN];

/// Size in bytes of the fields before the description: version, file hash, and the description's length.
pub const HEADER_SIZE: usize = 12;

/// Error message for a file that is shorter than the header.
pub fn too_short(actual: usize) -> String {
    format!("not a network: the file has {actual} bytes, shorter than the header")
}

/// Error message for a file with an unknown version.
pub fn unknown(found: u32) -> String {
    let known: Vec<String> = KNOWN_VERSIONS.iter().map(|version| format!("{version:08X}")).collect();
    let (last, others) = known.split_last().expect("the list is not empty");
    format!(
        "not a known network: version {found:08X}, expected {} or {last}; nets of Stockfish's development versions \
         between releases (such as SFNNv11 to v15) are not supported",
        others.join(", ")
    )
}
