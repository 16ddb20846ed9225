//! Tools that use the engine as a library.
