//! Networks on a card for several threads. A thread of its own collects the positions of all of them in batches.

use std::sync::Arc;

use anyhow::Result;

use super::{CardChoice, PackedPosition};
use crate::nnue::Network;

#[cfg(not(feature = "gpu"))]
use absent as implementation;
#[cfg(feature = "gpu")]
use present as implementation;

pub use implementation::{CardNetworks, Pending};

#[cfg(feature = "gpu")]
mod present {
    use std::collections::VecDeque;
    use std::thread::JoinHandle;

    use anyhow::{Context as _, anyhow, ensure};
    use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

    use super::*;
    use crate::gpu::card;
    use crate::gpu::evaluator::{BATCH, Evaluator, Flight};

    /// Batches that the card is computing or has queued while the next one is collected.
    const IN_FLIGHT: usize = 2;
    /// Error message if the thread has ended.
    const ENDED: &str = "the thread of the graphics card has ended";

    /// Networks on a card.
    #[derive(Clone)]
    pub struct CardNetworks {
        thread: Arc<CardThread>,
        name: String,
    }

    /// The thread that uses the card. Waits for its end when dropped, because drivers fail if the process ends while a
    /// thread has an open card.
    struct CardThread {
        /// `Some` until the drop.
        requests: Option<Sender<Request>>,
        /// `Some` until the drop.
        handle: Option<JoinHandle<()>>,
    }

    impl Drop for CardThread {
        fn drop(&mut self) {
            // The thread ends when no one can send requests.
            drop(self.requests.take());
            if let Some(handle) = self.handle.take() {
                // A panic of the thread was reported by the waiting threads.
                let _ = handle.join();
            }
        }
    }

    /// Positions to evaluate, and where the values go.
    struct Request {
        positions: Vec<PackedPosition>,
        values: Sender<Result<Vec<i32>>>,
    }

    /// Values that the card has not computed.
    pub struct Pending(Receiver<Result<Vec<i32>>>);

    impl Pending {
        /// Waits for the values in engine units, from the side to move's view: those of all positions by the first
        /// network, then those by the next ones.
        ///
        /// # Errors
        /// Fails if the card is lost.
        pub fn wait(self) -> Result<Vec<i32>> {
            self.0.recv().context(ENDED)?
        }
    }

    impl CardNetworks {
        /// Opens the chosen card, copies the networks to it, and starts the thread that uses it.
        ///
        /// # Errors
        /// Fails if no card matches, if the card has too little memory, or if it cannot evaluate one of the networks.
        pub fn open(choice: &CardChoice, networks: &[Arc<Network>]) -> Result<Self> {
            let card = card::choose(choice)?;
            let evaluator = Evaluator::new(&card, networks.iter().map(|network| &**network))?;
            let (requests, received) = unbounded();
            let thread = std::thread::Builder::new().name("card".to_owned());
            let server = Server { evaluator, received, next: None, in_flight: VecDeque::new() };
            let handle = thread.spawn(move || server.serve())?;
            let thread = CardThread { requests: Some(requests), handle: Some(handle) };
            Ok(Self { thread: Arc::new(thread), name: card.describe() })
        }

        /// The card's name with its driver.
        pub fn name(&self) -> &str {
            &self.name
        }

        /// Evaluates at most 65,536 positions.
        ///
        /// # Errors
        /// Fails if there are more positions, or if the thread of the card has ended.
        pub fn evaluate(&self, positions: Vec<PackedPosition>) -> Result<Pending> {
            ensure!(positions.len() <= BATCH, "{} positions are more than a batch of {BATCH}", positions.len());
            let (values, pending) = bounded(1);
            let requests = self.thread.requests.as_ref().context(ENDED)?;
            requests.send(Request { positions, values }).ok().context(ENDED)?;
            Ok(Pending(pending))
        }
    }

    /// The thread that uses the card.
    struct Server {
        evaluator: Evaluator,
        received: Receiver<Request>,
        /// A request that did not fit into the last batch.
        next: Option<Request>,
        in_flight: VecDeque<(Vec<Request>, Result<Flight>)>,
    }

    impl Server {
        /// Evaluates the positions of all requests until no one can send any.
        fn serve(mut self) {
            loop {
                let requests = self.collect();
                let is_idle = requests.is_empty();
                if !is_idle {
                    let positions: Vec<PackedPosition> =
                        requests.iter().flat_map(|request| &request.positions).copied().collect();
                    let flight = self.evaluator.submit(&positions);
                    self.in_flight.push_back((requests, flight));
                }
                if (is_idle || self.in_flight.len() >= IN_FLIGHT) && !self.complete() {
                    return;
                }
            }
        }

        /// Returns the requests of the next batch. Waits for one if the card has nothing to do.
        fn collect(&mut self) -> Vec<Request> {
            let mut requests = Vec::new();
            let mut count = 0;
            loop {
                let next = match self.next.take() {
                    Some(request) => Some(request),
                    None if requests.is_empty() && self.in_flight.is_empty() => self.received.recv().ok(),
                    None => self.received.try_recv().ok(),
                };
                let Some(request) = next else {
                    return requests;
                };
                count += request.positions.len();
                if count > BATCH {
                    self.next = Some(request);
                    return requests;
                }
                requests.push(request);
            }
        }

        /// Waits for the oldest batch and sends its values. Returns `false` if there is none.
        fn complete(&mut self) -> bool {
            let Some((requests, flight)) = self.in_flight.pop_front() else {
                return false;
            };
            let values = flight.and_then(|flight| self.evaluator.complete(flight));
            let total: usize = requests.iter().map(|request| request.positions.len()).sum();
            let mut start = 0;
            for request in requests {
                let end = start + request.positions.len();
                let own = match &values {
                    Ok(values) => Ok(values.chunks(total.max(1)).flat_map(|net| &net[start..end]).copied().collect()),
                    Err(error) => Err(anyhow!("{error:#}")),
                };
                // The receiver was dropped if its thread failed.
                let _ = request.values.send(own);
                start = end;
            }
            true
        }
    }
}

#[cfg(not(feature = "gpu"))]
mod absent {
    use super::*;
    use crate::gpu::unsupported;

    /// Networks on a card, which this program cannot use.
    #[derive(Clone)]
    pub enum CardNetworks {}

    /// Values that are not computed yet.
    pub enum Pending {}

    impl Pending {
        /// Waits for the values.
        ///
        /// # Errors
        /// None: there is no value of this type.
        pub fn wait(self) -> Result<Vec<i32>> {
            match self {}
        }
    }

    impl CardNetworks {
        /// Fails: this program cannot use graphics cards.
        ///
        /// # Errors
        /// Always.
        pub fn open(_: &CardChoice, _: &[Arc<Network>]) -> Result<Self> {
            Err(unsupported())
        }

        /// The card's name.
        pub fn name(&self) -> &str {
            match *self {}
        }

        /// Evaluates positions.
        ///
        /// # Errors
        /// None: there is no value of this type.
        pub fn evaluate(&self, _: Vec<PackedPosition>) -> Result<Pending> {
            match *self {}
        }
    }
}
