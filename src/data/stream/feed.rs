//! Threads that load chunks ahead of their use, and hand them on in their order.

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

/// Chunks that may be on their way.
const AHEAD: u64 = 4;

/// Makes the order of chunks another one than that of records.
const CHUNKS: u64 = 0xC0DE_C0DE_C0DE_C0DE;

/// What a thread has loaded: the chunk's number in the row of all, and its records.
type Loaded = (u64, Result<Vec<Record>>);

/// The chunks of one epoch after the other, each epoch in an order of its own.
pub struct Feed {
    plan: Arc<Plan>,
    /// Chunks of an epoch.
    chunks: u64,
    /// Number of the chunk that comes next, and of the one that nobody loads yet.
    next: u64,
    asked: u64,
    requests: Sender<u64>,
    loaded: Receiver<Loaded>,
    /// Came before their turn.
    early: BTreeMap<u64, Result<Vec<Record>>>,
}

impl Feed {
    /// Begins with chunk number `first` of the row.
    pub fn new(plan: Arc<Plan>, options: &Options, first: u64) -> Self {
        let (requests, taken) = unbounded();
        let (sender, loaded) = unbounded();
        let chunks: Arc<[Chunk]> = plan.training().into();
        let threads = options.threads.clamp(1, AHEAD as usize);
        for _ in 0..threads {
            let (plan, chunks) = (plan.clone(), chunks.clone());
            let (taken, sender, seed) = (taken.clone(), sender.clone(), options.seed);
            // They end when nobody asks any more. A thread that the system refuses is done without.
            let _ = std::thread::Builder::new()
                .name("chunks".to_owned())
                .spawn(move || serve(&plan, &chunks, seed, &taken, &sender));
        }
        Self {
            plan,
            chunks: chunks.len() as u64,
            next: first,
            asked: first,
            requests,
            loaded,
            early: BTreeMap::new(),
        }
    }

    /// The plan that is followed.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Chunks of an epoch.
    pub fn epoch_chunks(&self) -> u64 {
        self.chunks
    }

    /// Number of the chunk that comes next.
    pub fn next_chunk(&self) -> u64 {
        self.next
    }

    /// The records of the next chunk, perhaps none.
    ///
    /// # Errors
    /// When its file cannot be read or is damaged.
    pub fn take(&mut self) -> Result<Vec<Record>> {
        while self.asked < self.next + AHEAD {
            self.requests.send(self.asked).ok().context(GONE)?;
            self.asked += 1;
        }
        while !self.early.contains_key(&self.next) {
            let (number, records) = self.loaded.recv().ok().context(GONE)?;
            self.early.insert(number, records);
        }
        let records = self.early.remove(&self.next).context(GONE)?;
        self.next += 1;
        records
    }
}

/// Why no chunk comes.
const GONE: &str = "the system refuses the threads that read the files";

/// One thread's work: the chunks that are asked for, until nobody asks any more.
fn serve(
    plan: &Plan,
    chunks: &[Chunk],
    seed: u64,
    requests: &Receiver<u64>,
    loaded: &Sender<Loaded>,
) {
    let count = chunks.len() as u64;
    for number in requests {
        let order = Order::new(count, seed ^ CHUNKS, number / count);
        let chunk = &chunks[order.at(number % count) as usize];
        let records = catch_unwind(AssertUnwindSafe(|| plan.learn(chunk)));
        let records = records.unwrap_or_else(|_| {
            Err(anyhow!(
                "reading a file failed; this is a bug, please report it"
            ))
        });
        if loaded.send((number, records)).is_err() {
            return;
        }
    }
}
