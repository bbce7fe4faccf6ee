//! As much of HTTP/1.1 as probes and scrapers need: one request without a body, one answer, then the end.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Longest head of a request.
const HEAD_BYTES_MAX: usize = 8 * 1024;
/// Most headers of a request.
const HEADERS_MAX: usize = 64;

/// What is asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
}

/// What is answered.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: Status,
    pub(crate) content_type: &'static str,
    pub(crate) body: String,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Ok,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    HeadTooLarge,
    InternalError,
    Unavailable,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed\r\nAllow: GET, HEAD",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::InternalError => "500 Internal Server Error",
            Self::Unavailable => "503 Service Unavailable",
        }
    }
}

/// Reads a request; `Err` is what to answer to something that is none, `None` a caller that has gone.
pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Result<Request, Status>>> {
    let mut head = Vec::new();
    loop {
        let room = HEAD_BYTES_MAX.saturating_sub(head.len());
        if room == 0 {
            return Ok(Some(Err(Status::HeadTooLarge)));
        }
        if (&mut *from).take(room as u64).read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
        if let Some(parsed) = parse(&head) {
            return Ok(Some(parsed));
        }
    }
}

/// `None`: there is more to come.
fn parse(head: &[u8]) -> Option<Result<Request, Status>> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Partial) => None,
        Ok(httparse::Status::Complete(_)) => {
            let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
            Some(Ok(Request { method: text(request.method), target: text(request.path) }))
        }
        Err(httparse::Error::TooManyHeaders) => Some(Err(Status::HeadTooLarge)),
        Err(_) => Some(Err(Status::BadRequest)),
    }
}

/// Writes an answer; `HEAD` gets all of it but the body.
pub(crate) async fn write(to: &mut (impl AsyncWrite + Unpin), response: &Response, head_only: bool) -> io::Result<()> {
    let Response { status, content_type, body } = response;
    let mut text = format!(
        "HTTP/1.1 {}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        status.line(),
        body.len()
    );
    if !head_only {
        text.push_str(body);
    }
    to.write_all(text.as_bytes()).await?;
    to.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn asked(bytes: &[u8]) -> Option<Result<Request, Status>> {
        read(&mut &*bytes).await.unwrap()
    }

    #[tokio::test]
    async fn a_request_is_method_and_target() {
        let request = Request { method: "GET".into(), target: "/readyz?verbose".into() };
        assert_eq!(asked(b"GET /readyz?verbose HTTP/1.1\r\nHost: x\r\n\r\n").await, Some(Ok(request)));
        assert_eq!(asked(b"").await, None);
        assert_eq!(asked(b"GET /livez HTTP/1.1\r\nHost").await, None);
    }

    #[tokio::test]
    async fn what_is_no_request_or_too_large_is_refused() {
        assert_eq!(asked(b"\x16\x03\x01\x02 TLS hello").await, Some(Err(Status::BadRequest)));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(HEADERS_MAX + 1));
        assert_eq!(asked(many.as_bytes()).await, Some(Err(Status::HeadTooLarge)));
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(HEAD_BYTES_MAX));
        assert_eq!(asked(long.as_bytes()).await, Some(Err(Status::HeadTooLarge)));
    }

    #[tokio::test]
    async fn an_answer_says_its_length_and_ends_the_connection() {
        let response = Response { status: Status::Unavailable, content_type: "text/plain", body: "no\n".into() };
        let written = async |head_only| {
            let mut out = Vec::new();
            write(&mut out, &response, head_only).await.unwrap();
            String::from_utf8(out).unwrap()
        };
        let whole = written(false).await;
        assert!(whole.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{whole}");
        assert!(whole.contains("Content-Length: 3\r\n") && whole.ends_with("\r\n\r\nno\n"), "{whole}");
        assert_eq!(format!("{}no\n", written(true).await), whole);
    }
}
