//! Serves metrics and probes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::address::{Address, ListenError, listen};
use crate::http::{self, Request, Response, Status};
use crate::monitor::Monitor;

/// Longest life of a connection. A caller that is slower asks again.
const CONNECTION_MAX: Duration = Duration::from_secs(10);
/// Connections at a time; the oldest makes room for one more.
const CONNECTIONS_MAX: usize = 64;
/// Pause when the system gives no connection: it has no more files for this process, for one.
const PAUSE: Duration = Duration::from_millis(100);

const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PATHS: &str = "/metrics\n/livez\n/readyz\n/readyz?verbose\n/healthz\n";

/// Serves at an address from now on, until the process ends.
///
/// # Errors
/// The address cannot be listened at.
pub async fn start(address: &Address) -> Result<Arc<Monitor>, ListenError> {
    let listener = listen(address).await?;
    let at = listener.local_addr().map_or_else(|_| address.to_string(), |at| at.to_string());
    tracing::info!(target: "crisol", "metrics at http://{at}/metrics");
    let monitor = Arc::new(Monitor::new());
    tokio::spawn(serve(listener, Arc::clone(&monitor)));
    Ok(monitor)
}

async fn serve(listener: TcpListener, monitor: Arc<Monitor>) {
    let mut connections: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let Ok((connection, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        connections.retain(|connection| !connection.is_finished());
        if connections.len() == CONNECTIONS_MAX
            && let Some(oldest) = connections.pop_front()
        {
            oldest.abort();
        }
        let monitor = Arc::clone(&monitor);
        // A caller that has gone, or is too slow, is told nothing.
        let task = tokio::spawn(async move { drop(timeout(CONNECTION_MAX, converse(connection, &monitor)).await) });
        connections.push_back(task.abort_handle());
    }
}

async fn converse(mut connection: TcpStream, monitor: &Monitor) -> std::io::Result<()> {
    let Some(request) = http::read(&mut connection).await? else { return Ok(()) };
    let head_only = request.as_ref().is_ok_and(|request| request.method == "HEAD");
    let response = request.map_or_else(refusal, |request| answer(monitor, &request));
    http::write(&mut connection, &response, head_only).await
}

fn refusal(status: Status) -> Response {
    Response { status, content_type: TEXT, body: PATHS.into() }
}

fn answer(monitor: &Monitor, request: &Request) -> Response {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return refusal(Status::MethodNotAllowed);
    }
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    match path {
        "/metrics" => match monitor.metrics() {
            Ok(body) => Response { status: Status::Ok, content_type: METRICS, body },
            Err(_) => refusal(Status::InternalError),
        },
        // That this runs is the answer.
        "/livez" | "/healthz" => Response { status: Status::Ok, content_type: TEXT, body: "ok\n".into() },
        "/readyz" => {
            let verbose = query.split('&').any(|part| part.split('=').next() == Some("verbose"));
            let (ready, body) = monitor.ready(verbose);
            let status = if ready { Status::Ok } else { Status::Unavailable };
            Response { status, content_type: TEXT, body }
        }
        _ => refusal(Status::NotFound),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn served() -> (Arc<Monitor>, std::net::SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let monitor = Arc::new(Monitor::new());
        tokio::spawn(serve(listener, Arc::clone(&monitor)));
        (monitor, at)
    }

    async fn asked(at: std::net::SocketAddr, request: &str) -> String {
        let mut connection = TcpStream::connect(at).await.unwrap();
        connection.write_all(request.as_bytes()).await.unwrap();
        let mut said = String::new();
        connection.read_to_string(&mut said).await.unwrap();
        said
    }

    async fn got(at: std::net::SocketAddr, target: &str) -> String {
        asked(at, &format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n")).await
    }

    #[tokio::test]
    async fn probes_and_metrics_are_served_and_nothing_else() {
        let (monitor, at) = served().await;
        for path in ["/livez", "/healthz"] {
            assert!(got(at, path).await.starts_with("HTTP/1.1 200 OK\r\n"));
        }
        let metrics = got(at, "/metrics").await;
        assert!(metrics.contains("\r\nContent-Type: application/openmetrics-text; version=1.0.0;"), "{metrics}");
        assert!(metrics.ends_with("# EOF\n"), "{metrics}");
        assert!(got(at, "/readyz").await.starts_with("HTTP/1.1 503 "));
        monitor.loaded([]);
        assert!(got(at, "/readyz").await.ends_with("\r\n\r\nready\n"));
        assert!(got(at, "/readyz?verbose").await.ends_with("\r\n\r\nok   contracts and components\nready\n"));
        monitor.stopping();
        assert!(got(at, "/readyz").await.starts_with("HTTP/1.1 503 "));
        assert!(got(at, "/").await.starts_with("HTTP/1.1 404 "));
        let posted = asked(at, "POST /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await;
        assert!(posted.starts_with("HTTP/1.1 405 ") && posted.contains("\r\nAllow: GET, HEAD\r\n"), "{posted}");
        assert!(asked(at, "HEAD /livez HTTP/1.1\r\n\r\n").await.ends_with("\r\n\r\n"));
        assert!(asked(at, "nonsense\r\n\r\n").await.starts_with("HTTP/1.1 400 "));
    }

    #[tokio::test]
    async fn connections_that_ask_nothing_make_room_for_those_that_do() {
        let (_, at) = served().await;
        let mut idle = Vec::new();
        for _ in 0..CONNECTIONS_MAX * 3 {
            idle.push(TcpStream::connect(at).await.unwrap());
        }
        assert!(got(at, "/livez").await.starts_with("HTTP/1.1 200 OK\r\n"));
        let mut oldest = idle.swap_remove(0);
        assert_eq!(oldest.read(&mut [0]).await.unwrap(), 0, "the oldest is closed");
    }
}
