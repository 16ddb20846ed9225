//! What the engine does when an option changes. Changes of resources that the search threads share wait for the end of
//! a running search.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Engine, report_hash, report_threads};
use crate::book::Book;
use crate::search::score::LoadedTables;
use crate::uci::options::{self, Action, unquoted};
use crate::uci::output::{self, Output};
use crate::util::reason;
use crate::util::text::{Shown as _, excerpt};

impl Engine {
    /// Does what belongs to an option with a new value.
    pub(super) fn act(&mut self, action: Action, value: &str) -> Result<(), String> {
        match action {
            Action::Hash => self.resize_hash(),
            Action::Threads => self.restart_threads(),
            Action::EvalFile => self.set_net(value),
            Action::ClearHash => self.clear("Clear Hash"),
            Action::SaveHash => self.save_hash()?,
            Action::LoadHash => self.load_hash()?,
            Action::BookFile => self.set_book(value)?,
            Action::SyzygyPath => self.open_tables(),
            Action::LogFile => self.set_log(value)?,
        }
        Ok(())
    }

    fn resize_hash(&mut self) {
        let mib = self.settings.hash;
        self.after_search("Hash", move |engine| {
            if let Some(pool) = &mut engine.pool {
                report_hash(&engine.output, mib, pool.set_hash(mib));
            }
        });
    }

    fn restart_threads(&mut self) {
        let threads = self.settings.threads;
        self.after_search("Threads", move |engine| {
            if let Some(pool) = &mut engine.pool {
                pool.set_threads(threads);
                report_threads(&engine.output, threads, pool.threads());
                engine.mailbox.set_controller(pool.controller());
            }
        });
    }

    fn open_tables(&mut self) {
        let path = self.settings.syzygy_path.clone();
        self.after_search("SyzygyPath", move |engine| match engine.pool().set_syzygy_path(unquoted(&path)) {
            Ok(loaded) => report_tables(&engine.output, &loaded),
            Err(error) => {
                engine.output.error(&format!("SyzygyPath: {}; the tables in use are unchanged", reason::chain(&error)))
            }
        });
    }

    /// Loads the net that `EvalFile` names. After an error the current net remains in use.
    fn set_net(&mut self, name: &str) {
        match options::load_net(name) {
            Ok(net) => {
                self.net_rejected = false;
                self.after_search("EvalFile", move |engine| {
                    engine.pool().set_network(net.network);
                    engine.net = net.name;
                    engine.output.info(&net.summary);
                });
            }
            Err(reason) => {
                // The message is short, because a GUI may show only the beginning of a line. A second line has the
                // reason.
                self.net_rejected = true;
                self.output.error(&format!("EvalFile not loaded; using {}", self.net));
                self.output.info(&format!("EvalFile: {reason}"));
            }
        }
    }

    /// Clears the table and the histories, for the command or option `name`.
    pub(super) fn clear(&mut self, name: &str) {
        self.after_search(name, |engine| {
            // Without threads there are no histories or table entries to clear.
            if let Some(pool) = &mut engine.pool {
                pool.clear();
            }
        });
    }

    /// Writes the table to `Hash File`.
    fn save_hash(&mut self) -> Result<(), String> {
        let path = self.hash_file("Save Hash")?;
        self.after_search("Save Hash", move |engine| {
            engine.hash_on_disk(&path, true);
            engine.mailbox.write_done();
        });
        Ok(())
    }

    /// Fills the table from `Hash File`.
    fn load_hash(&mut self) -> Result<(), String> {
        let path = self.hash_file("Load Hash")?;
        self.after_search("Load Hash", move |engine| engine.hash_on_disk(&path, false));
        Ok(())
    }

    /// The file named by `Hash File`; `name` is the option that needs it.
    fn hash_file(&self, name: &str) -> Result<PathBuf, String> {
        match unquoted(&self.settings.hash_file) {
            "" => Err(format!("{name}: no file name; set Hash File first")),
            file => Ok(PathBuf::from(file)),
        }
    }

    /// Saves or loads the table and reports the result.
    fn hash_on_disk(&mut self, path: &Path, saves: bool) {
        let pool = self.pool();
        let (name, done, result) = if saves {
            ("Save Hash", "written to", pool.save_hash(path))
        } else {
            ("Load Hash", "read from", pool.load_hash(path))
        };
        match result {
            Ok(table) => self.output.info(&format!(
                "{name}: {} MiB {done} {} ({:.1} MB)",
                table.megabytes,
                path.shown(),
                table.file_bytes as f64 / 1e6
            )),
            Err(error) => {
                self.output.error(&format!("{name}: {}; the table in use is unchanged", reason::chain(&error)))
            }
        }
    }

    /// Opens the book that `Book File` names; an empty name closes the book. After an error the current book stays
    /// open.
    fn set_book(&mut self, name: &str) -> Result<(), String> {
        let name = unquoted(name);
        if name.is_empty() {
            self.settings.book.book = None;
            return Ok(());
        }
        let book = Book::open(Path::new(name)).map_err(|error| {
            let reason = reason::chain(&error);
            format!("Book File: {reason}; the book in use is unchanged")
        })?;
        self.output.info(&format!("Book File: {} moves", book.len()));
        self.settings.book.book = Some(Arc::new(book));
        Ok(())
    }

    /// Copies input and output to the file that `Debug Log File` names; an empty name ends the log.
    fn set_log(&mut self, name: &str) -> Result<(), String> {
        let name = unquoted(name);
        let log = (!name.is_empty()).then(|| output::open(Path::new(name))).transpose();
        let log = log.map_err(|error| {
            let reason = reason::chain(&error);
            format!("setoption Debug Log File: '{}': {reason}", excerpt(name))
        })?;
        self.output.log_to(log);
        Ok(())
    }
}

/// Reports the tables in use, and problems. Prints nothing if there are neither.
fn report_tables(output: &Output, loaded: &LoadedTables) {
    let found = format!("{} files, up to {} pieces", loaded.files, loaded.pieces);
    if !loaded.problems.is_empty() {
        let used: Vec<_> = loaded.directories.iter().map(|directory| format!("'{}'", directory.shown())).collect();
        output.error(&format!("SyzygyPath: {}; using {found} in {}", loaded.problems_in_words(), used.join(", ")));
    } else if loaded.files > 0 {
        output.info(&format!("SyzygyPath: {found}"));
    }
}
