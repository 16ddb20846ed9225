// The package's files. build.mjs replaces this module.

/** Size in bytes by file name. */
export const BUILT = {};
