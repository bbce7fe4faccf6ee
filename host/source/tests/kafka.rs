//! Kafka over the real protocol, against librdkafka's in-process mock cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, TimestampMicrosecondType};
use common::{DEADLINE, kafka_spec, produce, producer, read, read_chunks, topic, walk};
use crisol_checkpoint::{KafkaPosition, Position, Range};
use crisol_contract::{BatchMinimum, KafkaBound, KafkaSpec, Subscription};
use crisol_observe::{Gap, GapReason};
use crisol_source::{KafkaSource, MemoryLog, Source, SourceError, SourceLog, kafka_schema};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::{BaseProducer, BaseRecord, DefaultProducerContext, Producer};

struct Broker {
    cluster: MockCluster<'static, DefaultProducerContext>,
    servers: String,
    producer: BaseProducer,
}

impl Broker {
    fn start() -> Self {
        let cluster = MockCluster::new(1).unwrap();
        let servers = cluster.bootstrap_servers();
        let producer = producer(&servers);
        Self { cluster, servers, producer }
    }

    fn with_topic(name: &str, partitions: i32) -> Self {
        let broker = Self::start();
        broker.cluster.create_topic(name, partitions, 1).unwrap();
        broker
    }

    fn produce(&self, topic: &str, partition: i32, payloads: impl IntoIterator<Item = String>) {
        produce(&self.producer, topic, partition, payloads.into_iter().map(String::into_bytes));
    }

    fn spec(&self, subscription: Subscription) -> KafkaSpec {
        kafka_spec(&self.servers, subscription)
    }
}

fn pattern(pattern: &str) -> Subscription {
    Subscription::Pattern { pattern: pattern.into(), whole: true }
}

fn source(spec: KafkaSpec) -> KafkaSource {
    KafkaSource::new(spec, Arc::new(MemoryLog::default()))
}

fn at(offsets: &[(&str, i32, i64)]) -> Position {
    let mut position = KafkaPosition::default();
    for (topic, partition, offset) in offsets {
        position.0.entry((*topic).to_owned()).or_default().insert(*partition, *offset);
    }
    Position::Kafka(position)
}

fn range(start: &[(&str, i32, i64)], end: &[(&str, i32, i64)]) -> Range {
    Range { start: at(start), end: at(end) }
}

#[tokio::test]
async fn k073_k080_k081_k082_a_record_becomes_a_row_with_all_it_has() {
    let broker = Broker::with_topic("t", 1);
    let headers = OwnedHeaders::new()
        .insert(Header { key: "version", value: Some("2") })
        .insert(Header { key: "version", value: Some("3") })
        .insert(Header::<&[u8]> { key: "empty", value: None });
    broker
        .producer
        .send(BaseRecord::to("t").partition(0).key("k").payload("p").timestamp(1_700_000_000_123).headers(headers))
        .map_err(|(error, _)| error)
        .unwrap();
    broker.producer.send(BaseRecord::<(), ()>::to("t").partition(0).timestamp(7)).map_err(|(e, _)| e).unwrap();
    broker.producer.flush(DEADLINE).unwrap();

    let mut source = source(broker.spec(topic("t")));
    let chunks = read_chunks(&mut source, &range(&[("t", 0, 0)], &[("t", 0, 2)])).await.unwrap();
    let rows = &chunks[0];
    assert_eq!(rows.schema(), kafka_schema(true));
    assert_eq!(rows["message_key"].as_binary::<i32>().value(0), b"k");
    assert_eq!(rows["payload"].as_binary::<i32>().value(0), b"p");
    assert!(rows["message_key"].is_null(1) && rows["payload"].is_null(1));
    assert_eq!(rows["topic"].as_string::<i32>().value(1), "t");
    assert_eq!(rows["partition"].as_primitive::<Int32Type>().values(), &[0, 0]);
    assert_eq!(rows["offset"].as_primitive::<Int64Type>().values(), &[0, 1]);
    assert_eq!(rows["kafka_timestamp"].as_primitive::<TimestampMicrosecondType>().value(0), 1_700_000_000_123_000);
    assert_eq!(rows["timestamp_type"].as_primitive::<Int32Type>().value(0), 0);
    let headers = rows["headers"].as_list::<i32>();
    assert!(headers.is_null(1));
    let first = headers.value(0);
    let first = first.as_struct();
    let keys: Vec<_> = first["key"].as_string::<i32>().iter().flatten().map(str::to_owned).collect();
    assert_eq!(keys, ["version", "version", "empty"]);
    let values = first["value"].as_binary::<i32>();
    assert_eq!((values.value(0), values.value(1), values.is_null(2)), (&b"2"[..], &b"3"[..], true));

    let plain = KafkaSpec { add_kafka_metadata: false, ..broker.spec(topic("t")) };
    let mut plain = self::source(plain);
    let rows = read(&mut plain, &range(&[("t", 0, 0)], &[("t", 0, 2)])).await.unwrap();
    assert_eq!(rows[1], ["NULL", "NULL", "t", "0", "1"]);
}

#[tokio::test]
async fn t009_a_broker_that_is_not_there_is_an_error_within_its_deadline() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let servers = format!("127.0.0.1:{port}");
    let mut spec = kafka_spec(&servers, topic("t"));
    spec.client.insert("socket.timeout.ms".into(), "1500".into());
    let begun = Instant::now();
    let error = source(spec).initial().await.unwrap_err();
    assert!(matches!(&error, SourceError::External { .. }), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(20), "took {:?}", begun.elapsed());
    let text = error.to_string();
    assert!(text.contains(&servers) && text.contains("deadline 1.5 s") && text.contains("asking for topics"), "{text}");
    assert!(text.to_lowercase().contains("refused"), "the reason is named: {text}");
}

#[tokio::test]
async fn k009_a_missing_topic_is_refused_by_name_and_never_made() {
    let broker = Broker::with_topic("t", 1);
    for subscription in [topic("nope"), Subscription::Assign([("nope".to_owned(), vec![0])].into())] {
        let error = source(broker.spec(subscription)).initial().await.unwrap_err();
        assert!(error.to_string().contains("topic `nope` does not exist"), "{error}");
        assert!(error.hint().unwrap().contains("never created"));
    }
    let all = source(broker.spec(pattern(".*"))).initial().await.unwrap();
    assert_eq!(all, at(&[("t", 0, 0)]));
}

#[tokio::test]
async fn k008_an_assigned_partition_that_is_missing_is_refused_by_number() {
    let broker = Broker::with_topic("t", 2);
    let assign = |partitions: &[i32]| Subscription::Assign([("t".to_owned(), partitions.to_vec())].into());
    let error = source(broker.spec(assign(&[1, 2, 7]))).initial().await.unwrap_err();
    assert!(error.to_string().contains("topic `t` has no partition 2, 7"), "{error}");
    assert_eq!(source(broker.spec(assign(&[1]))).initial().await.unwrap(), at(&[("t", 1, 0)]));
}

#[tokio::test]
async fn k006_k007_a_pattern_takes_whole_names_and_no_internal_topics() {
    let broker = Broker::start();
    for name in ["topic1", "topic2", "my-topic3", "__consumer_offsets"] {
        broker.cluster.create_topic(name, 1, 1).unwrap();
    }
    let found = |pattern: &str| source(broker.spec(self::pattern(pattern)));
    assert_eq!(found("topic.*").initial().await.unwrap(), at(&[("topic1", 0, 0), ("topic2", 0, 0)]));
    let everything = found(".*").initial().await.unwrap();
    assert_eq!(everything, at(&[("my-topic3", 0, 0), ("topic1", 0, 0), ("topic2", 0, 0)]));
}

#[tokio::test]
async fn k020_k032_latest_is_resolved_once_and_kept_before_the_first_batch() {
    let broker = Broker::with_topic("t", 1);
    broker.produce("t", 0, (0..5).map(|n| n.to_string()));
    let log = Arc::new(MemoryLog::default());
    let spec = KafkaSpec { starting: KafkaBound::Latest, ..broker.spec(topic("t")) };
    let first = KafkaSource::new(spec.clone(), log.clone()).initial().await.unwrap();
    assert_eq!(first, at(&[("t", 0, 5)]));
    assert_eq!(log.get(0).await.unwrap().unwrap(), "\0v1\n{\"t\":{\"0\":5}}");

    broker.produce("t", 0, ["5".to_owned()]);
    let mut again = KafkaSource::new(KafkaSpec { starting: KafkaBound::Earliest, ..spec }, log);
    assert_eq!(again.initial().await.unwrap(), first, "K-031: what was kept counts");
    let (batches, _) = walk(&mut again, first).await;
    assert_eq!(batches.len(), 1);
    assert_eq!(batches[0].1.len(), 1);
}

#[tokio::test]
async fn k022_exact_offsets_begin_where_they_say() {
    let broker = Broker::with_topic("t", 2);
    broker.produce("t", 0, (0..5).map(|n| n.to_string()));
    broker.produce("t", 1, (0..5).map(|n| n.to_string()));
    let exact = KafkaBound::Offsets([("t".to_owned(), [(0, 3), (1, -1)].into())].into());
    let mut source = source(KafkaSpec { starting: exact, ..broker.spec(topic("t")) });
    let start = source.initial().await.unwrap();
    assert_eq!(start, at(&[("t", 0, 3), ("t", 1, 5)]));
    let (batches, end) = walk(&mut source, start).await;
    assert_eq!(batches[0].1.iter().map(|row| row[4].as_str()).collect::<Vec<_>>(), ["3", "4"]);
    assert_eq!(end, at(&[("t", 0, 5), ("t", 1, 5)]));
}

#[tokio::test]
async fn k041_batches_obey_max_offsets_and_a_tiny_partition_is_not_starved() {
    let broker = Broker::with_topic("t", 2);
    broker.produce("t", 0, (0..1000).map(|n| n.to_string()));
    broker.produce("t", 1, ["only".to_owned()]);
    let mut source = source(KafkaSpec { max_offsets_per_trigger: Some(100), ..broker.spec(topic("t")) });
    let start = source.initial().await.unwrap();
    let planned = source.plan(&start).await.unwrap().unwrap();
    assert_eq!(planned.end, at(&[("t", 0, 99), ("t", 1, 1)]));
    assert_eq!(planned.latest, Some(at(&[("t", 0, 1000), ("t", 1, 1)])));
    assert_eq!((planned.estimate.batch_rows, planned.estimate.backlog_rows), (Some(100), Some(1001)));
    let (batches, _) = walk(&mut source, start).await;
    assert_eq!(batches.iter().map(|(_, rows)| rows.len()).sum::<usize>(), 1001);
    assert!(batches.iter().all(|(_, rows)| rows.len() <= 101));
}

#[tokio::test]
async fn k010_a_new_topic_of_a_pattern_joins_from_its_earliest_offset() {
    let broker = Broker::with_topic("a1", 1);
    broker.produce("a1", 0, ["x".to_owned()]);
    let latest = KafkaSpec { starting: KafkaBound::Latest, ..broker.spec(pattern("a.*")) };
    let mut source = source(latest);
    let start = source.initial().await.unwrap();
    assert!(source.plan(&start).await.unwrap().is_none());

    broker.cluster.create_topic("a2", 1, 1).unwrap();
    broker.produce("a2", 0, (0..3).map(|n| n.to_string()));
    broker.produce("a1", 0, ["y".to_owned()]);
    let (batches, end) = walk(&mut source, start).await;
    assert_eq!(batches.iter().map(|(_, rows)| rows.len()).sum::<usize>(), 4);
    assert_eq!(end, at(&[("a1", 0, 2), ("a2", 0, 3)]));
}

#[tokio::test]
async fn k012_k013_positions_that_no_longer_fit_are_told_apart() {
    let broker = Broker::with_topic("t", 1);
    broker.produce("t", 0, (0..3).map(|n| n.to_string()));
    let gone = at(&[("t", 0, 0), ("t", 4, 10)]);
    let error = source(broker.spec(topic("t"))).plan(&gone).await.unwrap_err();
    assert!(matches!(error, SourceError::DataLoss { .. }));
    assert!(error.to_string().contains("topic `t` partition 4, read up to offset 10, is gone"), "{error}");

    let tolerant = KafkaSpec { fail_on_data_loss: false, ..broker.spec(topic("t")) };
    let planned = source(tolerant).plan(&gone).await.unwrap().unwrap();
    assert_eq!(planned.end, at(&[("t", 0, 3)]));

    let error = source(broker.spec(topic("t"))).plan(&at(&[("other", 0, 1)])).await.unwrap_err();
    assert!(matches!(error, SourceError::Config { .. }));
    assert!(error.to_string().contains("no longer reads: other"), "{error}");
}

#[tokio::test]
async fn k067_k068_latest_below_the_position_is_asked_again_and_then_data_loss() {
    let broker = Broker::with_topic("t", 1);
    broker.produce("t", 0, (0..3).map(|n| n.to_string()));
    let beyond = at(&[("t", 0, 50)]);
    let begun = Instant::now();
    let error = source(broker.spec(topic("t"))).plan(&beyond).await.unwrap_err();
    assert!(begun.elapsed() >= Duration::from_millis(3 * 50), "three more looks before it is believed");
    assert!(error.to_string().contains("offset was changed from 50 to 3"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("`checkpoint_suffix`")), "{error:?}");

    let tolerant = KafkaSpec { fail_on_data_loss: false, ..broker.spec(topic("t")) };
    let mut tolerant = source(tolerant);
    let planned = tolerant.plan(&beyond).await.unwrap().unwrap();
    assert_eq!((&planned.end, planned.estimate.batch_rows), (&beyond, Some(0)), "a batch that only tells the gap");
    assert!(read(&mut tolerant, &Range { start: beyond.clone(), end: planned.end }).await.unwrap().is_empty());
    let gaps = tolerant.take_planned_gaps();
    assert_eq!(gaps.len(), 1);
    assert_eq!((gaps[0].reason, gaps[0].from, gaps[0].until), (GapReason::Truncated, 0, Some(50)));
    assert!(tolerant.plan(&beyond).await.unwrap().is_none(), "nothing is read again, and it is told once");
    broker.produce("t", 0, (3..60).map(|n| n.to_string()));
    let planned = tolerant.plan(&beyond).await.unwrap().unwrap();
    assert_eq!(planned.end, at(&[("t", 0, 60)]), "T-004: on from the position, and never below it");
}

#[tokio::test]
async fn k044_k045_k047_a_batch_waits_for_its_minimum_but_for_the_first_one_and_is_capped_after_it() {
    let broker = Broker::with_topic("t", 1);
    let minimum = |delay_max| Some(BatchMinimum { offsets: 10, delay_max });
    let hour = Duration::from_secs(3_600);
    let limited = KafkaSpec { max_offsets_per_trigger: Some(12), ..broker.spec(topic("t")) };
    let spec = KafkaSpec { batch_minimum: minimum(hour), ..limited };
    let mut waiting = source(spec.clone());
    assert!(waiting.plan(&at(&[("t", 0, 0)])).await.unwrap().is_none(), "nothing is there");
    broker.produce("t", 0, (0..5).map(|n| n.to_string()));
    let first = waiting.plan(&at(&[("t", 0, 0)])).await.unwrap().unwrap();
    assert_eq!(first.end, at(&[("t", 0, 5)]), "the first trigger fires");
    broker.produce("t", 0, (0..9).map(|n| n.to_string()));
    assert!(waiting.plan(&first.end).await.unwrap().is_none(), "nine are too few");
    broker.produce("t", 0, (0..6).map(|n| n.to_string()));
    let second = waiting.plan(&first.end).await.unwrap().unwrap();
    assert_eq!(second.end, at(&[("t", 0, 17)]), "fifteen are enough, twelve are the most");
    assert!(waiting.plan(&second.end).await.unwrap().is_none());

    let mut impatient = source(KafkaSpec { batch_minimum: minimum(Duration::ZERO), ..spec.clone() });
    for _ in 0..2 {
        assert!(impatient.plan(&second.end).await.unwrap().is_some(), "the delay has passed");
    }
    let mut bounded = source(spec);
    bounded.prepare_for_available_now(&second.end).await.unwrap();
    for _ in 0..2 {
        assert!(bounded.plan(&second.end).await.unwrap().is_some(), "K-101: a run that ends takes all that is there");
    }
}

#[tokio::test]
async fn k100_the_end_of_a_run_stays_where_it_was_fixed_though_a_partition_was_made_anew() {
    let broker = Broker::with_topic("t", 2);
    broker.produce("t", 0, (0..3).map(|n| n.to_string()));
    broker.produce("t", 1, (0..3).map(|n| n.to_string()));
    let mut source = source(KafkaSpec { fail_on_data_loss: false, ..broker.spec(topic("t")) });
    let start = at(&[("t", 0, 50), ("t", 1, 0)]);
    source.prepare_for_available_now(&start).await.unwrap();
    let first = source.plan(&start).await.unwrap().unwrap();
    assert_eq!(first.end, at(&[("t", 0, 50), ("t", 1, 3)]));
    assert_eq!(source.take_planned_gaps().len(), 1);
    broker.produce("t", 1, (0..3).map(|n| n.to_string()));
    assert!(source.plan(&first.end).await.unwrap().is_none(), "what came later waits");
}

#[tokio::test]
async fn k110_k112_lag_is_known_from_planning_and_in_time_and_bytes_from_reading() {
    let broker = Broker::with_topic("t", 2);
    broker.produce("t", 0, (0..10).map(|n| format!("{n:0100}")));
    let mut source = source(KafkaSpec { max_offsets_per_trigger: Some(4), ..broker.spec(topic("t")) });
    let start = at(&[("t", 0, 0)]);
    assert!(source.lag(&start).is_empty(), "nothing was asked yet");
    let planned = source.plan(&start).await.unwrap().unwrap();
    let lag = source.lag(&start);
    assert_eq!(lag.iter().map(|of| (of.partition, of.records)).collect::<Vec<_>>(), [(0, 10), (1, 0)]);
    assert_eq!((lag[0].seconds, lag[0].bytes), (None, None));
    assert_eq!((lag[1].seconds, lag[1].bytes), (Some(0.0), Some(0)));
    read(&mut source, &Range { start, end: planned.end.clone() }).await.unwrap();
    let lag = source.lag(&planned.end);
    assert_eq!((lag[0].records, lag[0].bytes), (6, Some(600)));
    assert!(lag[0].seconds.is_some_and(|seconds| (0.0..600.0).contains(&seconds)), "{lag:?}");
}

/// Fills a partition until the mock broker has dropped the oldest records, and gives the first that is left.
async fn expire(broker: &Broker) -> i64 {
    for _ in 0..20 {
        broker.produce("t", 0, (0..10).map(|_| "x".repeat(100_000)));
        let Position::Kafka(earliest) = source(broker.spec(topic("t"))).initial().await.unwrap() else { panic!() };
        let earliest = earliest.0["t"][&0];
        if earliest > 0 {
            return earliest;
        }
    }
    panic!("the mock broker keeps more than 20 MB");
}

#[tokio::test]
async fn k065_k066_records_that_are_gone_stop_the_stream_or_are_counted() {
    let broker = Broker::with_topic("t", 1);
    let earliest = expire(&broker).await;
    let wanted = range(&[("t", 0, 0)], &[("t", 0, earliest + 3)]);

    let error = read(&mut source(broker.spec(topic("t"))), &wanted).await.unwrap_err();
    assert!(matches!(error, SourceError::DataLoss { .. }));
    let expected =
        format!("offsets 0 to {} should be read, the earliest that the broker still has is {earliest}", earliest + 3);
    assert!(error.to_string().contains(&expected), "{error}");

    let tolerant = KafkaSpec { fail_on_data_loss: false, ..broker.spec(topic("t")) };
    let mut tolerant = source(tolerant);
    let rows = read(&mut tolerant, &wanted).await.unwrap();
    let offsets: Vec<i64> = rows.iter().map(|row| row[4].parse().unwrap()).collect();
    assert_eq!(offsets, [earliest, earliest + 1, earliest + 2]);
    let gap = Gap {
        topic: "t".into(),
        partition: 0,
        reason: GapReason::Expired,
        from: 0,
        until: Some(earliest),
        offsets: Some(earliest as u64),
    };
    assert_eq!(tolerant.take_gaps(), [gap]);
    let gone = range(&[("t", 0, 0)], &[("t", 0, earliest)]);
    assert!(read(&mut tolerant, &gone).await.unwrap().is_empty());
}

#[tokio::test]
async fn k070_a_read_that_is_dropped_half_way_is_begun_anew_and_loses_nothing() {
    let broker = Broker::with_topic("t", 3);
    for partition in 0..3 {
        broker.produce("t", partition, (0..20_000).map(|n| n.to_string()));
    }
    let mut source = source(broker.spec(topic("t")));
    let start = source.initial().await.unwrap();
    let end = source.plan(&start).await.unwrap().unwrap().end;
    let whole = Range { start, end };
    for _ in 0..3 {
        let mut chunks = source.read(&whole).await.unwrap();
        assert!(futures::StreamExt::next(&mut chunks).await.unwrap().is_ok());
    }
    let rows = read(&mut source, &whole).await.unwrap();
    assert_eq!(rows.len(), 60_000);
    for partition in 0..3 {
        let own = rows.iter().filter(|row| row[3] == partition.to_string());
        assert!(own.map(|row| row[4].parse::<usize>().unwrap()).eq(0..20_000), "each partition in order");
    }
    let again = read(&mut KafkaSource::new(broker.spec(topic("t")), Arc::new(MemoryLog::default())), &whole).await;
    assert!(again.unwrap() == rows, "the same rows in the same order");
}

#[tokio::test]
async fn k064_a_range_that_follows_takes_what_was_fetched_and_an_idle_partition_holds_nothing_up() {
    let broker = Broker::with_topic("t", 2);
    broker.produce("t", 0, (0..5_000).map(|n| n.to_string()));
    let mut source = source(KafkaSpec { max_offsets_per_trigger: Some(700), ..broker.spec(topic("t")) });
    let start = source.initial().await.unwrap();
    let (batches, end) = walk(&mut source, start).await;
    assert_eq!(batches.len(), 8);
    assert_eq!(batches.iter().map(|(_, rows)| rows.len()).sum::<usize>(), 5_000);

    broker.produce("t", 1, (0..10).map(|n| n.to_string()));
    let (batches, end) = walk(&mut source, end).await;
    assert_eq!(batches.iter().map(|(_, rows)| rows.len()).sum::<usize>(), 10);
    assert_eq!(end, at(&[("t", 0, 5_000), ("t", 1, 10)]));
}

#[tokio::test]
async fn k069_a_read_without_progress_fails_in_time_and_is_never_an_empty_batch() {
    let broker = Broker::with_topic("t", 1);
    broker.produce("t", 0, (0..10).map(|n| n.to_string()));
    let spec = KafkaSpec { poll_timeout: Duration::from_millis(700), ..broker.spec(topic("t")) };
    let mut source = source(spec);
    let wanted = range(&[("t", 0, 0)], &[("t", 0, 10)]);
    assert_eq!(read(&mut source, &wanted).await.unwrap().len(), 10);
    // Fetches fail from now on; the questions for offsets still work.
    let failing = vec![rdkafka::types::RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION; 1_000];
    broker.cluster.request_errors(rdkafka::types::RDKafkaApiKey::Fetch, &failing);
    let error = read(&mut source, &wanted).await.unwrap_err();
    let text = error.to_string();
    assert!(text.contains("topic `t` partition 0: nothing came for 0.7 s at offset 0"), "{text}");
    broker.cluster.clear_request_errors(rdkafka::types::RDKafkaApiKey::Fetch);
    assert_eq!(read(&mut source, &wanted).await.unwrap().len(), 10, "an error leaves the source usable");
}

#[tokio::test]
async fn k098_a_question_that_fails_is_asked_as_often_as_the_contract_says_and_no_more() {
    let broker = Broker::with_topic("t", 1);
    let errors = |count| vec![rdkafka::types::RDKafkaRespErr::RD_KAFKA_RESP_ERR_UNKNOWN; count];
    let asked = |retries| KafkaSpec { fetch_offset_num_retries: retries, ..broker.spec(topic("t")) };
    let api = rdkafka::types::RDKafkaApiKey::ListOffsets;
    broker.cluster.request_errors(api, &errors(2));
    assert_eq!(source(asked(3)).initial().await.unwrap(), at(&[("t", 0, 0)]), "the third answer counts");
    broker.cluster.request_errors(api, &errors(2));
    let error = source(asked(2)).initial().await.unwrap_err();
    assert!(matches!(error, SourceError::External { .. }), "{error:?}");
    assert!(error.to_string().contains("asking for the earliest offsets failed"), "{error}");
    broker.cluster.clear_request_errors(api);
    assert!(source(asked(2)).initial().await.is_ok());
}

#[tokio::test]
async fn t009_a_broker_that_comes_back_answers_the_next_question() {
    let broker = Broker::with_topic("t", 1);
    broker.produce("t", 0, (0..3).map(|n| n.to_string()));
    let mut spec = broker.spec(topic("t"));
    spec.client.insert("socket.timeout.ms".into(), "1500".into());
    let mut source = source(spec);
    let start = source.initial().await.unwrap();
    broker.cluster.broker_down(1).unwrap();
    let error = source.plan(&start).await.unwrap_err();
    assert!(matches!(error, SourceError::External { .. }), "{error:?}");
    broker.cluster.broker_up(1).unwrap();
    let (batches, _) = walk(&mut source, start).await;
    assert_eq!(batches.iter().map(|(_, rows)| rows.len()).sum::<usize>(), 3, "an error leaves the source usable");
}

#[tokio::test]
async fn k054_rows_of_a_partition_keep_their_order_and_say_where_they_lie() {
    let broker = Broker::with_topic("t", 3);
    for partition in 0..3 {
        broker.produce("t", partition, (0..40_000).map(|n| format!("{partition}:{n}")));
    }
    let mut source = source(broker.spec(topic("t")));
    let start = source.initial().await.unwrap();
    let (batches, _) = walk(&mut source, start).await;
    let rows: Vec<_> = batches.into_iter().flat_map(|(_, rows)| rows).collect();
    assert_eq!(rows.len(), 120_000);
    for partition in 0..3 {
        let own = rows.iter().filter(|row| row[3] == partition.to_string());
        assert!(own.map(|row| row[4].parse::<usize>().unwrap()).eq(0..40_000));
    }
    let hex = |text: String| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    assert!(rows.iter().all(|row| row[1] == hex(format!("{}:{}", row[3], row[4]))), "{:?}", rows[0]);
}

#[tokio::test]
async fn k090_options_that_would_move_positions_are_refused_by_name() {
    for key in ["auto.offset.reset", "enable.auto.commit", "interceptor.classes", "allow.auto.create.topics"] {
        let mut spec = kafka_spec("127.0.0.1:1", topic("t"));
        spec.client.insert(key.into(), "x".into());
        let error = source(spec).initial().await.unwrap_err();
        assert!(error.to_string().contains(&format!("`{key}` cannot be set")), "{error}");
    }
    let mut spec = kafka_spec("127.0.0.1:1", topic("t"));
    spec.client.insert("no.such.option".into(), "s3cret".into());
    let error = source(spec).initial().await.unwrap_err().to_string();
    assert!(error.contains("no.such.option") && !error.contains("s3cret"), "{error}");
    let mut spec = kafka_spec("127.0.0.1:1", topic("t"));
    spec.client.clear();
    assert!(source(spec).initial().await.unwrap_err().to_string().contains("no Kafka broker is named"));
}

#[test]
fn k114_descriptions_are_sparks() {
    let named = |subscription| source(kafka_spec("b:1", subscription)).description();
    assert_eq!(named(Subscription::Topics(vec!["t1".into(), "t2".into()])), "KafkaV2[Subscribe[t1, t2]]");
    assert_eq!(named(pattern("p.*")), "KafkaV2[SubscribePattern[p.*]]");
    assert_eq!(named(Subscription::Assign([("t".to_owned(), vec![0, 1])].into())), "KafkaV2[Assign[t-0, t-1]]");
}
