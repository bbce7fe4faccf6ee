//! Streams and waiting. Every stream is ready at any time, so nothing ever waits.
//!
//! WASI's own implementation would run these calls on an async runtime and could be made to wait for as long as a
//! component likes, where no deadline reaches.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::bindings::sync::io::{poll, streams};
use wasmtime_wasi::p2::{
    DynInputStream, DynOutputStream, DynPollable, InputStream, OutputStream, Pollable, StreamError, StreamResult,
    subscribe,
};

use crate::state::State;
use crate::stderr::Stderr;

/// What a component may write at once.
const PERMIT: u64 = 64 << 10;

/// An input without a byte.
pub(super) struct Closed;

/// An output: thrown away, or its end is kept.
pub(super) struct Sink(pub(super) Option<Arc<Mutex<Stderr>>>);

/// Ready, whatever it is that is waited for.
struct Ready;

#[wasmtime_wasi::async_trait]
impl Pollable for Ready {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl Pollable for Closed {
    async fn ready(&mut self) {}
}

#[wasmtime_wasi::async_trait]
impl Pollable for Sink {
    async fn ready(&mut self) {}
}

impl InputStream for Closed {
    fn read(&mut self, _size: usize) -> StreamResult<Bytes> {
        Err(StreamError::Closed)
    }
}

impl OutputStream for Sink {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        if let Some(stderr) = &self.0 {
            stderr.lock().unwrap_or_else(PoisonError::into_inner).write(&bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT as usize)
    }
}

impl State {
    /// Something to wait for that has already happened.
    pub(super) fn ready_pollable(&mut self) -> wasmtime::Result<Resource<DynPollable>> {
        let ready = self.resources.push(Ready)?;
        subscribe(&mut self.resources, ready)
    }
}

impl poll::Host for State {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        if pollables.is_empty() {
            wasmtime::bail!("it polled an empty list");
        }
        Ok((0..pollables.len() as u32).collect())
    }
}

impl poll::HostPollable for State {
    fn ready(&mut self, _pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        Ok(true)
    }

    fn block(&mut self, _pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        poll::HostPollable::drop(&mut self.resources, pollable)
    }
}

impl streams::Host for State {
    fn convert_stream_error(&mut self, error: StreamError) -> wasmtime::Result<streams::StreamError> {
        match error {
            StreamError::Closed => Ok(streams::StreamError::Closed),
            StreamError::LastOperationFailed(error) | StreamError::Trap(error) => Err(error),
        }
    }
}

impl streams::HostInputStream for State {
    fn read(&mut self, _stream: Resource<DynInputStream>, _length: u64) -> StreamResult<Vec<u8>> {
        Err(StreamError::Closed)
    }

    fn blocking_read(&mut self, _stream: Resource<DynInputStream>, _length: u64) -> StreamResult<Vec<u8>> {
        Err(StreamError::Closed)
    }

    fn skip(&mut self, _stream: Resource<DynInputStream>, _length: u64) -> StreamResult<u64> {
        Err(StreamError::Closed)
    }

    fn blocking_skip(&mut self, _stream: Resource<DynInputStream>, _length: u64) -> StreamResult<u64> {
        Err(StreamError::Closed)
    }

    fn subscribe(&mut self, _stream: Resource<DynInputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        self.ready_pollable()
    }

    fn drop(&mut self, stream: Resource<DynInputStream>) -> wasmtime::Result<()> {
        self.resources.delete(stream)?;
        Ok(())
    }
}

impl streams::HostOutputStream for State {
    fn check_write(&mut self, _stream: Resource<DynOutputStream>) -> StreamResult<u64> {
        Ok(PERMIT)
    }

    fn write(&mut self, stream: Resource<DynOutputStream>, contents: Vec<u8>) -> StreamResult<()> {
        self.resources.get_mut(&stream)?.write(contents.into())
    }

    fn blocking_write_and_flush(&mut self, stream: Resource<DynOutputStream>, contents: Vec<u8>) -> StreamResult<()> {
        self.resources.get_mut(&stream)?.write(contents.into())
    }

    fn flush(&mut self, _stream: Resource<DynOutputStream>) -> StreamResult<()> {
        Ok(())
    }

    fn blocking_flush(&mut self, _stream: Resource<DynOutputStream>) -> StreamResult<()> {
        Ok(())
    }

    fn subscribe(&mut self, _stream: Resource<DynOutputStream>) -> wasmtime::Result<Resource<DynPollable>> {
        self.ready_pollable()
    }

    fn write_zeroes(&mut self, _stream: Resource<DynOutputStream>, _length: u64) -> StreamResult<()> {
        Ok(())
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        _stream: Resource<DynOutputStream>,
        _length: u64,
    ) -> StreamResult<()> {
        Ok(())
    }

    fn splice(
        &mut self,
        _stream: Resource<DynOutputStream>,
        _from: Resource<DynInputStream>,
        _length: u64,
    ) -> StreamResult<u64> {
        Err(StreamError::Closed)
    }

    fn blocking_splice(
        &mut self,
        _stream: Resource<DynOutputStream>,
        _from: Resource<DynInputStream>,
        _length: u64,
    ) -> StreamResult<u64> {
        Err(StreamError::Closed)
    }

    fn drop(&mut self, stream: Resource<DynOutputStream>) -> wasmtime::Result<()> {
        self.resources.delete(stream)?;
        Ok(())
    }
}
