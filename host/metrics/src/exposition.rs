//! The figures as Prometheus reads them.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crisol_observe::{Lag, StreamState};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::bounded::{Place, by_place};
use crate::definitions::{self as metric, Definition};
use crate::figures::{Figures, StreamFigures};
use crate::process::Process;

/// Writes all metrics whenever it is asked.
#[derive(Debug)]
pub(crate) struct Exposition(pub(crate) std::sync::Arc<Mutex<Figures>>);

impl Collector for Exposition {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let figures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut out = Out(encoder);
        out.family(&metric::BUILD, |build| build.info(&[env!("CARGO_PKG_VERSION")]))?;
        out.streams(&figures)?;
        out.components(&figures)?;
        out.process(&Process::now().unwrap_or_default())
    }
}

struct Out<'a>(DescriptorEncoder<'a>);

/// The samples of one metric. Values of labels come in the order of its definition; the last ones may be left out.
struct Samples<'a> {
    encoder: MetricEncoder<'a>,
    labels: &'static [&'static str],
}

impl Samples<'_> {
    fn put(&mut self, values: &[&str], sample: &impl EncodeMetric) -> fmt::Result {
        let labels: Vec<(&str, &str)> = self.labels.iter().copied().zip(values.iter().copied()).collect();
        sample.encode(self.encoder.encode_family(&labels)?)
    }

    fn info(&mut self, values: &[&str]) -> fmt::Result {
        let labels: Vec<(&str, &str)> = self.labels.iter().copied().zip(values.iter().copied()).collect();
        self.encoder.encode_info(&labels)
    }

    fn at(&mut self, stream: &str, (topic, partition): Place<'_>, sample: &impl EncodeMetric) -> fmt::Result {
        match partition {
            Some(partition) => self.put(&[stream, topic, &partition.to_string()], sample),
            None => self.put(&[stream, topic], sample),
        }
    }
}

impl Out<'_> {
    fn family(&mut self, definition: &Definition, write: impl FnOnce(&mut Samples<'_>) -> fmt::Result) -> fmt::Result {
        let encoder = self.0.encode_descriptor(definition.family(), definition.help, None, definition.kind)?;
        write(&mut Samples { encoder, labels: definition.labels })
    }

    /// A metric of every stream of which more than its state is told.
    fn each(
        &mut self,
        definition: &Definition,
        figures: &Figures,
        write: impl Fn(&mut Samples<'_>, &str, &StreamFigures) -> fmt::Result,
    ) -> fmt::Result {
        let mut told = figures.streams.iter().filter(|(_, stream)| stream.is_told());
        self.family(definition, |samples| told.try_for_each(|(name, stream)| write(samples, name, stream)))
    }

    fn counter(
        &mut self,
        definition: &Definition,
        figures: &Figures,
        count: impl Fn(&StreamFigures) -> u64,
    ) -> fmt::Result {
        self.each(definition, figures, |samples, name, stream| samples.put(&[name], &ConstCounter::new(count(stream))))
    }

    fn streams(&mut self, figures: &Figures) -> fmt::Result {
        self.family(&metric::STREAM_STATE, |samples| {
            for (name, stream) in &figures.streams {
                for state in StreamState::ALL {
                    let is = u64::from(stream.state == state);
                    samples.put(&[name, state.name()], &ConstGauge::new(is))?;
                }
            }
            Ok(())
        })?;
        self.lag(figures)?;
        self.rows(figures)?;
        self.batches(figures)?;
        self.tables(figures)?;
        self.each(&metric::EXPECTATION_ROWS, figures, |samples, name, stream| {
            stream.rules.iter().try_for_each(|(rule, count)| {
                samples.put(&[name, rule, "passed"], &ConstCounter::new(count.passed))?;
                samples.put(&[name, rule, "failed"], &ConstCounter::new(count.failed))
            })
        })
    }

    fn lag(&mut self, figures: &Figures) -> fmt::Result {
        let places: Vec<_> = figures.streams.iter().map(|(name, stream)| (name, lag_by_place(stream))).collect();
        let gauge = |samples: &mut Samples<'_>, value: fn(&Lag) -> Option<f64>| {
            let each =
                places.iter().flat_map(|(name, places)| places.iter().map(move |(place, lag)| (name, place, lag)));
            each.filter_map(|(name, place, lag)| Some((name, place, value(lag)?)))
                .try_for_each(|(name, place, value)| samples.at(name, *place, &ConstGauge::new(value)))
        };
        self.family(&metric::LAG_RECORDS, |samples| gauge(samples, |lag| Some(lag.records as f64)))?;
        self.family(&metric::LAG_SECONDS, |samples| gauge(samples, |lag| lag.seconds))?;
        self.family(&metric::BACKLOG_BYTES, |samples| gauge(samples, |lag| lag.bytes.map(|bytes| bytes as f64)))?;
        self.each(&metric::LOST_OFFSETS, figures, |samples, name, stream| {
            let lost = stream.lost.iter().map(|((topic, partition), offsets)| (topic.as_str(), *partition, *offsets));
            by_place(lost, |sum: &mut u64, offsets| *sum += offsets)
                .into_iter()
                .try_for_each(|(place, offsets)| samples.at(name, place, &ConstCounter::new(offsets)))
        })
    }

    fn rows(&mut self, figures: &Figures) -> fmt::Result {
        self.counter(&metric::ROWS_READ, figures, |stream| stream.rows_read)?;
        self.counter(&metric::ROWS_WRITTEN, figures, |stream| stream.rows_written)?;
        self.counter(&metric::ROWS_FILTERED, figures, |stream| stream.rows_filtered)?;
        self.each(&metric::ROWS_REJECTED, figures, |samples, name, stream| {
            let mut codes = stream.rejected.iter();
            codes.try_for_each(|(code, rows)| samples.put(&[name, code], &ConstCounter::new(*rows)))
        })?;
        self.counter(&metric::ACCOUNTS_MISMATCH, figures, |stream| stream.mismatches)
    }

    fn batches(&mut self, figures: &Figures) -> fmt::Result {
        self.each(&metric::BATCHES, figures, |samples, name, stream| {
            samples.put(&[name, "committed"], &ConstCounter::new(stream.batches.committed))?;
            samples.put(&[name, "failed"], &ConstCounter::new(stream.batches.failed))
        })?;
        self.each(&metric::BATCH_DURATION, figures, |samples, name, stream| {
            samples.put(&[name, "plan"], &stream.phases.plan)?;
            samples.put(&[name, "write"], &stream.phases.write)?;
            samples.put(&[name, "commit"], &stream.phases.commit)
        })
    }

    fn tables(&mut self, figures: &Figures) -> fmt::Result {
        self.each(&metric::TABLE_LAST_COMMIT, figures, |samples, name, stream| match &stream.commit {
            Some(commit) => samples.put(&[name, &stream.table], &ConstGauge::new(commit.at)),
            None => Ok(()),
        })?;
        self.each(&metric::TABLE_VERSION, figures, |samples, name, stream| match &stream.commit {
            Some(commit) => samples.put(&[name, &stream.table], &ConstGauge::new(commit.version)),
            None => Ok(()),
        })
    }

    fn components(&mut self, figures: &Figures) -> fmt::Result {
        self.family(&metric::PLUGIN, |samples| {
            figures.components.iter().try_for_each(|component| {
                samples.info(&[&component.name, &component.version, &component.digest, &component.schema_versions])
            })
        })?;
        self.family(&metric::PLUGIN_SWAPS, |samples| {
            samples.put(&["served"], &ConstCounter::new(figures.swaps_served))?;
            samples.put(&["refused"], &ConstCounter::new(figures.swaps_refused))
        })
    }

    fn process(&mut self, process: &Process) -> fmt::Result {
        self.family(&metric::PROCESS_CPU, |samples| match process.cpu_seconds {
            Some(seconds) => samples.put(&[], &ConstCounter::new(seconds)),
            None => Ok(()),
        })?;
        let figures = [
            (&metric::PROCESS_MEMORY, process.resident_bytes),
            (&metric::PROCESS_FILES, process.open_files),
            (&metric::PROCESS_START, process.start_seconds),
        ];
        figures.into_iter().try_for_each(|(definition, figure)| {
            self.family(definition, |samples| match figure {
                Some(figure) => samples.put(&[], &ConstGauge::new(figure)),
                None => Ok(()),
            })
        })
    }
}

fn lag_by_place(stream: &StreamFigures) -> std::collections::BTreeMap<Place<'_>, Lag> {
    let partitions = stream.lag.iter().map(|partition| (partition.topic.as_str(), partition.partition, partition));
    by_place(partitions, Lag::add)
}
