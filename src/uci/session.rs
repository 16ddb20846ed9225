//! UCI on a platform with neither threads nor blocking input: a WebAssembly module in a browser's worker.
//!
//! The host calls [`Session::serve`] whenever input has arrived. The engine then executes the lines that it can read,
//! and returns. During a search it reads further lines, if the host can deliver any, so that `stop` ends the search at
//! once.

use std::io::Read;
use std::sync::Arc;

use crossbeam::channel::Receiver;

use super::engine::Engine;
use super::mailbox::{Mailbox, Message};
use super::output::Output;
use super::reader::{Progress, Reader};
use super::terminal::Audience;
use crate::util::polling;
use crate::util::sync::Mutex;

/// The engine between two calls of the host.
pub struct Session {
    reader: Arc<Mutex<Reader>>,
    engine: Engine,
    messages: Receiver<Message>,
}

impl Session {
    /// A session on an input whose reads never block. `reaches_search` is whether lines can arrive during a search. If
    /// they cannot, the host must be able to end the instance. `exit` ends the process after `quit`.
    pub fn new(input: impl Read + Send + 'static, output: &Output, reaches_search: bool, exit: fn()) -> Self {
        let (mailbox, messages) = Mailbox::new();
        let reader = Reader::new(input, mailbox.clone(), output.clone(), false, exit);
        let reader = Arc::new(Mutex::new(reader));
        let during_search = reader.clone();
        polling::set_host(reaches_search, move || {
            // The reader is not locked during a search: `serve` locks it only to read, and reading starts no search.
            while during_search.lock().read_command() == Progress::Read {}
        });
        Self { reader, engine: Engine::new(output.clone(), mailbox, Audience::Gui), messages }
    }

    /// Executes all lines that have arrived. Returns false once no line follows.
    pub fn serve(&mut self) -> bool {
        loop {
            let progress = self.reader.lock().read_command();
            self.engine.run_pending(&self.messages);
            if progress != Progress::Read {
                return progress == Progress::Nothing;
            }
        }
    }
}
