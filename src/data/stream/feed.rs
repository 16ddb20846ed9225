//! Loader threads that read chunks ahead of their use and deliver them in order.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use crossbeam::channel::{Receiver, Sender, unbounded};

use super::Options;
use super::chunk::Chunk;
use super::order::Order;
use super::plan::Plan;
use crate::data::record::Record;
use crate::util::threads;

/// Number of chunks that are requested ahead.
const AHEAD: u64 = 4;

/// Seed modifier that makes the order of chunks independent of the order of records.
const CHUNK_ORDER: u64 = 0xC0DE_C0DE_C0DE_C0DE;

/// A loaded chunk: its number in the sequence over all epochs, and its records.
type Loaded = (u64, Result<Vec<Record>>);

/// Endless sequence of chunks, epoch after epoch, each epoch in its own random order.
pub struct Feed {
    /// Number of the next chunk to deliver.
    next: u64,
    /// Number of the next chunk to request.
    next_request: u64,
    requests: Sender<u64>,
    loaded: Receiver<Loaded>,
    /// Loads chunks on platforms without threads.
    loader: Loader,
    /// Chunks that arrived before their turn.
    early: BTreeMap<u64, Result<Vec<Record>>>,
}

impl Feed {
    /// Creates a feed that starts with chunk number `first` of the sequence.
    pub fn new(plan: Arc<Plan>, options: &Options, first: u64) -> Self {
        let (requests, taken) = unbounded();
        let (sender, loaded) = unbounded();
        let loader = Loader { chunks: plan.training().into(), plan, seed: options.seed };
        let threads = if threads::EXIST { options.threads.clamp(1, AHEAD as usize) } else { 0 };
        for _ in 0..threads {
            let (loader, taken, sender) = (loader.clone(), taken.clone(), sender.clone());
            // Threads exit when the request channel is closed. If one cannot be started, the others do its work.
            let _ =
                std::thread::Builder::new().name("chunks".to_owned()).spawn(move || serve(&loader, &taken, &sender));
        }
        Self { loader, next: first, next_request: first, requests, loaded, early: BTreeMap::new() }
    }

    /// The plan whose chunks are delivered.
    pub fn plan(&self) -> &Plan {
        &self.loader.plan
    }

    /// Number of chunks per epoch.
    pub fn epoch_chunks(&self) -> u64 {
        self.loader.chunks.len() as u64
    }

    /// Number of the next chunk.
    pub fn next_chunk(&self) -> u64 {
        self.next
    }

    /// Returns the records of the next chunk, which may be empty.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged.
    pub fn take(&mut self) -> Result<Vec<Record>> {
        if !threads::EXIST {
            self.next += 1;
            return self.loader.load(self.next - 1);
        }
        while self.next_request < self.next.saturating_add(AHEAD) {
            self.requests.send(self.next_request).ok().context(NO_THREAD)?;
            self.next_request += 1;
        }
        while !self.early.contains_key(&self.next) {
            let (number, records) = self.loaded.recv().ok().context(NO_THREAD)?;
            self.early.insert(number, records);
        }
        let records = self.early.remove(&self.next).context(NO_THREAD)?;
        self.next += 1;
        records
    }
}

/// Error message if there is no loader thread.
const NO_THREAD: &str = "cannot start the threads that read the files";

/// Loader of chunks.
#[derive(Clone)]
struct Loader {
    plan: Arc<Plan>,
    chunks: Arc<[Chunk]>,
    seed: u64,
}

impl Loader {
    /// Loads chunk `number` of the sequence over all epochs.
    fn load(&self, number: u64) -> Result<Vec<Record>> {
        let count = self.chunks.len() as u64;
        let order = Order::new(count, self.seed ^ CHUNK_ORDER, number / count);
        self.plan.training_records(&self.chunks[order.at(number % count) as usize])
    }
}

/// Main loop of a loader thread: loads the requested chunks until the channel is closed.
fn serve(loader: &Loader, requests: &Receiver<u64>, loaded: &Sender<Loaded>) {
    for number in requests {
        let records = catch_unwind(AssertUnwindSafe(|| loader.load(number)));
        let records =
            records.unwrap_or_else(|_| Err(anyhow!("reading a file failed; this is a bug, please report it")));
        if loaded.send((number, records)).is_err() {
            return;
        }
    }
}
