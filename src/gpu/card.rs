//! Graphics cards: finding, choosing and opening them, and reading from them.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use parking_lot::Mutex;
use wgpu::{
    Adapter, AdapterInfo, Backend, Backends, Buffer, BufferDescriptor, BufferUsages, Device, DeviceType, ErrorFilter,
    InstanceDescriptor, InstanceFlags, Limits, MapMode, PollError, PollType, Queue, SubmissionIndex,
};

use super::CardChoice;

/// Time in which a card must complete a batch; after it the card counts as lost. Software devices take seconds.
const PATIENCE: Duration = Duration::from_secs(300);
/// Bytes copied from a card at a time.
const RUN: usize = 16 << 20;

/// Largest number of workgroups in the first dimension of a flat grid.
const FLAT: usize = 32_768;

/// Returns the two dimensions of a grid of at least `groups` workgroups.
pub fn flat_grid(groups: usize) -> (usize, usize) {
    (groups.min(FLAT), groups.div_ceil(FLAT))
}

/// A card of this machine.
pub struct Card {
    adapter: Adapter,
    info: AdapterInfo,
}

impl Card {
    /// The card's name.
    pub fn name(&self) -> String {
        self.info.name.clone()
    }

    /// The card's name, its interface and its driver.
    pub fn describe(&self) -> String {
        let driver = format!("{} {}", self.info.driver, self.info.driver_info);
        let driver = driver.trim();
        let driver = if driver.is_empty() { String::new() } else { format!(", driver {driver}") };
        format!("{} ({}{driver})", self.info.name, self.info.backend)
    }

    /// The kind of the card.
    pub fn kind(&self) -> &'static str {
        match self.info.device_type {
            DeviceType::DiscreteGpu => "graphics card",
            DeviceType::IntegratedGpu => "integrated graphics",
            DeviceType::VirtualGpu => "virtual graphics card",
            DeviceType::Cpu => "software on the processor",
            DeviceType::Other => "other",
        }
    }

    /// Whether the card is a software device that runs on the CPU.
    pub fn is_software(&self) -> bool {
        self.info.device_type == DeviceType::Cpu
    }

    /// The card's limits.
    pub fn limits(&self) -> Limits {
        self.adapter.limits()
    }

    /// Sort key: fast kinds first, and the system's own interfaces before DX12.
    fn order(&self) -> (u8, bool) {
        let kind = match self.info.device_type {
            DeviceType::DiscreteGpu => 0,
            DeviceType::IntegratedGpu => 1,
            DeviceType::VirtualGpu => 2,
            DeviceType::Other => 3,
            DeviceType::Cpu => 4,
        };
        (kind, self.info.backend == Backend::Dx12)
    }

    /// Opens the card.
    ///
    /// # Errors
    /// Fails if the driver cannot open the card.
    pub fn open(&self) -> Result<Opened> {
        let has = self.adapter.limits();
        let limits = Limits {
            max_storage_buffer_binding_size: has.max_storage_buffer_binding_size,
            max_buffer_size: has.max_buffer_size,
            ..Limits::default()
        };
        let request = wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() };
        let (device, queue) = pollster::block_on(self.adapter.request_device(&request)).map_err(|error| {
            anyhow!("cannot use {}: {error}. Update its driver, choose another card, or use --device cpu", self.name())
        })?;
        let fault = Arc::new(Mutex::new(None));
        let first = Arc::clone(&fault);
        device.set_device_lost_callback(move |_, reason| note(&first, &reason));
        let first = Arc::clone(&fault);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| note(&first, &error.to_string())));
        Ok(Opened { device, queue, name: self.name(), fault })
    }
}

/// Stores an error unless an earlier one is stored.
fn note(fault: &Mutex<Option<String>>, reason: &str) {
    fault.lock().get_or_insert_with(|| reason.trim().to_owned());
}

/// Returns the cards of this machine, the fastest kinds first.
pub fn cards() -> Vec<Card> {
    let instance = wgpu::Instance::new(InstanceDescriptor {
        backends: Backends::VULKAN | Backends::METAL | Backends::DX12,
        flags: InstanceFlags::empty(),
        ..InstanceDescriptor::new_without_display_handle()
    });
    let found = pollster::block_on(instance.enumerate_adapters(Backends::all()));
    let mut cards: Vec<Card> = found.into_iter().map(|adapter| Card { info: adapter.get_info(), adapter }).collect();
    cards.sort_by_key(Card::order);
    cards
}

/// Advice on how to make a card usable.
fn remedy() -> &'static str {
    if cfg!(target_os = "linux") {
        "Install the driver of the card and the Vulkan loader (the package libvulkan1, vulkan-loader or \
         vulkan-icd-loader), and for NVIDIA cards also libegl1. In a container, let VK_DRIVER_FILES name the driver's \
         file, such as nvidia_icd.json. Or use --device cpu"
    } else {
        "Install the driver of the card, or use --device cpu"
    }
}

/// Returns the chosen card.
///
/// # Errors
/// Fails if no card matches; the message lists the available ones.
pub fn choose(choice: &CardChoice) -> Result<Card> {
    pick(cards(), choice)
}

fn pick(mut cards: Vec<Card>, choice: &CardChoice) -> Result<Card> {
    if cards.is_empty() {
        bail!("no graphics card found. {}", remedy());
    }
    let Some(name) = &choice.0 else {
        let card = cards.swap_remove(0);
        ensure!(
            !card.is_software(),
            "no graphics card found, only {0}, which is software and slower than --device cpu. {1}. To use it all the \
             same, name it: `train --device gpu:{2}` or `gpu {2}`",
            card.name(),
            remedy(),
            card.name().split_whitespace().next().unwrap_or("1")
        );
        return Ok(card);
    };
    let place = match name.parse::<usize>() {
        Ok(number) => number.checked_sub(1).filter(|&place| place < cards.len()),
        Err(_) => {
            let name = name.to_lowercase();
            cards.iter().position(|card| card.name().to_lowercase().contains(&name))
        }
    };
    let Some(place) = place else {
        let names: Vec<String> = (1..).zip(&cards).map(|(number, card)| format!("{number} {}", card.name())).collect();
        bail!("there is no graphics card {name}; choose one of: {}", names.join(", "));
    };
    Ok(cards.swap_remove(place))
}

/// An open card.
pub struct Opened {
    /// The device.
    pub device: Device,
    /// Its queue.
    pub queue: Queue,
    name: String,
    /// The first error that the driver reported.
    fault: Arc<Mutex<Option<String>>>,
}

impl Opened {
    /// Fails if the driver reported an error.
    ///
    /// # Errors
    /// The error names the card and the reason.
    pub fn check(&self) -> Result<()> {
        match &*self.fault.lock() {
            None => Ok(()),
            Some(reason) => Err(self.lost(reason)),
        }
    }

    /// Returns the error of a card that no longer works.
    fn lost(&self, reason: &str) -> anyhow::Error {
        let reason = if reason.is_empty() { "the driver gave no reason" } else { reason };
        anyhow!("the graphics card {} was lost: {reason}", self.name)
    }

    /// Runs `create`, which allocates memory on the card.
    ///
    /// # Errors
    /// Fails if there is too little memory; `needed` is the total number of bytes.
    pub fn allocate<T>(&self, needed: u64, create: impl FnOnce() -> T) -> Result<T> {
        let scope = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let created = create();
        if pollster::block_on(scope.pop()).is_some() {
            bail!(
                "{} has too little free memory: {} MB are needed. Use a smaller --batch, close other programs that use \
                 the card, or use --device cpu",
                self.name,
                needed.div_ceil(1_000_000)
            );
        }
        self.check()?;
        Ok(created)
    }

    /// Waits until the card has completed a submission.
    ///
    /// # Errors
    /// Fails if the card is lost or does not respond in time.
    pub fn wait(&self, submission: SubmissionIndex) -> Result<()> {
        let wait = PollType::Wait { submission_index: Some(submission), timeout: Some(PATIENCE) };
        let polled = self.device.poll(wait);
        self.check()?;
        match polled {
            Ok(_) => Ok(()),
            Err(PollError::Timeout) => Err(self.lost(&format!("no answer for {} s", PATIENCE.as_secs()))),
            // The submission was rejected, because the device was lost.
            Err(PollError::WrongSubmissionIndex(..)) => Err(self.lost("its driver accepts no more work")),
        }
    }

    /// Reads the beginning of a buffer into `out`.
    ///
    /// # Errors
    /// Fails if the card is lost.
    pub fn read(&self, from: &Buffer, out: &mut [f32]) -> Result<()> {
        let mut offset = 0;
        for run in out.chunks_mut(RUN / size_of::<f32>()) {
            let size = size_of_val(run) as u64;
            let staging = self.staging(size);
            let mut encoder = self.device.create_command_encoder(&Default::default());
            encoder.copy_buffer_to_buffer(from, offset, &staging, 0, size);
            let submission = self.queue.submit([encoder.finish()]);
            let mapping = Mapping::of(&staging);
            self.wait(submission)?;
            mapping.copy_to(&staging, run).map_err(|error| self.lost(&format!("{error:#}")))?;
            offset += size;
        }
        Ok(())
    }

    /// Creates a buffer that the host can read.
    pub fn staging(&self, size: u64) -> Buffer {
        self.device.create_buffer(&BufferDescriptor {
            label: None,
            size,
            usage: BufferUsages::MAP_READ | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// Writes to the beginning of a buffer.
    pub fn write(&self, to: &Buffer, words: &[impl bytemuck::NoUninit]) {
        let bytes: &[u8] = bytemuck::cast_slice(words);
        for (number, run) in bytes.chunks(RUN).enumerate() {
            self.queue.write_buffer(to, (number * RUN) as u64, run);
        }
    }
}

/// A staging buffer that is being made readable.
pub struct Mapping(mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>);

impl Mapping {
    /// Starts mapping a buffer for reading, after all earlier submissions.
    pub fn of(staging: &Buffer) -> Self {
        let (sender, receiver) = mpsc::channel();
        // The receiver was dropped only if an error ended the wait.
        staging.map_async(MapMode::Read, .., move |mapped| drop(sender.send(mapped)));
        Self(receiver)
    }

    /// Copies the buffer to `out`. The card must have completed the submissions.
    ///
    /// # Errors
    /// Fails if the buffer is not readable.
    pub fn copy_to(self, staging: &Buffer, out: &mut [impl bytemuck::Pod]) -> Result<()> {
        let mapped = self.0.try_recv().context("the card did not answer")?;
        mapped.context("the card's memory cannot be read")?;
        let view = staging.get_mapped_range(..).context("the card's memory cannot be read")?;
        let out: &mut [u8] = bytemuck::cast_slice_mut(out);
        out.copy_from_slice(&view[..out.len()]);
        drop(view);
        staging.unmap();
        Ok(())
    }
}
