//! The functions that a WebAssembly module without `main` exports: `cargo rustc --lib --crate-type cdylib`. JavaScript
//! calls them; see `web/`.
#![allow(unsafe_code)] // The names of exports must not be mangled.

use std::cell::RefCell;

use super::dispatch::exit_code;
use crate::uci::Session;
use crate::uci::output::Output;

thread_local! {
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

// SAFETY: the linker and the C library define the functions, which take nothing and return nothing.
unsafe extern "C" {
    fn __wasm_call_ctors();
    #[cfg(has_threads)]
    fn __wasi_init_tp();
}

/// Initialises the module. The host calls it first, and once: without this function, the linker would make every
/// export initialise and shut down the C library.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn _initialize() {
    // SAFETY: the host calls it once, before every other export. The first thread needs its record first.
    unsafe {
        #[cfg(has_threads)]
        __wasi_init_tp();
        __wasm_call_ctors();
    }
}

/// Runs the command line with the arguments of the host, and returns the exit code.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn zoothera_run() -> i32 {
    exit_code().into()
}

/// Executes the UCI commands available on standard input, and returns 1; or 0 once no command follows. A read of
/// standard input must fail with `EAGAIN` while it is empty. `reaches_search` is not 0 if input can arrive while the
/// module calls `sched_yield`.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn zoothera_serve(reaches_search: i32) -> i32 {
    SESSION.with_borrow_mut(|session| {
        let session = session.get_or_insert_with(|| {
            Session::new(std::io::stdin(), &Output::stdout(), reaches_search != 0, || std::process::exit(0))
        });
        session.serve().into()
    })
}
