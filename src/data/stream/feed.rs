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
use crate::util::threads;

/// Chunks that may be on their way.
const AHEAD: u64 = 4;

/// Makes the order of chunks another one than that of records.
const CHUNKS: u64 = 0xC0DE_C0DE_C0DE_C0DE;

/// What a thread has loaded: the chunk's number in the sequence over all epochs, and its records.
type Loaded = (u64, Result<Vec<Record>>);

/// The chunks of one epoch after the other, each epoch in an order of its own.
pub struct Feed {
    /// Number of the next chunk, and of the first that nobody loads yet.
    next: u64,
    asked: u64,
    requests: Sender<u64>,
    loaded: Receiver<Loaded>,
    /// Loads chunks where there are no threads.
    loader: Loader,
    /// Came before their turn.
    early: BTreeMap<u64, Result<Vec<Record>>>,
}

impl Feed {
    /// Begins with chunk number `first` of the row.
    pub fn new(plan: Arc<Plan>, options: &Options, first: u64) -> Self {
        let (requests, taken) = unbounded();
        let (sender, loaded) = unbounded();
        let loader = Loader {
            chunks: plan.training().into(),
            plan,
            seed: options.seed,
        };
        let threads = if threads::EXIST {
            options.threads.clamp(1, AHEAD as usize)
        } else {
            0
        };
        for _ in 0..threads {
            let (loader, taken, sender) = (loader.clone(), taken.clone(), sender.clone());
            // They end when nobody asks any more. A thread that the system refuses is done without.
            let _ = std::thread::Builder::new()
                .name("chunks".to_owned())
                .spawn(move || serve(&loader, &taken, &sender));
        }
        Self {
            loader,
            next: first,
            asked: first,
            requests,
            loaded,
            early: BTreeMap::new(),
        }
    }

    /// The plan that is followed.
    pub fn plan(&self) -> &Plan {
        &self.loader.plan
    }

    /// Chunks of an epoch.
    pub fn epoch_chunks(&self) -> u64 {
        self.loader.chunks.len() as u64
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
        if !threads::EXIST {
            self.next += 1;
            return self.loader.load(self.next - 1);
        }
        while self.asked < self.next.saturating_add(AHEAD) {
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

/// What loads a chunk.
#[derive(Clone)]
struct Loader {
    plan: Arc<Plan>,
    chunks: Arc<[Chunk]>,
    seed: u64,
}

impl Loader {
    /// The chunk of that number in the sequence over all epochs.
    fn load(&self, number: u64) -> Result<Vec<Record>> {
        let count = self.chunks.len() as u64;
        let order = Order::new(count, self.seed ^ CHUNKS, number / count);
        self.plan
            .learn(&self.chunks[order.at(number % count) as usize])
    }
}

/// One thread's work: the chunks that are asked for, until nobody asks any more.
fn serve(loader: &Loader, requests: &Receiver<u64>, loaded: &Sender<Loaded>) {
    for number in requests {
        let records = catch_unwind(AssertUnwindSafe(|| loader.load(number)));
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
