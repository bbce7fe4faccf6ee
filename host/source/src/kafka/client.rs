//! A client of one Kafka cluster: questions with a deadline, and what it complains of. Everything here blocks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crisol_contract::KafkaSpec;
use rdkafka::ClientContext;
use rdkafka::config::{ClientConfig, FromClientConfigAndContext, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, KafkaResult, RDKafkaErrorCode};

use super::config::{Role, options, refused_option};
use crate::SourceError;

/// How long a question to the broker may take where `socket.timeout.ms` is not set (T-009).
const DEADLINE: Duration = Duration::from_secs(30);

/// Least time of one try, however many there may be.
const TRY_MIN: Duration = Duration::from_secs(3);

/// Events taken in at once.
const EVENTS_MAX: usize = 100;

/// How long the client is heard after a question failed, for the reason.
const LAST_WORDS: Duration = Duration::from_millis(20);

/// A client, its name for messages and its deadlines.
pub(super) struct Broker {
    consumer: BaseConsumer<Context>,
    servers: String,
    deadline: Duration,
    retries: u32,
    retry_interval: Duration,
    /// Whether it ever answered: who was let in once is not refused for good.
    answered: AtomicBool,
}

/// Keeps what the client complains of: the answer to a question only says that it failed.
#[derive(Default)]
pub(super) struct Context {
    last: Mutex<Option<String>>,
    /// That user, password or certificate are refused.
    refused: Mutex<Option<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ClientContext for Context {
    fn log(&self, _level: RDKafkaLogLevel, facility: &str, text: &str) {
        tracing::debug!(target: "librdkafka", facility, "{text}");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(target: "librdkafka", "{error}: {reason}");
        let code = error.rdkafka_error_code();
        // A handshake may also fail because a broker is just going or coming.
        let certificate = code == Some(RDKafkaErrorCode::SSL) && reason.contains("certificate");
        if code == Some(RDKafkaErrorCode::Authentication) || certificate {
            *locked(&self.refused) = Some(reason.to_owned());
        }
        let mut last = locked(&self.last);
        // "All brokers are down" says less than what was heard of each of them.
        let says_little = code == Some(RDKafkaErrorCode::AllBrokersDown);
        if !(says_little && last.is_some()) {
            *last = Some(reason.to_owned());
        }
    }
}

impl ConsumerContext for Context {}

/// Why one try failed.
pub(super) enum Trouble {
    Broker(KafkaError),
    /// May come right, since metadata lag behind.
    Missing(SourceError),
    Final(SourceError),
}

impl From<KafkaError> for Trouble {
    fn from(error: KafkaError) -> Self {
        Self::Broker(error)
    }
}

impl Broker {
    /// Makes the client. Does not wait for the broker.
    pub(super) fn connect(spec: &KafkaSpec, role: Role<'_>) -> Result<Self, SourceError> {
        let config = options(spec, role)?;
        let servers = config.get("bootstrap.servers").unwrap_or_default().to_owned();
        let consumer = consumer(&config).map_err(|error| refused_option(&servers, error))?;
        let deadline = spec.client.get("socket.timeout.ms").and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
        Ok(Self {
            consumer,
            servers,
            deadline: deadline.unwrap_or(DEADLINE),
            retries: spec.fetch_offset_num_retries.max(1),
            retry_interval: spec.fetch_offset_retry_interval,
            answered: AtomicBool::new(false),
        })
    }

    pub(super) fn consumer(&self) -> &BaseConsumer<Context> {
        &self.consumer
    }

    /// `host:port,…` as it was set.
    pub(super) fn servers(&self) -> &str {
        &self.servers
    }

    /// Pause before a question is asked again.
    pub(super) fn retry_interval(&self) -> Duration {
        self.retry_interval
    }

    /// Name of the broker and its last complaint, for messages.
    pub(super) fn name(&self) -> String {
        match &*locked(&self.consumer.context().last) {
            Some(complaint) => format!("broker `{}` (last heard: {complaint})", self.servers),
            None => format!("broker `{}`", self.servers),
        }
    }

    /// Asks until the retries or the deadline are used up, whichever comes first.
    pub(super) fn retried<T>(
        &self,
        what: &str,
        attempt: impl FnMut(Duration) -> Result<T, Trouble>,
    ) -> Result<T, SourceError> {
        self.tried(what, attempt).map_err(|trouble| match trouble {
            Trouble::Broker(error) => SourceError::caused(what, error),
            Trouble::Missing(error) | Trouble::Final(error) => error,
        })
    }

    /// The same, with what is missing told apart.
    pub(super) fn tried<T>(
        &self,
        what: &str,
        mut attempt: impl FnMut(Duration) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let begun = Instant::now();
        let mut tries = 0;
        loop {
            let left = self.deadline.saturating_sub(begun.elapsed());
            let trouble = match attempt(left.min((self.deadline / self.retries).max(TRY_MIN))) {
                Ok(answer) => {
                    self.answered.store(true, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(Trouble::Final(error)) => return Err(Trouble::Final(error)),
                Err(trouble) => trouble,
            };
            tries += 1;
            if let Trouble::Broker(_) = trouble {
                self.listen(LAST_WORDS).map_err(Trouble::Final)?;
                self.refusal().map_err(Trouble::Final)?;
            }
            let time_is_up = begun.elapsed() + self.retry_interval >= self.deadline;
            if tries < self.retries && !time_is_up {
                std::thread::sleep(self.retry_interval);
                continue;
            }
            return Err(match trouble {
                Trouble::Broker(error) => Trouble::Final(self.unanswered(what, begun.elapsed(), &error)),
                other => other,
            });
        }
    }

    /// An error where the broker refuses user or certificate, and never let this client in.
    pub(super) fn refusal(&self) -> Result<(), SourceError> {
        let refused = locked(&self.consumer.context().refused).take();
        match refused {
            Some(reason) if !self.answered.load(Ordering::Relaxed) => Err(SourceError::config(
                format!("broker `{}` does not let this client in: {reason}", self.servers),
                "look at `security.protocol`, `sasl.mechanism`, `sasl.username`, `sasl.password` and the certificates",
            )),
            _ => Ok(()),
        }
    }

    /// Takes in what the client has to say, for a while. Records never come this way.
    pub(super) fn listen(&self, wait: Duration) -> Result<(), SourceError> {
        for _ in 0..EVENTS_MAX {
            match self.consumer.poll(wait) {
                Some(Ok(_)) => return Err(SourceError::external("a record came outside its partition's queue")),
                Some(Err(_)) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn unanswered(&self, what: &str, waited: Duration, error: &KafkaError) -> SourceError {
        let reason = error.rdkafka_error_code().map_or_else(|| error.to_string(), |code| code.to_string());
        let what = format!(
            "{}: {what} failed after {:.1} s (deadline {:.1} s): {reason}",
            self.name(),
            waited.as_secs_f64(),
            self.deadline.as_secs_f64()
        );
        SourceError::external(what)
    }
}

/// A client of librdkafka.
pub(super) fn consumer(config: &ClientConfig) -> KafkaResult<BaseConsumer<Context>> {
    BaseConsumer::from_config_and_context(config, Context::default())
}
